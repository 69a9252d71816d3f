package verify

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/scan"
)

// pin is how far other files count the log's bytes: 0 where none does. It is asked for only where something is to be
// mended.
func (in Input) pin(res *Result) int64 {
	if in.Dialect == nil || !in.Dialect.Rules().Pinned {
		return 0
	}
	mends := len(res.Drops) > 0
	for i := range res.Findings {
		mends = mends || len(res.Findings[i].Patches) > 0 || res.Findings[i].Code == finding.SeqMissing
	}
	if !mends {
		return 0
	}
	pin := int64(0)
	if in.Pin != nil {
		pin = in.Pin()
	}
	switch {
	case pin < 0:
		return 0
	case pin == 0:
		return math.MaxInt64
	}
	return pin
}

// putsBack tells whether the newlines that are missing between records were lost when others had counted the log: with
// them put in, each place that others count to is the end of a line, and without them it is not.
func (in Input) putsBack(res *Result) bool {
	if in.Places == nil || in.Medium != scan.Lines {
		return false
	}
	var at []int64
	for i := range res.Findings {
		f := &res.Findings[i]
		for _, p := range f.Patches {
			if f.Code == finding.GluedWhole && p.Del == 0 && len(p.Ins) == 1 {
				at = append(at, p.At)
			}
		}
	}
	places := in.Places()
	if len(at) == 0 || len(places) == 0 {
		return false
	}
	slices.Sort(at)
	lineEnd := func(n int64) bool {
		last := make([]byte, 1)
		_, err := in.R.ReadAt(last, n-1)
		return n > 0 && n <= in.Size && err == nil && last[0] == '\n'
	}
	for _, place := range places {
		was := place
		for i := range at {
			if at[i] < place-int64(i) {
				was--
			}
		}
		if was == place {
			continue // in front of all of them
		}
		if lineEnd(place) || !lineEnd(was) {
			return false
		}
	}
	return true
}

// renumbers tells whether a record in front of the pin can get the number that it lacks: where that is as long as the
// one that it bears.
func renumbers(f *finding.Finding, pin int64) bool {
	return f.Record.Text >= pin || f.Got >= 0 && len(strconv.FormatInt(f.Got, 10)) == len(strconv.FormatInt(f.Expected, 10))
}

// keepPlaces makes the cure of a finding leave every byte in front of the pin where it is: what is cut becomes blank. It
// tells whether that can be.
func keepPlaces(f *finding.Finding, pin, end int64) bool {
	if f.Code == finding.BOM || f.Code == finding.HeaderMisplaced {
		return true // nobody counted the first, and the second goes back to where it was when they counted
	}
	for i := range f.Patches {
		p := &f.Patches[i]
		rest := p.Del - int64(len(p.Ins))
		tail := p.At+p.Del >= end && !p.Line // nothing that was ever whole ends there
		switch {
		case p.At >= pin || rest == 0 || p.Blank > 0 || tail && (pin == math.MaxInt64 || p.Del == 0):
		case tail:
			p.Blank, p.Ins = p.Del, []byte("\n")
		case f.Code == finding.BadUTF8:
			p.Ins = bytes.Repeat([]byte{'?'}, int(p.Del))
		case rest < 0 || len(p.Ins) > 0 && !bytes.Equal(p.Ins, []byte("\n")):
			return false
		case p.Line:
			p.Blank, p.Ins = rest-1, append([]byte("\n"), p.Ins...)
		default:
			p.Blank = rest
		}
	}
	return true
}
