package grok

import (
	"strconv"

	"github.com/sessfix/sessfix/format"
)

// logStep puts lines of the log into an envelope. The first releases wrote only what stands in its params; one line tells from the
// other by that member. The time is that of the update, and no line is older than the one in front of it.
type logStep struct{ last int64 }

func beginLog(s format.Source) (format.Stage, error) {
	if err := fit(s); err != nil {
		return nil, err
	}
	return &logStep{}, nil
}

// Record gives a line its envelope where it has none.
func (t *logStep) Record(l format.Line, out format.Out) error {
	f, err := read(l.Raw)
	if err != nil {
		return format.Refuse(l.N, "the line is no whole record")
	}
	if f.Has(kParams) {
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
	if meta, ok := openObject(o.get("_meta")); ok {
		if ms, err := strconv.ParseInt(string(meta.get("agentTimestampMs")), 10, 64); err == nil {
			t.last = max(t.last, ms/1000)
		}
	}
	t.last = max(t.last, 0)
	raw := append([]byte(`{"timestamp":`+strconv.FormatInt(t.last, 10)+`,"method":"session/update","params":`), l.Raw...)
	return out.Put(format.Line{Raw: append(raw, '}'), N: l.N})
}

// End has nothing to add.
func (*logStep) End(format.Out) error { return nil }
