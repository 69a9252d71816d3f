package codex

import (
	"bytes"
	"time"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// decoder decodes one rollout.
type decoder struct {
	dialect dialect
	place   format.Place
	f       fields
	header  bool
	first   bool   // a record was seen
	cwd     []byte // the newest that a turn names, as it is written
	stamp   []byte // the timestamp of the record in front, as it is written
	thread  string // the newest thread's id that a record bears

	late         session.Ref // a header that is not the first record
	lateRaw      []byte
	lateSeq      int64
	lateNumber   session.Capture // of its ordinal
	firstNumber  finding.Patch   // where that of the first record stands
	lost         session.Ref     // the first record, where the header is lost
	firstTime    []byte          // its timestamp, as it is written
	firstOrdinal int64
	lacks        []int       // members that the header lacks
	meant        session.Ref // that header
	metaRaw      []byte
	other        session.Ref // a header with another id than the file's name
	otherID      session.Capture
	otherSession session.Capture
	says         string
}

// Decode tells what a record means.
func (d *decoder) Decode(r *session.Record, b *format.Batch) {
	f := &d.f
	f.set(r.Raw, r.Caps)
	b.Time = millis(f.Str(kTime))
	first := !d.first
	d.first = true
	if d.dialect.generation == bare {
		d.bare(r, b, first)
		return
	}
	typ := string(f.Str(kType))
	if first && !topTypes[typ] && f.Kind(kID) == '"' && f.Has(kCreated) && f.Has(kCWD) {
		typ = "session_meta" // with a bad letter in its type
		d.lacks = append(d.lacks, kType)
	}
	if d.dialect.generation == paginated {
		b.Seq, b.Numbered = f.count(kOrdinal)
	} else {
		b.Unnumbered = true
	}
	if first {
		d.firstTime, d.firstOrdinal = d.whole(r, f.Value(kTime)), b.Seq
		c := f.At(kOrdinal)
		d.firstNumber = finding.Patch{At: r.Text + int64(c.Off), Del: int64(c.Len)}
		if typ != "session_meta" {
			d.lost = r.Ref()
		}
	}
	if d.timeless(r, b); f.Kind(kTime) == '"' && r.Marks&session.Salvaged == 0 {
		d.stamp = append(d.stamp[:0], f.Value(kTime)...)
	}
	if v := f.Str(kThread); len(v) > 0 && d.thread != string(v) {
		d.thread = string(v)
	}
	switch typ {
	case "session_meta":
		d.meta(r, b, first)
	case "response_item":
		c := f.At(kPayload)
		b.Body = session.Sub{Off: c.Off, Len: c.Len}
		d.item(b, kKind, kRole, kCall, kName, kExecution)
		d.madeUp(b, kOutput)
	case "event_msg":
		d.event(b)
	case "compacted":
		d.compacted(b)
	case "turn_context":
		if f.Kind(kCWD) == '"' && !bytes.Equal(d.cwd, f.Value(kCWD)) {
			d.cwd = d.whole(r, f.Value(kCWD))
		}
		b.Events = append(b.Events, session.Event{Kind: session.Setting})
	case "world_state":
		b.Events = append(b.Events, session.Event{Kind: session.Setting})
	default:
		b.Events = append(b.Events, session.Event{Kind: session.Note})
	}
}

// timeless reports a record without timestamp, which the client passes over (measured with 0.171.0; one that it cannot
// read does not matter). It gets that of the record in front.
func (d *decoder) timeless(r *session.Record, b *format.Batch) {
	if d.f.Has(kTime) || len(d.stamp) == 0 || !d.f.enveloped() {
		return
	}
	at := bytes.IndexByte(r.Raw, '{') + 1
	n := finding.New(finding.EventInvalid)
	n.Span, n.Record, n.Where, n.Message = r.Span, r.Ref(), "timeless", "the record has no timestamp"
	n.Repair = "it gets the time of the record in front of it"
	n.Never = "drop the record"
	n.Patches = []finding.Patch{{At: r.Text + int64(at), Ins: []byte(`"timestamp":` + string(d.stamp) + `,`)}}
	b.Findings = append(b.Findings, n)
}

// whole is a copy of a value as it will be once its record is mended.
func (d *decoder) whole(r *session.Record, value []byte) []byte {
	if r.Marks&session.Salvaged != 0 && len(value) > 0 {
		return bytes.Clone(scan.MendRecord(value))
	}
	return bytes.Clone(value)
}

// Classes of calls: a call is answered by an output of its own class.
const (
	function = 1 + iota
	custom
	search
)

// item reads what the model gets.
func (d *decoder) item(b *format.Batch, kind, role, call, name, execution int) {
	f := &d.f
	e := session.Event{Kind: session.Delta, Call: f.Sub(call), Name: f.Sub(name)}
	class, result := classOf(string(f.Str(kind)), string(f.Str(execution)))
	switch {
	case class > 0 && e.Call.Len > 0:
		e.Class, e.Kind = class, session.CallAsked
		if result {
			e.Kind = session.CallResult
		}
	default:
		e.Call, e.Name = session.Sub{}, session.Sub{}
		switch string(f.Str(kind)) {
		case "message":
			e.Kind = roleKind(string(f.Str(role)))
		case "agent_message":
			e.Kind = session.UserMessage
		case "ghost_snapshot", "":
			e.Kind = session.Note
		}
	}
	b.Events = append(b.Events, e)
}

func roleKind(role string) session.Kind {
	switch role {
	case "user":
		return session.UserMessage
	case "assistant":
		return session.AssistantMessage
	}
	return session.SystemMessage
}

// classOf is the class of a call or output, 0 for what is neither or answers itself.
func classOf(kind, execution string) (class uint8, result bool) {
	switch kind {
	case "function_call", "local_shell_call":
		return function, false
	case "function_call_output":
		return function, true
	case "custom_tool_call":
		return custom, false
	case "custom_tool_call_output":
		return custom, true
	case "tool_search_call":
		if execution != "server" {
			return search, false
		}
	case "tool_search_output":
		if execution != "server" {
			return search, true
		}
	}
	return 0, false
}

// madeUp marks outputs that a recovery wrote: ours, and the client's word for a call that it gave up.
func (d *decoder) madeUp(b *format.Batch, output int) {
	e := &b.Events[len(b.Events)-1]
	if e.Kind != session.CallResult {
		return
	}
	text := d.f.Str(output)
	if string(text) == "aborted" || bytes.HasPrefix(text, []byte(finding.ToolOutcomeUnknown+":")) {
		e.Flags |= session.Synthetic
	}
}

// finished are the items whose completion shows that a call ran to its end.
func finished(item string) bool {
	switch item {
	case "CommandExecution", "FileChange", "McpToolCall":
		return true
	}
	return false
}

// event reads what the display gets.
func (d *decoder) event(b *format.Batch) {
	f := &d.f
	e := session.Event{Kind: session.Note}
	switch string(f.Str(kKind)) {
	case "task_started", "turn_started":
		e.Kind, e.ID, e.Root = session.TurnStart, f.Sub(kTurn), f.Sub(kRootTurn)
	case "task_complete", "turn_complete", "turn_aborted":
		e.Kind, e.ID = session.TurnEnd, f.Sub(kTurn)
	case "user_message":
		e.Kind = session.Prompt
	case "thread_rolled_back":
		e.Kind = session.Rollback
		if n, ok := f.count(kTurnsBack); ok {
			e.Turn = int32(min(n, 1<<30))
		}
	case "item_completed":
		switch item := string(f.Str(kItemType)); {
		case finished(item) && f.Sub(kItemID).Len > 0:
			e.Kind, e.Call = session.CallFinished, f.Sub(kItemID)
		case item == "UserMessage":
			e.Kind = session.Prompt
		}
	case "thread_settings_applied":
		e.Kind = session.Setting
	}
	b.Events = append(b.Events, e)
}

// compacted reads the border behind which a shorter history stands for the longer one.
func (d *decoder) compacted(b *format.Batch) {
	b.Events = append(b.Events, session.Event{Kind: session.CompactionEnd})
	for _, it := range d.f.items {
		class, result := classOf(string(d.f.Inside(it.kind)), string(d.f.Inside(it.execution)))
		if class == 0 || it.call.Sub().Len == 0 {
			continue
		}
		e := session.Event{Kind: session.CallAsked, Class: class, Call: it.call.Sub(), Flags: session.Inherited}
		if result {
			e.Kind = session.CallResult
		}
		b.Events = append(b.Events, e)
	}
}

// bare reads a record of the oldest rollouts.
func (d *decoder) bare(r *session.Record, b *format.Batch, first bool) {
	f := &d.f
	b.Unnumbered = true
	switch {
	case f.bareHeader():
		if first {
			b.Header = &format.Header{ID: string(f.Str(kBareID))}
			d.header = true
			d.unread(r, b)
		}
		b.Events = append(b.Events, session.Event{Kind: session.Header})
		return
	case first:
		d.lost = r.Ref()
	case f.Has(kRecordType):
		b.Events = append(b.Events, session.Event{Kind: session.Note})
		return
	}
	d.item(b, kType, kBareRole, kBareCall, kBareName, kExecution)
	d.madeUp(b, kBareOutput)
}

// firstEnveloped is the first release measured that does not read bare rollouts.
const firstEnveloped = 42_000

// unread notes a rollout of the oldest kind, which later releases take for empty.
func (d *decoder) unread(r *session.Record, b *format.Batch) {
	if d.dialect.rank < firstEnveloped {
		return
	}
	n := finding.New(finding.VersionOld)
	n.Span, n.Record = r.Span, r.Ref()
	n.Message = "a rollout of the oldest kind, without envelopes: later releases take it for empty"
	b.Findings = append(b.Findings, n)
}

// millis reads a time as the client writes it, 0 where it cannot.
func millis(s []byte) int64 {
	if len(s) < 20 {
		return 0
	}
	t, err := time.Parse(time.RFC3339, string(s))
	if err != nil {
		return 0
	}
	return t.UnixMilli()
}
