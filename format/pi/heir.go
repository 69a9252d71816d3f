package pi

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
)

// Inherits reads off the header that a session begins with entries of another one.
func (Format) Inherits(p format.Peek) (format.Heritage, bool) { return Inherits(p) }

// Inherits is for this client, and for those built on it. A header of 0.13 to 0.30 names the parent as branchedFrom. How many entries are
// the parent's none says.
func Inherits(p format.Peek) (format.Heritage, bool) {
	f, err := read(p.First)
	if err != nil || !f.header() {
		return format.Heritage{}, false
	}
	parent := plain(f.Value(kParentSession))
	if parent == "" {
		parent = plain(f.Of(oldMembers(f.Raw)[oBranchedFrom]))
	}
	return format.Heritage{Parent: parent, Records: -1}, parent != ""
}

// Ancestor is the file that the header names. Where the sessions were moved since, it is the one of that name beside the child, or in the
// folder of that name beside the child's.
func (Format) Ancestor(path string, h format.Heritage) string { return Ancestor(path, h) }

// Ancestor is for this client, and for those built on it.
func Ancestor(path string, h format.Heritage) string {
	parts := strings.FieldsFunc(h.Parent, func(c rune) bool { return c == '/' || c == '\\' })
	if len(parts) == 0 {
		return ""
	}
	dir, name := filepath.Dir(path), parts[len(parts)-1]
	places := []string{filepath.Join(dir, name)}
	if filepath.IsAbs(h.Parent) {
		places = append([]string{h.Parent}, places...)
	}
	if len(parts) > 1 {
		places = append(places, filepath.Join(filepath.Dir(dir), parts[len(parts)-2], name))
	}
	for _, p := range places {
		if fi, err := os.Stat(p); err == nil && fi.Mode().IsRegular() {
			return p
		}
	}
	return ""
}

// Root is the folder of sessions that a path lies in, by which it is known that a parent should be there.
func (Format) Root(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil || !placed(abs) {
		return ""
	}
	if dir := filepath.Dir(filepath.Dir(abs)); filepath.Base(dir) == "sessions" {
		return dir
	}
	return ""
}

// Survey finds nothing: each session stands for itself.
func (Format) Survey(format.Survey) []finding.Finding { return nil }

// Alike tells whether a record of a child is the copy of its parent's.
func (Format) Alike(child, parent []byte) bool { return Alike(child, parent) }

// Alike is for this client, and for those built on it. The client writes what it copies anew, and hangs entries elsewhere where it leaves
// labels out; a copy, or its original, may have been brought to version 3 since. Which entry without id is whose copy nobody knows: the client
// leaves out some.
func Alike(child, parent []byte) bool {
	if bytes.Equal(child, parent) {
		return true
	}
	a, b := said(child), said(parent)
	return a != nil && (reflect.DeepEqual(a, b) || a["id"] == nil)
}

// said is a record without its place.
func said(raw []byte) map[string]any {
	var m map[string]any
	if json.Unmarshal(raw, &m) != nil || m == nil {
		return nil
	}
	delete(m, "parentId")
	if typ, _ := m["type"].(string); keeps[typ] {
		delete(m, "firstKeptEntryId")
	}
	if t, ok := m["message"].(map[string]any); ok && t["role"] == "hookMessage" {
		t["role"] = "custom"
	}
	return m
}

var (
	_ format.Heir     = Format{}
	_ format.Surveyor = Format{}
)
