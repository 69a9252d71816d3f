package export

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/jsonout"
	"github.com/sessfix/sessfix/provider"
)

// Providers are the APIs whose messages are written.
func Providers() []string { return []string{"anthropic", "openai"} }

// api is one of them.
type api interface {
	// limits are those of the ids of calls, and whether the user and the assistant must take turns.
	limits() (maxID int, turns bool)
	// message writes one message, as one or several JSON values, and tells what it holds in the words of the check.
	message(c *chat, left *Left, put func(v any) error) (provider.Role, []provider.Block, error)
}

// RefusedError says that the list is none that the provider would take.
type RefusedError struct{ Problems []provider.Problem }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the provider would refuse the list: %s: %s", e.Problems[0].Rule, e.Problems[0].Message)
}

// WriteMessages writes what the next request would hold, as a list that the documented rules of a provider accept: a JSON array with a
// message on each line. The session is read as a repair would leave it. Each message is held against those rules on its way; a
// *RefusedError says that it breaks one.
func WriteMessages(ctx context.Context, w io.Writer, s *Session, providerName string, o Options) (Left, error) {
	var to api
	switch providerName {
	case "anthropic":
		to = anthropic{}
	case "openai":
		to = openAI{}
	default:
		return Left{}, fmt.Errorf("unknown provider %q: %s", providerName, strings.Join(Providers(), " or "))
	}
	t, err := s.Follow(ctx, true)
	if err != nil {
		return Left{}, err
	}
	l := newList(w, to)
	_, turns := to.limits()
	err = t.Say(ctx, true, func(m *Said) error {
		if !o.Content {
			Redact(&m.Message)
		}
		c, ok := chatOf(m, &l.pairing.counts)
		if ok && c.role == format.System && turns {
			l.pairing.counts.System++
			return nil
		}
		if !ok {
			return nil
		}
		return l.pairing.add(c)
	})
	if err == nil && o.Prompt != "" {
		err = l.pairing.add(chat{role: format.User, blocks: []format.Block{{Text: o.Prompt}}})
	}
	if err != nil {
		return l.pairing.counts, err
	}
	return l.pairing.counts, l.end()
}

// WriteSystem writes the instructions that the session holds, for providers that take them elsewhere: a JSON array of texts.
func WriteSystem(ctx context.Context, w io.Writer, s *Session, o Options) error {
	t, err := s.Follow(ctx, true)
	if err != nil {
		return err
	}
	texts := []string{}
	err = t.Say(ctx, true, func(m *Said) error {
		if m.Role != format.System {
			return nil
		}
		if !o.Content {
			Redact(&m.Message)
		}
		for _, b := range m.Blocks {
			if b.Kind == format.Text && b.Text != "" {
				texts = append(texts, b.Text)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return jsonout.Write(w, texts, false)
}

// chatOf is what of a message goes into a list.
func chatOf(m *Said, left *Left) (c chat, ok bool) {
	switch m.Role {
	case format.System:
		c.role = format.System
	case format.User, format.Tool:
		c.role = format.User
	case format.Assistant:
		c.role = format.Assistant
	default:
		return c, false
	}
	for _, b := range m.Blocks {
		switch b.Kind {
		case format.Thinking:
			left.Thinking++
			continue
		case format.Other:
			left.Other++
			continue
		case format.Text:
			if strings.TrimFunc(b.Text, blank) == "" {
				continue
			}
		}
		c.blocks = append(c.blocks, b)
	}
	return c, len(c.blocks) > 0
}

// blank tells what providers take for white space.
func blank(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' }

// list is a list on its way out.
type list struct {
	out     *bufio.Writer
	to      api
	pairing pairing
	check   provider.List
	begun   bool
	held    *chat // the last message, which may need another end
	opened  bool
}

// opening is what a list begins with that would begin with an answer.
const opening = "[The beginning of this conversation is not in the log.]"

func newList(w io.Writer, to api) *list {
	maxID, turns := to.limits()
	l := &list{out: bufio.NewWriterSize(w, 1<<16), to: to, check: provider.List{MaxID: maxID, MaxName: maxName, Turns: turns}}
	l.pairing = pairing{emit: l.emit, maxID: maxID}
	return l
}

// emit writes the message before this one.
func (l *list) emit(c *chat) error {
	if _, turns := l.to.limits(); turns && !l.opened && c.role != format.User {
		l.pairing.counts.Opened++
		l.held = &chat{role: format.User, blocks: []format.Block{{Kind: format.Text, Text: opening}}}
	}
	l.opened = true
	held := l.held
	l.held = c
	if held == nil {
		return nil
	}
	return l.write(held)
}

func (l *list) write(c *chat) error {
	put := func(v any) error {
		sep := ",\n"
		if !l.begun {
			sep = "[\n"
		}
		l.begun = true
		var buf bytes.Buffer
		if err := jsonout.Write(&buf, v, false); err != nil {
			return err
		}
		l.out.WriteString(sep)
		_, err := l.out.Write(bytes.TrimSuffix(buf.Bytes(), []byte("\n")))
		return err
	}
	role, blocks, err := l.to.message(c, &l.pairing.counts, put)
	if err != nil || blocks == nil {
		return err
	}
	if problems := l.check.Message(nil, role, blocks); len(problems) > 0 {
		return &RefusedError{problems}
	}
	return nil
}

// end writes the last message. White space at the end of a last answer is refused.
func (l *list) end() error {
	if err := l.pairing.end(); err != nil {
		return err
	}
	if c := l.held; c != nil {
		if k := len(c.blocks) - 1; c.role == format.Assistant && c.blocks[k].Kind == format.Text {
			c.blocks[k].Text = strings.TrimRightFunc(c.blocks[k].Text, blank)
		}
		if err := l.write(c); err != nil {
			return err
		}
	}
	if problems := l.check.End(nil); len(problems) > 0 {
		return &RefusedError{problems}
	}
	end := "\n]\n"
	if !l.begun {
		end = "[]\n"
	}
	l.out.WriteString(end)
	return l.out.Flush()
}
