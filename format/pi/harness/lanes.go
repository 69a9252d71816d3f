package harness

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// spare is how many numbers the end of operations may need.
const spare = 1 << 20

// lanes judges each lane, by name.
func (d *decoder) lanes(b *format.Batch) {
	var names []string
	for at := range d.values {
		if (at.space == tips || at.space == laneConfigs || at.space == laneStates) && !slices.Contains(names, at.key) {
			names = append(names, at.key)
		}
	}
	slices.Sort(names)
	said := len(b.Findings)
	for _, name := range names {
		d.lane(b, name)
	}
	if d.broken { // the client attaches to no lane, so none is ended
		d.open = nil
		b.Findings = append(b.Findings[:said], slices.DeleteFunc(b.Findings[said:], func(f finding.Finding) bool { return f.Code != finding.EventInvalid })...)
	}
}

// spoilt reports values that do not fit together: the storage opens, and the client fails to attach to it.
func (d *decoder) spoilt(b *format.Batch, ref session.Ref, text string, args ...any) {
	b.Findings = append(b.Findings, finding.About(finding.EventInvalid, ref, "lane", fmt.Sprintf(text, args...)))
	d.broken = true
}

func (d *decoder) lane(b *format.Batch, name string) {
	tip, _ := d.value(tips, name)
	config, _ := d.value(laneConfigs, name)
	state, _ := d.value(laneStates, name)
	var last session.Ref
	for _, c := range []*cell{tip, config, state} {
		if c != nil && c.ref.N >= last.N {
			last = c.ref
		}
	}
	switch {
	case tip == nil:
		d.spoilt(b, last, "lane %q has no %s", short([]byte(name)), tips)
		return
	case (config == nil) != (state == nil):
		lacks := laneConfigs
		if state == nil {
			lacks = laneStates
		}
		d.spoilt(b, last, "lane %q has no %s", short([]byte(name)), lacks)
		return
	}
	entry, named := inside(tip.value)
	n := int32(-1)
	if named {
		var ok bool
		if n, ok = d.ids[session.MakeID([]byte(entry))]; !ok || n < 0 {
			d.spoilt(b, tip.ref, "lane %q goes on from entry %q, which is not there", short([]byte(name)), short([]byte(entry)))
			return
		}
	} else if string(tip.value) != "null" {
		d.spoilt(b, tip.ref, "lane %q goes on from no entry", short([]byte(name)))
		return
	}
	if state == nil {
		d.idle(b, n)
		return
	}
	var s laneState
	if json.Unmarshal(state.value, &s) != nil {
		d.spoilt(b, state.ref, "the state of lane %q cannot be read", short([]byte(name)))
		return
	}
	if !d.inbox(b, name, s, state.ref) {
		return
	}
	id, runs := inside(s.Current)
	if !runs {
		d.idle(b, n)
		return
	}
	if max(d.high, d.least) > safest-spare {
		d.spoilt(b, state.ref, "operation %q is open, and the log has no numbers left to end it with", short([]byte(id)))
		return
	}
	o := &operation{lane: name, id: id, tip: entry, inbox: s.Inbox}
	if fault := o.read(d); fault != "" {
		ref := state.ref
		if o.stateAt.Len > 0 {
			ref = o.stateAt
		}
		d.spoilt(b, ref, "operation %q %s", short([]byte(id)), fault)
		return
	}
	d.tell(b, o)
}

// inbox looks whether what waits in a lane is there.
func (d *decoder) inbox(b *format.Batch, name string, s laneState, ref session.Ref) bool {
	var items []inboxItem
	if len(s.Inbox) == 0 || s.Inbox[0] != '[' || json.Unmarshal(s.Inbox, &items) != nil {
		d.spoilt(b, ref, "lane %q has no inbox", short([]byte(name)))
		return false
	}
	for _, it := range items {
		id, _ := inside(it.Entry)
		if _, ok := d.value(pendings, id); !ok {
			d.spoilt(b, ref, "entry %q waits in lane %q, and is not there", short([]byte(id)), short([]byte(name)))
			return false
		}
	}
	return true
}

// tell reports an open operation and its calls.
func (d *decoder) tell(b *format.Batch, o *operation) {
	f := finding.About(finding.OpenTurn, o.metaAt, "tail",
		fmt.Sprintf("operation %q of lane %q, a %s, is open at the end of the log: %s", short([]byte(o.id)), short([]byte(o.lane)), o.meta.Intent.Kind, o.state.At))
	switch {
	case o.waits:
		f.Where = "suspended"
		f.Message += "; the provider is still to give the answer"
		f.Repair = "nothing: the client asks for the answer when it resumes"
		f.Never = "give the answer up"
		b.Findings = append(b.Findings, f)
		return
	case o.finished():
		f.Repair = "it is ended as completed: all that it was asked for is in the log"
		f.Never = "run anything"
	default:
		f.Repair = "it is ended as aborted, and nothing is run"
		f.Never = "run what was planned"
	}
	b.Findings = append(b.Findings, f)
	d.open = append(d.open, o)
	for _, c := range o.calls {
		f := finding.About(finding.DanglingCall, o.asker.ref, "tail", "")
		f.CallID = c.id
		switch c.status {
		case completed:
			continue
		case outcomeReady:
			f.Message = fmt.Sprintf("call %q is over, and its result is not in the talk yet", short([]byte(c.id)))
			f.Repair = "the result is put in its place"
			f.Never = "repeat it: it ran"
		case effectPending:
			f.Message = fmt.Sprintf("call %q has started and has no result", short([]byte(c.id)))
			f.Repair = "a result is added: " + finding.ToolOutcomeUnknown
			f.Never = "repeat it blindly: it may have run"
		default:
			f.Message = fmt.Sprintf("call %q is planned and has not started", short([]byte(c.id)))
			f.Repair = "a result is added: " + finding.ToolNotStarted
			f.Never = "pretend that it succeeded"
		}
		b.Findings = append(b.Findings, f)
	}
}

// idle notes calls without result at the end of a branch in which nothing runs, as sessions of another kind have them that
// were brought in.
func (d *decoder) idle(b *format.Batch, n int32) {
	answered := map[session.ID]bool{}
	for ; n >= 0; n = d.nodes[n].up {
		switch x := &d.nodes[n]; {
		case x.role == resultOf:
			answered[x.call] = true
		case x.role == answers:
			for _, c := range d.asks[n].calls {
				if answered[session.MakeID([]byte(c.id))] {
					continue
				}
				f := finding.About(finding.DanglingCall, d.asks[n].ref, "idle", fmt.Sprintf("call %q has no result, and no operation runs it", short([]byte(c.id))))
				f.CallID = c.id
				f.Repair = "nothing: the client answers it by itself in each request"
				f.Never = "repeat it blindly: it may have run"
				b.Findings = append(b.Findings, f)
			}
			return
		case x.role != 0:
			return
		}
	}
}
