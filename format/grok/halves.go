package grok

import (
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/provider"
	"github.com/sessfix/sessfix/session"
)

// halves finds escapes that are half of a surrogate pair: the client reads no line that holds one.
func halves(r *session.Record, b *format.Batch) {
	at, _ := provider.Escapes(r.Raw, 0)
	if at < 0 {
		return
	}
	f := finding.About(finding.EventInvalid, r.Ref(), "surrogate", "half of a surrogate pair stands in the record: the client cannot read it")
	f.Repair = "U+FFFD takes its place"
	for ; at >= 0; at, _ = provider.Escapes(r.Raw, at+6) {
		f.Patches = append(f.Patches, finding.Patch{At: r.Text + int64(at), Del: 6, Ins: []byte(`\ufffd`)})
	}
	b.Findings = append(b.Findings, f)
}
