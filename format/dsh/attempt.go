package dsh

import (
	"bytes"
)

// attempt is an answer while it was streamed: chunks of one turn and step, up to one that says finish. From version 2
// on its pieces stand in the message that it became, or in a record of its own.
type attempt struct {
	turn, step int64
	ended      bool
	spans      []numbers // of its chunks, in order
	count      int64
	n, last    int64  // its last chunk: record of the source, and number
	time       string // of its last chunk
	stream     stream
	waiting    []*logRecord // what came behind its last chunk
}

// add notes chunks that the attempt holds.
func (a *attempt) add(r *logRecord, time string) {
	a.spans = addNumbers(a.spans, r.seq, r.seq+r.count)
	a.count += r.count
	a.n, a.last, a.time = r.n, r.seq+r.count-1, time
}

// cited tells whether a list names exactly the chunks of the attempt, in order.
func (a *attempt) cited(seqs []int64) bool {
	if int64(len(seqs)) != a.count {
		return false
	}
	i := 0
	for _, s := range a.spans {
		for seq := s.first; seq < s.end; seq++ {
			if seqs[i] != seq {
				return false
			}
			i++
		}
	}
	return true
}

// stream are the pieces of an answer as version 2 keeps them: pieces that follow each other in one block share an
// entry, anything else is an entry by itself.
type stream struct {
	out   bytes.Buffer // entries that are done
	entry piled
	open  bool
}

// piled is an entry to which more pieces may come. Its texts are as written.
type piled struct {
	kind       string
	index      int64
	id, name   string
	named      bool
	head       string // up to the times
	tail       string // behind the times, up to the pieces
	dt, pieces []byte
	last       int64 // time of the last piece
}

// text ends the list.
func (s *stream) text() string {
	s.close()
	return "[" + s.out.String() + "]"
}

func (s *stream) close() {
	if !s.open {
		return
	}
	e := &s.entry
	s.put(e.head + string(e.dt) + e.tail + string(e.pieces) + `]}`)
	s.open = false
}

func (s *stream) put(text string) {
	if s.out.Len() > 0 {
		s.out.WriteByte(',')
	}
	s.out.WriteString(text)
}

// add takes one piece or several; dt and pieces are the insides of lists.
func (s *stream) add(e piled, first int64, dt, pieces []byte) {
	o := &s.entry
	gap := first - o.last
	if !s.open || o.kind != e.kind || o.index != e.index || o.id != e.id || o.name != e.name || o.named != e.named || gap > maxSafe || gap < -maxSafe {
		s.close()
		s.open = true
		e.dt, e.pieces = append([]byte(nil), dt...), append([]byte(nil), pieces...)
		s.entry = e
		return
	}
	o.dt = list(o.dt, []byte(num(gap)))
	if len(dt) > 0 {
		o.dt = list(o.dt, dt)
	}
	o.pieces = list(o.pieces, pieces)
	o.last = e.last
}

func list(to, more []byte) []byte {
	if len(to) > 0 {
		to = append(to, ',')
	}
	return append(to, more...)
}

// row takes a packed row. It returns the time of its last piece, false where the row is none.
func (s *stream) row(r *logRecord) (string, bool) {
	e := piled{kind: r.typ}
	index, id, name := r.get(r.data, "index"), r.get(r.data, "id"), r.get(r.data, "name")
	dt, pieces := r.get(r.data, "dt"), r.get(r.data, members(r.typ))
	first, _ := r.whole(r.get(r.root(), "time0"))
	var ok bool
	if e.index, ok = r.whole(index); !ok || r.kind(dt) != '[' || r.kind(pieces) != '[' {
		return "", false
	}
	e.last = first
	r.each(dt, func(_, v span) bool {
		var gap int64
		gap, ok = r.whole(v)
		e.last += gap
		ok = ok && e.last <= maxSafe && e.last >= -maxSafe
		return ok
	})
	if !ok {
		return "", false
	}
	e.open(string(r.of(index)), r.time)
	if r.typ == "tool-call-chunks" {
		e.id, _ = r.text(id)
		e.name, e.named = r.text(name)
		e.call(string(r.of(id)), string(r.of(name)))
	}
	s.add(e, first, r.inside(dt), r.inside(pieces))
	return num(e.last), true
}

// open begins the text of an entry.
func (e *piled) open(index, time string) {
	e.head = `{"type":"` + e.kind + `","time0":` + time + `,"index":` + index + `,"dt":[`
	e.tail = `],"texts":[`
}

// call puts the call into the text of an entry.
func (e *piled) call(id, name string) {
	e.tail = `],"id":` + id
	if e.named {
		e.tail += `,"name":` + name
	}
	e.tail += `,"args":[`
}

// inside is a list without its brackets.
func (w *rewrite) inside(v span) []byte {
	return bytes.TrimSpace(w.raw[v.from+1 : v.end-1])
}

// deltas are the pieces that an entry may share, with the member that holds what was streamed.
var deltas = map[string]struct {
	kind, piece string
	members     int
}{
	"text-delta":      {"text-chunks", "text", 3},
	"reasoning-delta": {"reasoning-chunks", "text", 3},
	"tool-call-delta": {"tool-call-chunks", "argumentsDelta", 4},
}

// chunk takes a chunk that is a record of its own.
func (s *stream) chunk(r *logRecord, chunk span) {
	if !s.delta(r, chunk) {
		s.close()
		s.put(`{"type":"chunk","time":` + r.time + `,"chunk":` + string(r.of(chunk)) + `}`)
	}
}

// delta takes a chunk that can share an entry. One with a member more than it should have cannot, because it would
// lose that.
func (s *stream) delta(r *logRecord, chunk span) bool {
	typ, _ := r.text(r.get(chunk, "type"))
	d, ok := deltas[typ]
	if !ok {
		return false
	}
	e := piled{kind: d.kind}
	index, piece, id, name := r.get(chunk, "index"), r.get(chunk, d.piece), r.get(chunk, "id"), r.get(chunk, "name")
	size := d.members
	if typ == "tool-call-delta" {
		var isText bool
		if e.id, isText = r.text(id); !isText || e.id == "" {
			return false
		}
		if !name.none() {
			size++
			if e.name, e.named = r.text(name); !e.named || e.name == "" {
				return false
			}
		}
	}
	if e.index, ok = r.whole(index); !ok || r.kind(piece) != '"' || r.size(chunk) != size {
		return false
	}
	first, ok := r.whole(r.get(r.root(), "time"))
	if !ok {
		return false
	}
	e.last = first
	e.open(string(r.of(index)), r.time)
	if typ == "tool-call-delta" {
		e.call(string(r.of(id)), string(r.of(name)))
	}
	s.add(e, first, nil, r.of(piece))
	return true
}
