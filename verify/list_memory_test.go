package verify

import (
	"fmt"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// event makes a record of one event about a call.
func event(kind session.Kind, id string) (*session.Record, *format.Batch) {
	e := session.Event{Kind: kind, Call: session.Sub{Len: uint32(len(id))}, Class: 1}
	r := &session.Record{Raw: []byte(id), Span: session.Span{Len: int64(len(id)), TextLen: int64(len(id))}}
	return r, &format.Batch{Events: []session.Event{e}}
}

// Of calls that are answered no more is kept than is needed to know a second output.
func TestListForgets(t *testing.T) {
	l := newList(format.Rules{})
	most := 0
	for i := range 100_000 {
		id := fmt.Sprint("call_", i)
		l.record(event(session.CallAsked, id))
		l.record(event(session.CallResult, id))
		most = max(most, len(l.open))
	}
	if most > 100 {
		t.Errorf("%d calls are kept for open", most)
	}
	if l.sweep(); len(l.open) > 0 || len(l.findings) > 0 {
		t.Errorf("%d calls are open, %d findings", len(l.open), len(l.findings))
	}
	for _, c := range l.calls {
		if c.over != nil {
			t.Fatalf("what an open call needs is kept: %+v", c)
		}
	}
	// With some calls open all the time the others are forgotten as well.
	for i := range 100 {
		l.record(event(session.CallAsked, fmt.Sprint("open_", i)))
	}
	for i := range 10_000 {
		id := fmt.Sprint("more_", i)
		l.record(event(session.CallAsked, id))
		l.record(event(session.CallResult, id))
		most = max(most, len(l.open))
	}
	if l.sweep(); most > 500 || len(l.open) != 100 {
		t.Errorf("%d calls are kept for open, at the end %d", most, len(l.open))
	}
	// A compaction takes all of them out.
	l.record(event(session.CompactionEnd, ""))
	if len(l.calls) > 0 || len(l.open) > 0 {
		t.Errorf("%d calls are kept, %d open", len(l.calls), len(l.open))
	}
}

// Records that hold no call cost no memory.
func TestListAllocates(t *testing.T) {
	l := newList(format.Rules{})
	l.record(event(session.CallAsked, "call"))
	for _, kind := range []session.Kind{
		session.Note, session.Setting, session.Prompt, session.UserMessage, session.AssistantMessage, session.SystemMessage,
		session.Delta, session.TurnEnd, session.CallFinished, session.Header, session.Rollback,
	} {
		r, b := event(kind, "another")
		if n := testing.AllocsPerRun(100, func() { l.record(r, b) }); n > 0 {
			t.Errorf("kind %d costs %v pieces of memory", kind, n)
		}
	}
}
