package dsh

import (
	"bytes"
	"slices"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// border is what a log's beginning leaves open, as the client's own recovery and its fork see it: the turn by the last
// turn/start or turn/end alone, and the calls of its open step.
type border struct {
	dialect    dialect
	f          fields
	next       int64 // the number behind the last record
	time       int64 // of the last record
	kind       string
	turns      int64 // that were ended
	open       bool  // a turn
	turn, step int32 // their numbers
	calls      []session.Call
	compaction bool
}

func newBorder(d dialect) *border { return &border{dialect: d} }

// add takes the next record, the header left out.
func (e *border) add(r *session.Record) error {
	f := &e.f
	f.read(r)
	e.kind = string(f.str(kType))
	first, count, time := kSeq, int64(1), kTime
	if f.has(kSeq0) && e.dialect.version < 2 {
		first, time = kSeq0, kTime0
		members := kTexts
		if e.kind == "tool-call-chunks" {
			members = kArgs
		}
		count = int64(f.cap[members].N)
	}
	seq, ok := f.int(first)
	if !ok || seq != e.next || count < 1 {
		return format.Refuse(r.N, "the record does not carry number %d, which it should have", e.next)
	}
	e.next += count
	e.time, _ = f.int(time)
	if first == kSeq0 {
		took, _ := f.steps()
		e.time += took
	}
	e.meaning(r, seq)
	return nil
}

// meaning follows turns, steps, calls and compactions.
func (e *border) meaning(r *session.Record, seq int64) {
	f := &e.f
	turn, _ := f.int(kTurn)
	step, _ := f.int(kStep)
	switch e.kind {
	case "turn/start":
		e.open, e.turn, e.step, e.calls = true, small(turn), 0, nil
	case "turn/end":
		if e.open {
			e.turns++
		}
		e.open, e.turn, e.step, e.calls = false, 0, 0, nil
	case "step/start":
		e.step = small(step)
	case "step/end":
		e.step, e.calls = 0, nil
	case "assistant/message":
		e.asked(r, seq)
	case "tool/call":
		if i := e.call(f.str(kDataCall)); i >= 0 {
			e.calls = slices.Clone(e.calls) // cuts hold the old list
			e.calls[i].Started, e.calls[i].StartSeq = r.Ref(), seq
		}
	case "tool/result":
		if f.kind(kSurfaceOp) == '{' {
			return
		}
		id := f.str(kMsgSourceCall)
		if id == nil {
			id = f.str(kDataCall)
		}
		if i := e.call(id); i >= 0 {
			e.calls = slices.Concat(e.calls[:i], e.calls[i+1:])
		}
	case "compaction/start", "compact/start":
		e.compaction = true
	case "compaction/end", "compact/end", "session/end-seed":
		e.compaction = false
	}
}

// asked notes the calls of an answer. One that asks again for a known call keeps its place, and its start is to come.
func (e *border) asked(r *session.Record, seq int64) {
	for _, k := range e.f.blocks {
		if k.kind.Kind != '"' || string(r.Str(k.kind)) != "tool-call" || k.id.Kind != '"' {
			continue
		}
		c := session.Call{ID: string(r.Str(k.id)), Asked: r.Ref(), AskSeq: seq, StartSeq: -1, Turn: e.turn, Step: e.step}
		if k.name.Kind == '"' {
			c.Name = string(r.Str(k.name))
		}
		if i := e.call(r.Str(k.id)); i >= 0 {
			e.calls = slices.Clone(e.calls)
			e.calls[i] = c
			continue
		}
		e.calls = append(slices.Clip(e.calls), c)
	}
}

// call is the place of an unanswered call, -1 where there is none.
func (e *border) call(id []byte) int {
	return slices.IndexFunc(e.calls, func(c session.Call) bool { return bytes.Equal([]byte(c.ID), id) })
}

// messageID is the id of the message that the record holds, "" where it holds none.
func (e *border) messageID() string {
	if id := e.f.str(kMsgID); id != nil {
		return string(id)
	}
	if e.kind == "user/message" {
		return string(e.f.str(kDataID))
	}
	return ""
}
