package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/session"
)

// Window is how many bytes are read at once.
const Window = 1 << 20

const (
	// maxLine bounds one line, which is held in memory as a whole.
	maxLine = 512 << 20
	// maxFaults is how many findings a file may give before it is taken for something else.
	maxFaults = 100_000
)

// The media that a part can lie in.
const (
	Lines  = "jsonl"
	Frames = "jsonl.zst"
)

// ErrShrunk is returned when the file ends before the size that was given for it.
var ErrShrunk = errors.New("the file became shorter while it was read")

// ErrNotLines is returned for a file that is no log of JSON lines, damaged or not: its faults
// have no end, or a line of it does not fit into memory.
var ErrNotLines = errors.New("this is no log of JSON lines")

// Options say how a part is to be read.
type Options struct {
	Medium  string // Lines or Frames
	Framing session.Framing
}

// source yields the text of a part and says where text lies in the file.
type source interface {
	// fill appends more text to dst; io.EOF when there is none.
	fill(dst []byte) ([]byte, error)
	// place completes a span that has Text and TextLen and lies in the window.
	place(sp *session.Span)
	// findings are those about the medium that were met since the last call.
	findings() []finding.Finding
}

// Scanner reads records one by one.
//
//	for s.Next() { use(s.Record()) }
//	err := s.Err()
type Scanner struct {
	ctx     context.Context
	src     source
	m       *Machine
	framing session.Framing
	needs   [][]uint16 // Needs as capture keys
	inside  [][]uint16 // those of Inside, likewise
	joining int64      // bytes that were looked at for records on several lines
	starts  [][]byte   // Framing.Starts, or what the first record taught

	buf      []byte // window; Pad zero bytes stand behind end
	pos, end int
	base     int64 // text offset of buf[0]
	searched int   // no newline in buf[pos:searched]
	eof      bool
	line     int64 // number of the line at pos, from 1
	n        int64 // ordinal of the next record

	rec   session.Record
	queue []piece // records cut out of a faulty line, still to be given out
	found []finding.Finding
	err   error
}

// piece is a record inside buf, by offsets from the line's start.
type piece struct {
	off, end int
	marks    session.Marks
	line     int64
	flawed   bool
	last     int // when given out: move pos here
	lines    int64
}

// New returns a scanner over the first size bytes of r.
func New(ctx context.Context, r io.ReaderAt, size int64, o Options) (*Scanner, error) {
	m, err := NewMachine(o.Framing.Keys)
	if err != nil {
		return nil, err
	}
	s := &Scanner{ctx: ctx, m: m, framing: o.Framing, starts: o.Framing.Starts, line: 1}
	if s.needs, err = needs(o.Framing.Keys, o.Framing.Needs); err != nil {
		return nil, err
	}
	for _, in := range o.Framing.Inside {
		sets, err := needs(o.Framing.Keys, [][]string{in.Needs})
		if err != nil {
			return nil, err
		}
		s.inside = append(s.inside, sets...)
	}
	switch o.Medium {
	case Lines:
		s.src = &plain{r: r, size: size}
		s.buf = make([]byte, 0, min(size, Window+Window/4)+Pad)
	case Frames:
		s.src = newFramed(r, size, o.Framing)
		s.buf = make([]byte, 0, min(8*size, Window/2)+Pad)
	default:
		return nil, fmt.Errorf("scan: unknown medium %q", o.Medium)
	}
	return s, nil
}

// needs are the sets of keys that make a record.
func needs(keys []string, sets [][]string) (out [][]uint16, err error) {
	for _, set := range sets {
		var need []uint16
		for _, name := range set {
			i := slices.Index(keys, name)
			if i < 0 {
				return nil, fmt.Errorf("scan: a record needs %q, which is not captured", name)
			}
			need = append(need, uint16(i))
		}
		out = append(out, need)
	}
	return out, nil
}

// Record is the record that Next found; it is valid until the next call of Next.
func (s *Scanner) Record() *session.Record { return &s.rec }

// Findings returns the byte findings met since its last call.
func (s *Scanner) Findings() []finding.Finding {
	f := append(s.found, s.src.findings()...)
	s.found = nil
	return f
}

// Err is the error that ended the scan, nil at the end of the text.
func (s *Scanner) Err() error { return s.err }

// Count is the number of records found so far.
func (s *Scanner) Count() int64 { return s.n }

// Text is the length of the text read so far.
func (s *Scanner) Text() int64 { return s.base + int64(s.end) }

func (s *Scanner) tooMany() error {
	return fmt.Errorf("more than %d faults in the first %d lines: %w", maxFaults, s.line, ErrNotLines)
}

// Next finds the next whole record.
func (s *Scanner) Next() bool {
	for s.err == nil {
		if len(s.found) > maxFaults {
			s.err = s.tooMany()
			return false
		}
		if len(s.queue) > 0 {
			p := s.queue[0]
			s.queue = s.queue[1:]
			s.give(p)
			return true
		}
		nl := bytes.IndexByte(s.buf[s.searched:s.end], '\n')
		if nl < 0 {
			s.searched = s.end
			if !s.eof {
				s.more()
				continue
			}
			if s.pos == s.end {
				return false
			}
			s.faulty(s.end, false)
			continue
		}
		nl += s.searched
		stop, f := s.m.Value(s.buf[:s.end+Pad], s.pos, nl)
		if f.Cause == OK && (stop == nl || blank(s.buf[stop:nl])) && s.object(s.pos, nl) {
			if s.n == 0 && len(s.starts) == 0 {
				s.learn(s.buf[s.pos:nl])
			}
			s.set(s.pos, nl, 0, s.line)
			s.advance(nl+1, 1)
			return true
		}
		s.faulty(nl, true)
	}
	return false
}

// set makes rec the record at buf[from:to], whose captures are in m.
func (s *Scanner) set(from, to int, marks session.Marks, line int64) {
	r := &s.rec
	r.Raw, r.Caps, r.Marks, r.N = s.buf[from:to:to], s.m.Caps, marks, s.n
	if s.m.Dup {
		r.Marks |= session.DupKeys
	}
	r.Span = session.Span{Text: s.base + int64(from), TextLen: int64(to - from), Logical: line}
	s.src.place(&r.Span)
	s.n++
}

// advance moves behind lines that are done with.
func (s *Scanner) advance(to int, lines int64) {
	s.pos, s.searched = to, to
	s.line += lines
}

// give hands out a record of a faulty line; its bytes are still in the window.
func (s *Scanner) give(p piece) {
	if p.flawed {
		s.m.Tolerant(s.buf[:s.end+Pad], p.off, p.end)
	} else {
		s.m.Value(s.buf[:s.end+Pad], p.off, p.end)
	}
	s.set(p.off, p.end, p.marks, p.line)
	if p.last > 0 {
		s.advance(p.last, p.lines)
	}
}

// more reads another window. What is not consumed moves to the front.
func (s *Scanner) more() {
	if err := s.ctx.Err(); err != nil {
		s.err = err
		return
	}
	if s.pos > 0 {
		n := copy(s.buf[:cap(s.buf)], s.buf[s.pos:s.end])
		s.base += int64(s.pos)
		s.searched -= s.pos
		s.pos, s.end = 0, n
	}
	if s.end > maxLine {
		s.err = fmt.Errorf("line %d at %d is longer than %d MiB: %w", s.line, s.base, maxLine>>20, ErrNotLines)
		return
	}
	got, err := s.src.fill(s.buf[:s.end])
	s.end = len(got)
	if cap(got) < s.end+Pad {
		got = append(make([]byte, 0, s.end+s.end/2+Pad), got...)
	}
	s.buf = got
	clear(s.buf[s.end : s.end+Pad])
	if errors.Is(err, io.EOF) {
		s.eof = true
	} else if err != nil {
		s.err = err
	}
}

// object tells whether the value at from is an object, or an array where those are records.
func (s *Scanner) object(from, to int) bool {
	for from < to && isSpace(s.buf[from]) {
		from++
	}
	return from < to && s.opens(s.buf[from])
}

// opens tells whether a record may begin with a byte.
func (s *Scanner) opens(c byte) bool { return c == '{' || c == '[' && s.framing.Arrays }

// isRecord tells whether the object just validated has the keys of a record.
func (s *Scanner) isRecord() bool {
	return len(s.needs) == 0 || s.hasAny(s.needs) || s.hasAny(s.inside)
}

// hasAny tells whether it has all keys of one of the sets.
func (s *Scanner) hasAny(sets [][]uint16) bool {
	for _, set := range sets {
		if !slices.ContainsFunc(set, func(k uint16) bool { return !s.has(k) }) {
			return true
		}
	}
	return false
}

func (s *Scanner) has(key uint16) bool {
	for _, c := range s.m.Caps {
		if c.Key == key {
			return true
		}
	}
	return false
}

// learn takes the first record's first key as the way in which records begin.
func (s *Scanner) learn(raw []byte) {
	raw = bytes.TrimLeft(raw, " \t\r")
	if i := bytes.IndexByte(raw, ':'); i > 2 && i < 80 && raw[0] == '{' && raw[1] == '"' {
		s.starts = [][]byte{bytes.Clone(raw[:i+1])}
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func blank(b []byte) bool {
	for _, c := range b {
		if !isSpace(c) {
			return false
		}
	}
	return true
}

// plain is a file that is its own text.
type plain struct {
	r         io.ReaderAt
	size, off int64
}

func (p *plain) fill(dst []byte) ([]byte, error) {
	n := min(int64(Window), p.size-p.off)
	if n == 0 {
		return dst, io.EOF
	}
	if need := len(dst) + int(n) + Pad; cap(dst) < need {
		dst = append(make([]byte, 0, need+len(dst)/2), dst...)
	}
	got, err := p.r.ReadAt(dst[len(dst):len(dst)+int(n)], p.off)
	p.off += int64(got)
	dst = dst[:len(dst)+got]
	if int64(got) < n {
		if err == nil || errors.Is(err, io.EOF) {
			err = ErrShrunk
		}
		return dst, fmt.Errorf("read at %d: %w", p.off, err)
	}
	return dst, nil
}

func (p *plain) place(sp *session.Span) {
	sp.Off, sp.Len = sp.Text, sp.TextLen
	sp.Line = sp.Logical
}

func (p *plain) findings() []finding.Finding { return nil }
