package database_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/sessfix/sessfix/database"
)

// live is a database with its log of writes, as a client that runs has it open.
func live(t *testing.T, rows int) (string, *sql.DB) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a b%20c#.sqlite")
	db, err := sql.Open("sqlite", "file:"+filepath.Join(filepath.Dir(path), "a%20b%2520c%23.sqlite")+"?_pragma=journal_mode(wal)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	exec(t, db, "create table state (id text primary key, n integer not null)", "create table rows (id text, v text)")
	for range rows {
		exec(t, db, "insert into rows values ('t1', 'x')")
	}
	exec(t, db, "insert into state values ('t1', 500)", "insert into state values ('t2', 900)", "insert into rows values ('t2', 'y')")
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	return path, db
}

func exec(t *testing.T, db *sql.DB, list ...string) {
	t.Helper()
	for _, s := range list {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func count(t *testing.T, db interface {
	QueryRow(string, ...any) *sql.Row
}, query string) (n int) {
	t.Helper()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(data)
	}
	return out
}

// What a client that runs has written is seen, and nothing beside the database changes.
func TestOpen(t *testing.T) {
	path, _ := live(t, 50)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	before := files(t, filepath.Dir(path))
	c, err := database.Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	if n := count(t, c, "select count(*) from rows where id = 't1'"); n != 50 {
		t.Errorf("%d rows", n)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	after := files(t, filepath.Dir(path))
	if len(after) != len(before) || after[filepath.Base(path)] != before[filepath.Base(path)] || after[filepath.Base(path)+"-wal"] != before[filepath.Base(path)+"-wal"] {
		t.Error("looking changed something")
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("%d copies are left", len(left))
	}
}

func TestOpenNone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.sqlite")
	if _, err := database.Open(context.Background(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	for name, data := range map[string][]byte{
		"text":       bytes.Repeat([]byte("no database "), 1000),
		"other head": append([]byte("SQLite format 4\x00"), make([]byte, 5000)...),
		"cut":        []byte("SQLite format 3\x00\x10\x00"),
	} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := database.Open(context.Background(), path); !errors.Is(err, database.ErrNoDatabase) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := database.Open(context.Background(), dir); !errors.Is(err, database.ErrNoDatabase) {
		t.Errorf("a folder: %v", err)
	}
}

func rows(path string) database.Rows {
	return database.Rows{Path: path, Key: "t1", Counts: "select n from state where id = ?", Forget: []string{"delete from rows where id = ?", "delete from state where id = ?"}}
}

func TestForget(t *testing.T) {
	for _, c := range []struct {
		name string
		from int64
		gone bool
	}{{"all of it changes", 0, true}, {"its end changes", 499, true}, {"what they do not know changes", 500, false}} {
		path, db := live(t, 3)
		before := files(t, filepath.Dir(path))
		gone, err := database.Forget(context.Background(), rows(path), c.from)
		if err != nil || gone != c.gone {
			t.Errorf("%s: %v %v", c.name, gone, err)
		}
		if n := count(t, db, "select count(*) from rows where id = 't1'"); (n == 0) != c.gone {
			t.Errorf("%s: %d rows are left", c.name, n)
		}
		if n := count(t, db, "select (select count(*) from rows) + (select count(*) from state where id = 't2')"); n < 2 {
			t.Errorf("%s: rows about something else are gone", c.name)
		}
		if after := files(t, filepath.Dir(path)); !c.gone && after[filepath.Base(path)+"-wal"] != before[filepath.Base(path)+"-wal"] {
			t.Errorf("%s: something was written", c.name)
		}
	}
}

// All rows go or none does.
func TestForgetWhole(t *testing.T) {
	path, db := live(t, 3)
	r := rows(path)
	r.Forget = append(r.Forget, "delete from nothing where id = ?")
	if gone, err := database.Forget(context.Background(), r, 0); err == nil || gone {
		t.Errorf("%v %v", gone, err)
	}
	if n := count(t, db, "select count(*) from rows where id = 't1'"); n != 3 {
		t.Errorf("%d rows are left of 3", n)
	}
}

// A database that is not there, damaged or of another shape has no such rows, and is left as it is.
func TestForgetNothing(t *testing.T) {
	path, db := live(t, 1)
	exec(t, db, "drop table state")
	for _, r := range []database.Rows{rows(path), rows(path + ".none"), rows(filepath.Dir(path))} {
		if gone, err := database.Forget(context.Background(), r, 0); gone || err != nil {
			t.Errorf("%s: %v %v", r.Path, gone, err)
		}
	}
	if _, err := os.Stat(path + ".none"); err == nil {
		t.Error("a database was made")
	}
	torn := filepath.Join(t.TempDir(), "torn.sqlite")
	text := []byte("no database at all, but longer than a head of one would be: " + string(make([]byte, 100)))
	if err := os.WriteFile(torn, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if gone, err := database.Forget(context.Background(), rows(torn), 0); gone || err != nil {
		t.Errorf("%v %v", gone, err)
	}
	if after, _ := os.ReadFile(torn); !bytes.Equal(after, text) {
		t.Error("a damaged database was changed")
	}
}

// Where somebody else writes for long, the rows stay and the caller is told.
func TestForgetBusy(t *testing.T) {
	if testing.Short() {
		t.Skip("waits")
	}
	path, db := live(t, 1)
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.Exec("insert into rows values ('t3', 'z')"); err != nil {
		t.Fatal(err)
	}
	if gone, err := database.Forget(context.Background(), rows(path), 0); gone || err == nil {
		t.Errorf("%v %v", gone, err)
	}
}
