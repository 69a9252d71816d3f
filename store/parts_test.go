package store_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/dsh"
	"github.com/sessfix/sessfix/format/grok"
	"github.com/sessfix/sessfix/store"
)

// partsTree is a home with two sessions that are folders, a copy of one elsewhere, and a session that is a file.
func partsTree(t *testing.T) string {
	files := map[string]string{"home/.dsh/session.jsonl": `{"type":"session","version":0,"id":"s1","createdAt":1700000000000,"cwd":"/w","delegationDepth":0}` + "\n"}
	for _, dir := range []string{"home/sessions/%2Fw/one/", "home/sessions/%2Fw/two/", "copies/one/"} {
		for _, name := range []string{"chat_history.jsonl", "updates.jsonl", "events.jsonl", "rewind_points.jsonl", "summary.json"} {
			data, err := os.ReadFile(filepath.Join("../testdata/sessions/grok/tiny", name))
			must(t, err)
			files[dir+name] = string(data)
		}
		files[dir+"signals.json"], files[dir+"updates.jsonl.lock"], files[dir+"prompts/prompt_0.txt"] = "{}", "", "x"
	}
	return tree(t, files)
}

func openParts(t *testing.T, paths ...string) *store.Found {
	t.Helper()
	found, err := store.Open(t.Context(), paths, store.Options{Formats: []format.Format{dsh.Format{}, grok.Format{}}})
	must(t, err)
	return found
}

// told tells groups by the names of their parts, and which of them are missing.
func toldGroups(t *testing.T, root string, found *store.Found) string {
	t.Helper()
	var out []string
	for _, g := range found.Groups() {
		var names []string
		for _, s := range g {
			name := filepath.Base(s.Path)
			if s.Missing {
				name = "?" + name
			}
			if dir := s.Folder(); dir != "" && dir != filepath.Dir(s.Path) || (dir == "") != (len(g) == 1) {
				t.Errorf("the folder of %s is %q", s.Path, dir)
			}
			names = append(names, name)
		}
		rel, err := filepath.Rel(root, filepath.Dir(g[0].Path))
		must(t, err)
		out = append(out, filepath.ToSlash(rel)+": "+strings.Join(names, " "))
	}
	return strings.Join(out, "\n")
}

const fiveParts = "updates.jsonl chat_history.jsonl events.jsonl rewind_points.jsonl summary.json"

// Files of one folder are one session, in the order in which they are mended.
func TestGroups(t *testing.T) {
	root := partsTree(t)
	found := openParts(t, root)
	want := "copies/one: " + fiveParts + "\nhome/.dsh: session.jsonl\nhome/sessions/%2Fw/one: " + fiveParts + "\nhome/sessions/%2Fw/two: " + fiveParts
	if got := toldGroups(t, root, found); got != want || len(found.Troubles) > 0 {
		t.Errorf("%s\nwant\n%s\n%v", got, want, found.Troubles)
	}
	for _, s := range found.Sessions {
		if s.Format.Name() == "grok" && (s.ID != "019e8232-6000-7222-8333-000000000001" || s.CWD != "/home/ida/orchard") {
			t.Errorf("%s is session %q in %q", s.Path, s.ID, s.CWD)
		}
		if s.Format.Name() == "dsh" && (s.Folder() != "" || s.Part().Role != format.Primary) {
			t.Errorf("%s is a part, %+v", s.Path, s.Part())
		}
	}
}

// Whichever file of a folder is named, the session is the same; named with others it is found once.
func TestGroupOfOneFile(t *testing.T) {
	root := partsTree(t)
	dir := filepath.Join(root, "home", "sessions", "%2Fw", "one")
	want := "home/sessions/%2Fw/one: " + fiveParts
	for _, name := range strings.Fields(fiveParts) {
		if got := toldGroups(t, root, openParts(t, filepath.Join(dir, name))); got != want {
			t.Errorf("%s\n%s", name, got)
		}
	}
	all := []string{filepath.Join(dir, "summary.json"), filepath.Join(dir, "updates.jsonl"), dir}
	if got := toldGroups(t, root, openParts(t, all...)); got != want {
		t.Errorf("named three times\n%s", got)
	}
	if got := toldGroups(t, root, openParts(t, filepath.Join(root, "home", ".dsh", "session.jsonl"))); got != "home/.dsh: session.jsonl" {
		t.Errorf("a session that is a file\n%s", got)
	}
}

// A part without which there is no session is one of it also where it is not there.
func TestLostParts(t *testing.T) {
	const home, copied = "home/sessions/%2Fw/one", "copies/one"
	for _, c := range []struct{ name, dir, lose, want string }{
		{"the summary", home, "summary.json", "updates.jsonl chat_history.jsonl events.jsonl rewind_points.jsonl ?summary.json"},
		{"the summary of a copy", copied, "summary.json", "updates.jsonl chat_history.jsonl events.jsonl rewind_points.jsonl ?summary.json"},
		{"the history", home, "chat_history.jsonl", "updates.jsonl ?chat_history.jsonl events.jsonl rewind_points.jsonl summary.json"},
		{"the history of a copy", copied, "chat_history.jsonl", "updates.jsonl ?chat_history.jsonl events.jsonl rewind_points.jsonl summary.json"},
		{"both", home, "summary.json chat_history.jsonl", "updates.jsonl ?chat_history.jsonl events.jsonl rewind_points.jsonl ?summary.json"},
		{"both of a copy, which may be no session", copied, "summary.json chat_history.jsonl", "updates.jsonl events.jsonl rewind_points.jsonl"},
		{"the log", home, "updates.jsonl", "chat_history.jsonl events.jsonl rewind_points.jsonl summary.json"},
		{"what only says what went on", home, "events.jsonl rewind_points.jsonl", "updates.jsonl chat_history.jsonl summary.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := partsTree(t)
			dir := filepath.Join(root, filepath.FromSlash(c.dir))
			for name := range strings.FieldsSeq(c.lose) {
				must(t, os.Remove(filepath.Join(dir, name)))
			}
			paths := []string{dir}
			for _, name := range strings.Fields(fiveParts) {
				if !slices.Contains(strings.Fields(c.lose), name) {
					paths = append(paths, filepath.Join(dir, name))
				}
			}
			for _, p := range paths {
				found := openParts(t, p)
				if got := toldGroups(t, root, found); got != c.dir+": "+c.want || len(found.Troubles) > 0 {
					t.Errorf("of %s\n%s\nwant\n%s\n%v", filepath.Base(p), got, c.want, found.Troubles)
				}
			}
		})
	}
}

// A link that leads nowhere is no part that was lost: nothing is to be made in its place.
func TestLostLink(t *testing.T) {
	root := partsTree(t)
	dir := filepath.Join(root, "home", "sessions", "%2Fw", "one")
	must(t, os.Remove(filepath.Join(dir, "summary.json")))
	link(t, "nowhere.json", filepath.Join(dir, "summary.json"))
	found := openParts(t, dir)
	if got := toldGroups(t, root, found); strings.Contains(got, "summary.json") {
		t.Errorf("%s", got)
	}
	if len(found.Troubles) != 1 || filepath.Base(found.Troubles[0].Path) != "summary.json" {
		t.Errorf("the troubles are %v", found.Troubles)
	}
}
