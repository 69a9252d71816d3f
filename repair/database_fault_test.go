package repair_test

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/sessfix/sessfix/durable/faultfs"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/dsh"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// Whatever operation on the case fails, or is the last one: the rows are the old ones or the new ones, the next repair ends
// what was begun, and undo finds the way back.
func TestDatabaseFaults(t *testing.T) {
	b := newRowBed(t)
	old, err := os.ReadFile(b.path)
	if err != nil {
		t.Fatal(err)
	}
	before := b.events()
	count := faultfs.New(lazy)
	if _, err := b.repair(repair.Options{FS: count}); err != nil {
		t.Fatal(err)
	}
	after := b.events()
	if count.Ops() < 8 {
		t.Fatalf("only %d operations", count.Ops())
	}
	done, tried := 0, 0
	for n := 1; n <= count.Ops(); n++ {
		for _, stop := range []bool{false, true} {
			if n%3 != 0 && (!stop || testing.Short()) {
				continue
			}
			tried++
			b.cases = t.TempDir()
			if err := os.WriteFile(b.path, old, 0o600); err != nil {
				t.Fatal(err)
			}
			b.rest()
			fsys := faultfs.New(lazy)
			if stop {
				fsys.Stop(n)
			} else {
				fsys.Fail(n, nil)
			}
			out, err := b.repair(repair.Options{FS: fsys})
			now := b.events()
			switch {
			case slices.Equal(now, after):
				done++
			case !slices.Equal(now, before) || err == nil || out.Changed:
				t.Fatalf("operation %d: %v %+v", n, err, out)
			}
			b.rest()
			if out, err := b.repair(repair.Options{FS: lazy}); err != nil || !slices.Equal(b.events(), after) {
				t.Fatalf("again behind operation %d: %v %+v", n, err, out)
			}
			if err := b.undo(); err != nil || !slices.Equal(b.events(), before) {
				t.Fatalf("undo behind operation %d: %v", n, err)
			}
		}
	}
	if done == 0 || done == tried {
		t.Errorf("%d of %d were committed", done, tried)
	}
}

// Sessions of one database are repaired at the same time.
func TestDatabaseTogether(t *testing.T) {
	b := newRowBed(t)
	found, err := store.Open(t.Context(), []string{b.path}, store.Options{Formats: []format.Format{dsh.Format{}}, Env: func(string) string { return "" }})
	if err != nil || len(found.Sessions) != 2 {
		t.Fatalf("%v %+v", err, found)
	}
	defer found.Close()
	var group sync.WaitGroup
	for _, s := range found.Sessions {
		group.Go(func() {
			if out, err := repair.Session(t.Context(), s, repair.Options{CaseDir: b.cases}); err != nil || !out.Changed {
				t.Errorf("%s: %v", s.Path, err)
			}
		})
	}
	group.Wait()
	if n := len(b.rows("select 1 from events")); n != len(b.events())*2 {
		t.Errorf("%d rows", n)
	}
	if err := b.undo(); err != nil {
		t.Error(err)
	}
}

// Somebody else is in a transaction that writes.
func TestDatabaseBusy(t *testing.T) {
	if testing.Short() {
		t.Skip("waits as long as a client does")
	}
	b := newRowBed(t)
	s, done := b.open()
	defer done()
	db := b.db()
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.Exec("update sessions set revision = revision"); err != nil {
		t.Fatal(err)
	}
	b.rest()
	var live *repair.LiveError
	if out, err := repair.Session(t.Context(), s, repair.Options{CaseDir: b.cases}); !errors.As(err, &live) || out.Changed {
		t.Errorf("%v", err)
	}
}

// Bytes of the database are wrong: nothing panics, and a repair that goes through leaves a session that is clean and the rows of others
// as they were.
func TestDatabaseEveryFlip(t *testing.T) {
	b := newRowBed(t)
	old, err := os.ReadFile(b.path)
	if err != nil {
		t.Fatal(err)
	}
	step := 1009
	if testing.Short() {
		step *= 8
	}
	repaired, unread := 0, 0
	for at := 7; at < len(old); at += step {
		data := bytes.Clone(old)
		data[at] ^= 0x41
		if err := os.WriteFile(b.path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		b.rest()
		b.cases = t.TempDir()
		found, err := store.Open(t.Context(), []string{b.path}, store.Options{Formats: []format.Format{dsh.Format{}}, Env: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Sessions) == 0 {
			unread++
		}
		changed := false
		for _, s := range found.Sessions {
			if s.ID != "s1" {
				continue
			}
			out, err := repair.Session(t.Context(), s, repair.Options{CaseDir: b.cases, FS: lazy})
			if err != nil {
				unread++
				continue
			}
			if !out.Changed {
				continue
			}
			changed = true
			repaired++
			b.rest()
			if again, err := b.repair(repair.Options{FS: lazy}); err != nil || again.Before.Verdict != verify.Clean || again.Changed {
				t.Errorf("byte %d: %v %+v", at, err, again)
			}
		}
		found.Close()
		if now, err := os.ReadFile(b.path); err != nil || !changed && !bytes.Equal(now, data) {
			t.Errorf("byte %d: %v", at, err)
		}
	}
	t.Logf("%d repaired, %d not read", repaired, unread)
	if repaired == 0 || unread == 0 {
		t.Errorf("%d repaired, %d not read", repaired, unread)
	}
}
