package export

import (
	"context"
	"errors"
	"fmt"
	"io"

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

// sayTree reads the records one by one.
func (t *Talk) sayTree(ctx context.Context, sent bool, yield func(m *Said) error) error {
	var (
		g       = t.tree
		p       = t.s.Talk
		telling = t.telling(p)
		order   = g.order
		list    []format.Message
		words   []format.Message // of an edit
		raw     []byte
	)
	if sent {
		order = g.sent
	}
	for i, n := range order {
		if i%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if sent && g.state[n] != Sent || g.Nodes[n].Kind == session.Edit {
			continue
		}
		edit := int32(-1)
		if e, ok := g.edits[n]; ok {
			if !g.Nodes[e].Void {
				edit = e
			} else if sent {
				continue
			}
		}
		r, err := g.read(n, &raw)
		if err != nil {
			return err
		}
		list = telling.Tell(r, list[:0])
		edited := false
		if edit >= 0 {
			e, err := g.read(edit, &raw)
			if err != nil {
				return err
			}
			words = telling.Tell(e, words[:0])
			edited = replace(list, words)
		}
		if err := say(p, r, g.state[n], edited, list, sent, yield); err != nil {
			return err
		}
	}
	return nil
}

// replace puts the words of an edit into the messages that it edits, and tells whether there are any. Who says them stays, and whose
// result they are.
func replace(list, words []format.Message) (edited bool) {
	var blocks []format.Block
	for i := range words {
		if words[i].For != format.PeopleOnly {
			blocks = append(blocks, words[i].Blocks...)
		}
	}
	for i := range list {
		m := &list[i]
		switch {
		case m.Fixed:
			continue
		case m.Role == format.User, m.Role == format.Assistant:
			m.Blocks = blocks
		case m.Role == format.Tool && len(m.Blocks) > 0:
			b := &m.Blocks[0]
			b.Text, b.Content = "", blocks
			if len(blocks) == 1 && blocks[0].Kind == format.Text {
				b.Text, b.Content = blocks[0].Text, nil
			}
		default:
			continue
		}
		edited = true
	}
	return edited
}

// read reads a node's record again.
func (g *grove) read(n int32, buf *[]byte) (*session.Record, error) {
	ref := g.Nodes[n].At.Ref()
	if int64(cap(*buf)) < ref.TextLen {
		*buf = make([]byte, ref.TextLen)
	}
	raw := (*buf)[:ref.TextLen]
	if k, err := g.in.R.ReadAt(raw, ref.Text); k < len(raw) {
		if errors.Is(err, io.EOF) {
			err = errShorter
		}
		return nil, fmt.Errorf("%s: read the record at %d again: %w", g.in.Path, ref.Text, err)
	}
	return &session.Record{Span: ref.Span, N: ref.N, Raw: raw, Marks: ref.Marks}, nil
}

// errShorter is told of a file that was cut while it was read.
var errShorter = errors.New("the file is shorter by now")

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
