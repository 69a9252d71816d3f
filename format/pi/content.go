package pi

import (
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// What of a message the client cannot do without.
const (
	textContent = "text-content" // an answer's content is a string
	noUsage     = "no-usage"     // an answer without usage
)

// zeroUsage is the usage of an answer of which none is known.
const zeroUsage = `{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`

// answer reports what the client breaks on in an answer: it takes the content for an array, and adds the usage up.
func (d *decoder) answer(r *session.Record, b *format.Batch) {
	f := &d.f
	if f.Kind(kContent) == '"' {
		n := report(b, r, textContent, "an answer's content is a string: every prompt fails")
		n.Repair = "the string becomes a block of text"
		c := f.At(kContent)
		n.Patches = []finding.Patch{
			{At: r.Text + int64(c.Off), Ins: []byte(`[{"type":"text","text":`)},
			{At: r.Text + int64(c.Off+c.Len), Ins: []byte(`}]`)},
		}
	} else {
		d.contentless(r, b)
	}
	if f.Kind(kUsage) == '{' {
		return
	}
	n := report(b, r, noUsage, "an answer without usage: every prompt fails")
	n.Repair = "it gets a usage of zero"
	if c := f.At(kUsage); c.Len > 0 {
		n.Patches = []finding.Patch{{At: r.Text + int64(c.Off), Del: int64(c.Len), Ins: []byte(zeroUsage)}}
		return
	}
	c := f.At(kRole)
	n.Patches = []finding.Patch{{At: r.Text + int64(c.Off+c.Len), Ins: []byte(`,"usage":` + zeroUsage)}}
}

// contentless reports a message whose content is null or absent, which older releases break on.
func (d *decoder) contentless(r *session.Record, b *format.Batch) {
	f := &d.f
	switch c := f.At(kContent); c.Kind {
	case '"', '[':
	case 0:
		n := report(b, r, format.NoContent, "a message without content: releases up to 0.73.1 fail on it")
		n.Repair = "its content becomes an empty list"
		at := f.At(kRole)
		n.Patches = []finding.Patch{{At: r.Text + int64(at.Off+at.Len), Ins: []byte(`,"content":[]`)}}
	default:
		n := report(b, r, format.NoContent, "the content of a message is no list: releases up to 0.73.1 fail on it")
		n.Repair = "its content becomes an empty list"
		n.Patches = []finding.Patch{{At: r.Text + int64(c.Off), Del: int64(c.Len), Ins: []byte(`[]`)}}
	}
}

func report(b *format.Batch, r *session.Record, where, message string) *finding.Finding {
	n := add(b, finding.EventInvalid, r.Ref(), where, message)
	n.Never = "drop the record"
	return n
}
