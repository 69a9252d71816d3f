package scan

import (
	"bytes"
	"slices"
)

// segment is a stretch of a faulty line.
type segment struct {
	kind     byte // r: record, n: NUL bytes, j: junk
	off, end int
}

// segments divides buf[from:to] from left to right. At each place a whole record wins over
// anything else; the search for the next one works within a budget, so that no input makes it
// quadratic.
func (s *Scanner) segments(from, to int) []segment {
	var segs []segment
	budget := 16*(to-from) + 1<<16
	junk, next := front{from: from}, s.places()
	for i := from; i < to && len(segs) <= maxFaults; {
		c := s.buf[i]
		switch {
		case c == 0:
			j := i
			for j < to && s.buf[j] == 0 {
				j++
			}
			segs = append(segs, segment{'n', i, j})
			i, junk = j, front{from: j}
			continue
		case isSpace(c) && len(segs) > 0 && segs[len(segs)-1].kind != 'j':
			i++
			continue
		case s.opens(c):
			if end := s.recordAt(&junk, i, to, &budget); end > 0 {
				segs = append(segs, segment{'r', i, end})
				i, junk = end, front{from: end}
				continue
			}
		}
		j := s.nextPlace(&junk, next, i+1, to, &budget)
		segs = append(segs, segment{'j', i, j})
		i = j
	}
	return segs
}

// recordAt returns the end of the whole record that begins at i, 0 if none does.
func (s *Scanner) recordAt(junk *front, i, to int, budget *int) int {
	if *budget <= 0 {
		return 0
	}
	end, f := s.m.Value(s.buf[:s.end+Pad], i, to)
	*budget -= max(f.Off, end) - i + 16
	if f.Cause != OK || !s.isRecord() || (s.framing.Arrays || len(s.inside) > 0 && !s.hasAny(s.needs)) && s.member(junk, i, end, to) {
		return 0
	}
	if end < to && s.buf[end] != 0 && s.buf[end] != '{' && !isSpace(s.buf[end]) && len(s.needs) == 0 {
		return 0 // with nothing to know a record by, an object in the middle of something is none
	}
	return end
}

// nextPlace finds where a whole record or a run of NUL bytes begins, to if nowhere.
func (s *Scanner) nextPlace(junk *front, p *places, i, to int, budget *int) int {
	nul := p.nextNUL(s.buf, i, to)
	for {
		at := p.nextStart(s.buf, i, to)
		if at >= nul || s.recordAt(junk, at, nul, budget) > 0 {
			return min(at, nul)
		}
		i = at + 1
	}
}

// places are where something next stands in a line. What was found once is not sought again, so that the whole costs what a line
// is long, however many places there are.
type places struct {
	starts [][]byte
	at     []int // the next place of each start, the line's end if there is none; good from where it was sought
	nul    int   // likewise the next NUL byte
}

func (s *Scanner) places() *places {
	starts := s.starts
	if len(starts) == 0 {
		starts = [][]byte{[]byte(`{"`)}
	}
	return &places{starts: starts, at: slices.Repeat([]int{-1}, len(starts)), nul: -1}
}

// nextNUL is where the next NUL byte stands, to if nowhere.
func (p *places) nextNUL(buf []byte, i, to int) int {
	if p.nul < i {
		p.nul = to
		if n := bytes.IndexByte(buf[i:to], 0); n >= 0 {
			p.nul = i + n
		}
	}
	return p.nul
}

// nextStart is where a record may next begin, to if nowhere.
func (p *places) nextStart(buf []byte, i, to int) int {
	first := to
	for k, st := range p.starts {
		if p.at[k] < i {
			p.at[k] = to
			if n := bytes.Index(buf[i:to], st); n >= 0 {
				p.at[k] = i + n
			}
		}
		first = min(first, p.at[k])
	}
	return first
}
