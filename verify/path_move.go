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
	p.place, p.at, p.turn = append(p.place, 0), append(p.at, -1), append(p.turn, -1)
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
	p.skip(n, why)
	p.lift(n, why)
	p.entries[n].dropped, p.entries[n].why = true, why
}

// skip lets compactions that keep from a node on keep from the one behind it, on the way.
func (p *path) skip(n, why int32) {
	next := int32(-1)
	for _, k := range p.children(n) {
		if next < 0 && p.place[n] == 0 || p.place[k] > 0 {
			next = k
		}
	}
	if next < 0 {
		return
	}
	for r, to := range p.refs {
		if p.Find(to.to) == n && p.Nodes[r].Kind == session.CompactionEnd {
			p.refer(r, next, why)
		}
	}
}

// refer lets a compaction keep from another node on.
func (p *path) refer(n, to, why int32) {
	r := p.refs[n]
	r.to, r.why = p.Nodes[to].ID, why
	p.refs[n] = r
	b := p.Borders[n]
	b.Prior = r.to
	p.Borders[n] = b
}
