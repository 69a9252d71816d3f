package dsh

import (
	"bytes"
	"slices"
	"strings"

	"github.com/sessfix/sessfix/scan"
)

// span is where a JSON value stands in a record: raw[from:end]. The zero span is no value.
type span struct{ from, end int }

func (s span) none() bool { return s.end <= s.from }

// rewrite changes a record by its bytes: what it does not touch stays as it is written. Of a member that
// stands twice the last one counts, as it does for the client.
type rewrite struct {
	raw   []byte
	edits []change
	all   span // the whole record, once it was asked for
}

// change puts other bytes in place of raw[from:end].
type change struct {
	span
	ins []byte
}

func (w *rewrite) reset(raw []byte) { w.raw, w.edits, w.all = raw, w.edits[:0], span{} }

func (w *rewrite) kind(v span) byte {
	if v.none() || v.end > len(w.raw) {
		return 0
	}
	return w.raw[v.from]
}

func (w *rewrite) of(v span) []byte {
	if v.none() || v.end > len(w.raw) {
		return nil
	}
	return w.raw[v.from:v.end]
}

// text decodes a string; ok is false for any other value.
func (w *rewrite) text(v span) (string, bool) {
	raw := w.of(v)
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), true
	}
	return string(scan.Unescape(nil, inner)), true
}

// is tells whether a value is this string.
func (w *rewrite) is(v span, want string) bool {
	s, ok := w.text(v)
	return ok && s == want
}

// whole reads a whole number.
func (w *rewrite) whole(v span) (int64, bool) {
	raw := w.of(v)
	if len(raw) == 0 || raw[0] == '"' {
		return 0, false
	}
	return integer(raw)
}

// root is the record itself.
func (w *rewrite) root() span {
	if w.all.none() {
		from := skipSpace(w.raw, 0)
		w.all = span{from, value(w.raw, from)}
	}
	return w.all
}

// each goes over the members of an object, or over the elements of a list, whose key is the zero span.
func (w *rewrite) each(v span, yield func(key, val span) bool) {
	open := w.kind(v)
	if open != '{' && open != '[' {
		return
	}
	for at := skipSpace(w.raw, v.from+1); at < v.end-1; {
		var key span
		if open == '{' {
			key = span{at, value(w.raw, at)}
			at = skipSpace(w.raw, key.end)
			if w.kind(key) != '"' || at >= v.end-1 || w.raw[at] != ':' {
				return
			}
			at = skipSpace(w.raw, at+1)
		}
		val := span{at, value(w.raw, at)}
		if val.none() || val.end > v.end-1 || !yield(key, val) {
			return
		}
		if at = skipSpace(w.raw, val.end); at >= v.end-1 || w.raw[at] != ',' {
			return
		}
		at = skipSpace(w.raw, at+1)
	}
}

// get follows names down from a value.
func (w *rewrite) get(v span, path ...string) span {
	for _, name := range path {
		if w.kind(v) != '{' {
			return span{}
		}
		var found span
		w.each(v, func(key, val span) bool {
			if w.named(key, name) {
				found = val
			}
			return true
		})
		v = found
	}
	return v
}

func (w *rewrite) named(key span, name string) bool {
	inner := w.raw[key.from+1 : key.end-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner) == name
	}
	return w.is(key, name)
}

// size counts the members of an object or the elements of a list.
func (w *rewrite) size(v span) (n int) {
	w.each(v, func(_, _ span) bool { n++; return true })
	return n
}

// set puts text in place of a value.
func (w *rewrite) set(v span, text string) {
	if string(w.of(v)) != text {
		w.edits = append(w.edits, change{v, []byte(text)})
	}
}

// reform takes members out of an object and adds others at its end; both at once, so that the commas fit.
func (w *rewrite) reform(obj span, out []string, add ...string) {
	w.reshape(obj, func(key span) bool {
		return slices.ContainsFunc(out, func(name string) bool { return w.named(key, name) })
	}, add...)
}

// reshape is reform for members that a function chooses.
func (w *rewrite) reshape(obj span, out func(key span) bool, add ...string) {
	if w.kind(obj) != '{' {
		return
	}
	last, gone := span{}, span{} // the last member that stays, and the run of those that go behind it
	w.each(obj, func(key, val span) bool {
		if out(key) {
			if gone.none() {
				gone = key
			}
			gone.end = val.end
			return true
		}
		if !gone.none() {
			w.edits = append(w.edits, change{span{gone.from, key.from}, nil})
			gone = span{}
		}
		last = val
		return true
	})
	ins := []byte{}
	for i, m := range add {
		if i > 0 || !last.none() {
			ins = append(ins, ',')
		}
		ins = append(ins, m...)
	}
	at := obj.from + 1
	if !last.none() {
		at = last.end
	}
	if end := max(at, gone.end); end > at || len(ins) > 0 {
		w.edits = append(w.edits, change{span{at, end}, ins})
	}
}

// bytes is the record with the changes; it is the record's own memory where there are none.
func (w *rewrite) bytes() []byte {
	if len(w.edits) == 0 {
		return w.raw
	}
	slices.SortStableFunc(w.edits, func(a, b change) int { return a.from - b.from })
	n := len(w.raw)
	for _, e := range w.edits {
		n += len(e.ins)
	}
	out := make([]byte, 0, n)
	at := 0
	for _, e := range w.edits {
		if e.from < at {
			continue // inside of what another change replaced
		}
		out = append(append(out, w.raw[at:e.from]...), e.ins...)
		at = e.end
	}
	return append(out, w.raw[at:]...)
}

// piece is a value as it will stand: its text with the changes made inside of it.
func (w *rewrite) piece(v span) string {
	part := rewrite{raw: w.of(v)}
	for _, e := range w.edits {
		if e.from >= v.from && e.end <= v.end {
			part.edits = append(part.edits, change{span{e.from - v.from, e.end - v.from}, e.ins})
		}
	}
	return string(part.bytes())
}

// skipSpace skips white space.
func skipSpace(raw []byte, at int) int {
	for at < len(raw) && isBlank(raw[at]) {
		at++
	}
	return at
}

// value is where the value that begins at a place ends. It needs no stack, however deep the value is.
func value(raw []byte, at int) int {
	if at >= len(raw) {
		return at
	}
	switch raw[at] {
	case '"':
		return quoteEnd(raw, at)
	case '{', '[':
		for depth := 0; at < len(raw); {
			switch raw[at] {
			case '"':
				at = quoteEnd(raw, at)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			if at++; depth == 0 {
				return at
			}
		}
		return at
	}
	for at < len(raw) && !isBlank(raw[at]) && bytes.IndexByte([]byte(`,:]}{["`), raw[at]) < 0 {
		at++
	}
	return at
}

// quoteEnd is where a string ends that begins at a place.
func quoteEnd(raw []byte, at int) int {
	for next := at + 1; ; {
		i := bytes.IndexByte(raw[next:], '"')
		if i < 0 {
			return len(raw)
		}
		next += i + 1
		slashes := next - 2
		for slashes > at && raw[slashes] == '\\' {
			slashes--
		}
		if (next-2-slashes)%2 == 0 {
			return next
		}
	}
}

// quote writes a string as the client does: hashes are made of it.
func quote(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range s {
		switch r {
		case '"', '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case '\b':
			out.WriteString(`\b`)
		case '\f':
			out.WriteString(`\f`)
		case '\n':
			out.WriteString(`\n`)
		case '\r':
			out.WriteString(`\r`)
		case '\t':
			out.WriteString(`\t`)
		default:
			if r < ' ' {
				const hex = "0123456789abcdef"
				out.WriteString(`\u00` + string(hex[r>>4]) + string(hex[r&15]))
				continue
			}
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}
