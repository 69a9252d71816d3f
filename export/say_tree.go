package export

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

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
