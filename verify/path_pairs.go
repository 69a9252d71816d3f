package verify

import (
	"fmt"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/session"
)

// pairing is which result answers which call, wherever they stand in the tree.
type pairing struct {
	*path
	answered map[int32]int32 // by the leg of a call, the node of its result
	open     map[session.ID][]int32
	asked    map[session.ID][]int32 // legs of all calls
	bad      []misplaced
	unsaid   []int32          // results whose call an edit took out
	newIDs   map[int32]string // of calls that had none, by leg
}

// misplaced is a result that answers no call at its place.
type misplaced struct {
	node, first int32 // first is the result of its call that stands in front of it, -1 = none
}

// maxBatch bounds how far up a result's call is looked for.
const maxBatch = 10_000

// pairs checks the calls and results of what is sent, and hangs what stands at the wrong place where it belongs.
func (p *path) pairs() *pairing {
	q := &pairing{path: p, answered: map[int32]int32{}, open: map[session.ID][]int32{}, asked: map[session.ID][]int32{}, newIDs: map[int32]string{}}
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
		q.unsaid = append(q.unsaid, n)
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

// judge says what is wrong with a result that answers no call at its place, and what becomes of it.
func (q *pairing) judge(b misplaced) {
	n := b.node
	g := q.result(n)
	id := q.CallID(g)
	switch leg := q.wanting(n, g); {
	case q.place[n] == 0 && leg >= 0:
		q.across(n, leg)
	case q.place[n] == 0 || !q.sent(n):
	case id == "":
		q.empty(n)
	case b.first >= 0:
		q.second(n, b.first, false)
	case leg >= 0 && q.place[q.home(leg)] == 0:
		q.across(n, leg)
	case leg >= 0:
		f := q.add(finding.DisplacedResult, q.ref(n), "path", fmt.Sprintf("the result of call %s does not stand right behind it: the client sends two", quote(id)))
		f.CallID = id
		f.Repair = "it is hung right behind its call, and what hung there behind it"
		q.move(n, leg)
	case q.early(n, g) >= 0:
		q.second(n, q.early(n, g), true)
	default:
		q.orphan(n, id)
	}
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

// wanting is the one call without result that a result belongs to: the nearest in front of it on the way to the leaf,
// else the only one; -1 where there is none or several. Of a result beside the way it is one on the way.
func (q *pairing) wanting(n int32, g session.Leg) int32 {
	if q.CallID(g) == "" {
		return -1
	}
	found, many, near := int32(-1), false, int32(-1)
	for _, leg := range q.open[g.Call] {
		if _, done := q.answered[leg]; done {
			continue
		}
		at := q.home(leg)
		on := q.place[at] > 0
		if q.place[n] == 0 && !(on && q.sent(at)) || q.ref(at).Text > q.ref(n).Text {
			continue // one that stands behind it in the log did not ask for it: an id is used again
		}
		if on && q.place[at] < q.place[n] && (near < 0 || q.place[at] > q.place[q.home(near)]) {
			near = leg
		}
		many = found >= 0
		found = leg
	}
	if near >= 0 {
		return near
	}
	if many {
		return -1
	}
	return found
}

// early is the result, on the way to the leaf in front of a node, of the same call; -1 if there is none.
func (q *pairing) early(n int32, g session.Leg) int32 {
	best := int32(-1)
	for _, leg := range q.asked[g.Call] {
		if r, ok := q.answered[leg]; ok && q.place[r] > 0 && q.place[r] < q.place[n] && (best < 0 || q.place[r] > q.place[best]) {
			best = r
		}
	}
	return best
}

// across brings a result to its call, which stands on another branch.
func (q *pairing) across(n, leg int32) {
	at := q.home(leg)
	id := q.CallID(q.Legs[leg])
	f := q.add(finding.DanglingCall, q.ref(at), "across", fmt.Sprintf("call %s has no result behind it: that hangs on another branch", quote(id)))
	f.CallID = id
	f.Repair = "its result is hung right behind it"
	f.Never = "repeat it: it ran"
	f = q.add(finding.OrphanResult, q.ref(n), "across", fmt.Sprintf("the result of call %s, which stands on another branch", quote(id)))
	f.CallID = id
	f.Repair = "it is hung right behind its call, and what hung there behind it"
	q.move(n, leg)
}

// move hangs a result right behind its call.
func (q *pairing) move(n, leg int32) {
	at := q.home(leg)
	q.lift(n, q.newest())
	last := at
	q.moved[n] = true
	for steps := 0; steps < maxBatch; steps++ {
		next := int32(-1)
		for _, k := range q.children(last) {
			aside := q.place[at] > 0 && q.place[k] == 0 && !q.moved[k]
			if k != n && q.Nodes[k].Kind == session.CallResult && q.owner[k] == at && !q.entries[k].dropped && !aside && (next < 0 || q.place[k] > 0) {
				next = k
			}
		}
		if next < 0 || next > n {
			break // those of one batch stand in the order in which they came
		}
		last = next
	}
	q.between(n, last, q.newest())
	q.owner[n] = at
	q.answered[leg] = n
}

// second judges a further result of a call that has one; late tells that other talk stands between the two.
func (q *pairing) second(n, first int32, late bool) {
	g := q.result(n)
	id := q.CallID(g)
	if q.result(first).Flags&session.Synthetic != 0 && g.Flags&session.Synthetic == 0 && !q.entries[first].dropped {
		f := q.add(finding.FalseCloser, q.ref(n), "path", fmt.Sprintf("the real result of call %s stands behind one that a recovery made up", quote(id)))
		f.CallID = id
		f.Repair = "the real one takes the place of the one made up, which goes to quarantine"
		if late {
			q.lift(n, q.newest())
			q.between(n, first, q.newest())
			q.owner[n], q.moved[n] = q.owner[first], true
		}
		q.drop(first, q.newest())
		q.adopt(first, n)
		return
	}
	f := q.add(finding.DupResult, q.ref(n), "path", fmt.Sprintf("a second result of call %s: the client sends both", quote(id)))
	f.CallID = id
	f.Repair = "it goes to quarantine, the first one stays"
	q.drop(n, q.newest())
}

// adopt puts a result in the place of another.
func (q *pairing) adopt(old, n int32) {
	for leg, r := range q.answered {
		if r == old {
			q.answered[leg] = n
		}
	}
}

// orphan judges a result whose call is nowhere, or in an answer that the client leaves out.
func (q *pairing) orphan(n int32, id string) {
	o := q.owner[n]
	failed := o >= 0 && q.Nodes[o].Void && q.asks(o, q.result(n))
	where, text := "path", "the result of call %s, which is not in front of it"
	if failed {
		where, text = "failed", "the result of call %s of an answer that failed: the client sends the result without the answer"
	}
	f := q.add(finding.OrphanResult, q.ref(n), where, fmt.Sprintf(text, quote(id)))
	f.CallID = id
	if len(q.torn) > 0 && !failed && q.id(n) != nil && (q.Nodes[n].Up >= 0 || n == 0) {
		// The call may be what was torn: the result stays, on a branch that leads nowhere.
		f.Repair = "what follows is hung past it: the result stays in the log, and is sent no more"
		q.skip(n, q.newest())
		q.lift(n, q.newest())
		q.place[n] = 0
		return
	}
	f.Repair = "it goes to quarantine, and what hung under it is hung higher"
	q.drop(n, q.newest())
}

// empty judges a result with an empty id: it belongs to the one call in front of it that has none, if there is just one.
func (q *pairing) empty(n int32) {
	f := q.add(finding.EmptyCallID, q.ref(n), "path", "the result names no call: the client sends it alone")
	why := q.newest()
	only, many := int32(-1), false
	if o := q.turn[n]; o >= 0 && !q.Nodes[o].Void && q.Nodes[o].Kind == session.AssistantMessage {
		for k, behind := q.words(o); k < behind; k++ {
			if _, done := q.answered[k]; !done && q.Legs[k].Kind == session.CallAsked {
				many, only = only >= 0, k
			}
		}
	}
	at, known := q.blanks[n]
	if only < 0 || many || !known || !plain(q.CallID(q.Legs[only])) {
		f.Repair = "it goes to quarantine, and what hung under it is hung higher"
		q.drop(n, why)
		return
	}
	id := q.CallID(q.Legs[only])
	f.Repair = "it gets the id of the one call in front of it that has no result"
	f.CallID = id
	f.Patches = append(f.Patches, finding.Patch{At: q.ref(n).Text + int64(at), Ins: []byte(id)})
	q.answered[only], q.fixed[n] = n, only
	q.alter(n, why)
}

// alter notes that a record is to be patched.
func (p *path) alter(n, why int32) {
	if e := &p.entries[n]; e.why < 0 {
		e.why = why
	}
	p.entries[n].changed = true
}

// plain tells an id that stands in JSON as it is.
func plain(id string) bool {
	return id != "" && !strings.ContainsFunc(id, func(c rune) bool { return c < ' ' || c == '"' || c == '\\' })
}
