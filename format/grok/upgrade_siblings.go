package grok

import "bytes"

// What the model thought, and tools that the provider ran, stand in items of their own in front of the answer. They stood in it first: as
// reasoning_content of a message, as reasoning of an item, and then as raw_output, which holds both.

// siblings takes them out of an answer.
func (t *historyStep) siblings(o *object) [][]byte {
	if v := o.get("raw_output"); kindOf(v) == '[' {
		return t.output(o, v)
	}
	// o still is as it was written: what it becomes is not looked at.
	if kindOf(o.get("role")) == '"' && o.str("type") != "assistant" {
		text := o.get("reasoning_content")
		if kindOf(text) != '"' || len(text) == 2 {
			return nil
		}
		o.take("reasoning_content")
		return [][]byte{thought([]byte(`""`), text, nil, nil)}
	}
	r, ok := openObject(o.get("reasoning"))
	if !ok {
		return nil
	}
	id, text, secret := r.get("id"), r.get("text"), r.get("encrypted")
	if kindOf(id) != '"' {
		id = []byte(`""`)
	}
	if kindOf(text) != '"' || len(text) == 2 {
		text = nil
	}
	if kindOf(secret) != '"' || len(secret) == 2 {
		secret = nil
	}
	if text == nil && secret == nil {
		return nil
	}
	for _, key := range []string{"type", "id", "text", "encrypted", "summary", "content", "encrypted_content", "status"} {
		r.take(key)
	}
	o.take("reasoning")
	return [][]byte{thought(id, text, secret, r.inside())}
}

// thought is an item of what the model thought, its members as written.
func thought(id, text, secret, more []byte) []byte {
	out := append([]byte(`{"type":"reasoning","id":`), id...)
	out = append(out, `,"summary":[`...)
	if text != nil {
		out = append(append(append(out, `{"type":"summary_text","text":`...), text...), '}')
	}
	out = append(out, ']')
	if secret != nil {
		out = append(append(out, `,"encrypted_content":`...), secret...)
	}
	if len(more) > 0 {
		out = append(append(out, ','), more...)
	}
	return append(out, '}')
}

// tools that the provider ran: what an item calls them, and without which members the client cannot read one.
var tools = map[string]struct {
	name  string
	needs []string
}{
	"web_search_call":       {"web_search", []string{"id", "status", "action"}},
	"custom_tool_call":      {"x_search", []string{"id", "call_id", "name", "input"}},
	"code_interpreter_call": {"code_interpreter", []string{"id", "status", "container_id"}},
}

// output takes items out of what the provider gave. What the answer holds already stays where it is: no client looks at it. While
// some of it stays, or is there empty beside reasoning, the client does not take that for one more thought.
func (t *historyStep) output(o *object, list []byte) (siblings [][]byte) {
	rest := [][]byte{}
	for _, raw := range elements(list) {
		e, ok := openObject(raw)
		if !ok {
			rest = append(rest, raw)
			continue
		}
		kind := e.str("type")
		tool, isTool := tools[kind]
		switch {
		case kind == "reasoning" && kindOf(e.get("id")) == '"' && kindOf(e.get("summary")) == '[':
			siblings = append(siblings, raw)
		case isTool && e.holds(tool.needs):
			if t.ran(e.str("id")) {
				e.take("tool_type")
				p := e.last("type")
				p.name, p.value = []byte(`"tool_type"`), []byte(quoted(tool.name))
				siblings = append(siblings, append(append([]byte(`{"type":"backend_tool_call","kind":`), e.bytes()...), '}'))
			}
		default:
			rest = append(rest, raw)
		}
	}
	switch {
	case len(rest) == len(elements(list)):
	case len(rest) == 0 && o.last("reasoning") == nil:
		o.take("raw_output")
	default:
		o.put("raw_output", "["+string(bytes.Join(rest, []byte(",")))+"]")
	}
	return siblings
}

// holds tells whether an object has all of some members.
func (o *object) holds(keys []string) bool {
	for _, key := range keys {
		if kindOf(o.get(key)) == 0 || kindOf(o.get(key)) == 'n' {
			return false
		}
	}
	return true
}

// ran notes a call that the provider ran, and tells whether it is new.
func (t *historyStep) ran(id string) bool {
	if t.tools == nil {
		t.tools = map[string]bool{}
	}
	known := t.tools[id]
	t.tools[id] = true
	return !known
}
