package codex

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sessfix/sessfix/format"
)

// compacted tells the history that stands for all in front of it. Of its messages only the summary says something new. The
// instructions are sent behind a compaction too.
func (t *telling) compacted(payload json.RawMessage, out []format.Message) []format.Message {
	var c struct {
		Message string          `json:"message"`
		History json.RawMessage `json:"replacement_history"`
	}
	if !decoded(payload, &c) {
		return out
	}
	first := len(out)
	if out = t.instruct(out); len(out) > first {
		out[first].Copy = true
	}
	told := len(out)
	if items, ok := elements(c.History); ok {
		out = t.replaced(items, c.Message, out)
	} else {
		out = t.heard.compact(c.Message, out)
	}
	if len(out) == told {
		out = append(out, format.Message{For: format.PeopleOnly, Title: "compaction", Blocks: []format.Block{{Kind: format.Text, Text: cmp.Or(c.Message, "nothing is left")}}})
	}
	out[first].Stands = true
	return out
}

// replaced tells a new history that the record holds in full.
func (t *telling) replaced(items []json.RawMessage, summary string, out []format.Message) []format.Message {
	t.heard = heard{}
	said := false
	for _, raw := range items {
		m, ok := t.item(raw)
		if !ok {
			continue
		}
		if m.Copy = !sums(raw, &m, summary); !m.Copy {
			m.For, m.Title, said = format.ModelOnly, "summary", true
		}
		out = append(out, m)
	}
	if !said && summary != "" && len(out) > 0 {
		out = append(out, format.Message{For: format.PeopleOnly, Title: "summary", Blocks: []format.Block{{Kind: format.Text, Text: summary}}})
	}
	return out
}

// sums tells the summary from what a new history repeats.
func sums(raw json.RawMessage, m *format.Message, summary string) bool {
	var i responseItem
	if !decoded(raw, &i) {
		return false
	}
	if slices.Contains(words(i.More.Kinds), "compaction.summary") || len(m.Blocks) > 0 && m.Blocks[0].Sealed && m.Blocks[0].Kind == format.Other {
		return true
	}
	return summary != "" && i.Type == "message" && len(m.Blocks) == 1 && m.Blocks[0].Text == summary
}

// Of what people said older compactions keep the newest, up to the client's bound; of a longer message its beginning and
// its end. As much more is remembered as may be taken back.
const (
	keptBytes     = 80_000
	rememberBytes = 1 << 20
)

// heard is what people said since the last compaction, and what that left.
type heard struct {
	list  []speech
	bytes int
}

// speech is what was said once, at most keptBytes of it.
type speech struct {
	text   string
	behind string // what stands at the end of a longer one
	size   int
	silent bool // it can be taken back, and is no person's
}

// say remembers what a person said.
func (k *heard) say(blocks []format.Block) {
	var b strings.Builder
	for _, x := range blocks {
		if x.Kind == format.Text {
			b.WriteString(x.Text)
		}
	}
	s := speech{text: b.String(), size: b.Len()}
	if s.size > keptBytes {
		s.behind = strings.Clone(s.text[s.size-keptBytes/2:])
		s.text = strings.Clone(s.text[:keptBytes/2])
	}
	k.add(s)
}

// pass remembers that an agent said something to another.
func (k *heard) pass() { k.add(speech{silent: true}) }

func (k *heard) add(s speech) {
	k.list = append(k.list, s)
	k.bytes += s.cost()
	drop := 0
	for k.bytes > rememberBytes && drop < len(k.list) {
		k.bytes -= k.list[drop].cost()
		drop++
	}
	k.list = slices.Delete(k.list, 0, drop)
}

func (s *speech) cost() int { return len(s.text) + len(s.behind) + 64 }

// back forgets the last ones.
func (k *heard) back(n int64) {
	left := int(max(0, int64(len(k.list))-max(n, 0)))
	for _, s := range k.list[left:] {
		k.bytes -= s.cost()
	}
	k.list = k.list[:left]
}

// summed begins the summary of releases that tell a summary from what people said.
const summed = "Another language model started to solve this problem and produced a summary of its thinking process."

// compact tells what an old compaction leaves: what people said, and the summary, as if a person had said it too.
func (k *heard) compact(summary string, out []format.Message) []format.Message {
	if summary == "" {
		summary = "(no summary available)"
	}
	var said [][]string
	left := keptBytes / 4 // the client counts four bytes as one
	for _, s := range slices.Backward(k.list) {
		if left == 0 {
			break
		}
		if s.silent || strings.HasPrefix(s.text, summed) {
			continue
		}
		n := (s.size + 3) / 4
		if n > left {
			said = append(said, s.short(left*4))
			break
		}
		said = append(said, []string{s.text + s.behind})
		left -= n
	}
	slices.Reverse(said)
	*k = heard{}
	for _, texts := range append(said, []string{summary}) {
		var blocks []format.Block
		for _, text := range texts {
			blocks = append(blocks, format.Block{Kind: format.Text, Text: text})
		}
		out = append(out, format.Message{Role: format.User, Copy: true, Blocks: blocks})
		k.say(blocks)
	}
	last := &out[len(out)-1]
	last.Copy, last.For, last.Title = false, format.ModelOnly, "summary"
	return out
}

// short are the beginning and the end of a speech, with a mark between them, as the client writes it.
func (s *speech) short(bytes int) []string {
	front, end := s.text, s.text+s.behind
	if s.behind != "" {
		end = s.behind
	}
	cut := bytes / 2
	for cut = min(cut, len(front)); cut > 0 && cut < len(front) && !utf8.RuneStart(front[cut]); cut-- {
	}
	from := max(0, len(end)-(bytes-bytes/2))
	for from < len(end) && !utf8.RuneStart(end[from]) {
		from++
	}
	return []string{front[:cut], fmt.Sprintf("…%d tokens truncated…", (s.size-bytes+3)/4), end[from:]}
}
