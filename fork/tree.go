package fork

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
	"github.com/sessfix/sessfix/verify"
)

// grove is a log whose records hang under each other.
type grove struct {
	*verify.Grown
	s      *source
	path   bool    // what is sent is the way from the last record up, and nothing beside it
	bound  []int64 // of each node the first record that goes on behind it
	onward []bool  // a node with a summary under it
	active []int32 // the way to where the talk goes on, from the root
}

// tree finds the places of such a log: on the way to where the talk goes on, behind each node at which no call is open.
func tree(s *source) (*walk, error) {
	g := &grove{s: s, path: s.in.Dialect.Rules().Path}
	if err := g.grow(); err != nil {
		return nil, err
	}
	w := &walk{}
	c := counted{}
	for i, n := range g.active {
		c.count(g, i, n)
		w.cuts = append(w.cuts, g.cut(g.active[:i+1], c))
	}
	w.at = g.at
	w.take = func(c *format.Cut) func(n int64) bool {
		node := g.Of[c.N]
		if node < 0 {
			return func(int64) bool { return false }
		}
		set := g.set(g.Way(node))
		return func(n int64) bool { return g.Of[n] >= 0 && set[g.Of[n]] }
	}
	w.find = func(p Place) int64 {
		switch p.By {
		case Line:
			if n, ok := slices.BinarySearch(g.Lines, p.N); ok {
				return int64(n)
			}
		case ID:
			quoted, _ := json.Marshal(p.ID) // some formats know a record by the value as it is written
			for _, id := range [][]byte{[]byte(p.ID), quoted} {
				if n := g.Find(session.MakeID(id)); n >= 0 {
					return g.First[n]
				}
			}
		}
		return -1
	}
	return w, nil
}

// grow reads the log.
func (g *grove) grow() error {
	grown, err := verify.Grow(g.s.ctx, g.s.in)
	if err != nil {
		return err
	}
	g.Grown = grown
	g.bound, g.onward = make([]int64, len(g.Nodes)), make([]bool, len(g.Nodes))
	for i := range g.bound {
		g.bound[i] = math.MaxInt64
	}
	for i := range g.Nodes {
		if up := g.Nodes[i].Up; up >= 0 {
			g.bound[up] = min(g.bound[up], g.First[i])
			g.onward[up] = g.onward[up] || g.Nodes[i].Kind == session.Summary
		}
	}
	for i := range g.bound {
		if g.bound[i] == math.MaxInt64 {
			g.bound[i] = g.First[i] + 1 // nothing goes on behind it
		}
	}
	if r, ok := g.s.in.Dialect.(format.Replayer); ok && len(g.Nodes) > 0 {
		if leaf := r.Leaf(&g.Tree); leaf >= 0 {
			g.active = g.Way(leaf)
		}
	}
	return nil
}

// counted is what is known of the way so far.
type counted struct {
	turns int64
	from  int  // where the last turn begins
	talk  bool // something was said
}

// count takes the next node of a way.
func (c *counted) count(g *grove, i int, n int32) {
	if g.Nodes[n].Kind == session.UserMessage && !g.results(n) {
		c.turns++
		c.from = i
	}
	c.talk = c.talk || g.Nodes[n].Kind.Talk()
}

// cut is the place behind the last node of a way.
func (g *grove) cut(way []int32, said counted) format.Cut {
	n := way[len(way)-1]
	x := &g.Nodes[n]
	c := format.Cut{Ref: x.At.Ref(), Seq: -1, Kind: word(x.Kind), ID: g.id(n), Turn: said.turns}
	c.N = g.First[n]
	if g.results(n) {
		c.Kind = "result"
	}
	switch calls := g.open(way[said.from:]); {
	case len(calls) > 0:
		c.Calls, c.Closable = calls, true
		c.Open = calledOpen(calls) + " unanswered there"
	case g.onward[n] && x.Kind == session.CompactionEnd:
		c.Open = "a compaction has its summary behind it"
	case g.goesOn(n):
		c.Open = "the answer goes on behind it"
	case !said.talk:
		c.Open = "the child would be empty"
	}
	return c
}

// goesOn tells a record of an answer that has more of them behind it, on the same way.
func (g *grove) goesOn(n int32) bool {
	x := &g.Nodes[n]
	if g.path || x.Kind != session.AssistantMessage || x.Group == (session.ID{}) {
		return false
	}
	for m := range g.Group(x.Group) {
		if g.Nodes[m].Up == n && g.Nodes[m].Kind == session.AssistantMessage {
			return true
		}
	}
	return false
}

func (g *grove) results(n int32) bool {
	return slices.ContainsFunc(g.LegsOf(n), func(l session.Leg) bool { return l.Kind == session.CallResult })
}

// at gives the cut behind a record, which may be on any branch; a record that is no node stands behind the last node of the
// talk in front of it.
func (g *grove) at(n int64, before bool) *format.Cut {
	if n < 0 || n >= int64(len(g.Of)) {
		return nil
	}
	node := g.Of[n]
	switch {
	case node < 0:
		for _, k := range g.active {
			if g.First[k] < n {
				node = k
			}
		}
	case before:
		if up := g.Way(node); len(up) > 1 {
			node = up[len(up)-2]
		} else {
			node = -1
		}
	}
	if node < 0 {
		return nil
	}
	way, said := g.Way(node), counted{}
	for i, k := range way {
		said.count(g, i, k)
	}
	c := g.cut(way, said)
	return &c
}

// id is a node's id as its record has it.
func (g *grove) id(n int32) string {
	at, own := g.Nodes[n].At, g.Own[n]
	if own.Len < 2 || own.Len > 500 || g.s.in.Medium != "jsonl" {
		return ""
	}
	b := make([]byte, own.Len)
	if _, err := g.s.in.R.ReadAt(b, at.Text+int64(own.Off)); err != nil {
		return ""
	}
	return string(bytes.Trim(b, `"`))
}
