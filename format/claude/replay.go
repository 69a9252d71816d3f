package claude

import (
	"slices"

	"github.com/sessfix/sessfix/session"
)

// Leaf is where the client goes on: at what stands last in the file, by the last record of each id, if it hangs below the node that
// the last pointer names, else at that node. Without a pointer the newest below what stands last counts. A note stands for the message
// above it, and a pointer in front of the last compaction is none. Releases up to 2.1.81 take no notice of pointers, and the newest time instead.
func (d dialect) Leaf(t *session.Tree) int32 {
	if d.rank <= lastTimed {
		return newest(t)
	}
	said := messages(t)
	seen := func(k int32) bool {
		x := &t.Nodes[k]
		return !x.Side && !x.Opaque && !x.Passed && said[k] >= 0
	}
	last := int32(-1)
	for i := range t.Nodes {
		if k := int32(i); seen(k) && (last < 0 || t.Nodes[k].At.N > t.Nodes[last].At.N) {
			last = k
		}
	}
	if n := t.Pointed(); n >= 0 && !stale(t) {
		under := t.Under(n)
		if last >= 0 && under[last] && under[said[last]] {
			return said[last]
		}
		return n
	}
	switch {
	case last < 0:
		return -1
	case len(t.Pointers) > 0 && !stale(t):
		return said[last] // it names what the client does not see
	}
	best, under := last, t.Under(last)
	for _, k := range t.Path(last) {
		under[k] = false // itself, and what is above it in a circle
	}
	for i := range t.Nodes {
		if k := int32(i); under[k] && seen(k) && t.Nodes[k].Time >= t.Nodes[best].Time {
			best = k
		}
	}
	return said[best]
}

// stale tells whether a compaction's border stands behind the last pointer, which then does not count.
func stale(t *session.Tree) bool {
	at := t.Pointers[len(t.Pointers)-1].Rec.N
	for n := range t.Borders {
		if x := &t.Nodes[n]; x.Kind == session.CompactionEnd && int64(x.At.N) > at {
			return true
		}
	}
	return false
}

// messages gives for each node the message that it is, or the first above it, -1 where there is none.
func messages(t *session.Tree) []int32 {
	const unknown, none = -2, -1
	out := make([]int32, len(t.Nodes))
	for i := range out {
		out[i] = unknown
	}
	var way []int32
	for i := range t.Nodes {
		way = way[:0]
		found := int32(none)
		for n := int32(i); n >= 0; n = t.Nodes[n].Up {
			if out[n] != unknown {
				found = out[n]
				break
			}
			if out[n] = none; spoken(&t.Nodes[n]) { // none also where a circle ends
				out[n], found = n, n
				break
			}
			way = append(way, n)
		}
		for _, n := range way {
			out[n] = found
		}
	}
	return out
}

// lastTimed is the last release known to choose by time.
const lastTimed = 2_001_081

func newest(t *session.Tree) int32 {
	best := int32(-1)
	for k := range t.Nodes {
		if x := &t.Nodes[k]; spoken(x) && (best < 0 || x.Time >= t.Nodes[best].Time) {
			best = int32(k)
		}
	}
	return best
}

func spoken(n *session.Node) bool {
	return !n.Side && !n.Passed && (n.Kind == session.UserMessage || n.Kind == session.AssistantMessage || n.Kind == session.Summary)
}

// The releases known to send what stands on the way alone, and of parallel calls one result.
const firstPlain, lastPlain = 2_001_000, 2_001_029

// Replay is what the client sends: the way down from the last border, with what that border keeps behind its
// summary, each answer with all its lines, and each call with its results wherever they hang. Some releases
// send nothing that hangs beside the way.
func (d dialect) Replay(t *session.Tree, path []int32) []int32 {
	var way []int32
	for i := len(path) - 1; i >= 0; i-- {
		n := path[i]
		if t.Nodes[n].Kind == session.CompactionEnd {
			way = way[:0]
		}
		way = append(way, n)
	}
	way = splice(t, way)
	if firstPlain <= d.rank && d.rank <= lastPlain {
		return way
	}
	var out []int32
	done := make([]bool, len(t.Nodes))
	add := func(n int32) {
		if !done[n] {
			done[n] = true
			out = append(out, n)
		}
	}
	for _, n := range way {
		x := &t.Nodes[n]
		if x.Kind != session.AssistantMessage || x.Group == (session.ID{}) {
			add(n)
			continue
		}
		if done[n] {
			continue // with its answer
		}
		for k := range t.Group(x.Group) {
			if y := &t.Nodes[k]; y.Kind == session.AssistantMessage && y.Side == x.Side {
				add(k)
			}
		}
	}
	all := make([]int32, 0, len(out))
	var late []int32 // results, behind the whole of the answer
	for i := 0; i < len(out); i++ {
		n := out[i]
		all = append(all, n)
		for _, g := range t.LegsOf(n) {
			if g.Kind != session.CallAsked {
				continue
			}
			for r := range t.Results(g.Call) {
				k := r.Node
				if !done[k] && t.Nodes[k].Side == t.Nodes[n].Side {
					done[k] = true
					late = append(late, k)
				}
			}
		}
		if of := t.Nodes[n].Group; i+1 < len(out) && of != (session.ID{}) && t.Nodes[out[i+1]].Group == of {
			continue
		}
		for len(late) > 0 && i+1 < len(out) && answers(t, out[i+1]) {
			i++
			late = append(late, out[i])
		}
		slices.Sort(late)
		all = append(all, late...)
		late = late[:0]
	}
	return all
}

// answers tells whether a node holds a result.
func answers(t *session.Tree, n int32) bool {
	return slices.ContainsFunc(t.LegsOf(n), func(g session.Leg) bool { return g.Kind == session.CallResult })
}

// splice puts what a border keeps behind its summary.
func splice(t *session.Tree, way []int32) []int32 {
	if len(way) == 0 || t.Nodes[way[0]].Kind != session.CompactionEnd {
		return way
	}
	at := 1
	if len(way) > 1 && t.Nodes[way[1]].Kind == session.Summary {
		at = 2
	}
	var kept []int32
	for _, id := range t.Borders[way[0]].Keeps {
		if n := t.Find(id); n >= 0 && !slices.Contains(way, n) {
			kept = append(kept, n)
		}
	}
	return slices.Concat(way[:at:at], kept, way[at:])
}
