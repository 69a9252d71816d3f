package dsh

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// asks notes the calls that an answer asks for.
func (p *prepare) asks(r *logRecord) {
	eachCall(r, func(id string, block span) {
		if p.find(id) >= 0 {
			return
		}
		written := r.of(r.get(block, "id"))
		p.calls = append(p.calls, asked{
			key: callKey{p.turn, p.step, id}, id: string(written[1 : len(written)-1]),
			name: string(r.of(r.get(block, "name"))), args: string(r.of(r.get(block, "arguments"))),
		})
	})
}

func (p *prepare) find(id string) int {
	return slices.IndexFunc(p.calls, func(c asked) bool { return c.key.id == id })
}

// starts takes the start of a call. One that nobody asked for, or that is there already, has no place in a newer
// generation.
func (p *prepare) starts(r *logRecord, turn, step int64) error {
	id, _ := r.text(r.get(r.data, "callId"))
	i := p.find(id)
	if i < 0 || !p.within(turn, step) || p.calls[i].started {
		p.out.Drop(r.n, fmt.Sprintf("no message of its step asks for call %s, or it is started already", quoted(id)))
		p.shifted = true
		return nil
	}
	p.calls[i].started, p.calls[i].startSeq = true, p.next
	return p.put(r)
}

// result takes the result of a call.
func (p *prepare) result(r *logRecord, turn, step int64) error {
	id, ok := answered(r)
	i := p.find(id)
	if !ok || i < 0 || !p.within(turn, step) {
		p.out.Drop(r.n, fmt.Sprintf("a result of call %s, which is not asked for here or has its result", quoted(id)))
		p.shifted = true
		return nil
	}
	c := p.calls[i]
	p.calls = slices.Delete(p.calls, i, i+1)
	if real, has := p.real[c.key]; has && madeResult(r) {
		p.out.Drop(r.n, fmt.Sprintf("the result of call %s that a recovery made up makes way for the real one", quoted(id)))
		p.shifted = true
		return p.bring(&c, real)
	}
	never := r.is(r.get(r.data, "error", "code"), finding.ToolNotStarted)
	switch {
	case !c.started && !never:
		if err := p.start(&c, r.time); err != nil {
			return err
		}
	case !c.started && !p.exact(r, id):
		p.time = r.time
		p.numbers.put(r.seq, p.next)
		return p.close(&c, r.n, "says in the only words that the upgrade takes that the call was not started")
	}
	return p.put(r)
}

// exact tells whether a result without a start is the one that the upgrade takes. The number in its id is another matter.
func (p *prepare) exact(r *logRecord, id string) bool {
	e := entry{typ: r.typ, op: "append", data: r.parsed()}
	if !r.get(r.root(), "sourceEventSeqs").none() {
		e.sources = true
	}
	message, _ := e.obj()["message"].(object)
	_, ok := (&target{from: p.source}).notStarted(&e, message, id)
	return ok
}

// start writes the start that a result lacks.
func (p *prepare) start(c *asked, time string) error {
	if len(c.name) < 3 || c.name[0] != '"' || c.args == "" || c.args[0] != '"' {
		return nil // the upgrade refuses the call itself
	}
	data := `{"turn":` + num(c.key.turn) + `,"step":` + num(c.key.step) + `,"callId":"` + c.id + `","name":` + c.name + `,"arguments":` + c.args + `}`
	c.started, c.startSeq = true, p.next
	return p.add(fill("tool/call", p.next, time, data, ""),
		fmt.Sprintf("the start of call %s, of which the log holds the result alone", quoted(c.key.id)))
}

// answer gives each call of the step that has none a result: its own, where that came too late, else one that says
// what is known.
func (p *prepare) answer() error {
	for i := range p.calls {
		c := p.calls[i]
		var err error
		if real, ok := p.real[c.key]; ok {
			err = p.bring(&c, real)
		} else {
			err = p.close(&c, -1, fmt.Sprintf("a result of call %s, which the log leaves without one when its step ends", quoted(c.key.id)))
		}
		if err != nil {
			return err
		}
	}
	p.calls = nil
	return nil
}

// bring writes a result that came too late where it belongs.
func (p *prepare) bring(c *asked, real found) error {
	if !c.started {
		if err := p.start(c, p.time); err != nil {
			return err
		}
	}
	return p.move(real, fmt.Sprintf("the result of call %s stands in the step of its call, which it missed", quoted(c.key.id)))
}

// leftOpen is why a call in the middle of a log has no result.
var leftOpen = cause{"interrupted", notStartedText,
	"No result of this tool call is in the session log, although the log goes on behind it (added by sessfix). " + finding.LookFirst}

// close writes the result that a recovery would have.
func (p *prepare) close(c *asked, n int64, why string) error {
	time, ok := integer([]byte(p.time))
	if !ok {
		return format.Refuse(n, "the record in front has no time")
	}
	call := session.Call{ID: c.id, Turn: small(c.key.turn), Step: small(c.key.step), StartSeq: c.startSeq}
	if c.started {
		call.Started.Len = 1
	}
	closing := dialect{version: p.source}.closeCall(call, format.CloseRequest{Time: time}, p.next, leftOpen)
	return p.insert(bytes.TrimSuffix(closing.Line, []byte("\n")), n, why)
}

// identify gives a result of a call that was not started the id that the target takes: version 2 wants the record's own number
// in it, later ones any.
func (p *prepare) identify(r *logRecord) {
	if p.target < 2 || !neverStarted(&r.rewrite) {
		return
	}
	call, _ := answered(r)
	k := p.notStarted
	p.notStarted++
	id := r.get(r.data, "message", "id")
	said, _ := r.text(id)
	number, ok := repairNumber(said, call)
	want := p.next
	switch {
	case p.target == 2 && k < len(p.suffixes):
		want, ok = p.suffixes[k], ok && number == p.suffixes[k]
	case p.target == 2:
		return
	}
	if ok || id.none() {
		return
	}
	written := r.of(r.get(r.data, "message", "source", "callId"))
	r.set(id, `"interrupted-tool-result-`+string(written[1:len(written)-1])+`-`+num(want)+`"`)
	if r.why == "" {
		r.why = "the id of the result ends in the number that the record gets"
	}
}
