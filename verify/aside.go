package verify

import (
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// aside finds results beside the way whose call is lost, under an answer that is sent: the client sends neither. They are
// told anew as text, and the way is led through them.
func (t *tree) aside(asked map[session.ID]session.Leg, place []int32) {
	anywhere := map[session.ID]bool{}
	for i := range t.Nodes {
		for _, g := range t.LegsOf(int32(i)) {
			if g.Kind == session.CallAsked {
				anywhere[g.Call] = true
			}
		}
	}
	near := make([]bool, len(t.Nodes)) // on the way, or sent
	for _, n := range t.Path(t.leafAt) {
		near[n] = true
	}
	for n, at := range place {
		near[n] = near[n] || at > 0
	}
	for i := range t.Nodes {
		n := int32(i)
		x := &t.Nodes[n]
		if near[n] || x.Void || x.Side || x.Up < 0 || !t.results(n) {
			continue
		}
		up := x.Up
		for range t.Nodes { // no more steps than nodes, whatever the links say
			if !t.results(up) || t.Nodes[up].Up < 0 {
				break
			}
			up = t.Nodes[up].Up // it was hung behind other results
		}
		if !near[up] {
			continue
		}
		var f finding.Finding
		for _, g := range t.LegsOf(n) {
			if _, known := asked[g.Call]; known || g.Kind != session.CallResult || anywhere[g.Call] {
				continue
			}
			p := t.add(finding.OrphanResult, t.ref(n), "", "a result whose call is lost; it hangs beside the way, and the client never sends it")
			p.CallID = t.CallID(g)
			p.Repair = "the result is told anew as plain text behind the other results, its content kept"
			t.mend(n, p, format.OrphanPrefix+p.CallID)
			f = *p
		}
		if f.Code != "" {
			t.lead(n, up, &f)
		}
	}
}

// lead leads the way through a node beside it: behind the results of the answer that it hangs under.
func (t *tree) lead(n, up int32, f *finding.Finding) {
	if t.leads == nil {
		t.leads = map[session.ID][2]int32{}
	}
	at, ok := t.leads[t.unit(up)]
	if !ok {
		at = t.gap(up)
	}
	q, c := at[0], at[1]
	if q < 0 {
		return
	}
	set := func(node, parent int32) {
		r := t.retell(node)
		r.Parent, r.Code, r.Of = t.ref(parent), f.Code, f.Record.Text
		t.Nodes[node].Up = parent
	}
	if t.Nodes[n].Up != q {
		set(n, q)
	}
	if c >= 0 {
		set(c, n)
	} else {
		t.leafAt = n
		t.point(n)
	}
	t.leads[t.unit(up)] = [2]int32{n, c}
}

// gap is the last node on the way that belongs to an answer or its results, and the one that follows it there, -1
// where there is none.
func (t *tree) gap(up int32) [2]int32 {
	group := t.Nodes[up].Group
	c := int32(-1)
	for _, p := range t.Path(t.leafAt) {
		x := &t.Nodes[p]
		if p == up || group != (session.ID{}) && (x.Group == group || t.results(p) && x.Up >= 0 && t.Nodes[x.Up].Group == group) {
			return [2]int32{p, c}
		}
		c = p
	}
	return [2]int32{-1, -1}
}
