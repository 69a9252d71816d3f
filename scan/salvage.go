package scan

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/session"
)

var bom = []byte{0xEF, 0xBB, 0xBF}

// faulty judges the line buf[pos:to], which is not one whole record with its newline. Whole
// records inside it are queued, what is wrong with it is reported.
func (s *Scanner) faulty(to int, terminated bool) {
	if terminated {
		to = s.knowEnd(to)
		if s.err != nil {
			return
		}
	}
	from, next, nth := s.pos, to, s.line
	if terminated {
		next++
	}
	if s.base == 0 && from == 0 && bytes.HasPrefix(s.buf[:to], bom) {
		f := s.finding(finding.BOM, from, from+len(bom))
		f.Message = "3 bytes of byte order mark in front of the first record"
		f.Patches = []finding.Patch{{At: 0, Del: int64(len(bom))}}
		s.found = append(s.found, f)
		from += len(bom)
	}
	line := s.buf[from:to]
	if blank(line) {
		s.blankLine(from, to, next, terminated)
		return
	}
	if s.whole(from, to, next, terminated) {
		return
	}
	if s.cutOut(from, to, next, terminated) {
		return
	}
	// The window may move while later lines are read: positions count from s.pos from here on.
	skip := from - s.pos
	if terminated && s.join(skip) {
		return
	}
	from = s.pos + skip
	to = from + len(line)
	next = to
	if terminated {
		next++
	}
	s.torn(from, to, next, terminated, nth)
}

// knowEnd reads on behind a line that ends with the window, so that it is known whether the
// file ends there too. The window may move: it returns where the line ends then.
func (s *Scanner) knowEnd(to int) int {
	for to+1 == s.end && !s.eof && s.err == nil {
		moved := s.pos
		s.more()
		to -= moved
	}
	return to
}

// finding begins one about buf[from:to] in the current line.
func (s *Scanner) finding(code finding.Code, from, to int) finding.Finding {
	f := finding.New(code)
	f.Text, f.TextLen = s.base+int64(from), int64(to-from)
	f.Logical = s.line
	s.src.place(&f.Span)
	return f
}

// remove is the patch that takes buf[from:to] away and puts ins in its place.
func (s *Scanner) remove(from, to int, ins string) finding.Patch {
	return finding.Patch{At: s.base + int64(from), Del: int64(to - from), Ins: []byte(ins), Line: to > from && s.buf[to-1] == '\n'}
}

func (s *Scanner) blankLine(from, to, next int, terminated bool) {
	f := s.finding(finding.BlankLine, from, to)
	f.Where = "mid"
	if s.eof && next == s.end {
		f.Where = "tail"
	}
	f.Message = "an empty line"
	f.Patches = []finding.Patch{s.remove(from, next, "")}
	s.found = append(s.found, f)
	s.advance(next, 1)
}

// whole handles a line that is one JSON value after all: with bytes in strings that must not
// stand there raw, without its newline, or no object.
func (s *Scanner) whole(from, to, next int, terminated bool) bool {
	stop, f := s.m.Tolerant(s.buf[:s.end+Pad], from, to)
	if f.Cause != OK || !blank(s.buf[stop:to]) {
		return false
	}
	if !s.object(from, to) {
		if !terminated && len(s.m.Flaws) == 0 && s.buf[from] != '[' && s.buf[from] != '"' {
			return false // a number or word may be the beginning of a longer one
		}
		f := s.finding(finding.NotObject, from, to)
		f.Message = fmt.Sprintf("whole JSON, but no object: begins with %q", s.buf[from])
		if s.buf[from] == 'n' {
			f.Where = "null"
		}
		f.Patches = []finding.Patch{s.remove(from, next, "")}
		s.found = append(s.found, f)
		s.advance(next, 1)
		return true
	}
	if len(s.m.Flaws) > 0 && !s.isRecord() {
		return false
	}
	s.flaws(s.m.Flaws)
	p := piece{off: from, end: to, line: s.line, flawed: len(s.m.Flaws) > 0, last: next, lines: 1}
	if p.flawed {
		p.marks = session.Salvaged
	}
	if !terminated {
		p.marks |= session.Unterminated
		s.noNewline(from, to)
	}
	s.queue = append(s.queue[:0], p)
	return true
}

// noNewline reports the last record, buf[from:to], which ends with the file.
func (s *Scanner) noNewline(from, to int) {
	f := s.finding(finding.NoFinalNewline, from, to)
	f.Where = "tail"
	f.Message = "the last record is whole, its newline is missing"
	f.Patches = []finding.Patch{s.remove(to, to, "\n")}
	s.found = append(s.found, f)
}

// flaws reports bytes inside strings that make an otherwise whole record invalid, one finding
// a kind, with the patch that keeps what its reader would see.
func (s *Scanner) flaws(flaws []Flaw) {
	for _, kind := range []struct {
		cause Cause
		code  finding.Code
		what  string
	}{{BadUTF8, finding.BadUTF8, "no UTF-8"}, {Control, finding.ControlChar, "raw control characters"}} {
		var f finding.Finding
		first, last, n := -1, 0, 0
		for _, w := range flaws {
			if w.Cause != kind.cause {
				continue
			}
			ins := "\uFFFD"
			if w.Cause == Control {
				ins = escape(s.buf[w.Off])
			}
			f.Patches = append(f.Patches, s.remove(w.Off, w.Off+w.Len, ins))
			if first < 0 {
				first = w.Off
			}
			last = w.Off + w.Len
			n += w.Len
		}
		if first < 0 {
			continue
		}
		patches := f.Patches
		f = s.finding(kind.code, first, last)
		f.Patches = patches
		f.Message = fmt.Sprintf("%d bytes are %s inside strings of a record that is otherwise whole; the first is 0x%02X", n, kind.what, s.buf[first])
		s.found = append(s.found, f)
	}
}

// escape writes a control character as JSON does.
func escape(c byte) string {
	switch c {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	case '\b':
		return `\b`
	case '\f':
		return `\f`
	}
	return fmt.Sprintf(`\u%04x`, c)
}

// MendString makes the inside of a string whole as the patches of flaws do: raw control
// characters are escaped, bytes that are no UTF-8 become U+FFFD.
func MendString(b []byte) []byte {
	out := MendRecord(slices.Concat([]byte{'"'}, b, []byte{'"'}))
	return out[1 : len(out)-1]
}

// MendRecord makes a JSON value whole in the same way. One that is broken otherwise stays as it is.
func MendRecord(b []byte) []byte {
	m, err := NewMachine(nil)
	if err != nil {
		return b
	}
	buf := append(bytes.Clone(b), make([]byte, Pad)...)
	if _, f := m.Tolerant(buf, 0, len(b)); f.Cause != OK || len(m.Flaws) == 0 {
		return b
	}
	var out []byte
	at := 0
	for _, w := range m.Flaws {
		out = append(out, b[at:w.Off]...)
		if w.Cause == Control {
			out = append(out, escape(b[w.Off])...)
		} else {
			out = append(out, "\uFFFD"...)
		}
		at = w.Off + w.Len
	}
	return append(out, b[at:]...)
}

// cutOut takes a line apart into whole records, NUL bytes and junk. It returns false, and
// reports nothing, when there is no record in it and no NUL byte.
func (s *Scanner) cutOut(from, to, next int, terminated bool) bool {
	segs := s.segments(from, to)
	if len(segs) > maxFaults {
		s.err = s.tooMany()
		return true
	}
	records, nuls := 0, 0
	for _, g := range segs {
		switch g.kind {
		case 'r':
			records++
		case 'n':
			nuls++
		}
	}
	if records == 0 && nuls == 0 {
		return false
	}
	s.queue = s.queue[:0]
	final := 0 // index behind the last record
	for i, g := range segs {
		if g.kind == 'r' {
			final = i + 1
		}
	}
	var gap []int // findings, by index, about the bytes since the last record
	gapFrom := from
	for i, g := range segs {
		last := i == len(segs)-1
		followed := i < final
		switch g.kind {
		case 'r':
			if len(s.queue) > 0 && len(gap) == 0 {
				f := s.finding(finding.GluedWhole, g.off, g.off)
				f.Message = "a second whole record begins here, without a newline in front of it"
				s.found = append(s.found, f)
				gap = append(gap, len(s.found)-1)
			}
			if len(gap) > 0 {
				sep := ""
				if len(s.queue) > 0 {
					sep = "\n"
				}
				s.patch(gap[0], gapFrom, g.off, sep)
			}
			gap, gapFrom = nil, g.end
			marks := session.Salvaged
			if g.end < to {
				marks |= session.Followed
			}
			s.queue = append(s.queue, piece{off: g.off, end: g.end, marks: marks, line: s.line})
			continue
		case 'n':
			code := finding.NulPad
			switch {
			case last && !terminated && s.eof:
				code = finding.NulTail
			case len(segs) == 1:
				code = finding.NulLine
			}
			f := s.finding(code, g.off, g.end)
			f.Message = fmt.Sprintf("%d NUL bytes", g.end-g.off)
			s.found = append(s.found, f)
		case 'j':
			s.junk(g, followed, !terminated)
		}
		gap = append(gap, len(s.found)-1)
	}
	switch {
	case len(s.queue) == 0:
		s.patch(gap[0], gapFrom, next, "")
	case len(gap) > 0:
		sep := ""
		if !terminated {
			sep = "\n"
		}
		s.patch(gap[0], gapFrom, to, sep)
	case !terminated:
		p := &s.queue[len(s.queue)-1]
		s.noNewline(p.off, to)
		p.marks |= session.Unterminated
	}
	if len(s.queue) == 0 {
		s.advance(next, 1)
		return true
	}
	p := &s.queue[len(s.queue)-1]
	p.last, p.lines = next, 1
	return true
}

func (s *Scanner) patch(found, from, to int, ins string) {
	f := &s.found[found]
	f.Patches = append(f.Patches, s.remove(from, to, ins))
}

// junk reports bytes that are part of no whole record. The finding that carries the patch is
// appended last.
func (s *Scanner) junk(g segment, followed, tail bool) {
	code := finding.TornLine
	switch {
	case followed:
		code = finding.GluedTorn
	case tail:
		code = finding.TornTail
	}
	f := s.finding(code, g.off, g.end)
	f.Missing = "head"
	raw := s.buf[g.off:g.end]
	if s.opens(raw[0]) {
		f.Missing = "tail"
	}
	f.Message = fmt.Sprintf("%d bytes of a record, its %s is missing", g.end-g.off, f.Missing)
	if code == finding.GluedTorn {
		f.Message += "; a whole record follows on the same line"
	}
	if !utf8.Valid(raw) {
		b := s.finding(finding.BadUTF8, g.off, g.end)
		b.Because = code
		b.Message = "the torn bytes are no valid UTF-8"
		s.found = append(s.found, b)
	}
	s.found = append(s.found, f)
}

// torn reports a line without any whole record in it.
func (s *Scanner) torn(from, to, next int, terminated bool, nth int64) {
	s.junk(segment{'j', from, to}, false, !terminated)
	s.patch(len(s.found)-1, from, next, "")
	s.advance(next, 1)
}
