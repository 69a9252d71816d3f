package export

import (
	"context"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
	"github.com/sessfix/sessfix/verify"
)

// Entry is a record of a part, with what it means and what it says. It is valid until the next.
type Entry struct {
	Part     *Part
	Record   *session.Record
	Batch    *format.Batch
	Messages []format.Message
	State    State
	// N counts the records of the part and of its bases; it is that of Talk.State and Talk.Up.
	N int64
}

// ID is the record's own id, where it has one.
func (e *Entry) ID() string { return e.text(e.Batch.Link.OwnAt) }

// Parent is the id of the record that it hangs under, as it names it.
func (e *Entry) Parent() string {
	if at := e.Batch.Link.UpAt; at.Len > 0 {
		return e.text(at)
	}
	return e.text(e.Batch.Link.Says)
}

// text is a JSON value of the record, without the quotes of a string.
func (e *Entry) text(at session.Sub) string {
	if at.Len == 0 || uint64(at.Off)+uint64(at.Len) > uint64(len(e.Record.Raw)) {
		return ""
	}
	v := at.Of(e.Record.Raw)
	switch {
	case string(v) == "null":
		return ""
	case len(v) > 1 && v[0] == '"':
		v = v[1 : len(v)-1]
	}
	return unescape(v)
}

// Each goes over the records of a part, in file order, as they lie on disk.
func (t *Talk) Each(ctx context.Context, p *Part, yield func(e *Entry) error) error {
	if p.Missing || p.Dialect == nil {
		return nil
	}
	if _, document := p.Dialect.(format.Document); document {
		return nil
	}
	telling := t.telling(p)
	e := &Entry{Part: p}
	first := int64(0)
	if p == t.s.Talk {
		first = t.inherited
	}
	return verify.Each(ctx, p.Look(t.mended), func(r *session.Record, b *format.Batch) error {
		e.Record, e.Batch, e.N = r, b, first+r.N
		e.Messages = telling.Tell(r, e.Messages[:0])
		for i := range e.Messages {
			tidy(&e.Messages[i])
		}
		e.State = Aside
		if p == t.s.Talk {
			e.State = t.State(e.N, b)
		}
		if e.State == Sent && !forModel(e.Messages) {
			e.State = Aside
		}
		return yield(e)
	})
}

// forModel tells whether any of the messages is sent.
func forModel(list []format.Message) bool {
	for i := range list {
		if list[i].For != format.PeopleOnly {
			return true
		}
	}
	return false
}
