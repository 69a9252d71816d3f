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
	up := p.Nodes[n].Up
	for _, k := range slices.Clone(p.children(n)) {
		p.putUnder(k, up, why)
	}
	if p.leaf == n {
		p.leaf = up
	}
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
			if up := p.Nodes[n].Up; up >= 0 && p.speaks(up) {
				n = -1
				found = up
				break
			} else {
				n = up
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
