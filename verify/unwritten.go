package verify

import (
	"slices"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/session"
)

// unwritten notes where an answer was awaited that is not in the log, at its end or in front of an answer that
// the client made up on the next start: its tools may have run.
func (t *tree) unwritten(res *Result, sent []int32) {
	for i, n := range sent {
		x := &t.Nodes[n]
		if x.Kind != session.UserMessage || x.Idle || slices.ContainsFunc(t.LegsOf(n), func(g session.Leg) bool { return g.Flags&session.Synthetic != 0 }) {
			continue // behind a made-up result nothing was awaited
		}
		what := "a prompt"
		if t.results(n) {
			what = "a result"
		}
		switch {
		case i == len(sent)-1 && !res.Open:
			t.add(finding.MayHaveRun, t.ref(n), "tail", "the log ends with "+what+": while the answer to it was received, tools may have run")
		case i < len(sent)-1 && t.Nodes[sent[i+1]].MadeUp && !t.Nodes[sent[i+1]].Void:
			t.add(finding.MayHaveRun, t.ref(n), "mid", "the answer to "+what+" was never written: while it was received, tools may have run")
		}
	}
}
