package codex

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// line is a record as it is told: an item for the model, bare or in its envelope, or what the display gets.
type line struct {
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`
	// Of the header of the oldest rollouts.
	Instructions string `json:"instructions"`
}

// telling tells one rollout. It remembers the instructions, the model that the newest turn names, which calls were asked for, and
// what people said, as far as an old compaction keeps it.
type telling struct {
	generation   string
	begun        bool // the header was seen
	instructions string
	model        string
	calls        known
	heard        heard
}

// NewTelling begins with the records of one rollout.
func (d dialect) NewTelling(format.Place) format.Telling {
	return &telling{generation: d.generation}
}

// Tell says what a record says. Response items are what the model gets. Of the events for the display only those are told
// that repeat no item, and they are for people.
func (t *telling) Tell(r *session.Record, out []format.Message) []format.Message {
	raw := r.Raw
	if r.Marks&session.Salvaged != 0 {
		raw = scan.MendRecord(raw)
	}
	var s line
	if !decoded(raw, &s) {
		return out
	}
	first := len(out)
	if t.generation == bare {
		out = t.bare(&s, raw, out)
	} else {
		out = t.enveloped(&s, out)
	}
	at := millis([]byte(s.Timestamp))
	for i := range out[first:] {
		out[first+i].Time = at
	}
	return out
}

func (t *telling) enveloped(s *line, out []format.Message) []format.Message {
	switch s.Type {
	case "session_meta":
		return t.header(s.Payload, out)
	case "turn_context":
		var c struct {
			Model string `json:"model"`
		}
		if decoded(s.Payload, &c) && c.Model != "" {
			t.model = c.Model
		}
	case "response_item":
		if m, ok := t.item(s.Payload); ok {
			return append(out, m)
		}
	case "inter_agent_communication":
		if m, ok := t.between(s.Payload); ok {
			return append(out, m)
		}
	case "compacted":
		return t.compacted(s.Payload, out)
	case "event_msg":
		return t.event(s.Payload, out)
	}
	return out
}

// bare tells a record of the oldest rollouts: the header, or an item without envelope.
func (t *telling) bare(s *line, raw []byte, out []format.Message) []format.Message {
	if s.Type == "" {
		if !t.begun {
			t.begun, t.instructions = true, s.Instructions
			out = t.instruct(out)
		}
		return out
	}
	if m, ok := t.item(raw); ok {
		return append(out, m)
	}
	return out
}

// header tells the instructions that every request of the thread begins with. A later header is a forked parent's. Those of a
// rollout that begins in another stand at the beginning of that.
func (t *telling) header(payload json.RawMessage, out []format.Message) []format.Message {
	var h struct {
		Base *struct {
			Text string `json:"text"`
		} `json:"base_instructions"`
		Instructions string          `json:"instructions"`
		From         json.RawMessage `json:"history_base"`
	}
	if t.begun || !decoded(payload, &h) {
		return out
	}
	t.begun, t.instructions = true, h.Instructions
	if h.Base != nil {
		t.instructions = h.Base.Text
	}
	if len(h.From) > 0 && h.From[0] == '{' {
		return out
	}
	return t.instruct(out)
}

// instruct tells the instructions, where there are any.
func (t *telling) instruct(out []format.Message) []format.Message {
	if t.instructions == "" {
		return out
	}
	blocks := []format.Block{{Kind: format.Text, Text: t.instructions}}
	return append(out, format.Message{Role: format.System, For: format.ModelOnly, Blocks: blocks})
}

// between tells what one agent said to another; the model gets it as an agent_message.
func (t *telling) between(payload json.RawMessage) (format.Message, bool) {
	var c struct {
		ID      string `json:"id"`
		From    string `json:"author"`
		To      string `json:"recipient"`
		Content string `json:"content"`
		Sealed  string `json:"encrypted_content"`
	}
	if !decoded(payload, &c) {
		return format.Message{}, false
	}
	t.heard.pass()
	m := format.Message{Role: format.User, ID: c.ID, Title: fromTo(c.From, c.To)}
	if c.Content != "" {
		m.Blocks = append(m.Blocks, format.Block{Kind: format.Text, Text: c.Content})
	}
	if c.Sealed != "" {
		m.Blocks = append(m.Blocks, sealed("a sealed message", c.Sealed))
	}
	return m, len(m.Blocks) > 0
}

func fromTo(from, to string) string {
	return "from " + from + " to " + to
}

// manyCalls bounds how many calls are remembered: at most twice as many.
const manyCalls = 2048

// known are the newest calls that items asked for, with the classes in which they did.
type known struct{ now, before map[string]uint8 }

func (k *known) add(id string, class uint8) {
	if id == "" || len(id) > 1000 {
		return
	}
	if len(k.now) == manyCalls {
		k.now, k.before = nil, k.now
	}
	if k.now == nil {
		k.now = map[string]uint8{}
	}
	k.now[id] |= 1 << class
}

func (k *known) has(id string) bool { return k.now[id]|k.before[id] > 0 }

// answers tells whether an output of a class can be that of a call. Of one that is not remembered nobody can tell.
func (k *known) answers(id string, class uint8) bool {
	return !k.has(id) || (k.now[id]|k.before[id])>>class&1 == 1
}

// decoded reads a piece of a record. A member that is of another kind than the client writes is left out.
func decoded(raw json.RawMessage, v any) bool {
	err := json.Unmarshal(raw, v)
	var kind *json.UnmarshalTypeError
	return err == nil || errors.As(err, &kind)
}

// manyElements bounds how many elements of a list are looked at.
const manyElements = 20_000

// elements are the first of a list; ok is false for what is none.
func elements(raw json.RawMessage) (out []json.RawMessage, ok bool) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.Token()
	for len(out) < manyElements && d.More() {
		var e json.RawMessage
		if d.Decode(&e) != nil {
			return nil, false
		}
		out = append(out, e)
	}
	return out, true
}

// words are the strings of a list.
func words(raw json.RawMessage) (out []string) {
	list, _ := elements(raw)
	for _, e := range list {
		out = append(out, textIn(e))
	}
	return out
}

var _ format.Teller = dialect{}
