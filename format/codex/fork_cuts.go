package codex

import (
	"fmt"
	"slices"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// Cuts are the places behind each record. The client forks behind the end of a turn, and so is done here; rollouts of
// releases that recorded no turns are cut in front of what a person says next, and at their end.
func (Format) Cuts(q format.ForkRequest) ([]format.Cut, error) {
	pieces, err := history(q)
	if err != nil {
		return nil, err
	}
	c := &cutter{q: q, answered: map[string]bool{}, loose: q.Dialect.Version() != paginated}
	if err := c.answers(); err != nil {
		return nil, err
	}
	var cuts []format.Cut
	for _, p := range pieces {
		if err := c.file(p, &cuts); err != nil {
			return nil, err
		}
	}
	if n := len(cuts); n > 0 && c.implied {
		c.end(&cuts[n-1])
	}
	return cuts, nil
}

// cutter goes over a history and knows what is open.
type cutter struct {
	q        format.ForkRequest
	loose    bool // calls of earlier turns that nothing answers are to be closed as well
	turns    int64
	turn     string
	open     bool // a turn of which the start is on record
	implied  bool // a turn is open that no record began
	heard    bool // a person's words are on record in the form by which the client lists a thread
	calls    []openCall
	later    int             // of them, how many a record further on answers
	answered map[string]bool // calls that a record answers
}

// maxNamed bounds how many open calls of a place are named.
const maxNamed = 20

type openCall struct {
	key, name string
}

// keyOf tells calls of different classes apart.
func keyOf(e *session.Event, raw []byte) string {
	return string(rune('0'+e.Class)) + string(e.Call.Of(raw))
}

// answers notes which calls are answered.
func (c *cutter) answers() error {
	return c.decoded(own(c.q), func(r *session.Record, b *format.Batch) {
		for i := range b.Events {
			if e := &b.Events[i]; e.Kind == session.CallResult && e.Flags&session.Inherited == 0 {
				c.answered[keyOf(e, r.Raw)] = true
			}
		}
	})
}

// decoded goes over the records of a piece with what they mean.
func (c *cutter) decoded(p piece, yield func(r *session.Record, b *format.Batch)) error {
	d := c.q.Dialect.NewDecoder(format.Place{Path: p.path, Medium: c.q.Medium})
	var b format.Batch
	return p.each(func(r *session.Record) error {
		b.Reset()
		d.Decode(r, &b)
		yield(r, &b)
		return nil
	})
}

// file goes over a piece. Of what others begin no places are listed.
func (c *cutter) file(p piece, cuts *[]format.Cut) error {
	var f fields
	return c.decoded(p, func(r *session.Record, b *format.Batch) {
		f.set(r.Raw, r.Caps)
		asks := c.asks(b, &f, r.Raw)
		if n := len(*cuts); n > 0 && c.implied && (asks || starts(b)) {
			c.end(&(*cuts)[n-1])
		}
		c.take(b, &f, r.Raw, asks)
		if !p.base {
			*cuts = append(*cuts, c.cut(r, b, &f))
		}
	})
}

func starts(b *format.Batch) bool {
	return slices.ContainsFunc(b.Events, func(e session.Event) bool { return e.Kind == session.TurnStart })
}

// asks tells what a person says from what the client says in a person's name.
func (c *cutter) asks(b *format.Batch, f *fields, raw []byte) bool {
	if len(b.Events) == 0 || b.Events[0].Kind != session.UserMessage {
		return false
	}
	at := 0
	if f.enveloped() {
		at = int(f.At(kPayload).Off)
	}
	list, _ := parts(raw, blank(raw, at))
	text, _ := said(raw, list)
	return !given(text)
}

// take notes what a record opens and ends.
func (c *cutter) take(b *format.Batch, f *fields, raw []byte, asks bool) {
	for i := range b.Events {
		e := &b.Events[i]
		switch e.Kind {
		case session.TurnStart:
			c.open, c.implied, c.turn = true, false, string(e.ID.Of(raw))
			c.turns++
		case session.TurnEnd:
			c.open, c.implied = false, false
		case session.Rollback:
			c.turns = max(0, c.turns-int64(e.Turn))
			c.open, c.implied = false, false
			c.letGo()
		case session.CompactionEnd:
			c.letGo()
		case session.CallAsked:
			o := openCall{keyOf(e, raw), string(e.Call.Of(raw))}
			c.calls = append(c.calls, o)
			if c.answered[o.key] {
				c.later++
			}
			c.implied = c.implied || !c.open && e.Flags&session.Inherited == 0
		case session.CallResult:
			k, n := keyOf(e, raw), len(c.calls)
			c.calls = slices.DeleteFunc(c.calls, func(o openCall) bool { return o.key == k })
			if c.answered[k] {
				c.later -= n - len(c.calls)
			}
		case session.Prompt:
			c.heard = true
		case session.UserMessage:
			if !asks {
				break
			}
			c.heard = c.heard || !f.enveloped()
			if !c.loose {
				c.letGo()
			}
			if !c.open {
				c.implied = true
				c.turns++
			}
		case session.AssistantMessage:
			c.implied = c.implied || !c.open
		}
	}
}

// letGo forgets the open calls: the client no longer waits for them.
func (c *cutter) letGo() { c.calls, c.later = nil, 0 }

// end makes legal a place behind which the next turn begins.
func (c *cutter) end(at *format.Cut) {
	if len(at.Calls) == 0 && c.turns > 0 {
		at.Open, at.Closable = "", false
	}
}

// cut is the place behind a record.
func (c *cutter) cut(r *session.Record, b *format.Batch, f *fields) format.Cut {
	at := format.Cut{Ref: r.Ref(), Seq: -1, Turn: c.turns, Kind: kindOf(f)}
	if b.Numbered {
		at.Seq = b.Seq
	}
	switch at.Kind {
	case "task_complete", "turn_complete", "turn_aborted":
		at.ID = string(f.Str(kTurn))
	default:
		for _, key := range []int{kID, kItemID, kCall, kBareCall} {
			if v := f.Str(key); len(v) > 0 && at.ID == "" {
				at.ID = string(v)
			}
		}
	}
	switch {
	case len(c.calls) > 0:
		at.Closable = c.heard && c.later == 0
		for _, o := range c.calls[:min(len(c.calls), maxNamed)] {
			at.Calls = append(at.Calls, o.name)
		}
		at.Open = fmt.Sprintf("call %.60s has no output there", c.calls[0].name)
		if n := len(c.calls) - 1; n > 0 {
			at.Open = fmt.Sprintf("call %.60s and %d more have no output there", c.calls[0].name, n)
		}
	case c.open:
		at.Closable = c.heard
		at.Open = fmt.Sprintf("turn %d is open there", c.turns)
		if !c.heard {
			at.Open = "nothing is said in front of it"
		}
	case c.turns == 0:
		at.Open = "the child would be empty"
	case c.implied:
		at.Open = fmt.Sprintf("turn %d may go on there", c.turns)
	}
	return at
}

// kindOf is what a record is, in a word of the format.
func kindOf(f *fields) string {
	switch {
	case f.bareHeader():
		return "session_meta"
	case !f.enveloped():
		return string(f.Str(kType))
	case f.Kind(kItemType) == '"':
		return string(f.Str(kItemType))
	case f.Kind(kKind) == '"':
		return string(f.Str(kKind))
	}
	return string(f.Str(kType))
}

var _ format.Cutter = Format{}
