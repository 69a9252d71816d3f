package toy

import (
	"encoding/json"
	"strings"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// What both toys say beside what their grammars list; decoders do not look at it.
//
//	"text"                what is said, by any type
//	"think" "sign"        thinking in front of it, and its signature
//	"image"               base64 of a PNG behind it
//	"model"               that gave the answer
//	"in"                  of a call: its input, any JSON; {} where it is absent
//	"bad"                 of a result: it failed
type said struct {
	T     string     `json:"t"`
	ID    string     `json:"id"`
	At    int64      `json:"at"`
	Text  string     `json:"text"`
	Think string     `json:"think"`
	Sign  string     `json:"sign"`
	Image string     `json:"image"`
	Model string     `json:"model"`
	Calls []saidCall `json:"calls"`
	Call  string     `json:"call"`
	Tool  string     `json:"tool"`
	Made  bool       `json:"made"`
	Bad   bool       `json:"bad"`
	Res   []saidEnd  `json:"res"`
}

type saidCall struct {
	ID   string          `json:"id"`
	Tool string          `json:"tool"`
	In   json.RawMessage `json:"in"`
}

type saidEnd struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	Made bool   `json:"made"`
	Bad  bool   `json:"bad"`
}

// NewTelling begins with a log.
func (Dialect) NewTelling(place format.Place) format.Telling { return telling{} }

// NewTelling begins with a tree.
func (TreeDialect) NewTelling(place format.Place) format.Telling { return telling{tree: true} }

// telling remembers nothing.
type telling struct{ tree bool }

// Tell says what the record does: a message, results, or a note where a record of bookkeeping has a text.
func (t telling) Tell(r *session.Record, out []format.Message) []format.Message {
	var s said
	if json.Unmarshal(r.Raw, &s) != nil {
		return out
	}
	m := format.Message{ID: s.ID, Time: s.At, Model: s.Model, Blocks: s.blocks()}
	switch s.T {
	case "user":
		m.Role = format.User
	case "say":
		m.Role = format.Assistant
	case "res":
		m.Role = format.Tool
		m.Blocks = s.results(t.tree)
	case "sum":
		m.Role = format.User
		m.Stands = t.tree // the line toy names the records that its summary replaces
	case "quit", "note", "may?", "may!":
		m.For, m.Title = format.PeopleOnly, strings.Trim(s.T, "?!")
	default:
		return out
	}
	if len(m.Blocks) == 0 {
		return out
	}
	return append(out, m)
}

func (s *said) blocks() []format.Block {
	var out []format.Block
	if s.Think != "" || s.Sign != "" {
		out = append(out, format.Block{Kind: format.Thinking, Text: s.Think, Signature: s.Sign})
	}
	if s.Text != "" {
		out = append(out, format.Block{Kind: format.Text, Text: s.Text})
	}
	if s.Image != "" {
		out = append(out, format.Block{Kind: format.Image, Media: "image/png", Data: s.Image})
	}
	for _, c := range s.Calls {
		if c.In == nil {
			c.In = json.RawMessage("{}")
		}
		out = append(out, format.Block{Kind: format.Call, ID: c.ID, Name: c.Tool, Input: c.In})
	}
	return out
}

// results are many in a record of the tree, and one in a line.
func (s *said) results(tree bool) []format.Block {
	if !tree {
		return []format.Block{{Kind: format.Result, ID: s.Call, Name: s.Tool, Text: s.Text, MadeUp: s.Made, Failed: s.Bad || s.Made}}
	}
	var out []format.Block
	for _, x := range s.Res {
		out = append(out, format.Block{Kind: format.Result, ID: x.ID, Text: x.Text, MadeUp: x.Made, Failed: x.Bad || x.Made})
	}
	return out
}

var (
	_ format.Teller = Dialect(0)
	_ format.Teller = TreeDialect(0)
)
