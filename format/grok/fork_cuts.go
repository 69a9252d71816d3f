package grok

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// Cuts are one place behind each record of the log. A session is cut between its turns, and only on the branch that is live: there the
// history can be cut as well.
func (Format) Cuts(q format.ForkRequest) ([]format.Cut, error) {
	b, err := readBranch(q.Dir)
	if err != nil {
		return nil, err
	}
	b.holdAgainst(readStem(q.Dir))
	return b.cuts, nil
}

// stretch are records of the log, by their ordinals, both ends included.
type stretch struct{ from, to int64 }

// branch is what is live of a log.
type branch struct {
	dir   fs.FS
	cuts  []format.Cut
	taken []stretch // back by rewinds, in their order, with the rewinds themselves
	turns int       // that are live
	ends  int       // of turns

	begins []int64 // ordinals of the records with which live turns begin
	open   bool    // a turn
	hostly bool    // it is none of the counted ones
	calls  []string
	hurt   []hurt
	told   told
}

// hurt are calls without an end of a turn that has one.
type hurt struct {
	turn  int
	calls []string
}

func readBranch(dir fs.FS) (*branch, error) {
	b := &branch{dir: dir}
	var f fields
	var p prompts
	b.told = readHistory(dir)
	ok := records(dir, updatesName, 0, -1, keys[:], func(r *session.Record) {
		f.set(r.Raw, r.Caps)
		kind := f.Str(kUpdate)
		if len(kind) == 0 {
			kind = f.Str(kBareUpdate)
		}
		before, n := p.turns, int64(len(b.cuts))
		s, to := p.take(kind, &f)
		c := format.Cut{Ref: r.Ref(), Seq: -1, ID: string(f.Str(kEvent)), Kind: string(kind)}
		switch s {
		case begins:
			b.border(false)
			b.begins = append(b.begins, n)
			b.open, b.hostly = true, false
		case command:
			b.aside()
		case rewinds:
			from := n
			if to < before {
				b.border(false)
				from = b.begins[to]
				b.back(to)
			}
			b.drop(stretch{from, n})
			for i := from; i < n; i++ {
				c := &b.cuts[i]
				c.Turn, c.Open, c.Calls, c.Closable = 0, "it was taken back: what stands there is on no live branch", nil, false
			}
			c.Open = "it takes turns back: the place in front of them is the same"
			b.cuts = append(b.cuts, c)
			return
		default:
			b.update(string(kind), &f)
			if !f.Has(kParams) {
				b.calls = nil // as the log was written first, which no client shows
			}
		}
		if string(kind) == "user_message_chunk" && f.True(kHost) {
			b.aside()
		}
		c.Turn = int64(p.turns)
		switch {
		case p.turns == 0:
			c.Open = "the child would be empty"
		case b.open:
			c.Open = fmt.Sprintf("turn %d is open there", p.turns)
		}
		b.cuts = append(b.cuts, c)
	})
	if !ok {
		return nil, format.Refuse(-1, "its log cannot be read")
	}
	b.turns = p.turns
	if e := readEvents(dir); e.known && e.open {
		b.ends, b.hostly = b.ends+1, false // the log may not tell that the last turn is open
	}
	b.border(true)
	return b, nil
}

// update takes an update in that is no prompt.
func (b *branch) update(kind string, f *fields) {
	call := string(f.Str(kCallOf))
	switch kind {
	case "agent_message_chunk":
		b.aside()
	case "tool_call":
		b.aside()
		b.calls = append(b.calls, call)
	case "tool_call_update":
		if s := string(f.Str(kStatus)); s == "completed" || s == "failed" {
			b.answered(call)
		}
	case "turn_completed":
		if string(f.Str(kStop)) == "cancelled" {
			b.aborted()
		}
		b.ends++
		b.open = false
		b.wound()
	case "compaction_checkpoint":
		// The history in front of it is the one behind it already.
		for i := len(b.cuts) - 1; i >= 0 && !b.open && b.cuts[i].Open == ""; i-- {
			b.cuts[i].Open = "a compaction follows there, which the history knows already: the place behind it is the same"
		}
	}
}

func (b *branch) answered(call string) {
	b.calls = slices.DeleteFunc(slices.Clone(b.calls), func(c string) bool { return c == call })
}

// wound notes what the turn that ends leaves open.
func (b *branch) wound() {
	if len(b.calls) > 0 && len(b.begins) > 0 {
		b.hurt = append(b.hurt, hurt{len(b.begins), b.calls})
	}
	b.calls = nil
}

// aside begins a turn that is none of the counted ones, where none is open: of the host, or of a command.
func (b *branch) aside() {
	if !b.open {
		b.open, b.hostly = true, true
	}
}

// aborted leaves calls out that lawfully have no end: those that a person stopped, and that gave nothing.
func (b *branch) aborted() {
	for _, id := range slices.Clone(b.calls) {
		if r, ok := b.told.result(id); !ok || invented(within(r)) {
			b.answered(id)
		}
	}
}

// border is a place between two turns, or the end.
func (b *branch) border(end bool) {
	c := b.last()
	switch {
	case c == nil || c.Turn == 0:
		b.calls = nil
	case !b.open:
	case len(b.calls) == 0 && (b.hostly || b.ends == 0):
		c.Open = "" // no release writes their end, or that one wrote none
	default:
		c.Open, c.Closable, c.Calls = fmt.Sprintf("turn %d has no end", c.Turn), true, b.calls
		if !end {
			b.aborted()
		}
	}
	b.open = false
	b.wound()
}

// last is the place behind the last record that is live.
func (b *branch) last() *format.Cut {
	n := int64(len(b.cuts)) - 1
	for i := len(b.taken) - 1; i >= 0 && b.taken[i].to == n; i-- {
		n = b.taken[i].from - 1
	}
	if n < 0 {
		return nil
	}
	return &b.cuts[n]
}

// back takes turns back.
func (b *branch) back(to int) {
	b.begins = b.begins[:to]
	for len(b.hurt) > 0 && b.hurt[len(b.hurt)-1].turn > to {
		b.hurt = b.hurt[:len(b.hurt)-1]
	}
	b.open, b.calls = false, nil
}

// drop notes records that are not live, with those in them that were not before.
func (b *branch) drop(s stretch) {
	for n := len(b.taken); n > 0 && b.taken[n-1].from >= s.from; n-- {
		b.taken = b.taken[:n-1]
	}
	if n := len(b.taken); n > 0 && b.taken[n-1].to+1 == s.from {
		b.taken[n-1].to = s.to
		return
	}
	b.taken = append(b.taken, s)
}

// holdAgainst leaves only places at which the history can be cut as well, with an answer to each call in front of it.
func (b *branch) holdAgainst(s *stem) {
	why := map[int64]format.Cut{}
	for i := range b.cuts {
		c := &b.cuts[i]
		if c.Open != "" && !c.Closable {
			continue
		}
		x, ok := why[c.Turn]
		if !ok {
			x = s.judge(int(c.Turn), b.turns)
			for _, h := range b.hurt {
				if x.Open == "" && int64(h.turn) <= c.Turn {
					x.Open, x.Calls, x.Closable = unanswered(h.calls), h.calls, true
				}
			}
			why[c.Turn] = x
		}
		switch {
		case x.Open == "":
		case c.Open == "" || !x.Closable:
			c.Open, c.Calls, c.Closable = x.Open, x.Calls, x.Closable
		}
	}
}

// unanswered says that calls are.
func unanswered(calls []string) string {
	if len(calls) == 1 {
		return fmt.Sprintf("call %s has no result", calls[0])
	}
	return fmt.Sprintf("calls %s have no result", strings.Join(calls, ", "))
}

var _ format.Cutter = Format{}
