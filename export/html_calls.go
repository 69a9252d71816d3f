package export

import (
	"strconv"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// Fates of a call, as the page numbers them.
const (
	fateFinished = iota
	fateFailed
	fateNotStarted
	fateUnknown
	fateSynthetic
	fateUnanswered
	fateOrphan // a result that nobody asked for
)

// pageCall is a call and what became of it. Rows count from 1; 0 = none, -1 = one that the page does not hold.
type pageCall struct {
	id, name              string
	asked, started, ended int64
	turn, step            int32
	failed, madeUp, again bool
	orphan, closed        bool
}

// pageCalls pairs calls with what answers them: each result the nearest call of its id that is still open. It takes the order of
// the file: which results a provider gets is verify's to judge.
type pageCalls struct {
	list  []pageCall
	open  map[string][]int
	last  map[string]int
	codes map[string]string
}

// closers notes what the plan says of calls without result.
func (c *pageCalls) closers(p *Part) {
	c.open, c.last, c.codes = map[string][]int{}, map[string]int{}, map[string]string{}
	if p.Plan == nil {
		return
	}
	for _, x := range p.Plan.Closers {
		if x.Code != "" {
			c.codes[x.CallID] = x.Code
		}
	}
}

// event takes an event of a record and tells which call it is about, -1 = none.
func (c *pageCalls) event(e *Entry, v *session.Event, row int64) int {
	switch v.Kind {
	case session.CallAsked, session.CallStarted, session.CallResult, session.CallFinished:
	default:
		return -1
	}
	raw := string(v.Call.Of(e.Record.Raw))
	if v.Kind == session.CallAsked {
		n := len(c.list)
		c.list = append(c.list, pageCall{id: unescape([]byte(raw)), name: unescape(v.Name.Of(e.Record.Raw)), asked: row + 1, turn: v.Turn, step: v.Step})
		c.open[raw] = append(c.open[raw], n)
		c.last[raw] = n
		return n
	}
	n := -1
	if open := c.open[raw]; len(open) > 0 {
		n = open[len(open)-1]
		if v.Kind == session.CallResult {
			c.open[raw] = open[:len(open)-1]
		}
	} else if before, ok := c.last[raw]; ok {
		n = before
		c.list[n].again = c.list[n].again || v.Kind == session.CallResult
	} else {
		n = len(c.list)
		c.list = append(c.list, pageCall{id: unescape([]byte(raw)), name: unescape(v.Name.Of(e.Record.Raw)), orphan: true, turn: v.Turn, step: v.Step})
		c.last[raw] = n
	}
	x := &c.list[n]
	if x.name == "" {
		x.name = unescape(v.Name.Of(e.Record.Raw))
	}
	switch v.Kind {
	case session.CallStarted:
		if x.started == 0 {
			x.started = row + 1
		}
	case session.CallFinished:
		x.closed = true
		if x.ended == 0 {
			x.ended = row + 1
		}
	case session.CallResult:
		failed, madeUp := fateOf(e, x.id)
		madeUp = madeUp || v.Flags&session.Synthetic != 0
		if !x.closed || x.ended == 0 || x.madeUp && !madeUp {
			x.ended, x.failed, x.madeUp = row+1, failed, madeUp
		}
		x.closed = true
	}
	return n
}

// unseen takes a record that the page does not hold.
func (c *pageCalls) unseen(e *Entry) {
	for i := range e.Batch.Events {
		v := &e.Batch.Events[i]
		if v.Kind != session.CallResult {
			continue
		}
		raw := string(v.Call.Of(e.Record.Raw))
		if open := c.open[raw]; len(open) > 0 {
			x := &c.list[open[len(open)-1]]
			c.open[raw] = open[:len(open)-1]
			x.failed, x.madeUp = fateOf(e, x.id)
			x.ended, x.closed = -1, true
		}
	}
}

// fateOf tells what a record says of a call's end.
func fateOf(e *Entry, id string) (failed, madeUp bool) {
	for i := range e.Messages {
		for k := range e.Messages[i].Blocks {
			b := &e.Messages[i].Blocks[k]
			if b.Kind == format.Result && (b.ID == id || b.ID == "") {
				failed, madeUp = failed || b.Failed, madeUp || b.MadeUp
			}
		}
	}
	return failed, madeUp
}

// fate is what became of a call.
func (c *pageCalls) fate(x *pageCall) int {
	switch {
	case x.orphan:
		return fateOrphan
	case x.closed && x.madeUp:
		return fateSynthetic
	case x.closed && x.failed:
		return fateFailed
	case x.closed:
		return fateFinished
	case c.codes[x.id] == finding.ToolNotStarted:
		return fateNotStarted
	case c.codes[x.id] == finding.ToolOutcomeUnknown, x.started != 0:
		return fateUnknown
	}
	return fateUnanswered
}

// append writes the calls: id, name, rows of the request, the start and the result, turn, step, fate, and whether there is more
// than one result.
func (c *pageCalls) append(b []byte) []byte {
	for i := range c.list {
		x := &c.list[i]
		if i > 0 {
			b = append(b, ",\n"...)
		}
		b = appendPageText(append(b, '['), x.id)
		b = appendPageText(append(b, ','), x.name)
		again := int64(0)
		if x.again {
			again = 1
		}
		for _, v := range []int64{x.asked, x.started, x.ended, int64(x.turn), int64(x.step), int64(c.fate(x)), again} {
			b = strconv.AppendInt(append(b, ','), v, 10)
		}
		b = append(b, ']')
	}
	return b
}
