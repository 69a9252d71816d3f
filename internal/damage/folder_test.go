package damage_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/internal/damage"
	"github.com/sessfix/sessfix/internal/damage/trial"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

func madeFolder(t *testing.T, r *damage.Recipe) map[string]*damage.Part {
	t.Helper()
	files, err := r.MakeFolder(os.DirFS(testdata))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// folder holds a case that is a folder against the head of its recipe: all findings of all its files, what becomes of each of
// them, a second repair that has nothing to do, and an undo that gives every byte back.
func folder(t *testing.T, r *damage.Recipe) {
	files := madeFolder(t, r)
	dir, twin, cases := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, dir, files)
	write(t, twin, files)
	group := groupIn(t, dir)
	verdict := verify.Clean
	for _, s := range group {
		res, err := verify.File(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if res.Agent != r.Agent {
			t.Errorf("%s is taken for a part of a session of %s", s.Path, res.Agent)
		}
		verdict = max(verdict, res.Verdict)
		name := filepath.Base(s.Path)
		var wants []damage.Finding
		for _, f := range r.Findings {
			if f.Place["file"] == name {
				wants = append(wants, f)
			}
		}
		reported(t, wants, files[name], res.Findings)
	}
	for _, f := range r.Findings {
		if files[f.Place["file"]] == nil {
			t.Errorf("%s is in no file of the session", f.Code)
		}
	}
	if verdict.String() != r.Verdict {
		t.Errorf("the verdict is %s, want %s", verdict, r.Verdict)
	}
	if verdict != verify.Repairable {
		return
	}

	var parts []*trial.Trial
	for i, out := range mend(t, group, cases) {
		name := filepath.Base(group[i].Path)
		now, _ := os.ReadFile(group[i].Path)
		tr := trial.Part(files[name].Bytes(), now, strings.HasSuffix(name, ".json"), out)
		parts = append(parts, tr)
		result, changes := r.Results[name]
		if changes != out.Changed {
			t.Errorf("%s: that it was written is %v", name, out.Changed)
			continue
		}
		if !changes {
			continue
		}
		if !tr.Document {
			t.Run(name, func(t *testing.T) { survivors(t, result, files[name], tr) })
		}
		if err := tr.Check(false); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	closers(t, r, parts...)
	said(t, r, parts...)

	mend(t, groupIn(t, twin), t.TempDir())
	for name, p := range files {
		one, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		other, _ := os.ReadFile(filepath.Join(twin, filepath.FromSlash(name)))
		if err != nil || !bytes.Equal(one, other) {
			t.Errorf("%s: two runs over the same bytes give different results: %v", name, err)
		}
		if _, changes := r.Results[name]; !changes && !bytes.Equal(one, p.Bytes()) {
			t.Errorf("%s changed", name)
		}
	}
	for _, out := range mend(t, groupIn(t, dir), cases) {
		if out.Changed || out.Before.Verdict != verify.Clean {
			t.Errorf("a second repair found %s to be %s", out.Before.Path, out.Before.Verdict)
		}
	}

	list, err := repair.FindCases(durable.Disk, cases, dir)
	if err != nil || len(list) != len(r.Results) {
		t.Fatalf("%d cases for %d files, %v", len(list), len(r.Results), err)
	}
	for _, c := range list {
		if _, err := repair.Undo(t.Context(), c, repair.UndoOptions{Formats: trial.Options().Formats}); err != nil {
			t.Fatal(err)
		}
	}
	for name, p := range files {
		back, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if !bytes.Equal(back, p.Bytes()) || p.Gone != os.IsNotExist(err) {
			t.Errorf("%s: undo does not give the original back: %v", name, err)
		}
	}
}

// write writes the files of a session, and makes them as old as those of a client that is at work no more.
func write(t *testing.T, dir string, files map[string]*damage.Part) {
	t.Helper()
	old := time.Now().Add(-24 * time.Hour)
	for name, p := range files {
		if p.Gone {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, p.Bytes(), 0o640); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
}

// groupIn is the one session in a folder, with all its parts.
func groupIn(t *testing.T, dir string) []store.Session {
	t.Helper()
	found, err := store.Open(t.Context(), []string{dir}, trial.Options())
	if err != nil || len(found.Groups()) != 1 || len(found.Troubles) > 0 {
		t.Fatalf("%d sessions, %v, %v", len(found.Groups()), found.Troubles, err)
	}
	return found.Groups()[0]
}

func mend(t *testing.T, group []store.Session, cases string) []*repair.Outcome {
	t.Helper()
	outs, err := repair.Parts(t.Context(), group, repair.Options{CaseDir: cases})
	if err != nil {
		t.Fatal(err)
	}
	return outs
}

// TestFolderSteps rejects steps that are about no file.
func TestFolderSteps(t *testing.T) {
	head := "what: w\nsource: s\nagent: grok\nverdict: clean\n\nfrom sessions/grok/tiny/\n"
	for step, want := range map[string]string{
		"in updates.jsonl\ncut 0":    "",
		"remove summary.json":        "",
		"cut 0":                      "in FILE comes first",
		"in nothing.jsonl":           "not exist",
		"in updates.jsonl\nfly away": "unknown step",
	} {
		r, err := damage.Parse("case", head+step)
		if err != nil || !r.Folder() {
			t.Fatalf("%q: %v", step, err)
		}
		_, err = r.MakeFolder(os.DirFS(testdata))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", step, err, want)
		}
	}
}
