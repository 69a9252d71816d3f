package repair

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/sessfix/sessfix/edit"
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
	"github.com/sessfix/sessfix/verify"
)

// graft appends the records that mend a tree.
func (p *Plan) graft(ctx context.Context, in verify.Input, res *verify.Result) error {
	l, ok := in.Dialect.(format.Linker)
	if !ok {
		return fmt.Errorf("%s: no way to mend its tree", in.Format.Name())
	}
	changes := wanted(res)
	if len(changes) == 0 {
		return nil
	}
	records := map[int64][]byte{}
	for _, c := range changes {
		for _, r := range []session.Ref{c.Rec, c.Parent, c.Last, c.Child} {
			if r.Len > 0 {
				records[r.Text] = nil
			}
		}
		for _, truth := range c.Truths {
			records[truth.Rec.Text] = nil
		}
	}
	if err := p.collect(ctx, in, records); err != nil {
		return err
	}
	var lines []byte
	for _, c := range changes {
		line, closing, err := written(l, c, records)
		if err != nil {
			return fmt.Errorf("%s: at %d: %w", in.Path, c.Rec.Off, err)
		}
		if closing.Line != nil {
			closing.Place = "end"
			if c.Where == "mid" {
				closing.Place = "adjacent"
			}
			p.Closings = append(p.Closings, closing)
			line = closing.Line
		}
		lines = append(lines, line...)
	}
	p.Edits = append(p.Edits, edit.Edit{At: res.Text, Ins: lines, Rank: edit.RankCloser, Cures: treeCures(res)})
	return nil
}

// wanted are the changes that findings ask for which are damage and have a safe cure.
func wanted(res *verify.Result) []verify.Change {
	type about struct {
		code finding.Code
		text int64
	}
	asked := map[about]bool{}
	for _, f := range res.Findings {
		if f.Damage() && f.Cure == finding.Auto {
			asked[about{f.Code, f.Record.Text}] = true
		}
	}
	var out []verify.Change
	only := true // there is nothing but a pointer
	for _, c := range res.Changes {
		if c.Kind == verify.Retell {
			var mends []verify.Mend
			for _, m := range c.Mends {
				if asked[about{m.Code, m.Of}] {
					mends = append(mends, m)
				}
			}
			c.Mends = mends
			if !asked[about{c.Code, c.Of}] {
				c.Parent, c.Root = session.Ref{}, false
			}
			if len(c.Mends) == 0 && c.Parent.Len == 0 && !c.Root && len(c.Truths) == 0 {
				continue
			}
		}
		if c.Kind != verify.Point || asked[about{finding.WrongLeaf, c.Rec.Text}] {
			only = false
		}
		out = append(out, c)
	}
	if only {
		return nil
	}
	return out
}

// collect reads again, in one pass, the records that begin at the given places of the text, as they will be once their
// bytes are mended.
func (p *Plan) collect(ctx context.Context, in verify.Input, records map[int64][]byte) error {
	edits := slices.Clone(p.Edits)
	slices.SortStableFunc(edits, func(a, b edit.Edit) int { return cmp.Compare(a.At, b.At) })
	s, err := scan.New(ctx, in.R, in.Size, scan.Options{Medium: in.Medium, Framing: in.Dialect.Framing()})
	if err != nil {
		return err
	}
	for s.Next() {
		r := s.Record()
		if _, ok := records[r.Text]; ok {
			records[r.Text] = mended(r, edits)
		}
	}
	return s.Err()
}

// mended is a record with the edits inside it done; they are in order.
func mended(r *session.Record, edits []edit.Edit) []byte {
	raw := bytes.Clone(r.Raw)
	if r.Marks&session.Salvaged == 0 {
		return raw
	}
	find := func(at int64) int {
		i, _ := slices.BinarySearchFunc(edits, at, func(e edit.Edit, at int64) int { return cmp.Compare(e.At, at) })
		return i
	}
	// What is put where the record begins stands in front of it: the newline that parts it from another.
	inside := edits[find(r.Text+1):find(r.TextEnd())]
	for _, e := range slices.Backward(inside) {
		if at := e.At - r.Text; at+e.Del <= int64(len(raw)) {
			raw = slices.Replace(raw, int(at), int(at+e.Del), e.Text()...)
		}
	}
	return raw
}

// written is the line that a change adds.
func written(l format.Linker, c verify.Change, records map[int64][]byte) ([]byte, format.Closing, error) {
	of := func(r session.Ref) []byte {
		if r.Len == 0 {
			return nil
		}
		return records[r.Text]
	}
	var none format.Closing
	switch c.Kind {
	case verify.Answer:
		closing, err := l.Answer(of(c.Rec), of(c.Child), c.Call)
		return nil, closing, err
	case verify.Bridge:
		line, err := l.Bridge(of(c.Child), of(c.Parent))
		return line, none, err
	case verify.Point:
		line, err := l.Point(of(c.Rec), of(c.Last))
		return line, none, err
	}
	q := format.Retelling{Record: of(c.Rec), Parent: of(c.Parent), Root: c.Root}
	for _, truth := range c.Truths {
		q.Truths = append(q.Truths, format.Truth{Record: of(truth.Rec), Call: truth.Call})
	}
	for _, m := range c.Mends {
		q.Mends = append(q.Mends, m.Word)
	}
	line, err := l.Retell(q)
	return line, none, err
}
