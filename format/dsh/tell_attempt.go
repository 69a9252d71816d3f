package dsh

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sessfix/sessfix/format"
)

// Bounds of what is kept of an answer while it is streamed.
const (
	maxTried  = 1 << 20 // bytes of text
	maxPieces = 256
)

// tried is an answer while it is streamed: what is kept of its blocks, and how long they are.
type tried struct {
	turn, step int64
	ended      bool // a chunk said that it is done
	pieces     []piece
	kept       int
}

// piece is a block of it.
type piece struct {
	index  int64
	kind   format.BlockKind
	name   string // of a call
	text   []byte
	length int // in characters, of all of it
	closed bool
}

// saidChunks are chunks in a record, or in an entry of a stream: one, or several of one block.
type saidChunks struct {
	Type  string   `json:"type"`
	Turn  int64    `json:"turn"`
	Step  int64    `json:"step"`
	Index int64    `json:"index"`
	Name  string   `json:"name"`
	Texts []string `json:"texts"`
	Args  []string `json:"args"`
	Chunk struct {
		Type      string    `json:"type"`
		Index     int64     `json:"index"`
		Text      string    `json:"text"`
		Name      string    `json:"name"`
		Arguments string    `json:"argumentsDelta"`
		Block     saidBlock `json:"block"`
	} `json:"chunk"`
}

// delta takes a record of chunks. One of another step, or behind the end of an answer, begins a new answer.
func (t *telling) delta(s *saying) {
	var c saidChunks
	if !unmarshal(s.Data, &c) {
		return
	}
	c.Type = s.Type
	if a := &t.attempt; a.ended || a.turn != c.Turn || a.step != c.Step {
		t.lost(max(s.Time, s.Time0))
		a.turn, a.step = c.Turn, c.Step
	}
	t.attempt.take(&c)
}

// answered forgets the chunks of the answer that a message completes; those of another step came to nothing.
func (t *telling) answered(s *saying) {
	var d struct{ Turn, Step int64 }
	if unmarshal(s.Data, &d) && (d.Turn != t.attempt.turn || d.Step != t.attempt.step) {
		t.lost(s.Time)
	}
	t.attempt = tried{}
}

// streamed tells an attempt that has a record of its own.
func (t *telling) streamed(s *saying) {
	var d struct {
		Stream []json.RawMessage `json:"stream"`
	}
	if !unmarshal(s.Data, &d) {
		return
	}
	for _, raw := range d.Stream {
		var c saidChunks
		if unmarshal(raw, &c) {
			t.attempt.take(&c)
		}
	}
	t.lost(s.Time)
}

// lost tells the answer that was being streamed and came to nothing, if there is one.
func (t *telling) lost(time int64) {
	a := t.attempt
	t.attempt = tried{}
	var texts, thoughts, calls int
	var blocks []format.Block
	for i := range a.pieces {
		p := &a.pieces[i]
		text := strings.ToValidUTF8(string(p.text), "\uFFFD")
		switch p.kind {
		case format.Text:
			texts += p.length
		case format.Thinking:
			thoughts += p.length
		default:
			calls++
			text = strings.TrimSpace("call of " + p.name + " " + text)
		}
		if text != "" {
			blocks = append(blocks, format.Block{Kind: p.kind, Text: text})
		}
	}
	if len(blocks) == 0 {
		return
	}
	var words []string
	for _, w := range []struct {
		n    int
		what string
	}{{thoughts, "characters of thinking"}, {texts, "characters of text"}, {calls, "calls"}} {
		if w.n > 0 {
			words = append(words, fmt.Sprint(w.n, " ", w.what))
		}
	}
	text := "An answer came to nothing: " + strings.Join(words, ", ") + "."
	t.out = append(t.out, format.Message{For: format.PeopleOnly, Title: "attempt", Time: time,
		Blocks: append([]format.Block{{Kind: format.Text, Text: text}}, blocks...)})
}

// take adds chunks.
func (a *tried) take(c *saidChunks) {
	switch c.Type {
	case "text-chunks":
		a.add(c.Index, format.Text, "", c.Texts...)
	case "reasoning-chunks":
		a.add(c.Index, format.Thinking, "", c.Texts...)
	case "tool-call-chunks":
		a.add(c.Index, format.Other, c.Name, c.Args...)
	}
	switch x := &c.Chunk; x.Type {
	case "text-delta":
		a.add(x.Index, format.Text, "", x.Text)
	case "reasoning-delta":
		a.add(x.Index, format.Thinking, "", x.Text)
	case "tool-call-delta":
		a.add(x.Index, format.Other, x.Name, x.Arguments)
	case "block-end":
		a.close(x.Index, &x.Block)
	case "finish":
		a.ended = true
	}
}

// piece is the block of an index, nil where there are too many.
func (a *tried) piece(index int64, kind format.BlockKind) *piece {
	for i := range a.pieces {
		if a.pieces[i].index == index {
			return &a.pieces[i]
		}
	}
	if len(a.pieces) == maxPieces {
		return nil
	}
	a.pieces = append(a.pieces, piece{index: index, kind: kind})
	return &a.pieces[len(a.pieces)-1]
}

func (a *tried) add(index int64, kind format.BlockKind, name string, texts ...string) {
	p := a.piece(index, kind)
	if p == nil || p.closed {
		return
	}
	if name != "" {
		p.name = name
	}
	for _, text := range texts {
		a.keep(p, text)
	}
}

// close puts the whole block in the place of its pieces.
func (a *tried) close(index int64, b *saidBlock) {
	var kind format.BlockKind
	text := b.Text
	switch b.Type {
	case "text":
		kind = format.Text
	case "reasoning":
		kind = format.Thinking
	case "tool-call":
		kind = format.Other
		text = ""
		if in, words := input(b.Arguments); in != nil {
			text = string(in)
		} else {
			text = words
		}
	default:
		return
	}
	p := a.piece(index, kind)
	if p == nil || p.closed {
		return
	}
	a.kept -= len(p.text)
	*p = piece{index: index, kind: kind, name: b.Name, closed: true}
	a.keep(p, text)
}

// keep adds text to a piece, as far as there is room.
func (a *tried) keep(p *piece, text string) {
	p.length += utf8.RuneCountInString(text)
	if room := maxTried - a.kept; len(text) > room {
		text = text[:room]
	}
	p.text = append(p.text, text...)
	a.kept += len(text)
}
