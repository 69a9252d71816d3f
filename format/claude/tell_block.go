package claude

import (
	"encoding/json"
	"strings"

	"github.com/sessfix/sessfix/format"
)

// saidBlock is a block of content.
type saidBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Call      string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	Failed    bool            `json:"is_error"`
	Title     string          `json:"title"`
	Source    saidSource      `json:"source"`
}

// saidSource is where an image or a document has its bytes.
type saidSource struct {
	Type  string `json:"type"`
	Media string `json:"media_type"`
	Data  string `json:"data"`
	URL   string `json:"url"`
	File  string `json:"file_id"`
}

// read decodes JSON as far as it fits; ok is false where it is broken.
func (b *saidBlock) read(raw []byte) (ok bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return false
	}
	err := json.Unmarshal(raw, b)
	_, other := err.(*json.UnmarshalTypeError)
	return err == nil || other
}

// blockOf is one block; ok is false where it says nothing. Inside of a result there is no other.
func blockOf(raw []byte, inside bool) (out format.Block, ok bool) {
	var b saidBlock
	if !b.read(raw) {
		return out, false
	}
	switch {
	case b.Type == "text":
		text := textOf(b.Text)
		if text == nil {
			return out, false
		}
		return text[0], true
	case b.Type == "thinking":
		return format.Block{Kind: format.Thinking, Text: b.Thinking, Signature: b.Signature}, b.Thinking != "" || b.Signature != ""
	case b.Type == "redacted_thinking":
		return format.Block{Kind: format.Thinking, Data: b.Data, Sealed: true}, b.Data != ""
	case b.Type == "tool_use":
		return format.Block{Kind: format.Call, ID: b.ID, Name: b.Name, Input: b.Input}, true
	case b.Type == "tool_result" && !inside:
		return b.result(), true
	case b.Type == "image":
		return b.shown(format.Image), true
	case b.Type == "document":
		return b.shown(format.File), true
	}
	// What the provider's own tools did, and what is not known.
	return format.Block{Kind: format.Other, Text: strings.TrimSpace(b.Type + " " + b.Name), ID: b.ID, Name: b.Name}, b.Type != ""
}

// result is what came of a call.
func (b *saidBlock) result() format.Block {
	out := format.Block{Kind: format.Result, ID: b.Call, Failed: b.Failed}
	if len(b.Content) > 0 && b.Content[0] == '"' {
		out.Text = words(b.Content)
	} else if pieces := piecesOf(b.Content); len(pieces) == 1 && pieces[0].Kind == format.Text {
		out.Text = pieces[0].Text
	} else {
		out.Content = pieces
	}
	first := out.Text
	if len(out.Content) > 0 {
		first = out.Content[0].Text
	}
	for _, p := range madeUp {
		out.MadeUp = out.MadeUp || strings.HasPrefix(first, string(p))
	}
	return out
}

// shown is an image or a document. A document that is text is given as that; a title is its name. What lies with the provider, under
// an id that holds for one account, is neither.
func (b *saidBlock) shown(kind format.BlockKind) format.Block {
	switch b.Source.Type {
	case "text":
		return format.Block{Kind: kind, Text: b.Source.Data, Name: b.Title, Media: b.Source.Media}
	case "file":
		return format.Block{Kind: format.Other, Text: b.Type + " " + b.Source.File}
	}
	return format.Block{Kind: kind, Text: b.Title, Media: b.Source.Media, Data: b.Source.Data, URL: b.Source.URL}
}

// piecesOf is content that is a text or a list of blocks, with no result in it.
func piecesOf(raw []byte) []format.Block {
	if len(raw) > 0 && raw[0] == '"' {
		return textOf(words(raw))
	}
	var out []format.Block
	for _, piece := range listOf(raw) {
		if b, ok := blockOf(piece, true); ok {
			out = append(out, b)
		}
	}
	return out
}

// listOf are the elements of a list, none for anything else.
func listOf(raw []byte) []json.RawMessage {
	var list []json.RawMessage
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}
