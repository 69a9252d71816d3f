package pi

import (
	"slices"

	"github.com/sessfix/sessfix/session"
)

// Names are the members of an entry.
func (d dialect) Names() (id, parent string) { return "id", "parentId" }

// Leaf is the last entry of the file, whatever it is; of other clients' files the last that stands not beside the way, or the one that
// it names.
func (d dialect) Leaf(t *session.Tree) int32 {
	for n := int32(len(t.Nodes)) - 1; n >= 0; n-- {
		switch x := &t.Nodes[n]; {
		case x.Side:
		case x.Kind != session.Goto:
			return n
		case t.Borders[n].Prior == (session.ID{}):
			return -1
		default:
			if to := t.Find(t.Borders[n].Prior); to >= 0 {
				return to
			}
		}
	}
	return -1
}

// Replay is what the client sends: the last compaction, what that one keeps in front of it but for system messages and earlier
// compactions, and what stands behind it.
func (d dialect) Replay(t *session.Tree, path []int32) []int32 {
	last := slices.IndexFunc(path, func(n int32) bool { return t.Nodes[n].Kind == session.CompactionEnd })
	if last < 0 {
		way := slices.Clone(path)
		slices.Reverse(way)
		return way
	}
	way := []int32{path[last]}
	front := path[last+1:]
	if prior := t.Borders[path[last]].Prior; prior != (session.ID{}) {
		if first := slices.Index(front, t.Find(prior)); first >= 0 {
			for _, n := range slices.Backward(front[:first+1]) {
				if k := t.Nodes[n].Kind; k != session.SystemMessage && k != session.CompactionEnd {
					way = append(way, n)
				}
			}
		}
	}
	for _, n := range slices.Backward(path[:last]) {
		way = append(way, n)
	}
	return way
}

// firstEdits is the first release that edits what it sends.
const firstEdits = 87_000
