package verify_test

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/dsh"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// dshDatabase makes a database of one session of these records, and does to it what is asked.
func dshDatabase(t *testing.T, dir string, records []string, damage ...string) string {
	t.Helper()
	path := filepath.Join(dir, "sessions.db")
	header := `{"type":"session","version":0,"id":"s1","createdAt":1,"cwd":"/w","delegationDepth":0}`
	err := dsh.WriteDatabase(t.Context(), path, []byte(header), func(yield func([]byte, error) bool) {
		for _, r := range records {
			if !yield([]byte(r), nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range damage {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return path
}

var dshTurn = []string{
	`{"type":"turn/start","seq":0,"time":1,"data":{"turn":1}}`,
	`{"type":"step/start","seq":1,"time":1,"data":{"turn":1,"step":1}}`,
	`{"type":"assistant/message","seq":2,"time":1,"data":{"turn":1,"step":1,"message":{"id":"m2","role":"assistant","content":[{"type":"tool-call","id":"c1","name":"bash","arguments":"{}"}],"source":{"kind":"model","provider":"p","model":"m"}}},"surfaceOp":"append","sourceEventSeqs":[]}`,
	`{"type":"tool/call","seq":3,"time":1,"data":{"turn":1,"step":1,"callId":"c1","name":"bash","arguments":"{}"}}`,
	`{"type":"tool/result","seq":4,"time":1,"data":{"turn":1,"step":1,"message":{"id":"m3","role":"user","content":[{"type":"tool-result","toolCallId":"c1","content":[],"isError":false}],"source":{"kind":"tool","callId":"c1"}}},"surfaceOp":"append","sourceEventSeqs":[3]}`,
	`{"type":"step/end","seq":5,"time":1,"data":{"turn":1,"step":1}}`,
	`{"type":"turn/end","seq":6,"time":1,"data":{"turn":1,"reason":{"kind":"completed"}}}`,
}

// Sessions in a database are found by what the file is, and verified like logs: line 1 is the session's own row, and line n+1 the n-th of its events.
func TestDatabase(t *testing.T) {
	for name, c := range map[string]struct {
		records int
		damage  string
		want    string
		verdict verify.Verdict
	}{
		"whole":                     {7, "pragma optimize", "", verify.Clean},
		"open at the end":           {4, "pragma optimize", "OPEN_TURN tail warning 2, OPEN_STEP tail warning 3, DANGLING_CALL tail warning 4", verify.Repairable},
		"a row lost":                {7, "delete from events where seq = 1", "SEQ_GAP error 3, STEP_NESTING note 6 <SEQ_GAP", verify.Refused},
		"data that is none":         {7, "update events set data = 'x' where seq = 6", "OPEN_TURN tail warning 2, TORN_LINE unfinished error 8", verify.Repairable},
		"a start that is none":      {4, "update events set data = 'x' where seq = 3", "OPEN_TURN tail warning 2, OPEN_STEP tail warning 3, DANGLING_CALL tail warning 4, EVENT_INVALID error 5, EMPTY_CALL_ID several error 5", verify.Refused},
		"the session's row lost":    {7, "pragma foreign_keys = off; delete from sessions", "HEADER_MISSING error 1", verify.Refused},
		"another version":           {7, "update sessions set version = 4", "VERSION_UNKNOWN error 0", verify.Refused},
		"no absolute path":          {7, "update sessions set cwd = 'w'", "HEADER_INVALID missing error 1", verify.Refused},
		"a created time below zero": {7, "update sessions set created_at = -1", "HEADER_INVALID missing error 1", verify.Refused},
	} {
		dir := t.TempDir()
		path := dshDatabase(t, dir, dshTurn[:c.records], c.damage)
		before, _ := os.ReadFile(path)
		for _, arg := range []string{path, dir, path + "#s1"} {
			found, err := store.Open(t.Context(), []string{arg}, store.Options{Formats: []format.Format{dsh.Format{}}, Env: func(string) string { return "" }})
			if err != nil {
				t.Fatal(err)
			}
			if len(found.Sessions) != 1 || found.Sessions[0].Path != path+"#s1" {
				t.Fatalf("%s: %+v %v", name, found.Sessions, found.Troubles)
			}
			res, err := verify.File(t.Context(), found.Sessions[0])
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got := said(res); res.Verdict != c.verdict || got != c.want {
				t.Errorf("%s: %s %s, want %s %s", name, res.Verdict, got, c.verdict, c.want)
			}
			found.Close()
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Errorf("%s: the database changed", name)
		}
		if left, _ := os.ReadDir(dir); len(left) != 1 {
			t.Errorf("%s: %v", name, left)
		}
	}
}

// A database of another application or of another schema is no session of this agent, or is named with what is wrong.
func TestDatabaseOther(t *testing.T) {
	for name, c := range map[string]struct{ damage, want string }{
		"another application": {"pragma application_id = 1", "no session found"},
		"another schema":      {"pragma user_version = 16", "schema 16 of the database is not known here"},
		"an index":            {"create index i on events (seq)", `the index "i" is no part of schema 17`},
	} {
		dir := t.TempDir()
		dshDatabase(t, dir, dshTurn, c.damage)
		found, err := store.Open(t.Context(), []string{dir}, store.Options{Formats: []format.Format{dsh.Format{}}, Env: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Sessions) > 0 || len(found.Troubles) != 1 || !strings.Contains(found.Troubles[0].Error(), c.want) {
			t.Errorf("%s: %+v %v", name, found.Sessions, found.Troubles)
		}
		found.Close()
	}
	dir := t.TempDir()
	path := dshDatabase(t, dir, dshTurn)
	found, err := store.Open(t.Context(), []string{path + "#other"}, store.Options{Formats: []format.Format{dsh.Format{}}, Env: func(string) string { return "" }})
	if err != nil || len(found.Sessions) > 0 || len(found.Troubles) != 1 {
		t.Errorf("%v %+v", err, found)
	}
}
