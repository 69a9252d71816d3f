package harness

import (
	"fmt"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// decoder decodes one session of the current form. It keeps some 60 bytes an entry, the calls that are asked for, and the
// values that say what is open.
type decoder struct {
	log
	l      line
	ids    map[session.ID]int32 // of entries by node, and usage rows as -1
	nodes  []node
	asks   map[int32]asker // by node
	values map[address]*cell
	lists  map[address][][]byte
	open   []*operation // what Settle ends
}

// node is what is kept of an entry.
type node struct {
	up   int32 // its parent, -1 = none
	role uint8
	call session.ID // of a result: what it answers
}

// Roles of entries; 0 is no message.
const (
	answers = 1 + iota
	resultOf
	talks
)

// asker is an answer that asks for calls.
type asker struct {
	ref   session.Ref
	calls []call
}

// call is one call of an answer; id and name are as written.
type call struct {
	index    int // among the blocks of the answer
	id, name string
}

func newDecoder() *decoder {
	return &decoder{
		log: newLog(false), ids: map[session.ID]int32{}, asks: map[int32]asker{},
		values: map[address]*cell{}, lists: map[address][][]byte{},
	}
}

// Decode tells what a transaction means.
func (d *decoder) Decode(r *session.Record, b *format.Batch) {
	l := &d.l
	if !d.take(r, l) {
		d.bad(r, b, finding.EventInvalid, "", "the record cannot be read")
		return
	}
	if r.N == 0 && d.first(r, b, l, current) {
		d.end = r.TextEnd() + 1
		return
	}
	b.Time = d.time
	for i := range l.writes {
		b.Events = append(b.Events, session.Event{Kind: l.writes[i].event()})
	}
	if d.broken || len(l.writes) == 0 {
		b.Unnumbered = true
		d.end = r.TextEnd() + 1
		return
	}
	if l.header() {
		d.again(r, b)
		d.end = r.TextEnd() + 1
		return
	}
	first, last, fault := d.numbers()
	if fault != "" {
		d.bad(r, b, finding.EventInvalid, "", "%s", fault)
		return
	}
	if !d.next(r, b, first, last) {
		return
	}
	b.Seq, b.Count, b.Numbered = first, last-first+1, true
	if code, fault := d.members(); fault != "" {
		d.bad(r, b, code, "", "%s", fault)
		return
	}
	if code, fault := d.enter(r); fault != "" {
		d.bad(r, b, code, "", "%s", fault)
		return
	}
	for i := range l.writes {
		if w := &l.writes[i]; string(w.str(wKind)) == "entry" && !entryTypes[string(w.str(wType))] {
			b.Findings = append(b.Findings, finding.About(finding.EventUnknown, r.Ref(), "entry", fmt.Sprintf("an entry of type %q", short(w.str(wType)))))
		}
		d.keep(r, &l.writes[i])
	}
	b.Time = d.time
}

// event is what a write means in terms that all agents share. Calls and results are paired here, since which results
// follow which calls depends on the lane.
func (w *write) event() session.Kind {
	if string(w.str(wKind)) != "entry" {
		return session.Note
	}
	switch string(w.str(wType)) {
	case "compaction":
		return session.CompactionEnd
	case "branch_summary":
		return session.Summary
	case "message":
		return roleKind(string(w.str(wRole)))
	}
	return session.Note
}

func roleKind(role string) session.Kind {
	switch role {
	case "assistant":
		return session.AssistantMessage
	case "":
		return session.Note
	}
	return session.UserMessage
}

var entryTypes = map[string]bool{"message": true, "compaction": true, "branch_summary": true, "custom": true}

// numbers are those of the first write of the line and of the last.
func (d *decoder) numbers() (first, last int64, fault string) {
	for i := range d.l.writes {
		w := &d.l.writes[i]
		n, ok := safe(w.value(wSeq))
		switch {
		case !w.object:
			return 0, 0, fmt.Sprintf("write %d is no object", i+1)
		case !ok || n < 1:
			return 0, 0, fmt.Sprintf("write %d has no number", i+1)
		case i > 0 && n <= last:
			return 0, 0, fmt.Sprintf("number %d follows %d in one line", n, last)
		case i == 0:
			first = n
		}
		last = n
	}
	return first, last, ""
}

// members are looked at as the client does before it applies anything of the line.
func (d *decoder) members() (code finding.Code, fault string) {
	for i := range d.l.writes {
		w := &d.l.writes[i]
		op := string(w.str(wOp))
		switch kind := string(w.str(wKind)); kind {
		case "entry":
			if n, ok := safe(w.value(wTime)); !ok || n < 0 {
				return finding.EventInvalid, fmt.Sprintf("entry: write %d has no time", i+1)
			}
		case "usage":
		case "value":
			if op != "set" && op != "delete" {
				return finding.EventInvalid, fmt.Sprintf("value: write %d does %q", i+1, short(w.str(wOp)))
			}
		case "list":
			if op != "append" && op != "delete" {
				return finding.EventInvalid, fmt.Sprintf("list: write %d does %q", i+1, short(w.str(wOp)))
			}
		default:
			return finding.EventUnknown, fmt.Sprintf("a write of kind %q", short(w.str(wKind)))
		}
	}
	return "", ""
}

// enter takes in the entries and rows of the line, which must have ids of their own and parents in front of them.
func (d *decoder) enter(r *session.Record) (code finding.Code, fault string) {
	for i := range d.l.writes {
		w := &d.l.writes[i]
		kind := string(w.str(wKind))
		if kind != "entry" && kind != "usage" {
			continue
		}
		id := session.MakeID(w.str(wID))
		if w.kind(wID) != '"' || id == (session.ID{}) {
			return finding.EventInvalid, fmt.Sprintf("%s: write %d has no id", kind, i+1)
		}
		if _, ok := d.ids[id]; ok {
			return finding.IDConflict, fmt.Sprintf("the id %q is used a second time", short(w.str(wID)))
		}
		if kind == "usage" {
			d.ids[id] = -1
			continue
		}
		n := node{up: -1}
		if w.kind(wParent) != 'n' {
			up, ok := d.ids[session.MakeID(w.str(wParent))]
			if !ok || up < 0 || w.kind(wParent) != '"' {
				return finding.ParentMissing, fmt.Sprintf("entry %q names the parent %q, which is not in front of it", short(w.str(wID)), short(w.str(wParent)))
			}
			n.up = up
		}
		if string(w.str(wType)) == "message" {
			switch string(w.str(wRole)) {
			case "assistant":
				n.role = answers
			case "toolResult":
				n.role, n.call = resultOf, session.MakeID(w.str(wCall))
			default:
				n.role = talks
			}
		}
		at := int32(len(d.nodes))
		d.ids[id] = at
		d.nodes = append(d.nodes, n)
		if n.role == answers {
			d.ask(at, r.Ref(), w)
		}
		if t, ok := safe(w.value(wTime)); ok {
			d.time = max(d.time, t)
		}
	}
	return "", ""
}

// ask notes the calls of an answer. One that failed or was given up asks for nothing.
func (d *decoder) ask(at int32, ref session.Ref, w *write) {
	a := asker{ref: ref}
	for i, k := range w.blocks {
		if string(w.inside(k.kind)) == "toolCall" {
			a.calls = append(a.calls, call{i, string(w.inside(k.id)), string(w.inside(k.name))})
		}
	}
	if stop := string(w.str(wStop)); len(a.calls) > 0 && stop != "error" && stop != "aborted" {
		d.asks[at] = a
	}
}

// End judges what the log leaves open.
func (d *decoder) End(b *format.Batch) {
	d.open = nil
	if !d.broken {
		d.lanes(b)
	}
}

var _ format.Settler = (*decoder)(nil)
