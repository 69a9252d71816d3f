package grok

import (
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// log decodes the events: whether the last turn ended.
type log struct {
	f     fields
	e     events
	began session.Ref
}

// Decode tells what an event means.
func (d *log) Decode(r *session.Record, b *format.Batch) {
	d.f.set(r.Raw, r.Caps)
	b.Unnumbered = true
	b.Events = append(b.Events, session.Event{Kind: session.Note})
	if d.e.ended == nil {
		d.e.ended = map[string]bool{}
	}
	turns := d.e.turns
	if d.e.take(&d.f); d.e.turns > turns {
		d.began = r.Ref()
	}
}

// End says that the last turn is open.
func (d *log) End(b *format.Batch) {
	if !d.e.open {
		return
	}
	f := finding.About(finding.OpenTurn, d.began, "tail", "the last turn did not end: the client ends it when it opens the session, and tells the model so")
	f.Repair = "an event is added that ends it as interrupted"
	b.Findings = append(b.Findings, f)
}

// Settle is the event that ends the turn.
func (d *log) Settle() ([]format.Closing, error) {
	if !d.e.open {
		return nil, nil
	}
	return []format.Closing{{Line: []byte(`{"ts":"` + d.e.last + `","type":"turn_ended","outcome":"interrupted"}` + "\n"), Kind: "turn_ended"}}, nil
}

var _ format.Settler = (*log)(nil)
