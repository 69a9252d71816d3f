package grok

import "strconv"

// prompts counts the turns of a log. A turn begins with words of the user that bear a number, in logs that have any; without any, with
// each run of words. Those of the host begin none, and rewinds take turns back.
type prompts struct {
	turns  int // that were not taken back
	marked bool
	chunk  bool // the last update was of the user
	number string
}

// step is what an update is to the count.
type step uint8

const (
	goesOn  step = iota
	begins       // a turn
	command      // words that the model is not sent
	rewinds      // to a number of turns, which is the same where none is taken back
)

func (p *prompts) take(kind []byte, f *fields) (s step, to int) {
	if string(kind) != "user_message_chunk" {
		p.chunk = false
		if string(kind) != "rewind_marker" {
			return goesOn, 0
		}
		if n, err := strconv.Atoi(string(f.Value(kTarget))); err == nil && n >= 0 && n < p.turns {
			p.turns = n
		}
		return rewinds, p.turns
	}
	numbered := f.Kind(kPrompt) == '0'
	same := p.chunk && string(f.Value(kPrompt)) == p.number
	p.chunk = false
	if f.True(kHost) {
		return goesOn, 0
	}
	if p.marked = p.marked || numbered; p.marked && !numbered {
		return command, 0
	}
	p.chunk = true
	if same {
		return goesOn, 0
	}
	p.number = string(f.Value(kPrompt))
	p.turns++
	return begins, 0
}
