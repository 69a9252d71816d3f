package verify

import (
	"fmt"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// reused reports calls with the id of an earlier one. Where a result hangs under such a call that no call asks
// for, its id is the call's true one. Where each has its result, the later ones get ids of their own. What is left is the
// first one's.
func (t *tree) reused(first session.Leg, more, results []session.Leg, asked map[session.ID]session.Leg) (left []session.Leg) {
	id := t.CallID(first)
	taken := map[int32]bool{}
	for i, g := range more {
		f := t.add(finding.CallIDReused, t.ref(g.Node), "", "an earlier call has the same id")
		f.CallID = id
		if g.Node == first.Node {
			continue // which of them a new id would go to cannot be said
		}
		if r, ok := t.strange(g, asked); ok {
			f.Where = "paired"
			f.Repair = "the call is told anew with the id of the result that hangs under it"
			t.mend(g.Node, f, format.RenamePrefix+id+" "+t.CallID(r))
			asked[r.Call] = g
			continue
		}
		r, ok := t.resultOf(g, i+1, len(more)+1, results)
		if !ok || taken[r.Node] {
			continue
		}
		taken[r.Node] = true
		f.Where = "paired"
		f.Repair = "the call and its result are told anew with an id of their own"
		word := fmt.Sprintf("%s%s %s-%d", format.RenamePrefix, id, id, i+2)
		t.mend(g.Node, f, word)
		t.mend(r.Node, f, word)
	}
	for _, r := range results {
		if !taken[r.Node] {
			left = append(left, r)
		}
	}
	return left
}

// strange is the one result that hangs under the record of a call and that no call asks for.
func (t *tree) strange(g session.Leg, asked map[session.ID]session.Leg) (found session.Leg, ok bool) {
	if t.answers == nil {
		t.answers = map[session.ID][]int32{}
		for i := range t.Nodes {
			if x := &t.Nodes[i]; x.Named && !x.Void && t.results(int32(i)) {
				t.answers[x.Parent] = append(t.answers[x.Parent], int32(i))
			}
		}
	}
	for _, n := range t.answers[t.Nodes[g.Node].ID] {
		for _, r := range t.LegsOf(n) {
			if _, known := asked[r.Call]; !known && r.Kind == session.CallResult {
				if ok {
					return session.Leg{}, false
				}
				found, ok = r, true
			}
		}
	}
	return found, ok
}

// resultOf is the result of one of several calls with one id: the only one that hangs under it; or, where there
// are as many results as calls, the one at the same place.
func (t *tree) resultOf(g session.Leg, i, calls int, results []session.Leg) (session.Leg, bool) {
	var own []session.Leg
	for _, n := range t.answers[t.Nodes[g.Node].ID] { // made ready by strange
		for _, r := range t.LegsOf(n) {
			if r.Kind == session.CallResult && r.Call == g.Call {
				own = append(own, r)
			}
		}
	}
	if len(own) == 1 {
		return own[0], true
	}
	if len(own) == 0 && len(results) == calls {
		return results[i], true
	}
	return session.Leg{}, false
}
