package verify

import (
	"fmt"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/session"
)

// share says, in the first finding about the chain, how much of the talk the client reaches that takes the links as they are.
func (p *path) share() {
	talk := func(n int32) bool {
		k := p.Nodes[n].Kind
		return k == session.UserMessage || k == session.AssistantMessage || k == session.CallResult
	}
	for i := range p.findings {
		f := &p.findings[i]
		switch f.Code {
		case finding.ParentMissing, finding.ParentCycle, finding.ChainCut, finding.WrongLeaf, finding.IDConflict:
		default:
			continue
		}
		now := 0
		for _, n := range p.Path(p.leaf) {
			if talk(n) {
				now++
			}
		}
		if before := p.reached(talk); before < now {
			f.Message += fmt.Sprintf("; going up from where the log ends the client reaches %d of %d messages", before, now)
		}
		return
	}
}

// reached counts the talk on the way up from the last record, as the client goes that knows but the last record of an id.
func (p *path) reached(talk func(int32) bool) int {
	last := map[session.ID]int32{}
	for i := range p.entries {
		if id := p.entries[i].written; id != (session.ID{}) {
			last[id] = int32(i)
		}
	}
	n, count := p.newestRecord(), 0
	if k := len(p.repeats); k > 0 && p.repeats[k-1].ref.Text > p.last() {
		n = p.repeats[k-1].node
	}
	for steps := 0; n >= 0 && steps <= len(p.Nodes); steps++ {
		if talk(n) {
			count++
		}
		up, ok := last[p.entries[n].named]
		if !ok {
			break
		}
		n = up
	}
	return count
}
