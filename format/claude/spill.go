package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// spillDir holds, in a session's directory, the results that are too long for a record.
const spillDir = "tool-results"

// maxSpill is what the client cuts such a file down to; the size that it records is the one before.
const maxSpill = 64 << 20

// spill notes a result whose full text is no longer in the file that the record names. Of a copy outside of a home
// nothing is said.
func (d *decoder) spill(r *session.Record, b *format.Batch) {
	f := &d.f
	var name string
	if d.place.Stat == nil || json.Unmarshal(f.Value(kSpill), &name) != nil || d.spilled[name] {
		return
	}
	base, places := spillPlaces(d.place.Path, name)
	if base == "" {
		return
	}
	want := int64(-1)
	if v, err := strconv.ParseInt(string(f.Value(kSpillSize)), 10, 64); err == nil {
		want = min(v, maxSpill)
	}
	have := int64(-1)
	for _, p := range places {
		fi, err := d.place.Stat(p)
		switch {
		case err == nil && fi.Mode().IsRegular() && fi.Size() >= want:
			return
		case err == nil && fi.Mode().IsRegular():
			have = max(have, fi.Size())
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return // it may be there
		}
	}
	if d.spilled == nil {
		d.spilled = map[string]bool{}
	}
	d.spilled[name] = true
	n := finding.New(finding.SpillMissing)
	n.Span, n.Record = r.Span, r.Ref()
	for i := range f.blocks {
		if id := f.Inside(f.blocks[i].call); len(id) > 0 {
			n.CallID = string(id)
			break
		}
	}
	n.Message = fmt.Sprintf("the file %.80q, which held the full text of the result, is gone", base)
	if have >= 0 {
		n.Message = fmt.Sprintf("the file %.80q holds %d of the %d bytes of the result", base, have, want)
	}
	b.Findings = append(b.Findings, n)
}

// spillPlaces are the places where a spilled result may lie, by the path that was recorded when it was written:
// in the session's own directory, in that of the session which the record was copied from, and where the path says.
// They are none for what is no spilled result, and for a log outside of a home.
func spillPlaces(log, name string) (base string, places []string) {
	root, id := placeOf(log)
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '\\' })
	n := len(parts)
	if root == "" || n < 2 || parts[n-2] != spillDir {
		return "", nil
	}
	projects := filepath.Join(root, "projects")
	if abs, err := filepath.Abs(log); err == nil && id != "" {
		if rel, err := filepath.Rel(projects, abs); err == nil {
			slug, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
			places = append(places, filepath.Join(projects, slug, id, spillDir, parts[n-1]))
		}
	}
	if n >= 5 && parts[n-5] == "projects" && filepath.IsLocal(filepath.Join(parts[n-4:]...)) {
		places = append(places, filepath.Join(projects, filepath.Join(parts[n-4:]...)))
	}
	return parts[n-1], append(places, name)
}
