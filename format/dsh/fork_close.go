package dsh

import (
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
)

// forked is what version 4 calls the ends that a branch puts behind its inherited part. The words are ours: readers ask for
// the form of the id only.
var forked = cause{
	word:       "forked",
	notStarted: "This branch of the session begins before the tool call was recorded as started. Ask for it again if it is still needed (closed by sessfix).",
	unknown: "This branch of the session begins after the tool call was recorded as started, and before its result (closed by sessfix). " +
		finding.LookFirst,
}

// closers end what the cut leaves open, behind the mark. Up to version 3 there is no word for a cut, and what is open is left
// to be ended like any other turn that a session's end left open.
func (b *branch) closers(e *border) []format.Closing {
	if !e.open || b.dialect.version < 4 {
		return nil
	}
	return b.dialect.close(format.CloseRequest{Calls: e.calls, Turn: e.turn, Step: e.step, NextSeq: e.next, Time: e.time}, forked)
}
