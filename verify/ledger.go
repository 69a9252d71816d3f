package verify

import (
	"bytes"

	"github.com/sessfix/sessfix/session"
)

// line is what the ledger knows of one call.
type line struct {
	id, name  []byte
	asked     session.Ref
	started   session.Ref
	result    session.Ref
	askSeq    int64
	startSeq  int64
	synthetic bool // the result is one
	hidden    bool // the message that asks is no longer replayed
	over      bool // answered, and its id was asked for again
	turn      int32
	step      int32
}

// ledger holds the calls of one step. Its lines and their buffers are used again.
type ledger struct {
	lines []line
	index map[string]int // only for steps with many calls
}

// manyCalls is from where on the ledger keeps an index.
const manyCalls = 32

func (l *ledger) reset() {
	l.lines = l.lines[:0]
	if len(l.index) > 0 {
		clear(l.index)
	}
}

func (l *ledger) find(id []byte) *line {
	if len(l.lines) > manyCalls {
		if i, ok := l.index[string(id)]; ok {
			return &l.lines[i]
		}
		return nil
	}
	for i := range l.lines {
		if !l.lines[i].over && bytes.Equal(l.lines[i].id, id) {
			return &l.lines[i]
		}
	}
	return nil
}

func (l *ledger) add(id, name []byte) *line {
	if len(l.lines) < cap(l.lines) {
		l.lines = l.lines[:len(l.lines)+1]
	} else {
		l.lines = append(l.lines, line{})
	}
	n := &l.lines[len(l.lines)-1]
	*n = line{id: append(n.id[:0], id...), name: append(n.name[:0], name...), askSeq: -1, startSeq: -1}
	switch {
	case len(l.lines) == manyCalls+1:
		if l.index == nil {
			l.index = make(map[string]int)
		}
		for i := range l.lines {
			if !l.lines[i].over {
				l.index[string(l.lines[i].id)] = i
			}
		}
	case len(l.lines) > manyCalls:
		l.index[string(id)] = len(l.lines) - 1
	}
	return n
}

// open lists the calls that were asked for and have no result, in the order of asking.
func (l *ledger) open() []session.Call {
	var out []session.Call
	for i := range l.lines {
		c := &l.lines[i]
		if c.asked.Len == 0 || c.result.Len > 0 {
			continue
		}
		out = append(out, session.Call{
			ID: string(c.id), Name: string(c.name), Index: len(out), Asked: c.asked, Started: c.started,
			AskSeq: c.askSeq, StartSeq: c.startSeq, Turn: c.turn, Step: c.step, Hidden: c.hidden,
		})
	}
	return out
}

// pending tells whether open would list any.
func (l *ledger) pending() bool {
	for i := range l.lines {
		if l.lines[i].asked.Len > 0 && l.lines[i].result.Len == 0 {
			return true
		}
	}
	return false
}
