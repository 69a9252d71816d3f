package pi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
)

func TestInherits(t *testing.T) {
	with := func(members string) string { return strings.Replace(head, `"cwd"`, members+`,"cwd"`, 1) }
	for _, c := range []struct{ name, first, want string }{
		{"nobody's", head, ""},
		{"a fork", with(`"parentSession":"/p.jsonl"`), "/p.jsonl"},
		{"a fork with a path of another system", with(`"parentSession":"C:\\p\u002ejsonl"`), `C:\p.jsonl`},
		{"a branch of 0.13", with(`"branchedFrom":"/q.jsonl"`), "/q.jsonl"},
		{"both", with(`"branchedFrom":"/q.jsonl","parentSession":"/p.jsonl"`), "/p.jsonl"},
		{"a number", with(`"parentSession":7`), ""},
		{"null", with(`"parentSession":null`), ""},
		{"an entry", treed, ""},
		{"nothing", "", ""},
	} {
		h, ok := Format{}.Inherits(format.Peek{First: []byte(c.first), FirstLine: true})
		if ok != (c.want != "") || h.Parent != c.want || ok && h.Records != -1 {
			t.Errorf("%s: %+v, %v", c.name, h, ok)
		}
	}
}

func TestAncestor(t *testing.T) {
	root := filepath.Join(t.TempDir(), "sessions")
	for _, name := range []string{"--w--/a.jsonl", "--w--/b.jsonl", "--v--/c.jsonl", "--w--/folder.jsonl/x"} {
		os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755)
		os.WriteFile(filepath.Join(root, name), nil, 0o644)
	}
	child := filepath.Join(root, "--w--", "a.jsonl")
	for parent, want := range map[string]string{
		filepath.Join(root, "--v--", "c.jsonl"):      "--v--/c.jsonl",
		"/gone/sessions/--w--/b.jsonl":               "--w--/b.jsonl",
		`C:\gone\sessions\--v--\c.jsonl`:             "--v--/c.jsonl",
		"b.jsonl":                                    "--w--/b.jsonl",
		"/gone/b.txt":                                "",
		filepath.Join(root, "--w--", "folder.jsonl"): "",
		"":                       "",
		"/":                      "",
		strings.Repeat("/..", 5): "",
	} {
		if want != "" {
			want = filepath.Join(root, filepath.FromSlash(want))
		}
		if got := (Format{}).Ancestor(child, format.Heritage{Parent: parent, Records: -1}); got != want {
			t.Errorf("%q: %q, want %q", parent, got, want)
		}
	}
}

func TestAlike(t *testing.T) {
	hook := `{"type":"message","id":"a","parentId":"b","message":{"role":"hookMessage","content":[]}}`
	for _, c := range []struct {
		name, child, parent string
		want                bool
	}{
		{"the same", treed, treed, true},
		{"hung elsewhere", strings.Replace(treed, "null", `"x"`, 1), treed, true},
		{"written anew", `{"id":"a","type":"m","n":9007199254740992,"x":1}`, `{ "id": "\u0061", "type":"m","n":9007199254740993, "x":1.0}`, true},
		{"other words", strings.Replace(treed, `"t"`, `"u"`, 1), treed, false},
		{"another time", strings.Replace(treed, "01.000Z", "02.000Z", 1), treed, false},
		{"more in it", strings.Replace(treed, `"id"`, `"x":1,"id"`, 1), treed, false},
		{"a compaction that keeps another entry", `{"type":"compaction","id":"c","firstKeptEntryId":"a"}`, `{"type":"compaction","id":"c","firstKeptEntryId":"b"}`, true},
		{"a reset that keeps another entry", `{"type":"reset","id":"c","firstKeptEntryId":"a"}`, `{"type":"reset","id":"c","firstKeptEntryId":"b"}`, true},
		{"something else that names another entry", `{"type":"x","id":"c","firstKeptEntryId":"a"}`, `{"type":"x","id":"c","firstKeptEntryId":"b"}`, false},
		{"brought to version 3", strings.Replace(hook, "hookMessage", "custom", 1), hook, true},
		{"entries without ids", ask, summary, true},
		{"no records", "7", "[]", false},
		{"torn", treed[:20], treed, false},
	} {
		if got := (Format{}).Alike([]byte(c.child), []byte(c.parent)); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestRoot(t *testing.T) {
	for path, want := range map[string]string{
		"/h/agent/sessions/--w--/x.jsonl": "/h/agent/sessions", "/h/agent/sessions/--w--/" + filepath.Base(place): "/h/agent/sessions",
		"/all/" + filepath.Base(place): "", "/h/agent/sessions/--w--": "", "/h/notes.jsonl": "",
	} {
		abs := want
		if want != "" {
			abs, _ = filepath.Abs(filepath.FromSlash(want))
		}
		if got := (Format{}).Root(filepath.FromSlash(path)); got != abs {
			t.Errorf("%s: %q", path, got)
		}
	}
	if got := (Format{}).Survey(format.Survey{}); got != nil {
		t.Error(got)
	}
}
