package verify

import (
	"slices"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/session"
)

// adopt finds a record whose lost parent may have been the result of a call: one that is hung under the
// call, or under what belongs to the same answer. The answer then takes the lost record's id.
func (t *tree) adopt(g session.Leg) session.Ref {
	if t.hung == nil {
		t.hung = map[session.ID][]int32{}
		for _, n := range t.heal {
			if up := t.beside(n); up >= 0 {
				t.hung[t.unit(up)] = append(t.hung[t.unit(up)], n)
			}
		}
	}
	group := t.Nodes[g.Node].Group
	for _, n := range t.hung[t.unit(g.Node)] {
		x := &t.Nodes[n]
		kids, lost := t.lost[x.Parent]
		if !lost || x.Up < 0 || t.told[n] || slices.ContainsFunc(kids, func(k int32) bool {
			return t.results(k) || t.told[k] || group != (session.ID{}) && t.Nodes[k].Group == group
		}) {
			continue
		}
		for _, k := range kids {
			t.stay(k)
			t.Nodes[k].Up = g.Node
			for i := range t.findings {
				if f := &t.findings[i]; f.Code == finding.ParentMissing && f.Record.Text == t.ref(k).Text {
					f.Repair = "the result that is added for call " + quote(t.CallID(g)) + " takes the lost record's id"
				}
			}
		}
		delete(t.lost, x.Parent)
		return t.ref(n)
	}
	return session.Ref{}
}

// beside is what a healed node hangs under, past the result of another call of the same answer.
func (t *tree) beside(n int32) int32 {
	up := t.Nodes[n].Up
	if up >= 0 && t.results(up) {
		up = t.Nodes[up].Up
	}
	return up
}

// unit is the answer that a record belongs to, else the record itself.
func (t *tree) unit(n int32) session.ID {
	if x := &t.Nodes[n]; x.Group != (session.ID{}) {
		return x.Group
	}
	return t.Nodes[n].ID
}

// stay takes back that a node is hung elsewhere.
func (t *tree) stay(n int32) {
	if i, ok := t.retold[n]; ok {
		t.changes[i].Parent = session.Ref{}
	}
}
