package dsh

import (
	"os"
	"path/filepath"

	"github.com/sessfix/sessfix/format"
)

// Inherits reads off the header whose child a session is. Up to version 1 the header counts what it inherits, in numbers:
// a packed row takes several. Later versions say only that there is an inherited part, and mark its end in the log. A
// delegated session may inherit nothing.
func (Format) Inherits(p format.Peek) (format.Heritage, bool) {
	h, ok := readHeader(p.First)
	if !ok || h.text("parentSession") == "" {
		return format.Heritage{}, false
	}
	out := format.Heritage{Parent: h.text("parentSession")}
	switch version, _ := integer(h.raw("version")); {
	case version >= 2 && string(h.raw("isSeeded")) != "false":
		out.Records = -1
	case version < 2:
		if n, ok := integer(h.raw("seedLength")); ok && n > 0 {
			out.Records = n
		}
	}
	return out, true
}

// Ancestor looks for the parent's log in all projects of the sessions root: that of the same generation, else the newest.
func (Format) Ancestor(path string, h format.Heritage) string {
	root := Format{}.Root(path)
	version, packed, ok := logName(base(path))
	if root == "" || !ok || h.Parent == "" {
		return ""
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	own := base(filepath.Dir(filepath.Dir(abs)))
	projects := []string{own}
	entries, _ := os.ReadDir(root)
	for _, e := range entries {
		if e.Name() != own && isProject(e.Name()) {
			projects = append(projects, e.Name())
		}
	}
	for v := Newest + 1; v >= 0; v-- {
		at := v
		if v > Newest {
			at = version
		}
		for _, project := range projects {
			for _, framed := range []bool{packed, !packed} {
				log := filepath.Join(root, project, segment(h.Parent), nameOf(at, framed))
				if fi, err := os.Stat(log); err == nil && fi.Mode().IsRegular() {
					return log
				}
			}
		}
	}
	return ""
}
