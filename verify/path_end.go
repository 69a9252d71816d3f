package verify

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// end judges the whole log as the client would read it.
func (p *path) end(res *Result) {
	for _, f := range res.Findings {
		if e, _ := finding.Lookup(f.Code); e.Stage == finding.StageBytes && f.Severity != finding.Note && f.Code != finding.NoFinalNewline && f.Code != finding.BOM {
			p.torn = append(p.torn, f.Span)
		}
	}
	if p.chained == nil {
		return
	}
	p.tails(res)
	if len(p.Nodes) > 0 {
		p.names(res)
		p.Grow()
		for i := range p.Nodes {
			p.entries[i].was = p.Nodes[i].Up
		}
		p.links()
		p.own()
		p.tip(res)
		for _, n := range p.husks {
			f := p.add(finding.EventInvalid, p.ref(n), "husk", "the record lacks what its type is about, and the client breaks on it")
			f.Repair = "it goes to quarantine, and what hangs under it is hung higher"
			f.Never = "drop what hangs under it"
			p.drop(n, p.newest())
		}
		p.places()
		p.keepLost()
		p.places()
		q := p.pairs()
		p.places()
		q.blank(res)
		q.kept()
		q.close(res)
		p.share()
		p.parents()
	}
	for _, r := range p.repeats {
		// A copy must not differ from its original.
		if e := p.entries[r.node]; (e.changed || e.dropped) && !slices.ContainsFunc(res.Drops, func(d Drop) bool { return d.Text == r.ref.Text }) {
			p.out(res, r.ref, p.findings[e.why].Code)
		}
	}
	for n, e := range p.entries {
		if e.dropped {
			p.out(res, p.ref(int32(n)), p.findings[e.why].Code)
		}
	}
	res.Findings = append(res.Findings, p.findings...)
}

// out takes a record out of the log.
func (p *path) out(res *Result, r session.Ref, code finding.Code) {
	res.Drops = append(res.Drops, Drop{Span: r.Span, Code: code, Records: 1, Followed: r.Marks&session.Followed != 0})
}

// last is where the last record begins that the client takes for an entry and that is no copy.
func (p *path) last() int64 {
	if n := p.newestRecord(); n >= 0 {
		return p.ref(n).Text
	}
	return -1
}

// newestRecord is the last node that is a record, -1 if there is none.
func (p *path) newestRecord() int32 {
	n := int32(len(p.Nodes)) - 1
	for n >= 0 && p.entries[n].added {
		n--
	}
	return n
}

// tails judges records that are no entries, and copies, by whether the client would go on from them.
func (p *path) tails(res *Result) {
	last := p.last()
	for _, r := range p.repeats {
		last = max(last, r.ref.Text)
	}
	for _, r := range p.strays {
		if r.Text < last {
			p.add(finding.EventInvalid, r, "stray", "the record is no entry: it has neither type nor id").Repair = "nothing: the client passes over it"
			continue
		}
		f := p.add(finding.EventInvalid, r, "stray-last", "the record is no entry, and the client would go on from it: all in front of it is forgotten")
		f.Repair = "it goes to quarantine"
		p.out(res, r, f.Code)
	}
}

// tip finds the record to go on from: the last one, but for copies of earlier records, and but for one with the id of an
// earlier record that does not go on from the one in front of it.
func (p *path) tip(res *Result) {
	end := p.natural()
	n := end
	for n > 0 && p.entries[n].twin && p.Nodes[n].Up != n-1 {
		n--
	}
	p.leaf = n
	if n != end {
		p.astray(p.ref(end), n).Repair = "a record that says nothing is added behind the newest work, and the talk goes on from there"
	}
	last := p.last()
	i := slices.IndexFunc(p.repeats, func(r repeat) bool { return r.ref.Text > last })
	more := len(p.repeats)
	if i >= 0 && p.repeats[more-1].node != n && p.Nodes[p.repeats[more-1].node].Kind != session.Goto {
		f := p.astray(p.repeats[more-1].ref, n)
		f.Repair = "the copies at the end go to quarantine; the records stay where they stood first"
		for _, r := range p.repeats[i:] {
			p.out(res, r.ref, finding.WrongLeaf)
		}
		more = i
	}
	if more > 0 {
		p.add(finding.IDRepeated, p.repeats[0].ref, "path", fmt.Sprintf("from here on %d records stand in the log a second time, byte for byte", more))
	}
}

// natural is where the client would go on in the log as it is to be, -1 = in front of everything: at the last record
// but for those beside the way, or where the last one that says so points.
func (p *path) natural() int32 {
	for n := int32(len(p.Nodes)) - 1; n >= 0; n-- {
		x := &p.Nodes[n]
		switch {
		case p.entries[n].dropped || p.entries[n].added || x.Side:
		case x.Kind != session.Goto:
			return n
		case p.Borders[n].Prior == (session.ID{}):
			return -1
		default:
			if to := p.Find(p.Borders[n].Prior); to >= 0 && !p.entries[to].dropped {
				return to
			}
		}
	}
	return -1
}

func (p *path) astray(at session.Ref, n int32) *finding.Finding {
	f := p.add(finding.WrongLeaf, at, "path", fmt.Sprintf("the client would go on from this record; the newest work ends at line %d", p.ref(n).Logical))
	f.Lines = []int64{p.ref(n).Logical}
	return f
}

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

// kept judges what the compaction that counts keeps of what stands in front of it.
func (q *pairing) kept() {
	way := q.Path(q.leaf)
	c := slices.IndexFunc(way, func(n int32) bool { return q.Nodes[n].Kind == session.CompactionEnd })
	if c < 0 {
		return
	}
	border := way[c]
	prior, at := q.Borders[border].Prior, q.entries[border].prior
	if prior == (session.ID{}) || at.Len == 0 {
		return
	}
	front := way[c+1:] // towards the root
	k := q.Find(prior)
	i := slices.Index(front, k)
	switch {
	case k == border:
	case k >= 0 && i >= 0:
		for ; i >= 0 && !q.speaks(front[i]); i-- {
			r := front[i]
			o := q.owner[r]
			if q.Nodes[r].Kind != session.CallResult || o < 0 || q.place[o] == 0 {
				continue
			}
			f := q.add(finding.OrphanResult, q.ref(r), "kept", "a result that a compaction keeps without its call")
			f.CallID = q.CallID(q.result(r))
			f.Repair = "the compaction keeps the call as well"
			q.put(border, q.newest(), at, "", q.id(o))
			return
		}
	case k >= 0 && q.entries[k].dropped:
		if n := q.behind(front, q.ref(k).Text); n >= 0 {
			q.put(border, q.entries[k].why, at, "", q.id(n))
		}
	default:
		f := q.add(finding.OpenCompaction, q.ref(border), "kept", keptLost)
		f.Repair = "nothing: what it kept is not known"
	}
}

const keptLost = "the first record that the compaction keeps is not in front of it: the client sends the summary alone"

// keepLost lets the compaction that counts keep what stands behind a gap, where the record that it names is lost: one that says
// nothing takes the lost one's id and its place, so that no other changes. Where there is no safe place to put it, the
// compaction names the first record behind the gap.
func (p *path) keepLost() {
	way := p.Path(p.leaf)
	c := slices.IndexFunc(way, func(n int32) bool { return p.Nodes[n].Kind == session.CompactionEnd })
	if c < 0 {
		return
	}
	border := way[c]
	prior, at := p.Borders[border].Prior, p.entries[border].prior
	if prior == (session.ID{}) || at.Len == 0 || p.Find(prior) >= 0 {
		return
	}
	n := p.gap(way[c+1:], prior)
	if n < 0 {
		return
	}
	f := p.add(finding.OpenCompaction, p.ref(border), "lost", keptLost)
	up := p.Nodes[n].Up
	id := make([]byte, at.Len)
	_, err := p.in.R.ReadAt(id, p.ref(border).Text+int64(at.Off))
	if p.in.Medium != scan.Lines || err != nil || up < 0 || p.id(up) == nil || p.entries[up].added || p.ref(up).Marks != 0 {
		f.Repair = "it keeps what stands behind the lost record"
		p.put(border, p.newest(), at, "", p.id(n))
		p.Borders[border] = session.Border{Prior: p.Nodes[n].ID}
		return
	}
	f.Repair = "a record that says nothing takes the lost one's id and place"
	v := p.standIn(prior, id, up, p.ref(up).TextEnd()+1, p.Nodes[up].Time, p.newest())
	p.putUnder(n, v, p.newest())
}

// behind is the first record on a way behind a place of the log.
func (q *pairing) behind(way []int32, text int64) int32 {
	for _, n := range slices.Backward(way) {
		if q.ref(n).Text > text && !q.entries[n].dropped {
			return n
		}
	}
	return -1
}

// gap is the first record on a way behind lost ones: behind the one of an id, if it is told, else behind the first.
func (p *path) gap(way []int32, id session.ID) int32 {
	first := int32(-1)
	for _, n := range slices.Backward(way) {
		if p.entries[n].was != session.Absent || !p.entries[n].hung {
			continue
		}
		if p.Nodes[n].Parent == id {
			return n
		}
		if first < 0 {
			first = n
		}
	}
	return first
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

// parents writes the places that changed into the records.
func (p *path) parents() {
	_, name := p.chained.Names()
	for i := range p.Nodes {
		n, e := int32(i), &p.entries[i]
		up, why := p.Nodes[n].Up, e.why
		if e.added {
			parent := []byte("null")
			if up >= 0 {
				parent = p.id(up)
			}
			f := &p.findings[why]
			f.Patches = append(f.Patches, finding.Patch{At: e.at, Ins: p.chained.StandIn(p.id(n), parent, p.Nodes[n].Time)})
			continue
		}
		if e.dropped || e.put == 0 {
			continue
		}
		switch {
		case up < 0:
			if e.hung && (e.named != (session.ID{}) || e.bare) {
				p.put(n, why, e.up, name, []byte("null"))
			}
			continue
		case session.MakeID(p.id(up)) == e.named:
			continue
		case !e.hung:
			why = p.entries[up].why // it got another id
		}
		p.put(n, why, e.up, name, p.id(up))
	}
}

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
