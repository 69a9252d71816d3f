package database_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessfix/sessfix/database"
)

// made is a new database of n rows.
func made(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made #1.db")
	err := database.Make(t.Context(), path, func(tx *sql.Tx) error {
		_, err := tx.Exec("create table rows (id integer primary key, v text)")
		for i := 0; i < n && err == nil; i++ {
			_, err = tx.Exec("insert into rows (v) values (?)", strings.Repeat("x", 500))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func opened(t *testing.T, path string) *database.Copy {
	t.Helper()
	c, err := database.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// A database is made whole or not at all, for its owner's eyes only, and never over something else.
func TestMake(t *testing.T) {
	path := made(t, 3)
	fi, err := os.Stat(path)
	if err != nil || fi.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("%v %v", err, fi.Mode())
	}
	if n := count(t, opened(t, path).DB, "select count(*) from rows"); n != 3 {
		t.Errorf("%d rows", n)
	}
	nothing := func(*sql.Tx) error { return nil }
	if err := database.Make(t.Context(), path, nothing); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v", err)
	}
	broken := errors.New("broken")
	other := filepath.Join(t.TempDir(), "other.db")
	err = database.Make(t.Context(), other, func(tx *sql.Tx) error {
		if _, err := tx.Exec("create table t (x)"); err != nil {
			return err
		}
		return broken
	})
	if err != broken {
		t.Errorf("%v", err)
	}
	if left := files(t, filepath.Dir(other)); len(left) > 0 {
		t.Errorf("%v", left)
	}
}

// All changes are made or none.
func TestChange(t *testing.T) {
	path := made(t, 3)
	before := files(t, filepath.Dir(path))
	broken := errors.New("broken")
	drop := func(tx *sql.Tx) error { _, err := tx.Exec("delete from rows where id > 1"); return err }
	err := database.Change(t.Context(), path, func(tx *sql.Tx) error { return errors.Join(drop(tx), broken) })
	if after := files(t, filepath.Dir(path)); !errors.Is(err, broken) || len(after) != 1 || after[filepath.Base(path)] != before[filepath.Base(path)] {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = database.Change(ctx, path, func(tx *sql.Tx) error {
		cancel()
		time.Sleep(20 * time.Millisecond) // in which nobody else ends the transaction: Change would come back while that goes on
		return drop(tx)
	})
	if after := files(t, filepath.Dir(path)); !errors.Is(err, context.Canceled) || len(after) != 1 || after[filepath.Base(path)] != before[filepath.Base(path)] {
		t.Errorf("%v", err)
	}
	if err := database.Change(t.Context(), path, drop); err != nil {
		t.Error(err)
	}
	if n := count(t, opened(t, path).DB, "select count(*) from rows"); n != 1 {
		t.Errorf("%d rows", n)
	}
	if err := database.Change(t.Context(), path+".none", drop); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if err := database.Change(t.Context(), filepath.Dir(path), drop); !errors.Is(err, database.ErrNoDatabase) {
		t.Errorf("%v", err)
	}
}

// Of a transaction that a crash left half done the journal knows what there was.
func TestOpenHotJournal(t *testing.T) {
	path := made(t, 2000)
	db, err := sql.Open("sqlite", "file:"+strings.NewReplacer(" ", "%20", "#", "%23").Replace(path)+"?_pragma=cache_size(2)&_pragma=journal_mode(delete)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("update rows set v = 'half done' || v"); err != nil {
		t.Fatal(err)
	}
	crashed := filepath.Join(t.TempDir(), "crashed.db")
	for _, suffix := range []string{"", "-journal"} {
		data, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if suffix == "" && !bytes.Contains(data, []byte("half done")) {
			t.Fatal("nothing of the transaction is in the database")
		}
		if err := os.WriteFile(crashed+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	before := files(t, filepath.Dir(crashed))
	c := opened(t, crashed)
	if n := count(t, c.DB, "select count(*) from rows where v glob 'half*'"); n != 0 {
		t.Errorf("%d rows are half done", n)
	}
	if err := c.Sound(t.Context()); err != nil {
		t.Error(err)
	}
	after := files(t, filepath.Dir(crashed))
	if len(after) != 2 || after["crashed.db"] != before["crashed.db"] || after["crashed.db-journal"] != before["crashed.db-journal"] {
		t.Error("looking changed something")
	}
}

// A database whose pages are wrong is not sound.
func TestSound(t *testing.T) {
	path := made(t, 2000)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(data[4096*20:], make([]byte, 4096))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	c := opened(t, path)
	for range 2 {
		if err := c.Sound(t.Context()); !errors.Is(err, database.ErrDamaged) {
			t.Errorf("%v", err)
		}
	}
}

// What is spooled can be read anywhere, and leaves nothing behind.
func TestSpool(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	c, err := database.Open(t.Context(), made(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.Spool(func(w io.Writer) error { _, err := io.WriteString(w, "one\ntwo\n"); return err })
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 3)
	if _, err := f.ReadAt(b, 4); err != nil || string(b) != "two" {
		t.Errorf("%v %q", err, b)
	}
	broken := errors.New("broken")
	if _, err := c.Spool(func(io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if err := errors.Join(f.Close(), c.Close()); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("%d files are left", len(left))
	}
}

func TestHead(t *testing.T) {
	path := made(t, 1)
	if head := database.Head(path); len(head) != 100 || !bytes.HasPrefix(head, []byte("SQLite format 3\x00")) {
		t.Errorf("%q", head)
	}
	if head := database.Head(filepath.Dir(path)); head != nil {
		t.Errorf("%q", head)
	}
}
