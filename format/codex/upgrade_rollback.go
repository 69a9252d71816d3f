package codex

import (
	"bytes"
	"iter"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
)

// takenBack tells which records of a legacy rollout are taken back by a thread_rolled_back behind them, nil where none
// is. A paginated rollout has no such record: the client's migration leaves out what was taken back, and so is done here.
//
// What a person says begins something that can be taken back; the turn that it stands in belongs to it, and so do records
// that name that turn later on.
func takenBack(records func() iter.Seq2[format.Line, error]) ([]bool, error) {
	if records == nil {
		return nil, nil
	}
	any := false
	for l, err := range records() {
		if err != nil {
			return nil, err
		}
		if any = bytes.Contains(l.Raw, []byte(`"thread_rolled_back"`)); any {
			break
		}
	}
	if !any {
		return nil, nil
	}
	k := &taker{turns: map[string]int{}}
	for l, err := range records() {
		if err != nil {
			return nil, err
		}
		if err := k.record(l); err != nil {
			return nil, err
		}
	}
	for n, b := range k.of {
		if b >= 0 && k.dead[b] {
			k.gone[n] = true
		}
	}
	return k.gone, nil
}

// taker goes over a rollout and notes what each record belongs to: the number of a beginning, -1 for none.
type taker struct {
	of      []int
	gone    []bool
	dead    []bool         // of each beginning
	loose   []bool         // of each: no turn was open
	stack   []int          // the beginnings that stand
	active  string         // the open turn
	turns   map[string]int // the beginning that a turn belongs to
	turn    []int          // records of the open turn that nothing was said in yet
	context []int          // records that the client put in front of what is said next
	said    []byte         // what was said in the record in front, and its beginning
	saidAt  int
	packs   []pack
}

// pack is a compaction: how many beginnings stood in front of it, and the one that it belongs to.
type pack struct {
	depth, of int
}

func (k *taker) record(l format.Line) error {
	n := len(k.of)
	k.of, k.gone = append(k.of, k.top()), append(k.gone, false)
	said := k.said
	k.said = nil
	f, err := read(l.Raw)
	if err != nil || !f.enveloped() {
		return nil
	}
	switch kind := string(f.Str(kKind)); string(f.Str(kType)) {
	case "session_meta", "security_risk_score":
		k.of[n] = -1
	case "response_item":
		k.item(n, l.Raw, f)
	case "compacted":
		k.of[n] = -1
		if b, ok := k.turns[k.active]; ok {
			k.of[n] = b
		}
		k.packs = append(k.packs, pack{len(k.stack), k.of[n]})
	case "turn_context":
		k.waits(n)
	case "token_usage_record":
		k.belongs(n, string(f.Str(kTurn)))
	case "inter_agent_communication", "inter_agent_communication_metadata":
		k.begin(n)
	case "event_msg":
		return k.event(n, l, f, kind, said)
	}
	return nil
}

func (k *taker) event(n int, l format.Line, f *fields, kind string, said []byte) error {
	turn := string(f.Str(kTurn))
	switch kind {
	case "thread_rolled_back":
		k.gone[n] = true
		back, ok := f.count(kTurnsBack)
		if !ok {
			return format.Refuse(l.N, "it takes turns back, and does not say how many")
		}
		return k.back(l.N, back)
	case "task_started", "turn_started":
		k.active, k.turn = turn, append(k.turn[:0], n)
	case "task_complete", "turn_complete", "turn_aborted":
		k.belongs(n, turn)
		if turn != "" && turn == k.active {
			k.active, k.turn = "", k.turn[:0]
		}
	case "user_message":
		if said != nil && bytes.Equal(said, spoken(l.Raw)) {
			k.of[n] = k.saidAt
			break
		}
		k.begin(n)
	case "item_completed", "exec_command_end", "patch_apply_end", "dynamic_tool_call_response", "entered_review_mode", "exited_review_mode":
		k.belongs(n, turn)
	default:
		k.belongs(n, "")
	}
	return nil
}

// item notes what is said to the model, and by whom.
func (k *taker) item(n int, raw []byte, f *fields) {
	if string(f.Str(kKind)) == "agent_message" {
		k.begin(n)
		return
	}
	if string(f.Str(kKind)) != "message" {
		return
	}
	list, _ := parts(raw, int(f.At(kPayload).Off))
	text, _ := said(raw, list)
	switch role := string(f.Str(kRole)); {
	case role == "user" && !given(text):
		k.begin(n)
		k.said, k.saidAt = append([]byte{}, scan.Unescape(nil, text)...), k.of[n]
	case role == "user", role == "developer" && aside(text):
		k.context = append(k.context, n)
	}
}

// given tells words that the client put into a person's mouth.
func given(text []byte) bool {
	return aside(text) || bytes.HasPrefix(bytes.TrimSpace(text), []byte("# AGENTS.md instructions"))
}

// spoken is the text of a user_message.
func spoken(raw []byte) []byte {
	list, _ := parts(raw, blank(raw, 0))
	payload, _ := named(list, "payload")
	inner, _ := parts(raw, payload.from)
	m, _ := named(inner, "message")
	return append([]byte{}, scan.Unescape(nil, m.inside(raw))...)
}

func (k *taker) top() int {
	if len(k.stack) == 0 {
		return -1
	}
	return k.stack[len(k.stack)-1]
}

// begin notes that something begins that can be taken back.
func (k *taker) begin(n int) {
	b := len(k.dead)
	k.dead, k.loose = append(k.dead, false), append(k.loose, k.active == "")
	if len(k.stack) > 0 {
		for _, c := range k.context {
			k.of[c] = b
		}
	}
	for _, c := range k.turn {
		k.of[c] = b
	}
	k.context, k.turn = k.context[:0], k.turn[:0]
	k.of[n] = b
	k.stack = append(k.stack, b)
	if k.active != "" {
		k.turns[k.active] = b
	}
}

// belongs puts a record to the turn that it names.
func (k *taker) belongs(n int, turn string) {
	if b, ok := k.turns[turn]; ok && turn != "" {
		k.of[n] = b
		return
	}
	k.waits(n)
}

// waits notes a record of a turn in which nothing was said yet.
func (k *taker) waits(n int) {
	if _, ok := k.turns[k.active]; k.active != "" && !ok {
		k.turn = append(k.turn, n)
	}
}

// back takes the last beginnings back.
func (k *taker) back(n, count int64) error {
	if count == 0 {
		return nil
	}
	left := int(max(0, int64(len(k.stack))-count))
	for _, b := range k.stack[left:] {
		if k.dead[b] = true; k.loose[b] && len(k.packs) > 0 {
			return format.Refuse(n, "it takes back turns without a record of their own, behind a compaction: the client itself makes several things of that")
		}
	}
	k.stack = k.stack[:left]
	for _, p := range k.packs {
		if p.depth > left || p.of >= 0 && k.dead[p.of] {
			return format.Refuse(n, "it takes back turns that a compaction has already put into a summary")
		}
	}
	k.active, k.said = "", nil
	k.turn, k.context = k.turn[:0], k.context[:0]
	return nil
}
