package dsh

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
)

// saidBlock is a piece of a message.
type saidBlock struct {
	Type       string          `json:"type"`
	Text       string          `json:"text"`
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	Arguments  json.RawMessage `json:"arguments"`
	ToolCallID string          `json:"toolCallId"`
	Content    []saidBlock     `json:"content"`
	IsError    bool            `json:"isError"`
	Attachment struct {
		ID     string `json:"attachmentId"`
		Media  string `json:"mediaType"`
		Name   string `json:"name"`
		Width  int64  `json:"width"`
		Height int64  `json:"height"`
	} `json:"attachment"`
}

// saidReplay is what the adapter of a provider keeps beside an answer, to send it again as it came
// (packages/llm/llm-pi-ai/src/replay.ts).
type saidReplay struct {
	Response struct {
		Kind string `json:"kind"`
		API  string `json:"api"`
	} `json:"response"`
	Blocks []saidSign `json:"blocks"`
}

type saidSign struct {
	Type      string `json:"type"`
	Signature string `json:"thinkingSignature"`
	Redacted  bool   `json:"redacted"`
}

// blocks are the signatures of thinking, one entry for each of n blocks; none where they are not those of a provider
// that signs thinking.
func (r saidReplay) blocks(n int) []saidSign {
	if r.Response.Kind != "pi-ai" || r.Response.API != "anthropic-messages" || len(r.Blocks) != n {
		return nil
	}
	return r.Blocks
}

// tell tells blocks. An empty text says nothing.
func tell(list []saidBlock, signs []saidSign) []format.Block {
	var out []format.Block
	for i := range list {
		x := &list[i]
		switch x.Type {
		case "text":
			if x.Text != "" {
				out = append(out, format.Block{Kind: format.Text, Text: x.Text})
			}
		case "reasoning":
			b := format.Block{Kind: format.Thinking, Text: x.Text}
			if signs != nil && signs[i].Type == x.Type {
				b.Signature = signs[i].Signature
				if b.Sealed = signs[i].Redacted; b.Sealed {
					b.Data, b.Signature = b.Signature, ""
				}
			}
			if b.Text != "" || b.Signature != "" || b.Data != "" {
				out = append(out, b)
			}
		case "tool-call":
			b := format.Block{Kind: format.Call, ID: x.ID, Name: x.Name}
			b.Input, b.Text = input(x.Arguments)
			out = append(out, b)
		case "tool-result":
			out = append(out, result(x.ToolCallID, x.Content, x.IsError))
		case "image":
			out = append(out, format.Block{Kind: format.Image, Media: x.Attachment.Media, Text: picture(x)})
		case "":
		default:
			out = append(out, format.Block{Kind: format.Other, Text: x.Type})
		}
	}
	return out
}

// input is what a call is given, a string of JSON; where it holds none, the string.
func input(raw json.RawMessage) (in []byte, text string) {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, ""
	case raw[0] != '"':
		return bytes.ToValidUTF8(raw, []byte("\uFFFD")), ""
	}
	unmarshal(raw, &text)
	if json.Valid([]byte(text)) {
		return bytes.TrimSpace([]byte(text)), ""
	}
	return nil, text
}

// picture is a word for an image, whose bytes lie in the client's store of attachments.
func picture(x *saidBlock) string {
	words := []string{"image"}
	if x.Attachment.Name != "" {
		words = append(words, x.Attachment.Name)
	}
	if x.Attachment.Width > 0 && x.Attachment.Height > 0 {
		words = append(words, strconv.FormatInt(x.Attachment.Width, 10)+"×"+strconv.FormatInt(x.Attachment.Height, 10))
	}
	if x.Attachment.ID != "" {
		words = append(words, "in attachment "+x.Attachment.ID)
	}
	return strings.Join(words, " ")
}

// results are those of a record: one as a rule. Up to version 3 each is a block of the message, then it is the message.
func results(d, m *saidMessage, version int) []format.Block {
	call := m.ToolCallID
	for _, id := range [...]string{m.Source.CallID, m.CallID, d.CallID} {
		if call == "" {
			call = id
		}
	}
	var out []format.Block
	if version < 4 {
		for i := range m.Content {
			if x := &m.Content[i]; x.Type == "tool-result" {
				out = append(out, result(x.ToolCallID, x.Content, x.IsError))
			}
		}
	}
	if len(out) == 0 {
		out = append(out, result(call, m.Content, m.IsError))
	}
	made := madeByRecovery(m.ID, d.Error.Code)
	for i := range out {
		out[i].MadeUp = made
	}
	return out
}

// madeByRecovery tells a result that the client or sessfix wrote for a call that has none.
func madeByRecovery(id, code string) bool {
	if code != string(finding.ToolNotStarted) && code != string(finding.ToolOutcomeUnknown) {
		return false
	}
	return slices.ContainsFunc(madeUp, func(prefix []byte) bool { return strings.HasPrefix(id, string(prefix)) })
}

func result(call string, content []saidBlock, failed bool) format.Block {
	b := format.Block{Kind: format.Result, ID: call, Failed: failed}
	pieces := tell(content, nil)
	if len(pieces) == 1 && pieces[0].Kind == format.Text {
		b.Text = pieces[0].Text
	} else {
		b.Content = pieces
	}
	return b
}
