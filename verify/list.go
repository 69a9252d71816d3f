package verify

import (
	"fmt"
	"hash/maphash"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// list checks a log whose own order is what is sent: a call is answered by a result of its id and class anywhere behind
// it, turns have names, and a compaction takes all in front of it out. It keeps some 150 bytes a call that is sent.
type list struct {
	rules    format.Rules
	findings []finding.Finding
	alike    map[string]int
	seed     maphash.Seed

	calls map[session.ID]*asked
	order []*asked             // in the order of asking
	open  []*asked             // likewise, those without result; some may have been answered since
	early map[session.ID]early // results in front of their calls
	drops []Drop
	moves []Move

	turn      string // the open turn's name, where it has one
	root      string
	turnRef   session.Ref
	turnOpen  bool
	turns     int64
	prompts   int32
	talkSince int32 // counts what ends the time in which results may still follow their calls
	waiting   int
}

// asked is what is kept of a call.
type asked struct {
	key      session.ID
	ask      uint64 // hash of the record that asks
	result   uint64
	at       *session.Ref // of a result that was made up
	prompt   int32        // how many prompts stand in front of it
	made     bool         // the result was made up
	answered bool
	over     *pending // what an open call needs
}

// early is a result whose call was not met yet.
type early struct {
	finding int // -1 where it was not told
	hash    uint64
	at      session.Ref
}

// pending is a call without result.
type pending struct {
	call      session.Call
	talk      int32 // talkSince when it was asked for
	inherited bool
}

func newList(rules format.Rules) *list {
	return &list{rules: rules, seed: maphash.MakeSeed(), calls: map[session.ID]*asked{}, early: map[session.ID]early{}, alike: map[string]int{}}
}

func (l *list) add(code finding.Code, ref session.Ref, where, message string) *finding.Finding {
	l.findings = append(l.findings, finding.About(code, ref, where, message))
	return &l.findings[len(l.findings)-1]
}

// record takes what the next record means.
func (l *list) record(r *session.Record, b *format.Batch) {
	for i := range b.Events {
		e := &b.Events[i]
		switch e.Kind {
		case session.TurnStart:
			l.talkSince++
			l.turns++
			l.turn, l.root, l.turnOpen, l.turnRef = string(e.ID.Of(r.Raw)), string(e.Root.Of(r.Raw)), true, r.Ref()
		case session.TurnEnd:
			if id := e.ID.Of(r.Raw); len(id) == 0 || string(id) == l.turn {
				l.turnOpen = false
			}
		case session.SystemMessage, session.UserMessage, session.AssistantMessage, session.Summary:
			l.talkSince++
		case session.Prompt:
			l.prompts++
		case session.Rollback:
			l.rollback(e.Turn)
		case session.CompactionEnd:
			l.compact()
		case session.CallAsked:
			l.ask(r, b, e)
		case session.CallFinished:
			l.finished(r, e)
		case session.CallResult:
			l.answer(r, b, e)
		}
	}
}

// hash tells copies of a record from others.
func (l *list) hash(r *session.Record, b *format.Batch) uint64 {
	if b.Body.Len > 0 {
		return maphash.Bytes(l.seed, b.Body.Of(r.Raw))
	}
	return maphash.Bytes(l.seed, r.Raw)
}

func key(id []byte, class uint8) session.ID {
	k := session.MakeID(id)
	k.Lo ^= uint64(class)
	return k
}

func (l *list) ask(r *session.Record, b *format.Batch, e *session.Event) {
	id := callID(r, e)
	k := key(id, e.Class)
	hash := l.hash(r, b)
	if c, ok := l.calls[k]; ok {
		if e.Flags&session.Inherited == 0 {
			l.again(r, c, hash, id)
		}
		return
	}
	c := &asked{key: k, ask: hash, prompt: l.prompts}
	l.calls[k] = c
	l.order = append(l.order, c)
	if was, ok := l.early[k]; ok {
		l.before(was, r.Ref(), string(id))
		delete(l.early, k)
		c.answered, c.result = true, was.hash
		return
	}
	c.over = &pending{
		call: session.Call{ID: string(id), Name: string(e.Name.Of(r.Raw)), Asked: r.Ref(), AskSeq: b.Seq, StartSeq: -1, Class: e.Class},
		talk: l.talkSince, inherited: e.Flags&session.Inherited != 0,
	}
	l.open = append(l.open, c)
	if len(l.open) > 2*l.waiting+64 {
		l.sweep()
	}
}

// before judges a result that stands in front of its call. Where nothing counts the log's places it moves behind it.
func (l *list) before(was early, call session.Ref, id string) {
	moves := l.rules.InsertMid && was.at.Marks == 0 && call.Marks&^session.Unterminated == 0
	if moves {
		l.moves = append(l.moves, Move{From: was.at, Behind: call, Code: finding.OrphanResult})
	}
	if was.finding < 0 {
		if l.enough(finding.OrphanResult, "before") {
			return
		}
		l.add(finding.OrphanResult, was.at, "", "").CallID = id
		was.finding = len(l.findings) - 1
	}
	f := &l.findings[was.finding]
	f.Where = "before"
	f.Message = fmt.Sprintf("the result of call %s stands in front of it", quote(id))
	f.Repair = "none is safe: the records have numbers and places that others count"
	if moves {
		f.Where, f.Repair = "early", "it is moved behind the call"
	}
}

// sweep forgets the answered among the open calls.
func (l *list) sweep() {
	kept := l.open[:0]
	for _, c := range l.open {
		if c.over != nil {
			kept = append(kept, c)
		}
	}
	clear(l.open[len(kept):])
	l.open, l.waiting = kept, len(kept)
}

// again judges a second call with an id.
func (l *list) again(r *session.Record, c *asked, hash uint64, id []byte) {
	same := hash == c.ask
	if same {
		l.drop(r.Ref(), finding.CallIDReused)
	}
	where, text := "", "the id %s was used by an earlier call"
	if same {
		where, text = "same", "call %s stands here a second time"
	}
	if l.enough(finding.CallIDReused, where) {
		return
	}
	f := l.add(finding.CallIDReused, r.Ref(), where, fmt.Sprintf(text, quote(string(id))))
	f.CallID = string(id)
	if same {
		f.Repair = "the copy goes to quarantine"
	}
}

func (l *list) finished(r *session.Record, e *session.Event) {
	id := e.Call.Of(r.Raw)
	for class := range uint8(4) {
		if c, ok := l.calls[key(id, class)]; ok && c.over != nil {
			c.over.call.Finished = r.Ref()
		}
	}
}

func (l *list) answer(r *session.Record, b *format.Batch, e *session.Event) {
	id := callID(r, e)
	k := key(id, e.Class)
	c, ok := l.calls[k]
	inherited := e.Flags&session.Inherited != 0
	switch {
	case !ok && !inherited:
		l.orphan(r, k, l.hash(r, b), string(id))
	case !ok, inherited && c.answered:
	default:
		hash, made := l.hash(r, b), e.Flags&session.Synthetic != 0
		if c.answered {
			l.twice(r, c, hash, made, string(id))
			return
		}
		c.answered, c.result, c.made, c.over = true, hash, made, nil
		if made {
			ref := r.Ref()
			c.at = &ref
		}
	}
}

// orphan reports a result without a call in front of it.
func (l *list) orphan(r *session.Record, k session.ID, hash uint64, id string) {
	was := early{-1, hash, r.Ref()}
	if !l.enough(finding.OrphanResult, "") {
		f := l.add(finding.OrphanResult, r.Ref(), "", fmt.Sprintf("the result of call %s, which is not in front of it", quote(id)))
		f.CallID = id
		f.Repair = "nothing: the call is lost, and the client leaves the result out"
		was.finding = len(l.findings) - 1
	}
	l.early[k] = was
}

// twice judges a second result of a call.
func (l *list) twice(r *session.Record, c *asked, hash uint64, made bool, id string) {
	ref, where, text := r.Ref(), "", "a second result of call %s, other than the first"
	switch {
	case hash == c.result:
		where, text = "same", "the result of call %s stands here a second time"
	case made:
		where, text = "made-up", "a second result of call %s, which some recovery made up"
	case c.made:
		// The first one goes; the record at hand is the real one.
		where, text = "made-up", "the result of call %s that some recovery made up; the real one follows"
		ref = *c.at
		c.made, c.result = false, hash
	}
	if where != "" {
		l.drop(ref, finding.DupResult)
	}
	if l.enough(finding.DupResult, where) {
		return
	}
	f := l.add(finding.DupResult, ref, where, fmt.Sprintf(text, quote(id)))
	f.CallID = id
	f.Repair = "it goes to quarantine, the other one stays"
	if where == "" {
		f.Repair = "none is safe: nothing says which one the model saw"
	}
}

// drop takes a record out of the log.
func (l *list) drop(ref session.Ref, code finding.Code) {
	l.drops = append(l.drops, dropRecord(ref, code))
}

// enough counts a fault at a kind of place, of which there were already enough to tell.
func (l *list) enough(code finding.Code, where string) bool {
	k := string(code) + " " + where
	l.alike[k]++
	return l.alike[k] > maxAlike
}

// compact takes all that was said so far out of what is sent.
func (l *list) compact() {
	for _, c := range l.open {
		if c.over != nil {
			l.dangling(c.over, "compacted")
		}
	}
	l.open, l.order = l.open[:0], l.order[:0]
	clear(l.calls)
	clear(l.early)
}

// rollback takes the calls of the last prompts out of what is sent.
func (l *list) rollback(n int32) {
	l.prompts = max(l.prompts-n, 0)
	for len(l.order) > 0 && l.order[len(l.order)-1].prompt > l.prompts {
		c := l.order[len(l.order)-1]
		l.order = l.order[:len(l.order)-1]
		delete(l.calls, c.key)
		c.over = nil
	}
	l.sweep()
}

// dangling reports a call without result.
func (l *list) dangling(p *pending, where string) {
	if l.enough(finding.DanglingCall, where) {
		return
	}
	text := "call %s has no result"
	switch {
	case p.call.Finished.Len > 0:
		text = "call %s ran to its end, and its result is lost"
	case where == "compacted":
		text = "call %s had no result when the history was compacted"
	}
	f := l.add(finding.DanglingCall, p.call.Asked, where, fmt.Sprintf(text, quote(p.call.ID)))
	f.CallID = p.call.ID
	f.Never = "repeat it blindly: it may have run"
	switch {
	case where != "tail" && where != "mid":
		f.Repair = "nothing: the client answers it by itself"
	case p.call.Finished.Len > 0:
		f.Repair = "a result is added, from the record that says how the call ended"
		f.Never = "repeat it: it ran"
	default:
		f.Repair = "a result is added: " + finding.ToolOutcomeUnknown
	}
}

// end judges what the log leaves open and asks for its closing.
func (l *list) end(res *Result) {
	l.sweep()
	q := &format.CloseRequest{}
	for _, c := range l.open {
		p := c.over
		switch {
		case p.talk == l.talkSince:
			l.dangling(p, "tail")
			q.Calls = append(q.Calls, p.call)
		case p.inherited || !l.rules.InsertMid:
			l.dangling(p, "left")
		default:
			l.dangling(p, "mid")
			res.Inserts = append(res.Inserts, p.call)
		}
	}
	if l.turnOpen && l.turn != "" {
		l.add(finding.OpenTurn, l.turnRef, "tail", fmt.Sprintf("turn %s is open at the end of the log", quote(l.turn)))
		q.TurnID, q.RootTurn, q.TurnStart = l.turn, l.root, l.turnRef
	}
	res.Open = len(q.Calls) > 0 || l.turnOpen
	res.Tail.Calls = q.Calls
	res.Turns = max(l.turns, int64(l.prompts))
	res.Drops = append(res.Drops, l.drops...)
	res.Moves = l.moves
	if len(q.Calls) > 0 || q.TurnID != "" {
		res.Close = q
	}
}
