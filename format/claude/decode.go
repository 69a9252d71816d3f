package claude

import (
	"bytes"
	"time"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/provider"
	"github.com/sessfix/sessfix/session"
)

// decoder decodes one transcript.
type decoder struct {
	dialect dialect
	place   format.Place
	f       fields
	named   bool // the session's id is known
	told    bool // the writer's release is
	nodes   int64
	timed   bool      // a node with a time was seen
	untimed []untimed // the nodes, as long as none has a time
	side    int64     // the time of the last side record that has one, Unix ms
	stamped bool      // one has a timestamp that cannot be read
	node    session.Ref

	blocks   []provider.Block
	problems []provider.Problem
	types    map[string]bool // of nodes, that are not known
	spilled  map[string]bool // recorded paths of results that are not there
}

// untimed is a node without a time: where its first member begins, and the time of the side record in front of it.
type untimed struct{ at, near int64 }

// Decode tells what a record means.
func (d *decoder) Decode(r *session.Record, b *format.Batch) {
	f := &d.f
	f.set(r.Raw, r.Caps)
	b.Unnumbered = true
	if !d.named && f.Kind(kSession) == '"' || !d.told && f.Kind(kVersion) == '"' {
		d.named, d.told = true, f.Kind(kVersion) == '"'
		b.Header = &format.Header{ID: string(f.Str(kSession)), CWD: string(f.Str(kCWD)), Version: string(f.Str(kVersion))}
	}
	if r.N == 0 {
		d.sideFirst(r, b)
	}
	if string(f.Str(kType)) == "last-prompt" {
		if f.Kind(kLeaf) == '"' {
			b.Leaf, b.Points = session.MakeID(f.Str(kLeaf)), true
		}
		return
	}
	if f.Kind(kUUID) != '"' || len(f.Str(kUUID)) == 0 {
		if t, err := time.Parse(time.RFC3339, string(f.Str(kTime))); err == nil && !d.timed {
			d.side = t.UnixMilli()
		}
		return
	}
	d.link(b)
	d.strange(r, b)
	if d.nodes == 0 {
		d.node = r.Ref()
	}
	d.nodes++
	d.stamped = d.stamped || f.Has(kTime)
	if b.Link.Time != 0 {
		d.timed, d.untimed = true, nil
	}
	if !d.timed {
		d.untimed = append(d.untimed, untimed{r.Text + int64(bytes.IndexByte(r.Raw, '{')) + 1, d.side})
	}
	d.content(r, b)
	if f.Kind(kSpill) == '"' {
		d.spill(r, b)
	}
}

// lastProgress is the last release known to stop, on the way up, at a progress record. All stop at a type that they do not know.
const lastProgress = 2_000_076

// link reads the place of a node in the tree.
func (d *decoder) link(b *format.Batch) {
	f := &d.f
	l := session.Link{
		ID: session.MakeID(f.Str(kUUID)), Kind: session.Note, Side: f.True(kSide), Time: millis(f.Str(kTime)),
		Fresh: string(f.Value(kTurnIndex)) == "1",
	}
	if c := f.At(kUUID); c.Len > 0 {
		l.OwnAt = session.Sub{Off: c.Off, Len: c.Len}
	}
	if p := f.Str(kParent); len(p) > 0 {
		l.Parent, l.Named, l.Says = session.MakeID(p), true, f.At(kParent).Sub()
	}
	switch string(f.Str(kType)) {
	case "user":
		l.Kind = session.UserMessage
		if f.True(kSummary) {
			l.Kind = session.Summary
		}
		l.Void = f.Kind(kContent) == 'n' || !f.Has(kContent)
		l.Passed = d.passed()
		l.Idle = bytes.HasPrefix(f.Str(kContent), []byte("<local-command")) || bytes.HasPrefix(f.Str(kContent), []byte("<command-"))
	case "assistant":
		l.Kind = session.AssistantMessage
		l.Group = session.MakeID(f.Str(kMsgID))
		l.MadeUp = string(f.Str(kModel)) == "<synthetic>"
		l.Void = f.True(kAPIError) || f.Kind(kContent) == 'n' || !f.Has(kContent)
		l.Passed = d.passed()
	case "system":
		if string(f.Str(kSubtype)) == "compact_boundary" {
			l.Kind = session.CompactionEnd
			l.Prior = session.MakeID(f.Str(kLogical))
			if l.Anchor = session.MakeID(f.Str(kAnchor)); l.Anchor == (session.ID{}) {
				l.Anchor = session.MakeID(f.Str(kSegAnchor))
			}
			for _, k := range f.keeps {
				b.Keeps = append(b.Keeps, session.MakeID(f.Inside(k)))
			}
		}
	case "attachment":
	case "progress":
		l.Opaque = d.dialect.rank <= lastProgress
		l.Passed = d.dialect.heals()
	default:
		l.Opaque = true
	}
	b.Link, b.Linked = l, true
}

// passed tells a message whose content is neither text nor blocks: newer clients take it out of the tree.
func (d *decoder) passed() bool {
	k := d.f.Kind(kContent)
	return d.dialect.heals() && k != '"' && k != '['
}

// madeUp begin the results that a recovery writes in place of a real one: the client's, and ours.
var madeUp = [][]byte{[]byte("[Tool call interrupted"), []byte(finding.ToolOutcomeUnknown + ":")}

// content reads calls and results, and what the provider would refuse.
func (d *decoder) content(r *session.Record, b *format.Batch) {
	f := &d.f
	b.Events = append(b.Events, session.Event{Kind: b.Link.Kind})
	for i := range f.blocks {
		k := &f.blocks[i]
		switch {
		case b.Link.Kind == session.AssistantMessage && string(f.Inside(k.kind)) == "tool_use":
			b.Events = append(b.Events, session.Event{Kind: session.CallAsked, Call: k.id.Sub(), Name: k.name.Sub()})
		case b.Link.Kind == session.UserMessage && string(f.Inside(k.kind)) == "tool_result":
			e := session.Event{Kind: session.CallResult, Call: k.call.Sub()}
			if string(f.Str(kDenial)) == "interrupted" {
				e.Flags = session.Synthetic
			}
			for _, p := range madeUp {
				if bytes.HasPrefix(f.Inside(k.content), p) {
					e.Flags = session.Synthetic
				}
			}
			b.Events = append(b.Events, e)
		}
	}
	switch {
	case !b.Link.Void:
		d.refused(r, b)
	case !f.True(kAPIError):
		d.contentless(r, b)
	}
}

// End says what only the whole transcript shows.
func (d *decoder) End(b *format.Batch) {
	if d.nodes > 0 && !d.timed {
		n := finding.New(finding.EventInvalid)
		n.Span, n.Record, n.Where = d.node.Span, d.node, timeless
		n.Message = "no record has a timestamp: the client does not find the session"
		n.Repair = "each record gets one, in the order of the file: that of the side record in front of it, a millisecond apart, or from 1970 on; the true times are not known"
		n.Never = "drop the records"
		if !d.stamped {
			last := int64(-1)
			for _, u := range d.untimed {
				last = max(last+1, u.near)
				stamp := time.UnixMilli(last).UTC().Format("2006-01-02T15:04:05.000Z")
				n.Patches = append(n.Patches, finding.Patch{At: u.at, Ins: []byte(`"timestamp":"` + stamp + `",`)})
			}
		} else {
			n.Cure, n.Where = finding.Refuse, "unreadable"
		}
		b.Findings = append(b.Findings, n)
	}
}

// millis reads a time as the client writes it, 2026-01-02T03:04:05.678Z, as a number that sorts
// as time does; 0 where it cannot.
func millis(s []byte) int64 {
	if len(s) < 19 || s[4] != '-' || s[10] != 'T' {
		return 0
	}
	if s[len(s)-1] != 'Z' { // of another writer: with its distance from UTC
		if at, err := time.Parse(time.RFC3339, string(s)); err == nil {
			s = at.UTC().AppendFormat(nil, "2006-01-02T15:04:05.000Z")
		}
	}
	var v int64
	for _, c := range s[:19] {
		if c >= '0' && c <= '9' {
			v = v*10 + int64(c-'0')
		}
	}
	v *= 1000
	unit := int64(100)
	for k := 20; k < len(s) && unit > 0 && s[19] == '.' && s[k] >= '0' && s[k] <= '9'; k++ {
		v += unit * int64(s[k]-'0')
		unit /= 10
	}
	return v
}
