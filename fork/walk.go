package fork

import (
	"context"
	"slices"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
	"github.com/sessfix/sessfix/verify"
)

// source is a log that is being read.
type source struct {
	ctx context.Context
	in  verify.Input
}

// each goes over the records of the log with what they mean.
func (s *source) each(yield func(r *session.Record, b *format.Batch) error) error {
	return verify.Each(s.ctx, s.in, yield)
}

// walk is what is known of a session's places.
type walk struct {
	// cuts are the places behind each record that stands in the talk, in its order.
	cuts []format.Cut
	// take tells which records belong to the child of a cut.
	take func(c *format.Cut) func(n int64) bool
	// at gives the cut that stands behind a record, or in front of it, nil where there is none.
	at func(n int64, before bool) *format.Cut
	// find is the record of an id or number, -1 where there is none.
	find func(p Place) int64
}

// look finds the places of a session.
func look(s *source, q format.ForkRequest, f format.Forker) (*walk, error) {
	if c, ok := f.(format.Cutter); ok {
		q.Each = func(yield func(r *session.Record, taken bool) error) error {
			return s.each(func(r *session.Record, _ *format.Batch) error { return yield(r, true) })
		}
		cuts, err := c.Cuts(q)
		if err != nil {
			return nil, err
		}
		return listed(cuts), nil
	}
	if rules := s.in.Dialect.Rules(); rules.Tree || rules.Path {
		return tree(s)
	}
	return line(s)
}

// listed is a walk over places that the format gave.
func listed(cuts []format.Cut) *walk {
	w := &walk{cuts: cuts}
	w.at = func(n int64, before bool) *format.Cut { return nearest(cuts, n, before) }
	w.take = func(c *format.Cut) func(n int64) bool { return func(n int64) bool { return n <= c.N } }
	w.find = func(p Place) int64 { return among(cuts, p) }
	return w
}

// nearest is the last place that stands not behind a record, or in front of it.
func nearest(cuts []format.Cut, n int64, before bool) *format.Cut {
	for i, c := range slices.Backward(cuts) {
		if c.N < n || c.N == n && !before {
			return &cuts[i]
		}
	}
	return nil
}

// among finds a place's record among cuts.
func among(cuts []format.Cut, p Place) int64 {
	last := int64(-1)
	for _, c := range cuts {
		switch p.By {
		case Seq:
			switch {
			case c.Seq == p.N:
				return c.N
			case last < p.N && p.N < c.Seq && last >= 0:
				return inside
			}
			last = c.Seq
		case Line:
			if c.Line == p.N || c.Logical == p.N {
				return c.N
			}
		case ID:
			if c.ID == p.ID && p.ID != "" {
				return c.N
			}
		}
	}
	return -1
}
