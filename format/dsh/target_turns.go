package dsh

import (
	"fmt"
	"slices"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/session"
)

// none stands for a turn or step where none is open.
const none = -1

// turns follows turns, steps, calls and compactions as the validators of versions 2 to 4 do
// (session-format-v0-to-v1, relationships.ts). Version 1 is not validated so.
type turns struct {
	turn, step     int64 // open ones
	next, nextStep int64
	previous       splice // what stands right in front
	marked         bool   // the end of the inherited part is passed
	calls          []lifecycle
	provider       string // of the last request/header
	hasProvider    bool
	compaction     compaction
}

// splice is an insertion into the inbox of the next turn: in front of a turn/start it tells a
// client that stopped without ending its turn.
type splice struct{ any bool }

// lifecycle is a call of the open step without result.
type lifecycle struct {
	id, name, arguments string
	started             bool
	ref                 session.Ref
}

// head is what v2→v3 needs to place the system prompt: in the first step, in front of all messages.
type head struct {
	placed     bool
	turn, step int64
	prompt     string
}

func (s *turns) reset() { s.turn, s.step, s.next, s.nextStep = none, none, 1, 1 }

// within tells whether a turn and a step are the open ones.
func (s *turns) within(turn, step int64) bool {
	return s.turn != none && s.step != none && s.turn == turn && s.step == step
}

// validator is the edge whose target validates the structure.
func (t *target) validator() int {
	if t.from < 2 {
		return 2
	}
	return t.from + 1
}

func (t *target) broken(e *entry, text string, args ...any) *finding.Finding {
	return t.refuse(e.ref, t.validator(), text, args...)
}

// structure follows an event.
func (t *target) structure(d *decoder, e *entry) {
	if t.to < 2 {
		return
	}
	if t.from < 2 {
		if e.typ == "assistant/chunk" {
			t.turns.pass(t, e.seq, false)
			t.chunk(e)
			t.turns.previous = splice{}
			return
		}
		t.turns.pass(t, e.seq, e.typ == "session/end-seed")
	}
	repair := t.relate(d, e)
	if t.from < 2 {
		t.references(e)
		if e.typ == "assistant/message" {
			t.message(e)
		} else {
			t.pass(e, repair)
		}
	}
	if t.goes(3) && !e.bad {
		t.placeHead(e)
	}
	t.turns.previous = splice{}
	if e.typ == "agent/inbox/spliced" {
		inserted, _ := e.obj()["inserted"].([]any)
		t.turns.previous.any = e.text("target") == "next-turn" && len(inserted) > 0
	}
}

// pass notes that the numbering goes beyond the inherited part, whose end gets a mark if it has none.
func (s *turns) pass(t *target, seq int64, seed bool) {
	if s.marked || t.chunks.cut < 0 || seq < t.chunks.cut {
		return
	}
	s.marked = true
	if seq != t.chunks.cut || !seed {
		s.endSeed()
	}
}

// endSeed makes an open compaction void.
func (s *turns) endSeed() { s.compaction = compaction{} }

// relate holds an event against what stands in front of it.
func (t *target) relate(d *decoder, e *entry) *repairID {
	s := &t.turns
	switch e.typ {
	case "turn/start", "turn/end":
		if s.compaction.open && len(s.compaction.crossed) < maxOpenCrossings {
			s.compaction.crossed = append(s.compaction.crossed, crossing{e.ref, e.typ})
		}
	}
	turn, step := e.num("turn"), e.num("step")
	switch e.typ {
	case "turn/start":
		t.turnStart(e, turn)
	case "turn/end":
		t.turnEnd(e, turn)
	case "step/start":
		if s.turn == none || turn != s.turn || s.step != none || step != s.nextStep {
			t.broken(e, "step %d of turn %d starts where %s and step %d comes next", step, turn, s.where(), s.nextStep)
		}
		if s.step != none {
			t.unanswered("a step starts")
		}
		s.step, s.nextStep = step, step
	case "step/end":
		t.inStep(e, turn, step)
		t.unanswered("its step ends")
		s.step, s.nextStep = none, s.nextStep+1
	case "assistant/message":
		t.inStep(e, turn, step)
		t.advertise(e)
	case "assistant/attempt", "system/message":
		t.inStep(e, turn, step)
	case "tool/call":
		t.inStep(e, turn, step)
		t.started(e)
	case "tool/result":
		return t.result(e, turn, step)
	case "request/header", "request/context":
		if s.turn == none {
			t.broken(e, "%s stands outside of a turn", e.typ)
		}
		if e.typ == "request/header" {
			header, _ := e.obj()["header"].(object)
			config, _ := header["config"].(object)
			s.provider, s.hasProvider = config["provider"].(string)
		}
	case "tool/code-dispatch", "tool/code-dispatch-start", "tool/ptc-dispatch", "tool/ptc-dispatch-start":
		t.dispatched(e)
	case "llm/retry":
		t.retried(e, turn, step)
	case "llm/retry-started":
		t.retryStarted(e, turn, step)
	case "session/title", "session/title-llm-request":
		t.titled(e)
	case "command/run":
		if t.named.runs == nil {
			t.named.runs = map[string]bool{}
		}
		if id := e.text("commandId"); t.named.runs[id] {
			t.broken(e, "command/run names the command %s a second time", quoted(id))
		} else {
			t.named.runs[id] = true
		}
		t.named.commands = append(t.named.commands, e.seq)
	case "command/done":
		t.commandDone(e)
	case "compaction/start", "compaction/summary", "compaction/end", "compaction/prune":
		t.compacted(d, e, turn)
	case "user/message":
		t.said(e)
	case "session/end-seed":
		s.endSeed()
		if e.obj()["inherited"] == true {
			t.named.inherited = e.seq
		}
	}
	return nil
}

// maxOpenCrossings bounds what waits for the end of a compaction.
const maxOpenCrossings = 16

func (s *turns) where() string {
	switch {
	case s.turn == none:
		return "no turn is open"
	case s.step == none:
		return fmt.Sprintf("turn %d is open", s.turn)
	}
	return fmt.Sprintf("step %d of turn %d is open", s.step, s.turn)
}

func quoted(id string) string { return fmt.Sprintf("%q", short([]byte(id))) }

func (t *target) inStep(e *entry, turn, step int64) {
	if !t.turns.within(turn, step) {
		t.broken(e, "%s of step %d in turn %d stands where %s", e.typ, step, turn, t.turns.where())
	}
}

// unanswered refuses calls that a boundary leaves without result.
func (t *target) unanswered(why string) {
	for _, c := range t.turns.calls {
		t.refuse(c.ref, t.validator(), "call %s has no result when %s", quoted(c.id), why).CallID = c.id
	}
	t.turns.calls = t.turns.calls[:0]
}

// turnStart: the edges to versions 2 and 4 end an open turn themselves, but only behind an
// insertion for the next turn and with no step open.
func (t *target) turnStart(e *entry, turn int64) {
	s := &t.turns
	if s.turn != none && s.step == none && turn == s.turn+1 && s.previous.any && (t.goes(2) || t.goes(4)) {
		if t.goes(2) {
			t.finishAttempt()
			t.emit(e.seq, false)
		}
		s.turn, s.next = none, s.turn+1
	}
	switch {
	case s.turn != none:
		t.broken(e, "turn %d is not ended when turn %d starts", s.turn, turn)
	case turn != s.next:
		t.broken(e, "turn %d starts where turn %d comes next", turn, s.next)
	}
	s.turn, s.step, s.next, s.nextStep = turn, none, turn, 1
	s.calls = s.calls[:0]
}

func (t *target) turnEnd(e *entry, turn int64) {
	s := &t.turns
	switch {
	case s.turn == none || turn != s.turn:
		t.broken(e, "turn %d ends where %s", turn, s.where())
	case len(s.calls) > 0:
		t.unanswered("its turn ends")
	case s.step != none:
		t.broken(e, "turn %d ends and its step %d is open", turn, s.step)
	}
	if s.turn != none {
		s.next = s.turn + 1
	}
	s.turn, s.step = none, none
	s.calls = s.calls[:0]
}

func (t *target) find(id string) int {
	return slices.IndexFunc(t.turns.calls, func(c lifecycle) bool { return c.id == id })
}

func (t *target) advertise(e *entry) {
	message, _ := e.obj()["message"].(object)
	content, _ := message["content"].([]any)
	for _, block := range content {
		b, _ := block.(object)
		if b["type"] != "tool-call" {
			continue
		}
		c := lifecycle{ref: e.ref}
		c.id, _ = b["id"].(string)
		c.name, _ = b["name"].(string)
		c.arguments, _ = b["arguments"].(string)
		if t.find(c.id) >= 0 {
			t.broken(e, "a message asks for call %s, which is asked for and not answered", quoted(c.id)).CallID = c.id
			continue
		}
		t.turns.calls = append(t.turns.calls, c)
	}
}

func (t *target) started(e *entry) {
	id := e.text("callId")
	i := t.find(id)
	if i < 0 || t.turns.calls[i].started || t.turns.calls[i].name != e.text("name") || t.turns.calls[i].arguments != e.text("arguments") {
		t.broken(e, "the start of call %s does not match one call that a message asks for", quoted(id)).CallID = id
		return
	}
	t.turns.calls[i].started = true
}

// result takes the result of a call. Without a start it must be the one that a recovery makes up.
func (t *target) result(e *entry, turn, step int64) *repairID {
	if !e.appends() {
		if t.turns.turn == none {
			t.broken(e, "a replaced result stands outside of a turn")
		}
		return nil
	}
	t.inStep(e, turn, step)
	message, _ := e.obj()["message"].(object)
	source, _ := message["source"].(object)
	id, _ := source["callId"].(string)
	i := t.find(id)
	if i < 0 {
		t.broken(e, "a result of call %s, which is not asked for or has its result", quoted(id)).CallID = id
		return nil
	}
	started := t.turns.calls[i].started
	t.turns.calls = slices.Delete(t.turns.calls, i, i+1)
	if started || e.bad {
		return nil
	}
	number, ok := t.notStarted(e, message, id)
	if !ok {
		t.broken(e, "a result of call %s, whose start is not recorded, that is not exactly the one of TOOL_NOT_STARTED", quoted(id)).CallID = id
		return nil
	}
	return &repairID{e.ref, id, number}
}

// notStarted tells the one result that needs no start, and the number in its id.
func (t *target) notStarted(e *entry, message object, call string) (int64, bool) {
	failure, _ := e.obj()["error"].(object)
	if failure["name"] != "ToolNotStartedError" || failure["code"] != finding.ToolNotStarted || e.sources != nil {
		return 0, false
	}
	content, _ := message["content"].([]any)
	block := message
	if t.from < 4 {
		if len(content) == 0 {
			return 0, false
		}
		block, _ = content[0].(object)
		content, _ = block["content"].([]any)
	}
	if block["isError"] != true || len(content) != 1 {
		return 0, false
	}
	text, _ := content[0].(object)
	if text["type"] != "text" || text["text"] != notStartedText {
		return 0, false
	}
	return repairNumber(message["id"], call)
}

// placeHead follows the system prompt, which v2→v3 takes out of request/header and puts in front
// of all messages, inside of the step that is open then.
func (t *target) placeHead(e *entry) {
	h := &t.head
	switch e.typ {
	case "step/start":
		h.placed, h.turn, h.step = true, e.num("turn"), e.num("step")
	case "step/end", "turn/end":
		h.turn, h.step = none, none
	case "request/header":
		header, _ := e.obj()["header"].(object)
		prompt, _ := header["system"].(string)
		if prompt == h.prompt {
			return
		}
		if !h.placed || h.step == none {
			t.refuse(e.ref, 3, "request/header changes the system prompt outside of a step")
		}
		h.prompt = prompt
	case "user/message", "assistant/message", "tool/result":
		if !h.placed {
			t.refuse(e.ref, 3, "a message stands in front of the first step, where no system prompt can be placed")
			h.placed, h.step = true, none // said once
		}
	}
}
