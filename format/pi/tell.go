package pi

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/pi/harness/message"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// told is an entry as it is told.
type told struct {
	Type    message.Word    `json:"type"`
	ID      message.Word    `json:"id"`
	Time    message.Word    `json:"timestamp"`
	Message json.RawMessage `json:"message"`
	// Of an extension's message, of an edit, of summaries.
	Custom  message.Word    `json:"customType"`
	Content message.Content `json:"content"`
	Display message.Flag    `json:"display"`
	Instead json.RawMessage `json:"replacement"`
	Target  message.Word    `json:"targetId"`
	Summary message.Word    `json:"summary"`
	System  json.RawMessage `json:"systemMessage"`
	// Of settings and marks.
	Provider message.Word    `json:"provider"`
	ModelID  message.Word    `json:"modelId"`
	Model    message.Word    `json:"model"` // both in one, up to 0.13
	Thinking message.Word    `json:"thinkingLevel"`
	Label    message.Word    `json:"label"`
	Name     message.Word    `json:"name"`
	Tools    json.RawMessage `json:"activeToolNames"`
}

// telling remembers nothing: the entries may come in any order.
type telling struct{ client Client }

// NewTelling begins with a session of any generation.
func (d dialect) NewTelling(format.Place) format.Telling { return telling{d.client} }

// Tell says what an entry says.
func (t telling) Tell(r *session.Record, out []format.Message) []format.Message {
	raw := r.Raw
	var e told
	if json.Unmarshal(raw, &e) != nil {
		// The strings of a record that was cut out of a bad line may hold what JSON does not allow.
		if raw = scan.MendRecord(raw); json.Unmarshal(raw, &e) != nil {
			return out
		}
	}
	first := len(out)
	out = e.tell(out)
	if e.Type == "context_edit" && !t.client.Edits {
		for i := range out[first:] {
			out[first+i].For = format.PeopleOnly // the client takes no notice of it
		}
	}
	if t.client.Tell != nil {
		out = append(out[:first], t.client.Tell(string(e.Type), raw, slices.Clone(out[first:]))...)
	}
	for i := range out[first:] {
		m := &out[first+i]
		m.ID = string(e.ID)
		if at := millis([]byte(e.Time)); at != 0 {
			m.Time = at
		}
	}
	return out
}

// tell is what the newest client makes of an entry.
func (e *told) tell(out []format.Message) []format.Message {
	var m format.Message
	switch e.Type {
	case "message":
		return message.Tell(e.Message, out)
	case "custom_message":
		m = message.Extension(m, e.Custom, e.Content, e.Display)
	case "branch_summary":
		m = message.Branch(m, string(e.Summary))
	case "compaction":
		return e.compaction(out)
	case "context_edit":
		m = e.edit()
	case "label":
		m = message.Note(m, "label", string(e.Label))
	case "session_info":
		m = message.Note(m, "name", string(e.Name))
	case "model_change":
		model := string(e.Model)
		if e.ModelID != "" {
			model = strings.TrimPrefix(string(e.Provider+"/"+e.ModelID), "/")
		}
		m = message.Note(m, "model", model)
	case "thinking_level_change":
		m = message.Note(m, "thinking level", string(e.Thinking))
	case "active_tools_change":
		var names []message.Word
		if json.Unmarshal(e.Tools, &names) == nil {
			words := make([]string, len(names))
			for i, n := range names {
				words[i] = string(n)
			}
			m = message.Note(m, "tools", strings.Join(words, ", "))
		}
	}
	if len(m.Blocks) == 0 {
		return out
	}
	return append(out, m)
}

// compaction tells the summary, behind what the model is told of the system from there on.
func (e *told) compaction(out []format.Message) []format.Message {
	first := len(out)
	if len(e.System) > 0 {
		out = message.Tell(e.System, out)
	}
	out = append(out, message.Compaction(format.Message{}, string(e.Summary)))
	out[first].Stands = true
	return out
}

// edit tells the words that the model gets instead of those of another entry, under that one's role, which only that one
// says; or that it gets none.
func (e *told) edit() format.Message {
	m := format.Message{For: format.ModelOnly, Title: "edit"}
	var v struct {
		Content message.Content `json:"content"`
	}
	if len(e.Instead) == 0 || e.Instead[0] != '{' {
		return message.Note(m, "edit", "what "+string(e.Target)+" says is sent no more")
	}
	if json.Unmarshal(e.Instead, &v) != nil {
		return format.Message{}
	}
	m.Blocks = v.Content.Blocks
	return m
}

var _ format.Teller = dialect{}
