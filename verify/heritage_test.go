package verify_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/dsh"
	"github.com/sessfix/sessfix/format/pi"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// numbered is a log whose header says that it is a child of parent, with seed records of that one's, and marks of its own.
func numbered(id, parent string, seed int, marks ...string) string {
	head := fmt.Sprintf(`{"type":"session","version":0,"id":%q,"createdAt":1700000000000,"cwd":"/w"`, id)
	if parent != "" {
		head += fmt.Sprintf(`,"parentSession":%q,"seedLength":%d`, parent, seed)
	}
	lines := []string{head + `,"delegationDepth":0}`}
	for n, m := range marks {
		lines = append(lines, fmt.Sprintf(`{"type":"feedback/record","seq":%d,"time":1700000000001,"data":{"text":%q}}`, n, m))
	}
	return strings.Join(lines, "\n") + "\n"
}

// hung is a session whose header names its parent's file, with entries a, b, … that say something.
func hung(id, parent string, says ...string) string {
	head := fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":"2026-01-02T03:04:05.000Z","cwd":"/w"`, id)
	if parent != "" {
		head += fmt.Sprintf(`,"parentSession":%q`, parent)
	}
	lines := []string{head + "}"}
	up := "null"
	for n, text := range says {
		own := fmt.Sprintf("%q", fmt.Sprintf("%08x", n+1))
		lines = append(lines, fmt.Sprintf(`{"type":"message","id":%s,"parentId":%s,"timestamp":"2026-01-02T03:04:06.000Z","message":{"role":"user","content":%q,"timestamp":1767323046000}}`, own, up, text))
		up = own
	}
	return strings.Join(lines, "\n") + "\n"
}

// A session is held against the one whose child it says that it is. All that is found are notes.
func TestHeritage(t *testing.T) {
	const log = "session.jsonl"
	for name, c := range map[string]struct {
		files map[string]string
		want  string // where the note stands and a word of it, "" = there is none
	}{
		"a faithful child": {map[string]string{"--w--/mother/" + log: numbered("mother", "", 0, "a", "b", "c"), "--w--/child/" + log: numbered("child", "mother", 2, "a", "b", "x")}, ""},
		"nobody's child":   {map[string]string{"--w--/child/" + log: numbered("child", "", 0, "a")}, ""},
		"another word":     {map[string]string{"--w--/mother/" + log: numbered("mother", "", 0, "a", "b"), "--w--/child/" + log: numbered("child", "mother", 2, "a", "B")}, "parent-differs 3 this one, and 0 more"},
		"what is its own":  {map[string]string{"--w--/mother/" + log: numbered("mother", "", 0, "a", "b"), "--w--/child/" + log: numbered("child", "mother", 1, "a", "B")}, ""},
		"a short parent":   {map[string]string{"--w--/mother/" + log: numbered("mother", "", 0, "a"), "--w--/child/" + log: numbered("child", "mother", 2, "a", "b")}, "parent-short 0 inherits 2 records of mother, which holds 1"},
		"no parent":        {map[string]string{"--w--/child/" + log: numbered("child", "mother", 1, "a")}, "parent-missing 0 child of mother, which is not here"},
		"a circle":         {map[string]string{"--w--/mother/" + log: numbered("mother", "child", 1, "a"), "--w--/child/" + log: numbered("child", "mother", 1, "a")}, "parent-cycle 0 lead back"},
		"its own parent":   {map[string]string{"--w--/child/" + log: numbered("child", "child", 1, "a")}, "parent-cycle 0 lead back"},
		"elsewhere":        {map[string]string{"child.jsonl": numbered("child", "mother", 1, "a")}, ""},
		"ids":              {map[string]string{"--w--/m.jsonl": hung("m", "", "a", "b", "c"), "--w--/child.jsonl": hung("child", "/gone/--w--/m.jsonl", "a", "b", "c")}, ""},
		"another text":     {map[string]string{"--w--/m.jsonl": hung("m", "", "a", "b", "c"), "--w--/child.jsonl": hung("child", "/gone/--w--/m.jsonl", "a", "B", "C")}, "parent-differs 3 this one, and 1 more"},
		"more of its own":  {map[string]string{"--w--/m.jsonl": hung("m", "", "a"), "--w--/child.jsonl": hung("child", "/gone/--w--/m.jsonl", "a", "b")}, ""},
	} {
		dir := filepath.Join(t.TempDir(), "sessions")
		for file, text := range c.files {
			path := filepath.Join(dir, filepath.FromSlash(file))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		found, err := store.Open(context.Background(), []string{dir}, store.Options{Formats: []format.Format{dsh.Format{}, pi.Format{}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range found.Sessions {
			if !strings.Contains(s.Path, "child") {
				continue
			}
			res, err := verify.File(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, f := range res.Findings {
				if f.Code == finding.LineageBroken && strings.HasPrefix(f.Where, "parent-") {
					got = fmt.Sprintf("%s %d %s", f.Where, f.Logical, f.Message)
					if f.Damage() {
						t.Errorf("%s: it is no note", name)
					}
				}
			}
			where, text, _ := strings.Cut(c.want, " ")
			line, text, _ := strings.Cut(text, " ")
			if c.want == "" && got != "" || !strings.HasPrefix(got, where+" "+line) && c.want != "" || !strings.Contains(got, text) {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		}
		found.Close()
	}
}
