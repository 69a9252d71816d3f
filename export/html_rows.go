package export

import (
	"bufio"
	"context"
	"slices"
	"strconv"

	"github.com/sessfix/sessfix/session"
)

// pageRows writes the records of a part, a JSON array each, in which what is 0 at the end is left out:
//
//	number + 1 (0: no record, but bytes that a finding is about), offset, length, line, frame, offset in the text (of compressed
//	parts), sequence number + 1, id, parent, number of the parent + 1, time, state, marks, events, told, findings
//
// Events are six values each: kind, flags, turn, step, call + 1, id. They stand in blocks, so that the page can read some while
// it shows others. Behind them stand the calls and the turns.
type pageRows struct {
	out  *bufio.Writer
	part int
	p    *Part
	talk *Talk
	o    Options
	most int64  // records
	said *int64 // bytes that may still be said
	hid  int64  // bytes that were not, for that

	line    []byte
	inBlock int
	rows    int64 // in the page
	left    int64 // records that are not
	calls   pageCalls
	turns   pageTurns
	// waiting are the findings that no record has got yet, in the order of their places; about are those that name a record.
	waiting []int
	about   map[int64][]int
	last    session.Span
}

// rowsInBlock is how many records the page reads at once.
const rowsInBlock = 2000

func (w *pageRows) write(ctx context.Context) error {
	w.sort()
	w.calls.closers(w.p)
	n := 0
	err := w.talk.Each(ctx, w.p, func(e *Entry) error {
		if n++; n%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		return w.record(e)
	})
	if err != nil {
		return err
	}
	for _, f := range w.waiting {
		w.hole(f)
	}
	w.waiting = nil
	w.close()
	w.end()
	return ctx.Err()
}

// sort tells findings that name a record from those that name bytes. One about no place in the part waits for nothing.
func (w *pageRows) sort() {
	w.about = map[int64][]int{}
	for i := range w.p.Found.Findings {
		f := &w.p.Found.Findings[i]
		switch {
		case f.Record.Len > 0:
			w.about[f.Record.N] = append(w.about[f.Record.N], i)
		case f.Len > 0 || f.Off > 0 || f.Line > 0:
			w.waiting = append(w.waiting, i)
		}
	}
}

// record writes a record, behind the holes in front of it.
func (w *pageRows) record(e *Entry) error {
	r := e.Record
	var own []int
	for len(w.waiting) > 0 {
		f := &w.p.Found.Findings[w.waiting[0]]
		if f.Off >= r.End() || f.Off == r.Off && f.Text > r.Text && framed(w.p) {
			break
		}
		if f.Off >= r.Off {
			own = append(own, w.waiting[0])
		} else {
			w.hole(w.waiting[0])
		}
		w.waiting = w.waiting[1:]
	}
	own = append(own, w.about[r.N]...)
	w.last = r.Span
	if w.rows >= w.most && len(own) == 0 {
		w.left++
		w.calls.unseen(e)
		return nil
	}
	b := w.begin()
	row := w.rows
	b = strconv.AppendInt(b, r.N+1, 10)
	b = w.place(b, r.Span)
	b = append(b, ',')
	if e.Batch.Numbered {
		b = strconv.AppendInt(b, e.Batch.Seq+1, 10)
	} else {
		b = append(b, '0')
	}
	b = appendID(b, e.ID())
	b = appendID(b, e.Parent())
	up := int64(0)
	if w.p == w.talk.s.Talk {
		up = max(w.talk.Up(e.N)-w.talk.inherited, -1) + 1
	}
	for _, v := range []int64{up, timeOf(e), int64(e.State), int64(r.Marks)} {
		b = strconv.AppendInt(append(b, ','), v, 10)
	}
	b = w.events(b, e, row)
	b = w.told(b, e)
	b = appendList(b, own)
	w.finish(b)
	return w.failed()
}

// hole writes bytes that are no record.
func (w *pageRows) hole(i int) {
	f := &w.p.Found.Findings[i]
	b := append(w.begin(), '0')
	at := f.Span
	if at.Text == 0 {
		at.Text = w.last.TextEnd()
	}
	b = w.place(b, at)
	b = append(b, ",0,0,0,0,0,0,0,0,0"...)
	w.finish(appendList(b, []int{i}))
}

// place is where a record or a hole stands.
func (w *pageRows) place(b []byte, s session.Span) []byte {
	line, text := s.Line, int64(0)
	if framed(w.p) {
		line, text = s.Logical, s.Text
	}
	for _, v := range []int64{s.Off, s.Len, line, s.Frame, text} {
		b = strconv.AppendInt(append(b, ','), v, 10)
	}
	return b
}

func appendID(b []byte, id string) []byte {
	if id == "" {
		return append(b, ",0"...)
	}
	return appendPageText(append(b, ','), id)
}

func appendList(b []byte, list []int) []byte {
	if len(list) == 0 {
		return append(b, ",0"...)
	}
	b = append(b, ',')
	for i, v := range list {
		b = strconv.AppendInt(append(b, "[,"[min(i, 1)]), int64(v), 10)
	}
	return append(b, ']')
}

// timeOf is when a record was written, as far as it says so.
func timeOf(e *Entry) int64 {
	if t := e.Batch.Time; t != 0 {
		return t
	}
	for i := range e.Messages {
		if t := e.Messages[i].Time; t != 0 {
			return t
		}
	}
	return 0
}

// events writes what the record means.
func (w *pageRows) events(b []byte, e *Entry, row int64) []byte {
	main := e.State != Side // a sub-agent's turns are no turns of the session
	if main && !slices.ContainsFunc(e.Batch.Events, func(v session.Event) bool { return v.Kind != session.Note }) {
		w.turns.told(e.Messages, row)
	}
	if len(e.Batch.Events) == 0 {
		return append(b, ",0"...)
	}
	b = append(b, ',')
	asks := asks(e.Messages) && !slices.ContainsFunc(e.Batch.Events, func(v session.Event) bool { return v.Kind == session.CallResult })
	for i := range e.Batch.Events {
		v := &e.Batch.Events[i]
		call := w.calls.event(e, v, row)
		if main {
			w.turns.event(v, row, asks)
		}
		for k, n := range []int64{int64(v.Kind), int64(v.Flags), int64(v.Turn), int64(v.Step), int64(call + 1)} {
			b = strconv.AppendInt(append(b, "[,"[min(i+k, 1)]), n, 10)
		}
		id := ""
		if v.ID.Len > 0 && v.Kind != session.CallAsked {
			id = unescape(v.ID.Of(e.Record.Raw))
		}
		b = appendID(b, id)
	}
	return append(b, ']')
}

// begin begins a row, in a new block where the last one is full.
func (w *pageRows) begin() []byte {
	if w.inBlock == rowsInBlock {
		w.close()
	}
	b := w.line[:0]
	if w.inBlock == 0 {
		b = append(b, `<script type="application/json" class="records" data-part="`...)
		b = strconv.AppendInt(b, int64(w.part), 10)
		b = append(b, "\">["...)
	} else {
		b = append(b, ",\n"...)
	}
	w.inBlock++
	return append(b, '[')
}

// finish ends a row.
func (w *pageRows) finish(b []byte) {
	for len(b) > 2 && b[len(b)-1] == '0' && b[len(b)-2] == ',' {
		b = b[:len(b)-2]
	}
	b = append(b, ']')
	w.out.Write(b) // an error stays with the writer
	w.line = b
	w.rows++
}

// close ends a block.
func (w *pageRows) close() {
	if w.inBlock > 0 {
		w.out.WriteString("]</script>\n")
	}
	w.inBlock = 0
}

// failed is the writer's error.
func (w *pageRows) failed() error {
	_, err := w.out.Write(nil)
	return err
}

// end writes what is known when the last record was seen.
func (w *pageRows) end() {
	b := append(w.line[:0], `<script type="application/json" class="end" data-part="`...)
	b = strconv.AppendInt(b, int64(w.part), 10)
	b = append(b, `">{"left":`...)
	b = strconv.AppendInt(b, w.left, 10)
	b = strconv.AppendInt(append(b, `,"hidden":`...), w.hid, 10)
	b = w.calls.append(append(b, `,"calls":[`...))
	b = w.turns.append(append(b, `],"turns":`...))
	b = append(b, "}</script>\n"...)
	w.out.Write(b)
}
