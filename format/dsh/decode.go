package dsh

import (
	"bytes"
	"fmt"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// decoder decodes one session.
type decoder struct {
	dialect dialect
	place   format.Place
	f       fields
	surface surface
	count   int64 // numbers seen
	next    int64 // the number that the next record should carry
	at      int64 // the number of this record, as it is or as it should be
	header  bool
	first   []byte // the header line
	seeded  bool   // versions 2 and up: the header promises an inherited part
	seed    int64  // versions 0 and 1: its length, -1 = none
	marked  bool   // a marker with inherited: true was seen
	sources []int64
	shapes  shapes
	prompt  []byte // versions 0 to 2: the system prompt, as it is written in the last header
	headed  int64  // the number of the header that says so
}

// Decode tells what a record means.
func (d *decoder) Decode(r *session.Record, b *format.Batch) {
	f := &d.f
	f.read(r)
	if r.N == 0 {
		if d.decodeHeader(r, b) {
			return
		}
	}
	typ := f.str(kType)
	if f.has(kSeq0) && d.dialect.version < 2 {
		d.packed(r, b, typ)
		return
	}
	if string(typ) == "session" && !f.has(kSeq) {
		d.secondHeader(r, b)
		return
	}
	d.envelope(r, b, typ)
}

// bad reports that the client rejects the record.
func bad(r *session.Record, b *format.Batch, code finding.Code, format string, args ...any) {
	for _, f := range b.Findings {
		if f.Code == code {
			return
		}
	}
	f := finding.New(code)
	f.Span, f.Record = r.Span, r.Ref()
	f.Message = fmt.Sprintf(format, args...)
	b.Findings = append(b.Findings, f)
}

// envelope reads an event that is one record with one number.
func (d *decoder) envelope(r *session.Record, b *format.Batch, typ []byte) {
	f := &d.f
	d.at = d.next
	if seq, ok := f.int(kSeq); ok && seq >= 0 {
		b.Seq, b.Numbered, d.at = seq, true, seq
		d.count++
	}
	d.next = d.at + 1
	b.Time, _ = f.int(kTime)
	ev, known := vocabulary[string(typ)]
	known = known && ev.since <= d.dialect.version && d.dialect.version <= ev.till && !f.has(kSeq0) && !isPacked(string(typ))
	ignorable := f.kind(kIgnorable) == 't'
	switch {
	case f.kind(kType) != '"':
		bad(r, b, finding.EventInvalid, "the record has no type")
	case retired[string(typ)]:
		bad(r, b, finding.EventUnknown, "event type %q is retired, every build refuses it", typ)
	case !known && !ignorable:
		bad(r, b, finding.EventUnknown, "event type %q is not known to version %d and not marked ignorable", short(typ), d.dialect.version)
	}
	if problem := d.envelopeProblem(ev, known); problem != "" {
		bad(r, b, finding.EventInvalid, "%s: %s", short(typ), problem)
	}
	if !known {
		b.Events = append(b.Events, session.Event{Kind: session.Unknown, Flags: session.Ignorable})
		return
	}
	e := session.Event{Kind: ev.kind}
	turn, _ := f.int(kTurn)
	step, _ := f.int(kStep)
	e.Turn, e.Step = small(turn), small(step)
	d.event(r, b, ev, e)
}

// envelopeProblem says what is wrong with the members around data.
func (d *decoder) envelopeProblem(ev event, known bool) string {
	f := &d.f
	if len(f.extra) > 0 {
		return fmt.Sprintf("unknown member %s", short(f.r.Value(f.extra[0])))
	}
	if f.has(kIgnorable) && f.kind(kIgnorable) != 't' {
		return "ignorable may be nothing but true"
	}
	if _, ok := f.int(kTime); !ok {
		return "time is missing or no whole number"
	}
	if !f.has(kData) {
		return "data is missing"
	}
	if f.has(kCreatedAt) {
		return `unknown member "createdAt"`
	}
	if !known {
		return ""
	}
	if !ev.surface {
		if f.has(kSurfaceOp) {
			return "an event that is only logged carries surfaceOp"
		}
		if f.has(kSources) {
			return "an event that is only logged carries sourceEventSeqs"
		}
	}
	return ""
}

// event appends what a known event means.
func (d *decoder) event(r *session.Record, b *format.Batch, ev event, e session.Event) {
	f := &d.f
	switch ev.kind {
	case session.TurnEnd:
		if string(f.str(kReasonKind)) == "interrupted" {
			e.Flags |= session.Synthetic
		}
	case session.CallStarted:
		e.Call, e.Name = d.callID(kDataCall), sub(f.cap[kDataName])
		if !f.has(kDataName) {
			e.Name = session.Sub{}
		}
	case session.ApprovalAsked, session.ApprovalDecided:
		if f.kind(kDataID) == '"' {
			e.ID = sub(f.cap[kDataID])
		}
	case session.CompactionStart, session.CompactionEnd, session.Summary:
		if f.kind(kCompaction) == '"' {
			e.ID = sub(f.cap[kCompaction])
		}
	case session.Setting:
		d.instructed(b)
	case session.SeedEnd:
		if f.kind(kInherited) == 't' {
			d.marked = true
			e.Flags |= session.Inherited
		}
	case session.CallResult:
		d.result(&e)
	}
	if ev.surface {
		if d.message(r, b, ev) {
			d.show(r, b, ev)
		} else {
			d.surface.push(d.at, ev.node)
		}
	}
	if ev.kind == session.CallResult && f.kind(kSurfaceOp) == '{' {
		// A replacement shortens an earlier result in its place: no second answer.
		b.Events = append(b.Events, session.Event{Kind: session.Note})
		return
	}
	b.Events = append(b.Events, e)
	if ev.kind == session.AssistantMessage {
		for _, k := range f.blocks {
			if k.kind.Kind == '"' && string(r.Str(k.kind)) == "tool-call" {
				ask := session.Event{Kind: session.CallAsked, Turn: e.Turn, Step: e.Step}
				if k.id.Kind == '"' {
					ask.Call = sub(k.id)
				}
				if k.name.Kind == '"' {
					ask.Name = sub(k.name)
				}
				b.Events = append(b.Events, ask)
			}
		}
	}
}

// instructed notes the system prompt, which stands in headers up to version 2. Where it changed, the one in front is sent no more.
func (d *decoder) instructed(b *format.Batch) {
	system := d.f.str(kSystem)
	if d.dialect.version > 2 || string(d.f.str(kType)) != "request/header" || bytes.Equal(system, d.prompt) {
		return
	}
	if len(d.prompt) > 0 {
		b.Replaced = append(b.Replaced, d.headed)
	}
	b.Front = len(system) > 0
	d.prompt, d.headed = append(d.prompt[:0], system...), d.at
}

// callID is the id at the first of the keys that holds one, even an empty one.
func (d *decoder) callID(where ...int) session.Sub {
	for _, k := range where {
		if d.f.kind(k) == '"' {
			return sub(d.f.cap[k])
		}
	}
	return session.Sub{}
}

var madeUp = [][]byte{[]byte("interrupted-tool-result-"), []byte("forked-tool-result-")}

// result finds the call that a result answers, and whether a recovery made it up.
func (d *decoder) result(e *session.Event) {
	f := &d.f
	e.Call = d.callID(kMsgSourceCall, kMsgToolCal, kMsgCall, kDataCall)
	code := string(f.str(kErrorCode))
	if code != finding.ToolNotStarted && code != finding.ToolOutcomeUnknown {
		return
	}
	for _, p := range madeUp {
		if bytes.HasPrefix(f.str(kMsgID), p) {
			e.Flags |= session.Synthetic
		}
	}
}

// show puts a message on the surface.
func (d *decoder) show(r *session.Record, b *format.Batch, ev event) {
	f := &d.f
	limit := d.at
	d.sources = d.sources[:0]
	if f.has(kSources) {
		var problem string
		if f.kind(kSources) != '[' {
			bad(r, b, finding.EventInvalid, "sourceEventSeqs is no list")
			return
		}
		d.sources, problem = seqList(d.sources, f.raw(kSources), d.dialect.version >= 2, limit, d.count)
		if problem == "" && len(d.sources) == 0 && (ev.node != nodeAssistant || d.dialect.version >= 2) {
			problem = "sourceEventSeqs is empty"
		}
		if problem != "" {
			bad(r, b, finding.EventInvalid, "%s", problem)
			return
		}
	}
	switch f.kind(kSurfaceOp) {
	case ' ':
		bad(r, b, finding.EventInvalid, "a message needs surfaceOp")
		return
	case '"':
		if string(f.str(kSurfaceOp)) != "append" {
			bad(r, b, finding.EventInvalid, "surfaceOp is neither append nor a replacement")
			return
		}
		d.surface.push(d.at, ev.node)
		return
	}
	from, to := kStart, kEnd
	if d.dialect.version >= 3 {
		from, to = kStartSeq, kEndSeq
	}
	start, ok1 := f.int(from)
	end, ok2 := f.int(to)
	if f.kind(kSurfaceOp) != '{' || string(f.str(kOp)) != "replace" || !ok1 || !ok2 {
		bad(r, b, finding.EventInvalid, "surfaceOp is neither append nor a replacement")
		return
	}
	gone, problem := d.surface.replace(d.at, ev.node, start, end, d.sources, b.Replaced, d.dialect.version >= 3)
	b.Replaced = gone
	if problem != "" {
		bad(r, b, finding.EventInvalid, "surface: %s", problem)
	}
}

// packed reads a row that stands for several deltas.
func (d *decoder) packed(r *session.Record, b *format.Batch, typ []byte) {
	f := &d.f
	seq, ok := f.int(kSeq0)
	time, okTime := f.int(kTime0)
	members := kTexts
	if string(typ) == "tool-call-chunks" {
		members = kArgs
	}
	n := int64(f.cap[members].N)
	turn, okTurn := f.int(kTurn)
	step, okStep := f.int(kStep)
	took, okSteps := f.steps()
	problem := ""
	switch ev := vocabulary[string(typ)]; {
	case ev.kind != session.Delta || string(typ) == "assistant/chunk":
		problem = "seq0 in a row that is not packed"
	case !ok || seq < 0 || !okTime:
		problem = "seq0 or time0 is missing or no whole number"
	case f.kind(members) != '[' || f.kind(kDt) != '[' || n < 1:
		problem = "the row has no members"
	case int64(f.cap[kDt].N) != n-1:
		problem = fmt.Sprintf("%d members need %d time steps, the row has %d", n, n-1, f.cap[kDt].N)
	case len(f.extra) > 0:
		problem = fmt.Sprintf("unknown member %s", short(r.Value(f.extra[0])))
	case f.has(kSeq) || f.has(kTime) || f.has(kSurfaceOp) || f.has(kSources) || f.has(kIgnorable):
		problem = "a packed row carries members of an event"
	case f.kind(kData) != '{' || r.Marks&session.DupKeys == 0 && f.cap[kData].N != d.packedMembers(members):
		problem = "unknown member in data"
	case !okTurn || !okStep || !f.whole(kIndex):
		problem = "turn, step or index is missing or no whole number"
	case !okSteps:
		problem = "a time step is no whole number"
	case members == kArgs && f.kind(kDataID) != '"':
		problem = "the call id is missing"
	}
	if problem != "" {
		bad(r, b, finding.EventInvalid, "packed row: %s", problem)
	}
	if ok && seq >= 0 && n > 0 {
		b.Seq, b.Count, b.Numbered = seq, n, true
		d.count += n
		d.next = seq + n
	}
	b.Time = time + took
	b.Events = append(b.Events, session.Event{Kind: session.Delta, Turn: small(turn), Step: small(step)})
}

// packedMembers counts the members of a packed row that it may have. They are counted, not
// captured one by one as unknown, because that would cost every other record as well.
func (d *decoder) packedMembers(members int) uint32 {
	var n uint32
	for _, k := range [...]int{kTurn, kStep, kIndex, kDt, members} {
		if d.f.has(k) {
			n++
		}
	}
	if members == kArgs && d.f.has(kDataID) {
		n++
	}
	if members == kArgs && d.f.has(kDataName) {
		n++
	}
	return n
}

// steps adds up the time steps of a packed row, for the time of its last member, and tells whether all
// are whole numbers.
func (f *fields) steps() (sum int64, ok bool) {
	if f.kind(kDt) != '[' {
		return 0, true
	}
	dt := f.raw(kDt)
	var v, sign int64 = 0, 1
	for _, c := range dt[1:] {
		switch {
		case c-'0' < 10:
			v = v*10 + int64(c-'0')
		case c == ',' || c == ']' || isBlank(c):
			sum += sign * v
			v, sign = 0, 1
		case c == '-':
			sign = -1
		default:
			return 0, false
		}
	}
	return sum, true
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func small(v int64) int32 {
	if v < 0 || v > 1<<30 {
		return 0
	}
	return int32(v)
}

// short cuts a name for a message.
func short(b []byte) string {
	if len(b) > 60 {
		return string(b[:60]) + "…"
	}
	return string(b)
}
