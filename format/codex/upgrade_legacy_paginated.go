package codex

import (
	"bytes"
	"strconv"
	"time"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
)

// pages numbers the records of a legacy rollout, and makes items of its events, as the client's own migration does
// (measured with 0.171.0):
//
//	session_meta                     history_mode is paginated; those behind the first are dropped
//	event_msg user_message           item_completed UserMessage, and so on: see items
//	event_msg thread_rolled_back     dropped, with the turns that it takes back
//	what has no turn                 gets a task_started in front and a task_complete behind
//
// The client drops what it does not know; here it stays, numbered as all the rest. Members of an event that have no
// place in an item stand beside the payload, in "kept".
type pages struct {
	thread  []byte // the thread's id, as it is written
	next    int64  // ordinal
	item    int64  // the number of the last item without an id of its own
	index   int64  // records that the client would count
	turn    []byte // the open one, nil where none is
	made    bool   // that one has no record of its own in the source
	asked   bool   // and a person has spoken in it
	known   map[string]bool
	thought *thought
	gone    []bool // records that are taken back; nil where none is
	time    []byte // of the newest record, as it is written
}

func beginPages(s format.Source) (format.Stage, error) {
	if err := lone(s); err != nil {
		return nil, err
	}
	gone, err := takenBack(s.Records)
	if err != nil {
		return nil, err
	}
	return &pages{known: map[string]bool{}, gone: gone}, nil
}

// record is one on its way through the pages.
type record struct {
	format.Line
	list    []part // its members
	payload part
	inner   []part // those of its payload
	out     format.Out
}

func (r *record) member(name string) (part, bool) { return named(r.inner, name) }

// text is the inside of a payload's string, nil where there is none.
func (r *record) text(name string) []byte {
	if p, ok := r.member(name); ok {
		return p.inside(r.Raw)
	}
	return nil
}

// when is the time of a record, in the way the client needs it to make another of it.
func (r *record) when() (time.Time, []byte, error) {
	p, _ := named(r.list, "timestamp")
	t, err := time.Parse(time.RFC3339, string(p.inside(r.Raw)))
	if err != nil {
		return t, nil, format.Refuse(r.N, "the record's time cannot be read, and what is made of the record needs one")
	}
	return t, p.of(r.Raw), nil
}

// counts tells whether the client's migration counts a record, by which it names turns that have no name.
func counts(name, kind string) bool {
	switch name {
	case "response_item":
		return kind != "ghost_snapshot"
	case "event_msg":
		return items[kind] != nil || events[kind]
	}
	return topTypes[name]
}

func (p *pages) Record(l format.Line, out format.Out) error {
	if p.gone != nil && l.N >= 0 && l.N < int64(len(p.gone)) && p.gone[l.N] {
		out.Drop(l.N, "it was taken back, and a paginated rollout has no record that says so")
		return nil
	}
	list, err := whole(l)
	if err != nil {
		return err
	}
	r := &record{Line: l, list: list, out: out}
	typ, _ := named(list, "type")
	name := string(typ.inside(l.Raw))
	var ok bool
	if r.payload, ok = named(list, "payload"); ok {
		r.inner, ok = parts(l.Raw, r.payload.from)
	}
	if !ok || l.Raw[r.payload.from] != '{' {
		return format.Refuse(l.N, "the record has no envelope")
	}
	if t, ok := named(list, "timestamp"); ok && l.Raw[t.from] == '"' {
		p.time = append(p.time[:0], t.of(l.Raw)...)
	}
	if p.thread == nil {
		if name != "session_meta" {
			return format.Refuse(l.N, "the first record is no header")
		}
		return p.header(r)
	}
	kind := string(r.text("type"))
	if counts(name, kind) {
		p.index++
	}
	switch name {
	case "session_meta":
		out.Drop(l.N, "it is the header of the rollout that this one was copied from, and a paginated rollout has one header")
		return nil
	case "response_item":
		if !itemTypes[kind] {
			return format.Refuse(l.N, "an item of type %s is not known, and the client migrates no rollout that holds one", strconv.QuoteToASCII(kind))
		}
		if err := p.put(r); err != nil {
			return err
		}
		return p.hook(r, kind)
	case "event_msg":
		return p.event(r, kind)
	}
	if !topTypes[name] {
		out.Note(l.N, "a record of a type that is not known: it is kept, and the client passes over it")
	}
	return p.put(r)
}

// header makes the header that of a paginated rollout.
func (p *pages) header(r *record) error {
	id, ok := r.member("id")
	if !ok || !uuids.Match(id.inside(r.Raw)) {
		return format.Refuse(r.N, "the header has no id")
	}
	p.thread = bytes.Clone(id.inside(r.Raw))
	var patches []finding.Patch
	for _, name := range []string{"history_base", "subagent_history_start_ordinal"} {
		if b, ok := r.member(name); ok && r.Raw[b.from] != 'n' {
			return format.Refuse(r.N, "the header has a %s, which no legacy rollout has", name)
		}
	}
	switch m, ok := r.member("history_mode"); {
	case !ok:
		patches = append(patches, insert(r.payload.to-1, `,"history_mode":"paginated"`))
	case r.Raw[m.from] == 'n' || string(m.inside(r.Raw)) == legacy:
		patches = append(patches, replaced(m, `"paginated"`))
	default:
		return format.Refuse(r.N, "the header's history_mode is %.40s, which is not known here", m.of(r.Raw))
	}
	if _, ok := r.member("session_id"); !ok {
		patches = append(patches, insert(r.payload.from+1, `"session_id":`+string(id.of(r.Raw))+`,`))
	}
	return p.put(r, patches...)
}

// put writes a record with its number.
func (p *pages) put(r *record, patches ...finding.Patch) error {
	l := r.Line
	l.Raw = with(spliced(r.Raw, patches...), "", "ordinal", num(p.next))
	p.next++
	return r.out.Put(l)
}

// add writes an event that the source has not.
func (p *pages) add(out format.Out, stamp []byte, payload, why string) error {
	line := `{"timestamp":` + string(stamp) + `,"ordinal":` + num(p.next) + `,"type":"event_msg","payload":` + payload + `}`
	p.next++
	return out.Put(format.Line{Raw: []byte(line), N: -1, Why: why})
}

// event numbers an event, or makes an item of it.
func (p *pages) event(r *record, kind string) error {
	turn := r.text("turn_id")
	switch kind {
	case "thread_rolled_back":
		return format.Refuse(r.N, "it takes turns back, and which ones cannot be told")
	case "task_started", "turn_started":
		if err := p.endMade(r.out, r); err != nil {
			return err
		}
		p.open(turn, false)
	case "task_complete", "turn_complete":
		p.thought = nil
		p.close(turn)
	case "turn_aborted":
		return p.aborted(r)
	case "item_completed":
		p.thought = nil
		if t, ok := r.member("thread_id"); ok && !bytes.Equal(t.inside(r.Raw), p.thread) {
			return p.put(r, replaced(t, `"`+string(p.thread)+`"`))
		}
	case "agent_reasoning", "agent_reasoning_raw_content":
		return p.thinks(r, kind)
	default:
		if make, ok := items[kind]; ok {
			return p.itemOf(r, kind, make)
		}
		if !events[kind] {
			r.out.Note(r.N, "an event that is not known: it is kept, and the client passes over it")
		}
	}
	return p.put(r)
}

// events are those that the client knows beside the ones that become items.
var events = map[string]bool{
	"task_started": true, "turn_started": true, "task_complete": true, "turn_complete": true, "turn_aborted": true,
	"item_completed": true, "agent_reasoning": true, "agent_reasoning_raw_content": true, "token_count": true,
	"thread_settings_applied": true, "thread_goal_updated": true, "error": true, "warning": true,
}

func (p *pages) aborted(r *record) error {
	p.thought = nil
	turn, ok := r.member("turn_id")
	if ok && r.Raw[turn.from] != 'n' {
		p.close(turn.inside(r.Raw))
		return p.put(r)
	}
	if p.turn == nil {
		return p.put(r)
	}
	id := `"` + string(p.turn) + `"`
	p.close(p.turn)
	if ok {
		return p.put(r, replaced(turn, id))
	}
	kind, _ := r.member("type")
	return p.put(r, insert(kind.to, `,"turn_id":`+id))
}

// open notes that a turn has begun.
func (p *pages) open(turn []byte, made bool) {
	p.turn, p.made, p.asked, p.thought = append([]byte{}, turn...), made, false, nil
	p.known[string(turn)] = true
}

func (p *pages) close(turn []byte) {
	if p.turn != nil && bytes.Equal(p.turn, turn) {
		p.turn = nil
	}
}

// begin writes the beginning of a turn that has no record of its own.
func (p *pages) begin(r *record, turn string) error {
	t, stamp, err := r.when()
	if err != nil {
		return err
	}
	p.open([]byte(turn), true)
	return p.add(r.out, stamp, `{"type":"task_started","turn_id":"`+turn+`","started_at":`+num(t.Unix())+
		`,"model_context_window":null,"collaboration_mode_kind":"default"}`, "items belong to turns")
}

// within sees to it that a turn is open. One that is not gets its name from the place of the record, as the client
// names turns of legacy rollouts.
func (p *pages) within(r *record) error {
	if p.turn != nil {
		return nil
	}
	return p.begin(r, "rollout-"+num(p.index))
}

// endMade writes the end of a turn that has no record of its own.
func (p *pages) endMade(out format.Out, r *record) error {
	if p.turn == nil || !p.made {
		return nil
	}
	t, stamp, err := r.when()
	if err != nil {
		return err
	}
	turn := string(p.turn)
	p.turn, p.thought = nil, nil
	return p.add(out, stamp, `{"type":"task_complete","turn_id":"`+turn+`","last_agent_message":null,"completed_at":`+num(t.Unix())+`}`,
		"items belong to turns")
}

// End ends the last turn, where it has no record of its own.
func (p *pages) End(out format.Out) error {
	if p.thread == nil {
		return format.Refuse(-1, "the rollout holds no header")
	}
	out.Note(-1, "a client that has listed the thread before reads its turns once it has been resumed")
	stamp := []byte(`{"timestamp":` + string(p.time) + `}`)
	list, _ := parts(stamp, 0)
	return p.endMade(out, &record{Line: format.Line{Raw: stamp, N: -1}, list: list, out: out})
}
