package edit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/sessfix/sessfix/finding"
)

// ErrConflict is returned when two edits want the same bytes. Order does not decide.
var ErrConflict = errors.New("two edits want the same bytes")

// Ranks order insertions at one point.
const (
	RankNewline = iota
	RankMend
	RankCloser
)

// Edit replaces Del bytes of text at At by Blank spaces and Ins: a cut where both are empty, a blank where there are
// spaces, an insertion where Del is 0, else a splice. A blank is a cut that moves nothing.
type Edit struct {
	At    int64          `json:"at"`
	Del   int64          `json:"del"`
	Blank int64          `json:"blank,omitempty"`
	Ins   []byte         `json:"ins,omitempty"`
	Rank  int            `json:"rank,omitempty"`
	Cures []finding.Code `json:"cures"`
	// Aside: the bytes taken out are no part of the log any more and go to quarantine; else
	// they are replaced by what means the same.
	Aside bool `json:"aside,omitempty"`
}

func (e Edit) end() int64 { return e.At + e.Del }

// cuts tells whether the bytes go, and nothing of their meaning stays.
func (e Edit) cuts() bool { return e.Del > 0 && (len(e.Ins) == 0 || e.Blank > 0) }

// Text is what stands in the place of the bytes.
func (e Edit) Text() []byte {
	if e.Blank == 0 {
		return e.Ins
	}
	return append(bytes.Repeat([]byte{' '}, int(e.Blank)), e.Ins...)
}

// Reframe names a region of a compressed part by a stored offset inside it.
type Reframe struct {
	Off   int64          `json:"offset"`
	Cures []finding.Code `json:"cures"`
}

// Plan is what is to be done to one part.
type Plan struct {
	Edits []Edit
	// Reframe are regions of a compressed part that are written again.
	Reframe []Reframe
	// Framed: the part is compressed.
	Framed bool
	// HeaderFrame: the first line gets a frame of its own.
	HeaderFrame bool
	Starts      [][]byte
}

// Empty tells whether nothing is to be done.
func (p *Plan) Empty() bool { return len(p.Edits) == 0 && len(p.Reframe) == 0 }

// Normalise sorts the edits, merges equal ones, lets a cut swallow what lies inside it, and
// fails with ErrConflict where two edits want the same bytes.
func (p *Plan) Normalise() error {
	sort.SliceStable(p.Edits, func(i, j int) bool {
		a, b := p.Edits[i], p.Edits[j]
		if a.At != b.At {
			return a.At < b.At
		}
		// At one point insertions stand in front of what is cut behind them.
		if (a.Del == 0) != (b.Del == 0) {
			return a.Del == 0
		}
		if a.Rank != b.Rank {
			return a.Rank < b.Rank
		}
		if a.Del > 0 && a.cuts() != b.cuts() {
			return a.cuts() // a cut swallows a splice, whichever was asked for first
		}
		return a.Del > b.Del
	})
	p.Edits = slices.DeleteFunc(p.Edits, func(e Edit) bool { return e.Del == 0 && len(e.Ins) == 0 })
	var out []Edit
	cut := -1 // the cut that reaches furthest, by index in out
	for _, e := range p.Edits {
		if cut >= 0 {
			c := &out[cut]
			switch {
			case e.Del == 0 && (e.At < c.end() && e.At > c.At || e.At == c.end() && e.Rank == RankNewline):
				c.Cures = merge(c.Cures, e.Cures)
				continue
			case e.At < c.end() && e.cuts() && e.Blank == 0 && c.Blank == 0:
				if n := e.end() - c.At; n > c.Del {
					c.Del = n
				}
				c.Cures = merge(c.Cures, e.Cures)
				c.Aside = c.Aside || e.Aside
				continue
			case e.At < c.end() && e.end() <= c.end():
				c.Cures = merge(c.Cures, e.Cures)
				c.Aside = c.Aside || e.Aside && e.cuts()
				continue
			case e.At < c.end():
				return fmt.Errorf("at %d and %d: %w", c.At, e.At, ErrConflict)
			}
		}
		if len(out) > 0 {
			l := &out[len(out)-1]
			if l.At == e.At && l.Del == e.Del && l.Rank == e.Rank && l.Blank == e.Blank && bytes.Equal(l.Ins, e.Ins) {
				l.Cures, l.Aside = merge(l.Cures, e.Cures), l.Aside || e.Aside
				continue
			}
			if l.Del > 0 && e.At < l.end() {
				return fmt.Errorf("at %d and %d: %w", l.At, e.At, ErrConflict)
			}
		}
		out = append(out, e)
		if e.cuts() {
			cut = len(out) - 1
		}
	}
	p.Edits = out
	sort.Slice(p.Reframe, func(i, j int) bool { return p.Reframe[i].Off < p.Reframe[j].Off })
	return nil
}

func merge(a, b []finding.Code) []finding.Code {
	for _, c := range b {
		have := false
		for _, d := range a {
			have = have || c == d
		}
		if !have {
			a = append(a[:len(a):len(a)], c)
		}
	}
	return a
}
