package dsh

import (
	"bytes"
	"fmt"

	"github.com/sessfix/sessfix/format"
)

// prepare mends a log in its own generation.
type prepare struct {
	reader
	*facts
	out            format.Out
	source, target int
	session        string
	numbers        numberMap
	next           int64 // number of the next record that is written
	time           string
	passed         bool  // the end of the inherited part
	newCut         int64 // where it lies behind the mending
	oldCut         int64
	shifted        bool // numbers are other than they were

	turn, step int64 // open ones
	spliced    bool
	calls      []asked
	surface    []int64
	squeeze    squeeze
	begun      bool         // a step was started
	held       []*logRecord // in front of the first step
	heldSeqs   map[int64]bool
	notStarted int // results so far that say so
}

// asked is a call of the open step without result.
type asked struct {
	key            callKey
	id, name, args string // as written; the id without its quotes
	started        bool
	startSeq       int64
}

// squeeze is the open compaction.
type squeeze struct {
	n                 int64  // the record that starts it, -1 = none
	id, command, turn string // as written
	summarized        bool
}

func newPrepare(source, target int, f *facts) *prepare {
	p := &prepare{facts: f, source: source, target: target, turn: none, step: none, oldCut: none, newCut: none}
	p.squeeze.n = none
	p.heldSeqs = map[int64]bool{}
	return p
}

// cut is the number of inherited records behind the mending.
func (p *prepare) cut() int64 {
	if p.oldCut != none && !p.passed {
		return p.next - (p.reader.next - p.oldCut)
	}
	return p.newCut
}

func (p *prepare) Record(l format.Line, out format.Out) error {
	p.out = out
	r, err := p.read(l)
	if err != nil {
		return err
	}
	if r == nil {
		return p.head()
	}
	if p.oldCut != none && !p.passed && r.seq >= p.oldCut {
		p.passed, p.newCut = true, p.next
	}
	if to := renamed[r.typ]; to != "" && p.source == 0 {
		r.typ = to
	}
	if p.dropped(r) || p.moved[r.n] {
		return nil
	}
	p.payload(r)
	if done, err := p.beginning(r); done || err != nil {
		return err
	}
	return p.structure(r)
}

func (p *prepare) End(out format.Out) error {
	p.out = out
	// Nothing ended in front of which they could stand.
	for _, r := range p.held {
		if err := p.put(r); err != nil {
			return err
		}
	}
	p.held = nil
	if p.shifted && p.target >= 2 && p.turn != none {
		return p.endTurn() // the log was not closed, because repair alone would have refused it
	}
	return nil
}

// head takes out of the header what no generation behind version 0 admits.
func (p *prepare) head() error {
	r := &p.reader.r
	root := r.root()
	p.session, _ = r.text(r.get(root, "id"))
	p.time = string(r.of(r.get(root, "createdAt")))
	if length, ok := r.whole(r.get(root, "seedLength")); ok && p.source < 2 {
		p.oldCut = length
		if p.facts.cut >= 0 {
			r.put(r.get(root, "seedLength"), p.facts.cut)
		}
	}
	seed := "seedLength"
	if p.source >= 2 {
		seed = "isSeeded"
	}
	r.reshape(root, func(key span) bool {
		name, _ := r.text(key)
		if headerMembers[name] || name == seed || name == retiredHeader[0] || name == retiredHeader[1] {
			return false
		}
		p.out.Note(r.n, fmt.Sprintf("the header's member %q is left out: the upgrade refuses it", short([]byte(name))))
		return true
	})
	return p.out.Put(r.line())
}

// dropped leaves out a record that the client need not know and its upgrade refuses.
func (p *prepare) dropped(r *logRecord) bool {
	if p.source > 2 || r.kind(r.get(r.root(), "ignorable")) != 't' || retired[r.typ] {
		return false
	}
	rec := frozenTable()[r.typ]
	if rec != nil && r.typ[0] != '@' && rec.versions.hold(p.source) || r.typ == "steering/message" && p.source == 0 {
		return false
	}
	p.out.Drop(r.n, fmt.Sprintf("event type %q may be ignored, and the upgrade refuses what it does not know", short([]byte(r.typ))))
	p.shifted = true
	return true
}

// beginning holds back messages that stand in front of the first step, and what names them: version 3 puts the
// system prompt in front of all messages, inside of a step.
func (p *prepare) beginning(r *logRecord) (bool, error) {
	if p.begun || !p.hold {
		return false, nil
	}
	if r.typ == "step/start" {
		p.begun = true
		if err := p.structure(r); err != nil {
			return true, err
		}
		for _, h := range p.held {
			p.out.Note(h.n, "stands behind the start of the first step: version 3 has its system prompt there, and no message in front of it")
			if err := p.structure(h); err != nil {
				return true, err
			}
		}
		p.held = nil
		return true, nil
	}
	names := r.typ == "user/message"
	for _, list := range [...]span{r.get(r.root(), "sourceEventSeqs"), r.get(r.data, "messageSeqs")} {
		r.each(list, func(_, v span) bool {
			seq, _ := r.whole(v)
			names = names || p.heldSeqs[seq]
			return !names
		})
	}
	if seq, ok := r.whole(r.get(r.data, "sourceEventSeq")); ok && p.heldSeqs[seq] {
		names = true
	}
	if !names {
		return false, nil
	}
	p.heldSeqs[r.seq] = true
	p.held = append(p.held, r.keep())
	p.shifted = true
	return true, nil
}

// put writes a record under its number.
func (p *prepare) put(r *logRecord) error {
	if p.shifted {
		if keep, err := p.references(r); !keep || err != nil {
			return err
		}
		from := "seq"
		if r.get(r.root(), from).none() {
			from = "seq0"
		}
		r.put(r.get(r.root(), from), p.next)
	}
	p.identify(r)
	p.show(r)
	if r.seq != none {
		p.numbers.putAll(r.seq, p.next, r.count)
	}
	p.next += r.count
	p.time = r.time
	return p.out.Put(r.line())
}

// add writes a record that is new. The bytes hold the number that it gets.
func (p *prepare) add(raw []byte, why string) error {
	p.shifted = true
	p.next++
	return p.out.Put(format.Line{Raw: bytes.TrimSuffix(raw, []byte("\n")), N: -1, Why: why})
}
