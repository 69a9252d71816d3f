package export

import (
	"strings"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/provider"
)

// openAI writes messages of the Chat Completions API.
type openAI struct{}

func (openAI) limits() (int, bool) { return 40, false }

type (
	chatPart struct {
		Type  string    `json:"type"` // text, image_url
		Text  string    `json:"text,omitempty"`
		Image *chatLink `json:"image_url,omitempty"`
	}
	chatLink struct {
		URL string `json:"url"`
	}
	chatCall struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"` // function
		Function chatFunc `json:"function"`
	}
	chatFunc struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	chatMessage struct {
		Role    string     `json:"role"`
		Content any        `json:"content"`
		Calls   []chatCall `json:"tool_calls,omitempty"`
		ID      string     `json:"tool_call_id,omitempty"`
	}
)

func (openAI) message(c *chat, left *Left, put func(v any) error) (provider.Role, []provider.Block, error) {
	switch c.role {
	case format.System:
		text := joined(c.blocks)
		if text == "" {
			return 0, nil, nil
		}
		// Instructions stand beside the talk: they neither ask nor answer.
		return 0, nil, put(chatMessage{Role: "system", Content: text})
	case format.Assistant:
		return answer(c, left, put)
	}
	var blocks []provider.Block
	var parts []chatPart
	for _, b := range c.blocks {
		switch b.Kind {
		case format.Result:
			text := resultText(b, left)
			blocks = append(blocks, provider.Block{Kind: provider.Result, ID: []byte(b.ID)})
			if err := put(chatMessage{Role: "tool", ID: b.ID, Content: text}); err != nil {
				return 0, nil, err
			}
		case format.Image, format.File:
			part, p := mediaPart(b, left)
			parts, blocks = append(parts, part), append(blocks, p)
		default:
			parts = append(parts, chatPart{Type: "text", Text: b.Text})
			blocks = append(blocks, provider.Block{Kind: provider.Text, Blank: strings.TrimSpace(b.Text) == ""})
		}
	}
	if len(parts) == 0 {
		return provider.User, blocks, nil
	}
	var content any = parts
	if len(parts) == 1 && parts[0].Image == nil {
		content = parts[0].Text
	}
	return provider.User, blocks, put(chatMessage{Role: "user", Content: content})
}

// answer is an assistant's message.
func answer(c *chat, left *Left, put func(v any) error) (provider.Role, []provider.Block, error) {
	m := chatMessage{Role: "assistant"}
	var blocks []provider.Block
	var texts []format.Block
	for _, b := range c.blocks {
		switch b.Kind {
		case format.Text:
			texts = append(texts, b)
			blocks = append(blocks, provider.Block{Kind: provider.Text})
		case format.Call:
			m.Calls = append(m.Calls, chatCall{b.ID, "function", chatFunc{b.Name, string(object(b))}})
			blocks = append(blocks, provider.Block{Kind: provider.Call, ID: []byte(b.ID), Name: []byte(b.Name), Object: true})
		default:
			left.Other++
		}
	}
	if text := joined(texts); text != "" {
		m.Content = text
	} else if len(m.Calls) == 0 {
		m.Content = emptied
		blocks = append(blocks, provider.Block{Kind: provider.Text})
	}
	return provider.Assistant, blocks, put(m)
}

func joined(list []format.Block) string {
	var out []string
	for _, b := range list {
		if b.Kind == format.Text && b.Text != "" {
			out = append(out, b.Text)
		}
	}
	return strings.Join(out, "\n\n")
}

// resultText is a result, which is text alone.
func resultText(b format.Block, left *Left) string {
	if len(b.Content) == 0 {
		return b.Text
	}
	var out []string
	for _, x := range b.Content {
		switch x.Kind {
		case format.Text:
			out = append(out, x.Text)
		case format.Image, format.File:
			left.Other++
			out = append(out, stands(x))
		default:
			left.Other++
		}
	}
	return strings.Join(out, "\n")
}

// mediaPart is an image of the user; all else becomes a word.
func mediaPart(b format.Block, left *Left) (chatPart, provider.Block) {
	if b.Kind == format.Image && pictures[b.Media] && b.Data != "" {
		p := provider.Block{Kind: provider.Image, Size: int64(len(b.Data)), Look: provider.Look([]byte(b.Data), []byte(b.Media))}
		if _, n := p.Look.Breaks(p.Size); n == 0 {
			return chatPart{Type: "image_url", Image: &chatLink{"data:" + b.Media + ";base64," + b.Data}}, p
		}
	}
	if b.Kind == format.Image && b.Data == "" && strings.HasPrefix(b.URL, "https://") {
		return chatPart{Type: "image_url", Image: &chatLink{b.URL}}, provider.Block{Kind: provider.Other}
	}
	text := stands(b)
	if b.Kind == format.File && b.Text != "" {
		text = b.Text
	} else {
		left.Other++
	}
	return chatPart{Type: "text", Text: text}, provider.Block{Kind: provider.Text}
}
