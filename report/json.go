package report

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/jsonout"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/verify"
)

// Version of the JSON report. Keys are added, never renamed.
const Version = 1

// Document is the JSON report.
type Document struct {
	Version  int          `json:"version"`
	Tool     jsonout.Tool `json:"tool"`
	Summary  Summary      `json:"summary"`
	Sessions []Session    `json:"sessions"`
	Homes    []Home       `json:"homes,omitempty"`
	Errors   []Error      `json:"errors,omitempty"`
}

// Summary counts sessions. Failed are those that could not be looked at.
type Summary struct {
	Sessions   int `json:"sessions"`
	Clean      int `json:"clean"`
	Repairable int `json:"repairable"`
	Refused    int `json:"refused"`
	Failed     int `json:"failed"`
	Repaired   int `json:"repaired,omitempty"`
}

// Error is a path that could not be looked at.
type Error struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

// Home is what is wrong with an agent's directory as a whole.
type Home struct {
	Path     string    `json:"path"`
	Agent    string    `json:"agent"`
	Verdict  string    `json:"verdict"`
	Findings []Finding `json:"findings"`
}

// Faulty counts the homes in which more is wrong than a note says.
func (d *Document) Faulty() int {
	n := 0
	for i := range d.Homes {
		if d.Homes[i].Verdict != verify.Clean.String() {
			n++
		}
	}
	return n
}

// Session is one session's report.
type Session struct {
	Path          string           `json:"path"`
	Agent         string           `json:"agent"`
	Medium        string           `json:"medium"`
	ID            string           `json:"id,omitempty"`
	CWD           string           `json:"cwd,omitempty"`
	FormatVersion string           `json:"formatVersion,omitempty"`
	Verdict       string           `json:"verdict"`
	Size          int64            `json:"size"`
	Records       int64            `json:"records"`
	Events        int64            `json:"events"`
	Turns         int64            `json:"turns"`
	Tail          *Tail            `json:"tail,omitempty"`
	Findings      []Finding        `json:"findings"`
	Branches      []jsonout.Branch `json:"branches,omitempty"`
	Offers        []Offer          `json:"offers,omitempty"`
	Parts         []Part           `json:"parts,omitempty"` // where there are several

	// What repair adds.
	Repaired    bool            `json:"repaired,omitempty"`
	Closers     []repair.Closer `json:"closers,omitempty"`
	Quarantined []Quarantined   `json:"quarantined,omitempty"`
	Edits       int             `json:"edits,omitempty"`
	Receipt     string          `json:"receipt,omitempty"`
	Output      string          `json:"output,omitempty"`
	SHA256      *Hashes         `json:"sha256,omitempty"`
	Refusal     string          `json:"refusal,omitempty"`

	diff string // of a dry run, for people
	root bool   // it stands for a home as a whole
}

// Offer is a cure that loses something, done only on repair --accept CODE.
type Offer struct {
	Code        string `json:"code"`
	Line        int64  `json:"line"`
	Keeps       int64  `json:"keeps"`
	Quarantines int64  `json:"quarantines"`
	Message     string `json:"message"`
}

// Tail is the state that an open log ends in.
type Tail struct {
	Turn  int32  `json:"turn"`
	Step  int32  `json:"step,omitempty"`
	Calls []Call `json:"calls"`
}

// Call is an unanswered call.
type Call struct {
	ID    string `json:"id"`
	Name  string `json:"name,omitempty"`
	State string `json:"state"`
}

// Finding is one fault.
type Finding struct {
	jsonout.Finding
	path string    // of the file, in full
	plan *partPlan // that a dry run shows with this finding
}

// Quarantined are bytes that left the log and are kept aside.
type Quarantined struct {
	File   string         `json:"file"`
	Offset int64          `json:"offset"`
	Length int64          `json:"length"`
	Frame  int64          `json:"frame,omitempty"`
	Text   *int64         `json:"textOffset,omitempty"`
	Codes  []finding.Code `json:"because"`
}

// Hashes are those of the file before and after.
type Hashes struct {
	Before string `json:"before"`
	After  string `json:"after"`
}

// Of reports a verified session.
func Of(r *verify.Result) Session {
	s := Session{
		Path: r.Path, Agent: r.Agent, Medium: r.Medium, ID: r.ID, CWD: r.CWD, FormatVersion: r.Version,
		Verdict: r.Verdict.String(), Size: r.Size, Records: r.Records, Events: r.Events, Turns: r.Turns,
		Findings: Findings(fileOf(r), r.Findings),
	}
	for i := range s.Findings {
		s.Findings[i].path = r.Path
	}
	if r.Open {
		s.Tail = &Tail{Turn: r.Tail.Turn, Step: r.Tail.Step, Calls: []Call{}}
		for _, c := range r.Tail.Calls {
			s.Tail.Calls = append(s.Tail.Calls, Call{c.ID, c.Name, c.State()})
		}
	}
	for i := range r.Findings {
		s.Branches = append(s.Branches, jsonout.Branches(r.Findings[i].Branches)...)
	}
	for _, o := range r.Offers {
		message := fmt.Sprintf("repair --accept %s cuts the log in front of line %d, keeps %s and sets %s aside",
			o.Code, o.At.Logical, plural(int(o.Keeps), "record"), plural(int(o.Sets), "record"))
		if o.Restores > 0 {
			message = fmt.Sprintf("repair --accept %s restores frame %d with its %s", o.Code, o.At.Frame, plural(int(o.Restores), "line"))
		}
		if o.Rebuilds {
			message = fmt.Sprintf("repair --accept %s writes a header of what is known: the file's name, what remains of the old one, and the records", o.Code)
		}
		if o.Moves {
			message = fmt.Sprintf("repair --accept %s mends line %d and moves the bytes behind it: forks and reverts of this session that lie elsewhere lose their place", o.Code, o.At.Logical)
		}
		s.Offers = append(s.Offers, Offer{Code: string(o.Code), Line: o.At.Logical, Keeps: o.Keeps, Quarantines: o.Sets, Message: message})
	}
	return s
}

// fileOf names a session's file below the directory that was asked for.
func fileOf(r *verify.Result) string {
	if r.Rel != "" {
		return filepath.ToSlash(r.Rel)
	}
	return filepath.Base(r.Path)
}

// Findings converts findings about a file.
func Findings(file string, list []finding.Finding) []Finding {
	out := make([]Finding, 0, len(list))
	for _, f := range jsonout.Findings(file, list) {
		out = append(out, Finding{Finding: f})
	}
	return out
}

// AddRepair adds what a repair did or would do.
func (s *Session) AddRepair(o *repair.Outcome) {
	if o.Plan == nil || o.Result == nil {
		return
	}
	s.Closers, s.Edits, s.Receipt, s.Repaired = o.Closers, len(o.Plan.Edits)+len(o.Plan.Reframe), o.Receipt, o.Changed
	if o.SHA256[1] != "" {
		s.SHA256 = &Hashes{o.SHA256[0], o.SHA256[1]}
	}
	for _, m := range o.Result.Removed {
		if !m.Aside {
			continue
		}
		q := Quarantined{File: filepath.Base(s.Path), Offset: m.Off, Length: m.Len, Frame: m.Frame, Codes: m.Codes}
		if m.Data != nil {
			at := m.Text
			q.Text, q.Length = &at, int64(len(m.Data))
		}
		s.Quarantined = append(s.Quarantined, q)
	}
}

// JSON writes the document.
func (d *Document) JSON(w io.Writer) error { return jsonout.Write(w, d, true) }

// JSONL writes a line for each session and a last one with the rest.
func (d *Document) JSONL(w io.Writer) error {
	for i := range d.Sessions {
		if err := jsonout.Write(w, &d.Sessions[i], false); err != nil {
			return err
		}
	}
	return jsonout.Write(w, struct {
		Version int          `json:"version"`
		Tool    jsonout.Tool `json:"tool"`
		Summary Summary      `json:"summary"`
		Homes   []Home       `json:"homes,omitempty"`
		Errors  []Error      `json:"errors,omitempty"`
	}{d.Version, d.Tool, d.Summary, d.Homes, d.Errors}, false)
}
