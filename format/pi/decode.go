package pi

import (
	"bytes"
	"strconv"
	"time"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// decoder decodes one session.
type decoder struct {
	dialect    dialect
	place      format.Place
	f          fields
	head       header
	generation int        // by the header
	linear     bool       // they have none, whatever the header says
	entries    int64      // so far
	named      int64      // those that have an id
	hooks      int64      // messages of hooks under the role of version 2
	typ        string     // of the record at hand
	role       string     // of its message
	last       session.ID // of a session whose entries have none
}

// Decode tells what a record means.
func (d *decoder) Decode(r *session.Record, b *format.Batch) {
	f := &d.f
	f.set(r.Raw, r.Caps)
	b.Unnumbered = true
	d.typ, d.role = d.word(r, b, kType, entryTypes), d.word(r, b, kRole, roles)
	if d.typ == "session" {
		d.header(r, b)
		return
	}
	if d.head.first.Len == 0 && d.entries == 0 {
		d.head.orphan = r.Ref()
	}
	if !f.Has(kType) && !f.Has(kID) && !f.Has(kMessage) {
		b.Stray = true
		return
	}
	if d.entries == 0 {
		d.linear = !f.Has(kID)
	}
	d.entries++
	if f.Has(kID) {
		d.named++
	}
	d.link(r, b)
	d.message(r, b)
}

// link reads the place of an entry in the tree.
func (d *decoder) link(r *session.Record, b *format.Batch) {
	f := &d.f
	l := session.Link{Kind: session.Note, Time: millis(f.Str(kTime))}
	if d.linear || d.generation == linear && !f.Has(kID) {
		// Without ids each entry stands behind the one in front of it.
		l.ID = lineID(r.N)
		l.Parent, l.Named = d.last, d.last != (session.ID{})
		d.last = l.ID
		if n, err := strconv.ParseInt(string(f.Value(kFirstIndex)), 10, 64); err == nil && n > 0 {
			c := f.At(kFirstIndex)
			l.PriorAt, l.PriorN = session.Sub{Off: c.Off, Len: c.Len}, n // counts all records, the header as well
		}
	} else {
		l.OwnAt, l.ID = d.ref(kID)
		l.UpAt, l.Parent = d.ref(kParent)
		l.PriorAt, l.Prior = d.ref(kFirstKept)
		l.Named = l.Parent != (session.ID{})
		l.Says = l.UpAt
		b.Bare = !l.Named && f.Kind(kParent) != 'n'
		l.PutAt = 1
		if f.Has(kType) {
			l.PutAt = f.At(kType).Off + f.At(kType).Len
		}
	}
	if f.Has(kTarget) {
		l.PriorAt, l.Prior = d.ref(kTarget)
	}
	switch d.typ {
	case "compaction":
		l.Kind = session.CompactionEnd
	case "branch_summary":
		if len(f.Str(kSummary)) > 0 {
			l.Kind = session.UserMessage
		}
	case "custom_message":
		l.Kind = session.UserMessage
	case "context_edit":
		if d.dialect.client.Edits {
			l.Kind = session.Edit
			l.Void = f.Kind(kReplacement) != '{'
		}
	case "message":
		l.Kind, l.Void = d.speaker()
	}
	if own := d.dialect.client.Entry; own != nil {
		own(d.typ, string(f.Str(kAside)) == "side", &l)
	}
	b.Link, b.Linked = l, true
	b.Time = l.Time
}

// lineID is the id, here, of a record that has none.
func lineID(n int64) session.ID { return session.ID{Hi: 1, Lo: uint64(n) + 1} }

// ref reads a reference to an entry: where it stands, quotes included, and what it says. Null and "" say nothing.
func (d *decoder) ref(key int) (session.Sub, session.ID) {
	c := d.f.At(key)
	at := session.Sub{Off: c.Off, Len: c.Len}
	if c.Len == 0 || c.Kind == 'n' || c.Kind == '"' && c.Len == 2 {
		return at, session.ID{}
	}
	return at, session.MakeID(d.f.Of(c))
}

// speaker is what a message is for the model, and whether it is never sent.
func (d *decoder) speaker() (kind session.Kind, void bool) {
	f := &d.f
	switch d.role {
	case "user", "custom", "hookMessage":
		return session.UserMessage, false
	case "bashExecution":
		if f.True(kExcluded) {
			return session.Note, false
		}
		return session.UserMessage, false
	case "assistant":
		stop := string(f.Str(kStop))
		return session.AssistantMessage, stop == "error" || stop == "aborted"
	case "toolResult":
		return session.CallResult, false
	case "system":
		return session.SystemMessage, false
	}
	return session.Note, false
}

// madeUp begin the texts of results that a recovery wrote in place of a real one.
var madeUp = [][]byte{
	[]byte(`"` + finding.ToolOutcomeUnknown + ":"), []byte(`"` + finding.ToolNotStarted + ":"), []byte(`"[openclaw] missing tool result`),
}

// message reads calls and results, and what the client breaks on.
func (d *decoder) message(r *session.Record, b *format.Batch) {
	f := &d.f
	kind := b.Link.Kind
	if kind != session.CallResult {
		b.Events = append(b.Events, session.Event{Kind: kind})
	}
	if d.typ == "message" && f.Kind(kMessage) != '{' {
		b.Husk = true
		return
	}
	switch kind {
	case session.SystemMessage:
		if d.head.cwd == "" && f.Kind(kCWDSection) == '"' {
			d.toldCWD()
		}
	case session.AssistantMessage:
		b.Events = f.calls(b.Events, f.blocks)
		d.answer(r, b)
	case session.Edit:
		b.Events = f.calls(b.Events, f.edited)
	case session.CallResult:
		e := session.Event{Kind: session.CallResult, Call: f.Sub(kCall), Name: f.Sub(kName)}
		if f.Has(kOurs) || f.True(kMadeUp) || d.invented() {
			e.Flags = session.Synthetic
		}
		b.Events = append(b.Events, e)
		d.contentless(r, b)
	case session.UserMessage:
		if d.role == "hookMessage" {
			d.hooks++
		}
		if d.typ == "message" && d.role == "user" {
			d.contentless(r, b)
		}
	}
}

// invented tells a result by the text that a recovery gives it.
func (d *decoder) invented() bool {
	text := d.f.Value(kContent)
	if i := bytes.Index(text[:min(len(text), 64)], []byte(`"text":`)); i >= 0 {
		text = bytes.TrimLeft(text[i+len(`"text":`):], " \t")
	}
	for _, p := range madeUp {
		if bytes.HasPrefix(text, p) {
			return true
		}
	}
	return false
}

// calls are those that an answer asks for; other clients on this format write two more names for them.
func (f *fields) calls(list []session.Event, blocks []block) []session.Event {
	for i := range blocks {
		switch k := &blocks[i]; string(f.Inside(k.kind)) {
		case "toolCall", "toolUse", "functionCall":
			list = append(list, session.Event{Kind: session.CallAsked, Call: k.id.Sub(), Name: k.name.Sub()})
		}
	}
	return list
}

// millis reads a time as the client writes it, 2026-01-02T03:04:05.678Z; 0 where it cannot.
func millis(s []byte) int64 {
	t, err := time.Parse(time.RFC3339, string(s))
	if err != nil {
		return 0
	}
	return t.UnixMilli()
}
