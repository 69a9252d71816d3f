package verify

import (
	"slices"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/session"
)

// Change is a record that mends a tree: one told anew, or a new one.
type Change struct {
	Rec    session.Ref // the record told anew, or that asks, or to go on from
	Parent session.Ref // Len > 0: the record to hang it under
	Root   bool        // it hangs under none
	Truths []Truth     // true results for what it made up
	Last   session.Ref // Len > 0: the record that named the leaf before
	Mends  []Mend
	Call   session.Call
	Kind   ChangeKind
	Where  string       // of an answer: tail, or mid where more follows its call
	Code   finding.Code // why it is hung elsewhere: the finding of this code
	Of     int64        // about the record that begins here
	// Child, with Len > 0, names as its parent an id that is lost, and the new record takes it.
	Child session.Ref
}

// Truth is where the true result of a call stands.
type Truth struct {
	Rec  session.Ref
	Call string
}

// Mend is what else is to be changed in a record, and the finding that asks for it.
type Mend struct {
	Code finding.Code
	Of   int64 // where the record of the finding begins
	Word string
}

// ChangeKind says what a change adds.
type ChangeKind uint8

// The kinds of change, in the order in which they are added.
const (
	Retell ChangeKind = iota
	Bridge
	Answer
	Point
)

// retell is the change that tells a node anew; there is one for each.
func (t *tree) retell(n int32) *Change {
	if i, ok := t.retold[n]; ok {
		return &t.changes[i]
	}
	t.retold[n] = len(t.changes)
	t.changes = append(t.changes, Change{Kind: Retell, Rec: t.ref(n)})
	return &t.changes[len(t.changes)-1]
}

// mend asks for a change in a record.
func (t *tree) mend(n int32, f *finding.Finding, word string) {
	c := t.retell(n)
	if m := (Mend{f.Code, f.Record.Text, word}); !slices.Contains(c.Mends, m) {
		c.Mends = append(c.Mends, m)
	}
}

// sorted are the changes in the order in which they are added: by kind, then by place.
func (t *tree) sorted() []Change {
	slices.SortStableFunc(t.changes, func(a, b Change) int {
		if a.Kind != b.Kind {
			return int(a.Kind) - int(b.Kind)
		}
		switch {
		case a.Rec.Text < b.Rec.Text:
			return -1
		case a.Rec.Text > b.Rec.Text:
			return 1
		}
		return a.Call.Index - b.Call.Index
	})
	return t.changes
}
