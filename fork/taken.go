package fork

import (
	"math"
	"slices"

	"github.com/sessfix/sessfix/session"
)

// set are the nodes that the child has of a cut at the end of a way: the way, and what hangs beside it of an answer and its
// results, unless that came later.
func (g *grove) set(way []int32) map[int32]bool {
	out := map[int32]bool{}
	for _, k := range way {
		out[k] = true
	}
	if g.path || len(way) == 0 {
		return out
	}
	// What belongs to the answer at the cut may still be coming behind it. Of earlier ones all is taken, wherever it stands.
	at := len(way) - 1
	for at > 0 && g.Nodes[way[at]].Kind != session.AssistantMessage && (g.Nodes[way[at]].Kind != session.UserMessage || g.results(way[at])) {
		at--
	}
	cut := &g.Nodes[way[at]]
	for _, k := range way {
		x := &g.Nodes[k]
		bound := int64(math.MaxInt64)
		if k == way[at] || cut.Kind == session.AssistantMessage && x.Group != (session.ID{}) && x.Group == cut.Group {
			bound = g.bound[way[len(way)-1]]
		}
		if x.Kind == session.CompactionEnd {
			for _, id := range g.Borders[k].Keeps {
				if m := g.Find(id); m >= 0 {
					out[m] = true
				}
			}
		}
		if x.Kind != session.AssistantMessage {
			continue
		}
		g.beside(k, bound, out)
		if x.Group == (session.ID{}) {
			continue
		}
		for m := range g.Group(x.Group) {
			if y := &g.Nodes[m]; y.Side == x.Side && g.First[m] < bound {
				out[m] = true
				g.beside(m, bound, out)
			}
		}
	}
	return out
}

// beside adds the results of a node's calls that stand in front of a record.
func (g *grove) beside(k int32, bound int64, out map[int32]bool) {
	for _, leg := range g.LegsOf(k) {
		if leg.Kind != session.CallAsked {
			continue
		}
		for r := range g.Results(leg.Call) {
			if g.First[r.Node] < bound {
				out[r.Node] = true
			}
		}
	}
}

// open are the calls of a turn that no record of the child answers. Those of earlier turns were let go by the client.
func (g *grove) open(way []int32) []string {
	set := g.set(way)
	var out []string
	for _, k := range way {
		x := &g.Nodes[k]
		if x.Kind != session.AssistantMessage || x.Void {
			continue
		}
		out = g.unanswered(k, set, out)
		if g.path || x.Group == (session.ID{}) {
			continue
		}
		for m := range g.Group(x.Group) {
			if m != k && set[m] {
				out = g.unanswered(m, set, out)
			}
		}
	}
	return out
}

// unanswered adds the calls of a node without a result in the child.
func (g *grove) unanswered(n int32, set map[int32]bool, out []string) []string {
	for _, leg := range g.LegsOf(n) {
		if leg.Kind != session.CallAsked || slices.Contains(out, g.CallID(leg)) {
			continue
		}
		answered := false
		for r := range g.Results(leg.Call) {
			answered = answered || set[r.Node]
		}
		if !answered {
			out = append(out, g.CallID(leg))
		}
	}
	return out
}
