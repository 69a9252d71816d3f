package grok

import (
	"encoding/json"
	"strings"

	"github.com/sessfix/sessfix/format"
)

// pointsStep tells the files of rewind points from the session's folder on. The first releases gave them in full; a file outside
// the folder keeps its full path.
type pointsStep struct{ cwd string }

func beginPoints(s format.Source) (format.Stage, error) {
	if err := fit(s); err != nil {
		return nil, err
	}
	t := &pointsStep{}
	if s.Dir != nil {
		if data, err := format.ReadSmall(s.Dir, summaryName, maxSummary); err == nil {
			var v struct{ Info struct{ CWD string } }
			if json.Unmarshal(data, &v) == nil {
				t.cwd = v.Info.CWD
			}
		}
	}
	return t, nil
}

// Record shortens the paths of one point.
func (t *pointsStep) Record(l format.Line, out format.Out) error {
	o, ok := openObject(l.Raw)
	if !ok {
		return format.Refuse(l.N, "the line is no whole record")
	}
	changed := false
	for _, key := range []string{"file_snapshots", "after_snapshots"} {
		if p := o.last(key); p != nil {
			if v := t.files(o.get(key)); v != nil {
				p.value, changed = v, true
			}
		}
	}
	if !changed {
		return out.Put(l)
	}
	return out.Put(format.Line{Raw: o.bytes(), N: l.N})
}

// files are those of a point, nil where nothing of them changes.
func (t *pointsStep) files(raw []byte) []byte {
	o, ok := openObject(raw)
	if !ok {
		return nil
	}
	taken := map[string]bool{}
	for _, p := range o.parts {
		taken[p.key] = true
	}
	changed := false
	for i := range o.parts {
		p := &o.parts[i]
		short, ok := t.short(p.key)
		if !ok || taken[short] {
			continue
		}
		taken[short], changed = true, true
		p.name = []byte(quoted(short))
		if file, ok := openObject(raw[p.at:p.end]); ok {
			if short, ok := t.short(file.str("path")); ok {
				file.put("path", quoted(short))
				p.value = file.bytes()
			}
		}
	}
	if !changed {
		return nil
	}
	return o.bytes()
}

// short is a path from the folder on; ok is false for one that is not in it, or that leads out of it again.
func (t *pointsStep) short(path string) (s string, ok bool) {
	if !absolute(t.cwd) || !strings.HasPrefix(path, t.cwd) || strings.Contains(path, "..") {
		return "", false
	}
	by := "/"
	if !strings.HasPrefix(t.cwd, "/") {
		by = `/\`
	}
	rest := path[len(t.cwd):]
	s = strings.TrimLeft(rest, by)
	return s, s != "" && (len(s) < len(rest) || strings.HasSuffix(t.cwd, "/"))
}

// End has nothing to add.
func (*pointsStep) End(format.Out) error { return nil }
