package harness

import (
	"fmt"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// header tells a header, of whatever version.
func (l *line) header() bool {
	return !l.array && string(l.Str(wKind)) == "header" && !l.Has(wSeq) && (l.Has(hV) || l.Has(hVersion))
}

func (l *line) title() format.Header {
	return format.Header{ID: string(l.Str(wID)), CWD: string(l.Str(hCWD)), Parent: string(l.Str(hParent))}
}

// lacks says what the client does not take in a header, empty where it takes it.
func (l *line) lacks(generation string) string {
	least := func(key int, min int64) bool {
		n, ok := safe(l.Value(key))
		return ok && n >= min
	}
	word := func(key int) bool { return !l.Has(key) || l.Kind(key) == '"' }
	switch {
	case l.Kind(wID) != '"':
		return "the id is missing or no string"
	case l.Kind(hCWD) != '"':
		return "cwd is missing or no string"
	case !least(hCreated, 0):
		return "createdAt is missing or no time"
	case generation == current && !least(hStorage, 1):
		return "storageVersion is missing or no number"
	case generation == current && l.Has(hNext) && !least(hNext, 1):
		return "nextSeq is no number"
	case !word(hParent):
		return "parentSessionId is no string"
	case !word(hLegacyParent):
		return "legacyParentSessionPath is no string"
	case generation == draft && l.Has(hParent) && l.Has(hLegacyParent):
		return "parentSessionId and legacyParentSessionPath are both there"
	case generation == draft && l.Has(hMetadata) && l.Kind(hMetadata) != '{':
		return "metadata is no object"
	}
	return ""
}

// first judges a log's first record. It tells whether that is a header.
func (g *log) first(r *session.Record, b *format.Batch, l *line, generation string) bool {
	if !l.header() {
		f := finding.New(finding.HeaderMissing)
		f.Span, f.Record = r.Span, r.Ref()
		f.Message = "the log does not begin with a header"
		b.Findings = append(b.Findings, f)
		g.broken = true
		return false
	}
	h := l.title()
	b.Header, b.Unnumbered = &h, true
	b.Events = append(b.Events, session.Event{Kind: session.Header})
	g.session = h.ID
	g.time, _ = safe(l.Value(hCreated))
	if next, ok := safe(l.Value(hNext)); ok && generation == current {
		g.least = next
	}
	if lack := l.lacks(generation); lack != "" {
		g.bad(r, b, finding.HeaderInvalid, "", "header: %s", lack)
	}
	return true
}

// again takes a header that stands inside the log out of it.
func (g *log) again(r *session.Record, b *format.Batch) {
	f := finding.New(finding.HeaderMisplaced)
	f.Span, f.Record = r.Span, r.Ref()
	f.Message = "a second header"
	b.Findings = append(b.Findings, f)
	b.Unnumbered = true
	b.Events = append(b.Events, session.Event{Kind: session.Header})
}

// bad reports what the client refuses to open the log for. It sees nothing behind it, and nothing behind it is judged.
func (g *log) bad(r *session.Record, b *format.Batch, code finding.Code, where, text string, args ...any) {
	f := finding.New(code)
	f.Span, f.Record, f.Where = r.Span, r.Ref(), where
	f.Message = fmt.Sprintf(text, args...)
	b.Findings = append(b.Findings, f)
	g.broken = true
}
