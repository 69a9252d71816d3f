package export

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/provider"
)

// chat is one message of a request: of the system, the user or the assistant. Results are the user's.
type chat struct {
	role   format.Role
	blocks []format.Block
}

// pairing makes of what is said a list in which each call is answered directly behind it, by one result, under an id of its own. It
// holds back one message, and what stands between a call and its late result: at most maxWait messages.
type pairing struct {
	emit   func(c *chat) error
	maxID  int
	last   *chat
	open   []asked
	wait   []chat
	used   map[string]bool // ids
	again  map[string]int  // how often an id was one more than once
	counts Left
}

// asked is a call without result so far.
type asked struct {
	id, as string // as the log has it, and in the list
	result *format.Block
}

// maxWait bounds how far behind its call a result is looked for, in messages.
const maxWait = 256

// Left counts what a list is without, or has beyond what was said.
type Left struct {
	Thinking int // left out: it goes with a model and a key
	System   int // left out: the provider takes it elsewhere
	Orphans  int // results without call, left out
	Other    int // blocks that this provider does not take there, left out or replaced by a word
	Answered int // calls without result that were given one
	Renamed  int // ids and names that this provider does not take
	Opened   int // words put in front, so that the user begins
}

// unanswered is what a call without result is answered with.
const unanswered = "No result of this call is recorded. It may or may not have run: check before you repeat it."

// add takes the next message.
func (p *pairing) add(c chat) error {
	if len(c.blocks) == 0 {
		return nil
	}
	if len(p.open) == 0 {
		return p.take(c)
	}
	if c.role == format.Assistant && p.last != nil && !p.begun() && len(p.wait) == 0 {
		return p.take(c) // the answer goes on
	}
	rest := chat{role: c.role}
	for _, b := range c.blocks {
		if b.Kind != format.Result || !p.answer(b) {
			rest.blocks = append(rest.blocks, b)
		}
	}
	if len(rest.blocks) > 0 {
		p.wait = append(p.wait, rest)
	}
	if len(p.wait) > maxWait {
		return p.settle()
	}
	if p.complete() {
		return p.settle()
	}
	return nil
}

// begun tells whether one of the open calls was answered.
func (p *pairing) begun() bool {
	return slices.ContainsFunc(p.open, func(a asked) bool { return a.result != nil })
}

func (p *pairing) complete() bool {
	return !slices.ContainsFunc(p.open, func(a asked) bool { return a.result == nil })
}

// answer gives a result to the call that it answers.
func (p *pairing) answer(b format.Block) bool {
	for i := range p.open {
		if a := &p.open[i]; a.id == b.ID && a.result == nil {
			a.result = &b
			return true
		}
	}
	return false
}

// settle ends the open calls, and goes on with what waited.
func (p *pairing) settle() error {
	p.part()
	results := chat{role: format.User}
	for _, a := range p.open {
		b := format.Block{Kind: format.Result, Text: unanswered, Failed: true, MadeUp: true}
		if a.result != nil {
			b = *a.result
		} else {
			p.counts.Answered++
		}
		b.ID = a.as
		results.blocks = append(results.blocks, b)
	}
	p.open = p.open[:0]
	if err := p.flush(); err != nil {
		return err
	}
	p.last = &results
	wait := p.wait
	p.wait = nil
	for _, c := range wait {
		if err := p.add(c); err != nil {
			return err
		}
	}
	return nil
}

// part lets what an answer says behind a call that nothing answers wait: it was said when the call had come to nothing.
func (p *pairing) part() {
	open := map[string]asked{}
	for _, a := range p.open {
		open[a.as] = a
	}
	if p.complete() || p.last == nil {
		return
	}
	lost := false
	from := slices.IndexFunc(p.last.blocks, func(b format.Block) bool {
		a, ok := open[b.ID]
		call := ok && b.Kind == format.Call
		lost = lost || call && a.result == nil
		return lost && !call
	})
	if from < 0 {
		return
	}
	late, results := chat{role: p.last.role}, chat{role: format.User}
	for _, b := range p.last.blocks[from:] {
		if a, ok := open[b.ID]; ok && b.Kind == format.Call {
			if delete(p.used, a.as); a.as != a.id {
				p.counts.Renamed--
			}
			if b.ID = a.id; a.result != nil {
				results.blocks = append(results.blocks, *a.result)
			}
			p.open = slices.DeleteFunc(p.open, func(o asked) bool { return o.as == a.as })
		}
		late.blocks = append(late.blocks, b)
	}
	p.last.blocks = p.last.blocks[:from]
	p.wait = append([]chat{late, results}, p.wait...)
}

// take appends a message while no call is open, or goes on with the answer that asks.
func (p *pairing) take(c chat) error {
	n := chat{role: c.role}
	for _, b := range c.blocks {
		switch {
		case b.Kind == format.Result || b.Kind == format.Call && c.role != format.Assistant:
			p.counts.Orphans++
			continue
		case b.Kind == format.Call:
			as := p.rename(b.ID)
			p.open = append(p.open, asked{id: b.ID, as: as})
			b.ID = as
			b.Name = p.name(b.Name)
		}
		n.blocks = append(n.blocks, b)
	}
	switch {
	case len(n.blocks) == 0:
		return nil
	case p.last != nil && p.last.role == n.role && n.role != format.System:
		p.last.blocks = append(p.last.blocks, n.blocks...)
		return nil
	}
	if err := p.flush(); err != nil {
		return err
	}
	p.last = &n
	return nil
}

// flush hands the message out that was held back.
func (p *pairing) flush() error {
	if p.last == nil {
		return nil
	}
	c := p.last
	p.last = nil
	return p.emit(c)
}

// end hands out the rest.
func (p *pairing) end() error {
	for len(p.open) > 0 || len(p.wait) > 0 {
		if err := p.settle(); err != nil {
			return err
		}
	}
	return p.flush()
}

// rename makes an id that the provider takes and that no other call has.
func (p *pairing) rename(id string) string {
	if p.used == nil {
		p.used, p.again = map[string]bool{}, map[string]int{}
	}
	as := id
	if !provider.Plain([]byte(id)) || len(id) > p.maxID {
		h := sha256.Sum256([]byte(id))
		as = "call_" + hex.EncodeToString(h[:8])
	}
	for base := as; p.used[as]; {
		p.again[base]++
		end := fmt.Sprintf("_%d", p.again[base]+1)
		as = base[:min(len(base), p.maxID-len(end))] + end
	}
	if as != id {
		p.counts.Renamed++
	}
	p.used[as] = true
	return as
}

// maxName is the longest name of a tool that providers take.
const maxName = 64

// name makes a tool's name one that providers take.
func (p *pairing) name(name string) string {
	if provider.Plain([]byte(name)) && len(name) <= maxName {
		return name
	}
	p.counts.Renamed++
	as := strings.Map(func(r rune) rune {
		if r < 0x80 && provider.Plain([]byte{byte(r)}) {
			return r
		}
		return '_'
	}, name)
	if as == "" {
		return "tool"
	}
	return as[:min(len(as), maxName)]
}
