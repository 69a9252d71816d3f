package dsh

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/sessfix/sessfix/format"
)

// toThree is the step from version 2 to version 3 (session-format-v2-to-v3, migration.ts): the system prompt moves out of
// request/header and becomes the first message that the model sees.
type toThree struct {
	reader
	out     format.Out
	numbers numberMap
	next    int64
	id      string
	open    bool   // a step is open
	at      string // its turn and step
	head    int64  // number of the system message, -1 = none
	prompt  string
	made    map[string]bool // ids that the step made up
	seen    map[string]bool // ids of the log that look like it
}

const madeID = "v2-to-v3-system-"

func beginThree(format.Source) (format.Stage, error) {
	return &toThree{head: none, made: map[string]bool{}, seen: map[string]bool{}}, nil
}

func (s *toThree) Record(l format.Line, out format.Out) error {
	s.out = out
	r, err := s.read(l)
	if err != nil {
		return err
	}
	if r == nil {
		return s.begin()
	}
	if err := s.identify(r); err != nil {
		return err
	}
	if r.typ == "request/header" {
		if err := s.request(r); err != nil {
			return err
		}
	}
	if surfaced(r.typ) && s.head == none {
		return format.Refuse(r.n, "a message stands in front of the first step, where no system prompt can be placed")
	}
	if err := s.put(r); err != nil {
		return err
	}
	switch r.typ {
	case "step/start":
		turn, ok1 := r.whole(r.get(r.data, "turn"))
		step, ok2 := r.whole(r.get(r.data, "step"))
		if !ok1 || !ok2 || turn < 1 || step < 1 {
			return format.Refuse(r.n, "step/start names no turn and step")
		}
		s.open = true
		s.at = `"turn":` + string(r.of(r.get(r.data, "turn"))) + `,"step":` + string(r.of(r.get(r.data, "step")))
		if s.head == none {
			return s.system(r, `""`)
		}
	case "step/end", "turn/end":
		s.open = false
	}
	return nil
}

func (s *toThree) End(format.Out) error { return nil }

func surfaced(typ string) bool {
	return typ == "user/message" || typ == "assistant/message" || typ == "tool/result"
}

func (s *toThree) begin() error {
	r := &s.reader.r
	s.id, _ = r.text(r.get(r.root(), "id"))
	if preset := r.get(r.root(), "agentPreset"); r.is(preset, "code") {
		r.set(preset, `"ptc"`)
	}
	return s.out.Put(s.header(3, nil))
}

// identify refuses a message whose id is one that this step makes up. Only ids that begin like one need be kept.
func (s *toThree) identify(r *logRecord) error {
	taken := false
	eachMessage(r, func(message span) {
		id, _ := r.text(r.get(message, "id"))
		if strings.HasPrefix(id, madeID) {
			s.seen[id] = true
			taken = taken || s.made[id]
		}
	})
	if taken {
		return format.Refuse(r.n, "a message has the id that this step gives to a system message")
	}
	return nil
}

// request takes the system prompt out of a request. Where it is another one than before, a message puts it in the place
// of that.
func (s *toThree) request(r *logRecord) error {
	header := r.get(r.data, "header")
	raw := `""`
	if system := r.get(header, "system"); r.kind(system) == '"' {
		raw = string(r.of(system))
	}
	prompt, _ := r.text(r.get(header, "system"))
	if prompt != s.prompt {
		if !s.open {
			return format.Refuse(r.n, "request/header changes the system prompt outside of a step")
		}
		if err := s.system(r, raw); err != nil {
			return err
		}
	}
	r.reshape(header, func(key span) bool {
		if r.named(key, "system") {
			return true
		}
		if !r.named(key, "tools") && !r.named(key, "adapterDefaults") {
			return false
		}
		name, _ := r.text(key)
		v := r.get(header, name)
		return (r.kind(v) == '[' || r.kind(v) == '{') && r.size(v) == 0
	})
	return nil
}

// system writes a system message in front of what will be written next. Its id is a hash of the session's and of the
// record's for which it stands.
func (s *toThree) system(r *logRecord, text string) error {
	sum := sha256.Sum256([]byte(`["session-format-v2-to-v3",` + quote(s.id) + `,` + num(r.seq) + `,` + quote(r.typ) + `]`))
	id := madeID + hex.EncodeToString(sum[:])
	if s.seen[id] || s.made[id] {
		return format.Refuse(r.n, "a message has the id that this step gives to a system message")
	}
	s.made[id] = true
	content := ""
	if text != `""` {
		content = `{"type":"text","text":` + text + `}`
	}
	place := `,"surfaceOp":"append"`
	if s.head != none {
		place = `,"sourceEventSeqs":[` + num(s.head) + `],"surfaceOp":{"op":"replace","startSeq":` + num(s.head) + `,"endSeq":` + num(s.head) + `}`
	}
	data := `{` + s.at + `,"message":{"id":"` + id + `","role":"system","source":{"kind":"plugin","plugin":"@deepseek-ai/dsh-system-prompt"},"content":[` + content + `]}}`
	s.head = s.next
	rw := rewrite{raw: []byte(text)}
	s.prompt, _ = rw.text(rw.root())
	s.next++
	return s.out.Put(format.Line{Raw: fill("system/message", s.head, r.time, data, place), N: -1})
}

// put writes a record under its new number, in the words of version 3.
func (s *toThree) put(r *logRecord) error {
	if err := (remapping{&s.numbers, true, r.seq}).remap(r); err != nil {
		return err
	}
	r.each(r.get(r.root(), "surfaceOp"), func(key, _ span) bool {
		for _, name := range [...]string{"start", "end"} {
			if r.named(key, name) {
				r.set(key, `"`+name+`Seq"`)
			}
		}
		return true
	})
	switch r.typ {
	case "tool/code-dispatch-start":
		r.retype("tool/ptc-dispatch-start")
	case "tool/code-dispatch":
		r.retype("tool/ptc-dispatch")
	case "agent-preset/selected":
		if preset := r.get(r.data, "agentPreset"); r.is(preset, "code") {
			r.set(preset, `"ptc"`)
		}
	case "user/message", "agent/inbox/spliced", "session/title-llm-request":
		eachMessage(r, func(message span) {
			plugin := r.get(message, "source", "plugin")
			if r.is(r.get(message, "source", "kind"), "plugin") && r.is(plugin, "tools-code-mode") {
				r.set(plugin, `"tools-ptc"`)
			}
		})
	}
	s.numbers.put(r.seq, s.next)
	r.put(r.get(r.root(), "seq"), s.next)
	s.next++
	return s.out.Put(r.line())
}
