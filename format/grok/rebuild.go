package grok

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"slices"
	"strconv"

	"github.com/sessfix/sessfix/format"
)

// maxCheckpoint bounds a checkpoint's file.
const maxCheckpoint = 64 << 20

// checkpoint is what a compaction left of the history: its items, byte for byte.
type checkpoint struct {
	Items  []json.RawMessage `json:"compacted_history"`
	Schema int               `json:"schema_version"`
	Info   json.RawMessage   `json:"original_user_info"` // what the model was told of the machine, as a string
}

func readCheckpoint(dir fs.FS, name string) (c checkpoint, ok bool) {
	if !fs.ValidPath(name) {
		return c, false
	}
	data, err := format.ReadSmall(dir, name, maxCheckpoint)
	return c, err == nil && json.Unmarshal(data, &c) == nil && c.Schema == 1 && len(c.Items) > 0
}

// rebuild is a history of what the log tells: without what was taken back, from the last compaction on that counts, and each result
// right behind its answer. Where the compaction's file cannot be read it is of all turns. It is nil where the log tells nothing.
func rebuild(dir fs.FS) []byte {
	o, ok := readOutline(dir)
	if !ok || len(o.turns) == 0 {
		return nil
	}
	return o.rebuild(dir)
}

// rebuildTo is a history of the first turns alone. A later compaction knows how the first history began.
func rebuildTo(dir fs.FS, turns int) []byte {
	o, _ := readOutline(dir)
	b, _ := o.border()
	o.turns = o.turns[:min(turns, len(o.turns))]
	out := o.rebuild(dir)
	c, ok := readCheckpoint(dir, b.file)
	if _, kept := o.border(); kept || !ok || kindOf(c.Info) != '"' {
		return out
	}
	at := bytes.IndexByte(out, '\n') + 1
	info := append([]byte(`{"type":"user","content":[{"type":"text","text":`), c.Info...)
	return slices.Insert(out, at, append(info, "}]}\n"...)...)
}

// rebuild is the history of an outline.
func (o *outline) rebuild(dir fs.FS) (out []byte) {
	from := 0
	if b, ok := o.border(); ok {
		if c, ok := readCheckpoint(dir, b.file); ok {
			from = b.index
			for _, item := range c.Items {
				out = append(out, compact(item)...)
			}
			if b.goOn != "" {
				out = append(out, userLine(b.goOn, `,"synthetic_reason":"auto_continue"`)...)
			}
		}
	}
	if len(out) == 0 {
		out = append(out, `{"type":"system","content":""}`+"\n"...) // the client puts its own there
	}
	w := &writer{outline: o, dir: dir}
	for n := from; n < len(o.turns); n++ {
		for _, x := range w.turn(n) {
			out = append(out, x.line...)
			for _, c := range x.calls {
				out = append(out, c.result...)
			}
		}
	}
	return out
}

// retold is an item of a history as the log tells it.
type retold struct {
	prompt int // its number, -1 = none
	calls  []retoldCall
	text   string
	line   []byte
	part   bool // the log does not tell all of it: it cannot stand for the one that was lost
	ended  bool // its turn came to its own end
}

// retoldCall is a call with the line of its result.
type retoldCall struct {
	id     string // as written
	result []byte
}

// writer makes items of turns.
type writer struct {
	*outline
	items  []retold
	dir    fs.FS
	text   string
	stop   string
	calls  []string
	ends   map[string]*ending
	events *events
	unsaid int // calls of which the log tells no end
}

// ending is a call of the answer at hand.
type ending struct {
	name, text string
	input      json.RawMessage
	done       bool
}

// compact is a line of one item.
func compact(item []byte) []byte {
	var b bytes.Buffer
	json.Compact(&b, item)
	b.WriteByte('\n')
	return b.Bytes()
}

func quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s)
	return string(bytes.TrimRight(b.Bytes(), "\n"))
}

func userLine(text, more string) []byte {
	return []byte(`{"type":"user","content":[{"type":"text","text":` + quoted(text) + `}]` + more + "}\n")
}

// turn makes those of one.
func (w *writer) turn(n int) []retold {
	t := w.outline.turn(w.dir, n)
	w.items = append(w.items[:0:0], retold{prompt: n, part: t.rich, ended: t.stop == endTurn, line: userLine("<user_query>\n"+t.prompt+"\n</user_query>", `,"prompt_index":`+strconv.Itoa(n))})
	w.stop = t.stop
	for _, u := range t.updates {
		switch u.Kind {
		case "agent_message_chunk":
			if w.over() {
				w.flush()
			}
			w.text += textIn(u.Content)
		case "tool_call", "tool_call_update":
			w.call(&u)
		}
	}
	w.flush()
	return w.items
}

// over tells that the answer at hand has a result: what is said next is another.
func (w *writer) over() bool {
	for _, e := range w.ends {
		if e.done {
			return true
		}
	}
	return false
}

func (w *writer) call(u *update) {
	e := w.ends[u.Call]
	if e == nil {
		if u.Kind == "tool_call" && w.over() && w.settled() {
			w.flush()
		}
		if w.ends == nil {
			w.ends = map[string]*ending{}
		}
		e = &ending{name: u.Title}
		w.ends[u.Call] = e
		w.calls = append(w.calls, u.Call)
	}
	if u.Meta.Tool.Name != "" {
		e.name = u.Meta.Tool.Name
	}
	if len(e.input) == 0 {
		e.input = u.Input
	}
	if u.Status != "completed" && u.Status != "failed" {
		return
	}
	e.done = true
	var out struct {
		Prompt *string `json:"output_for_prompt"`
	}
	if json.Unmarshal(u.Output, &out) == nil && out.Prompt != nil {
		e.text = *out.Prompt
	} else if e.text = textIn(u.Content); e.text == "" {
		var b bytes.Buffer
		json.Compact(&b, u.Output)
		e.text = b.String()
	}
}

// settled tells that every call of the answer at hand has ended: a further one belongs to the next answer.
func (w *writer) settled() bool {
	for _, e := range w.ends {
		if !e.done {
			return false
		}
	}
	return true
}

// flush ends the answer at hand.
func (w *writer) flush() {
	if w.text == "" && len(w.calls) == 0 {
		return
	}
	x := retold{prompt: -1, ended: w.stop == endTurn, text: w.text, part: len(w.calls) == 0 && w.stop == "cancelled"}
	line := `{"type":"assistant","content":` + quoted(w.text)
	for i, id := range w.calls {
		e := w.ends[id]
		args := "{}"
		var b bytes.Buffer
		if json.Compact(&b, e.input) == nil && b.Len() > 0 {
			args = b.String()
		} else {
			x.part = true
		}
		sep := ","
		if i == 0 {
			sep = `,"tool_calls":[`
		}
		line += sep + `{"id":` + quoted(id) + `,"name":` + quoted(e.name) + `,"arguments":` + quoted(args) + `}`
	}
	if len(w.calls) > 0 {
		line += "]"
	}
	if w.model != "" {
		line += `,"model_id":` + quoted(w.model)
	}
	x.line = []byte(line + "}\n")
	for i, id := range w.calls {
		e := w.ends[id]
		if !e.done {
			w.unsaid++
			if w.events == nil {
				ev := readEvents(w.dir)
				w.events = &ev
			}
			_, e.text = w.events.grade(w.dir, id, i)
		}
		q := quoted(id)
		x.calls = append(x.calls, retoldCall{q[1 : len(q)-1], resultLine(q[1:len(q)-1], quoted(e.text))})
	}
	w.items = append(w.items, x)
	w.text, w.calls, w.ends = "", nil, nil
}
