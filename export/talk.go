package export

import (
	"context"
	"errors"
	"slices"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
	"github.com/sessfix/sessfix/verify"
)

// State is what became of a record in the talk.
type State uint8

// The states.
const (
	Aside      State = iota // bookkeeping, a record of another part, or one that is never sent
	Sent                    // the next request holds what it says
	Compacted               // it was said on the way to where the talk goes on, and is sent no more: a compaction or an edit took it out
	Branch                  // it stands on another branch
	RolledBack              // the user took it back
	Side                    // it belongs to the talk of a sub-agent
)

// String is the state's word in exports.
func (s State) String() string {
	return [...]string{"aside", "sent", "compacted", "branch", "rolled-back", "side"}[s]
}

// Talk is what became of each record of the part that the model gets, as the client reads it next.
type Talk struct {
	s      *Session
	mended bool
	tree   *grove // of logs whose records hang under each other
	line   *line  // of all others
	moved  moved
	moves  int // how many records that are
	// inherited is how many records the bases have.
	inherited int64
}

// Follow finds that out, for the session as it lies on disk or as a repair would leave it.
func (s *Session) Follow(ctx context.Context, mended bool) (*Talk, error) {
	t := &Talk{s: s, mended: mended}
	if s.Talk == nil {
		return t, nil
	}
	var err error
	if r := s.Talk.Dialect.Rules(); r.Tree || r.Path {
		t.tree, err = grow(ctx, s.Talk.Look(mended))
		return t, err
	}
	rules := s.Talk.Dialect.Rules()
	t.line, t.moved = &line{list: rules.List, replaced: map[int64]bool{}}, moved{}
	n := int64(0)
	// Where neither the rules nor numbers say what is sent no more, the messages themselves do.
	var telling format.Telling
	if !rules.List && !rules.Dense {
		telling = t.telling(s.Talk)
	}
	var list []format.Message
	return t, t.each(ctx, func(p *Part, r *session.Record, b *format.Batch) error {
		if p != s.Talk {
			t.inherited++
		}
		t.line.add(n, r, b)
		if t.moved.add(b) {
			t.moves++
		}
		if telling != nil {
			list = telling.Tell(r, list[:0])
			if slices.ContainsFunc(list, func(m format.Message) bool { return m.Stands }) {
				t.line.compacted = append(t.line.compacted, n)
			}
		}
		n++
		return nil
	})
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// each goes over the records of the talk in file order, those of its bases first.
func (t *Talk) each(ctx context.Context, yield func(p *Part, r *session.Record, b *format.Batch) error) error {
	for _, p := range append(slices.Clone(t.s.Bases), t.s.Talk) {
		err := verify.Each(ctx, p.Look(t.mended), func(r *session.Record, b *format.Batch) error {
			if p.Until > 0 && r.Text >= p.Until {
				return errEnough
			}
			return yield(p, r, b)
		})
		if err != nil && err != errEnough {
			return err
		}
	}
	return nil
}

// State is what became of a record of the talk's part; n counts the records of its bases as well, b is what it means.
func (t *Talk) State(n int64, b *format.Batch) State {
	switch {
	case t.tree != nil:
		if n >= int64(len(t.tree.Of)) || t.tree.Of[n] < 0 {
			return Aside
		}
		return t.tree.state[t.tree.Of[n]]
	case t.line != nil:
		return t.line.state(n, b)
	}
	return Aside
}

// Up is the record that a record of a tree hangs under, -1 where it hangs under none.
func (t *Talk) Up(n int64) int64 {
	if t.tree == nil || n >= int64(len(t.tree.Of)) || t.tree.Of[n] < 0 {
		return -1
	}
	up := t.tree.Nodes[t.tree.Of[n]].Up
	if up < 0 {
		return -1
	}
	return t.tree.First[up]
}

// Leaf is the record from which the talk goes on, -1 where that is the end of the file.
func (t *Talk) Leaf() int64 {
	if t.tree == nil || len(t.tree.order) == 0 {
		return -1
	}
	return t.tree.First[t.tree.order[len(t.tree.order)-1]]
}

// Tree tells whether records hang under each other.
func (t *Talk) Tree() bool { return t.tree != nil }

// ordered tells whether the talk's records can be read one by one in its order.
func (t *Talk) ordered() bool { return t.tree != nil && t.s.Talk.Medium == scan.Lines }
