package grok

import (
	"bytes"
	"io/fs"
	"strconv"
	"unicode/utf8"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// updates decodes what the user was shown: prompts, answers, calls and ends of turns. The last turn may be open; of those in front
// of it only calls without end matter.
type updates struct {
	prompts
	dir   fs.FS
	f     fields
	id    string // the session's
	time  string // of the last record, as written
	stamp int64  // the highest
	high  int64  // the highest number of an event
	ends  int    // turns that ended

	hostly   bool  // the turn began without a prompt
	open     bool  // a turn is open
	last     int64 // where the last record ends
	began    session.Ref
	prompt   string // the id that the turn's updates bear
	order    []string
	calls    map[string]*shownCall
	lastTurn int64 // where the last one begins
	behind   []unended
	borders  []checkpointAt
	named    map[string]bool // files of compactions, of those too that were taken back
	rewinds  []rewind        // that are not there
	wounds   []wound

	seen      map[uint64]int // records of late, by their bytes
	ring      [twins]uint64
	records   int
	bares     int
	firstBare session.Ref
	topmost   session.Ref // an event with a number that cannot be counted on from

	closings []format.Closing
}

// unended is a call without end of a turn that ended.
type unended struct {
	id, prompt string
	turn       int
	ref        session.Ref
	end        int64 // where its turn ends
	glued      bool  // that has no line of its own
	time       string
	stamp      int64
	aborted    bool // the user ended the turn
	cut        bool // the client ended it after a crash
}

// shownCall is a call of the last turn.
type shownCall struct {
	ref     session.Ref
	ended   bool
	pending bool // it was said to wait, and nothing since
}

// Decode tells what an update means.
func (d *updates) Decode(r *session.Record, b *format.Batch) {
	f := &d.f
	f.set(r.Raw, r.Caps)
	b.Unnumbered = true
	b.Events = append(b.Events, session.Event{Kind: session.Note})
	halves(r, b)
	if d.repeated(r, b) {
		return
	}
	if !f.Has(kParams) {
		d.bare(r)
	}
	if id := f.eventOf(); id != (session.ID{}) {
		b.Linked, b.Link = true, session.Link{ID: id} // for those that hold a fork against its parent
	}
	keep(&d.id, f.Str(kSession))
	if f.Kind(kTime) == '0' {
		keep(&d.time, f.Value(kTime))
	}
	if n, err := strconv.ParseInt(string(f.Value(kStamp)), 10, 64); err == nil {
		d.stamp = max(d.stamp, n)
	}
	if n, ok := counter(f.Str(kEvent)); ok {
		d.high = max(d.high, n)
	} else if bytes.HasSuffix(f.Str(kEvent), topmost) {
		d.topmost = r.Ref()
	}
	defer func() { d.last = r.TextEnd() }()
	word := string(f.Str(kUpdate))
	before := d.turns
	switch s, to := d.take(f.Str(kUpdate), f); s {
	case begins:
		d.user(r, before)
	case rewinds:
		d.begin(session.Ref{}, false)
		if to < before {
			d.rewind(to)
		}
	}
	if word == "user_message_chunk" {
		return
	}
	keep(&d.prompt, f.Str(kPromptID))
	if !d.open && (word == "tool_call" || word == "agent_message_chunk") {
		d.begin(r.Ref(), true) // the prompt is lost, or it is a turn of the host
		d.hostly = true
	}
	switch word {
	case "tool_call":
		d.call(r).pending = string(f.Str(kStatus)) == "pending"
	case "tool_call_update":
		d.call(r).pending = string(f.Str(kStatus)) == "pending"
		if s := string(f.Str(kStatus)); s == "completed" || s == "failed" {
			d.call(r).ended = true
		}
	case "turn_completed":
		d.ends++
		stop := string(f.Str(kStop))
		d.leave(r.Text, d.turns-1, stop == "cancelled", stop == interrupted)
		d.begin(session.Ref{}, false)
	case "compaction_checkpoint":
		d.border(string(f.Str(kFile)), r.Ref())
	}
}

// keep takes a value over, without making a string of it each time that it comes.
func keep(to *string, b []byte) {
	if len(b) > 0 && string(b) != *to && plain(b) {
		*to = string(b)
	}
}

// plain tells bytes that may stand in a record as they are.
func plain(b []byte) bool {
	return utf8.Valid(b) && bytes.IndexFunc(b, func(c rune) bool { return c < ' ' }) < 0
}

// Turns counts those that were not taken back.
func (d *updates) Turns() int64 { return int64(d.turns) }

// maxUnended bounds what is kept of a log in which next to nothing fits.
const maxUnended = 10000

// leave notes what a turn leaves behind that ends here.
func (d *updates) leave(end int64, turn int, aborted, cut bool) {
	if !d.open {
		return
	}
	for _, id := range d.order {
		if c := d.calls[id]; !c.ended && len(d.behind) < maxUnended {
			d.behind = append(d.behind, unended{id: id, prompt: d.prompt, turn: turn, ref: c.ref, end: end, glued: end == d.last, time: d.time, stamp: d.stamp, aborted: aborted, cut: cut})
		}
	}
}

// user begins a turn, behind so many.
func (d *updates) user(r *session.Record, before int) {
	d.leave(r.Text, before-1, true, false)
	if n, err := strconv.Atoi(d.number); err == nil && n >= 0 && n < before {
		d.rewinds = append(d.rewinds, rewind{to: n, time: d.time, stamp: d.stamp, at: r.Ref(), low: d.lastTurn})
	}
	d.lastTurn = r.Text
	d.begin(r.Ref(), true)
}

func (d *updates) begin(at session.Ref, open bool) {
	d.open, d.began, d.prompt, d.order, d.hostly = open, at, "", d.order[:0], false
	clear(d.calls)
}

func (d *updates) call(r *session.Record) *shownCall {
	c := d.calls[string(d.f.Str(kCallOf))]
	if c == nil {
		id := string(d.f.Str(kCallOf))
		c = &shownCall{ref: r.Ref()}
		d.calls[id] = c
		d.order = append(d.order, id)
	}
	return c
}

// safest is the highest number that the client counts on from.
const safest = 1<<53 - 1

// counter is the number at the end of an event's id.
func counter(id []byte) (int64, bool) {
	i := bytes.LastIndexByte(id, '-')
	n, err := strconv.ParseInt(string(id[i+1:]), 10, 64)
	return n, err == nil && n < safest
}

var _ format.Settler = (*updates)(nil)
