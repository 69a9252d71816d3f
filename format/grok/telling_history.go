package grok

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"strings"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// historyTelling tells items. Each is one message, in the order in which they are sent: thinking, and what the provider ran, stand in
// front of the answer that they belong to, and the client joins them to it. Results stand behind their calls in the order in which
// they came.
//
// Nothing stands in the place of something else here: when the client compacts a talk it writes the history anew, and what it left
// out is no longer in the file.
type historyTelling struct {
	dir       fs.FS
	first     map[string]int64 // where the history first tells of calls that the provider ran, nil while nobody asked
	compacted *bool            // a compaction wrote the history
}

// saidItem is what an item says, as it is written today and as it was first.
type saidItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Reason    string          `json:"synthetic_reason"`
	Prompt    json.RawMessage `json:"prompt_index"`
	Calls     []saidCall      `json:"tool_calls"`
	Model     string          `json:"model_id"`
	Call      string          `json:"tool_call_id"`
	Images    []saidPart      `json:"images"`
	Ran       ran             `json:"kind"`
	Thought   string          `json:"reasoning_content"` // of the first form
	Reasoning struct {
		Text, Encrypted string
	} `json:"reasoning"` // of an early one
	Output []json.RawMessage `json:"raw_output"` // of an early one
}

// Tell says what an item does.
func (t *historyTelling) Tell(r *session.Record, out []format.Message) []format.Message {
	var s saidItem
	if !decode(r.Raw, &s) {
		return out
	}
	word := s.Type
	if word == "" || !items[word] && itemOf[s.Role] != "" {
		word = itemOf[s.Role]
	}
	m := format.Message{Role: format.Assistant, Model: s.Model}
	switch word {
	case "system":
		m.Role, m.For = format.System, format.ModelOnly
		m.Blocks = blocksOf(s.Content)
	case "user":
		return s.user(t, out)
	case "assistant":
		m.Blocks = s.answer(t, r.Text)
	case "tool_result":
		m.Role = format.Tool
		m.Blocks = []format.Block{s.result()}
	case "reasoning":
		var x saidThought
		decode(r.Raw, &x)
		m.ID, m.Blocks = x.ID, x.blocks()
	case "backend_tool_call":
		m.ID, m.Blocks = s.Ran.ID, s.Ran.blocks()
	}
	if len(m.Blocks) == 0 {
		return out
	}
	return append(out, m)
}

// byPeople are the reasons for which the client sends words by itself that a person wrote.
var byPeople = map[string]bool{"interjection": true, "scheduler_fired": true}

// user tells the words of a user, or what the client says in that role. It wraps words of people: the model gets them so, and people
// read them without that. Of a message that is nothing else they are the same words twice. A prompt that a compaction kept has no
// number any more, and stands on the log with what was answered.
func (s *saidItem) user(t *historyTelling, out []format.Message) []format.Message {
	m := format.Message{Role: format.User, Blocks: blocksOf(s.Content), Title: strings.ReplaceAll(s.Reason, "_", " ")}
	if len(m.Blocks) == 0 {
		return out
	}
	text, only := textOfBlocks(m.Blocks)
	if s.Reason != "" && !byPeople[s.Reason] || strings.HasPrefix(text, "<user_info>") || strings.HasPrefix(text, "<system-reminder>") {
		m.For = format.ModelOnly
		return append(out, m)
	}
	before, words, after, ok := unwrapped(text)
	if !ok || !only { // images are told once
		return append(out, m)
	}
	if k := kindOf(s.Prompt); (k == 0 || k == 'n') && s.Reason == "" && t.isCompacted() {
		m.For, m.Title = format.ModelOnly, "kept prompt"
		return append(out, m)
	}
	plain := m
	m.For, m.Copy, plain.For = format.ModelOnly, before+after == "", format.PeopleOnly
	plain.Blocks = []format.Block{{Kind: format.Text, Text: words}}
	return append(out, m, plain)
}

// isCompacted tells whether a compaction wrote the history.
func (t *historyTelling) isCompacted() bool {
	if t.compacted == nil {
		t.compacted = new(bool)
		records(t.dir, historyName, 0, -1, keys[:1], func(r *session.Record) {
			*t.compacted = *t.compacted || bytes.Contains(r.Raw, ofCompaction)
		})
	}
	return *t.compacted
}

// unwrapped is what a person wrote, of the words that the model gets, and what stands around it.
func unwrapped(text string) (before, words, after string, ok bool) {
	const begin, end = "<user_query>\n", "\n</user_query>"
	before, rest, ok := strings.Cut(text, begin)
	at := strings.LastIndex(rest, end)
	if !ok || at <= 0 {
		return "", "", "", false
	}
	return before, rest[:at], rest[at+len(end):], true
}

// answer is what an assistant says: what it thought, says, and asks for.
func (s *saidItem) answer(t *historyTelling, at int64) (out []format.Block) {
	switch {
	case s.Output != nil:
		for _, raw := range s.Output {
			out = append(out, t.sibling(raw, at)...)
		}
	case s.Reasoning.Text != "" || s.Reasoning.Encrypted != "":
		out = thinking(s.Reasoning.Text, s.Reasoning.Encrypted)
	case s.Thought != "" && s.Type == "":
		out = thinking(s.Thought, "")
	}
	out = append(out, blocksOf(s.Content)...)
	for _, c := range s.Calls {
		out = append(out, c.block())
	}
	return out
}

// saidCall is a call of an answer; as it was written first its name and arguments stand in a member of their own.
type saidCall struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Args     json.RawMessage `json:"arguments"`
	Function struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"arguments"`
	} `json:"function"`
}

func (c *saidCall) block() format.Block {
	b := format.Block{Kind: format.Call, ID: c.ID, Name: c.Name}
	args := c.Args
	if b.Name == "" {
		b.Name, args = c.Function.Name, c.Function.Args
	}
	b.Input, b.Text = inputOf(args)
	return b
}

// inputOf is the input of a call: arguments are a string that holds JSON. Where it holds none the client sends an empty object; so it
// is told where nothing is lost by that.
func inputOf(args json.RawMessage) (input []byte, text string) {
	switch kindOf(args) {
	case 0, 'n':
		return []byte("{}"), ""
	case '"':
		json.Unmarshal(args, &text)
		switch {
		case text == "":
			return []byte("{}"), ""
		case !json.Valid([]byte(text)):
			return nil, text
		}
		return []byte(text), ""
	}
	return wellFormed(args), ""
}

// result is the result of a call. Of its own form it says nothing of failure; words of the client do, that it wrote in the place of
// a result.
func (s *saidItem) result() format.Block {
	pieces := blocksOf(s.Content)
	b := format.Block{Kind: format.Result, ID: s.Call}
	for _, p := range s.Images {
		pieces = append(pieces, p.blocks()...)
	}
	var only bool
	if b.Text, only = textOfBlocks(pieces); !only {
		b.Text, b.Content = "", pieces
	}
	b.MadeUp = invented([]byte(b.Text))
	b.Failed = b.MadeUp || rejected(b.Text)
	return b
}

// rejected tells what the client answers a call with that a person did not allow.
func rejected(text string) bool {
	return strings.HasPrefix(text, "User rejected the execution for tool `") || strings.HasPrefix(text, "Tool execution cancelled due to earlier permission rejection for tool `")
}

// textOfBlocks is the text of texts, one a line, as the client joins them; only tells whether there is nothing else.
func textOfBlocks(blocks []format.Block) (text string, only bool) {
	var lines []string
	for _, b := range blocks {
		if b.Kind == format.Text {
			lines = append(lines, b.Text)
		}
	}
	return strings.Join(lines, "\n"), len(lines) == len(blocks)
}
