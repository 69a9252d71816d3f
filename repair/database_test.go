package repair_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/dsh"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// rowBed is a database of sessions, of which one is asked for.
type rowBed struct {
	*testing.T
	path, cases string
}

// newRowBed makes a database of a healthy session and one that stops inside of a turn, and does to it what is asked.
func newRowBed(t *testing.T, damage ...string) *rowBed {
	t.Helper()
	b := &rowBed{t, filepath.Join(t.TempDir(), "own name.db"), filepath.Join(t.TempDir(), "cases")}
	data, err := os.ReadFile("../testdata/sessions/dsh/stop-second-call.v0.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	header := bytes.Replace(lines[0], []byte(`"id":"`), []byte(`"id":"s1#`), 1)
	err = dsh.WriteDatabase(t.Context(), b.path, header, func(yield func([]byte, error) bool) {
		for _, l := range lines[1:] {
			if !yield(l, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	b.exec("update sessions set id = 's1'; update events set session_id = 's1'",
		"insert into sessions select 's2', version, created_at, cwd, null, null, null, null, null, incarnation, 7 from sessions",
		"insert into events select 's2', seq, type, time, data, source_event_seqs, surface_op, ignorable from events")
	b.exec(damage...)
	b.rest()
	return b
}

// rest makes the files look as if nobody had written to them for long.
func (b *rowBed) rest() {
	b.Helper()
	for _, suffix := range []string{"", "-wal"} {
		at := time.Now().Add(-time.Hour)
		if err := os.Chtimes(b.path+suffix, at, at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			b.Fatal(err)
		}
	}
}

func (b *rowBed) db() *sql.DB {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+strings.ReplaceAll(b.path, " ", "%20"))
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	return db
}

func (b *rowBed) exec(list ...string) {
	b.Helper()
	db := b.db()
	defer db.Close()
	for _, s := range list {
		if _, err := db.Exec(s); err != nil {
			b.Fatalf("%s: %v", s, err)
		}
	}
}

// rows are all columns of all rows of a query, with their types.
func (b *rowBed) rows(query string) (out []string) {
	b.Helper()
	db := b.db()
	defer db.Close()
	rows, err := db.Query(query)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	cols, _ := rows.Columns()
	for rows.Next() {
		list, to := make([]any, len(cols)), make([]any, len(cols))
		for i := range list {
			to[i] = &list[i]
		}
		if err := rows.Scan(to...); err != nil {
			b.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%#v", list))
	}
	return out
}

const (
	eventsOf  = "select * from events where session_id = '%s' order by seq"
	otherRows = "select * from events where session_id <> 's1' union all select id, revision, incarnation, 0, 0, 0, 0, 0 from sessions where id <> 's1'"
)

func (b *rowBed) events() []string { b.Helper(); return b.rows(fmt.Sprintf(eventsOf, "s1")) }

func (b *rowBed) revision() string {
	b.Helper()
	return b.rows("select revision from sessions where id = 's1'")[0]
}

func (b *rowBed) open() (store.Session, func()) {
	b.Helper()
	found, err := store.Open(b.Context(), []string{b.path + "#s1"}, store.Options{Formats: []format.Format{dsh.Format{}}, Env: func(string) string { return "" }})
	if err != nil || len(found.Sessions) != 1 {
		b.Fatalf("%v %+v", err, found)
	}
	return found.Sessions[0], found.Close
}

func (b *rowBed) repair(o repair.Options) (*repair.Outcome, error) {
	b.Helper()
	s, done := b.open()
	defer done()
	if o.CaseDir == "" {
		o.CaseDir = b.cases
	}
	return repair.Session(b.Context(), s, o)
}

func (b *rowBed) undo() error {
	b.Helper()
	b.rest()
	dirs, err := repair.FindCases(durable.Disk, b.cases, b.path)
	if err != nil {
		return err
	}
	_, errs := repair.UndoAll(b.Context(), dirs, repair.UndoOptions{CaseDir: b.cases, Formats: []format.Format{dsh.Format{}}})
	return errors.Join(errs...)
}

// What is mended in rows, and which rows change for it: those that are gone and those that are new or other ones.
func TestDatabaseRepair(t *testing.T) {
	for _, c := range []struct {
		what      string
		damage    []string
		codes     string
		gone, new string // numbers
	}{
		{"a turn is open", nil, "OPEN_TURN OPEN_STEP DANGLING_CALL DANGLING_CALL", "", "34 35 36 37"},
		{"with its writes in a log", []string{"pragma journal_mode = wal"}, "OPEN_TURN OPEN_STEP DANGLING_CALL DANGLING_CALL", "", "34 35 36 37"},
		{"the last row cannot be read", []string{`insert into events values ('s1', 34, 'tool/result', 9, '{"turn":2,', null, '"append"', null)`}, "OPEN_TURN OPEN_STEP DANGLING_CALL DANGLING_CALL TORN_LINE", "34", "34 35 36 37"},
		{"a control character", []string{"update events set data = replace(data, 'Hello', 'He' || char(9) || 'llo') where session_id = 's1' and seq = 2"}, "CONTROL_CHAR OPEN_TURN OPEN_STEP DANGLING_CALL DANGLING_CALL", "2", "2 34 35 36 37"},
	} {
		t.Run(c.what, func(t *testing.T) {
			b := newRowBed(t, c.damage...)
			before, rest := b.events(), b.rows(otherRows)
			out, err := b.repair(repair.Options{})
			if err != nil || !out.Changed {
				t.Fatalf("%v %+v", err, out)
			}
			if got := strings.Join(codesOf(out.Before), " "); got != c.codes {
				t.Errorf("%s", got)
			}
			after := b.events()
			var gone, added []string
			for _, r := range before {
				if !slices.Contains(after, r) {
					gone = append(gone, seqOf(r))
				}
			}
			for _, r := range after {
				if !slices.Contains(before, r) {
					added = append(added, seqOf(r))
				}
			}
			if strings.Join(gone, " ") != c.gone || strings.Join(added, " ") != c.new {
				t.Errorf("gone %v, new %v", gone, added)
			}
			if !slices.Equal(rest, b.rows(otherRows)) {
				t.Error("rows of another session changed")
			}
			if b.revision() != "[]interface {}{2}" {
				t.Errorf("revision %s", b.revision())
			}
			b.rest()
			if out, err = b.repair(repair.Options{}); err != nil || out.Changed || out.Before.Verdict != verify.Clean {
				t.Errorf("again: %v %+v", err, out)
			}
			if err := b.undo(); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(before, b.events()) || !slices.Equal(rest, b.rows(otherRows)) {
				t.Error("undo did not bring the rows back")
			}
			if b.revision() != "[]interface {}{3}" {
				t.Errorf("revision %s: the client would take what it holds for what is there", b.revision())
			}
			if err := b.undo(); !errors.Is(err, repair.ErrNoCase) {
				t.Errorf("undone twice: %v", err)
			}
		})
	}
}

func codesOf(res *verify.Result) (out []string) {
	for _, f := range res.Findings {
		if f.Damage() {
			out = append(out, string(f.Code))
		}
	}
	return out
}

// seqOf is the number of a row as rows shows it.
func seqOf(row string) string { return strings.TrimSpace(strings.Split(row, ",")[1]) }

// What has no safe repair, or is at work, is left as it is to the byte.
func TestDatabaseRefused(t *testing.T) {
	b := newRowBed(t, "delete from events where session_id = 's1' and seq = 5")
	b.untouched("a hole", func() {
		out, err := b.repair(repair.Options{})
		if err != nil || out.Changed || out.Before.Verdict != verify.Refused {
			t.Errorf("%v %+v", err, out)
		}
	})
	if out, err := b.repair(repair.Options{Accept: map[finding.Code]bool{finding.SeqGap: true}}); err != nil || !out.Changed || len(b.events()) > 10 {
		t.Errorf("accepted: %v %d rows", err, len(b.events()))
	}

	b = newRowBed(t, "update events set data = '{' where session_id = 's1' and seq = 33")
	b.untouched("the start of a call cannot be read", func() {
		out, err := b.repair(repair.Options{})
		if err != nil || out.Changed || out.Before.Verdict != verify.Refused {
			t.Errorf("%v %+v", err, out)
		}
	})

	b = newRowBed(t)
	b.untouched("a dry run", func() {
		if out, err := b.repair(repair.Options{DryRun: true}); err != nil || out.Changed || out.Result == nil {
			t.Errorf("%v %+v", err, out)
		}
	})
	b.untouched("another process has it open", func() {
		f, err := os.OpenFile(b.path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		c := exec.Command("sleep", "60")
		c.ExtraFiles = []*os.File{f}
		if err := c.Start(); err != nil {
			t.Skip(err)
		}
		defer func() { c.Process.Kill(); c.Wait() }()
		var live *repair.LiveError
		if out, err := b.repair(repair.Options{}); !errors.As(err, &live) || out.Changed || !strings.Contains(err.Error(), "open for writing") {
			t.Errorf("%v", err)
		}
	})
	b.untouched("no place for the case", func() {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := b.repair(repair.Options{CaseDir: filepath.Join(file, "cases")}); err == nil || out.Changed {
			t.Errorf("%v", err)
		}
	})
	s, done := b.open()
	defer done()
	b.exec("update events set time = time + 1 where session_id = 's1' and seq = 3; update sessions set revision = revision + 1")
	b.rest()
	b.untouched("written since it was looked at", func() {
		var live *repair.LiveError
		if out, err := repair.Session(t.Context(), s, repair.Options{CaseDir: b.cases}); !errors.As(err, &live) || out.Changed {
			t.Errorf("%v", err)
		}
	})
	b.exec("create index i on events (time)")
	b.rest()
	b.untouched("another schema by now", func() {
		if out, err := repair.Session(t.Context(), s, repair.Options{CaseDir: b.cases}); err == nil || out.Changed || !strings.Contains(err.Error(), "no part of schema 17") {
			t.Errorf("%v", err)
		}
	})
	if left, _ := os.ReadDir(b.cases); len(left) > 0 {
		t.Errorf("%v", left)
	}
}

// untouched runs something that must not write to the database.
func (b *rowBed) untouched(what string, do func()) {
	b.Helper()
	before, err := os.ReadFile(b.path)
	if err != nil {
		b.Fatal(err)
	}
	do()
	if after, _ := os.ReadFile(b.path); !bytes.Equal(before, after) {
		b.Errorf("%s: the database changed", what)
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if _, err := os.Lstat(b.path + suffix); err == nil {
			b.Errorf("%s: %s is left", what, suffix)
		}
	}
}

// A kill in front of the commit leaves the old rows and a case that says nothing; one behind it the new ones and a case
// that the next run finishes.
func TestDatabaseKilled(t *testing.T) {
	b := newRowBed(t)
	old, err := os.ReadFile(b.path)
	if err != nil {
		t.Fatal(err)
	}
	before := b.events()
	out, err := b.repair(repair.Options{})
	if err != nil {
		t.Fatal(err)
	}
	after := b.events()
	if err := os.Remove(filepath.Join(out.Receipt, "receipt.json")); err != nil {
		t.Fatal(err)
	}
	b.rest()
	if out, err := b.repair(repair.Options{}); err != nil || out.Changed || !out.Resumed || !slices.Equal(after, b.events()) {
		t.Errorf("behind the commit: %v %+v", err, out)
	}
	if _, err := os.Stat(filepath.Join(out.Receipt, "receipt.json")); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(out.Receipt, "receipt.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.path, old, 0o600); err != nil {
		t.Fatal(err)
	}
	b.rest()
	if out, err := b.repair(repair.Options{}); err != nil || !out.Changed || !out.Resumed || !slices.Equal(after, b.events()) {
		t.Errorf("in front of it: %v %+v", err, out)
	}
	if err := b.undo(); err != nil || !slices.Equal(before, b.events()) {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(b.lastCase(), "undone.json")); err != nil {
		t.Fatal(err)
	}
	if err := b.undo(); err != nil || !slices.Equal(before, b.events()) {
		t.Errorf("killed behind an undo: %v", err)
	}
}

func (b *rowBed) lastCase() string {
	b.Helper()
	list, err := filepath.Glob(filepath.Join(b.cases, "*", "0*"))
	if err != nil || len(list) == 0 {
		b.Fatal(err)
	}
	return list[len(list)-1]
}

// Rows that somebody wrote to since the repair are not put back. The original can be had elsewhere.
func TestDatabaseWrittenSince(t *testing.T) {
	b := newRowBed(t)
	before := b.events()
	if _, err := b.repair(repair.Options{}); err != nil {
		t.Fatal(err)
	}
	b.exec("insert into events values ('s1', 38, 'session/end-seed', 9, '{}', null, null, null); update sessions set revision = revision + 1 where id = 's1'")
	b.rest()
	b.untouched("undo", func() {
		if err := b.undo(); !errors.Is(err, repair.ErrWritten) {
			t.Errorf("%v", err)
		}
	})
	to := filepath.Join(t.TempDir(), "original.db")
	dirs, err := repair.FindCases(durable.Disk, b.cases, b.path+"#s1")
	if err != nil {
		t.Fatal(err)
	}
	if _, errs := repair.UndoAll(t.Context(), dirs, repair.UndoOptions{CaseDir: b.cases, Output: to}); len(errs) > 0 {
		t.Fatal(errs)
	}
	kept := &rowBed{t, to, ""}
	if !slices.Equal(before, kept.events()) || kept.revision() != "[]interface {}{1}" {
		t.Error("it is not what there was")
	}
}

// With --output the result becomes a database of its own.
func TestDatabaseOutput(t *testing.T) {
	b := newRowBed(t)
	to := filepath.Join(t.TempDir(), "out", "own.db#s1")
	b.untouched("output", func() {
		out, err := b.repair(repair.Options{Output: to})
		if err != nil || !out.Changed {
			t.Fatalf("%v %+v", err, out)
		}
	})
	found, err := store.Open(t.Context(), []string{to}, store.Options{Formats: []format.Format{dsh.Format{}}, Env: func(string) string { return "" }})
	if err != nil || len(found.Sessions) != 1 {
		t.Fatalf("%v %v", err, found)
	}
	defer found.Close()
	if res, err := verify.File(t.Context(), found.Sessions[0]); err != nil || res.Verdict != verify.Clean || res.Events != 38 {
		t.Errorf("%v %+v", err, res)
	}
	if fi, err := os.Stat(to); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", err, fi)
	}
	if _, err := b.repair(repair.Options{Output: to}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over what exists: %v", err)
	}
}

// A database whose tables and indexes disagree is not written.
func TestDatabaseUnsound(t *testing.T) {
	b := newRowBed(t)
	data, err := os.ReadFile(b.path)
	if err != nil {
		t.Fatal(err)
	}
	// The index of the events is told that a row's number is another one.
	page := len(data) / 4096
	for ; page > 0; page-- {
		if at := data[(page-1)*4096:]; at[0] == 0x0a && bytes.Contains(at[:4096], []byte("s1\x20")) {
			at[bytes.Index(at[:4096], []byte("s1\x20"))+2] = 0x7f
			break
		}
	}
	if page == 0 {
		t.Skip("no such page")
	}
	if err := os.WriteFile(b.path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	b.rest()
	b.untouched("damaged", func() {
		s, done := b.open()
		defer done()
		out, err := repair.Session(t.Context(), s, repair.Options{CaseDir: b.cases, Accept: map[finding.Code]bool{finding.SeqGap: true}})
		if err == nil || out.Changed || !strings.Contains(err.Error(), "the database is damaged") {
			t.Errorf("%v %+v", err, out.Before)
		}
	})
}
