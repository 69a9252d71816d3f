package grok

import (
	"strconv"

	"github.com/sessfix/sessfix/format"
)

// summaryStep says in the summary that the history holds items, and how many: the client sets that number too when it writes the
// history anew. Where calls get their ends on the log it counts those lines as well.
type summaryStep struct {
	text  []byte
	items int64 // -1 = not known
	lines int64 // of the log, 0 = as many as there are
}

func beginSummary(s format.Source) (format.Stage, error) {
	if err := fit(s); err != nil {
		return nil, err
	}
	t := &summaryStep{items: -1}
	if s.Dir != nil {
		h := historyStep{}
		c := &tally{}
		ok := true
		there := recordsIn(s.Dir, historyName, 0, -1, func(raw []byte) { ok = ok && h.Record(format.Line{Raw: raw}, c) == nil })
		if ok && there {
			t.items = c.n
		}
		if n, more := touches(s); more {
			t.lines = n
		}
	}
	return t, nil
}

// tally counts records.
type tally struct{ n int64 }

// Put counts one.
func (c *tally) Put(format.Line) error { c.n++; return nil }

// Drop does not.
func (*tally) Drop(int64, string) {}

// Note does not.
func (*tally) Note(int64, string) {}

// Record gathers the lines of the summary, which is one object.
func (t *summaryStep) Record(l format.Line, _ format.Out) error {
	if len(t.text) > 0 {
		t.text = append(t.text, '\n')
	}
	if t.text = append(t.text, l.Raw...); len(t.text) > maxSummary {
		return format.Refuse(-1, "the summary is longer than any that a client writes")
	}
	return nil
}

// End writes it.
func (t *summaryStep) End(out format.Out) error {
	o, ok := openObject(t.text)
	if !ok {
		return format.Refuse(0, "the summary is no whole JSON object")
	}
	n, err := chatVersion(o)
	if err != nil {
		return format.Refuse(0, "the summary gives the history a version that is not known: %s", o.get("chat_format_version"))
	}
	if n == 0 {
		o.put("chat_format_version", current)
	}
	if t.items >= 0 && o.last("num_chat_messages") != nil && (n == 0 || t.lines > 0) {
		o.put("num_chat_messages", strconv.FormatInt(t.items, 10))
	}
	if t.lines > 0 && o.last("num_messages") != nil {
		o.put("num_messages", strconv.FormatInt(t.lines, 10))
	}
	return out.Put(format.Line{Raw: o.bytes(), N: 0})
}
