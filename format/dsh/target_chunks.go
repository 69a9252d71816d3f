package dsh

import (
	"sort"

	"github.com/sessfix/sessfix/session"
)

// chunks follows what v1→v2 does with streamed chunks: those of one attempt move into the
// message that cites exactly all of them, or into an assistant/attempt of their own, and all
// numbers behind them change (session-format-v1-to-v2, migration.ts).
type chunks struct {
	cut    int64 // number of inherited records, -1 = none
	marked bool  // the end-seed at the cut is written
	next   int64 // the number that the next record gets
	open   bool
	spans  []numbers // of the open attempt, in order
	count  int64
	ended  bool // by a finish chunk
	turn   int64
	step   int64
	fits   bool // its last chunk lies in the open step that it names
	last   session.Ref
	lastAt int64
	behind []waiting // records that wait behind the open attempt
	eaten  []numbers // all chunks of the log
}

// numbers are consecutive record numbers: from first up to, but not with, end.
type numbers struct{ first, end int64 }

func addNumbers(list []numbers, first, end int64) []numbers {
	if n := len(list); n > 0 && list[n-1].end == first {
		list[n-1].end = end
		return list
	}
	return append(list, numbers{first, end})
}

// waiting is a record whose new number is not settled.
type waiting struct {
	seq    int64
	seed   bool
	repair *repairID
}

// repairID is a made-up result whose id must end in its new number.
type repairID struct {
	ref    session.Ref
	call   string
	number int64
}

// packed takes a packed row.
func (t *target) packed(e *entry) {
	if !t.goes(2) {
		return
	}
	c := &t.chunks
	t.turns.previous = splice{}
	t.turns.pass(t, e.seq, false)
	first, last := e.seq, e.seq+e.count-1
	t.join(e, e.num("turn"), e.num("step"))
	if first < c.cut && c.cut <= last {
		t.refuse(e.ref, 2, "the inherited part ends inside of a packed row of an answer")
	}
	c.take(e, first, last+1)
	c.fits = t.turns.within(e.num("turn"), e.num("step"))
}

// chunk takes a chunk that is a record of its own.
func (t *target) chunk(e *entry) {
	if !t.goes(2) {
		return
	}
	c := &t.chunks
	t.join(e, e.num("turn"), e.num("step"))
	t.splits(e, e.seq)
	c.take(e, e.seq, e.seq+1)
	chunk, _ := e.obj()["chunk"].(object)
	c.ended = chunk["type"] == "finish"
	c.fits = t.turns.within(c.turn, c.step)
}

func (c *chunks) take(e *entry, first, end int64) {
	c.spans = addNumbers(c.spans, first, end)
	c.eaten = addNumbers(c.eaten, first, end)
	c.count += end - first
	c.last, c.lastAt = e.ref, end-1
}

// join opens an attempt, or goes on with the open one.
func (t *target) join(e *entry, turn, step int64) {
	c := &t.chunks
	if c.open && (c.ended || c.turn != turn || c.step != step) {
		t.finishAttempt()
	} else if c.open {
		t.flush()
	}
	if !c.open {
		c.open, c.ended, c.turn, c.step, c.count, c.spans = true, false, turn, step, 0, c.spans[:0]
	}
}

// splits refuses an attempt that the end of the inherited part cuts in two.
func (t *target) splits(e *entry, seq int64) {
	first := seq
	if len(t.chunks.spans) > 0 {
		first = t.chunks.spans[0].first
	}
	if (first < t.chunks.cut) != (seq < t.chunks.cut) {
		t.refuse(e.ref, 2, "the inherited part, %d records, ends inside of an answer", t.chunks.cut)
	}
}

// message takes an assistant message, which must cite all chunks of the attempt or none.
func (t *target) message(e *entry) {
	c := &t.chunks
	list, cites := e.sources.([]any)
	if c.open && (c.turn != e.num("turn") || c.step != e.num("step")) {
		t.finishAttempt()
		t.emit(e.seq, false)
		return
	}
	switch {
	case !cites && c.open:
		t.refuse(e.ref, 2, "the assistant message does not cite the chunks in front of it")
		t.finishAttempt()
	case len(list) == 0:
		t.finishAttempt()
	case !c.open || !c.cited(list):
		t.refuse(e.ref, 2, "the assistant message does not cite exactly the chunks of one attempt, in order")
		t.finishAttempt()
	default:
		t.splits(e, e.seq)
		t.flush()
		c.open = false
	}
	t.emit(e.seq, false)
}

func (c *chunks) cited(list []any) bool {
	seqs := flatten(list)
	if int64(len(seqs)) != c.count {
		return false
	}
	i := 0
	for _, s := range c.spans {
		for seq := s.first; seq < s.end; seq++ {
			if seqs[i] != seq {
				return false
			}
			i++
		}
	}
	return true
}

// flatten reads a list of numbers. Versions 0 and 1, which have chunks, know no ranges.
func flatten(list []any) []int64 {
	var out []int64
	for _, e := range list {
		if n, ok := whole(e); ok {
			out = append(out, n)
		}
	}
	return out
}

// pass takes a record that is neither chunk nor message to its new number.
func (t *target) pass(e *entry, repair *repairID) {
	c := &t.chunks
	seed := e.typ == "session/end-seed"
	switch e.typ {
	case "turn/end", "step/end", "llm/retry", "llm/retry-started":
		t.finishAttempt()
	}
	if _, change := goalChange(e.obj()); e.typ == "user/message" && change != nil {
		// The change becomes an event of its own, in front of the message; neither waits.
		t.emit(e.seq, false)
		t.emit(e.seq, false)
		return
	}
	if c.open {
		c.behind = append(c.behind, waiting{e.seq, seed, repair})
		return
	}
	t.settle(waiting{e.seq, seed, repair})
}

// finishAttempt writes the open attempt as an event of its own, in front of what waits behind it.
func (t *target) finishAttempt() {
	c := &t.chunks
	if !c.open {
		return
	}
	if !c.fits {
		t.refuse(c.last, 2, "streamed chunks of turn %d, step %d lie outside of that step", c.turn, c.step)
	}
	t.emit(c.lastAt, false)
	t.flush()
	c.open = false
}

func (t *target) flush() {
	for _, w := range t.chunks.behind {
		t.settle(w)
	}
	t.chunks.behind = t.chunks.behind[:0]
}

func (t *target) settle(w waiting) {
	seq := t.emit(w.seq, w.seed)
	// Version 2 alone compares: later versions let the number be that of the past.
	if w.repair != nil && t.to == 2 && w.repair.number != seq {
		t.refuse(w.repair.ref, 2, "the id of the TOOL_NOT_STARTED result ends in %d, and the record becomes number %d", w.repair.number, seq).CallID = w.repair.call
	}
}

// emit gives a record its new number, behind the mark of the inherited part where that ends.
func (t *target) emit(origin int64, seed bool) int64 {
	c := &t.chunks
	if c.cut >= 0 && !c.marked && origin >= c.cut {
		c.marked = true
		if origin != c.cut || !seed {
			c.next++
		}
	}
	c.next++
	return c.next - 1
}

// isChunk tells whether a number is that of a chunk, which has none any more.
func (c *chunks) isChunk(seq int64) bool {
	i := sort.Search(len(c.eaten), func(i int) bool { return c.eaten[i].end > seq })
	return i < len(c.eaten) && c.eaten[i].first <= seq
}

// references refuses a record that names a chunk.
func (t *target) references(e *entry) {
	name := func(what string, list ...any) bool {
		for _, seq := range flatten(list) {
			if t.chunks.isChunk(seq) {
				t.refuse(e.ref, 2, "%s of %s names the chunk %d, which becomes part of a message", what, e.typ, seq)
				return true
			}
		}
		return false
	}
	sources, _ := e.sources.([]any)
	if e.typ != "assistant/message" && name("sourceEventSeqs", sources...) {
		return
	}
	if op, ok := e.op.(object); ok && name("surfaceOp", op["start"], op["end"]) {
		return
	}
	o := e.obj()
	switch e.typ {
	case "command/done":
		name("sourceEventSeq", o["sourceEventSeq"])
	case "compaction/prune", "compaction/summary":
		seqs, _ := o["shadowedSeqs"].([]any)
		name("shadowedSeqs", seqs...)
	case "session/title", "session/title-llm-request":
		seqs, _ := o["messageSeqs"].([]any)
		name("messageSeqs", seqs...)
	}
}
