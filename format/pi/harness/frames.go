package harness

import (
	"cmp"
	"encoding/json"
	"strings"
)

// noUsage is what an answer counts whose end never came, as the client counts it.
const noUsage = `{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`

// interrupt writes the answer that was awaited, of the pieces that are there of it, as one that was given up: no request
// holds it, and none of the calls in it is run.
func (o *operation) interrupt(d *decoder, t *transaction) {
	config := o.state.Context.Config
	switch o.state.At {
	case "assistant.effect_pending":
	case "deferred.effect_pending":
		config = o.state.Config
	default:
		return
	}
	response, _ := inside(o.state.Response)
	usage, _ := inside(o.state.Usage)
	a := reduce(d.lists[address{frames, o.id + ":" + response}])
	message := `{"role":"assistant","content":[` + strings.Join(a.content(), ",") + `]` +
		`,"api":` + cmp.Or(string(a.start.API), `"unknown"`) +
		`,"provider":` + cmp.Or(string(a.start.Provider), string(config.Model.Provider), `"unknown"`) +
		`,"model":` + cmp.Or(string(a.start.Model), string(config.Model.ID), `"unknown"`)
	for _, m := range []struct {
		name  string
		value json.RawMessage
	}{
		{"responseModel", a.start.ResponseModel}, {"responseId", a.start.ResponseID},
		{"providerThinkingLevel", a.start.Thinking}, {"diagnostics", a.start.Diagnostics},
	} {
		message += member(m.name, m.value)
	}
	message += `,"usage":` + noUsage + `,"stopReason":"aborted","errorMessage":"` + brokenText + `","timestamp":` +
		cmp.Or(string(a.start.Time), num(min(t.time+1, safest))) + `}`
	t.entry(response, o.tip, message, "")
	t.usage(usage, noUsage, response)
	o.tip = response
}

func member(name string, value json.RawMessage) string {
	if value == nil {
		return ""
	}
	return `,"` + name + `":` + string(value)
}

// frame is one piece of an answer that is being given. Texts stay as they are written.
type frame struct {
	Type     string          `json:"type"`
	Index    *int            `json:"contentIndex"`
	Partial  json.RawMessage `json:"partial"`
	Content  json.RawMessage `json:"content"`
	Call     json.RawMessage `json:"toolCall"`
	Delta    json.RawMessage `json:"delta"`
	JSON     json.RawMessage `json:"json"`
	ID       json.RawMessage `json:"id"`
	Name     json.RawMessage `json:"name"`
	Args     json.RawMessage `json:"arguments"`
	TextSign json.RawMessage `json:"textSignature"`
	Sign     json.RawMessage `json:"thinkingSignature"`
	Redacted json.RawMessage `json:"redacted"`
	Thought  json.RawMessage `json:"thoughtSignature"`
	Space    json.RawMessage `json:"namespace"`
}

// piece is one block of the answer: its members as they stand, and what was added since.
type piece struct {
	kind  string // the type of its block
	text  string // of a text or a thought, as written; of a call, the arguments that were streamed
	ended bool
	frame // of a call: id, name and arguments; signatures
}

// partial is an answer as far as it came.
type partial struct {
	start struct {
		API           json.RawMessage `json:"api"`
		Provider      json.RawMessage `json:"provider"`
		Model         json.RawMessage `json:"model"`
		ResponseModel json.RawMessage `json:"responseModel"`
		ResponseID    json.RawMessage `json:"responseId"`
		Thinking      json.RawMessage `json:"providerThinkingLevel"`
		Diagnostics   json.RawMessage `json:"diagnostics"`
		Time          json.RawMessage `json:"timestamp"`
	}
	pieces []piece
}

// reduce puts the pieces together, up to the first that does not fit.
func reduce(list [][]byte) partial {
	var a partial
	for i, raw := range list {
		var f frame
		if json.Unmarshal(raw, &f) != nil || (f.Type == "start") != (i == 0) || !a.add(f) {
			break
		}
	}
	return a
}

func (a *partial) add(f frame) bool {
	kind, step, ok := strings.Cut(f.Type, "_")
	switch {
	case f.Type == "start":
		return json.Unmarshal(f.Partial, &a.start) == nil
	case !ok || f.Index == nil || *f.Index < 0 || *f.Index > len(a.pieces):
		return false
	case step == "start":
		return *f.Index == len(a.pieces) && a.begin(kind, f)
	case *f.Index == len(a.pieces):
		return false
	}
	p := &a.pieces[*f.Index]
	delta, isText := inside(f.Delta)
	switch {
	case p.ended || p.kind != kind:
		return false
	case step == "delta" && isText:
		p.text += delta
	case step == "checkpoint" && kind == "toolcall":
		if p.text, isText = inside(f.JSON); !isText {
			return false
		}
	case step == "end" && kind == "toolcall":
		p.ended, p.frame = true, f
	case step == "end":
		if p.text, isText = inside(f.Content); !isText {
			return false
		}
		p.ended, p.frame = true, f
	default:
		return false
	}
	return true
}

// begin takes the first piece of a block.
func (a *partial) begin(kind string, f frame) bool {
	p := piece{kind: kind}
	switch kind {
	case "text", "thinking":
		var v struct {
			Text     json.RawMessage `json:"text"`
			Thinking json.RawMessage `json:"thinking"`
		}
		if json.Unmarshal(f.Content, &v) != nil || json.Unmarshal(f.Content, &p.frame) != nil {
			return false
		}
		p.text, _ = inside(v.Text)
		if kind == "thinking" {
			p.text, _ = inside(v.Thinking)
		}
	case "toolcall":
		if json.Unmarshal(f.Call, &p.frame) != nil {
			return false
		}
	default:
		return false
	}
	a.pieces = append(a.pieces, p)
	return true
}

// content are the blocks of the answer.
func (a *partial) content() []string {
	var out []string
	for _, p := range a.pieces {
		switch p.kind {
		case "text":
			out = append(out, `{"type":"text","text":"`+p.text+`"`+member("textSignature", p.TextSign)+`}`)
		case "thinking":
			out = append(out, `{"type":"thinking","thinking":"`+p.text+`"`+member("thinkingSignature", p.Sign)+member("redacted", p.Redacted)+`}`)
		default:
			out = append(out, `{"type":"toolCall"`+member("id", p.ID)+member("name", p.Name)+member("arguments", p.args())+
				member("thoughtSignature", p.Thought)+member("namespace", p.Space)+`}`)
		}
	}
	return out
}

// args are the arguments of a call: those that were streamed, where they are whole.
func (p *piece) args() json.RawMessage {
	var text string
	if !p.ended && json.Unmarshal([]byte(`"`+p.text+`"`), &text) == nil && strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return p.Args
}
