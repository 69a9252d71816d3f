package verify

import (
	"fmt"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/session"
)

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

// wanting is the call without result that a result belongs to, -1 where none or several may be it. Of a result on the way to
// the leaf it is the nearest in front of it there, else the only one; of one beside the way, the one on it that stands nearest
// in front of it in the log.
func (q *pairing) wanting(n int32, g session.Leg) int32 {
	if q.CallID(g) == "" {
		return -1
	}
	near, only, many := int32(-1), int32(-1), false
	for _, leg := range q.open[g.Call] {
		at := q.home(leg)
		if _, done := q.answered[leg]; done || q.ref(at).Text > q.ref(n).Text {
			continue // what stands behind it in the log did not ask for it: an id is used again
		}
		switch aside := q.place[n] == 0; {
		case aside && q.place[at] > 0 && q.sent(at):
			if near < 0 || q.ref(at).Text >= q.ref(q.home(near)).Text {
				near = leg
			}
		case !aside:
			if q.place[at] > 0 && q.place[at] < q.place[n] && (near < 0 || q.place[at] > q.place[q.home(near)]) {
				near = leg
			}
			many, only = only >= 0, leg
		}
	}
	if near >= 0 || many {
		return near
	}
	return only
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
	where, text := "across", "the result of call %s, which stands on another branch"
	if q.place[n] == 0 {
		where, text = "aside", "the result of call %s hangs beside the way that leads on from the call"
	}
	f = q.add(finding.OrphanResult, q.ref(n), where, fmt.Sprintf(text, quote(id)))
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
	madeUp := q.result(first).Flags&session.Synthetic != 0
	switch also := g.Flags&session.Synthetic != 0; {
	case q.entries[first].dropped:
	case madeUp && !also:
		f := q.add(finding.FalseCloser, q.ref(n), "path", fmt.Sprintf("the real result of call %s stands behind one that a recovery made up", quote(id)))
		f.CallID = id
		f.Repair = "the real one takes the place of the one made up, which goes to quarantine"
		q.instead(n, first, late)
		return
	case madeUp == also && q.in.Dialect.Rules().LastResult:
		q.outdone(first, id)
		q.instead(n, first, late)
		return
	}
	f := q.add(finding.DupResult, q.ref(n), "path", fmt.Sprintf("a second result of call %s: the client sends both", quote(id)))
	f.CallID = id
	f.Repair = "it goes to quarantine, the first one stays"
	q.drop(n, q.newest())
}

// instead puts a result in the place of an earlier one, which goes.
func (q *pairing) instead(n, first int32, late bool) {
	if late {
		q.lift(n, q.newest())
		q.between(n, first, q.newest())
		q.owner[n], q.moved[n] = q.owner[first], true
	}
	q.drop(first, q.newest())
	q.adopt(first, n)
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
	if q.entries[n].spared {
		return
	}
	o := q.owner[n]
	failed := o >= 0 && q.Nodes[o].Void && q.asks(o, q.result(n))
	where, text := "path", "the result of call %s, which is not in front of it"
	if failed {
		where, text = "failed", "the result of call %s of an answer that failed: the client sends the result without the answer"
	}
	f := q.add(finding.OrphanResult, q.ref(n), where, fmt.Sprintf(text, quote(id)))
	f.CallID = id
	if q.recaller != nil && q.recaller.Recalls(id) {
		f.Repair = "it stays: the answer that asks for it is put back in front of it"
		q.spare(n, id)
		return
	}
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

// outdone reports a result of which there is a later one, where the client takes that.
func (q *pairing) outdone(first int32, id string) {
	f := q.add(finding.DupResult, q.ref(first), "path", fmt.Sprintf("call %s has another result behind this one, which the client takes", quote(id)))
	f.CallID = id
	f.Repair = "it goes to quarantine, the last one stays"
}

// spare keeps a result whose call is put back. Of two the client takes the last.
func (q *pairing) spare(n int32, id string) {
	q.entries[n].spared = true
	if q.spared == nil {
		q.spared = map[string]int32{}
	}
	if first, ok := q.spared[id]; ok {
		q.outdone(first, id)
		q.drop(first, q.newest())
	}
	q.spared[id] = n
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
