package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
)

// The client checks no type. What is of another one than it should be says nothing here, and spoils nothing beside it.

// Word is a string.
type Word string

// UnmarshalJSON takes a string, and anything else for none.
func (w *Word) UnmarshalJSON(raw []byte) error {
	*w = ""
	if raw[0] != '"' {
		return nil
	}
	*w = Word(strings.ToValidUTF8(string(scan.Unescape(nil, raw[1:len(raw)-1])), "\uFFFD"))
	return nil
}

// Flag is true, or it is not.
type Flag bool

// UnmarshalJSON takes true alone.
func (f *Flag) UnmarshalJSON(raw []byte) error {
	*f = string(raw) == "true"
	return nil
}

// Number is a number.
type Number struct{ Value float64 }

// UnmarshalJSON takes a number, and anything else for 0.
func (n *Number) UnmarshalJSON(raw []byte) error {
	n.Value = 0
	if raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return nil
	}
	if json.Unmarshal(raw, &n.Value) != nil || n.Value < -most || n.Value > most {
		n.Value = 0
	}
	return nil
}

// most is the greatest number that is taken for a time.
const most = 1<<53 - 1

// there tells whether a member is there, and not null.
type there struct{ Here bool }

func (t *there) UnmarshalJSON(raw []byte) error {
	t.Here = string(raw) != "null"
	return nil
}

// details are what recoveries write beside a result.
type details struct {
	Ours   there
	Theirs Flag
}

func (d *details) UnmarshalJSON(raw []byte) error {
	*d = details{}
	if raw[0] != '{' {
		return nil
	}
	var v struct {
		Ours   there `json:"sessfix"`
		Theirs Flag  `json:"openclawSyntheticMissingToolResult"`
	}
	err := json.Unmarshal(raw, &v)
	d.Ours, d.Theirs = v.Ours, v.Theirs
	return err
}

// sections are the named pieces of what the model is told, in their order.
type sections []string

func (s *sections) UnmarshalJSON(raw []byte) error {
	*s = nil
	if raw[0] != '{' {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	_, err := d.Token()
	for err == nil && d.More() {
		var name json.Token
		var value json.RawMessage
		if name, err = d.Token(); err == nil {
			err = d.Decode(&value)
		}
		var words Word
		switch {
		case err != nil:
		case string(value) == "null":
			*s = append(*s, fmt.Sprintf("Removed system prompt section %q.", name))
		default:
			if err = json.Unmarshal(value, &words); words != "" {
				*s = append(*s, string(words))
			}
		}
	}
	return err
}

// Content is what a message holds: a text, or blocks.
type Content struct{ Blocks []format.Block }

// UnmarshalJSON takes both, and anything else for no block.
func (c *Content) UnmarshalJSON(raw []byte) error {
	c.Blocks = nil
	switch raw[0] {
	case '"':
		var w Word
		err := w.UnmarshalJSON(raw)
		c.Blocks = text(string(w))
		return err
	case '[':
		var list []block
		err := json.Unmarshal(raw, &list)
		for _, b := range list {
			if told, ok := b.tell(); ok {
				c.Blocks = append(c.Blocks, told)
			}
		}
		return err
	}
	return nil
}

// block is one of them.
type block struct{ written }

type written struct {
	Type      Word            `json:"type"`
	Text      Word            `json:"text"`
	Thinking  Word            `json:"thinking"`
	Signature Word            `json:"thinkingSignature"`
	Redacted  Flag            `json:"redacted"`
	ID        Word            `json:"id"`
	Name      Word            `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Input     json.RawMessage `json:"input"`
	Data      Word            `json:"data"`
	Media     Word            `json:"mimeType"`
}

func (b *block) UnmarshalJSON(raw []byte) error {
	*b = block{}
	if raw[0] != '{' {
		return nil
	}
	return json.Unmarshal(raw, &b.written)
}

// tell is the block as it is told; ok is false for one that says nothing.
func (b *block) tell() (told format.Block, ok bool) {
	switch b.Type {
	case "":
		return format.Block{}, false
	case "text":
		return format.Block{Kind: format.Text, Text: string(b.Text)}, b.Text != ""
	case "thinking":
		told = format.Block{Kind: format.Thinking, Text: string(b.Thinking)}
		if b.Redacted {
			told.Sealed, told.Data = true, string(b.Signature)
		} else {
			told.Signature = string(b.Signature)
		}
		return told, told.Text != "" || b.Signature != ""
	case "toolCall", "toolUse", "functionCall": // other clients on this format write the latter two
		told = format.Block{Kind: format.Call, ID: string(b.ID), Name: string(b.Name), Input: b.Arguments}
		if told.Input == nil {
			told.Input = b.Input
		}
		return told, true
	case "image":
		return format.Block{Kind: format.Image, Media: string(b.Media), Data: string(b.Data)}, b.Data != ""
	}
	return format.Block{Kind: format.Other, Text: string(b.Type)}, true
}
