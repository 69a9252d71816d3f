package dsh

import "github.com/sessfix/sessfix/format"

// toTwo is the step from version 1 to version 2 (session-format-v1-to-v2, migration.ts): what was streamed moves into
// the message that cites it, or into a record of its own, and all numbers change. It holds one attempt at a time.
type toTwo struct {
	reader
	out     format.Out
	numbers numberMap
	next    int64 // in version 2
	cut     int64 // number of inherited records, -1 = none
	marked  bool
	time    string // of the last record
	attempt *attempt
	turns   restart
}

// restart finds the turn that a client began behind one that it had left open. An insertion for the next turn right in
// front tells.
type restart struct {
	turn, step int64 // open ones
	spliced    bool
}

func beginTwo(format.Source) (format.Stage, error) {
	return &toTwo{cut: -1, turns: restart{turn: none, step: none}}, nil
}

// see follows a record. It returns the turn that must be ended in front of it, and whether it starts one where another is
// open without that.
func (t *restart) see(r *logRecord) (ended int64, inside bool) {
	ended = none
	turn, ok := r.whole(r.get(r.data, "turn"))
	if !ok {
		turn = none
	}
	if r.typ == "turn/start" && t.turn != none {
		if t.step == none && turn == t.turn+1 && t.spliced {
			ended = t.turn
		} else {
			inside = true
		}
	}
	switch r.typ {
	case "turn/start":
		t.turn, t.step = turn, none
	case "turn/end":
		t.turn, t.step = none, none
	case "step/start":
		t.step, _ = r.whole(r.get(r.data, "step"))
	case "step/end":
		t.step = none
	}
	t.spliced = r.typ == "agent/inbox/spliced" && r.is(r.get(r.data, "target"), "next-turn") && r.size(r.get(r.data, "inserted")) > 0
	return ended, inside
}

// endTurn is the payload of the end that such a turn gets.
func endTurn(turn int64) string { return `{"turn":` + num(turn) + `,"reason":{"kind":"interrupted"}}` }

const whyEnded = "ends the turn that the client left open when it was started anew"

func (s *toTwo) Record(l format.Line, out format.Out) error {
	s.out = out
	r, err := s.read(l)
	if err != nil {
		return err
	}
	if r == nil {
		return s.begin()
	}
	defer func() { s.time = r.time }()
	if r.count > 1 || !r.get(r.root(), "seq0").none() {
		return s.row(r)
	}
	ended, inside := s.turns.see(r)
	if inside {
		return format.Refuse(r.n, "turn/start does not close the turn in front of it")
	}
	if ended != none {
		if err := s.finish(); err != nil {
			return err
		}
		if err := s.create(r.seq, r.time, fill("turn/end", s.next, r.time, endTurn(ended), ""), -1, whyEnded); err != nil {
			return err
		}
	}
	if change := r.get(r.data, "source", "change"); r.typ == "user/message" && !change.none() && r.is(r.get(r.data, "source", "kind"), "goal") {
		return s.goal(r, change)
	}
	switch r.typ {
	case "assistant/chunk":
		return s.chunk(r)
	case "assistant/message":
		return s.message(r)
	case "turn/end", "step/end", "llm/retry", "llm/retry-started":
		if err := s.finish(); err != nil {
			return err
		}
	}
	if s.attempt != nil {
		s.attempt.waiting = append(s.attempt.waiting, r.keep())
		return nil
	}
	return s.put(r)
}

// begin writes the header: whether the session has an inherited part stands there, where that ends in a record.
func (s *toTwo) begin() error {
	r := &s.reader.r
	root := r.root()
	seeded := "false"
	if length := r.get(root, "seedLength"); !length.none() {
		var ok bool
		if s.cut, ok = r.whole(length); !ok || s.cut < 0 {
			return format.Refuse(r.n, "the header's seedLength is no length")
		}
		seeded = "true"
	}
	s.time = string(r.of(r.get(root, "createdAt")))
	return s.out.Put(s.header(2, []string{"seedLength", "isSeeded"}, `"isSeeded":`+seeded))
}

// put writes a record under its new number.
func (s *toTwo) put(r *logRecord) error {
	if r.seq == s.cut && r.typ == "session/end-seed" {
		if err := s.inherit(r.seq, r.time, true); err != nil {
			return err
		}
		r.set(r.data, `{"inherited":true}`)
	} else if err := s.inherit(r.seq, r.time, false); err != nil {
		return err
	}
	s.numbers.put(r.seq, s.next)
	if op := r.get(r.root(), "surfaceOp"); r.kind(op) == '{' && r.size(op) > 3 {
		// The client of version 2 writes three members, and the next step refuses more.
		r.reshape(op, func(key span) bool { return !r.named(key, "op") && !r.named(key, "start") && !r.named(key, "end") })
	}
	if err := (remapping{&s.numbers, true, r.seq}).remap(r); err != nil {
		return err
	}
	r.put(r.get(r.root(), "seq"), s.next)
	s.next++
	return s.out.Put(r.line())
}

// create writes a record that is new. It stands for what was at origin.
func (s *toTwo) create(origin int64, time string, raw []byte, n int64, why string) error {
	before := s.next
	if err := s.inherit(origin, time, false); err != nil {
		return err
	}
	if s.next != before { // the mark took the number
		w := rewrite{raw: raw}
		w.set(w.get(w.root(), "seq"), num(s.next))
		raw = w.bytes()
	}
	s.next++
	return s.out.Put(format.Line{Raw: raw, N: n, Why: why})
}

// inherit marks the end of the inherited part, once the numbering goes beyond it. itself tells that the record does so.
func (s *toTwo) inherit(origin int64, time string, itself bool) error {
	if s.cut < 0 || s.marked || origin < s.cut {
		return nil
	}
	s.marked = true
	if itself {
		return nil
	}
	s.next++
	return s.out.Put(format.Line{Raw: fill("session/end-seed", s.next-1, time, `{"inherited":true}`, ""), N: -1})
}

// goal takes a change of the goal out of the message that carried it. Neither waits for an answer.
func (s *toTwo) goal(r *logRecord, change span) error {
	raw := fill("goal/change", s.next, r.time, string(r.of(change)), "")
	if err := s.create(r.seq, r.time, raw, r.n, r.why); err != nil {
		return err
	}
	r.set(r.get(r.data, "source"), `{"kind":"plugin","plugin":"goal"}`)
	return s.put(r)
}

// row takes a packed row into its attempt.
func (s *toTwo) row(r *logRecord) error {
	s.turns.spliced = false
	if r.seq < s.cut != (r.seq+r.count-1 < s.cut) {
		return format.Refuse(r.n, "the inherited part, %d records, ends inside of a streamed answer", s.cut)
	}
	if err := s.join(r, r.data); err != nil {
		return err
	}
	time, ok := s.attempt.stream.row(r)
	if !ok {
		return format.Refuse(r.n, "a packed row that cannot be read")
	}
	s.attempt.add(r, time)
	r.time = time
	return nil
}

// chunk takes a chunk that is a record of its own into its attempt.
func (s *toTwo) chunk(r *logRecord) error {
	chunk := r.get(r.data, "chunk")
	if chunk.none() {
		return format.Refuse(r.n, "assistant/chunk holds no chunk")
	}
	if err := s.join(r, r.data); err != nil {
		return err
	}
	if err := s.split(r); err != nil {
		return err
	}
	s.attempt.stream.chunk(r, chunk)
	s.attempt.add(r, r.time)
	s.attempt.ended = r.is(r.get(chunk, "type"), "finish")
	return nil
}

// join goes on with the open attempt, or begins one.
func (s *toTwo) join(r *logRecord, data span) error {
	turn, ok1 := r.whole(r.get(data, "turn"))
	step, ok2 := r.whole(r.get(data, "step"))
	if !ok1 || !ok2 {
		return format.Refuse(r.n, "what was streamed names no turn and step")
	}
	var err error
	if a := s.attempt; a != nil && (a.ended || a.turn != turn || a.step != step) {
		err = s.finish()
	} else if a != nil {
		err = s.flush()
	}
	if s.attempt == nil {
		s.attempt = &attempt{turn: turn, step: step}
	}
	return err
}

// split refuses an attempt that the end of the inherited part cuts in two.
func (s *toTwo) split(r *logRecord) error {
	first := r.seq
	if len(s.attempt.spans) > 0 {
		first = s.attempt.spans[0].first
	}
	if first < s.cut != (r.seq < s.cut) {
		return format.Refuse(r.n, "the inherited part, %d records, ends inside of a streamed answer", s.cut)
	}
	return nil
}

// message takes an answer, which cites all chunks of its attempt or none.
func (s *toTwo) message(r *logRecord) error {
	turn, _ := r.whole(r.get(r.data, "turn"))
	step, _ := r.whole(r.get(r.data, "step"))
	list := r.get(r.root(), "sourceEventSeqs")
	if a := s.attempt; a != nil && (a.turn != turn || a.step != step) {
		if err := s.finish(); err != nil {
			return err
		}
		return s.answer(r, "[]")
	}
	if list.none() {
		if s.attempt != nil {
			return format.Refuse(r.n, "the assistant message does not cite the chunks in front of it")
		}
		return s.answer(r, "[]")
	}
	seqs, err := (remapping{limit: r.seq}).read(r, list)
	if err != nil {
		return err
	}
	if len(seqs) == 0 {
		if err := s.finish(); err != nil {
			return err
		}
		return s.answer(r, "[]")
	}
	if s.attempt == nil || !s.attempt.cited(seqs) {
		return format.Refuse(r.n, "the assistant message does not cite exactly the chunks of one attempt, in order")
	}
	if err := s.split(r); err != nil {
		return err
	}
	if err := s.flush(); err != nil {
		return err
	}
	text := s.attempt.stream.text()
	s.attempt = nil
	return s.answer(r, text)
}

// answer writes an assistant message with what was streamed of it.
func (s *toTwo) answer(r *logRecord, stream string) error {
	r.reform(r.root(), []string{"sourceEventSeqs"})
	r.reform(r.data, []string{"stream"}, `"stream":`+stream)
	// The list is gone, and its numbers lead nowhere.
	plain := *r
	plain.edits = nil
	plain.reset(r.bytes())
	plain.data = plain.get(plain.root(), "data")
	return s.put(&plain)
}

// finish writes the open attempt as a record of its own, in front of what waits behind it.
func (s *toTwo) finish() error {
	a := s.attempt
	if a == nil {
		return nil
	}
	data := `{"turn":` + num(a.turn) + `,"step":` + num(a.step) + `,"stream":` + a.stream.text() + `}`
	if err := s.create(a.last, a.time, fill("assistant/attempt", s.next, a.time, data, ""), a.n, ""); err != nil {
		return err
	}
	err := s.flush()
	s.attempt = nil
	return err
}

// flush writes what waits behind the attempt.
func (s *toTwo) flush() error {
	for _, r := range s.attempt.waiting {
		if err := s.put(r); err != nil {
			return err
		}
	}
	s.attempt.waiting = s.attempt.waiting[:0]
	return nil
}

func (s *toTwo) End(out format.Out) error {
	s.out = out
	if err := s.finish(); err != nil {
		return err
	}
	if s.cut > s.reader.next {
		return format.Refuse(-1, "the header promises %d inherited records, the log holds %d", s.cut, s.reader.next)
	}
	if s.cut < 0 || s.marked {
		return nil
	}
	return s.inherit(s.cut, s.time, false)
}
