package openclaw

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
)

const indexPath = "/state/agents/blue/sessions/sessions.json"

// folder holds two logs, and what is no log.
func folder() fstest.MapFS {
	log := func(id, last string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(`{"type":"session","version":3,"id":"` + id + `","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n" +
			`{"type":"message","id":"a","parentId":null,"timestamp":"` + last + `","message":{"role":"user","content":"t"}}` + "\n")}
	}
	return fstest.MapFS{
		"one.jsonl":         log("one", "2026-01-01T00:00:01.000Z"),
		"two.jsonl":         log("two", "2026-01-01T00:00:02.000Z"),
		"two.jsonl.lock":    {Data: []byte(`{"pid":1}`)},
		"notes.jsonl":       {Data: []byte(`{"a":1}` + "\n")},
		"one.jsonl.deleted": log("one", "2026-01-01T00:00:01.000Z"),
	}
}

func judged(data string, dir fstest.MapFS) (codes string, list []finding.Finding) {
	list = index{}.Judge([]byte(data), format.Around{Path: indexPath, Dir: dir})
	var out []string
	for _, f := range list {
		out = append(out, strings.TrimSpace(string(f.Code)+" "+f.Where))
	}
	return strings.Join(out, ", "), list
}

func TestJudge(t *testing.T) {
	both := `{"agent:blue:main":{"sessionId":"one"},"agent:blue:x":{"sessionId":"gone","sessionFile":"/state/agents/blue/sessions/two.jsonl"}}`
	for _, c := range []struct{ name, data, want string }{
		{"fits", both, ""},
		{"with a mark in front", "\xEF\xBB\xBF" + both, ""},
		{"empty", "", "INDEX_EMPTY"},
		{"white space", " \n\t\r\n", "INDEX_EMPTY"},
		{"NULs", "\x00\x00\x00", "INDEX_EMPTY"},
		{"torn", both[:40], "INDEX_CORRUPT"},
		{"text", "not JSON", "INDEX_CORRUPT"},
		{"names nothing", "{}", "INDEX_MISSING"},
		{"a list", "[]", "INDEX_MISSING"},
		{"one is gone", `{"a":{"sessionId":"one"},"b":{"sessionId":"two"},"c":{"sessionId":"three"}}`, "INDEX_STALE"},
		{"one is gone, one not named", `{"a":{"sessionId":"one"},"c":{"sessionId":"three"}}`, "INDEX_STALE, INDEX_MISSING"},
	} {
		if got, _ := judged(c.data, folder()); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got, list := judged("", fstest.MapFS{}); got != "INDEX_EMPTY none" || list[0].Severity != finding.Note || list[0].Patches != nil {
		t.Errorf("no logs: %+v", list)
	}
}

// An empty index is written anew: it names each log once, by a key that claims nothing of it, and then fits.
func TestRebuilt(t *testing.T) {
	_, list := judged("\n", folder())
	p := list[0].Patches
	if len(p) != 1 || p[0].At != 0 || p[0].Del != 1 {
		t.Fatalf("%+v", p)
	}
	var got map[string]struct {
		ID      string `json:"sessionId"`
		File    string `json:"sessionFile"`
		Updated int64  `json:"updatedAt"`
	}
	if err := json.Unmarshal(p[0].Ins, &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got["agent:blue:recovered:two"].File != "two.jsonl" || got["agent:blue:recovered:two"].Updated != 1767225602000 || got["agent:blue:recovered:one"].ID != "one" {
		t.Errorf("%s", p[0].Ins)
	}
	if codes, _ := judged(string(p[0].Ins), folder()); codes != "" {
		t.Errorf("then %s", codes)
	}
}

// FuzzJudge: whatever an index holds, it is said what is wrong with it, and what is written anew fits.
func FuzzJudge(f *testing.F) {
	for _, s := range []string{"", "{}", "[]", "null", `{"a":7}`, `{"a":{"sessionId":7}}`, `{"a":{"sessionFile":""}}`, `{"a":{"sessionId":"one"}`, "\x00", "\xEF\xBB\xBF{}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data string) {
		_, list := judged(data, folder())
		for _, n := range list {
			if _, ok := finding.Lookup(n.Code); !ok || n.Message == "" || n.Len != int64(len(data)) {
				t.Fatalf("%+v", n)
			}
			for _, p := range n.Patches {
				if codes, _ := judged(string(p.Ins), folder()); codes != "" {
					t.Fatalf("%s of what was written anew", codes)
				}
			}
		}
	})
}

func TestOwner(t *testing.T) {
	for _, c := range []struct {
		data string
		want format.Owner
		ok   bool
	}{
		{`{"pid":12,"createdAt":"x","starttime":345}`, format.Owner{PID: 12, Start: "345"}, true},
		{`{"pid":12}`, format.Owner{PID: 12}, true},
		{`{"pid":0}`, format.Owner{}, false},
		{`{"pid":-1}`, format.Owner{}, false},
		{`{"pid":"12"}`, format.Owner{}, false},
		{``, format.Owner{}, false},
		{`{"pid":12`, format.Owner{}, false},
	} {
		if got, ok := owner("x.lock", []byte(c.data)); got != c.want || ok != c.ok {
			t.Errorf("%s: %+v, %t", c.data, got, ok)
		}
	}
}

func TestHomes(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"OPENCLAW_STATE_DIR": "/s", "HOME": "/h"}, "[/s/agents /s/sessions]"},
		{map[string]string{"OPENCLAW_HOME": "/o", "HOME": "/h"}, "[/o/.openclaw/agents /o/.openclaw/sessions]"},
		{map[string]string{"HOME": "/h"}, "[/h/.openclaw/agents /h/.openclaw/sessions]"},
		{nil, "[]"},
	} {
		if got := fmt.Sprint(Format{}.Homes(func(k string) string { return c.env[k] })); strings.ReplaceAll(got, `\`, "/") != c.want {
			t.Errorf("%v: %s", c.env, got)
		}
	}
}
