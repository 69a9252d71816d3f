package store

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/sessfix/sessfix/format"
)

// survey judges each root that sessions were found in. Where no path was named, the agents' homes are judged even
// without a session.
func (w *opener) survey(explicit bool) {
	seen := map[string]bool{}
	one := func(f format.Format, path string) {
		s, ok := f.(format.Surveyor)
		if !ok {
			return
		}
		root := s.Root(path)
		if root == "" || seen[f.Name()+root] {
			return
		}
		seen[f.Name()+root] = true
		if found := s.Survey(format.Survey{Root: os.DirFS(root), Path: root, Env: w.o.Env, Whole: w.whole(s, root), Now: w.o.Now}); len(found) > 0 {
			w.out.Roots = append(w.out.Roots, Root{Path: root, Format: f, Findings: found})
		}
	}
	for _, s := range w.out.Sessions {
		one(s.Format, s.Path)
	}
	if explicit {
		return
	}
	for _, f := range w.o.Formats {
		for _, home := range f.Homes(w.o.Env) {
			one(f, home)
		}
	}
}

// whole tells whether all of a root was asked for.
func (w *opener) whole(s format.Surveyor, root string) bool {
	for _, dir := range w.asked {
		if s.Root(dir) == root {
			return true
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			continue
		}
		if rel, err := filepath.Rel(abs, root); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return true
		}
	}
	return false
}
