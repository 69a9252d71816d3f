package grok

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/sessfix/sessfix/format"
)

// saidPart is a part of what is said, in a history or a log, or in what an answer came with.
type saidPart struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	URL   string          `json:"url"`
	Image json.RawMessage `json:"image_url"` // as it was written first: {"url":…}, or the address alone
	// Of the log:
	Data     string          `json:"data"`
	Media    string          `json:"mimeType"`
	URI      string          `json:"uri"`
	Blob     string          `json:"blob"`
	Resource json.RawMessage `json:"resource"`
	Content  json.RawMessage `json:"content"`
	Path     string          `json:"path"`
	Old      string          `json:"oldText"`
	New      string          `json:"newText"`
}

// blocksOf are the blocks of a content: a text, a part, or a list of either.
func blocksOf(content json.RawMessage) (out []format.Block) {
	switch kindOf(content) {
	case '"':
		var text string
		json.Unmarshal(content, &text)
		return textBlocks(text)
	case '[':
		var list []json.RawMessage
		json.Unmarshal(content, &list)
		for _, raw := range list {
			if kindOf(raw) != '[' { // no list stands in a list
				out = append(out, blocksOf(raw)...)
			}
		}
	case '{':
		var p saidPart
		if decode(content, &p) {
			return p.blocks()
		}
	}
	return out
}

// textBlocks is a text, where there is one.
func textBlocks(text string) []format.Block {
	if text == "" {
		return nil
	}
	return []format.Block{{Kind: format.Text, Text: text}}
}

func (p *saidPart) blocks() []format.Block {
	switch {
	case p.Type == "image" || p.Type == "image_url":
		at := cmp.Or(p.URL, p.URI)
		if kindOf(p.Image) == '"' {
			json.Unmarshal(p.Image, &at)
		} else if p.Image != nil {
			var in saidPart
			decode(p.Image, &in)
			at = in.URL
		}
		return p.media(format.Image, at)
	case p.Type == "content" && kindOf(p.Content) == '{':
		var in saidPart
		if decode(p.Content, &in) && in.Type != "content" {
			return in.blocks()
		}
		return nil
	case p.Type == "diff":
		return textBlocks(diffOf(p.Path, p.Old, p.New))
	case p.Type == "resource":
		var in saidPart
		decode(p.Resource, &in)
		if in.Text != "" {
			return textBlocks(in.Text)
		}
		in.Data = in.Blob
		return in.media(format.File, in.URI)
	case p.Type == "audio" || p.Type == "resource_link":
		return p.media(format.File, p.URI)
	case p.Text != "":
		return textBlocks(p.Text)
	case p.Type == "text" || p.Type == "":
		return nil
	}
	return []format.Block{{Kind: format.Other, Text: p.Type}}
}

// media is an image or a file, with its bytes where they are there.
func (p *saidPart) media(kind format.BlockKind, at string) []format.Block {
	b := format.Block{Kind: kind, Media: p.Media, Data: p.Data}
	if b.Data == "" {
		if b.Media, b.Data = inAddress(at); b.Data == "" {
			b.Media, b.URL = p.Media, at
		}
	}
	return []format.Block{b}
}

// inAddress is what an address holds itself, in base64.
func inAddress(at string) (media, data string) {
	head, data, ok := strings.Cut(at, ",")
	if !ok || !strings.HasPrefix(head, "data:") || !strings.HasSuffix(head, ";base64") {
		return "", ""
	}
	media, _, _ = strings.Cut(strings.TrimPrefix(head, "data:"), ";")
	return media, data
}

// diffOf are the words that a file lost and got, as the user is shown them.
func diffOf(path, before, after string) string {
	var b strings.Builder
	b.WriteString("--- " + path + "\n+++ " + path + "\n")
	for _, side := range []struct{ mark, text string }{{"-", before}, {"+", after}} {
		for line := range strings.Lines(side.text) {
			b.WriteString(side.mark + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	return b.String()
}

// wellFormed is a value with U+FFFD for bytes that are no text. It shares no memory with a record.
func wellFormed(raw json.RawMessage) []byte {
	if utf8.Valid(raw) {
		return raw
	}
	return bytes.ToValidUTF8(raw, []byte("\ufffd"))
}
