package dsh

import "github.com/sessfix/sessfix/format"

// toOne is the step from version 0 to version 1 (session-format-v0-to-v1, migration.ts). The layout is the same; what
// early builds wrote in another form gets the present one.
type toOne struct {
	reader
	legacy
	// results are the ids of results, which one of the old form takes over that stands in place of it.
	results map[int64]string
}

func beginOne(format.Source) (format.Stage, error) { return &toOne{results: map[int64]string{}}, nil }

func (s *toOne) Record(l format.Line, out format.Out) error {
	r, err := s.read(l)
	if err != nil {
		return err
	}
	if r == nil {
		s.session, _ = s.r.text(s.r.get(s.r.root(), "id"))
		return out.Put(s.header(1, nil))
	}
	if err := s.renew(r); err != nil {
		return err
	}
	return out.Put(r.line())
}

func (s *toOne) End(format.Out) error { return nil }

// renew brings a record of an early build into the present form.
func (s *toOne) renew(r *logRecord) error {
	if r.kind(r.data) != '{' {
		return nil
	}
	if to := renamed[r.typ]; to != "" && r.typ != "steering/message" {
		r.retype(to)
		r.typ = to
	}
	switch r.typ {
	case "turn/start":
		return s.turnStart(r)
	case "turn/end":
		return s.turnEnd(r)
	case "request/header":
		return s.request(r)
	case "steering/message":
		return s.steer(r)
	case "llm/retry", "compaction/start", "compaction/summary", "compaction/end", "session/end-seed":
		s.named(r)
	case "user/message":
		s.user(r, r.data)
	case "assistant/message":
		s.assistant(r)
	case "tool/result":
		return s.toolResult(r)
	}
	return nil
}

// parsed is the record's payload as the judge of migrations reads it, for the rules that both share.
func (r *logRecord) parsed() object {
	v, _ := parseJSON(r.of(r.data))
	if o, ok := v.(object); ok {
		return o
	}
	return object{}
}

func (s *toOne) turnStart(r *logRecord) error {
	if r.get(r.data, "trigger").none() {
		return nil
	}
	if problem := oldTurnStart(r.parsed()); problem != "" {
		return format.Refuse(r.n, "turn/start %s", problem)
	}
	r.reform(r.data, []string{"trigger"})
	return nil
}

// turnEnd writes reasons that have changed their form.
func (s *toOne) turnEnd(r *logRecord) error {
	reason := r.get(r.data, "reason")
	kind, _ := r.text(r.get(reason, "kind"))
	old := kind == "disposed" || kind == "aborted" && r.get(reason, "reason").none() || kind == "error" && r.get(reason, "error").none()
	if !old {
		return nil
	}
	if problem := oldTurnEnd(r.parsed()); problem != "" {
		return format.Refuse(r.n, "turn/end %s", problem)
	}
	switch kind {
	case "aborted":
		r.set(reason, `{"kind":"aborted","reason":{"kind":"legacy"}}`)
	case "disposed":
		r.set(reason, `{"kind":"aborted","reason":{"kind":"disposed"}}`)
	case "error":
		failure := string(r.of(r.get(reason, "failure")))
		if failure == "" {
			code := `"UNKNOWN"`
			if c := r.get(reason, "code"); !c.none() {
				code = string(r.of(c))
			}
			failure = `{"message":` + string(r.of(r.get(reason, "message"))) + `,"code":` + code + `}`
		}
		r.set(reason, `{"kind":"error","error":`+failure+`}`)
	}
	return nil
}

func (s *toOne) request(r *logRecord) error {
	header := r.get(r.data, "header")
	if r.is(r.get(r.data, "reason"), "fallback") {
		return format.Refuse(r.n, `request/header has the reason "fallback", which every build refuses`)
	}
	if !r.get(header, "messagePrefix").none() {
		r.reform(header, []string{"messagePrefix"})
	}
	return nil
}

// steer makes a user message of one that was given to a running turn.
func (s *toOne) steer(r *logRecord) error {
	if _, problem := s.steering(r.parsed(), r.seq); problem != "" {
		return format.Refuse(r.n, "steering/message %s", problem)
	}
	r.retype("user/message")
	r.typ = "user/message"
	if message := r.get(r.data, "message"); !message.none() {
		inner := logRecord{rewrite: rewrite{raw: r.of(message)}, seq: r.seq}
		s.user(&inner, inner.root())
		r.set(r.data, string(inner.bytes()))
		return nil
	}
	s.mark(r, r.get(r.data, "source"))
	r.reform(r.data, []string{"turn"}, `"id":`+quote(s.messageID(r.seq)), `"role":"user"`)
	return nil
}

// named gives retries and compactions the ids that early builds did not write.
func (s *toOne) named(r *logRecord) {
	o, name, give := r.parsed(), "compactionId", func(o object) { s.giveCompaction(r.typ, o, r.seq) }
	if r.typ == "llm/retry" {
		name, give = "retryId", func(o object) { s.giveRetry(o, r.seq) }
	}
	had := hasAny(o, name)
	give(o)
	if id, ok := o[name].(string); ok && !had {
		r.reform(r.data, nil, `"`+name+`":`+quote(id))
	}
}

// user gives a message its identity, and that of the compaction for which it stands.
func (s *toOne) user(r *logRecord, message span) {
	s.mark(r, r.get(message, "source"))
	for _, name := range [...]string{"id", "role", "message"} {
		if !r.get(message, name).none() {
			return
		}
	}
	if !r.get(message, "content").none() && !r.get(message, "source").none() {
		r.reform(message, nil, `"id":`+quote(s.messageID(r.seq)), `"role":"user"`)
	}
}

// mark names the open compaction in the source of a message that stands for what it removed.
func (s *toOne) mark(r *logRecord, source span) {
	if s.compaction != "" && r.is(r.get(source, "kind"), "plugin") && r.is(r.get(source, "plugin"), "compact") && r.get(source, "compactionId").none() {
		r.reform(source, nil, `"compactionId":`+quote(s.compaction))
	}
}

// assistant wraps an answer that was written before messages had ids.
func (s *toOne) assistant(r *logRecord) {
	content, source := r.get(r.data, "content"), r.get(r.data, "provenance")
	if content.none() || r.kind(source) != '{' || !r.get(r.data, "message").none() {
		return
	}
	from := rewrite{raw: r.of(source)}
	from.reform(from.root(), []string{"kind"}, `"kind":"model"`)
	r.reform(r.data, []string{"content", "provenance"}, `"message":{"id":`+quote(s.messageID(r.seq))+`,"role":"assistant","content":`+
		string(r.of(content))+`,"source":`+string(from.bytes())+`}`)
}

// toolResult wraps a result that was written before messages had ids. One that stands in place of another keeps its id.
func (s *toOne) toolResult(r *logRecord) error {
	call, content, failed := r.get(r.data, "callId"), r.get(r.data, "content"), r.get(r.data, "isError")
	message := r.get(r.data, "message")
	if !message.none() || r.kind(call) != '"' || content.none() || r.kind(failed) != 't' && r.kind(failed) != 'f' {
		if id, ok := r.text(r.get(message, "id")); ok {
			s.results[r.seq] = id
		}
		return nil
	}
	id := s.messageID(r.seq)
	if op := r.get(r.root(), "surfaceOp"); r.is(r.get(op, "op"), "replace") {
		start, _ := r.whole(r.get(op, "start"))
		var ok bool
		if id, ok = s.results[start]; !ok {
			return format.Refuse(r.n, "a result stands in place of record %d, which is no result with an id", start)
		}
	}
	s.results[r.seq] = id
	name := string(r.of(call))
	r.reform(r.data, []string{"callId", "content", "isError"}, `"message":{"id":`+quote(id)+`,"role":"user","content":[{"type":"tool-result","toolCallId":`+
		name+`,"content":`+string(r.of(content))+`,"isError":`+string(r.of(failed))+`}],"source":{"kind":"tool","callId":`+name+`}}`)
	return nil
}
