package verify

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// pins are the places in a log that other files count to.
type pins struct {
	last int64 // nothing in front of it may move: 0 where nobody counts, math.MaxInt64 where nothing is known of them
	// back: the newlines that are missing between records bring what is behind them back to where others count it.
	back bool
}

// pins are asked for only where something is to be mended.
func (in Input) pins(res *Result) pins {
	mends := len(res.Drops) > 0 || slices.ContainsFunc(res.Findings, func(f finding.Finding) bool {
		return len(f.Patches) > 0 || f.Code == finding.SeqMissing
	})
	if in.Dialect == nil || !in.Dialect.Rules().Pinned || !mends {
		return pins{}
	}
	last := int64(0)
	if in.Pin != nil {
		last = in.Pin()
	}
	switch {
	case last < 0:
		return pins{}
	case last == 0:
		last = math.MaxInt64
	}
	return pins{last, in.putsBack(res)}
}

// settle makes the cure of a finding one that moves nothing in front of the last place that others count to, or an offer
// where that is not taken yet.
func (p pins) settle(f *finding.Finding, res *Result, accepted bool) {
	switch {
	case f.Code == finding.SeqMissing && f.Where == "exact":
		if !renumbers(f, p.last) {
			f.Cure, f.Severity = finding.Leave, finding.Note
			f.Repair = "nothing: a number would move what stands behind it"
		}
	case accepted:
	case f.Code == finding.SeqMissing:
		if p.last < math.MaxInt64 && f.Record.Text < p.last {
			res.offerMove(f)
		}
	case f.Code == finding.GluedWhole && p.back:
	case !keepPlaces(f, p.last, res.Text):
		res.offerMove(f)
	}
}

// offerMove refuses a cure that moves bytes which other files may count, but for those who accept it.
func (res *Result) offerMove(f *finding.Finding) {
	f.Cure = finding.Refuse
	f.Repair = fmt.Sprintf("none that moves no byte, and other sessions may count this one's bytes: repair --accept %s", f.Code)
	if !moves(res.Offers, f.Code) {
		res.Offers = append(res.Offers, Offer{Code: f.Code, At: session.Ref{Span: f.Span}, Moves: true})
	}
}

// moves tells whether an offer to move bytes is there already.
func moves(list []Offer, code finding.Code) bool {
	return slices.ContainsFunc(list, func(o Offer) bool { return o.Code == code && o.Moves })
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
