package verify

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// blank gives ids to calls that have none and to their results, where the two are told.
func (q *pairing) blank(res *Result) {
	for _, n := range q.order {
		if !q.asking(n) {
			continue
		}
		var blank []int32
		for k, behind := q.words(n); k < behind; k++ {
			if q.CallID(q.Legs[k]) == "" {
				blank = append(blank, k)
			}
		}
		if len(blank) == 0 {
			continue
		}
		said := q.Legs[blank[0]].Node // the answer, or its edit
		f := q.add(finding.EmptyCallID, q.ref(said), "call", "a call has an empty id")
		at, known := q.blanks[said]
		if len(blank) > 1 || !known {
			f.Where = "several"
			continue
		}
		id := "call_" + strings.Trim(string(q.chained.NewID(fmt.Sprintf("%s\x00call\x00%d", res.ID, q.Nodes[said].At.N), func([]byte) bool { return false })), `"`)
		f.Repair = "call and result get one same id, made of the session's and of their place"
		f.Patches = append(f.Patches, finding.Patch{At: q.ref(said).Text + int64(at), Ins: []byte(id)})
		q.alter(said, q.newest())
		if r, ok := q.answered[blank[0]]; ok {
			q.alter(r, q.newest())
			f.Patches = append(f.Patches, finding.Patch{At: q.ref(r).Text + int64(q.blanks[r]), Ins: []byte(id)})
			continue
		}
		q.newIDs[blank[0]] = id
	}
}

// asking tells an answer whose calls are sent.
func (q *pairing) asking(n int32) bool {
	x := &q.Nodes[n]
	return q.sent(n) && x.Kind == session.AssistantMessage && !x.Void
}

// close judges what is left without result or without call in what is sent, and asks for what ends the log.
func (q *pairing) close(res *Result) {
	c := &format.CloseRequest{SessionID: res.ID, Taken: q.taken}
	for _, n := range q.order {
		switch {
		case q.sent(n) && q.Nodes[n].Kind == session.UserMessage:
			res.Turns++
		case q.unsaid[n] && q.sent(n):
			f := q.add(finding.OrphanResult, q.ref(n), "edited", "a result whose call was edited out: the client sends it alone")
			f.CallID = q.CallID(q.result(n))
			f.Repair = "a record is added that edits it out as well"
			c.Unsaid = append(c.Unsaid, bytes.Clone(q.id(n)))
		case q.asking(n):
			q.unanswered(n, n == q.tail, c)
		}
	}
	res.Tail.Calls, res.Inserts = c.Calls, q.inserts
	res.Open = len(c.Calls) > 0
	c.Mark = q.natural() != q.leaf && len(c.Calls) == 0 && len(c.Unsaid) == 0
	if q.leaf >= 0 {
		c.Leaf = bytes.Clone(q.id(q.leaf))
	} else if q.entries[0].put > 0 {
		c.Leaf = []byte("null")
	}
	for n := q.leaf; n >= 0 && c.Time == 0; n = q.Nodes[n].Up {
		c.Time = q.Nodes[n].Time
	}
	if c.Time != 0 {
		c.Time++
	}
	if c.Mark || len(c.Calls) > 0 || len(c.Unsaid) > 0 {
		res.Close = c
	}
}

// unanswered reports the calls of an answer that have no result.
func (q *pairing) unanswered(n int32, tail bool, c *format.CloseRequest) {
	for k, behind := q.words(n); k < behind; k++ {
		g := q.Legs[k]
		r, done := q.answered[k]
		if done && q.said(r) || g.Kind != session.CallAsked {
			continue
		}
		id := q.CallID(g)
		f := q.add(finding.DanglingCall, q.ref(n), "mid", fmt.Sprintf("call %s has no result", quote(id)))
		f.CallID = id
		f.Never = "repeat it blindly: it may have run"
		f.Repair = "nothing: the client answers it by itself, and a result at the end would stand too far away"
		if q.recaller != nil && q.recaller.Recalls(id) {
			f.Where, f.Repair = "amid", "it is told again, of the log"
			continue
		}
		call := session.Call{ID: id, Name: q.CallName(g), Index: len(c.Calls), Asked: q.ref(n), StartSeq: -1, AskSeq: -1}
		if q.grader != nil && !done {
			call.Code, call.Text = q.grader.Grade(call)
			f.Repair = "a result is added: " + call.Code
			if call.Code == finding.ResultRestored {
				f.Message = fmt.Sprintf("call %s ran to its end, and its result is not in what the model is sent", quote(id))
				f.Never = "repeat it: it ran"
			}
		}
		if made, ok := q.newIDs[k]; ok {
			call.ID = made
		}
		switch {
		case q.grader != nil && !tail && !done:
			f.Where = "amid"
			q.inserts = append(q.inserts, call)
			continue
		case done:
			f.Message = fmt.Sprintf("the result of call %s was edited out", quote(id))
			f.Repair = "nothing: the client answers it by itself"
			continue
		case !tail:
			continue
		}
		f.Where = "tail"
		if q.grader == nil {
			f.Repair = "a result is added that says whether the call had started"
		}
		c.Calls = append(c.Calls, call)
	}
}
