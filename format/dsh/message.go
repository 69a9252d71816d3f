package dsh

import (
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// message judges the shape of a message as the client does when it restores a session.
func (d *decoder) message(r *session.Record, b *format.Batch, ev event) bool {
	problem := d.messageProblem(ev)
	if problem == "" {
		d.shapes.sound++
		return true
	}
	d.shapes.add(r, b, ev, problem)
	return false
}

func (d *decoder) messageProblem(ev event) string {
	f := &d.f
	if ev.node == nodeUser {
		if d.dialect.version == 0 && f.has(kDataContent) && !f.has(kDataID) && !f.has(kDataRole) {
			return "" // written before messages had ids; the client gives it one
		}
		if ev.legacy && f.has(kMessage) {
			return ""
		}
		switch {
		case !f.filled(kDataID):
			return "the message has no id"
		case string(f.str(kDataRole)) != "user":
			return "the message's role is not user"
		case f.kind(kDataContent) != '[':
			return "the message has no content"
		case !f.filled(kDataSourceKind):
			return "the message's source is missing or has no kind"
		}
		return ""
	}
	if d.dialect.version == 0 && !f.has(kMessage) && (f.has(kProvenance) || ev.node == nodeResult && f.has(kDataCall)) {
		return "" // likewise
	}
	switch {
	case !f.filled(kMsgID):
		return "the message has no id"
	case f.kind(kMsgContent) != '[':
		return "the message has no content"
	case !f.filled(kMsgSourceKind):
		return "the message's source is missing or has no kind"
	}
	role := string(f.str(kMsgRole))
	switch ev.node {
	case nodeAssistant:
		if role != "assistant" {
			return "the message's role is not assistant"
		}
		if string(f.str(kMsgSourceKind)) != "model" || !f.filled(kMsgSourceProvider) || !f.filled(kMsgSourceModel) {
			return "the message's source is no model with provider and name"
		}
		if d.dialect.version >= 2 && f.has(kSources) {
			return "an assistant message of this version carries no sourceEventSeqs"
		}
	case nodeResult:
		return d.resultProblem(role)
	case nodeSystem:
		if role != "system" {
			return "the message's role is not system"
		}
	case nodeDeveloper:
		if role != "developer" {
			return "the message's role is not developer"
		}
	}
	return ""
}

func (d *decoder) resultProblem(role string) string {
	f := &d.f
	if string(f.str(kMsgSourceKind)) != "tool" {
		return "the result's source is no tool"
	}
	if d.dialect.version >= 4 {
		if role != "tool" {
			return "the result's role is not tool"
		}
		if string(f.str(kMsgToolCal)) != string(f.str(kMsgSourceCall)) {
			return "the result names two different calls"
		}
		return ""
	}
	if role != "user" {
		return "the result's role is not user"
	}
	if len(f.blocks) != 1 || f.blocks[0].kind.Kind != '"' || string(f.r.Str(f.blocks[0].kind)) != "tool-result" {
		return "the result's message is not one tool-result block"
	}
	call := f.blocks[0].call
	if call.Kind != '"' || string(f.r.Str(call)) != string(f.str(kMsgSourceCall)) {
		return "the result names two different calls"
	}
	return ""
}

// fewForeign is how many messages of unknown shape, with none of a known shape, make a log
// foreign: written by a program that is no release of the client.
const fewForeign = 3

// maxHeld bounds how many findings wait for that decision.
const maxHeld = 200

// shapes counts messages whose shape the client accepts and those it does not. One bad message
// among good ones is damage; a log that holds no good one at all is not damaged but foreign, and
// says so once, as a note.
type shapes struct {
	sound, unsound int64
	held           []finding.Finding
}

func (s *shapes) add(r *session.Record, b *format.Batch, ev event, problem string) {
	s.unsound++
	if len(s.held) == maxHeld {
		return
	}
	f := finding.New(finding.EventInvalid)
	f.Span, f.Record, f.Message = r.Span, r.Ref(), problem
	s.held = append(s.held, f)
}

func (s *shapes) end(b *format.Batch) {
	if s.sound == 0 && s.unsound >= fewForeign {
		f := s.held[0]
		f.Severity, f.Cure, f.Where = finding.Note, finding.Leave, "foreign"
		f.Message = "no message of this log has the shape that the client writes (" + f.Message + "): another program wrote it, and the client will not open it"
		b.Findings = append(b.Findings, f)
		b.Foreign = true
		return
	}
	b.Findings = append(b.Findings, s.held...)
}
