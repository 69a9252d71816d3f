package repair

import (
	"context"
	"fmt"

	"github.com/sessfix/sessfix/edit"
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
	"github.com/sessfix/sessfix/verify"
)

// answered is a request for closers, with the records that its calls are about.
func (p *Plan) answered(q format.CloseRequest, records map[int64][]byte) format.CloseRequest {
	of := func(r session.Ref) []byte {
		if r.Len == 0 {
			return nil
		}
		return records[r.Text]
	}
	q.Asked, q.Found, q.Opened = nil, nil, of(q.TurnStart)
	for _, c := range q.Calls {
		q.Asked, q.Found = append(q.Asked, of(c.Asked)), append(q.Found, of(c.Finished))
	}
	return q
}

// answers collects the records that calls without result are about.
func (p *Plan) answers(ctx context.Context, in verify.Input, res *verify.Result) (map[int64][]byte, error) {
	records := map[int64][]byte{}
	calls := res.Inserts
	if res.Close != nil {
		calls = append(calls[:len(calls):len(calls)], res.Close.Calls...)
	}
	for _, c := range calls {
		for _, r := range []session.Ref{c.Asked, c.Finished} {
			if r.Len > 0 {
				records[r.Text] = nil
			}
		}
	}
	for _, m := range res.Moves {
		records[m.From.Text] = nil
	}
	if res.Close != nil && res.Close.TurnStart.Len > 0 {
		records[res.Close.TurnStart.Text] = nil
	}
	if len(records) == 0 {
		return nil, nil
	}
	return records, p.collect(ctx, in, records)
}

// insert puts results right behind the calls that other talk follows.
func (p *Plan) insert(in verify.Input, res *verify.Result, records map[int64][]byte) error {
	c, ok := in.Dialect.(format.Closer)
	if !ok {
		return fmt.Errorf("%s: no way to answer a call", in.Format.Name())
	}
	for _, call := range res.Inserts {
		q := p.answered(format.CloseRequest{Calls: []session.Call{call}, Time: res.Tail.LastTime}, records)
		lines, err := c.Close(q)
		if err != nil {
			return fmt.Errorf("%s: at %d: %w", in.Path, call.Asked.Off, err)
		}
		e := edit.Edit{At: call.Asked.TextEnd() + 1, Rank: edit.RankMend, Cures: []finding.Code{finding.DanglingCall}}
		if call.Asked.Marks&session.Followed != 0 {
			e.At-- // what mends the line puts the newline in front
		}
		for _, l := range lines {
			l.Place = "adjacent"
			p.Closings = append(p.Closings, l)
			e.Ins = append(e.Ins, l.Line...)
		}
		p.Edits = append(p.Edits, e)
	}
	return nil
}

// move puts records behind others.
func (p *Plan) move(res *verify.Result, records map[int64][]byte) {
	for _, m := range res.Moves {
		cures := []finding.Code{m.Code}
		to := m.Behind.TextEnd() + 1
		if m.Behind.Marks&session.Unterminated != 0 {
			to-- // what ends the log puts the newline in front
		}
		p.Edits = append(p.Edits,
			edit.Edit{At: m.From.Text, Del: m.From.TextLen + 1, Cures: cures},
			edit.Edit{At: to, Ins: append(records[m.From.Text], '\n'), Rank: edit.RankMend, Cures: cures})
	}
}
