package export

import (
	"context"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// moved are the records that are sent in the place of others: the number of each, with that of the first record that it replaced, or
// in whose place that one stood; front for those that are sent in front of all.
type moved map[int64]int64

const front = -1

// add tells whether the record is one.
func (m moved) add(b *format.Batch) bool {
	switch {
	case !b.Numbered:
		return false
	case b.Front:
		m[b.Seq] = front
		return true
	case len(b.Replaced) == 0:
		return false
	}
	at := b.Replaced[0]
	if first, ok := m[at]; ok {
		at = first
	}
	m[b.Seq] = at
	return true
}

// place is where a record is sent that is one.
func (m moved) place(b *format.Batch) (at int64, ok bool) {
	if b.Numbered && (b.Front || len(b.Replaced) > 0) {
		at, ok = m[b.Seq]
	}
	return at, ok
}

// held is what they say, by the place where that is sent.
type held map[int64][]Said

// hold reads it.
func (t *Talk) hold(ctx context.Context) (held, error) {
	h := held{}
	left := t.moves
	if left == 0 {
		return h, nil
	}
	err := t.tell(ctx, func(p *Part, r *session.Record, b *format.Batch, state State, list []format.Message) error {
		at, ok := t.moved.place(b)
		if !ok {
			return nil
		}
		if state == Sent {
			if err := say(p, r, state, false, list, true, func(m *Said) error {
				h[at] = append(h[at], *m)
				return nil
			}); err != nil {
				return err
			}
		}
		if left--; left == 0 {
			return errEnough
		}
		return nil
	})
	return h, err
}

// release hands out what is sent in the place of a record, once.
func (h held) release(at int64, yield func(m *Said) error) error {
	if len(h) == 0 {
		return nil
	}
	list := h[at]
	delete(h, at)
	for i := range list {
		if err := yield(&list[i]); err != nil {
			return err
		}
	}
	return nil
}
