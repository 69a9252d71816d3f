package scan

import (
	"bytes"
	"fmt"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/session"
)

const (
	maxSplitLines = 4096
	maxSplitBytes = 16 << 20
)

func (s *Scanner) join(skip int) bool {
	if !s.opens(s.buf[s.pos+skip]) {
		return false
	}
	upto, lines := s.lookahead(skip)
	if lines < 2 {
		return false
	}
	from := s.pos + skip
	stop, f := s.m.Tolerant(s.buf[:s.end+Pad], from, s.pos+upto)
	if f.Cause != OK || !s.isRecord() {
		return false
	}
	nl := bytes.IndexByte(s.buf[stop:s.pos+upto], '\n')
	to := s.pos + upto
	terminated := nl >= 0
	if terminated {
		to = stop + nl
	}
	if !blank(s.buf[stop:to]) {
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

func (s *Scanner) lookahead(skip int) (upto, lines int) {
	at := 0
	for lines < maxSplitLines && at < maxSplitBytes {
		nl := bytes.IndexByte(s.buf[s.pos+at:s.end], '\n')
		if nl < 0 {
			if !s.eof && s.err == nil {
				s.more()
				continue
			}
			if s.pos+at == s.end {
				return at, lines
			}
			nl = s.end - s.pos - at
		}
		from, to := s.pos+at, s.pos+at+nl
		if lines > 0 && s.object(from, to) {
			if stop, f := s.m.Value(s.buf[:s.end+Pad], from, to); f.Cause == OK && blank(s.buf[stop:to]) && s.isRecord() {
				return at, lines
			}
		}
		at = min(at+nl+1, s.end-s.pos)
		lines++
	}
	return at, lines
}
