package fork

import (
	"fmt"
	"slices"

	"github.com/sessfix/sessfix/format"
)

// choose finds the cut of a place.
func (w *walk) choose(path string, p Place, closing bool) (*format.Cut, error) {
	refuse := func(text string, args ...any) error {
		return &RefusedError{Path: path, Why: fmt.Sprintf(text, args...)}
	}
	fits := func(c *format.Cut) bool { return c.Open == "" || closing && c.Closable }
	var c *format.Cut
	switch p.By {
	case Last:
		cuts := w.cuts
		if p.Before && len(cuts) > 0 {
			cuts = cuts[:len(cuts)-1]
		}
		if c = last(cuts, fits); c == nil {
			return nil, refuse("it has no place where it can be cut")
		}
	case Turn:
		n := p.N
		if p.Before {
			n--
		}
		turns := int64(0)
		for i := range w.cuts {
			turns = max(turns, w.cuts[i].Turn)
		}
		if p.N > turns || n < 0 {
			return nil, refuse("there is no turn %d: it has %d", p.N, turns)
		}
		in := func(c *format.Cut) bool { return c.Turn == n }
		if c = last(w.cuts, func(c *format.Cut) bool { return in(c) && fits(c) }); c == nil {
			if c = last(w.cuts, in); c == nil {
				return nil, refuse("the child would be empty")
			}
		}
	default:
		n := w.find(p)
		switch n {
		case -1:
			return nil, refuse("there is no %s", p)
		case inside:
			return nil, refuse("no place stands at %s: the numbers around it belong together", p)
		}
		if c = w.at(n, p.Before); c == nil {
			return nil, refuse("the child would be empty%s", w.near(n-1))
		}
	}
	if !fits(c) {
		hint := ""
		if c.Closable && !closing {
			hint = "; --close ends it there"
		}
		return nil, refuse("%s%s%s", c.Open, w.near(c.N), hint)
	}
	return c, nil
}

// last is the last of some cuts that fits.
func last(cuts []format.Cut, fits func(c *format.Cut) bool) *format.Cut {
	for i := range slices.Backward(cuts) {
		if fits(&cuts[i]) {
			return &cuts[i]
		}
	}
	return nil
}

// near names the legal places on both sides of a record.
func (w *walk) near(n int64) string {
	var before, behind *format.Cut
	for i := range w.cuts {
		c := &w.cuts[i]
		switch {
		case c.Open != "":
		case c.N < n:
			before = c
		case c.N > n && behind == nil:
			behind = c
		}
	}
	switch {
	case before != nil && behind != nil:
		return fmt.Sprintf("; the nearest places are %s and %s", where(before), where(behind))
	case before != nil:
		return "; the nearest place is " + where(before)
	case behind != nil:
		return "; the nearest place is " + where(behind)
	}
	return ""
}

// where names a place as --at takes it.
func where(c *format.Cut) string {
	switch {
	case c.Logical > 0:
		return fmt.Sprintf("line:%d", c.Logical)
	case c.Seq >= 0:
		return fmt.Sprintf("seq:%d", c.Seq)
	}
	return "id:" + c.ID
}
