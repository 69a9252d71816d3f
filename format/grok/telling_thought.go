package grok

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// saidThought is what a model thought, an item of its own: what may be read of it, and what only its provider reads.
type saidThought struct {
	ID      string     `json:"id"`
	Summary []saidPart `json:"summary"`
	Content []saidPart `json:"content"`
	Sealed  string     `json:"encrypted_content"`
}

// blocks is the thinking. Summary and words are joined as the client joins them.
func (t *saidThought) blocks() []format.Block {
	var lines []string
	for _, p := range append(t.Summary, t.Content...) {
		lines = append(lines, p.Text)
	}
	return thinking(strings.Join(lines, "\n"), t.Sealed)
}

func thinking(text, sealed string) []format.Block {
	if text == "" && sealed == "" {
		return nil
	}
	return []format.Block{{Kind: format.Thinking, Text: text, Data: sealed, Sealed: sealed != ""}}
}

// ran is a call that the provider ran, and answered, itself.
type ran struct {
	Type   string `json:"type"` // in an early answer
	Tool   string `json:"tool_type"`
	ID     string `json:"id"`
	Name   string `json:"name"`
	Input  string `json:"input"`
	Code   string `json:"code"`
	Args   string `json:"arguments"`
	Server string `json:"server_label"`
	Action struct {
		Query, Pattern, URL string
	} `json:"action"`
}

// maxCode is how much of a program the client sends again.
const maxCode = 100

// blocks is what the client tells a model of it that does not run tools itself (1.0.41).
func (c *ran) blocks() []format.Block {
	if c.Tool == "" {
		return nil
	}
	about := ""
	switch a := c.Action; {
	case c.Tool == "code_interpreter":
		about = c.Code
		if len(about) > maxCode {
			about = strings.ToValidUTF8(about[:maxCode], "") + "..."
		}
	case c.Server != "":
		about = c.Server + "/" + c.Name + "(" + c.Args + ")"
	case c.Name != "":
		about = c.Name + "(" + c.Input + ")"
	case a.Pattern != "":
		about = `find "` + a.Pattern + `" in ` + a.URL
	case a.Query != "" || a.URL == "":
		about = "search: " + a.Query
	default:
		about = "open: " + a.URL
	}
	return textBlocks("[backend " + c.Tool + "] " + about)
}

// ranAs are the kinds of calls that the provider ran, by what its answers call them.
var ranAs = map[string]string{"web_search_call": "web_search", "custom_tool_call": "x_search", "code_interpreter_call": "code_interpreter"}

// sibling is a piece of an early answer that is an item of its own today.
func (t *historyTelling) sibling(raw json.RawMessage, at int64) []format.Block {
	var c ran
	if !decode(raw, &c) {
		return nil
	}
	if c.Type == "reasoning" {
		var s saidThought
		decode(raw, &s)
		return s.blocks()
	}
	if c.Tool = ranAs[c.Type]; c.Tool == "" || !t.isFirst(c.ID, at) {
		return nil
	}
	return c.blocks()
}

// isFirst tells whether no record in front of one tells of a call that the provider ran. Releases wrote some as an item and in an
// answer, and the client sends each once.
func (t *historyTelling) isFirst(id string, at int64) bool {
	if t.first == nil {
		t.first = map[string]int64{}
		records(t.dir, historyName, 0, -1, keys[:1], func(r *session.Record) {
			if !bytes.Contains(r.Raw, []byte("backend_tool_call")) && !bytes.Contains(r.Raw, []byte("raw_output")) {
				return
			}
			var s struct {
				Ran    ran   `json:"kind"`
				Output []ran `json:"raw_output"`
			}
			decode(r.Raw, &s)
			for _, c := range append(s.Output, s.Ran) {
				if _, ok := t.first[c.ID]; !ok && (c.Tool != "" || ranAs[c.Type] != "") {
					t.first[c.ID] = r.Text
				}
			}
		})
	}
	first, ok := t.first[id]
	return !ok || first == at || id == ""
}
