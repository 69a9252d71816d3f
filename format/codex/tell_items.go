package codex

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/sessfix/sessfix/format"
)

// responseItem is a response item.
type responseItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Author    string          `json:"author"`
	Recipient string          `json:"recipient"`
	Summary   json.RawMessage `json:"summary"`
	Sealed    string          `json:"encrypted_content"`
	Call      string          `json:"call_id"`
	Namespace string          `json:"namespace"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Input     json.RawMessage `json:"input"`
	Action    json.RawMessage `json:"action"`
	Execution string          `json:"execution"`
	Status    string          `json:"status"`
	Output    json.RawMessage `json:"output"`
	Tools     json.RawMessage `json:"tools"`
	Success   *bool           `json:"success"`
	Result    string          `json:"result"`
	Prompt    string          `json:"revised_prompt"`
	More      struct {
		Kinds json.RawMessage `json:"content_item_kinds"`
	} `json:"internal_chat_message_metadata_passthrough"`
}

// item tells a response item; ok is false for one that says nothing.
func (t *telling) item(raw json.RawMessage) (m format.Message, ok bool) {
	var i responseItem
	if !decoded(raw, &i) {
		return m, false
	}
	m.ID, m.Role = i.ID, format.Assistant
	switch i.Type {
	case "message":
		t.message(&i, &m)
	case "agent_message":
		m.Role, m.Title, m.Blocks = format.User, fromTo(i.Author, i.Recipient), contents(i.Content)
		t.heard.pass()
	case "reasoning":
		m.Blocks = thinking(&i)
	case "function_call", "custom_tool_call", "local_shell_call", "tool_search_call", "web_search_call", "image_generation_call":
		m.Blocks = i.asks()
		if class, _ := classOf(i.Type, i.Execution); class > 0 {
			t.calls.add(i.Call, class)
		}
	case "function_call_output", "custom_tool_call_output", "tool_search_output":
		if class, _ := classOf(i.Type, i.Execution); class > 0 {
			if m.Role = format.Tool; !t.calls.answers(i.Call, class) {
				m.For = format.PeopleOnly // the client drops it
			}
		}
		m.Blocks = []format.Block{i.answers()}
	case "compaction", "compaction_summary", "context_compaction":
		m.Role, m.For = format.User, format.ModelOnly
		m.Blocks = []format.Block{sealed("a sealed summary", i.Sealed)}
	case "additional_tools":
		m.Role, m.For = format.System, format.ModelOnly
		m.Blocks = []format.Block{{Kind: format.Other, Text: i.Type, Input: valueOf(i.Tools)}}
	default: // ghost_snapshot and what else is not sent
		return m, false
	}
	if m.Role == format.Assistant {
		m.Model = t.model
	}
	return m, len(m.Blocks) > 0
}

// message tells who speaks to whom. The client puts instructions, and what surrounds it, into the user's mouth.
func (t *telling) message(i *responseItem, m *format.Message) {
	m.Blocks = contents(i.Content)
	switch i.Role {
	case "assistant":
	case "user":
		m.Role = format.User
		if !i.person(m.Blocks) {
			m.For = format.ModelOnly
		} else {
			t.heard.say(m.Blocks)
		}
	default: // developer, system
		m.Role, m.For = format.System, format.ModelOnly
	}
}

// person tells what a person said from what the client did. Newer releases write of each piece what it is.
func (i *responseItem) person(blocks []format.Block) bool {
	if kinds := words(i.More.Kinds); len(kinds) > 0 && len(kinds) == len(blocks) {
		for _, k := range kinds {
			if strings.HasPrefix(k, "user.") || k == "" || k == "unknown" {
				return true
			}
		}
		return false
	}
	for _, b := range blocks {
		if b.Kind != format.Text || !given([]byte(b.Text)) {
			return true
		}
	}
	return len(blocks) == 0
}

// thinking is what may be read of reasoning, and its seal.
func thinking(i *responseItem) []format.Block {
	b := format.Block{Kind: format.Thinking, Data: i.Sealed, Sealed: i.Sealed != ""}
	var texts []string
	for _, list := range []json.RawMessage{i.Summary, i.Content} {
		for _, p := range contents(list) {
			texts = append(texts, p.Text)
		}
		if len(texts) > 0 { // what it thought in full says no more of it than the summary does
			break
		}
	}
	b.Text = strings.Join(texts, "\n\n")
	if b.Text == "" && !b.Sealed {
		return nil
	}
	return []format.Block{b}
}

// asks is a call: of the client's tools, or of what the service does by itself.
func (i *responseItem) asks() []format.Block {
	b := format.Block{Kind: format.Call, ID: i.Call, Name: i.Name}
	switch i.Type {
	case "function_call":
		if i.Namespace != "" {
			b.Name = i.Namespace + "." + i.Name
		}
		b.Input, b.Text = arguments(i.Arguments)
	case "custom_tool_call":
		if b.Text = textIn(i.Input); b.Text == "" {
			b.Input = valueOf(i.Input)
		}
	case "local_shell_call":
		b.Name, b.Input = "local_shell", valueOf(i.Action)
	case "tool_search_call":
		b.Name = "tool_search"
		b.Input, b.Text = arguments(i.Arguments)
		if i.Execution == "server" {
			b.Kind = format.Other
		}
	case "web_search_call":
		return []format.Block{{Kind: format.Other, ID: i.ID, Name: "web_search", Text: i.searched(), Input: valueOf(i.Action)}}
	case "image_generation_call":
		b = format.Block{Kind: format.Other, ID: i.ID, Name: "image_generation", Text: "an image was asked for"}
		if i.Prompt != "" {
			b.Text += ": " + i.Prompt
		}
		if i.Result == "" {
			return []format.Block{b}
		}
		return []format.Block{b, {Kind: format.Image, Media: "image/png", Data: i.Result}}
	}
	return []format.Block{b}
}

// searched says what a search of the web did.
func (i *responseItem) searched() string {
	var a struct {
		Type, Query, URL, Pattern string
	}
	if !decoded(i.Action, &a) {
		return "a search of the web"
	}
	words := []string{"web search"}
	for _, w := range []string{a.Query, a.URL, a.Pattern} {
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, ": ")
}

// arguments are a call's: a string that holds JSON, mostly.
func arguments(raw json.RawMessage) (input []byte, plain string) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return valueOf(raw), ""
	}
	if b := bytes.TrimSpace([]byte(s)); json.Valid(b) {
		return b, ""
	}
	return nil, s
}

// valueOf is a copy of a JSON value, in valid UTF-8; nil where there is none.
func valueOf(raw json.RawMessage) []byte {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return bytes.Clone(bytes.ToValidUTF8(raw, []byte("\uFFFD")))
}

// textIn is what a JSON string says, "" where it is none.
func textIn(raw json.RawMessage) (s string) {
	if len(raw) > 0 && raw[0] == '"' {
		json.Unmarshal(raw, &s)
	}
	return s
}
