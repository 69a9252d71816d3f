package export

import (
	"slices"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// line is a log of which the order is that of the talk.
type line struct {
	list      bool
	prompts   []int64 // records with which a user's turn begins
	lead      []int64 // the first message that nobody has answered yet, and the user's last one of them, -1 = none
	compacted []int64 // records that stand for all in front of them
	back      []stretch
	replaced  map[int64]bool // numbers of records that others replaced
}

// stretch is a range of records, the last one not included.
type stretch struct{ first, behind int64 }

// add takes the next record.
func (l *line) add(n int64, r *session.Record, b *format.Batch) {
	for _, seq := range b.Replaced {
		l.replaced[seq] = true
	}
	for i := range b.Events {
		switch e := &b.Events[i]; e.Kind {
		case session.SystemMessage, session.UserMessage:
			if len(l.lead) == 0 {
				l.lead = append(l.lead, n, -1)
			}
			if e.Kind == session.UserMessage {
				l.lead[1] = n
			}
		case session.Prompt:
			l.prompt(n)
		case session.CompactionEnd:
			l.lead = l.lead[:0]
			if l.list {
				l.compacted = append(l.compacted, n)
			}
		case session.Rollback:
			l.rollback(n, int(e.Turn))
		default:
			if e.Kind.Talk() {
				l.lead = l.lead[:0]
			}
		}
	}
}

// prompt notes where a user's turn begins: with the words that stand in front of the record that says so, and what the client told the
// model in front of them. What it told in front of the first turn belongs to none.
func (l *line) prompt(n int64) {
	from := n
	switch {
	case len(l.lead) == 0:
	case len(l.prompts) > 0:
		from = l.lead[0]
	case l.lead[1] >= 0:
		from = l.lead[1]
	}
	l.prompts, l.lead = append(l.prompts, from), l.lead[:0]
}

// rollback takes the last prompts back.
func (l *line) rollback(n int64, prompts int) {
	if prompts <= 0 || len(l.prompts) == 0 {
		return
	}
	left := max(len(l.prompts)-prompts, 0)
	from := l.prompts[left]
	l.prompts = l.prompts[:left]
	for len(l.compacted) > 0 && l.compacted[len(l.compacted)-1] >= from {
		l.compacted = l.compacted[:len(l.compacted)-1]
	}
	for len(l.back) > 0 && l.back[len(l.back)-1].first >= from {
		l.back = l.back[:len(l.back)-1]
	}
	l.back = append(l.back, stretch{from, n})
}

// state is what became of record n.
func (l *line) state(n int64, b *format.Batch) State {
	if i, ok := slices.BinarySearchFunc(l.back, n, func(s stretch, n int64) int {
		switch {
		case s.behind <= n:
			return -1
		case s.first > n:
			return 1
		}
		return 0
	}); ok && l.back[i].first <= n {
		return RolledBack
	}
	if len(l.compacted) > 0 && n < l.compacted[len(l.compacted)-1] {
		return Compacted
	}
	if b.Numbered && len(l.replaced) > 0 {
		for seq := b.Seq; seq < b.Seq+max(b.Count, 1); seq++ {
			if !l.replaced[seq] {
				return Sent
			}
		}
		return Compacted
	}
	return Sent
}
