package grok_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/grok"
)

// sample is one of the sessions in testdata.
func sample(t *testing.T, name string) folder {
	t.Helper()
	root := os.DirFS(filepath.Join("../../testdata/sessions/grok", name))
	f := folder{}
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, path)
		f[path] = string(data)
		return err
	})
	if err != nil || len(f) == 0 {
		t.Fatal(name, err)
	}
	return f
}

// Old sessions are whole once all their steps were taken, and what is current is left as it is.
func TestUpgradeSamples(t *testing.T) {
	for name, changed := range map[string]string{
		"first": "chat_history.jsonl summary.json updates.jsonl", "early": "chat_history.jsonl rewind_points.jsonl summary.json updates.jsonl",
		"orchard": "", "compacted": "", "helped": "", "stop-parallel": "",
	} {
		old := sample(t, name)
		now := old.upgraded(t)
		var names []string
		for file, text := range now {
			if text != old[file] {
				names = append(names, file)
			}
		}
		slices.Sort(names)
		if strings.Join(names, " ") != changed {
			t.Errorf("%s: changed %v", name, names)
		}
		if name != "stop-parallel" {
			now.clean(t, "sessions/%2Fhome%2Fida%2Forchard/"+name)
		}
		for line := range strings.Lines(now[historyName]) {
			if strings.HasPrefix(line, `{"role"`) {
				t.Errorf("%s: left as it was: %s", name, line)
			}
		}
	}
}

// A child is clean wherever its parent may be cut, and its parent's files are as they were.
func TestForkSamples(t *testing.T) {
	children := 0
	for name, places := range map[string]int{
		"tiny": 1, "orchard": 3, "rewound": 2, "compacted": 4, "copied": 2, "helped": 1, "first": 1, "early": 3, "cancelled": 2,
		"stop-call": 1, "stop-parallel": 0, "stop-approval": 0, "stop-stream": 1, "healed": 1,
	} {
		f := sample(t, name)
		cuts, err := (grok.Format{}).Cuts(format.ForkRequest{Dir: f.files()})
		if err != nil {
			t.Fatal(name, err)
		}
		legal := 0
		for n, c := range cuts {
			if c.Open != "" {
				continue
			}
			legal++
			child, _, err := f.forked(t, n, format.ForkRequest{})
			if err != nil {
				t.Error(name, c.Line, err)
				continue
			}
			children++
			child.clean(t, "sessions/%2Fhome%2Fida%2Forchard/"+childID)
		}
		if legal != places {
			t.Errorf("%s: %d legal places, want %d", name, legal, places)
		}
	}
	if children == 0 {
		t.Error("no child")
	}
}
