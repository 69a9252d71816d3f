package claude

import (
	"encoding/json"
	"strings"

	"github.com/sessfix/sessfix/format"
)

// saidAttachment is what an attachment brings along. Which members it has depends on its type.
type saidAttachment struct {
	Type    string          `json:"type"`
	Prompt  json.RawMessage `json:"prompt"`
	Mode    string          `json:"commandMode"`
	Snippet string          `json:"snippet"`
	Content json.RawMessage `json:"content"`
}

// attachment is what the client puts beside the talk for the model: reminders, files, what the user said while it worked. Newer
// releases record the words in which they send it; of others only that is told which is itself in the record, and the client
// puts words around it.
func (f *saying) attachment(m format.Message, out []format.Message) []format.Message {
	var a saidAttachment
	raw := f.Value(tAttachment)
	if len(raw) == 0 || raw[0] != '{' {
		return out
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		if _, other := err.(*json.UnmarshalTypeError); !other {
			return out
		}
	}
	sent := f.rendered()
	m.Role, m.For = format.User, format.ModelOnly
	if a.Type == "queued_command" && (a.Mode == "prompt" || a.Mode == "") {
		typed := m
		if typed.For = format.Everyone; len(sent) > 0 {
			typed.For = format.PeopleOnly
		}
		out = said(typed, piecesOf(a.Prompt), out)
	} else if len(sent) == 0 {
		sent = a.own()
	}
	m.Title = strings.ReplaceAll(a.Type, "_", " ")
	if string(f.Str(tRenderedRole)) == "system" {
		m.Role = format.System
	}
	return said(m, sent, out)
}

// rendered are the words in which the client sends an attachment.
func (f *saying) rendered() []format.Block {
	var out []format.Block
	for _, piece := range listOf(f.Value(tRendered)) {
		var r struct {
			Content json.RawMessage `json:"content"`
		}
		if json.Unmarshal(piece, &r) == nil {
			out = append(out, piecesOf(r.Content)...)
		}
	}
	return out
}

// own is what is sent of an attachment and is itself in the record (measured with 2.1.328).
func (a *saidAttachment) own() []format.Block {
	switch a.Type {
	case "queued_command": // news of a job
		return piecesOf(a.Prompt)
	case "edited_text_file":
		return textOf(a.Snippet)
	case "critical_system_reminder":
		return textOf(words(a.Content))
	case "hook_additional_context":
		var out []format.Block
		for _, text := range listOf(a.Content) {
			out = append(out, textOf(words(text))...)
		}
		return out
	case "file":
		var read struct {
			File struct {
				Content string `json:"content"`
			} `json:"file"`
		}
		if len(a.Content) == 0 || a.Content[0] != '{' || json.Unmarshal(a.Content, &read) != nil {
			return nil
		}
		return textOf(read.File.Content)
	}
	return nil
}
