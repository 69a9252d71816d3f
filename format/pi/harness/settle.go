package harness

import (
	"cmp"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// Settle ends each open operation with one transaction, as the client does where it is told to abort one: what is over is
// placed, what is not is closed, and nothing is run. What waits in the lane's inbox stays there for the next run.
func (d *decoder) Settle() ([]format.Closing, error) {
	var out []format.Closing
	t := &transaction{seq: max(d.high+1, d.least), time: d.time}
	for _, open := range d.open {
		o := *open
		t.out.Reset()
		closings := d.finish(&o, t)
		closings[len(closings)-1].Line = t.line()
		out = append(out, closings...)
	}
	return out, nil
}

// finish writes what ends one operation. The last of the closings stands for the operation itself.
func (d *decoder) finish(o *operation, t *transaction) []format.Closing {
	out := o.place(d, t)
	o.interrupt(d, t)
	if len(out) > 0 || o.state.At == "assistant.effect_pending" || o.state.At == "deferred.effect_pending" {
		t.set(tips, o.lane, nullable(o.tip))
	}
	t.remove("value", metas, o.id)
	t.remove("value", states, o.id)
	for _, space := range []string{toolArgs, toolMemos, preparations, toolOutputs} {
		for _, at := range owned(d.values, space, o.id) {
			t.remove("value", at.space, at.key)
		}
	}
	for _, at := range owned(d.lists, frames, o.id) {
		t.remove("list", at.space, at.key)
	}
	for _, c := range o.calls {
		if c.status == outcomeReady {
			t.remove("value", pendings, c.result)
		}
	}
	status := "aborted"
	if o.finished() {
		status = "completed"
	}
	t.tick()
	t.set(results, o.id, `{"operationId":"`+o.id+`","kind":"`+o.meta.Intent.Kind+`","status":"`+status+
		`","fromTipId":`+cmp.Or(string(o.meta.Source), "null")+`,"tipId":`+nullable(o.tip)+
		`,"startedAt":`+cmp.Or(string(o.meta.Started), num(t.time))+`,"endedAt":`+num(t.time)+`,"sessfix":{"v":1}}`)
	t.set(laneStates, o.lane, `{"currentOperationId":null,"lastOperationId":"`+o.id+`","inbox":`+string(o.inbox)+`}`)
	return append(out, format.Closing{Kind: results})
}

// place writes the results of the calls, each under the one before it.
func (o *operation) place(d *decoder, t *transaction) []format.Closing {
	var out []format.Closing
	tip := o.tip
	for _, c := range o.calls {
		code, message, usage := finding.ResultRestored, string(c.message), usageOf(c.message)
		switch c.status {
		case completed:
			tip = c.result
			continue
		case planned:
			code = finding.ToolNotStarted
			message, usage = made(c.call, code, notStartedText, nil, t.time+1)
		case effectPending:
			code = finding.ToolOutcomeUnknown
			shown, _ := d.value(toolOutputs, o.id+":"+c.result)
			message, usage = made(c.call, code, unknownText, shown, t.time+1)
		}
		more := ""
		if c.status == outcomeReady && c.terminate {
			more = `,"terminate":true`
		}
		t.entry(c.result, tip, message, more)
		if usage != "" {
			t.usage(d.unused(t.time, c.result), usage, c.result)
		}
		tip = c.result
		out = append(out, format.Closing{Code: code, Kind: "toolResult", CallID: c.id})
	}
	if len(o.calls) > 0 {
		o.tip = tip
	}
	return out
}

// unused is an id for a row about an entry.
func (d *decoder) unused(ms int64, entry string) string {
	seed := d.session + "\x00usage\x00" + entry
	for {
		id := deriveID(ms, seed)
		if _, taken := d.ids[session.MakeID([]byte(id))]; !taken {
			return id
		}
		seed += "\x00"
	}
}
