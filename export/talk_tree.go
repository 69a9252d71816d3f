package export

import (
	"context"
	"slices"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
	"github.com/sessfix/sessfix/verify"
)

// grove is a log whose records hang under each other.
type grove struct {
	*verify.Grown
	in    verify.Input
	order []int32 // nodes in the order of the talk: what each compaction took out first
	sent  []int32 // those that the next request holds, in its order
	state []State // of each node
	edits map[int32]int32
}

func grow(ctx context.Context, in verify.Input) (*grove, error) {
	grown, err := verify.Grow(ctx, in)
	if err != nil {
		return nil, err
	}
	g := &grove{Grown: grown, in: in, state: make([]State, len(grown.Nodes)), edits: map[int32]int32{}}
	if in.Dialect.Rules().Tree {
		g.sides()
	}
	for n := range g.Nodes {
		g.state[n] = Branch
		if g.Nodes[n].Side {
			g.state[n] = Side
		}
	}
	r, ok := in.Dialect.(format.Replayer)
	if !ok || len(g.Nodes) == 0 {
		return g, nil
	}
	if leaf := r.Leaf(&g.Tree); leaf >= 0 {
		g.follow(r, leaf)
	}
	return g, nil
}

// sides takes the log of a sub-agent, in which there is nothing else, for a talk of its own.
func (g *grove) sides() {
	for i := range g.Nodes {
		if !g.Nodes[i].Side {
			return
		}
	}
	for i := range g.Nodes {
		g.Nodes[i].Side = false
	}
}

// follow goes up from the leaf, past the borders of compactions.
func (g *grove) follow(r format.Replayer, leaf int32) {
	var epochs [][]int32
	seen := make([]bool, len(g.Nodes))
	for way := g.Path(leaf); len(way) > 0; {
		epochs = append(epochs, r.Replay(&g.Tree, way))
		border := slices.IndexFunc(way, func(n int32) bool { return g.Nodes[n].Kind == session.CompactionEnd })
		if border < 0 || seen[way[border]] {
			break
		}
		seen[way[border]] = true
		above := way[border+1:]
		if prior := g.Find(g.Borders[way[border]].Prior); len(above) == 0 && prior >= 0 {
			above = g.Path(prior)
		}
		way = above
	}
	placed := make([]bool, len(g.Nodes))
	for i, epoch := range slices.Backward(epochs) {
		for _, n := range epoch {
			switch {
			case g.Nodes[n].Void:
				g.state[n] = Aside
			case i == 0:
				g.state[n] = Sent
			default:
				g.state[n] = Compacted
			}
			if !placed[n] {
				placed[n] = true
				g.order = append(g.order, n)
			}
		}
	}
	if len(epochs) == 0 {
		return
	}
	g.sent = epochs[0]
	for _, n := range g.sent { // the last edit counts
		if g.Nodes[n].Kind != session.Edit {
			continue
		}
		if to := g.Find(g.Borders[n].Prior); to >= 0 && g.state[to] == Sent {
			g.edits[to] = n
		}
	}
}
