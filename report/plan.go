package report

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/sessfix/sessfix/edit"
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/repair"
)

// What a plan puts into a log is of two kinds: records and values of sessfix's own making, and text of the session that is told
// again. Only the first kind is shown.

// put is one line that an edit puts in, or a value in the middle of one.
type put struct {
	text []byte
	own  bool
	what string // of a record that ends something: what it is
}

// puts divides what an edit puts in.
func puts(p *repair.Plan, e edit.Edit) []put {
	if line := bytes.Trim(e.Ins, "\n"); !bytes.Contains(line, []byte("\n")) && !bytes.HasPrefix(line, []byte("{")) && !bytes.HasPrefix(line, []byte("[{")) {
		if len(e.Ins) == 0 {
			return nil
		}
		return []put{{text: e.Ins, own: small(e)}}
	}
	closers := map[string]format.Closing{}
	for _, c := range p.Closings {
		if c.Line == nil { // several share a line, and with it what the session says
			closers = nil
			break
		}
		closers[string(c.Line)] = c
	}
	var out []put
	for line := range bytes.Lines(e.Ins) {
		if len(line) == 1 {
			out = append(out, put{text: line, own: true})
			continue
		}
		c, ok := closers[string(line)]
		q := put{text: line}
		if ok {
			q.own, q.what = c.OwnWords(), closer(c.Kind, c.CallID, c.Code)
		}
		out = append(out, q)
	}
	return out
}

var (
	// mark is what stands for a single character, parts two records, or is a number.
	mark = regexp.MustCompile(`^((\\u[0-9A-Fa-f]{4}|\\["\\/bfnrt]|\n|\x{FFFD})+|[0-9]{1,20})$`)
	// valued are faults that are mended with an id, a number or a fixed word.
	valued = []finding.Code{
		finding.SeqMissing, finding.EmptyCallID, finding.CallIDReused, finding.ParentMissing, finding.ParentCycle, finding.ChainCut, finding.WrongLeaf, finding.OrphanResult,
		finding.DanglingCall, finding.DupResult, finding.SessionIDMismatch, finding.HeaderInvalid, finding.EventInvalid, finding.ProviderRejects, finding.BadUTF8,
	}
)

// small tells values that may be shown.
func small(e edit.Edit) bool {
	if mark.Match(e.Ins) {
		return true
	}
	return len(e.Ins) <= 100 && !slices.ContainsFunc(e.Cures, func(c finding.Code) bool { return !slices.Contains(valued, c) })
}

// partPlan is what a dry run would do to one plain file.
type partPlan struct {
	edits []edit.Edit
	own   bool // nothing that is put in is of the session
}

// SetPlan adds the plan of a dry run: for people as a diff, for other programs as edits.
func (s *Session) SetPlan(o *repair.Outcome, st Style) {
	s.diff = Diff(s.Path, o, st)
	if o.Plan.Framed || len(o.Plan.Edits) == 0 {
		return
	}
	p := &partPlan{edits: o.Plan.Edits, own: true}
	var cures []string
	for _, e := range p.edits {
		for _, q := range puts(o.Plan, e) {
			p.own = p.own && q.own
		}
		for _, c := range e.Cures {
			cures = append(cures, string(c))
		}
	}
	for i := range s.Findings {
		if f := &s.Findings[i]; f.Severity != string(finding.Note) && slices.Contains(cures, f.Code) {
			f.plan = p
			break
		}
	}
}

type sarifFix struct {
	Description sarifMessage  `json:"description"`
	Changes     []sarifChange `json:"artifactChanges"`
}

type sarifChange struct {
	Artifact     sarifArtifact      `json:"artifactLocation"`
	Replacements []sarifReplacement `json:"replacements"`
}

type sarifReplacement struct {
	Deleted  sarifRegion   `json:"deletedRegion"`
	Inserted *sarifContent `json:"insertedContent,omitempty"`
}

type sarifContent struct {
	Text   string `json:"text,omitempty"`
	Binary string `json:"binary,omitempty"`
}

// fixes is the plan of the finding's file, which stands with the first of the findings that it mends. It is proved as a whole, and
// half of it would do harm: where a part of it may not be shown, or stands inside a frame, none is.
func (t told) fixes() []sarifFix {
	name, rows := t.file()
	if t.f.plan == nil || !t.f.plan.own || rows {
		return nil
	}
	c := sarifChange{Artifact: artifact(name)}
	for _, e := range t.f.plan.edits {
		r := sarifReplacement{Deleted: sarifRegion{ByteOffset: e.At, ByteLength: e.Del}}
		if text := e.Text(); len(text) > 0 && utf8.Valid(text) {
			r.Inserted = &sarifContent{Text: string(text)}
		} else if len(text) > 0 {
			r.Inserted = &sarifContent{Binary: base64.StdEncoding.EncodeToString(text)}
		}
		c.Replacements = append(c.Replacements, r)
	}
	text := "All that sessfix repair would do to this file, which mends its other findings as well. It was proved as a whole: take it as a whole."
	return []sarifFix{{sarifMessage{Text: text}, []sarifChange{c}}}
}
