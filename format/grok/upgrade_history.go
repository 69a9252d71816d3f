package grok

import (
	"bytes"
	"encoding/json"

	"github.com/sessfix/sessfix/format"
)

// historyStep makes items of messages. The first releases kept what they sent to the API: messages with a role. One line tells from
// the other by that member, so that a file may hold both; the client reads either. What it would not read of a message, as one
// without content, is made readable.
type historyStep struct {
	tools map[string]bool // calls that the provider ran, by their ids
}

func beginHistory(s format.Source) (format.Stage, error) {
	if err := fit(s); err != nil {
		return nil, err
	}
	return &historyStep{}, nil
}

// itemOf is the kind of item that a message becomes, by its role.
var itemOf = map[string]string{"system": "system", "user": "user", "assistant": "assistant", "tool": "tool_result"}

// items are the kinds that the client knows.
var items = map[string]bool{"system": true, "user": true, "assistant": true, "tool_result": true, "reasoning": true, "backend_tool_call": true}

// Record makes items of one line.
func (t *historyStep) Record(l format.Line, out format.Out) error {
	o, ok := openObject(l.Raw)
	if !ok {
		return format.Refuse(l.N, "the line is no JSON object that the client could read")
	}
	kind, role := o.str("type"), o.str("role")
	switch to := itemOf[role]; {
	case items[kind]:
		if kind == "backend_tool_call" {
			if k, ok := openObject(o.get("kind")); ok {
				t.ran(k.str("id"))
			}
		}
	case to != "":
		if err := t.message(l.N, o, to); err != nil {
			return err
		}
		kind = to
	case kind != "":
		return out.Put(l)
	default:
		return format.Refuse(l.N, "the line is an item of the history neither as it is written now nor as it was first")
	}
	if kind == "assistant" {
		for _, raw := range t.siblings(o) {
			if err := out.Put(format.Line{Raw: raw, N: l.N}); err != nil {
				return err
			}
		}
	}
	return out.Put(format.Line{Raw: o.bytes(), N: l.N})
}

// End has nothing to add.
func (*historyStep) End(format.Out) error { return nil }

// message makes an item of a message.
func (t *historyStep) message(n int64, o *object, to string) error {
	if p := o.last("type"); p != nil {
		p.value = []byte(quoted(to))
	} else {
		p := o.last("role")
		p.name, p.value = []byte(`"type"`), []byte(quoted(to))
	}
	content := o.get("content")
	switch kind := kindOf(content); {
	case to == "user" && (kind == 0 || kind == 'n'):
		o.put("content", "[]")
	case to == "user" && kind == '"':
		o.put("content", `[{"type":"text","text":`+string(content)+`}]`)
	case to == "user" && kind == '[':
		parts, err := userParts(n, content)
		if err != nil {
			return err
		}
		o.put("content", parts)
	case kind == 0 || kind == 'n':
		o.put("content", `""`)
	case kind == '"':
	case kind == '[':
		text, images, err := flat(n, content)
		if err != nil {
			return err
		}
		if len(images) > 0 && to != "tool_result" {
			return format.Refuse(n, "the message of role %q holds an image, which an item of type %q has no place for", o.str("role"), to)
		}
		if o.put("content", text); len(images) > 0 && o.last("images") == nil {
			o.put("images", "["+string(bytes.Join(images, []byte(",")))+"]")
		}
	default:
		return format.Refuse(n, "the content of the message is neither text nor a list")
	}
	switch to {
	case "tool_result":
		if o.last("tool_call_id") == nil {
			o.put("tool_call_id", `""`)
		}
	case "assistant":
		switch v := o.get("tool_calls"); kindOf(v) {
		case 0:
		case 'n':
			o.take("tool_calls")
		case '[':
			calls, err := flatCalls(n, v)
			if err != nil {
				return err
			}
			o.put("tool_calls", calls)
		default:
			return format.Refuse(n, "the calls of the message are no list")
		}
	}
	return nil
}

// userParts are those of what a user said: texts stay, and images bear their address themselves.
func userParts(n int64, content []byte) (string, error) {
	list := elements(content)
	for i, raw := range list {
		o, ok := openObject(raw)
		if !ok {
			return "", format.Refuse(n, "a part of the message is no object")
		}
		switch kind := o.str("type"); kind {
		case "text":
		case "image_url":
			list[i] = image(o)
		default:
			return "", format.Refuse(n, "a part of the message is of type %q, which an item has no place for", kind)
		}
	}
	return "[" + string(bytes.Join(list, []byte(","))) + "]", nil
}

// image is one as an item holds it. Whatever else was said of it stays beside its address.
func image(o *object) []byte {
	o.put("type", `"image"`)
	p := o.last("image_url")
	if p == nil {
		return o.bytes()
	}
	if at, ok := openObject(o.get("image_url")); ok {
		at.take("type")
		if p.text = at.inside(); len(p.text) == 0 {
			p.text = []byte(`"url":""`)
		}
	} else {
		p.name = []byte(`"url"`)
	}
	return o.bytes()
}

// flat is the text of parts, one a line as the client sends it, and the images among them.
func flat(n int64, content []byte) (text string, images [][]byte, err error) {
	text = `"`
	some := false
	for _, raw := range elements(content) {
		o, ok := openObject(raw)
		v := []byte(nil)
		if ok {
			v = o.get("text")
		}
		switch {
		case ok && o.str("type") == "image_url":
			images = append(images, image(o))
		case ok && o.str("type") == "text" && kindOf(v) == '"':
			if some {
				text += `\n`
			}
			some = true
			text += string(v[1 : len(v)-1])
		default:
			return "", nil, format.Refuse(n, "a part of the message is neither a text nor an image")
		}
	}
	return text + `"`, images, nil
}

// flatCalls are the calls of a message, each with its name and arguments beside its id.
func flatCalls(n int64, calls []byte) (string, error) {
	list := elements(calls)
	for i, raw := range list {
		o, ok := openObject(raw)
		if !ok {
			return "", format.Refuse(n, "a call of the message is no object")
		}
		if p := o.last("id"); p == nil || kindOf(o.get("id")) == 'n' {
			o.put("id", `""`)
		}
		if p := o.last("function"); p != nil {
			f, ok := openObject(o.get("function"))
			if !ok || kindOf(f.get("name")) != '"' {
				return "", format.Refuse(n, "a call of the message has no function with a name")
			}
			o.take("name")
			o.take("arguments")
			if o.str("type") == "function" {
				o.take("type")
			}
			f.take("id")
			f.take("type")
			arguments(f)
			p.text = f.inside()
		} else if kindOf(o.get("name")) != '"' {
			return "", format.Refuse(n, "a call of the message has no name")
		} else {
			arguments(o)
		}
		list[i] = o.bytes()
	}
	return "[" + string(bytes.Join(list, []byte(","))) + "]", nil
}

// arguments of a call are a string that holds JSON. What is JSON itself becomes one.
func arguments(o *object) {
	switch v := o.get("arguments"); kindOf(v) {
	case '"':
	case 0, 'n':
		o.put("arguments", `"{}"`)
	default:
		var b bytes.Buffer
		json.Compact(&b, v)
		o.put("arguments", quoted(b.String()))
	}
}
