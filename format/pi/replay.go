package pi

import (
	"slices"

	"github.com/sessfix/sessfix/session"
)

// Names are the members of an entry.
func (d dialect) Names() (id, parent string) { return "id", "parentId" }

// Leaf is the last entry of the file, whatever it is.
func (d dialect) Leaf(t *session.Tree) int32 { return int32(len(t.Nodes)) - 1 }

// Replay is what the client sends: the way down from the last compaction, with what that one keeps in front of it but for
// system messages, and what edits leave of it.
func (d dialect) Replay(t *session.Tree, path []int32) []int32 {
	var way []int32
	last := slices.IndexFunc(path, func(n int32) bool { return t.Nodes[n].Kind == session.CompactionEnd })
	if last < 0 {
		way = slices.Clone(path)
		slices.Reverse(way)
	} else {
		way = append(way, path[last])
		front := path[last+1:]
		if prior := t.Borders[path[last]].Prior; prior != (session.ID{}) {
			if first := slices.Index(front, t.Find(prior)); first >= 0 {
				for _, n := range slices.Backward(front[:first+1]) {
					if t.Nodes[n].Kind != session.SystemMessage {
						way = append(way, n)
					}
				}
			}
		}
		for _, n := range slices.Backward(path[:last]) {
			way = append(way, n)
		}
	}
	edits := map[int32]int32{} // the last one counts
	for _, n := range path {
		if t.Nodes[n].Kind != session.Edit {
			continue
		}
		if target := t.Find(t.Borders[n].Prior); target >= 0 {
			if _, later := edits[target]; !later {
				edits[target] = n
			}
		}
	}
	if len(edits) == 0 || !d.client.Edits {
		return way
	}
	out := way[:0]
	for _, n := range way {
		e, ok := edits[n]
		switch {
		case ok && t.Nodes[e].Void: // it is sent no more
		case ok && t.Nodes[n].Kind == session.AssistantMessage:
			out = append(out, e)
		default:
			out = append(out, n)
		}
	}
	return out
}

// firstEdits is the first release that edits what it sends.
const firstEdits = 87_000
