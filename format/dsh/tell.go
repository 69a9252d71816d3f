package dsh

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// NewTelling begins with the records of a log. What was being streamed when it ends is told by what closes its step.
func (d dialect) NewTelling(place format.Place) format.Telling {
	return &telling{dialect: d, first: -1, last: -1}
}

// telling remembers the answer that is being streamed, the system prompt as it was told last, and where the surface
// begins and ends.
type telling struct {
	dialect     dialect
	out         []format.Message
	attempt     tried
	system      string // versions 0 to 2
	summed      bool   // the record in front held the summary of a compaction
	first, last int64  // numbers of the first and the last message on the surface, the system's aside; -1 = none
}

// saying is the envelope of a record.
type saying struct {
	Type      string          `json:"type"`
	Seq       *int64          `json:"seq"`
	Seq0      *int64          `json:"seq0"`
	Time      int64           `json:"time"`
	Time0     int64           `json:"time0"`
	Data      json.RawMessage `json:"data"`
	SurfaceOp json.RawMessage `json:"surfaceOp"`
}

// saidMessage is a message in its record. The members behind source are those of messages from before they had ids,
// and of the record around it.
type saidMessage struct {
	ID         string       `json:"id"`
	Role       string       `json:"role"`
	Content    []saidBlock  `json:"content"`
	Source     saidSource   `json:"source"`
	ToolCallID string       `json:"toolCallId"`
	IsError    bool         `json:"isError"`
	Message    *saidMessage `json:"message"`
	Provenance saidSource   `json:"provenance"`
	CallID     string       `json:"callId"`
	Error      struct {
		Code string `json:"code"`
	} `json:"error"`
	Interrupted bool `json:"interrupted"`
}

type saidSource struct {
	Kind   string     `json:"kind"`
	CallID string     `json:"callId"`
	Model  string     `json:"model"`
	Replay saidReplay `json:"replayState"`
}

// unmarshal decodes a value; a member of another type than wanted is left out. False where it is no JSON.
func unmarshal(raw []byte, v any) bool {
	wrong := (*json.UnmarshalTypeError)(nil)
	err := json.Unmarshal(raw, v)
	return err == nil || errors.As(err, &wrong)
}

// Tell appends what the record says.
func (t *telling) Tell(r *session.Record, out []format.Message) []format.Message {
	var s saying
	if !unmarshal(r.Raw, &s) {
		return out
	}
	ev, known := vocabulary[s.Type]
	if !known || ev.since > t.dialect.version || t.dialect.version > ev.till || isPacked(s.Type) != (s.Seq0 != nil) {
		return out
	}
	t.out = out
	t.event(&s, ev)
	t.summed = ev.kind == session.Summary
	out, t.out = t.out, nil
	return out
}

func (t *telling) event(s *saying, ev event) {
	switch ev.kind {
	case session.TurnStart, session.StepStart, session.StepEnd:
		t.lost(s.Time)
	case session.Delta:
		t.delta(s)
	case session.AttemptEnd:
		t.streamed(s)
	default:
		switch {
		case ev.surface:
			t.message(s, ev)
		case s.Type == "request/header":
			t.header(s)
		default:
			t.note(s, ev)
		}
	}
}

// message tells what is on the surface.
func (t *telling) message(s *saying, ev event) {
	var d saidMessage
	if !unmarshal(s.Data, &d) {
		return
	}
	m := &d
	if d.Message != nil {
		m = d.Message
	}
	out := format.Message{ID: m.ID, Time: s.Time}
	rewritten := bytes.HasPrefix(s.SurfaceOp, []byte("{"))
	switch ev.node {
	case nodeUser:
		out.Role = format.User
		out.Blocks = tell(m.Content, nil)
		if rewritten {
			out.For, out.Copy = format.ModelOnly, t.summed
		} else if !spoken[m.Source.Kind] {
			out.For = format.ModelOnly
		}
	case nodeAssistant:
		t.answered(s)
		if d.Message == nil && m.Source.Model == "" {
			m.Source = d.Provenance
		}
		out.Role, out.Model = format.Assistant, m.Source.Model
		out.Blocks = tell(m.Content, m.Source.Replay.blocks(len(m.Content)))
	case nodeResult:
		out.Role, out.Copy = format.Tool, rewritten
		out.Blocks = results(&d, m, t.dialect.version)
	case nodeSystem, nodeDeveloper:
		out.Role, out.For = format.System, format.ModelOnly
		out.Blocks = tell(m.Content, nil)
	}
	if ev.node != nodeSystem {
		out.Stands = t.shown(s, rewritten)
	}
	if len(out.Blocks) > 0 {
		t.out = append(t.out, out)
	}
	if d.Interrupted && ev.node == nodeAssistant {
		t.say("interrupted", "", s.Time, "The answer was cut off here.")
	}
}

// spoken are the sources of what people and other agents say. All other sources are the client's own.
var spoken = map[string]bool{"": true, "user": true, "goal": true, "team-message": true, "coordinator": true,
	"subagent-report": true, "subagent-settled": true, "webhook": true}

// shown notes a message on the surface, and tells whether it stands in the place of all that was there.
func (t *telling) shown(s *saying, rewritten bool) bool {
	if s.Seq == nil {
		return false
	}
	if !rewritten {
		if t.first < 0 {
			t.first = *s.Seq
		}
		t.last = *s.Seq
		return false
	}
	var op struct {
		Start    *int64 `json:"start"`
		End      *int64 `json:"end"`
		StartSeq *int64 `json:"startSeq"`
		EndSeq   *int64 `json:"endSeq"`
	}
	if !unmarshal(s.SurfaceOp, &op) {
		return false
	}
	if t.dialect.version >= 3 {
		op.Start, op.End = op.StartSeq, op.EndSeq
	}
	if op.Start == nil || op.End == nil {
		return false
	}
	head, tail := *op.Start == t.first, *op.End == t.last
	if head {
		t.first = *s.Seq
	}
	if tail {
		t.last = *s.Seq
	}
	return head && tail
}

// header tells the system prompt, which stands beside the talk up to version 2, where it changed.
func (t *telling) header(s *saying) {
	var d struct {
		Header struct {
			System string `json:"system"`
		} `json:"header"`
	}
	if t.dialect.version > 2 || !unmarshal(s.Data, &d) {
		return
	}
	if d.Header.System == t.system {
		return
	}
	if t.system = d.Header.System; t.system != "" {
		t.out = append(t.out, format.Message{Role: format.System, For: format.ModelOnly, Time: s.Time,
			Blocks: []format.Block{{Kind: format.Text, Text: t.system}}})
	}
}

// say appends a note.
func (t *telling) say(title, id string, time int64, text string) {
	if text != "" {
		t.out = append(t.out, format.Message{For: format.PeopleOnly, Title: title, ID: id, Time: time,
			Blocks: []format.Block{{Kind: format.Text, Text: text}}})
	}
}

var _ format.Teller = dialect{}
