package harness

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/pi/harness/message"
	"github.com/sessfix/sessfix/scan"
)

// saidWrite is a write as it is told, of either generation.
type saidWrite struct {
	Kind  message.Word    `json:"kind"`
	Op    message.Word    `json:"op"`
	Space message.Word    `json:"namespace"`
	Key   message.Word    `json:"key"`
	Value json.RawMessage `json:"value"`
	// Of an entry.
	Type    message.Word      `json:"type"`
	ID      message.Word      `json:"id"`
	Parent  message.Word      `json:"parentId"`
	Time    message.Number    `json:"timestamp"`
	Message json.RawMessage   `json:"message"`
	Summary message.Word      `json:"summary"`
	Tail    []json.RawMessage `json:"retainedTail"`
	// Of the draft.
	Lane     *message.Word `json:"lane"`
	Leaf     message.Word  `json:"leafId"`
	Fact     message.Word  `json:"fact"`
	Name     message.Word  `json:"name"`
	Label    message.Word  `json:"label"`
	Provider message.Word  `json:"provider"`
	ModelID  message.Word  `json:"modelId"`
	Thinking message.Word  `json:"thinkingLevel"`
}

// tellWrites are those of a transaction.
func tellWrites(raw []byte) []saidWrite {
	list, ok := unmarshal(raw)
	if !ok {
		// The strings of a record that was cut out of a bad line may hold what JSON does not allow.
		list, _ = unmarshal(scan.MendRecord(raw))
	}
	return list
}

func unmarshal(raw []byte) ([]saidWrite, bool) {
	var err error
	list := make([]saidWrite, 1)
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '[' {
		err = json.Unmarshal(raw, &list)
	} else {
		err = json.Unmarshal(raw, &list[0])
	}
	// What is of another type than it should be says nothing.
	if odd := (*json.UnmarshalTypeError)(nil); err != nil && !errors.As(err, &odd) {
		return nil, false
	}
	return list, true
}

// moves is the lane that the write moves, and the entry that it goes on from.
func (w *saidWrite) moves() (lane, tip string, ok bool) {
	switch {
	case w.Kind == "value" && w.Op == "set" && w.Space == tips:
		var to message.Word
		ok = string(w.Value) == "null" || len(w.Value) > 0 && w.Value[0] == '"'
		return string(w.Key), string(to), ok && json.Unmarshal(w.Value, &to) == nil
	case w.Kind == "lane" && w.Lane != nil:
		return string(*w.Lane), string(w.Leaf), true
	case w.Kind == "entry" && w.Lane != nil:
		return string(*w.Lane), string(w.ID), true
	}
	return "", "", false
}

// says is what an entry says.
func (w *saidWrite) says() []format.Message {
	var out []format.Message
	switch w.Type {
	case "message":
		out = tellMessage(w.Message, out)
	case "branch_summary":
		if m := message.Branch(format.Message{}, string(w.Summary)); len(m.Blocks) > 0 {
			out = append(out, m)
		}
	case "compaction":
		m := message.Compaction(format.Message{}, string(w.Summary))
		m.Stands = true
		out = append(out, m)
		for _, raw := range w.Tail {
			out = tellMessage(raw, out)
		}
		for i := range out[1:] {
			out[1+i].Copy = true
		}
	case "model_change":
		out = append(out, message.Note(format.Message{}, "model", string(w.Provider+"/"+w.ModelID)))
	case "thinking_level_change":
		out = append(out, message.Note(format.Message{}, "thinking level", string(w.Thinking)))
	}
	for i := range out {
		out[i].ID = string(w.ID)
		if at := int64(w.Time.Value); at != 0 {
			out[i].Time = at
		}
	}
	return out
}

// tellMessage tells a message. An answer that was put off is not sent either.
func tellMessage(raw json.RawMessage, out []format.Message) []format.Message {
	first := len(out)
	if len(raw) == 0 {
		return out
	}
	out = message.Tell(raw, out)
	var v struct {
		Stop message.Word `json:"stopReason"`
	}
	if json.Unmarshal(raw, &v) == nil && v.Stop == "deferred" {
		for i := range out[first:] {
			out[first+i].For = format.PeopleOnly
		}
	}
	return out
}

// note is what is said beside the talk: the session's name, and labels of entries.
func (w *saidWrite) note(out []format.Message) []format.Message {
	title, words := "", message.Word("")
	switch {
	case w.Kind == "value" && w.Op == "set" && (w.Space == names || w.Space == labels):
		if json.Unmarshal(w.Value, &words) != nil {
			return out
		}
		title = "label"
		if w.Space == names {
			title = "name"
		}
	case w.Kind == "fact" && w.Fact == "name":
		title, words = "name", w.Name
	case w.Kind == "fact" && w.Fact == "label":
		title, words = "label", w.Label
	}
	if words == "" {
		return out
	}
	return append(out, message.Note(format.Message{Time: int64(w.Time.Value)}, title, string(words)))
}
