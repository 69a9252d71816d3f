package verify

import (
	"fmt"
	"slices"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/session"
)

// pairs checks the calls and results of what is sent.
func (t *tree) pairs(res *Result, sent []int32) {
	t.first(sent)
	asked := map[session.ID]session.Leg{}
	again := map[session.ID][]session.Leg{}
	var order []session.Leg
	place := make([]int32, len(t.Nodes)) // in what is sent, from 1
	for i, n := range sent {
		place[n] = int32(i) + 1
		for _, g := range t.LegsOf(n) {
			if g.Kind != session.CallAsked {
				continue
			}
			if _, ok := asked[g.Call]; ok {
				again[g.Call] = append(again[g.Call], g)
				continue
			}
			asked[g.Call] = g
			order = append(order, g)
		}
	}
	results := func(call session.ID) (out []session.Leg) {
		for g := range t.Results(call) {
			if x := &t.Nodes[g.Node]; !x.Void && !x.Side {
				out = append(out, g)
			}
		}
		return out
	}
	left := map[session.ID][]session.Leg{}
	for _, g := range order {
		if more := again[g.Call]; more != nil {
			left[g.Call] = t.reused(g, more, results(g.Call), asked)
		}
	}
	for _, n := range sent {
		for _, g := range t.LegsOf(n) {
			if _, ok := asked[g.Call]; !ok && g.Kind == session.CallResult {
				f := t.add(finding.OrphanResult, t.ref(n), "", "a result whose call is not in what the client sends")
				f.CallID = t.CallID(g)
				f.Repair = "the result is told anew as plain text, its content kept"
				t.mend(n, f, "orphan "+f.CallID)
				t.told[n] = true
			}
		}
	}
	last := t.lastWord(sent)
	for i, g := range order {
		got, twice := left[g.Call]
		if !twice {
			got = results(g.Call)
		}
		switch len(got) {
		case 0:
			t.dangling(res, g, i, int(place[g.Node])-1 >= last || t.Nodes[g.Node].Group != (session.ID{}) && t.Nodes[g.Node].Group == t.groupAt(sent, last))
		case 1:
		default:
			if twice {
				break // it was said already
			}
			t.several(g, got, place)
		}
	}
	t.aside(asked, place)
	if t.rules.RunsUnwritten {
		t.unwritten(res, sent)
	}
}

// unwritten notes where an answer was awaited that is not in the log, at its end or in front of an answer that
// the client made up on the next start: its tools may have run.
func (t *tree) unwritten(res *Result, sent []int32) {
	for i, n := range sent {
		x := &t.Nodes[n]
		if x.Kind != session.UserMessage || x.Idle || slices.ContainsFunc(t.LegsOf(n), func(g session.Leg) bool { return g.Flags&session.Synthetic != 0 }) {
			continue // behind a made-up result nothing was awaited
		}
		what := "a prompt"
		if t.results(n) {
			what = "a result"
		}
		switch {
		case i == len(sent)-1 && !res.Open:
			t.add(finding.MayHaveRun, t.ref(n), "tail", "the log ends with "+what+": while the answer to it was received, tools may have run")
		case i < len(sent)-1 && t.Nodes[sent[i+1]].MadeUp && !t.Nodes[sent[i+1]].Void:
			t.add(finding.MayHaveRun, t.ref(n), "mid", "the answer to "+what+" was never written: while it was received, tools may have run")
		}
	}
}

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
			t.mend(n, p, "orphan "+p.CallID)
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

// first: what is sent must begin with the user.
func (t *tree) first(sent []int32) {
	if len(sent) == 0 || t.Nodes[sent[0]].Kind != session.AssistantMessage {
		return
	}
	f := t.add(finding.ProviderRejects, t.ref(sent[0]), "first", "what the client sends begins with an answer: the user's first message is lost")
	f.Repair = "none is safe: what the user said first is not known"
}

// lastWord is the place in sent of the last message that is neither a result nor followed by results alone.
func (t *tree) lastWord(sent []int32) int {
	for i := len(sent) - 1; i >= 0; i-- {
		if !t.results(sent[i]) {
			return i
		}
	}
	return -1
}

func (t *tree) groupAt(sent []int32, i int) session.ID {
	if i < 0 {
		return session.ID{}
	}
	return t.Nodes[sent[i]].Group
}

// dangling asks for the answer of a call that has none.
func (t *tree) dangling(res *Result, g session.Leg, index int, tail bool) {
	ref := t.ref(g.Node)
	where := "mid"
	if tail {
		where = "tail"
	}
	id := t.CallID(g)
	f := t.add(finding.DanglingCall, ref, where, fmt.Sprintf("call %s has no result", quote(id)))
	f.CallID = id
	f.Repair = "a result is added: " + finding.ToolOutcomeUnknown
	f.Never = "repeat it blindly: it may have run"
	call := session.Call{ID: id, Name: t.CallName(g), Index: index, Asked: ref, StartSeq: -1, AskSeq: -1}
	c := Change{Kind: Answer, Rec: ref, Call: call, Where: where}
	c.Child = t.adopt(g)
	t.changes = append(t.changes, c)
	if tail {
		res.Open = true
		res.Tail.Calls = append(res.Tail.Calls, call)
	}
}

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

// several judges more than one result of a call: the client shows the first.
func (t *tree) several(g session.Leg, got []session.Leg, place []int32) {
	var truth, made *session.Leg
	for i := range got {
		switch {
		case got[i].Flags&session.Synthetic == 0 && truth == nil:
			truth = &got[i]
		case got[i].Flags&session.Synthetic != 0 && made == nil:
			made = &got[i]
		}
	}
	if truth != nil && made != nil && made.Node < truth.Node {
		f := t.add(finding.FalseCloser, t.ref(truth.Node), "tree", "the real result of a call that a synthetic one hides")
		f.CallID = t.CallID(g)
		f.Repair = "the synthetic result is told anew with the content of the real one"
		c := t.retell(made.Node)
		c.Truths = append(c.Truths, Truth{t.ref(truth.Node), f.CallID})
		t.other(made.Node, place)
		return
	}
	f := t.add(finding.DupResult, t.ref(got[1].Node), "tree", fmt.Sprintf("%d results of one call; the client sends the first", len(got)))
	f.CallID = t.CallID(g)
}

// maxOthers bounds how many branches of second writers are looked at, each in the whole tree.
const maxOthers = 20

// other reports the talk that a second writer went on with behind its synthetic result, where no client shows it.
func (t *tree) other(made int32, place []int32) {
	if t.others++; t.others > maxOthers {
		return
	}
	under := t.Under(made)
	first, n := int32(-1), 0
	for i := range t.Nodes {
		if under[i] && place[i] == 0 && t.talk(int32(i)) && int32(i) != made {
			if n++; first < 0 {
				first = int32(i)
			}
		}
	}
	if n > 0 {
		t.add(finding.UnreachableWork, t.ref(first), "", fmt.Sprintf("%d messages of a second writer stand on a branch of their own, from here on", n))
	}
}

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
			t.mend(g.Node, f, "rename "+id+" "+t.CallID(r))
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
		word := fmt.Sprintf("rename %s %s-%d", id, id, i+2)
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
