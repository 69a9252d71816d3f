package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sessfix/sessfix/edit"
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/verify"
)

// Plan is what would make a session clean.
type Plan struct {
	edit.Plan
	Closings []format.Closing
	newID    string // what calls with an empty id are called from now on
}

// ErrUnproved is returned when the result of a plan does not verify clean.
var ErrUnproved = errors.New("the planned result does not verify clean")

// replaces are the codes whose patches keep the meaning of the bytes they touch.
var replaces = map[finding.Code]bool{finding.BadUTF8: true, finding.ControlChar: true, finding.SplitRecord: true, finding.HeaderInvalid: true, finding.SessionIDMismatch: true, finding.DerivedStale: true}

// MakePlan collects the cures of a diagnosis that is repairable.
func MakePlan(ctx context.Context, in verify.Input, res *verify.Result) (*Plan, error) {
	framing := in.Dialect.Framing()
	p := &Plan{Plan: edit.Plan{Framed: in.Medium == scan.Frames, HeaderFrame: framing.HeaderFrame, Starts: framing.Starts}}
	mend := map[int64]*finding.Finding{}
	for i := range res.Findings {
		f := &res.Findings[i]
		if f.Cure != finding.Auto || !f.Damage() {
			continue
		}
		cures := []finding.Code{f.Code}
		for _, t := range f.Patches {
			e := edit.Edit{At: t.At, Del: min(t.Del, res.Text-t.At), Blank: t.Blank, Ins: t.Ins, Cures: cures}
			e.Aside = e.Del > 0 && !replaces[f.Code] && (f.Code != finding.HeaderMisplaced || f.Where == "")
			if in.Dialect.Rules().Path && len(e.Ins) > 0 {
				e.Aside = false // a value in the place of another
			}
			if f.Code == finding.NoFinalNewline {
				e.Rank = edit.RankNewline
			} else if e.Del == 0 {
				e.Rank = edit.RankMend
			}
			p.Edits = append(p.Edits, e)
		}
		if f.Reframe {
			p.Reframe = append(p.Reframe, edit.Reframe{Off: f.Off, Cures: cures})
		}
		if (f.Code == finding.EmptyCallID || f.Code == finding.SeqMissing) && !in.Dialect.Rules().Path {
			mend[f.Record.Text] = f
		}
	}
	for _, d := range res.Drops {
		p.drop(d, res.Text)
	}
	if err := p.mend(ctx, in, res, mend); err != nil {
		return nil, err
	}
	records, err := p.answers(ctx, in, res)
	if err != nil {
		return nil, err
	}
	p.move(res, records)
	if len(res.Inserts) > 0 {
		if err := p.insert(in, res, records); err != nil {
			return nil, err
		}
	}
	if res.Close != nil {
		if err := p.close(in, res, records); err != nil {
			return nil, err
		}
	}
	p.settle(res)
	if len(res.Changes) > 0 {
		if err := p.graft(ctx, in, res); err != nil {
			return nil, err
		}
	}
	return p, p.Normalise()
}

// drop takes records out of the log, with the newline that ends the last of them. Where that
// one shares its line, what mends the line would make a newline behind it, or leave the one at
// the line's end: that goes as well.
func (p *Plan) drop(d verify.Drop, end int64) {
	e := edit.Edit{At: d.Text, Del: d.TextLen, Cures: []finding.Code{d.Code}, Aside: true}
	if d.Pinned && d.TextEnd() < end {
		e.Blank = d.TextLen // the newline stays, and no byte moves
		p.Edits = append(p.Edits, e)
		return
	}
	if !d.Followed {
		e.Del = min(d.TextLen+1, end-d.Text)
		p.Edits = append(p.Edits, e)
		return
	}
	for i := range p.Edits {
		n := &p.Edits[i]
		if n.At != d.TextEnd() || n.Rank == edit.RankCloser {
			continue
		}
		if len(n.Ins) > 0 {
			n.Ins = nil
		} else {
			n.Del = min(n.Del+1, end-n.At)
		}
		break
	}
	p.Edits = append(p.Edits, e)
}

// mend asks the format for cures that need another look at the record.
func (p *Plan) mend(ctx context.Context, in verify.Input, res *verify.Result, todo map[int64]*finding.Finding) error {
	if len(todo) == 0 {
		return nil
	}
	m, ok := in.Dialect.(format.Mender)
	if !ok {
		return fmt.Errorf("%s: no way to mend its records", in.Format.Name())
	}
	s, err := scan.New(ctx, in.R, in.Size, scan.Options{Medium: in.Medium, Framing: in.Dialect.Framing()})
	if err != nil {
		return err
	}
	for s.Next() {
		r := s.Record()
		f, ok := todo[r.Text]
		if !ok {
			continue
		}
		for _, t := range m.Mend(res.ID, r, f) {
			if f.Code == finding.EmptyCallID {
				p.newID = string(t.Ins)
			}
			p.Edits = append(p.Edits, edit.Edit{At: r.Text + t.At, Del: t.Del, Ins: t.Ins, Rank: edit.RankMend, Cures: []finding.Code{f.Code}})
		}
	}
	return s.Err()
}

// settle appends what ends that which the log itself says is open.
func (p *Plan) settle(res *verify.Result) {
	if len(res.Settled) == 0 {
		return
	}
	p.Closings = append(p.Closings, res.Settled...)
	e := edit.Edit{At: res.Text, Rank: edit.RankCloser}
	for _, c := range res.Settled {
		e.Ins = append(e.Ins, c.Line...)
	}
	for _, f := range res.Findings {
		if f.Where == "tail" && f.Damage() && f.Cure == finding.Auto && !slices.Contains(e.Cures, f.Code) {
			e.Cures = append(e.Cures, f.Code)
		}
	}
	p.Edits = append(p.Edits, e)
}

// close appends what ends the open turn.
func (p *Plan) close(in verify.Input, res *verify.Result, records map[int64][]byte) error {
	c, ok := in.Dialect.(format.Closer)
	if !ok {
		return fmt.Errorf("%s: no way to close an open turn", in.Format.Name())
	}
	q := *res.Close
	q.Calls = slices.Clone(q.Calls)
	for i := range q.Calls {
		if q.Calls[i].ID == "" {
			q.Calls[i].ID = p.newID
		}
	}
	closings, err := c.Close(p.answered(q, records))
	if err != nil {
		return err
	}
	p.Closings = append(p.Closings, closings...)
	var lines []byte
	var cures []finding.Code
	for _, l := range closings {
		lines = append(lines, l.Line...)
	}
	for _, f := range res.Findings {
		if f.Where == "tail" && (f.Code == finding.DanglingCall || f.Code == finding.OpenStep || f.Code == finding.OpenTurn) {
			if !slices.Contains(cures, f.Code) {
				cures = append(cures, f.Code)
			}
		}
	}
	if len(cures) == 0 { // a record that marks the place to go on from, or edits others out
		cures = treeCures(res)
	}
	p.Edits = append(p.Edits, edit.Edit{At: res.Text, Ins: lines, Rank: edit.RankCloser, Cures: cures})
	return nil
}

// treeCures are the faults that records added to a tree mend together.
func treeCures(res *verify.Result) (cures []finding.Code) {
	for _, f := range res.Findings {
		if e, _ := finding.Lookup(f.Code); f.Damage() && f.Cure == finding.Auto && e.Stage > finding.StageNumbers && !slices.Contains(cures, f.Code) {
			cures = append(cures, f.Code)
		}
	}
	return cures
}

// Prove verifies the result of a plan as if it were the file. It returns ErrUnproved when that
// is not clean.
func Prove(ctx context.Context, in verify.Input, r *edit.Result) (*verify.Result, error) {
	if !r.Account.Balanced() {
		return nil, fmt.Errorf("%s: bytes unaccounted for: %w", in.Path, ErrUnproved)
	}
	after := in
	after.Accept = nil
	after.R, after.Size, after.Missing = r, r.Size(), false
	res, err := verify.Session(ctx, after)
	if err != nil {
		return nil, err
	}
	if res.Verdict != verify.Clean {
		for _, f := range res.Findings {
			if f.Damage() {
				return res, fmt.Errorf("%s: %s at %d would remain: %w", in.Path, f.Code, f.Off, ErrUnproved)
			}
		}
	}
	return res, nil
}
