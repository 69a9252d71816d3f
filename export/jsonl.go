package export

import (
	"bufio"
	"context"
	"encoding/json"
	"io"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/jsonout"
	"github.com/sessfix/sessfix/session"
)

// SchemaVersion is that of the lines of WriteJSONL. Keys are added, never renamed.
const SchemaVersion = 1

// head is the first line.
type head struct {
	Type     string       `json:"type"` // session
	Version  int          `json:"version"`
	Tool     jsonout.Tool `json:"tool"`
	Path     string       `json:"path"`
	Agent    string       `json:"agent"`
	ID       string       `json:"id,omitempty"`
	CWD      string       `json:"cwd,omitempty"`
	Verdict  string       `json:"verdict"`
	Content  bool         `json:"content"`
	Parts    []partLine   `json:"parts"`
	Findings int          `json:"findings"`
}

type partLine struct {
	File          string `json:"file"`
	Role          string `json:"role,omitempty"`
	Medium        string `json:"medium"`
	FormatVersion string `json:"formatVersion,omitempty"`
	Size          int64  `json:"size"`
	Talk          bool   `json:"talk,omitempty"`
	Base          bool   `json:"base,omitempty"`
	Missing       bool   `json:"missing,omitempty"`
}

// line is a record.
type recordLine struct {
	Type     string        `json:"type"` // record
	File     string        `json:"file"`
	Record   int64         `json:"record"`
	Offset   int64         `json:"offset"`
	Length   int64         `json:"length"`
	Line     int64         `json:"line,omitempty"`
	Frame    int64         `json:"frame,omitempty"`
	Logical  int64         `json:"logicalLine,omitempty"`
	Text     *int64        `json:"textOffset,omitempty"`
	TextLen  int64         `json:"textLength,omitempty"`
	Marks    []string      `json:"marks,omitempty"`
	Seq      *int64        `json:"seq,omitempty"`
	Count    int64         `json:"count,omitempty"`
	ID       string        `json:"id,omitempty"`
	Parent   string        `json:"parent,omitempty"`
	Time     int64         `json:"time,omitempty"`
	State    string        `json:"state"`
	Events   []eventJSON   `json:"events"`
	Messages []messageJSON `json:"messages,omitempty"`
}

type eventJSON struct {
	Kind      string  `json:"kind"`
	Turn      int32   `json:"turn,omitempty"`
	Step      int32   `json:"step,omitempty"`
	ID        string  `json:"id,omitempty"`
	CallID    *string `json:"callId,omitempty"`
	Name      string  `json:"name,omitempty"`
	Synthetic bool    `json:"synthetic,omitempty"`
	Inherited bool    `json:"inherited,omitempty"`
}

type messageJSON struct {
	Role     string      `json:"role"`
	Audience string      `json:"audience,omitempty"`
	Stands   bool        `json:"standsForAll,omitempty"`
	Copy     bool        `json:"copy,omitempty"`
	Title    string      `json:"title,omitempty"`
	ID       string      `json:"id,omitempty"`
	Model    string      `json:"model,omitempty"`
	Blocks   []blockJSON `json:"blocks,omitempty"`
}

type blockJSON struct {
	Kind    string          `json:"kind"`
	Text    string          `json:"text,omitempty"`
	CallID  string          `json:"callId,omitempty"`
	Name    string          `json:"name,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	Content []blockJSON     `json:"content,omitempty"`
	Failed  bool            `json:"failed,omitempty"`
	MadeUp  bool            `json:"synthetic,omitempty"`
	Media   string          `json:"media,omitempty"`
	Data    string          `json:"data,omitempty"`
	URL     string          `json:"url,omitempty"`
	Signed  string          `json:"signature,omitempty"`
	Sealed  bool            `json:"sealed,omitempty"`
}

// WriteJSONL writes a session record by record, as it lies on disk: a line about the session, a line for each record of each
// part in file order, and a line for each finding.
func WriteJSONL(ctx context.Context, w io.Writer, s *Session, tool jsonout.Tool, o Options) error {
	out := bufio.NewWriterSize(w, 1<<16)
	h := head{Type: "session", Version: SchemaVersion, Tool: tool, Path: s.Path, Agent: s.Parts[0].Format.Name(), Verdict: s.Verdict().String(), Content: o.Content, Parts: []partLine{}}
	h.ID, h.CWD = s.Names()
	for _, p := range s.Bases {
		h.Parts = append(h.Parts, lineOf(s, p, true))
	}
	for _, p := range s.Parts {
		h.Parts = append(h.Parts, lineOf(s, p, false))
		h.Findings += len(p.Found.Findings)
	}
	if err := jsonout.Write(out, h, false); err != nil {
		return err
	}
	t, err := s.Follow(ctx, false)
	if err != nil {
		return err
	}
	for _, p := range s.Parts {
		err := t.Each(ctx, p, func(e *Entry) error { return jsonout.Write(out, recordOf(e, o), false) })
		if err != nil {
			return err
		}
		for _, f := range jsonout.Findings(p.File, p.Found.Findings) {
			err := jsonout.Write(out, struct {
				Type string `json:"type"` // finding
				jsonout.Finding
			}{"finding", f}, false)
			if err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

func lineOf(s *Session, p *Part, base bool) partLine {
	l := partLine{File: p.File, Role: p.Role, Medium: p.Medium, Size: p.Input.Size, Talk: p == s.Talk, Base: base, Missing: p.Missing}
	if p.Dialect != nil {
		l.FormatVersion = p.Dialect.Version()
	}
	return l
}

func recordOf(e *Entry, o Options) recordLine {
	r := e.Record
	l := recordLine{
		Type: "record", File: e.Part.File, Record: r.N, Offset: r.Off, Length: r.Len, Line: r.Line, ID: e.ID(), Parent: e.Parent(),
		Time: e.Batch.Time, State: e.State.String(), Events: []eventJSON{},
	}
	for i := range e.Messages {
		if l.Time == 0 {
			l.Time = e.Messages[i].Time
		}
	}
	if r.Frame > 0 {
		at := r.Text
		l.Frame, l.Logical, l.Text, l.TextLen = r.Frame, r.Logical, &at, r.TextLen
	}
	if r.Marks&session.Salvaged != 0 {
		l.Marks = append(l.Marks, "salvaged")
	}
	if r.Marks&session.Unterminated != 0 {
		l.Marks = append(l.Marks, "unterminated")
	}
	if r.Marks&session.DupKeys != 0 {
		l.Marks = append(l.Marks, "duplicate-keys")
	}
	if e.Batch.Numbered {
		seq := e.Batch.Seq
		l.Seq = &seq
		if e.Batch.Count > 1 {
			l.Count = e.Batch.Count
		}
	}
	for i := range e.Batch.Events {
		v := &e.Batch.Events[i]
		j := eventJSON{
			Kind: Word(v.Kind), Turn: v.Turn, Step: v.Step, ID: unescape(v.ID.Of(r.Raw)), Name: unescape(v.Name.Of(r.Raw)),
			Synthetic: v.Flags&session.Synthetic != 0, Inherited: v.Flags&session.Inherited != 0,
		}
		if v.Call.Off > 0 {
			id := unescape(v.Call.Of(r.Raw))
			j.CallID = &id
		}
		l.Events = append(l.Events, j)
	}
	for i := range e.Messages {
		m := &e.Messages[i]
		if !o.Content {
			Redact(m)
		}
		l.Messages = append(l.Messages, messageJSON{
			Role: m.Role.String(), Audience: audience(m.For), Stands: m.Stands, Copy: m.Copy, Title: m.Title, ID: m.ID, Model: m.Model, Blocks: blocksOf(m.Blocks),
		})
	}
	return l
}

func audience(a format.Audience) string {
	switch a {
	case format.ModelOnly:
		return "model"
	case format.PeopleOnly:
		return "people"
	}
	return ""
}

func blocksOf(list []format.Block) []blockJSON {
	var out []blockJSON
	for i := range list {
		b := &list[i]
		j := blockJSON{
			Kind: b.Kind.String(), Text: b.Text, CallID: b.ID, Name: b.Name, Content: blocksOf(b.Content), Failed: b.Failed, MadeUp: b.MadeUp,
			Media: b.Media, Data: b.Data, URL: b.URL, Signed: b.Signature, Sealed: b.Sealed,
		}
		if len(b.Input) > 0 {
			j.Input = b.Input
		}
		out = append(out, j)
	}
	return out
}
