package verify_test

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/openclaw"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

const clawHead = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`

func clawMessage(id, parent, message string) string {
	return `{"type":"message","id":"` + id + `","parentId":` + parent + `,"timestamp":"2026-01-01T00:00:01.000Z","message":` + message + `}`
}

// clawDatabase makes a database with one session of these rows. Rows that begin with "z" are compressed.
func clawDatabase(t *testing.T, marker string, rows ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "openclaw-agent.sqlite")
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	run := func(q string, args ...any) {
		if _, err := db.Exec(q, args...); err != nil {
			t.Fatal(err)
		}
	}
	run("pragma user_version = " + marker)
	run("create table schema_meta (meta_key text, schema_version int)")
	run("insert into schema_meta values ('primary', " + marker + ")")
	run("create table transcript_events (session_id text, seq int, event_json text, event_zstd blob, event_utf8_bytes int)")
	enc, _ := zstd.NewWriter(nil)
	for i, r := range rows {
		if text, packed := strings.CutPrefix(r, "z"); packed {
			run("insert into transcript_events values ('s1', ?, null, ?, ?)", i, enc.EncodeAll([]byte(text), nil), len(text))
		} else {
			run("insert into transcript_events values ('s1', ?, ?, null, null)", i, r)
		}
	}
	return path
}

func openClaw(t *testing.T, path string) *store.Found {
	t.Helper()
	found, err := store.Open(context.Background(), []string{path}, store.Options{Formats: []format.Format{openclaw.Format{}}, Env: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(found.Close)
	return found
}

// Sessions in a database are verified like logs, and never written.
func TestStored(t *testing.T) {
	user := clawMessage("a1", "null", `{"role":"user","content":"hi"}`)
	call := clawMessage("a2", `"a1"`, `{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"exec","arguments":{}}],"usage":{},"stopReason":"toolUse"}`)
	result := clawMessage("a3", `"a2"`, `{"role":"toolResult","toolCallId":"c1","toolName":"exec","content":[]}`)
	for name, c := range map[string]struct {
		rows    []string
		want    string
		verdict verify.Verdict
	}{
		"whole":                     {[]string{clawHead, user, "z" + call, result}, "", verify.Clean},
		"open at the end":           {[]string{clawHead, user, "z" + call}, "DANGLING_CALL tail error 3", verify.Refused},
		"a row lost":                {[]string{clawHead, user, result}, "PARENT_MISSING path error 3, ORPHAN_RESULT path error 3", verify.Refused},
		"a leaf in front of a call": {[]string{clawHead, user, call, result, `{"type":"leaf","id":"a4","parentId":"a3","timestamp":"2026-01-01T00:00:02.000Z","targetId":"a1"}`}, "", verify.Clean},
	} {
		path := clawDatabase(t, "23", c.rows...)
		before, _ := os.ReadFile(path)
		found := openClaw(t, path)
		if len(found.Sessions) != 1 || found.Sessions[0].Path != path+"#s1" {
			t.Fatalf("%s: %+v %v", name, found.Sessions, found.Troubles)
		}
		res, err := verify.File(t.Context(), found.Sessions[0])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := said(res); got != c.want || res.Verdict != c.verdict || len(res.Offers) > 0 {
			t.Errorf("%s: %s %s, want %s %s", name, res.Verdict, got, c.verdict, c.want)
		}
		out, err := repair.Session(t.Context(), found.Sessions[0], repair.Options{CaseDir: t.TempDir()})
		if err != nil || out.Changed || out.Before.Verdict != c.verdict {
			t.Errorf("%s: %v %+v", name, err, out)
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Errorf("%s: the database changed", name)
		}
	}
}

// A database of another schema is not looked at.
func TestStoredSchema(t *testing.T) {
	found := openClaw(t, clawDatabase(t, "24", clawHead))
	if len(found.Sessions) > 0 || len(found.Troubles) != 1 || !strings.Contains(found.Troubles[0].Error(), "schema 24") {
		t.Errorf("%+v %v", found.Sessions, found.Troubles)
	}
}

// A file that is no database is named once.
func TestStoredUnreadable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "openclaw-agent.sqlite")
	if err := os.WriteFile(path, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	found := openClaw(t, path)
	if len(found.Troubles) != 1 || strings.Count(found.Troubles[0].Error(), path) != 1 || !strings.Contains(found.Troubles[0].Error(), "no readable database") {
		t.Errorf("%v", found.Troubles)
	}
}
