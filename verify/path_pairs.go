package verify

import "github.com/sessfix/sessfix/session"

// pairing is which result answers which call, wherever they stand in the tree.
type pairing struct {
	*path
	answered map[int32]int32 // by the leg of a call, the node of its result
	open     map[session.ID][]int32
	asked    map[session.ID][]int32 // legs of all calls
	bad      []misplaced
	unsaid   map[int32]bool   // results whose call an edit took out
	newIDs   map[int32]string // of calls that had none, by leg
	inserts  []session.Call   // calls that more follows, to be answered where they stand
}

// misplaced is a result that answers no call at its place.
type misplaced struct {
	node, first int32 // first is the result of its call that stands in front of it, -1 = none
}

// maxBatch bounds how far up a result's call is looked for.
const maxBatch = 10_000

// pairs checks the calls and results of what is sent, and hangs what stands at the wrong place where it belongs.
func (p *path) pairs() *pairing {
	q := &pairing{path: p, answered: map[int32]int32{}, open: map[session.ID][]int32{}, asked: map[session.ID][]int32{}, unsaid: map[int32]bool{}, newIDs: map[int32]string{}}
	q.find()
	for _, b := range q.bad {
		q.judge(b)
	}
	return q
}

// find pairs calls and results that stand where the client looks for them: first those on the way to the leaf.
func (q *pairing) find() {
	for i := range q.Nodes {
		n := int32(i)
		if x := &q.Nodes[n]; q.entries[n].dropped || x.Kind != session.AssistantMessage || x.Void {
			continue
		}
		for k, behind := q.words(n); k < behind; k++ {
			if id := q.Legs[k].Call; q.Legs[k].Kind == session.CallAsked {
				q.asked[id] = append(q.asked[id], k)
			}
		}
	}
	for _, on := range [2]bool{true, false} {
		for i := range q.Nodes {
			if n := int32(i); q.Nodes[n].Kind == session.CallResult && (q.place[n] > 0) == on && !q.entries[n].dropped {
				q.pair(n, q.result(n))
			}
		}
	}
	for id, legs := range q.asked {
		for _, leg := range legs {
			if _, ok := q.answered[leg]; !ok {
				q.open[id] = append(q.open[id], leg)
			}
		}
	}
}

// pair finds the call that a result answers at its place.
func (q *pairing) pair(n int32, g session.Leg) {
	if leg, ok := q.fixed[n]; ok {
		q.answered[leg] = n
		return
	}
	up := q.owner[n]
	o := up
	if q.at[n] >= 0 {
		o = q.turn[n]
	}
	leg, first := q.slot(n, o, g)
	switch {
	case leg >= 0 && q.place[n] == 0 && q.place[o] > 0:
		// It hangs beside the way that leads on from its call.
		if _, done := q.answered[leg]; !done && q.at[o] >= 0 && !q.left(o) {
			q.bad = append(q.bad, misplaced{n, -1})
		}
	case leg >= 0:
		q.answered[leg] = n
	case first < 0 && q.at[n] >= 0 && q.edited(up) && q.asks(up, g):
		q.unsaid[n] = true
	case first < 0 && q.at[n] >= 0 && up >= 0 && q.place[up] > 0 && q.at[up] < 0:
		// Its call may be in front of what a compaction keeps.
		if leg, first = q.slot(n, up, g); leg >= 0 {
			q.answered[leg] = n
			return
		}
		fallthrough
	default:
		q.bad = append(q.bad, misplaced{n, first})
	}
}

// slot is the call of an answer that a result behind it answers: of calls with one id the first that no result between the two
// answers. Where there is none, first is the first of those results.
func (q *pairing) slot(n, o int32, g session.Leg) (leg, first int32) {
	if o < 0 || q.Nodes[o].Kind != session.AssistantMessage || q.Nodes[o].Void {
		return -1, -1
	}
	met, first := 0, int32(-1)
	for m, steps := q.before(n, o), 0; m >= 0 && m != o && steps < maxBatch; m, steps = q.before(m, o), steps+1 {
		if q.Nodes[m].Kind == session.CallResult && q.result(m).Call == g.Call {
			met++
			first = m
		}
	}
	asked := false
	for k, behind := q.words(o); k < behind; k++ {
		if q.Legs[k].Kind != session.CallAsked || q.Legs[k].Call != g.Call {
			continue
		}
		if asked = true; met == 0 {
			return k, -1
		}
		met-- // an earlier one is the result of this call
	}
	if !asked {
		first = -1
	}
	return -1, first
}

// before is the node in front of one on the way back to another: in what is sent, if both are, else in the tree.
func (q *pairing) before(n, o int32) int32 {
	if q.at[n] > 0 && q.at[o] >= 0 {
		return q.order[q.at[n]-1]
	}
	return q.Nodes[n].Up
}

// left tells that a user's message follows an answer in what is sent: the user went back to it, and on from there.
func (q *pairing) left(o int32) bool {
	for _, n := range q.order[q.at[o]+1:] {
		switch q.Nodes[n].Kind {
		case session.UserMessage:
			return true
		case session.AssistantMessage, session.CallResult:
			return false
		}
	}
	return false
}

// edited tells a node whose words an edit takes out or replaces.
func (q *pairing) edited(n int32) bool {
	_, ok := q.edit[n]
	return ok
}

// asks tells whether an answer asks for a result's call in its own words.
func (q *pairing) asks(n int32, g session.Leg) bool {
	for _, k := range q.LegsOf(n) {
		if k.Kind == session.CallAsked && k.Call == g.Call {
			return true
		}
	}
	return false
}

// result is the leg of a node that is a result.
func (q *pairing) result(n int32) session.Leg {
	for _, g := range q.LegsOf(n) {
		if g.Kind == session.CallResult {
			return g
		}
	}
	return session.Leg{}
}
