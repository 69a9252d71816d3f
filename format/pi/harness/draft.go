package harness

import (
	"fmt"
	"slices"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// drafted decodes one session of the draft. Each line is one of
//
//	{"kind":"entry","lane":L,"type":T,"id":…,"parentId":…,"seq":N,"timestamp":MS,…}   without lane where it was copied
//	{"kind":"record","type":T,"id":…,"lane":L,"seq":N,"timestamp":MS,…}               what operations do
//	{"kind":"lane","seq":N,"lane":L,"leafId":…}                                       a lane begins, or goes elsewhere
//	{"kind":"fact","seq":N,"fact":"name"|"label",…}
type drafted struct {
	log
	l       line
	entries map[session.ID]bool // ids: true of entries, false of records
	leaves  map[string]session.ID
	open    []*started
}

// started is an operation without its end.
type started struct {
	lane, id string
	kind     string
	ref      session.Ref
	calls    []pursued
}

// pursued is a call that an operation asked for or started.
type pursued struct {
	id     string
	ref    session.Ref
	result session.ID // the entry that is to hold its result; zero where it did not start
	over   bool
}

func newDraft() *drafted {
	return &drafted{log: newLog(true), entries: map[session.ID]bool{}, leaves: map[string]session.ID{"main": {}}}
}

var (
	draftEntries = map[string]bool{
		"message": true, "model_change": true, "thinking_level_change": true, "active_tools_change": true, "compaction": true,
		"branch_summary": true, "custom": true,
	}
	draftRecords = map[string]bool{
		"operation_started": true, "abort_requested": true, "operation_finished": true, "step_attempt": true, "tool_started": true,
		"queue_enqueued": true, "queue_cancelled": true, "write_deferred": true, "usage": true,
	}
	draftIntents = map[string]bool{"run": true, "compaction": true, "navigation": true}
)

// Decode tells what a line means.
func (d *drafted) Decode(r *session.Record, b *format.Batch) {
	l := &d.l
	if !d.take(r, l) || l.array {
		d.bad(r, b, finding.EventInvalid, "", "the record cannot be read")
		return
	}
	if r.N == 0 && d.first(r, b, l, draft) {
		d.end = r.TextEnd() + 1
		return
	}
	w := &l.writes[0]
	b.Time = d.time
	b.Events = append(b.Events, session.Event{Kind: w.event()})
	if d.broken {
		b.Unnumbered = true
		return
	}
	if l.header() {
		d.again(r, b)
		d.end = r.TextEnd() + 1
		return
	}
	seq, ok := safe(w.value(wSeq))
	if !ok || seq < 1 {
		d.bad(r, b, finding.EventInvalid, "", "the line has no number")
		return
	}
	if !d.next(r, b, seq, seq) {
		return
	}
	b.Seq, b.Count, b.Numbered = seq, 1, true
	code, fault := finding.EventUnknown, ""
	switch kind := string(w.str(wKind)); kind {
	case "entry":
		code, fault = d.entry(r, w)
	case "record":
		code, fault = d.record(r, w)
	case "lane":
		code, fault = d.move(w)
	case "fact":
		code, fault = d.fact(w)
	default:
		fault = fmt.Sprintf("a line of kind %q", short(w.str(wKind)))
	}
	if fault != "" {
		d.bad(r, b, code, "", "%s", fault)
		return
	}
	if t, ok := safe(w.value(wTime)); ok {
		d.time = max(d.time, t)
		b.Time = d.time
	}
}

// owns looks at the id and time of an entry or a record.
func (d *drafted) owns(w *write, known map[string]bool) (code finding.Code, fault string) {
	kind := string(w.str(wKind))
	if w.kind(wID) != '"' {
		return finding.EventInvalid, kind + " without id"
	}
	if !known[string(w.str(wType))] {
		return finding.EventUnknown, fmt.Sprintf("%s of type %q", kind, short(w.str(wType)))
	}
	if t, ok := safe(w.value(wTime)); !ok || t < 0 {
		return finding.EventInvalid, kind + " without time"
	}
	if _, taken := d.entries[session.MakeID(w.str(wID))]; taken {
		return finding.IDConflict, fmt.Sprintf("the id %q is used a second time", short(w.str(wID)))
	}
	return "", ""
}

func (d *drafted) entry(r *session.Record, w *write) (code finding.Code, fault string) {
	if code, fault = d.owns(w, draftEntries); fault != "" {
		return code, fault
	}
	id, up := session.MakeID(w.str(wID)), session.MakeID(w.str(wParent))
	lane := string(w.str(wLane))
	leaf, known := d.leaves[lane]
	switch {
	case w.kind(wParent) != '"' && w.kind(wParent) != 'n', w.has(wLane) && w.kind(wLane) != '"':
		return finding.EventInvalid, "entry without parentId, or with a lane that is no string"
	case string(w.str(wType)) == "custom" && w.kind(wCustom) != '"':
		return finding.EventInvalid, "custom entry without customType"
	case w.has(wLane) && !known:
		return finding.EventInvalid, fmt.Sprintf("entry of lane %q, which does not exist", short(w.str(wLane)))
	case w.has(wLane) && leaf != up:
		return finding.EventInvalid, fmt.Sprintf("entry %q does not hang under the last one of lane %q", short(w.str(wID)), short(w.str(wLane)))
	case w.kind(wParent) == '"' && !d.entries[up]:
		return finding.ParentMissing, fmt.Sprintf("entry %q names the parent %q, which is not in front of it", short(w.str(wID)), short(w.str(wParent)))
	}
	d.entries[id] = true
	if w.has(wLane) {
		d.leaves[lane] = id
	}
	for _, o := range d.open {
		if o.lane == lane {
			o.meets(r.Ref(), id, w)
		}
	}
	return "", ""
}

// meets notes the calls that an entry of the operation's lane asks for or answers.
func (o *started) meets(ref session.Ref, id session.ID, w *write) {
	switch stop := string(w.str(wStop)); string(w.str(wRole)) {
	case "assistant":
		for _, k := range w.blocks {
			if string(w.inside(k.kind)) == "toolCall" && stop != "error" && stop != "aborted" {
				o.calls = append(o.calls, pursued{id: string(w.inside(k.id)), ref: ref})
			}
		}
	case "toolResult":
		for i := range o.calls {
			c := &o.calls[i]
			if c.result == id || c.result == (session.ID{}) && c.id == string(w.str(wCall)) {
				c.over = true
			}
		}
	}
}

func (d *drafted) record(r *session.Record, w *write) (code finding.Code, fault string) {
	if code, fault = d.owns(w, draftRecords); fault != "" {
		return code, fault
	}
	lane, typ := string(w.str(wLane)), string(w.str(wType))
	_, known := d.leaves[lane]
	switch {
	case w.kind(wLane) != '"' || !known:
		return finding.EventInvalid, fmt.Sprintf("record of lane %q, which does not exist", short(w.str(wLane)))
	case typ == "operation_started" && !draftIntents[string(w.str(wIntent))]:
		return finding.EventInvalid, "operation_started without intent"
	case typ == "operation_finished" && w.kind(wRun) != '"':
		return finding.EventInvalid, "operation_finished without runId"
	}
	d.entries[session.MakeID(w.str(wID))] = false
	at := slices.IndexFunc(d.open, func(o *started) bool { return o.lane == lane && o.id == string(w.str(wRun)) })
	switch {
	case typ == "operation_started":
		d.open = append(d.open, &started{lane: lane, id: string(w.str(wID)), kind: string(w.str(wIntent)), ref: r.Ref()})
	case typ == "operation_finished" && at >= 0:
		d.open = slices.Delete(d.open, at, at+1)
	case typ == "tool_started" && at >= 0:
		d.open[at].starts(r.Ref(), w)
	}
	return "", ""
}

// starts notes that a call began.
func (o *started) starts(ref session.Ref, w *write) {
	id, result := string(w.str(wCallOf)), session.MakeID(w.str(wResult))
	for i := len(o.calls) - 1; i >= 0; i-- {
		if c := &o.calls[i]; c.id == id && c.result == (session.ID{}) {
			c.ref, c.result = ref, result
			return
		}
	}
	o.calls = append(o.calls, pursued{id: id, ref: ref, result: result})
}

func (d *drafted) move(w *write) (code finding.Code, fault string) {
	leaf := session.MakeID(w.str(wLeaf))
	switch {
	case w.kind(wLane) != '"' || w.kind(wLeaf) != '"' && w.kind(wLeaf) != 'n':
		return finding.EventInvalid, "lane without name or leafId"
	case w.kind(wLeaf) == '"' && !d.entries[leaf]:
		return finding.ParentMissing, fmt.Sprintf("lane %q goes to entry %q, which is not in front of it", short(w.str(wLane)), short(w.str(wLeaf)))
	}
	d.leaves[string(w.str(wLane))] = leaf
	return "", ""
}

func (d *drafted) fact(w *write) (code finding.Code, fault string) {
	word := func(key int) bool { return !w.has(key) || w.kind(key) == '"' }
	switch string(w.str(wFact)) {
	case "name":
		if !word(wName) {
			return finding.EventInvalid, "the name is no string"
		}
	case "label":
		if !word(wLabel) || w.kind(wTarget) != '"' {
			return finding.EventInvalid, "label without target, or no string"
		}
		if !d.entries[session.MakeID(w.str(wTarget))] {
			return finding.ParentMissing, fmt.Sprintf("a label of entry %q, which is not in front of it", short(w.str(wTarget)))
		}
	default:
		return finding.EventUnknown, fmt.Sprintf("a fact of kind %q", short(w.str(wFact)))
	}
	return "", ""
}

// End reports operations without end. They are not ended here: no release opens such a session to go on with it.
func (d *drafted) End(b *format.Batch) {
	if d.broken {
		return
	}
	for _, o := range d.open {
		f := finding.New(finding.OpenTurn)
		f.Span, f.Record, f.Where = o.ref.Span, o.ref, "tail"
		f.Message = fmt.Sprintf("operation %q of lane %q, a %s, is open at the end of the log", short([]byte(o.id)), short([]byte(o.lane)), o.kind)
		f.Repair = "nothing: no release goes on with an operation of this draft"
		b.Findings = append(b.Findings, f)
		for _, c := range o.calls {
			if c.over {
				continue
			}
			f := finding.New(finding.DanglingCall)
			f.Span, f.Record, f.Where, f.CallID = c.ref.Span, c.ref, "tail", c.id
			f.Message = fmt.Sprintf("call %q has not started", short([]byte(c.id)))
			f.Never = "pretend that it succeeded"
			if c.result != (session.ID{}) {
				f.Message = fmt.Sprintf("call %q has started and has no result", short([]byte(c.id)))
				f.Never = "repeat it blindly: it may have run"
			}
			f.Repair = "nothing: no release goes on with an operation of this draft"
			b.Findings = append(b.Findings, f)
		}
	}
}
