package verify

import (
	"context"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// Grown is a log whose records hang under each other, as its client hangs them: nothing is mended. It keeps some 200 bytes a
// record, and 40 and the id's text for each end of a call.
type Grown struct {
	session.Tree
	Of    []int32       // the node of each record, -1 = it is none
	First []int64       // of each node its first record
	Own   []session.Sub // of each node where its id stands in its record
	Lines []int64       // of each record its line of the text
}

// Grow reads such a log.
func Grow(ctx context.Context, in Input) (*Grown, error) {
	g := &Grown{}
	prev := session.ID{}
	counted := map[int32]int64{} // borders that count the records, where those have no ids
	err := Each(ctx, in, func(r *session.Record, b *format.Batch) error {
		g.Of = append(g.Of, -1)
		g.Lines = append(g.Lines, r.Logical)
		if b.Points {
			g.Pointers = append(g.Pointers, session.Pointer{Leaf: b.Leaf, Rec: r.Ref()})
		}
		if !b.Linked || b.Stray {
			return nil
		}
		l := b.Link
		if l.ID == (session.ID{}) { // records without ids hang behind each other
			l.ID = lineID(r.N)
			if l.Parent == (session.ID{}) && prev != (session.ID{}) {
				l.Parent, l.Named = prev, true
			}
		}
		prev = l.ID
		var legs []session.Leg
		for i := range b.Events {
			e := &b.Events[i]
			if e.Kind == session.CallAsked || e.Kind == session.CallResult {
				legs = append(legs, g.Leg(e, e.Call.Of(r.Raw), e.Name.Of(r.Raw)))
			}
		}
		n, again := g.Add(l, r.Ref(), legs)
		if len(b.Keeps) > 0 {
			g.Keep(n, b.Keeps)
		}
		delete(counted, n)
		if l.Prior == (session.ID{}) && l.PriorN > 0 {
			counted[n] = l.PriorN
		}
		if !again {
			g.Own, g.First = append(g.Own, session.Sub{}), append(g.First, r.N)
		}
		g.Own[n] = l.OwnAt
		g.Of[r.N] = n
		return nil
	})
	if err != nil {
		return nil, err
	}
	g.count(counted)
	g.Tree.Grow()
	g.Join()
	return g, nil
}

// count finds the records that borders name by their numbers: the first that is there, and the border itself where none is in front of it.
func (g *Grown) count(borders map[int32]int64) {
	for n, at := range borders {
		b, ok := g.Borders[n]
		if !ok {
			continue
		}
		for at < g.First[n] && g.Of[at] < 0 {
			at++
		}
		b.Prior = g.Nodes[n].ID
		if at < g.First[n] {
			b.Prior = g.Nodes[g.Of[at]].ID
		}
		g.Borders[n] = b
	}
}

// Way leads from the root to a node, past the borders of compactions.
func (g *Grown) Way(n int32) []int32 {
	var out []int32
	seen := make([]bool, len(g.Nodes))
	for n >= 0 && !seen[n] {
		seen[n] = true
		out = append(out, n)
		up := g.Nodes[n].Up
		if up < 0 && g.Nodes[n].Kind == session.CompactionEnd {
			up = g.Find(g.Borders[n].Prior)
		}
		n = up
	}
	for i, k := 0, len(out)-1; i < k; i, k = i+1, k-1 {
		out[i], out[k] = out[k], out[i]
	}
	return out
}
