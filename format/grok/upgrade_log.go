package grok

import (
	"strconv"

	"github.com/sessfix/sessfix/format"
)

// logStep puts lines of the log into an envelope. The first releases wrote only what stands in its params; one line tells from the
// other by that member. The time is that of the update, and no line is older than the one in front of it. Lines without an envelope no
// client shows, so that nobody missed the end of a call among them; those that have none get it now.
type logStep struct {
	ends *bareEnds // nil where none are told
	last int64     // the time of the line in front
}

func beginLog(s format.Source) (format.Stage, error) {
	if err := fit(s); err != nil {
		return nil, err
	}
	return newLogStep(s), nil
}

func newLogStep(s format.Source) *logStep {
	if s.Dir == nil {
		return &logStep{}
	}
	return &logStep{ends: &bareEnds{dir: s.Dir}}
}

// Record gives a line its envelope where it has none.
func (t *logStep) Record(l format.Line, out format.Out) error {
	f, err := read(l.Raw)
	if err != nil {
		return format.Refuse(l.N, "the line is no whole record")
	}
	if f.Has(kParams) {
		if t.ends != nil {
			if err := t.ends.wrapped(f, t.last, out); err != nil {
				return err
			}
		}
		if n, err := strconv.ParseInt(string(f.Value(kTime)), 10, 64); err == nil {
			t.last = n
		}
		return out.Put(l)
	}
	o, ok := openObject(l.Raw)
	if !ok {
		return format.Refuse(l.N, "the line is no JSON object that the client could read")
	}
	if kindOf(o.get("sessionId")) != '"' || kindOf(o.get("update")) != '{' {
		return format.Refuse(l.N, "the line is an update of the log neither as it is written now nor as it was first")
	}
	stamp := bareStamp(o)
	if t.ends != nil {
		if err := t.ends.bare(o, stamp, t.last, out); err != nil {
			return err
		}
	}
	t.last = max(t.last, stamp/1000, 0)
	raw := append([]byte(`{"timestamp":`+strconv.FormatInt(t.last, 10)+`,"method":"session/update","params":`), l.Raw...)
	return out.Put(format.Line{Raw: append(raw, '}'), N: l.N})
}

// End ends what is open at the end of the log.
func (t *logStep) End(out format.Out) error {
	if t.ends == nil {
		return nil
	}
	return t.ends.tell(true, t.last, out)
}

// bareStamp is the time of an update without an envelope, in ms.
func bareStamp(o *object) int64 {
	meta, ok := openObject(o.get("_meta"))
	if !ok {
		return 0
	}
	ms, err := strconv.ParseInt(string(meta.get("agentTimestampMs")), 10, 64)
	if err != nil {
		return 0
	}
	return ms
}

// touches tells whether the step would add lines to the log of a session: how many it has then.
func touches(s format.Source) (n int64, more bool) {
	t, had := newLogStep(s), int64(0)
	c := &tally{}
	ok := recordsIn(s.Dir, updatesName, 0, -1, func(raw []byte) {
		had++
		t.Record(format.Line{Raw: raw}, c)
	})
	return c.n, ok && t.End(c) == nil && c.n > had
}
