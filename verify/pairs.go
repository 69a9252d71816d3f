package verify

import (
	"fmt"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
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
				t.mend(n, f, format.OrphanPrefix+f.CallID)
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
	t.parallel(sent, place)
	if t.rules.RunsUnwritten {
		t.unwritten(res, sent)
	}
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

// parallel notes what belongs to the answers that are sent and hangs beside the way, where the client does not look.
func (t *tree) parallel(sent, place []int32) {
	met := map[session.ID]bool{}
	first, n := int32(-1), 0
	beside := func(k int32) {
		if place[k] == 0 && t.talk(k) && !t.Nodes[k].Side {
			if n++; first < 0 || k < first {
				first = k
			}
		}
	}
	for _, k := range sent {
		id := t.Nodes[k].Group
		if id == (session.ID{}) || met[id] {
			continue
		}
		met[id] = true
		for m := range t.Group(id) {
			beside(m)
			for _, g := range t.LegsOf(m) {
				if g.Kind != session.CallAsked {
					continue
				}
				for r := range t.Results(g.Call) {
					beside(r.Node)
				}
			}
		}
	}
	if n > 0 {
		f := t.add(finding.UnreachableWork, t.ref(first), "parallel", fmt.Sprintf("%d messages of parallel calls hang beside the way, where this client does not look", n))
		f.Repair = "nothing: newer releases send them"
	}
}
