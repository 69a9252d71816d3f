package dsh

import (
	"fmt"

	"github.com/sessfix/sessfix/format"
)

// structure follows turns, steps and compactions, and ends what the log leaves open in front of what comes.
func (p *prepare) structure(r *logRecord) error {
	if p.target < 2 {
		return p.put(r) // that generation is not held to any of it
	}
	turn, _ := r.whole(r.get(r.data, "turn"))
	step, _ := r.whole(r.get(r.data, "step"))
	spliced := p.spliced
	p.spliced = r.typ == "agent/inbox/spliced" && r.is(r.get(r.data, "target"), "next-turn") && r.size(r.get(r.data, "inserted")) > 0
	var err error
	switch r.typ {
	case "turn/start":
		if err = p.boundary(); err == nil && p.turn != none && turn == p.turn+1 && !(spliced && p.step == none && p.restarts()) {
			err = p.endTurn()
		}
		p.turn, p.step, p.calls = turn, none, nil
	case "turn/end":
		if err = p.boundary(); err == nil && p.turn == turn && p.step != none {
			err = p.endStep()
		}
		p.turn, p.step, p.calls = none, none, nil
	case "step/start":
		if p.step != none && p.turn == turn && step == p.step+1 {
			err = p.endStep()
		}
		p.step, p.calls = step, nil
	case "step/end":
		if p.within(turn, step) {
			err = p.answer()
		}
		p.step, p.calls = none, nil
	case "assistant/message":
		if p.within(turn, step) {
			p.asks(r)
		}
	case "tool/call":
		return p.starts(r, turn, step)
	case "tool/result":
		if r.is(r.get(r.root(), "surfaceOp"), "append") {
			return p.result(r, turn, step)
		}
	case "compaction/start":
		err = p.boundary()
		p.squeeze = squeeze{n: r.n, id: string(r.of(r.get(r.data, "compactionId"))), command: string(r.of(r.get(r.data, "sourceCommandId"))), turn: string(r.of(r.get(r.data, "turn")))}
	case "compaction/summary":
		p.squeeze.summarized = true
	case "compaction/end", "session/end-seed":
		p.squeeze.n = none
	}
	if err != nil {
		return err
	}
	return p.put(r)
}

func (p *prepare) within(turn, step int64) bool {
	return p.turn != none && p.step != none && p.turn == turn && p.step == step
}

// restarts tells whether a step of the upgrade itself ends a turn that was left open.
func (p *prepare) restarts() bool {
	return p.source < 2 && p.target >= 2 || p.target >= 4
}

// endTurn ends the open turn as interrupted.
func (p *prepare) endTurn() error {
	if p.step != none {
		if err := p.endStep(); err != nil {
			return err
		}
	}
	turn := p.turn
	p.turn = none
	return p.add(fill("turn/end", p.next, p.time, endTurn(turn), ""), fmt.Sprintf("ends turn %d, which the log leaves open", turn))
}

// endStep answers the calls of the open step and ends it.
func (p *prepare) endStep() error {
	if err := p.answer(); err != nil {
		return err
	}
	step := p.step
	p.step = none
	data := `{"turn":` + num(p.turn) + `,"step":` + num(step) + `}`
	return p.add(fill("step/end", p.next, p.time, data, ""), fmt.Sprintf("ends step %d of turn %d, which the log leaves open", step, p.turn))
}

// boundary ends a compaction in front of a turn that begins or ends inside of it.
func (p *prepare) boundary() error {
	c := &p.squeeze
	if c.n == none {
		return nil
	}
	if end, ok := p.ends[c.n]; ok {
		c.n = none
		return p.move(end, "the end of the compaction stands in front of the turn, which would begin or end inside of it")
	}
	if !p.lost[c.n] || c.turn == "" {
		return nil
	}
	c.n = none
	data := `{`
	if c.id != "" {
		data += `"compactionId":` + c.id + `,`
	}
	data += `"turn":` + c.turn
	if c.command != "" {
		data += `,"sourceCommandId":` + c.command
	}
	if !c.summarized {
		data += `,"error":"The session log holds no end of this compaction (added by sessfix)."`
	}
	return p.add(fill("compaction/end", p.next, p.time, data+`}`, ""), "ends a compaction of which the log holds no end")
}

// move writes a record in another place than it had.
func (p *prepare) move(f found, why string) error {
	p.out.Note(f.n, why)
	r := &logRecord{n: f.n, count: 1}
	r.reset(f.raw)
	root := r.root()
	r.typ, _ = r.text(r.get(root, "type"))
	if to := renamed[r.typ]; to != "" {
		r.typ = to
	}
	r.seq, _ = r.whole(r.get(root, "seq"))
	r.time = p.time
	r.data = r.get(root, "data")
	p.shifted = true
	return p.put(r)
}

// insert writes a record that is new, and that later ones may name.
func (p *prepare) insert(raw []byte, n int64, why string) error {
	r := &logRecord{n: n, why: why, count: 1, seq: none}
	r.reset(raw)
	r.typ, _ = r.text(r.get(r.root(), "type"))
	r.data, r.time = r.get(r.root(), "data"), p.time
	p.shifted = true
	return p.put(r)
}

var _ format.Stage = (*prepare)(nil)
