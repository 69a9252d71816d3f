package verify

import (
	"slices"

	"github.com/sessfix/sessfix/session"
)

// children are the nodes right under one.
func (p *path) children(n int32) []int32 {
	if p.kids == nil {
		p.kids = make([][]int32, len(p.Nodes))
		for i := range p.Nodes {
			if up := p.Nodes[i].Up; up >= 0 {
				p.kids[up] = append(p.kids[up], int32(i))
			}
		}
	}
	return p.kids[n]
}

// putUnder moves a node under another, for the reason of a finding.
func (p *path) putUnder(n, up, why int32) {
	old := p.Nodes[n].Up
	if old >= 0 {
		p.children(old)
		p.kids[old] = slices.DeleteFunc(p.kids[old], func(k int32) bool { return k == n })
	}
	if up >= 0 {
		p.children(up)
		p.kids[up] = append(p.kids[up], n)
	}
	p.Nodes[n].Up, p.entries[n].why, p.entries[n].hung = up, why, true
}

// lift takes a node out of its place: what hangs under it hangs higher.
func (p *path) lift(n, why int32) {
	up, kids := p.Nodes[n].Up, slices.Clone(p.children(n))
	if up < 0 && slices.ContainsFunc(kids, p.cutOffAtRoot) && p.id(n) != nil && p.ref(n).Marks == 0 {
		// One of them without parent would be taken for cut off.
		id := p.chained.NewID("root\x00"+string(p.id(n)), p.taken)
		up = p.standIn(session.MakeID(id), id, session.Root, p.ref(n).Text, p.Nodes[n].Time, why)
		p.putUnder(n, up, why)
	}
	for _, k := range kids {
		p.putUnder(k, up, why)
	}
	if p.leaf == n {
		p.leaf = up
	}
}

// cutOffAtRoot tells a node that the client does not write without a parent.
func (p *path) cutOffAtRoot(n int32) bool {
	k := p.Nodes[n].Kind
	return k == session.CallResult || k == session.AssistantMessage
}

// standIn adds a node that says nothing, with an id and under another, as a line to be put into the text at a place.
func (p *path) standIn(id session.ID, text []byte, up int32, at, time int64, why int32) int32 {
	p.children(0)
	n, _ := p.Add(session.Link{ID: id, Kind: session.Note, Time: time}, session.Ref{}, nil)
	owner := int32(-1)
	if up >= 0 {
		p.kids[up] = append(p.kids[up], n)
		if owner = p.owner[up]; p.speaks(up) {
			owner = up
		}
	}
	p.Nodes[n].Up = up
	p.entries = append(p.entries, entry{id: p.keep(text), why: why, added: true, at: at, was: up})
	p.kids, p.owner = append(p.kids, nil), append(p.owner, owner)
	p.place, p.sent = append(p.place, 0), append(p.sent, false)
	return n
}

// between puts a node that was lifted under another, and what hangs there under it.
func (p *path) between(n, up, why int32) {
	kids := slices.Clone(p.children(up))
	p.putUnder(n, up, why)
	for _, k := range kids {
		if k != n {
			p.putUnder(k, n, why)
		}
	}
	if p.leaf == up {
		p.leaf = n
	}
}

// drop takes a node out of the log.
func (p *path) drop(n, why int32) {
	p.lift(n, why)
	p.entries[n].dropped, p.entries[n].why = true, why
}

// own finds for each node the nearest one above that speaks and is no result.
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

// speaks tells a node that ends the time in which the calls of the answer in front of it may be answered.
func (p *path) speaks(n int32) bool {
	switch p.Nodes[n].Kind {
	case session.UserMessage, session.AssistantMessage, session.CompactionEnd:
		return true
	}
	return false
}

// places notes what is on the way to the leaf and what of it is sent.
func (p *path) places() {
	p.place, p.sent = make([]int32, len(p.Nodes)), make([]bool, len(p.Nodes))
	way := p.Path(p.leaf)
	for i, n := range way {
		p.place[n] = int32(len(way) - i)
	}
	for _, n := range p.chained.Replay(&p.Tree, way) {
		p.sent[n] = true
	}
}
