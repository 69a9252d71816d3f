package export

import (
	"context"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
	"github.com/sessfix/sessfix/verify"
)

// Said is a message, and the record that says it.
type Said struct {
	format.Message
	Part  *Part
	Ref   session.Ref
	State State
	// Edited: other words stand here than the record holds.
	Edited bool
}

// Say goes over what is said on the way to where the talk goes on, in the order of the talk; with sent over what the next request
// holds alone, in its order.
func (t *Talk) Say(ctx context.Context, sent bool, yield func(m *Said) error) error {
	if t.s.Talk == nil {
		return nil
	}
	if !sent {
		if err := t.sayFront(ctx, yield); err != nil {
			return err
		}
	}
	if t.ordered() {
		return t.sayTree(ctx, sent, yield)
	}
	if !sent {
		return t.tell(ctx, func(p *Part, r *session.Record, _ *format.Batch, state State, list []format.Message) error {
			if state == Branch || state == RolledBack || state == Side {
				return nil
			}
			return say(p, r, state, false, list, false, yield)
		})
	}
	held, err := t.hold(ctx)
	if err != nil {
		return err
	}
	if err := held.release(front, yield); err != nil {
		return err
	}
	return t.tell(ctx, func(p *Part, r *session.Record, b *format.Batch, state State, list []format.Message) error {
		if b.Numbered {
			if err := held.release(b.Seq, yield); err != nil {
				return err
			}
		}
		if at, ok := t.moved.place(b); ok {
			return held.release(at, yield) // where that place never came
		}
		if state != Sent {
			return nil
		}
		return say(p, r, state, false, list, true, yield)
	})
}

// sayFront goes over what other parts alone tell of the talk: what was said in front of it, and that it no longer holds.
func (t *Talk) sayFront(ctx context.Context, yield func(m *Said) error) error {
	for _, p := range t.s.Parts {
		if p == t.s.Talk || !p.Told || p.Missing {
			continue
		}
		telling := t.telling(p)
		var list, talk []format.Message
		err := verify.Each(ctx, p.Look(t.mended), func(r *session.Record, _ *format.Batch) error {
			list, talk = telling.Tell(r, list[:0]), talk[:0]
			for _, m := range list {
				if m.Role != format.Note {
					talk = append(talk, m)
				}
			}
			return say(p, r, Compacted, false, talk, false, yield)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tell goes over the records of a log whose order is that of the talk, with what became of each and what it says.
func (t *Talk) tell(ctx context.Context, yield func(p *Part, r *session.Record, b *format.Batch, state State, list []format.Message) error) error {
	var (
		tellings = map[*Part]format.Telling{}
		list     []format.Message
		n        int64
	)
	return t.each(ctx, func(p *Part, r *session.Record, b *format.Batch) error {
		state := t.State(n, b)
		n++
		telling, ok := tellings[p]
		if !ok {
			telling = t.telling(p)
			tellings[p] = telling
		}
		list = telling.Tell(r, list[:0])
		return yield(p, r, b, state, list)
	})
}

// say hands out what a record says.
func say(p *Part, r *session.Record, state State, edited bool, list []format.Message, sent bool, yield func(m *Said) error) error {
	for i := range list {
		m := &list[i]
		if sent && m.For == format.PeopleOnly || !sent && m.Copy {
			continue
		}
		tidy(m)
		if err := yield(&Said{Message: list[i], Part: p, Ref: r.Ref(), State: state, Edited: edited}); err != nil {
			return err
		}
	}
	return nil
}

// telling begins with the records of a part.
func (t *Talk) telling(p *Part) format.Telling {
	in := p.Look(t.mended)
	teller, ok := p.Dialect.(format.Teller)
	if !ok {
		return silent{}
	}
	return teller.NewTelling(format.Place{Path: in.Place, Medium: in.Medium, Stat: in.Stat, Dir: in.Dir, Missing: in.Missing})
}

// silent tells nothing.
type silent struct{}

func (silent) Tell(_ *session.Record, out []format.Message) []format.Message { return out }
