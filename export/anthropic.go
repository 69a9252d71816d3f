package export

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/provider"
)

// anthropic writes messages of the Messages API. Thinking is left out: its signature holds for the model and the key that made it.
type anthropic struct{}

func (anthropic) limits() (int, bool) { return 128, true }

type (
	textBlock struct {
		Type string `json:"type"` // text
		Text string `json:"text"`
	}
	mediaBlock struct {
		Type   string      `json:"type"` // image, document
		Source mediaSource `json:"source"`
	}
	mediaSource struct {
		Type  string `json:"type"` // base64, url
		Media string `json:"media_type,omitempty"`
		Data  string `json:"data,omitempty"`
		URL   string `json:"url,omitempty"`
	}
	useBlock struct {
		Type  string          `json:"type"` // tool_use
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	resultBlock struct {
		Type    string `json:"type"` // tool_result
		ID      string `json:"tool_use_id"`
		Content any    `json:"content,omitempty"`
		Failed  bool   `json:"is_error,omitempty"`
	}
	roleMessage struct {
		Role    string `json:"role"`
		Content any    `json:"content"`
	}
)

func (anthropic) message(c *chat, left *Left, put func(v any) error) (provider.Role, []provider.Block, error) {
	role, word := provider.User, "user"
	if c.role == format.Assistant {
		role, word = provider.Assistant, "assistant"
	}
	var (
		content []any
		blocks  []provider.Block
	)
	add := func(v any, b provider.Block) { content, blocks = append(content, v), append(blocks, b) }
	for _, b := range c.blocks { // results come first
		if b.Kind == format.Result {
			v, p := resultOf(b, left)
			add(v, p)
		}
	}
	for _, b := range c.blocks {
		switch b.Kind {
		case format.Text:
			add(textBlock{"text", b.Text}, provider.Block{Kind: provider.Text, Blank: strings.TrimSpace(b.Text) == ""})
		case format.Image, format.File:
			if c.role == format.Assistant {
				left.Other++
				continue
			}
			add(mediaOf(b, left))
		case format.Call:
			input := object(b)
			add(useBlock{"tool_use", b.ID, b.Name, input}, provider.Block{Kind: provider.Call, ID: []byte(b.ID), Name: []byte(b.Name), Object: input[0] == '{'})
		}
	}
	if len(content) == 0 {
		content = []any{textBlock{"text", emptied}}
		blocks = []provider.Block{{Kind: provider.Text}}
	}
	return role, blocks, put(roleMessage{word, content})
}

// emptied stands for a message of which nothing is left.
const emptied = "[Nothing of this message can be sent.]"

// object is a call's input, which must be an object.
func object(b format.Block) json.RawMessage {
	in := json.RawMessage(strings.TrimSpace(string(b.Input)))
	switch {
	case len(in) > 0 && in[0] == '{':
		return in
	case len(in) > 0:
		return json.RawMessage(`{"input":` + string(in) + `}`)
	case b.Text != "":
		text, _ := json.Marshal(b.Text)
		return json.RawMessage(`{"input":` + string(text) + `}`)
	}
	return json.RawMessage(`{}`)
}

// resultOf is a result as a block.
func resultOf(b format.Block, left *Left) (any, provider.Block) {
	p := provider.Block{Kind: provider.Result, ID: []byte(b.ID), Failed: b.Failed}
	r := resultBlock{Type: "tool_result", ID: b.ID, Failed: b.Failed}
	var content []any
	for _, x := range b.Content {
		switch x.Kind {
		case format.Image, format.File:
			v, _ := mediaOf(x, left)
			content = append(content, v)
		case format.Other, format.Thinking, format.Call, format.Result:
			left.Other++
		default:
			if strings.TrimSpace(x.Text) != "" {
				content = append(content, textBlock{"text", x.Text})
			}
		}
	}
	switch {
	case len(content) > 0:
		r.Content = content
	case b.Text != "":
		r.Content = b.Text
	case b.Failed:
		r.Content = "[no text]"
	default:
		p.Blank = true
	}
	return r, p
}

// pictures are the types of images that providers take.
var pictures = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// mediaOf is an image or a document; what cannot be sent becomes a word.
func mediaOf(b format.Block, left *Left) (any, provider.Block) {
	if b.Kind == format.Image && pictures[b.Media] && b.Data != "" {
		p := provider.Block{Kind: provider.Image, Size: int64(len(b.Data)), Look: provider.Look([]byte(b.Data), []byte(b.Media))}
		if _, n := p.Look.Breaks(p.Size); n == 0 {
			return mediaBlock{"image", mediaSource{Type: "base64", Media: b.Media, Data: b.Data}}, p
		}
	}
	if b.Data == "" && strings.HasPrefix(b.URL, "https://") {
		return mediaBlock{map[format.BlockKind]string{format.Image: "image", format.File: "document"}[b.Kind], mediaSource{Type: "url", URL: b.URL}}, provider.Block{Kind: provider.Other}
	}
	if b.Kind == format.File && b.Media == "application/pdf" && b.Data != "" {
		return mediaBlock{"document", mediaSource{Type: "base64", Media: b.Media, Data: b.Data}}, provider.Block{Kind: provider.Other}
	}
	if b.Kind == format.File && b.Text != "" {
		return textBlock{"text", b.Text}, provider.Block{Kind: provider.Text, Blank: strings.TrimSpace(b.Text) == ""}
	}
	left.Other++
	return textBlock{"text", stands(b)}, provider.Block{Kind: provider.Text}
}

// stands is a word for an image or a file that cannot be sent.
func stands(b format.Block) string {
	media := b.Media
	if media == "" {
		media = "of unknown type"
	}
	if b.Data == "" {
		return fmt.Sprintf("[%s, %s, is not in the log]", b.Kind, media)
	}
	return fmt.Sprintf("[%s, %s, %d bytes of base64]", b.Kind, media, len(b.Data))
}
