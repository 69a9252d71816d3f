package codex

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
)

// envelope puts the items of a bare rollout into envelopes, as the releases from 0.42.0 on write them:
//
//	{"id":ID,"timestamp":T,"instructions":I}  →  {"timestamp":T,"type":"session_meta","payload":{"id":ID,"timestamp":T,"cwd":…,…}}
//	{"type":"message","id":null,…}            →  {"timestamp":T,"type":"response_item","payload":{"type":"message",…}}
//	                                             {"timestamp":T,"type":"event_msg","payload":{"type":"user_message",…}}
//	{"record_type":"state"}                   →  nothing
//
// All records get the header's time: the items have none.
type envelope struct {
	time []byte // the header's timestamp, as it is written
	cwd  string // the working directory, as JSON
}

func beginEnvelope(s format.Source) (format.Stage, error) {
	if err := lone(s); err != nil {
		return nil, err
	}
	e := &envelope{cwd: `"/"`}
	if s.Records == nil {
		return e, nil
	}
	for l, err := range s.Records() {
		if err != nil {
			return nil, err
		}
		if m := workdir.FindSubmatch(l.Raw); m != nil && bytes.Contains(l.Raw, []byte(`"message"`)) {
			e.cwd = `"` + string(m[1]) + `"`
			break
		}
	}
	return e, nil
}

// workdir finds the working directory in the text that the client puts in front of the talk. It stays as it is escaped.
var workdir = regexp.MustCompile(`"\s*<environment_context>(?:[^"\\]|\\.)*?<cwd>((?:[^"\\<]|\\.)+)</cwd>`)

func (e *envelope) Record(l format.Line, out format.Out) error {
	list, err := whole(l)
	if err != nil {
		return err
	}
	typ, typed := named(list, "type")
	payload, full := named(list, "payload")
	_, state := named(list, "record_type")
	switch {
	case e.time == nil:
		return e.header(l, list, out)
	case typed && full && l.Raw[payload.from] == '{' && topTypes[string(typ.inside(l.Raw))]:
		return out.Put(l) // a later release wrote it
	case typed:
		return e.item(l, list, string(typ.inside(l.Raw)), out)
	case state:
		if r, _ := named(list, "record_type"); string(r.inside(l.Raw)) != "state" {
			return format.Refuse(l.N, "a record of type %.40s is not known", r.of(l.Raw))
		}
		out.Drop(l.N, "a state record says nothing, and later releases have none")
		return nil
	}
	if _, ok := named(list, "timestamp"); ok {
		return e.header(l, list, out)
	}
	return format.Refuse(l.N, "what the record is cannot be told: it has no type")
}

// provider is the model provider of a header that names none: the client's own one. A client that has filled its database
// before resumes no rollout that is new to it and names none (measured with 0.171.0).
const provider = `"openai"`

// header makes the header of what stood in the first line.
func (e *envelope) header(l format.Line, list []part, out format.Out) error {
	id, _ := named(list, "id")
	at, timed := named(list, "timestamp")
	if _, typed := named(list, "type"); typed || !uuids.Match(id.inside(l.Raw)) || !timed || millis(at.inside(l.Raw)) == 0 {
		return format.Refuse(l.N, "the first record is no header with an id and a time")
	}
	if e.time == nil {
		e.time = bytes.Clone(at.of(l.Raw))
		out.Note(l.N, "it names neither a model provider nor, outside of the talk, a working directory: "+
			"the client's own provider is written, and the directory that the talk names, else /")
	}
	var more strings.Builder
	for _, m := range []struct{ name, value string }{
		{"cwd", e.cwd}, {"originator", `"codex_cli_rs"`}, {"cli_version", `""`}, {"source", `"unknown"`}, {"model_provider", provider},
	} {
		if _, ok := named(list, m.name); !ok {
			more.WriteString(`,"` + m.name + `":` + m.value)
		}
	}
	var patches []finding.Patch
	if i, ok := named(list, "instructions"); ok {
		switch l.Raw[i.from] {
		case 'n':
			patches = append(patches, without(list, i))
		case '"':
			patches = append(patches, finding.Patch{
				At: int64(i.at), Del: int64(i.to - i.at), Ins: []byte(`"base_instructions":{"text":` + string(i.of(l.Raw)) + `}`),
			})
		}
	}
	patches = append(patches, insert(at.to, more.String()))
	return out.Put(format.Line{Raw: e.wrap("session_meta", spliced(l.Raw, patches...)), N: l.N})
}

// item wraps an item for the model, and tells the display of what somebody said.
func (e *envelope) item(l format.Line, list []part, typ string, out format.Out) error {
	if !itemTypes[typ] {
		return format.Refuse(l.N, "an item of type %s is not known", strconv.QuoteToASCII(typ))
	}
	raw := l.Raw
	if id, ok := named(list, "id"); ok && raw[id.from] == 'n' {
		raw = spliced(raw, without(list, id))
	}
	if err := out.Put(format.Line{Raw: e.wrap("response_item", raw), N: l.N}); err != nil || typ != "message" {
		return err
	}
	text, images := said(l.Raw, list)
	role, _ := named(list, "role")
	event := ""
	switch string(role.inside(l.Raw)) {
	case "user":
		if aside(text) || len(text) == 0 && len(images) == 0 {
			return nil
		}
		event = `{"type":"user_message","message":"` + string(text) + `","images":[` + strings.Join(images, ",") + `]}`
	case "assistant":
		if len(text) == 0 {
			return nil
		}
		event = `{"type":"agent_message","message":"` + string(text) + `"}`
	default:
		return nil
	}
	return out.Put(format.Line{Raw: e.wrap("event_msg", []byte(event)), N: -1, Why: "the client lists and shows a thread by such events"})
}

func (e *envelope) wrap(typ string, payload []byte) []byte {
	line := append([]byte(`{"timestamp":`), e.time...)
	line = append(line, `,"type":"`+typ+`","payload":`...)
	return append(append(line, bytes.TrimSpace(payload)...), '}')
}

func (e *envelope) End(format.Out) error { return nil }

// said is the text of a message, as it is escaped, and the addresses of its images, as JSON.
func said(raw []byte, list []part) (text []byte, images []string) {
	content, _ := named(list, "content")
	pieces, _ := parts(raw, content.from)
	for _, p := range pieces {
		m, ok := parts(raw, p.from)
		if !ok || content.to == 0 {
			continue
		}
		if t, ok := named(m, "text"); ok {
			text = append(text, t.inside(raw)...)
		}
		if u, ok := named(m, "image_url"); ok && raw[u.from] == '"' {
			images = append(images, string(u.of(raw)))
		}
	}
	return text, images
}

// aside tells what the client said in a person's name, between tags of its own, from what a person said.
func aside(text []byte) bool {
	plain := bytes.TrimSpace(scan.Unescape(nil, text))
	m := tag.FindSubmatch(plain)
	return m != nil && bytes.HasSuffix(plain, []byte("</"+string(m[1])+">"))
}

var tag = regexp.MustCompile(`^<([a-z][a-z0-9_]*)[ >]`)
