package codex

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
)

// Root is the home that a rollout lies in, or whose folder of rollouts the path is.
func (Format) Root(path string) string {
	if root := rootOf(path); root != "" {
		return root
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	if base := filepath.Base(abs); base == "sessions" || base == "archived_sessions" {
		if fi, err := os.Stat(filepath.Join(filepath.Dir(abs), "thread-writer-locks")); err == nil && fi.IsDir() {
			return filepath.Dir(abs)
		}
	}
	return ""
}

// home is what a survey of a home knows.
type home struct {
	format.Survey
	threads map[string][]file // by thread
	found   []finding.Finding
}

// file is one rollout of a thread.
type file struct {
	path string
	name
	size   int64
	looked bool // and so based is known: it begins in another file
	based  bool
}

// Survey holds the client's databases and its list of names against the rollouts. It looks only where the whole home was
// asked for.
func (Format) Survey(s format.Survey) []finding.Finding {
	if !s.Whole {
		return nil
	}
	h := &home{Survey: s, threads: map[string][]file{}}
	h.walk()
	h.twins()
	dir := databases(s.Path, s.Env)
	h.history(newest(dir, "thread_history"))
	h.state(newest(dir, "state"))
	return h.found
}

// maxAlike bounds how many of a kind are told one by one.
const maxAlike = 20

// add reports something about the home; of many of a kind the last one tells how many there are.
func (h *home) add(code finding.Code, where string, n *int, text string, args ...any) {
	if *n++; *n > maxAlike {
		for i := len(h.found) - 1; i >= 0; i-- {
			if f := &h.found[i]; f.Code == code && f.Where == where {
				f.Message, _, _ = strings.Cut(f.Message, "; and ")
				f.Message += fmt.Sprintf("; and %d more", *n-maxAlike)
				return
			}
		}
	}
	f := finding.New(code)
	f.Where, f.Message = where, fmt.Sprintf(text, args...)
	h.found = append(h.found, f)
}

// rel is a path as the report shows it: below the home.
func (h *home) rel(path string) string {
	if r, err := filepath.Rel(h.Path, path); err == nil {
		return filepath.ToSlash(r)
	}
	return path
}

// walk lists the rollouts.
func (h *home) walk() {
	for _, dir := range []string{"sessions", "archived_sessions"} {
		top := filepath.Join(h.Path, dir)
		if real, err := filepath.EvalSymlinks(top); err == nil {
			top = real
		}
		filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil
			}
			n, ok := nameOf(path)
			if !ok {
				return nil
			}
			if fi, err := d.Info(); err == nil {
				h.threads[n.thread] = append(h.threads[n.thread], file{path: path, name: n, size: fi.Size()})
			}
			return nil
		})
	}
}

// order lists the threads.
func (h *home) order() []string {
	var out []string
	for id := range h.threads {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// twins notes rollouts that lie there plain and compressed.
func (h *home) twins() {
	n := 0
	for _, id := range h.order() {
		for _, f := range h.threads[id] {
			if f.packed && slices.ContainsFunc(h.threads[id], func(g file) bool { return g.path+".zst" == f.path }) {
				h.add(finding.DualEncoding, "", &n, "%s lies there plain as well, and the client opens the plain one", h.rel(f.path))
			}
		}
	}
}
