package scan

import (
	"bytes"
	"fmt"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/session"
)

// A record spread over more than this is not put together again.
const (
	maxSplitLines = 4096
	maxSplitBytes = 16 << 20
	// joinBytes are looked at in any case.
	joinBytes = 4 * maxSplitBytes
)

// join puts a record together that raw newlines spread over several lines, the first of them at s.pos; it begins at s.pos+skip. None
// of the others is a record by itself.
func (s *Scanner) join(skip int) bool {
	if !s.opens(s.buf[s.pos+skip]) {
		return false
	}
	reach := s.reach(skip)
	if reach == 0 {
		return false
	}
	from, stop := s.pos+skip, s.pos+reach
	to, terminated := s.end, false
	if nl := bytes.IndexByte(s.buf[stop:s.end], '\n'); nl >= 0 {
		to, terminated = stop+nl, true
	}
	if !blank(s.buf[stop:to]) || s.wholeLine(from, to) {
		return false
	}
	s.m.Tolerant(s.buf[:s.end+Pad], from, to)
	if !s.isRecord() {
		return false
	}
	count := int64(bytes.Count(s.buf[from:to], []byte{'\n'})) + 1
	g := s.finding(finding.SplitRecord, from, to)
	g.Message = fmt.Sprintf("one record on %d lines", count)
	for k := int64(0); k < count; k++ {
		g.Lines = append(g.Lines, s.line+k)
	}
	inString := map[int]bool{}
	var others []Flaw
	for _, w := range s.m.Flaws {
		if s.buf[w.Off] == '\n' && w.Cause == Control {
			inString[w.Off] = true
		} else {
			others = append(others, w)
		}
	}
	for i := from; i < to; i++ {
		if s.buf[i] != '\n' {
			continue
		}
		ins := " "
		if inString[i] {
			ins = `\n`
		}
		g.Patches = append(g.Patches, s.remove(i, i+1, ins))
	}
	s.found = append(s.found, g)
	s.flaws(others)
	p := piece{off: from, end: to, marks: session.Salvaged, line: s.line, flawed: true, last: to, lines: count}
	if terminated {
		p.last++
	} else {
		s.noNewline(from, to)
		p.marks |= session.Unterminated
	}
	s.queue = append(s.queue[:0], p)
	return true
}

// reach is how far from s.pos a value reaches that begins at s.pos+skip and goes on on further lines, to the end of the last of
// them in the window; 0 if it breaks off, or goes on for too long. What all such looks cost is bounded by what was read.
func (s *Scanner) reach(skip int) int {
	for {
		from := s.pos + skip
		if s.joining > 16*(s.base+int64(s.pos))+joinBytes {
			return 0
		}
		stop, f := s.m.Tolerant(s.buf[:s.end+Pad], from, min(s.end, from+maxSplitBytes))
		s.joining += int64(max(stop, f.Off) - from)
		switch {
		case f.Cause == OK && (s.eof || s.err != nil || bytes.IndexByte(s.buf[stop:s.end], '\n') >= 0):
			if lines := bytes.Count(s.buf[from:stop], []byte{'\n'}); lines == 0 || lines >= maxSplitLines {
				return 0
			}
			return stop - s.pos
		case f.Cause != OK && f.Cause != Truncated, s.eof, s.err != nil, s.end-from >= maxSplitBytes:
			return 0
		}
		s.more()
	}
}

// wholeLine tells whether a line of buf[from:to], but the first, is a record by itself.
func (s *Scanner) wholeLine(from, to int) bool {
	for {
		nl := bytes.IndexByte(s.buf[from:to], '\n')
		if nl < 0 {
			return false
		}
		from += nl + 1
		end := to
		if nl := bytes.IndexByte(s.buf[from:to], '\n'); nl >= 0 {
			end = from + nl
		}
		if s.object(from, end) {
			if stop, f := s.m.Value(s.buf[:s.end+Pad], from, end); f.Cause == OK && blank(s.buf[stop:end]) && s.isRecord() {
				return true
			}
		}
	}
}
