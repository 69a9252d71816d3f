package provider

import (
	"fmt"
	"slices"
)

// Rules of lists of messages. Those of single messages are rules of Check.
const (
	First      Rule = "first"      // the first message is the user's
	Empty      Rule = "empty"      // a message must say something
	Unanswered Rule = "unanswered" // each call has its result directly behind it
	Orphan     Rule = "orphan"     // a result answers a call directly in front of it
	Twice      Rule = "twice"      // and is the only one that does
	IDReused   Rule = "id-reused"  // no two calls have one id
	Alternate  Rule = "alternate"  // the user and the assistant take turns
	Misplaced  Rule = "misplaced"  // calls are the assistant's, results are the user's

	TooLong Rule = "too-long" // an id or name is longer than the provider takes

)

// List judges the messages of a request one behind the other. It keeps the ids of all calls.
type List struct {
	// MaxID and MaxName bound ids and names, in bytes; 0 = nothing does.
	MaxID, MaxName int
	// Turns: the user and the assistant must take turns, and the first message is the user's.
	Turns bool

	n    int
	last Role
	seen map[string]bool
	open []string
	done map[string]bool
}

// Message judges the next one. Where a provider has a role of its own for results, those of one answer are given together, as one
// message of the user.
func (l *List) Message(out []Problem, role Role, blocks []Block) []Problem {
	add := func(rule Rule, format string, args ...any) {
		out = append(out, Problem{rule, fmt.Sprintf("message %d: ", l.n) + fmt.Sprintf(format, args...)})
	}
	if l.seen == nil {
		l.seen, l.done = map[string]bool{}, map[string]bool{}
	}
	if l.Turns && l.n == 0 && role != User {
		add(First, "the first one is not the user's")
	}
	if l.Turns && l.n > 0 && role == l.last {
		add(Alternate, "two of one role stand behind each other")
	}
	if len(blocks) == 0 {
		add(Empty, "it says nothing")
	}
	results := 0
	clear(l.done)
	for i := range blocks {
		b := &blocks[i]
		if l.MaxID > 0 && len(b.ID) > l.MaxID || l.MaxName > 0 && len(b.Name) > l.MaxName {
			add(TooLong, "the id or name of call %s is too long", short(b.ID))
		}
		switch {
		case b.Kind == Call && role != Assistant, b.Kind == Result && role != User:
			add(Misplaced, "a call or a result of the wrong side")
		case b.Kind == Result:
			results++
			id := string(b.ID)
			if l.done[id] {
				add(Twice, "call %s is answered twice", short(b.ID))
			} else if !slices.Contains(l.open, id) {
				add(Orphan, "a result of call %s, which is not directly in front of it", short(b.ID))
			}
			l.done[id] = true
		}
	}
	for _, id := range l.open {
		if !l.done[id] {
			add(Unanswered, "call %s has no result directly behind it", short([]byte(id)))
		}
	}
	l.open = l.open[:0]
	for i := range blocks {
		if b := &blocks[i]; b.Kind == Call && role == Assistant {
			id := string(b.ID)
			if l.seen[id] {
				add(IDReused, "the id %s stands for two calls", short(b.ID))
			}
			l.seen[id] = true
			l.open = append(l.open, id)
		}
	}
	l.n++
	l.last = role
	return Check(out, role, blocks)
}

// End judges the end of the list.
func (l *List) End(out []Problem) []Problem {
	for _, id := range l.open {
		out = append(out, Problem{Unanswered, fmt.Sprintf("message %d: call %s has no result", l.n-1, short([]byte(id)))})
	}
	return out
}
