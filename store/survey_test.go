package store_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/toy"
	"github.com/sessfix/sessfix/store"
)

// asking is the toy with a survey and a look around that note what they are asked.
type asking struct {
	toy.Format
	surveys *[]format.Survey
	live    *[]bool
}

func (a asking) Survey(s format.Survey) []finding.Finding {
	*a.surveys = append(*a.surveys, s)
	return nil
}

func (a asking) Beside(r format.Around) []finding.Finding {
	if r.Live != nil {
		*a.live = append(*a.live, r.Live())
	}
	return nil
}

// Root also takes a directory named toys for its root's.
func (a asking) Root(path string) string {
	if filepath.Base(path) == "toys" {
		return filepath.Dir(path)
	}
	return a.Format.Root(path)
}

// Homes are directories named toys.
func (a asking) Homes(env func(string) string) []string {
	return []string{filepath.Join(env("TOY_HOME"), "toys")}
}

func TestSurveyWhole(t *testing.T) {
	dir := tree(t, map[string]string{"x/toys/a.toy.jsonl": log, "x/toys/b.toy.jsonl": log, "x/toys/more/": "", "x/side/": "", "y/toys/": "", "xy/": ""})
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, c := range []struct {
		name, home string
		paths      []string
		roots      string
		whole      bool
	}{
		{"a file", "", []string{"x/toys/a.toy.jsonl"}, "x", false},
		{"the sessions of the root", "", []string{"x/toys"}, "x", true},
		{"the root", "", []string{"x"}, "x", true},
		{"what the root lies in", "", []string{"."}, "x", true},
		{"a file, then the root", "", []string{"x/toys/a.toy.jsonl", "x"}, "x", true},
		{"a file, and what is named like the root", "", []string{"x/toys/a.toy.jsonl", "xy"}, "x", false},
		{"a file, and a directory of the root", "", []string{"x/toys/a.toy.jsonl", "x/side"}, "x", false},
		{"a root without session", "", []string{"y"}, "", false},
		{"the home", "x", nil, "x", true},
		{"a home without session", "y", nil, "y", true},
	} {
		var surveys []format.Survey
		var paths []string
		for _, p := range c.paths {
			paths = append(paths, filepath.Join(dir, filepath.FromSlash(p)))
		}
		o := options(map[string]string{"TOY_HOME": filepath.Join(dir, c.home)})
		o.Formats, o.Now = []format.Format{asking{surveys: &surveys}}, now
		_, err := store.Open(context.Background(), paths, o)
		must(t, err)
		if c.roots == "" {
			if len(surveys) > 0 {
				t.Errorf("%s: surveyed", c.name)
			}
			continue
		}
		if len(surveys) != 1 || surveys[0].Whole != c.whole || !surveys[0].Now.Equal(now) {
			t.Errorf("%s: %+v", c.name, surveys)
			continue
		}
		want, err := os.ReadDir(filepath.Join(dir, c.roots, "toys"))
		must(t, err)
		if got, err := fs.ReadDir(surveys[0].Root, "toys"); err != nil || len(got) != len(want) {
			t.Errorf("%s: not the root: %v, %v", c.name, got, err)
		}
	}
}

// Whether somebody is at work is asked of those who can tell, with the guards of the session.
func TestLive(t *testing.T) {
	dir := tree(t, map[string]string{"x/toys/a.toy.jsonl": log, "x/other/b.toy.jsonl": log})
	var answers []bool
	o := options(nil)
	o.Formats = []format.Format{asking{surveys: new([]format.Survey), live: &answers}}
	look := func() {
		found, err := store.Open(context.Background(), []string{dir}, o)
		must(t, err)
		for _, s := range found.Sessions {
			s.Beside()
		}
	}
	look()
	if len(answers) > 0 {
		t.Errorf("nobody can tell, and %v is said", answers)
	}
	o.Live = func(path string, guards []format.Guard) bool { return len(guards) > 0 }
	look()
	if len(answers) != 2 || answers[0] || !answers[1] {
		t.Errorf("%v", answers)
	}
}

// A path that another machine would answer for is not followed.
func TestStat(t *testing.T) {
	dir := tree(t, map[string]string{"a": "abc"})
	var s store.Session
	if fi, err := s.Stat(filepath.Join(dir, "a")); err != nil || fi.Size() != 3 {
		t.Errorf("%v %v", fi, err)
	}
	for _, p := range []string{filepath.Join(dir, "b"), "a", "", "//" + dir + "/a", `\\host\share\a`} {
		if _, err := s.Stat(p); err == nil {
			t.Errorf("%q is found", p)
		}
	}
}

func TestReadSmall(t *testing.T) {
	dir := os.DirFS(tree(t, map[string]string{"a": "abcdef", "d/": ""}))
	for name, want := range map[string]string{"a": "abcd", "d": "", "none": ""} {
		got, err := format.ReadSmall(dir, name, 4)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
}
