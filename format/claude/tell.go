package claude

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// The places of a record that are looked at for what it says.
const (
	tType = iota
	tUUID
	tTime
	tMeta
	tSummary
	tAPIError
	tDenial
	tModel
	tSaid
	tBlock
	tSubtype
	tContent
	tError
	tHookErrors
	tStopReason
	tAttachment
	tRendered
	tRenderedRole
	tOperation
	tTitle
	tCustomTitle
	tAITitle
)

var tellings = scan.NewSingle([]string{
	tType: "type", tUUID: "uuid", tTime: "timestamp", tMeta: "isMeta", tSummary: "isCompactSummary", tAPIError: "isApiErrorMessage",
	tDenial: "toolDenialKind", tModel: "message.model", tSaid: "message.content", tBlock: "message.content[]",
	tSubtype: "subtype", tContent: "content", tError: "error", tHookErrors: "hookErrors", tStopReason: "stopReason",
	tAttachment: "attachment", tRendered: "rendered", tRenderedRole: "renderedRole", tOperation: "operation",
	tTitle: "summary", tCustomTitle: "customTitle", tAITitle: "aiTitle",
})

// NewTelling begins with a transcript, or with the log of a sub-agent.
func (d dialect) NewTelling(format.Place) format.Telling { return telling{} }

// telling remembers nothing: a tree's records are told in any order.
type telling struct{}

// saying is a record that says something.
type saying struct {
	format.Fields
	blocks []session.Capture
}

// Tell says what a record does. The copy of a tool's output that the client shows, the system prompt in attachments and the
// log of requests say nothing that is not said elsewhere.
func (telling) Tell(r *session.Record, out []format.Message) []format.Message {
	raw, caps, ok := tellings.Take(r.Raw)
	if !ok {
		return out
	}
	f := &saying{}
	f.Reset(raw)
	for _, c := range caps {
		if c.Key == tBlock {
			f.blocks = append(f.blocks, c)
		} else {
			f.Put(c)
		}
	}
	m := format.Message{ID: words(f.Value(tUUID))}
	if t, err := time.Parse(time.RFC3339, string(f.Str(tTime))); err == nil {
		m.Time = t.UnixMilli()
	}
	switch typ := words(f.Value(tType)); typ {
	case "user":
		return f.user(m, out)
	case "assistant":
		return f.assistant(m, out)
	case "system":
		return f.system(m, out)
	case "attachment":
		return f.attachment(m, out)
	case "progress":
	case "summary":
		return titled(m, f.Value(tTitle), out)
	case "custom-title":
		return titled(m, f.Value(tCustomTitle), out)
	case "ai-title":
		return titled(m, f.Value(tAITitle), out)
	case "queue-operation":
		if string(f.Str(tOperation)) == "enqueue" {
			m.For, m.Title, m.Copy = format.PeopleOnly, "queued", true
			return said(m, piecesOf(f.Value(tContent)), out)
		}
	default:
		if m.ID != "" {
			m.For, m.Title = format.PeopleOnly, "unknown"
			return said(m, []format.Block{{Kind: format.Other, Text: "a record of type " + typ}}, out)
		}
	}
	return out
}

// said appends a message that says something.
func said(m format.Message, blocks []format.Block, out []format.Message) []format.Message {
	if len(blocks) == 0 {
		return out
	}
	m.Blocks = blocks
	return append(out, m)
}

// titled is a note of the name that the session has in lists.
func titled(m format.Message, name []byte, out []format.Message) []format.Message {
	m.For, m.Title = format.PeopleOnly, "title"
	return said(m, textOf(words(name)), out)
}

// user is what the user, a tool or the client itself says to the model. Results and what stands between them are messages of
// their own, in the order in which they are written.
func (f *saying) user(m format.Message, out []format.Message) []format.Message {
	if f.True(tMeta) {
		m.For = format.ModelOnly
	}
	m.Stands = f.True(tSummary)
	var (
		blocks  []format.Block
		results bool
	)
	flush := func() {
		m.Role = format.User
		if results {
			m.Role = format.Tool
		}
		if n := len(out); len(blocks) > 0 {
			out = said(m, blocks, out)
			m.Stands = m.Stands && len(out) == n
		}
		blocks = nil
	}
	for _, b := range f.content() {
		if result := b.Kind == format.Result; result != results {
			flush()
			results = result
		}
		blocks = append(blocks, b)
	}
	flush()
	return out
}

// assistant is an answer. One in which the client tells an error of the API is not sent; other words of its own are.
func (f *saying) assistant(m format.Message, out []format.Message) []format.Message {
	m.Role = format.Assistant
	if m.Model = words(f.Value(tModel)); m.Model == "<synthetic>" {
		m.Model = ""
	}
	if f.True(tAPIError) {
		m.Role, m.For, m.Title = format.Note, format.PeopleOnly, "API error"
	}
	return said(m, f.content(), out)
}

// content is the record's message.
func (f *saying) content() []format.Block {
	if f.Kind(tSaid) == '"' {
		return textOf(words(f.Value(tSaid)))
	}
	var out []format.Block
	for _, c := range f.blocks {
		if b, ok := blockOf(f.Of(c), false); ok {
			if b.Kind == format.Result && string(f.Str(tDenial)) == "interrupted" {
				b.MadeUp = true
			}
			out = append(out, b)
		}
	}
	return out
}

// words is a string, decoded; "" for anything else.
func words(value []byte) string {
	var text string
	if len(value) == 0 || value[0] != '"' || json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

// textOf is a text as content, nothing where it is blank: the client sends no blank text of an answer, and the provider takes none.
func textOf(text string) []format.Block {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return []format.Block{{Kind: format.Text, Text: text}}
}

var _ format.Teller = dialect{}
