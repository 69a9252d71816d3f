package verify

import (
	"github.com/sessfix/sessfix/session"
)

// request is what of a log is sent. It holds as long as no node is hung elsewhere.
type request struct {
	order []int32         // nodes, in the order in which they are sent
	at    []int32         // of each node its place in that order, -1 = it is not in it
	turn  []int32         // of each node in it the nearest one in front that speaks, -1 = none
	tail  int32           // what speaks last, -1 = nothing does
	edit  map[int32]int32 // the edits that count, by the node that they edit
}

// look finds what is on the way to the leaf, and what of it is sent.
func (p *path) look() {
	way := p.Path(p.leaf)
	p.place = make([]int32, len(p.Nodes))
	for i, n := range way {
		p.place[n] = int32(len(way) - i)
	}
	t := request{order: p.chained.Replay(&p.Tree, way), at: make([]int32, len(p.Nodes)), turn: make([]int32, len(p.Nodes)), edit: map[int32]int32{}}
	for n := range t.at {
		t.at[n], t.turn[n] = -1, -1
	}
	for i, n := range t.order {
		t.at[n] = int32(i)
	}
	for _, n := range t.order {
		if p.Nodes[n].Kind != session.Edit {
			continue
		}
		if to := p.Find(p.Borders[n].Prior); to >= 0 && t.at[to] >= 0 {
			t.edit[to] = n // the last one counts
		}
	}
	t.tail = -1
	p.request = t
	for i, n := range t.order {
		p.turn[n] = p.tail
		if p.speaks(n) && p.said(n) && (i == 0 || p.Nodes[n].Kind != session.CompactionEnd) {
			p.tail = n
		}
	}
}

// sent tells a node whose words are sent.
func (p *path) sent(n int32) bool { return p.at[n] >= 0 && p.said(n) }

// said tells a node that no edit takes out.
func (p *path) said(n int32) bool {
	e, ok := p.edit[n]
	return !ok || !p.Nodes[e].Void
}

// words are the legs of what an answer asks for, as it is sent: its own, or those of the edit that counts.
func (p *path) words(n int32) (first, behind int32) {
	if e, ok := p.edit[n]; ok && p.Nodes[n].Kind == session.AssistantMessage {
		n = e
	}
	x := &p.Nodes[n]
	return x.Legs, x.Legs + x.N
}

// home is the answer that asks for the call of a leg.
func (p *path) home(leg int32) int32 {
	n := p.Legs[leg].Node
	if p.Nodes[n].Kind == session.Edit {
		return p.Find(p.Borders[n].Prior)
	}
	return n
}

// speaks tells a node that ends the time in which the calls of the answer in front of it may be answered.
func (p *path) speaks(n int32) bool {
	switch p.Nodes[n].Kind {
	case session.UserMessage, session.AssistantMessage, session.CompactionEnd:
		return true
	}
	return false
}

// own finds for each node the nearest one above that speaks.
func (p *path) own() {
	const unknown = -2
	p.owner = make([]int32, len(p.Nodes))
	for i := range p.owner {
		p.owner[i] = unknown
	}
	var way []int32
	for i := range p.Nodes {
		way = way[:0]
		n, found := int32(i), int32(-1)
		for n >= 0 && p.owner[n] == unknown {
			p.owner[n] = -1 // also where a circle ends
			way = append(way, n)
			n = p.Nodes[n].Up
			if n >= 0 && p.speaks(n) {
				n, found = -1, n
			}
		}
		if n >= 0 {
			found = p.owner[n]
		}
		for _, w := range way {
			p.owner[w] = found
		}
	}
}
