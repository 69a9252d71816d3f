package verify

import (
	"slices"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// border is the compaction that counts on the way to the leaf, where it names what it keeps, and what stands in front of it,
// towards the root; -1 where there is none.
func (p *path) border() (border int32, front []int32) {
	way := p.Path(p.leaf)
	c := slices.IndexFunc(way, func(n int32) bool { return p.Nodes[n].Kind == session.CompactionEnd })
	if c < 0 || p.Borders[way[c]].Prior == (session.ID{}) || p.entries[way[c]].prior.Len == 0 {
		return -1, nil
	}
	return way[c], way[c+1:]
}

// kept lets the compaction that counts keep the calls of the results that it keeps.
func (q *pairing) kept() {
	border, front := q.border()
	if border < 0 {
		return
	}
	for i := slices.Index(front, q.Find(q.Borders[border].Prior)); i >= 0 && !q.speaks(front[i]); i-- {
		r := front[i]
		o := q.owner[r]
		if q.Nodes[r].Kind != session.CallResult || o < 0 || q.place[o] == 0 || q.at[o] >= 0 {
			continue
		}
		f := q.add(finding.OrphanResult, q.ref(r), "kept", "a result that a compaction keeps without its call")
		f.CallID = q.CallID(q.result(r))
		f.Repair = "the compaction keeps the call as well"
		q.refer(border, o, q.newest())
		return
	}
}

// unkept notes that what the compaction that counts keeps is nowhere in front of it.
func (q *pairing) unkept() {
	border, front := q.border()
	if border < 0 {
		return
	}
	if k := q.Find(q.Borders[border].Prior); k != border && !slices.Contains(front, k) {
		f := q.add(finding.OpenCompaction, q.ref(border), "kept", keptLost)
		f.Repair = "nothing: what it kept is not known"
	}
}

const keptLost = "the first record that the compaction keeps is not in front of it: the client sends the summary alone"

// keepLost lets the compaction that counts keep what stands behind a gap, where the record that it names is lost: one that says
// nothing takes the lost one's id and its place, so that no other changes. Where there is no safe place to put it, the
// compaction names the first record behind the gap.
func (p *path) keepLost() {
	border, front := p.border()
	if border < 0 {
		return
	}
	prior, at := p.Borders[border].Prior, p.entries[border].prior
	if p.Find(prior) >= 0 {
		return
	}
	n := p.gap(front, prior)
	if n < 0 {
		return
	}
	f := p.add(finding.OpenCompaction, p.ref(border), "lost", keptLost)
	up := p.Nodes[n].Up
	id := make([]byte, at.Len)
	_, err := p.in.R.ReadAt(id, p.ref(border).Text+int64(at.Off))
	if p.in.Medium != scan.Lines || err != nil || up < 0 || p.id(up) == nil || p.entries[up].added || p.ref(up).Marks != 0 {
		f.Repair = "it keeps what stands behind the lost record"
		p.refer(border, n, p.newest())
		return
	}
	f.Repair = "a record that says nothing takes the lost one's id and place"
	v := p.standIn(prior, id, up, p.ref(up).TextEnd()+1, p.Nodes[up].Time, p.newest())
	p.putUnder(n, v, p.newest())
}

// gap is the first record on a way behind lost ones: behind the one of an id, if it is told, else behind the first.
func (p *path) gap(way []int32, id session.ID) int32 {
	first := int32(-1)
	for _, n := range slices.Backward(way) {
		if p.entries[n].was != session.Absent {
			continue
		}
		if p.Nodes[n].Parent == id {
			return n
		}
		if first < 0 && p.entries[n].hung {
			first = n
		}
	}
	return first
}
