package grok

import (
	"bytes"
	"io/fs"
	"slices"
	"strconv"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// bareEnds ends calls on lines without an envelope that have no end there: with the result that the history has, as a repair would, or at
// the end of the log with what is known of them.
type bareEnds struct {
	dir   fs.FS
	calls []string // of the turn, as written
	id    []byte   // the session's, as written
	stamp int64
	told  *told
	line  *updates // writes lines
}

// bare takes in a line without an envelope.
func (b *bareEnds) bare(o *object, stamp, last int64, out format.Out) error {
	u, _ := openObject(o.get("update"))
	var err error
	id := u.get("toolCallId")
	switch u.str("sessionUpdate") {
	case "user_message_chunk":
		err = b.tell(false, last, out)
	case "tool_call":
		if kindOf(id) == '"' && plain(id) {
			b.calls = append(b.calls, string(id[1:len(id)-1]))
		}
		fallthrough
	case "tool_call_update":
		if s := u.str("status"); s == "completed" || s == "failed" {
			b.ended(within(string(id)))
		}
	}
	b.id, b.stamp = bytes.Clone(o.get("sessionId")), max(b.stamp, stamp)
	return err
}

// wrapped takes in one that has an envelope.
func (b *bareEnds) wrapped(f *fields, last int64, out format.Out) error {
	switch string(f.Str(kUpdate)) {
	case "user_message_chunk", "turn_completed":
		return b.tell(false, last, out)
	case "tool_call_update":
		if s := string(f.Str(kStatus)); s == "completed" || s == "failed" {
			b.ended(f.Str(kCallOf))
		}
	}
	return nil
}

func (b *bareEnds) ended(id []byte) {
	b.calls = slices.DeleteFunc(b.calls, func(c string) bool { return c == string(id) })
}

// tell writes the ends. In front of the end of the log a call that gave nothing was stopped.
func (b *bareEnds) tell(tail bool, last int64, out format.Out) error {
	calls := b.calls
	b.calls = nil
	for _, id := range calls {
		if b.told == nil {
			b.begin()
		}
		r, ok := b.told.result(id)
		said := within(r)
		status, mark := "completed", "FROM_CHAT_HISTORY"
		switch {
		case ok && !invented(said):
		case !tail:
			continue
		case ok && ownCode(said) != "":
			status, mark = "failed", ownCode(said)
		default:
			e := readEvents(b.dir)
			code, words := e.grade(b.dir, id, slices.IndexFunc(b.told.asks, func(a ask) bool { return a.id == id }))
			status, mark, r = "failed", code, `"`+words+`"`
		}
		raw := b.line.lineAt(strconv.FormatInt(max(last, 0), 10), b.stamp, "session/update", callEnd(id, status, r), "", mark)
		why := "the log told no end of call " + id + ": it is that of the history"
		if mark == finding.ToolOutcomeUnknown || mark == finding.ToolNotStarted {
			why = "the log told no end of call " + id + ": " + mark
		}
		if err := out.Put(format.Line{Raw: bytes.TrimSuffix(raw, []byte{'\n'}), N: -1, Why: why}); err != nil {
			return err
		}
	}
	return nil
}

// begin looks into the history, and for the highest number of an event.
func (b *bareEnds) begin() {
	h := readHistory(b.dir)
	b.told, b.line = &h, &updates{id: string(bytes.Trim(b.id, `"`))}
	records(b.dir, updatesName, 0, -1, keys[:], func(r *session.Record) {
		var f fields
		f.set(r.Raw, r.Caps)
		event := f.Str(kEvent)
		if o, ok := openObject(r.Raw); !f.Has(kParams) && ok {
			if meta, ok := openObject(o.get("_meta")); ok {
				event = []byte(meta.str("eventId"))
			}
		}
		if n, ok := counter(event); ok {
			b.line.high = max(b.line.high, n)
		}
	})
}
