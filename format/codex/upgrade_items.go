package codex

import (
	"bytes"
	"slices"
	"strings"
)

// draft is an item that is made of an event's members.
type draft struct {
	r    *record
	used []string // members that have a place in the item
	body strings.Builder
	bad  bool // a member is not as the client reads it
}

// value is a member as it is written, "" where it is absent or null.
func (d *draft) value(name string) string {
	d.used = append(d.used, name)
	if p, ok := d.r.member(name); ok && d.r.Raw[p.from] != 'n' {
		return string(p.of(d.r.Raw))
	}
	return ""
}

// need is a member that the client cannot do without: kind is the first byte of its value.
func (d *draft) need(name string, kind byte) string {
	v := d.value(name)
	first := byte(' ')
	if v != "" {
		if first = v[0]; first == '-' || first >= '0' && first <= '9' {
			first = '0'
		}
	}
	d.bad = d.bad || first != kind
	return v
}

// put adds a member to the item, unless it has no value.
func (d *draft) put(name, value string) {
	if value != "" {
		d.body.WriteString(`,"` + name + `":` + value)
	}
}

// filled adds a member that is a string, unless that is empty.
func (d *draft) filled(name string) {
	if v := d.value(name); v != `""` {
		d.put(name, v)
	}
}

// maker makes an item of an event: what it is called, its id, "" where it gets the next one, and the turn that it names
// itself, nil where it belongs to the open one.
type maker func(d *draft) (typ, id string, turn []byte)

// items are the events that become items.
var items = map[string]maker{
	"user_message": userItem, "agent_message": agentItem, "context_compacted": compactionItem, "patch_apply_end": fileItem,
	"mcp_tool_call_end": mcpItem, "web_search_end": searchItem, "image_generation_end": imageItem,
	"entered_review_mode": enteredItem, "exited_review_mode": exitedItem, "sub_agent_activity": helperItem,
	"exec_command_end": commandItem, "dynamic_tool_call_response": dynamicItem,
}

// itemOf writes the item that an event becomes. An event that cannot become one that the client reads stays what it is.
func (p *pages) itemOf(r *record, kind string, make maker) error {
	d := &draft{r: r, used: []string{"type"}}
	typ, id, turn := make(d)
	if d.bad {
		p.index-- // the client does not count what it cannot read
		r.out.Note(r.N, "an event that lacks what an item needs: it is kept as it is, and the client passes over it")
		return p.put(r)
	}
	if typ == "" {
		return p.put(r) // it says nothing
	}
	if kind == "user_message" && p.turn != nil && p.made && p.asked {
		if err := p.endMade(r.out, r); err != nil {
			return err
		}
	}
	switch {
	case len(turn) > 0 && (p.turn != nil && !bytes.Equal(turn, p.turn) || p.turn == nil && p.known[string(turn)]):
	case len(turn) > 0 && p.turn == nil:
		if err := p.begin(r, string(turn)); err != nil {
			return err
		}
	default:
		if err := p.within(r); err != nil {
			return err
		}
		turn = p.turn
	}
	if id == "" {
		id = p.nextItem()
	}
	p.asked = p.asked || kind == "user_message"
	if len(turn) == 0 || bytes.Equal(turn, p.turn) {
		p.thought = nil
	}
	return p.become(r, turn, `{"type":"`+typ+`","id":`+id+d.body.String()+`}`, d.used)
}

func (p *pages) nextItem() string {
	p.item++
	return `"item-` + num(p.item) + `"`
}

// become writes a record of which the payload is a completed item. What of the event has no place in the item stands
// beside it.
func (p *pages) become(r *record, turn []byte, item string, used []string) error {
	t, _, err := r.when()
	if err != nil {
		return err
	}
	payload := `{"type":"item_completed","thread_id":"` + string(p.thread) + `","turn_id":"` + string(turn) + `","item":` + item +
		`,"completed_at_ms":` + num(t.UnixMilli()) + `}`
	var kept []string
	for _, m := range r.inner {
		if !slices.Contains(used, m.name) {
			kept = append(kept, string(r.Raw[m.at:m.to]))
		}
	}
	if len(kept) > 0 {
		payload += `,"kept":{` + strings.Join(kept, ",") + `}`
	}
	return p.put(r, replaced(r.payload, payload))
}

// thought is the reasoning that goes on: its pieces become one item, which is told anew with each.
type thought struct {
	id           string
	summary, raw []string
}

func (p *pages) thinks(r *record, kind string) error {
	text, ok := r.member("text")
	if !ok || r.Raw[text.from] != '"' {
		r.out.Note(r.N, "an event that lacks what an item needs: it is kept as it is, and the client passes over it")
		return p.put(r)
	}
	if len(text.inside(r.Raw)) == 0 {
		return p.put(r)
	}
	if err := p.within(r); err != nil {
		return err
	}
	if p.thought == nil {
		p.thought = &thought{id: p.nextItem()}
	}
	t := p.thought
	if kind == "agent_reasoning" {
		t.summary = append(t.summary, string(text.of(r.Raw)))
	} else {
		t.raw = append(t.raw, string(text.of(r.Raw)))
	}
	item := `{"type":"Reasoning","id":` + t.id + `,"summary_text":[` + strings.Join(t.summary, ",") + `],"raw_content":[` + strings.Join(t.raw, ",") + `]}`
	return p.become(r, p.turn, item, []string{"type", "text"})
}
