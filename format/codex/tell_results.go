package codex

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
)

// answers is an output.
func (i *responseItem) answers() format.Block {
	b := format.Block{Kind: format.Result, ID: i.Call, Failed: i.Success != nil && !*i.Success || i.Status == "failed"}
	if i.Type == "tool_search_output" {
		if b.Text = string(valueOf(i.Tools)); i.Execution == "server" {
			b.Kind = format.Other
		}
		return b
	}
	output := i.Output
	var wrapped struct { // some releases
		Content json.RawMessage `json:"content"`
		Items   json.RawMessage `json:"content_items"`
		Success *bool           `json:"success"`
	}
	if len(output) > 0 && output[0] == '{' && decoded(output, &wrapped) {
		output = wrapped.Content
		if len(wrapped.Items) > 0 && wrapped.Items[0] == '[' {
			output = wrapped.Items
		}
		b.Failed = b.Failed || wrapped.Success != nil && !*wrapped.Success
	}
	switch pieces := contents(output); {
	case len(pieces) == 1 && pieces[0].Kind == format.Text:
		b.Text = pieces[0].Text
	default:
		b.Content = pieces
	}
	b.Failed = b.Failed || exited(b.Text)
	b.MadeUp = b.Text == "aborted" || strings.HasPrefix(b.Text, finding.ToolOutcomeUnknown+":")
	return b
}

// exited tells whether an output says, in front of what the command wrote, that it failed.
func exited(output string) bool {
	if strings.HasPrefix(output, "{") {
		var o struct {
			Metadata struct {
				Exit int `json:"exit_code"`
			} `json:"metadata"`
		}
		return json.Unmarshal([]byte(output), &o) == nil && o.Metadata.Exit != 0
	}
	for range 8 {
		line, rest, _ := strings.Cut(output, "\n")
		for _, words := range []string{"Exit code: ", "Process exited with code "} {
			if code, ok := strings.CutPrefix(line, words); ok {
				n, err := strconv.Atoi(strings.TrimSpace(code))
				return err == nil && n != 0
			}
		}
		if line == "Output:" {
			return false
		}
		output = rest
	}
	return false
}

// content is a piece of a message or of an output.
type content struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Refusal  string          `json:"refusal"`
	Image    json.RawMessage `json:"image_url"`
	Audio    json.RawMessage `json:"audio_url"`
	File     string          `json:"file_data"`
	FileURL  string          `json:"file_url"`
	FileName string          `json:"filename"`
	Sealed   string          `json:"encrypted_content"`
}

// contents are the pieces of a message, a summary or an output: a string, or a list.
func contents(raw json.RawMessage) []format.Block {
	if len(raw) == 0 {
		return nil
	}
	if raw[0] == '"' {
		return []format.Block{{Kind: format.Text, Text: textIn(raw)}}
	}
	list, _ := elements(raw)
	var out []format.Block
	for _, raw := range list {
		var c content
		if decoded(raw, &c) {
			out = append(out, c.block())
		}
	}
	return out
}

func (c *content) block() format.Block {
	switch c.Type {
	case "input_image", "output_image", "image":
		return linked(format.Block{Kind: format.Image, Text: c.FileName}, address(c.Image))
	case "input_audio", "audio":
		return linked(format.Block{Kind: format.File, Text: "audio"}, address(c.Audio))
	case "input_file", "file":
		b := format.Block{Kind: format.File, Text: c.FileName, URL: c.FileURL}
		if c.File != "" {
			b = linked(b, c.File)
		}
		return b
	case "refusal":
		return format.Block{Kind: format.Text, Text: c.Refusal}
	case "encrypted_content":
		return sealed("a sealed message", c.Sealed)
	}
	if c.Text == "" && !strings.Contains(c.Type, "text") {
		return format.Block{Kind: format.Other, Text: c.Type}
	}
	return format.Block{Kind: format.Text, Text: c.Text}
}

// address is where an image lies: a string, or an object with one.
func address(raw json.RawMessage) string {
	if s := textIn(raw); s != "" {
		return s
	}
	var o struct {
		URL string `json:"url"`
	}
	decoded(raw, &o)
	return o.URL
}

// linked is a block with what an address holds, or with the address.
func linked(b format.Block, address string) format.Block {
	if rest, ok := strings.CutPrefix(address, "data:"); ok {
		if media, data, ok := strings.Cut(rest, ";base64,"); ok {
			b.Media, b.Data = media, data
			return b
		}
	}
	b.URL = address
	return b
}

// sealed is what only the service can read.
func sealed(word, data string) format.Block {
	return format.Block{Kind: format.Other, Text: word, Data: data, Sealed: true}
}
