package grok

import (
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// points decodes the files as they were at each prompt: only their bytes are judged.
type points struct{}

// Decode takes a point as it is.
func (points) Decode(_ *session.Record, b *format.Batch) {
	b.Unnumbered = true
	b.Events = append(b.Events, session.Event{Kind: session.Note})
}

// End has nothing to add.
func (points) End(*format.Batch) {}
