package claude

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
)

// Inherits reads off a copied node which session it is the copy from, as /branch writes it in 2.1.81 and 2.1.328, and sessfix
// does. A child of --fork-session does not say so in its first record: 2.1.81 writes nothing of the parent, and
// 2.1.328 only, in answers, which session asked for them.
func (Format) Inherits(p format.Peek) (format.Heritage, bool) {
	f, err := peel(p.First)
	if err != nil || !isNode(f) || !sessionNames.Match(append(f.Str(cForkedSession), ".jsonl"...)) {
		return format.Heritage{}, false
	}
	return format.Heritage{Parent: string(f.Str(cForkedSession)), Records: -1}, true
}

// Ancestor is the transcript of that name beside the child, or in another project of its home: a child may have its own working
// directory.
func (Format) Ancestor(path string, h format.Heritage) string {
	name := h.Parent + ".jsonl"
	if !sessionNames.MatchString(name) {
		return ""
	}
	places := []string{filepath.Join(filepath.Dir(path), name)}
	if root, _ := placeOf(path); root != "" {
		projects := filepath.Join(root, "projects")
		entries, _ := os.ReadDir(projects) // in the order of their names
		for _, e := range entries {
			places = append(places, filepath.Join(projects, e.Name(), name))
		}
	}
	for _, p := range places {
		if fi, err := os.Stat(p); err == nil && fi.Mode().IsRegular() {
			return p
		}
	}
	return ""
}

// lasting are the members that a copy has as they are. The client sets others anew: whose the record is, where and by which
// release it was written, and what it hangs under where it leaves some out.
var lasting = scan.NewSingle([]string{"type", "subtype", "uuid", "timestamp", "message", "attachment", "content", "data"})

// Alike tells whether a record of a child is the copy of one of its parent's.
func (Format) Alike(child, parent []byte) bool {
	a, mine, ok := lasting.Take(child)
	b, theirs, fine := lasting.Take(parent)
	if !ok || !fine || len(mine) != len(theirs) {
		return ok == fine && bytes.Equal(child, parent)
	}
	values := map[uint16][]byte{}
	for _, c := range theirs {
		values[c.Key] = b[c.Off : c.Off+c.Len]
	}
	for _, c := range mine {
		if v, ok := values[c.Key]; !ok || !bytes.Equal(v, a[c.Off:c.Off+c.Len]) {
			return false
		}
	}
	return true
}
