package dsh

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

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

// compaction is the open one. Turn boundaries inside of it are no fault if the end of a seed
// comes before its own end, because that makes it void.
type compaction struct {
	open, summarized bool
	id               string
	command          any
	turn             int64
	crossed          []crossing
}

type crossing struct {
	ref session.Ref
	typ string
}

// named are the records and ids that a later record may name.
type named struct {
	inherited int64   // number of the last mark of an inherited part
	human     []int64 // user messages that a person wrote
	commands  []int64 // command/run and command/done
	runs      map[string]bool
	dispatch  map[string]*dispatch
	retries   []retry
	started   map[string]bool
}

// dispatch is a call that a program made.
type dispatch struct {
	root, parent, name string
	arguments          [32]byte
	started, settled   bool
}

type retry struct {
	turn, step, retry int64
	provider, key, id string
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

// to is the edge whose target validates the structure.
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

func (t *target) dispatched(e *entry) {
	if t.turns.turn == none {
		t.broken(e, "%s stands outside of a turn", e.typ)
	}
	n := &t.named
	if n.dispatch == nil {
		n.dispatch = map[string]*dispatch{}
	}
	root, parent, child := e.text("rootCallId"), e.text("parentCallId"), e.text("subCallId")
	known := n.dispatch[child]
	if known != nil && known.root != root {
		t.broken(e, "%s gives call %s another root", e.typ, quoted(child))
		return
	}
	if above := n.dispatch[parent]; parent != root && (above == nil || above.root != root) {
		t.broken(e, "%s names a parent that does not belong to its root", e.typ)
		return
	}
	raw, _ := json.Marshal(e.obj()["arguments"])
	now := dispatch{root, parent, e.text("name"), sha256.Sum256(raw), true, false}
	switch start := strings.HasSuffix(e.typ, "-start"); {
	case start && known != nil && known.started:
		t.broken(e, "%s starts call %s a second time", e.typ, quoted(child))
	case start:
		n.dispatch[child] = &now
	case known == nil || !known.started || *known != now:
		t.broken(e, "%s does not match one start of call %s", e.typ, quoted(child))
	default:
		known.settled = true
	}
}

// retried: retries of one turn, step, provider and policy are counted, and share an id that no
// other chain has.
func (t *target) retried(e *entry, turn, step int64) {
	s, n := &t.turns, &t.named
	current := s.step
	if current == none {
		current = s.nextStep - 1
	}
	r := retry{turn, step, e.num("retry"), e.text("provider"), e.text("policyKey"), e.text("retryId")}
	switch {
	case s.turn == none || turn != s.turn || step != current:
		t.broken(e, "llm/retry of step %d in turn %d stands where %s", step, turn, s.where())
	case !s.hasProvider || r.provider != s.provider:
		t.broken(e, "llm/retry names another provider than the request/header in front of it")
	default:
		want, id, used := int64(1), "", false
		for _, old := range n.retries {
			if old.turn == turn && old.step == step && old.provider == r.provider && old.key == r.key {
				want, id = old.retry+1, old.id
			}
			used = used || old.id == r.id
		}
		switch {
		case r.retry != want:
			t.broken(e, "llm/retry counts %d where %d comes next", r.retry, want)
		case want > 1 && id != r.id, want == 1 && used:
			t.broken(e, "llm/retry changes the id of its chain, or takes that of another")
		}
	}
	n.retries = append(n.retries, r)
}

func (t *target) retryStarted(e *entry, turn, step int64) {
	n := &t.named
	id, count := e.text("retryId"), e.num("retry")
	i := slices.IndexFunc(n.retries, func(r retry) bool { return r.id == id && r.retry == count })
	key := fmt.Sprintf("%d %s", count, id)
	switch {
	case i < 0:
		t.broken(e, "llm/retry-started pairs with no llm/retry")
	case n.retries[i].turn != turn || n.retries[i].step != step:
		t.broken(e, "llm/retry-started names another turn or step than its llm/retry")
	case n.started[key]:
		t.broken(e, "llm/retry-started stands twice")
	}
	if n.started == nil {
		n.started = map[string]bool{}
	}
	n.started[key] = true
}

func holds(list []int64, seq int64) bool { _, ok := slices.BinarySearch(list, seq); return ok }

func (t *target) titled(e *entry) {
	seqs, _ := e.obj()["messageSeqs"].([]any)
	source, _ := e.obj()["source"].(object)
	if e.typ == "session/title" && (len(seqs) == 0) != (source["kind"] == "user") {
		t.broken(e, "session/title cites messages exactly when no user gave it, and here it is the other way")
		return
	}
	for _, seq := range flatten(seqs) {
		if !holds(t.named.human, seq) {
			t.broken(e, "%s cites record %d, which is no message of a user", e.typ, seq)
			return
		}
	}
	if e.typ == "session/title-llm-request" && !e.bad && !titleRequest(e.obj()) {
		t.broken(e, "session/title-llm-request does not hold the one message that its plugin makes")
	}
}

func titleRequest(o object) bool {
	messages, _ := o["messages"].([]any)
	if len(messages) != 1 {
		return false
	}
	m, _ := messages[0].(object)
	source, _ := m["source"].(object)
	content, _ := m["content"].([]any)
	if m["role"] != "user" || source["kind"] != "plugin" || source["plugin"] != "dsh-session-title-llm" || len(content) != 1 {
		return false
	}
	block, _ := content[0].(object)
	return block["type"] == "text"
}

func (t *target) commandDone(e *entry) {
	id := e.text("commandId")
	if !t.named.runs[id] {
		t.broken(e, "command/done of %s has no command/run", quoted(id))
	} else if _, cites := e.obj()["sourceEventSeq"]; cites && (e.text("kind") != "success" || holds(t.named.commands, e.num("sourceEventSeq"))) {
		t.broken(e, "command/done cites a record that it cannot come from")
	}
	t.named.commands = append(t.named.commands, e.seq)
}

// said notes messages that titles may cite, and holds the checkpoint of a compaction against it.
func (t *target) said(e *entry) {
	source, _ := e.obj()["source"].(object)
	if source["kind"] == "user" {
		t.named.human = append(t.named.human, e.seq)
	}
	if !e.appends() && source["kind"] == "plugin" && source["plugin"] == "compact" && !t.turns.compaction.owns(source) {
		t.broken(e, "a message stands for compacted ones, and no compaction with its id is open")
	}
}

func (c *compaction) owns(o object) bool {
	return c.open && o["compactionId"] == c.id && o["sourceCommandId"] == c.command
}

// compacted follows a compaction.
func (t *target) compacted(d *decoder, e *entry, turn int64) {
	s := &t.turns
	c := &s.compaction
	o := e.obj()
	switch e.typ {
	case "compaction/start":
		if c.open {
			t.crossed()
			t.broken(e, "a compaction starts inside of another")
		} else if turn != s.turn {
			t.broken(e, "a compaction starts in turn %d where %s", turn, s.where())
		}
		*c = compaction{open: true, id: e.text("compactionId"), command: o["sourceCommandId"], turn: turn}
	case "compaction/prune":
		t.spans(d, e)
	case "compaction/summary":
		switch {
		case !c.owns(o):
			t.broken(e, "compaction/summary has no compaction/start with its id")
		case c.turn != s.turn:
			t.broken(e, "compaction/summary of turn %d stands where %s", c.turn, s.where())
		case c.summarized:
			t.broken(e, "a compaction has two summaries")
		default:
			t.spans(d, e)
		}
		c.summarized = true
	case "compaction/end":
		_, failed := o["error"]
		switch {
		case !c.owns(o):
			t.broken(e, "compaction/end has no compaction/start with its id")
		case turn != c.turn || c.turn != s.turn:
			t.broken(e, "compaction/end of turn %d stands where %s", turn, s.where())
		case !failed && !c.summarized:
			t.broken(e, "a compaction ends without error and without summary")
		}
		t.crossed()
		*c = compaction{}
	}
}

// crossed reports the turn boundaries inside of a compaction that is not void.
func (t *target) crossed() {
	for _, x := range t.turns.compaction.crossed {
		t.refuse(x.ref, t.validator(), "%s stands inside of a compaction", x.typ)
	}
	t.turns.compaction.crossed = nil
}

func (s *turns) finish(t *target) {
	if t.to >= 2 {
		t.crossed()
	}
}

// spans: what a compaction removes is one unbroken piece of the surface.
func (t *target) spans(d *decoder, e *entry) {
	if e.bad || t.blind {
		return
	}
	list, _ := e.obj()["shadowedSeqs"].([]any)
	seqs := flatten(list)
	if len(seqs) == 0 || t.from >= 3 && len(seqs) != len(list) {
		return
	}
	from, to := d.surface.find(seqs[0]), d.surface.find(seqs[len(seqs)-1])
	if from < 0 || to-from+1 != len(seqs) {
		t.broken(e, "the records that %s removes are no unbroken piece of what the model sees", e.typ)
		return
	}
	for i, n := range d.surface.nodes[from : to+1] {
		if n>>3 != seqs[i] {
			t.broken(e, "the records that %s removes are no unbroken piece of what the model sees", e.typ)
			return
		}
	}
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
