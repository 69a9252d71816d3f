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

func (m moved) add(b *format.Batch) {
	switch {
	case !b.Numbered:
		return
	case b.Front:
		m[b.Seq] = front
		return
	case len(b.Replaced) == 0:
		return
	}
	at := b.Replaced[0]
	if first, ok := m[at]; ok {
		at = first
	}
	m[b.Seq] = at
}

// held is what they say, by the place where that is sent.
type held map[int64][]Said

// hold reads it.
func (t *Talk) hold(ctx context.Context) (held, error) {
	h := held{}
	if len(t.moved) == 0 {
		return h, nil
	}
	err := t.tell(ctx, func(p *Part, r *session.Record, b *format.Batch, state State, list []format.Message) error {
		at, ok := t.moved[b.Seq]
		if !ok || !b.Numbered || state != Sent {
			return nil
		}
		return say(p, r, state, false, list, true, func(m *Said) error {
			h[at] = append(h[at], *m)
			return nil
		})
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
