package export

import (
	"bufio"
	"cmp"
	"encoding/json"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/jsonout"
	"github.com/sessfix/sessfix/session"
)

// pageModel is the part of the page's data that stands in front of the records: who the session is, what is wrong with it, and
// what a repair would do.
type pageModel struct {
	Version int         `json:"version"`
	Tool    string      `json:"tool"`
	Content bool        `json:"content"`
	Session pageSession `json:"session"`
	Parts   []pagePart  `json:"parts"`
	Codes   []pageCode  `json:"codes"`
	Kinds   []string    `json:"kinds"`
	Bases   []pageBase  `json:"bases,omitempty"`
}

// pageSession is the header card.
type pageSession struct {
	Agent   string   `json:"agent"`
	Format  string   `json:"format,omitempty"`
	ID      pageText `json:"id,omitempty"`
	CWD     pageText `json:"cwd,omitempty"`
	Path    pageText `json:"path"`
	Parent  pageText `json:"parent,omitempty"`
	Verdict string   `json:"verdict"`
	Size    int64    `json:"size"`
	Records int64    `json:"records"`
	Turns   int64    `json:"turns"`
	// Talk is the index of the part that the model gets, -1 where none is known.
	Talk int `json:"talk"`
}

// pagePart is a file of the session.
type pagePart struct {
	File     pageText      `json:"file"`
	Role     string        `json:"role,omitempty"`
	Medium   string        `json:"medium,omitempty"`
	Framed   bool          `json:"framed,omitempty"`
	Missing  bool          `json:"missing,omitempty"`
	Tree     bool          `json:"tree,omitempty"`
	Verdict  string        `json:"verdict"`
	Size     int64         `json:"size"`
	Text     int64         `json:"text"`
	Records  int64         `json:"records"`
	Events   int64         `json:"events"`
	Turns    int64         `json:"turns"`
	Leaf     int64         `json:"leaf,omitempty"` // record from which the talk goes on, from 1
	Tail     *pageTail     `json:"tail,omitempty"`
	Findings []pageFinding `json:"findings"`
	Offers   []pageOffer   `json:"offers,omitempty"`
	Plan     *pagePlan     `json:"plan,omitempty"`
}

// pageBase is the beginning of another file that the talk begins with.
type pageBase struct {
	File  pageText `json:"file"`
	Bytes int64    `json:"bytes,omitempty"`
}

// pageTail is what is open at the end.
type pageTail struct {
	Turn  int32          `json:"turn,omitempty"`
	Step  int32          `json:"step,omitempty"`
	Calls []pageTailCall `json:"calls,omitempty"`
}

type pageTailCall struct {
	ID    pageText `json:"id"`
	Name  pageText `json:"name,omitempty"`
	State string   `json:"state"`
}

// pageFinding is a finding. What is empty is as the code's entry says.
type pageFinding struct {
	Code     finding.Code     `json:"code"`
	Severity finding.Severity `json:"severity"`
	Cure     finding.Cure     `json:"cure"`
	Off      int64            `json:"off"`
	Len      int64            `json:"len"`
	Line     int64            `json:"line,omitempty"`
	Logical  int64            `json:"logical,omitempty"`
	Frame    int64            `json:"frame,omitempty"`
	Call     pageText         `json:"call,omitempty"`
	Message  pageText         `json:"message,omitempty"`
	Repair   pageText         `json:"repair,omitempty"`
	Never    pageText         `json:"never,omitempty"`
	Client   pageText         `json:"client,omitempty"`
	Because  finding.Code     `json:"because,omitempty"`
}

// pageOffer is a cure that loses something.
type pageOffer struct {
	Code     finding.Code `json:"code"`
	Line     int64        `json:"line"`
	Keeps    int64        `json:"keeps"`
	Sets     int64        `json:"sets"`
	Restores int64        `json:"restores,omitempty"`
	Rebuilds bool         `json:"rebuilds,omitempty"`
	Moves    bool         `json:"moves,omitempty"`
}

// pageCode is what the catalogue says of a code that occurs.
type pageCode struct {
	Code   finding.Code `json:"code"`
	Title  string       `json:"title"`
	Means  string       `json:"means"`
	Repair string       `json:"repair"`
	Never  string       `json:"never,omitempty"`
}

// pageKinds are the names of event kinds in the page, by number.
var pageKinds = []string{
	session.Unknown: "unknown", session.Header: "session header", session.SeedEnd: "seed end", session.TurnStart: "turn start",
	session.TurnEnd: "turn end", session.StepStart: "step start", session.StepEnd: "step end", session.SystemMessage: "system message",
	session.UserMessage: "user message", session.Delta: "delta", session.AssistantMessage: "assistant message",
	session.AttemptEnd: "attempt end", session.CallAsked: "call asked", session.CallStarted: "call started",
	session.CallResult: "call result", session.CallFinished: "call finished", session.ApprovalAsked: "approval asked",
	session.ApprovalDecided: "approval decided", session.CompactionStart: "compaction start", session.Summary: "summary",
	session.CompactionEnd: "compaction end", session.Prompt: "prompt", session.Rollback: "rollback", session.Goto: "goto",
	session.Edit: "edit", session.Setting: "setting", session.Note: "note",
}

// writeHead writes the model's head.
func writeHead(w *bufio.Writer, s *Session, talk *Talk, tool jsonout.Tool, o Options) error {
	m := pageModel{Version: 1, Tool: tool.Name + " " + tool.Version, Content: o.Content, Kinds: pageKinds, Parts: []pagePart{}, Codes: []pageCode{}}
	m.Session = pageSession{Path: pageText(s.Path), Verdict: s.Verdict().String(), Talk: -1}
	codes := map[finding.Code]bool{}
	for i, p := range s.Parts {
		part := partOf(p, talk, o.Content)
		if p == s.Talk {
			m.Session.Talk = i
			part.Tree = talk.Tree()
			part.Leaf = max(talk.Leaf()-talk.inherited, -1) + 1
		}
		for _, f := range part.Findings {
			if e, ok := finding.Lookup(f.Code); ok && !codes[f.Code] {
				codes[f.Code] = true
				m.Codes = append(m.Codes, pageCode{e.Code, e.Title, e.Means, e.Repair, e.Never})
			}
		}
		h, f := &m.Session, p.Found
		h.Agent, h.Format = cmp.Or(h.Agent, f.Agent), cmp.Or(h.Format, f.Version)
		h.ID, h.CWD, h.Parent = cmp.Or(h.ID, pageText(f.ID), pageText(p.ID)), cmp.Or(h.CWD, pageText(f.CWD), pageText(p.CWD)), cmp.Or(h.Parent, pageText(f.Parent))
		h.Size, h.Records, h.Turns = h.Size+f.Size, h.Records+f.Records, max(h.Turns, f.Turns)
		m.Parts = append(m.Parts, part)
	}
	for _, b := range s.Bases {
		m.Bases = append(m.Bases, pageBase{pageText(b.File), b.Until})
	}
	out, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}

// partOf is a part without its records.
func partOf(p *Part, talk *Talk, content bool) pagePart {
	f := p.Found
	out := pagePart{
		File: pageText(p.File), Role: p.Role, Medium: p.Input.Medium, Missing: p.Missing, Verdict: f.Verdict.String(),
		Framed: framed(p), Size: f.Size, Text: f.Text, Records: f.Records, Events: f.Events, Turns: f.Turns, Findings: []pageFinding{},
	}
	if f.Open {
		out.Tail = &pageTail{Turn: f.Tail.Turn, Step: f.Tail.Step}
		for _, c := range f.Tail.Calls {
			out.Tail.Calls = append(out.Tail.Calls, pageTailCall{pageText(unescape([]byte(c.ID))), pageText(unescape([]byte(c.Name))), c.State()})
		}
	}
	for i := range f.Findings {
		out.Findings = append(out.Findings, findingOf(&f.Findings[i]))
	}
	for _, o := range f.Offers {
		out.Offers = append(out.Offers, pageOffer{o.Code, o.At.Logical, o.Keeps, o.Sets, o.Restores, o.Rebuilds, o.Moves})
	}
	if p.Plan != nil {
		out.Plan = planOf(p, content)
	}
	return out
}

func findingOf(f *finding.Finding) pageFinding {
	return pageFinding{
		Code: f.Code, Severity: f.Severity, Cure: f.Cure, Off: f.Off, Len: f.Len, Line: f.Line, Logical: f.Logical, Frame: f.Frame,
		Call: pageText(unescape([]byte(f.CallID))), Message: pageText(f.Message), Repair: pageText(f.Repair), Never: pageText(f.Never),
		Client: pageText(f.Client), Because: f.Because,
	}
}
