package scan

import (
	"bytes"
	"slices"

	"github.com/sessfix/sessfix/session"
)

// member tells an object that is a member of one that is torn, or an element of an array that is, from a record. It stands at
// buf[i:end].
func (s *Scanner) member(front *front, i, end, to int) bool {
	if at := s.breaks(front, to); i <= at && at < end {
		return false // what is in front breaks off where this one begins
	}
	for end < to && isSpace(s.buf[end]) {
		end++
	}
	return s.holds(bytes.TrimRight(s.buf[front.from:i], " \t\r\n")) || end < to && (s.buf[end] == ',' || s.buf[end] == ']' || s.buf[end] == '}')
}

// front is what stands in front of a record and is in none.
type front struct {
	from   int
	looked bool
	broken int // where the value that begins there breaks off, -1 where none does
}

// breaks is where it breaks off, whatever stands behind it.
func (s *Scanner) breaks(f *front, to int) int {
	if !f.looked {
		f.looked, f.broken = true, -1
		if s.opens(s.buf[f.from]) {
			if _, fault := s.m.Value(s.buf[:s.end+Pad], f.from, to); fault.Cause != OK && fault.Cause != Truncated {
				f.broken = fault.Off
			}
		}
	}
	return f.broken
}

// holds tells whether the beginning of something torn ends where an object stands in it that is no record.
func (s *Scanner) holds(front []byte) bool {
	if len(front) == 0 {
		return false
	}
	switch front[len(front)-1] {
	case '[', ',':
		return s.framing.Arrays || slices.ContainsFunc(s.framing.Inside, func(in session.Inner) bool { return in.Of == "" })
	case ':':
		return s.framing.Arrays || slices.ContainsFunc(s.framing.Inside, func(in session.Inner) bool {
			return in.Of != "" && bytes.HasSuffix(front, []byte(`"`+in.Of+`":`))
		})
	}
	return false
}
