package harness

import (
	"encoding/json"
	"fmt"

	"github.com/sessfix/sessfix/session"
)

// The members of values that are looked at. What is written again is kept as it stands, and so are ids.
type (
	laneState struct {
		Current json.RawMessage `json:"currentOperationId"`
		Last    json.RawMessage `json:"lastOperationId"`
		Inbox   json.RawMessage `json:"inbox"`
	}
	inboxItem struct {
		Entry json.RawMessage `json:"entryId"`
		Kind  string          `json:"kind"`
	}
	metaValue struct {
		ID      json.RawMessage `json:"operationId"`
		Lane    json.RawMessage `json:"lane"`
		Source  json.RawMessage `json:"sourceTipId"`
		Started json.RawMessage `json:"startedAt"`
		Intent  struct {
			Kind      string          `json:"kind"`
			Target    json.RawMessage `json:"targetId"`
			Summarize bool            `json:"summarize"`
			Label     json.RawMessage `json:"label"`
			Custom    json.RawMessage `json:"customInstructions"`
		} `json:"intent"`
	}
	stateValue struct {
		At      string `json:"at"`
		Control struct {
			Status string `json:"status"`
		} `json:"control"`
		Latest       json.RawMessage `json:"latestAssistantEntryId"`
		Continuation struct {
			Kind  string `json:"kind"`
			Final bool   `json:"includeFinalAssistant"`
		} `json:"continuation"`
		Batch struct {
			Asker json.RawMessage `json:"assistantEntryId"`
			Calls []struct {
				Status    string          `json:"status"`
				Index     *int            `json:"sourceIndex"`
				Result    json.RawMessage `json:"resultEntryId"`
				Terminate bool            `json:"terminate"`
			} `json:"calls"`
		} `json:"batch"`
		Context struct {
			Config configValue `json:"configuration"`
		} `json:"generationContext"`
		Config   configValue     `json:"configuration"`
		Response json.RawMessage `json:"responseEntryId"`
		Usage    json.RawMessage `json:"usageId"`
		Target   json.RawMessage `json:"targetId"`
		Label    json.RawMessage `json:"label"`
		Task     struct {
			Custom   json.RawMessage `json:"customInstructions"`
			Boundary struct {
				Kind   string          `json:"kind"`
				Target json.RawMessage `json:"targetId"`
				Label  json.RawMessage `json:"label"`
			} `json:"boundary"`
		} `json:"task"`
	}
	configValue struct {
		Model struct {
			Provider json.RawMessage `json:"provider"`
			ID       json.RawMessage `json:"modelId"`
		} `json:"model"`
	}
	pendingValue struct {
		Type    string          `json:"type"`
		Payload json.RawMessage `json:"payload"`
	}
)

// The statuses of a call.
const (
	planned       = "planned"
	effectPending = "effect_pending"
	outcomeReady  = "outcome_ready"
	completed     = "completed"
)

// operation is one that is still open.
type operation struct {
	lane, id string
	tip      string // the entry to go on from, empty where the lane has none
	inbox    json.RawMessage
	meta     metaValue
	state    stateValue
	asker    asker
	calls    []placed
	metaAt   session.Ref // where it began
	stateAt  session.Ref // and where it came to its state
	waits    bool        // for the provider, as it is meant to
}

// placed is one call of an operation's batch.
type placed struct {
	call
	status, result string // result is the id of the entry to be
	terminate      bool
	message        json.RawMessage // the result, where it waits to be placed
}

var ats = map[string]string{
	"starting": "run", "checkpoint": "run", "assistant.ready": "run", "assistant.effect_pending": "run", "assistant.retry_wait": "run",
	"tools": "run", "deferred.suspended": "run", "deferred.effect_pending": "run",
	"summary.deciding": "", "summary.ready": "", "summary.effect_pending": "", "summary.retry_wait": "",
	"navigation.ready_to_commit": "navigation",
}

// read takes the operation's values. It says what in them the client does not take.
func (o *operation) read(d *decoder) (fault string) {
	meta, ok := d.value(metas, o.id)
	if !ok {
		return "has no pi.op.meta"
	}
	state, ok := d.value(states, o.id)
	if !ok {
		return "has no pi.op.state"
	}
	o.metaAt, o.stateAt = meta.ref, state.ref
	if json.Unmarshal(meta.value, &o.meta) != nil {
		return "has a pi.op.meta that cannot be read"
	}
	if json.Unmarshal(state.value, &o.state) != nil {
		return "has a pi.op.state that cannot be read"
	}
	if id, _ := inside(o.meta.ID); id != o.id {
		return fmt.Sprintf("has the pi.op.meta of %q", id)
	}
	if lane, _ := inside(o.meta.Lane); lane != o.lane {
		return fmt.Sprintf("belongs to lane %q", lane)
	}
	s := &o.state
	intent, known := ats[s.At]
	switch {
	case !known:
		return fmt.Sprintf("is in a state that is not known, %q", s.At)
	case s.Control.Status != "running" && s.Control.Status != "cancel_requested":
		return fmt.Sprintf("is under a control that is not known, %q", s.Control.Status)
	case intent == "":
		intent = boundaries[s.Task.Boundary.Kind]
	}
	if intent != o.meta.Intent.Kind || !o.fits() {
		return fmt.Sprintf("is a %s and cannot be at %s", o.meta.Intent.Kind, s.At)
	}
	o.waits = (s.At == "deferred.suspended" || s.At == "deferred.effect_pending") && s.Control.Status == "running"
	switch s.At {
	case "tools":
		return o.batch(d)
	case "assistant.effect_pending", "deferred.effect_pending":
		return o.answer(d)
	}
	return ""
}

// boundaries are the intents that go on behind a summary.
var boundaries = map[string]string{"resume_checkpoint": "run", "finish": "compaction", "commit_navigation": "navigation"}

// fits tells whether a way to another entry is the one that was asked for.
func (o *operation) fits() bool {
	in, s := &o.meta.Intent, &o.state
	switch {
	case in.Kind != "navigation":
		return true
	case s.At == "navigation.ready_to_commit":
		return !in.Summarize && string(s.Target) == string(in.Target) && string(s.Label) == string(in.Label)
	}
	to := &s.Task.Boundary
	return in.Summarize && string(to.Target) == string(in.Target) && string(to.Label) == string(in.Label) && string(s.Task.Custom) == string(in.Custom)
}

// batch reads how the calls of the last answer stand.
func (o *operation) batch(d *decoder) (fault string) {
	id, _ := inside(o.state.Batch.Asker)
	n, ok := d.ids[session.MakeID([]byte(id))]
	o.asker = d.asks[n]
	if !ok || n < 0 || len(o.asker.calls) == 0 {
		return fmt.Sprintf("runs the calls of entry %q, which asks for none", id)
	}
	for i, c := range o.state.Batch.Calls {
		p := placed{status: c.Status, terminate: c.Terminate}
		p.result, _ = inside(c.Result)
		found := false
		for _, a := range o.asker.calls {
			if c.Index != nil && a.index == *c.Index {
				p.call, found = a, true
			}
		}
		switch {
		case !found:
			return fmt.Sprintf("has a call %d that its answer does not ask for", i+1)
		case p.result == "":
			return fmt.Sprintf("has no id for the result of call %d", i+1)
		}
		_, taken := d.ids[session.MakeID([]byte(p.result))]
		for _, q := range o.calls {
			if taken = taken || q.result == p.result; q.status != completed && p.status == completed {
				return fmt.Sprintf("has call %d completed in front of the one before it", i+1)
			}
		}
		switch p.status {
		case completed:
			if !taken {
				return fmt.Sprintf("has call %d completed without a result", i+1)
			}
		case planned, effectPending, outcomeReady:
			if taken {
				return fmt.Sprintf("has the result of call %d already, which is %s", i+1, p.status)
			}
			if p.status == outcomeReady {
				if p.message = o.staged(d, p); p.message == nil {
					return fmt.Sprintf("lacks the result of call %d, which is over", i+1)
				}
			}
		default:
			return fmt.Sprintf("has call %d in a state that is not known, %q", i+1, p.status)
		}
		o.calls = append(o.calls, p)
	}
	return ""
}

// staged is the result of a call that waits to be placed, nil where there is none or another's.
func (o *operation) staged(d *decoder, p placed) json.RawMessage {
	c, ok := d.value(pendings, p.result)
	if !ok {
		return nil
	}
	var v pendingValue
	var m struct {
		Role string          `json:"role"`
		Call json.RawMessage `json:"toolCallId"`
		Name json.RawMessage `json:"toolName"`
	}
	if json.Unmarshal(c.value, &v) != nil || v.Type != "message" || json.Unmarshal(v.Payload, &m) != nil || m.Role != "toolResult" {
		return nil
	}
	id, _ := inside(m.Call)
	if name, _ := inside(m.Name); id != p.id || name != p.name {
		return nil
	}
	return v.Payload
}

// answer looks whether the answer that was awaited can be written.
func (o *operation) answer(d *decoder) (fault string) {
	response, _ := inside(o.state.Response)
	usage, _ := inside(o.state.Usage)
	for _, id := range []string{response, usage} {
		if _, taken := d.ids[session.MakeID([]byte(id))]; id == "" || taken || response == usage {
			return "has no id for the answer that it awaits"
		}
	}
	return ""
}

// finished tells an operation that has done all that it was asked for, and lacks only the word for it.
func (o *operation) finished() bool {
	s := &o.state
	if s.At != "checkpoint" || s.Continuation.Kind != "may_finish" || s.Control.Status != "running" {
		return false
	}
	var items []inboxItem
	if json.Unmarshal(o.inbox, &items) != nil {
		return false
	}
	for _, it := range items {
		if it.Kind != "nextRun" {
			return false
		}
	}
	_, last := inside(s.Latest)
	return last || !s.Continuation.Final
}
