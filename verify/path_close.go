package verify

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// blank gives ids to calls that have none and to their results, where the two are told.
func (q *pairing) blank(res *Result) {
	for i := range q.Nodes {
		n := int32(i)
		x := &q.Nodes[n]
		if !q.sent[n] || x.Void || x.Kind != session.AssistantMessage {
			continue
		}
		var blank []int32
		for k := x.Legs; k < x.Legs+x.N; k++ {
			if q.CallID(q.Legs[k]) == "" {
				blank = append(blank, k)
			}
		}
		if len(blank) == 0 {
			continue
		}
		f := q.add(finding.EmptyCallID, q.ref(n), "call", "a call has an empty id")
		at, known := q.blanks[n]
		if len(blank) > 1 || !known {
			f.Where = "several"
			continue
		}
		id := "call_" + strings.Trim(string(q.chained.NewID(fmt.Sprintf("%s\x00call\x00%d", res.ID, x.At.N), func([]byte) bool { return false })), `"`)
		f.Repair = "call and result get one same id, made of the session's and of their place"
		f.Patches = append(f.Patches, finding.Patch{At: q.ref(n).Text + int64(at), Ins: []byte(id)})
		if r, ok := q.answered[blank[0]]; ok {
			f.Patches = append(f.Patches, finding.Patch{At: q.ref(r).Text + int64(q.blanks[r]), Ins: []byte(id)})
			continue
		}
		q.newIDs[blank[0]] = id
	}
}

// close judges what is left without result or without call in what is sent, and asks for what ends the log.
func (q *pairing) close(res *Result) {
	c := &format.CloseRequest{SessionID: res.ID, Taken: q.taken}
	tail := q.leaf
	for steps := 0; tail >= 0 && !q.speaks(tail); steps++ {
		if tail = q.Nodes[tail].Up; steps > len(q.Nodes) {
			tail = -1
		}
	}
	way := q.Path(q.leaf)
	edited := map[session.ID]bool{}
	for _, n := range way {
		if q.Nodes[n].Kind == session.Edit {
			edited[q.Borders[n].Prior] = true
		}
	}
	for _, n := range slices.Backward(way) {
		x := &q.Nodes[n]
		if q.sent[n] && x.Kind == session.UserMessage {
			res.Turns++
		}
		if o := q.owner[n]; q.sent[n] && x.Kind == session.CallResult && o >= 0 && !q.sent[o] && edited[q.Nodes[o].ID] && !q.kin(way, o, n) {
			f := q.add(finding.OrphanResult, q.ref(n), "edited", "a result whose call was edited out: the client sends it alone")
			f.CallID = q.CallID(q.result(n))
			f.Repair = "a record is added that edits it out as well"
			c.Unsaid = append(c.Unsaid, bytes.Clone(q.id(n)))
		}
		if q.sent[n] && x.Kind == session.AssistantMessage && !x.Void {
			q.unanswered(n, n == tail, c)
		}
	}
	res.Tail.Calls = c.Calls
	res.Open = len(c.Calls) > 0
	c.Mark = q.natural() != q.leaf && len(c.Calls) == 0 && len(c.Unsaid) == 0
	switch {
	case q.leaf >= 0:
		c.Leaf = bytes.Clone(q.id(q.leaf))
	case q.entries[0].put > 0:
		c.Leaf = []byte("null")
	}
	if c.Mark || len(c.Calls) > 0 || len(c.Unsaid) > 0 {
		res.Close = c
	}
}

// kin tells whether the words that took a call's place on the way still ask for the one of a result.
func (q *pairing) kin(way []int32, o, n int32) bool {
	for _, e := range way {
		if q.Nodes[e].Kind == session.Edit && q.Borders[e].Prior == q.Nodes[o].ID {
			return q.asks(e, q.CallID(q.result(n)))
		}
	}
	return false
}

// unanswered reports the calls of an answer that have no result.
func (q *pairing) unanswered(n int32, tail bool, c *format.CloseRequest) {
	x := &q.Nodes[n]
	for k := x.Legs; k < x.Legs+x.N; k++ {
		g := q.Legs[k]
		if _, done := q.answered[k]; done || g.Kind != session.CallAsked {
			continue
		}
		id := q.CallID(g)
		f := q.add(finding.DanglingCall, q.ref(n), "mid", fmt.Sprintf("call %s has no result", quote(id)))
		f.CallID = id
		f.Never = "repeat it blindly: it may have run"
		f.Repair = "nothing: the client answers it by itself, and a result at the end would stand too far away"
		if !tail {
			continue
		}
		f.Where = "tail"
		f.Repair = "a result is added that says whether the call had started"
		if made, ok := q.newIDs[k]; ok {
			id = made
		}
		c.Calls = append(c.Calls, session.Call{ID: id, Name: q.CallName(g), Index: len(c.Calls), Asked: q.ref(n), StartSeq: -1, AskSeq: -1})
	}
}
