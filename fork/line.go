package fork

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// line finds the places of a log of which the order is that of the talk: behind each of its records, where no turn, call or
// compaction is open.
func line(s *source) (*walk, error) {
	var (
		w     = &walk{}
		open  bool // a turn
		turns int64
		calls []string
		mid   bool // in a compaction
		ids   = map[string]int64{}
		spans []span // of numbers, where a record has several
		lines []int64
	)
	err := s.each(func(r *session.Record, b *format.Batch) error {
		lines = append(lines, r.Logical)
		c := format.Cut{Ref: r.Ref(), Seq: -1}
		if b.Numbered {
			c.Seq = b.Seq + max(b.Count, 1) - 1
			spans = append(spans, span{b.Seq, c.Seq, r.N})
		}
		for i := range b.Events {
			e := &b.Events[i]
			if c.Kind == "" {
				c.Kind = word(e.Kind)
			}
			if id := string(e.ID.Of(r.Raw)); e.ID.Len > 0 && e.Kind != session.ApprovalAsked {
				ids[id] = r.N
				c.ID = id
			}
			switch e.Kind {
			case session.TurnStart:
				open, calls = true, calls[:0]
				turns++
			case session.TurnEnd:
				open, calls = false, calls[:0]
			case session.CallAsked:
				calls = append(calls, string(e.Call.Of(r.Raw)))
			case session.CallResult:
				id := string(e.Call.Of(r.Raw))
				calls = slices.DeleteFunc(calls, func(c string) bool { return c == id })
			case session.CompactionStart:
				mid = true
			case session.CompactionEnd, session.SeedEnd:
				mid = false
			}
		}
		c.Turn = turns
		switch {
		case b.Header != nil && !b.Numbered:
			c.Kind, c.Open = "header", "the child would be empty"
		case len(calls) > 0:
			c.Calls, c.Closable = slices.Clone(calls), true
			c.Open = fmt.Sprintf("%s unanswered there", calledOpen(calls))
		case mid:
			c.Open = "a compaction is open there"
		case open:
			c.Closable = true
			c.Open = fmt.Sprintf("turn %d is open there", turns)
		}
		w.cuts = append(w.cuts, c)
		return nil
	})
	w.at = func(n int64, before bool) *format.Cut {
		if before {
			n--
		}
		if n < 0 || n >= int64(len(w.cuts)) {
			return nil
		}
		return &w.cuts[n]
	}
	w.take = func(c *format.Cut) func(n int64) bool { return func(n int64) bool { return n <= c.N } }
	w.find = func(p Place) int64 {
		switch p.By {
		case Seq:
			for _, x := range spans {
				if x.first <= p.N && p.N <= x.last {
					if p.N != x.last && !p.Before || p.N != x.first && p.Before {
						return inside
					}
					return x.n
				}
			}
		case Line:
			if n, ok := slices.BinarySearch(lines, p.N); ok {
				return int64(n)
			}
		case ID:
			if n, ok := ids[p.ID]; ok {
				return n
			}
			return s.named(p.ID)
		}
		return -1
	}
	return w, err
}

// span is the range of numbers of one record.
type span struct{ first, last, n int64 }

// inside stands for a place in the middle of a record.
const inside = -2

// named is the first record that says an id as one of its own, -1 where none does.
func (s *source) named(id string) int64 {
	found := int64(-1)
	want := []byte(`"id":"` + id + `"`)
	s.each(func(r *session.Record, _ *format.Batch) error {
		if found < 0 && bytes.Contains(r.Raw, want) {
			found = r.N
		}
		return nil
	})
	return found
}

// calledOpen names calls, the first few of many.
func calledOpen(calls []string) string {
	if len(calls) > 3 {
		return fmt.Sprintf("%s and %d more calls are", strings.Join(calls[:3], ", "), len(calls)-3)
	}
	if len(calls) == 1 {
		return calls[0] + " is"
	}
	return strings.Join(calls, ", ") + " are"
}

// word is a kind of event as lists show it.
func word(k session.Kind) string {
	switch k {
	case session.Header:
		return "header"
	case session.SeedEnd:
		return "seed end"
	case session.TurnStart:
		return "turn start"
	case session.TurnEnd:
		return "turn end"
	case session.StepStart:
		return "step start"
	case session.StepEnd:
		return "step end"
	case session.SystemMessage:
		return "system message"
	case session.UserMessage, session.Prompt:
		return "user message"
	case session.AssistantMessage, session.Delta, session.AttemptEnd:
		return "answer"
	case session.CallAsked, session.CallStarted:
		return "call"
	case session.CallResult, session.CallFinished:
		return "result"
	case session.CompactionStart, session.Summary, session.CompactionEnd:
		return "compaction"
	}
	return "note"
}
