package dsh

import "github.com/sessfix/sessfix/format"

// toFour is the step from version 3 to version 4, as the source of later builds has it (session-format-v3-to-v4: migration,
// sources, tool-role, content, extension-identities). No client of that version could be asked.
type toFour struct {
	reader
	out     format.Out
	numbers numberMap
	next    int64
	turns   restart
	path    string // of the file that the chain began with
	id      string
	time    string // of the last record
	catalog map[string]child
}

func beginFour(s format.Source) (format.Stage, error) {
	return &toFour{turns: restart{turn: none, step: none}, path: s.Path, catalog: map[string]child{}}, nil
}

func (s *toFour) End(out format.Out) error { return s.list(out) }

func (s *toFour) Record(l format.Line, out format.Out) error {
	s.out = out
	r, err := s.read(l)
	if err != nil {
		return err
	}
	if r == nil {
		r := &s.reader.r
		s.id, _ = r.text(r.get(r.root(), "id"))
		s.time = string(r.of(r.get(r.root(), "createdAt")))
		return out.Put(s.header(4, nil))
	}
	s.time = r.time
	s.listed(r)
	if ended, _ := s.turns.see(r); ended != none {
		raw := fill("turn/end", s.next, r.time, endTurn(ended), "")
		s.next++
		if err := out.Put(format.Line{Raw: raw, N: -1, Why: whyEnded}); err != nil {
			return err
		}
	}
	if !knownToThree(r.typ) {
		return s.foreign(r)
	}
	if err := (remapping{&s.numbers, true, r.seq}).remap(r); err != nil {
		return err
	}
	if err := s.produce(r); err != nil {
		return err
	}
	if err := s.contents(r); err != nil {
		return err
	}
	if r.typ == "tool/result" {
		if err := s.lift(r); err != nil {
			return err
		}
	}
	return s.put(r)
}

func (s *toFour) put(r *logRecord) error {
	s.numbers.put(r.seq, s.next)
	r.put(r.get(r.root(), "seq"), s.next)
	s.next++
	return s.out.Put(r.line())
}

// knownToThree tells the types of version 3. What later builds write of a fork is in none of its lists.
func knownToThree(typ string) bool {
	ev, ok := vocabulary[typ]
	return ok && ev.since <= 3 && ev.till >= 3 && typ != "fork/session-source" && typ != "plugin:fork/session-source"
}

// foreign gives an event that the client does not know, and need not, the name of a plugin's.
func (s *toFour) foreign(r *logRecord) error {
	if r.kind(r.get(r.root(), "ignorable")) != 't' {
		return format.Refuse(r.n, "event type %q is not known to version 3", short([]byte(r.typ)))
	}
	r.prefix(r.get(r.root(), "type"), "plugin:")
	return s.put(r)
}

// prefix puts text in front of what a string says.
func (w *rewrite) prefix(v span, text string) {
	if w.kind(v) == '"' {
		w.edits = append(w.edits, change{span{v.from + 1, v.from + 1}, []byte(text)})
	}
}

// eachMessage goes over the messages that a record carries.
func eachMessage(r *logRecord, yield func(message span)) {
	switch r.typ {
	case "user/message":
		yield(r.data)
	case "assistant/message", "tool/result", "system/message":
		yield(r.get(r.data, "message"))
	case "agent/inbox/spliced", "session/title-llm-request":
		name := "inserted"
		if r.typ != "agent/inbox/spliced" {
			name = "messages"
		}
		r.each(r.get(r.data, name), func(_, message span) bool { yield(message); return true })
	}
}

// producers are the plugins that version 4 calls otherwise.
var producers = map[string]string{
	"compact": "compact-checkpoint", "tools-code-mode": "ptc-mode", "tools-ptc": "ptc-mode",
	"dsh-compaction-basic": "compact-basic", promptPlugin: "runtime-context",
}

const promptPlugin = "@deepseek-ai/dsh-system-prompt"

// sameProducers are the plugins of the client itself that keep their name.
var sameProducers = map[string]bool{
	"agent-instructions": true, "session-reference": true, "team-message": true, "goal": true, "skill-invocation": true,
	"skill-catalog": true, "coordinator": true, "subagent-report": true, "subagent-settled": true, "webhook": true,
	"agent-message": true, "model-selection": true, "plan-mode": true, "time-context": true, "tmux-context": true,
	"user-approval": true, "repeat-tool-reminder": true, "tool-cordis": true, "cordis-host-runner": true, "tool-goal": true,
	"tool-jobs": true, "hooks-codex": true, "hooks-claude-code": true, "schedule": true, "dsh-session-title-llm": true,
}

// producer is what version 4 calls a plugin.
func producer(plugin, role string) string {
	switch to := producers[plugin]; {
	case plugin == promptPlugin && role == "system":
		return "system-prompt"
	case to != "":
		return to
	case sameProducers[plugin]:
		return plugin
	}
	return "plugin:" + plugin
}

// produce names the plugin that a message comes from by its kind.
func (s *toFour) produce(r *logRecord) error {
	var err error
	eachMessage(r, func(message span) {
		source := r.get(message, "source")
		if r.kind(source) != '{' || !r.is(r.get(source, "kind"), "plugin") {
			return
		}
		plugin, ok := r.text(r.get(source, "plugin"))
		if !ok {
			err = format.Refuse(r.n, "the source of a message is a plugin without name")
			return
		}
		role, _ := r.text(r.get(message, "role"))
		r.set(r.get(source, "kind"), quote(producer(plugin, role)))
		r.reform(source, []string{"plugin"})
	})
	return err
}

// contentKinds are those of version 3.
var contentKinds = map[string]bool{"text": true, "reasoning": true, "image": true, "file": true, "tool-call": true, "tool-result": true}

// contents gives kinds of content that the client does not know the name of a plugin's.
func (s *toFour) contents(r *logRecord) error {
	if r.typ == "request/header" {
		return s.tools(r)
	}
	eachMessage(r, func(message span) { s.blocks(r, r.get(message, "content")) })
	switch r.typ {
	case "tool/result":
		r.each(r.get(r.data, "message", "content"), func(_, block span) bool {
			s.blocks(r, r.get(block, "content"))
			return true
		})
	case "compaction/summary":
		s.blocks(r, r.get(r.data, "summary"))
		s.blocks(r, r.get(r.data, "rawOutput"))
	case "tool/ptc-dispatch":
		s.blocks(r, r.get(r.data, "content"))
	case "team/message/queued":
		s.blocks(r, r.get(r.data, "message", "content"))
	case "assistant/attempt":
		s.streamed(r)
	case "assistant/message":
		s.streamed(r)
	}
	return nil
}

func (s *toFour) blocks(r *logRecord, content span) {
	r.each(content, func(_, block span) bool { s.tag(r, r.get(block, "type")); return true })
}

func (s *toFour) tag(r *logRecord, kind span) {
	if name, ok := r.text(kind); ok && !contentKinds[name] {
		r.prefix(kind, "plugin:")
	}
}

// streamed are the blocks that a stream begins and ends.
func (s *toFour) streamed(r *logRecord) {
	r.each(r.get(r.data, "stream"), func(_, entry span) bool {
		if chunk := r.get(entry, "chunk"); r.is(r.get(entry, "type"), "chunk") {
			switch typ := r.get(chunk, "type"); {
			case r.is(typ, "block-end"):
				s.tag(r, r.get(chunk, "block", "type"))
			case r.is(typ, "block-start"):
				s.tag(r, r.get(chunk, "blockType"))
			}
		}
		return true
	})
}

// tools refuses a definition with a member that has a meaning only from version 4 on.
func (s *toFour) tools(r *logRecord) error {
	var err error
	r.each(r.get(r.data, "header", "tools"), func(_, tool span) bool {
		if !r.get(tool, "deferLoading").none() {
			err = format.Refuse(r.n, "request/header defines a tool with a deferLoading of its own")
		}
		return err == nil
	})
	return err
}

// lift makes the result of a call a message of its own role. What it wrapped stands in the message itself; members that
// nothing explains keep the name of their owner.
func (s *toFour) lift(r *logRecord) error {
	message := r.get(r.data, "message")
	role, content := r.get(message, "role"), r.get(message, "content")
	if !r.is(role, "user") {
		return nil
	}
	var wrapper span
	r.each(content, func(_, block span) bool { wrapper = block; return true })
	call, failed, inner := r.get(wrapper, "toolCallId"), r.get(wrapper, "isError"), r.get(wrapper, "content")
	id, _ := r.text(call)
	switch {
	case r.size(content) != 1 || !r.is(r.get(wrapper, "type"), "tool-result") || id == "" || !r.is(r.get(message, "source", "callId"), id):
		return format.Refuse(r.n, "the result is not exactly one of the call that its source names")
	case !failed.none() && r.kind(failed) != 't' && r.kind(failed) != 'f':
		return format.Refuse(r.n, "isError of a result is neither true nor false")
	case r.kind(inner) != '[':
		return format.Refuse(r.n, "the result has no content")
	}
	nested := false
	r.each(inner, func(_, block span) bool {
		nested = nested || r.is(r.get(block, "type"), "tool-result")
		return true
	})
	if nested {
		return format.Refuse(r.n, "a result stands inside of a result")
	}
	add := []string{`"toolCallId":` + string(r.of(call))}
	if !failed.none() {
		add = append(add, `"isError":`+string(r.of(failed)))
	}
	r.each(wrapper, func(key, v span) bool {
		if name, _ := r.text(key); name != "type" && name != "toolCallId" && name != "content" && name != "isError" {
			add = append(add, `"plugin:result:`+string(r.raw[key.from+1:key.end])+`:`+r.piece(v))
		}
		return true
	})
	r.each(message, func(key, _ span) bool {
		if name, _ := r.text(key); name != "id" && name != "role" && name != "source" && name != "content" {
			r.prefix(key, "plugin:message:")
		}
		return true
	})
	r.set(role, `"tool"`)
	r.set(content, r.piece(inner))
	r.reform(message, nil, add...)
	return nil
}
