package verify

import (
	"fmt"
	"slices"
	"sort"
	"strconv"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/session"
)

// places finds the records that others name by their number. Where a line was torn since, those behind it were one further on
// when the number was written.
func (p *path) places(res *Result) {
	var lost []int64 // where what was a line of its own stands
	for _, f := range res.Findings {
		if f.Code == finding.TornLine {
			lost = append(lost, f.Text)
		}
	}
	slices.Sort(lost)
	for n, r := range p.refs {
		if r.place == 0 {
			continue
		}
		i := sort.Search(int(n), func(i int) bool {
			at := p.Nodes[i].At
			before, _ := slices.BinarySearch(lost, at.Text)
			return int64(at.N)+int64(before) >= r.place
		})
		r.to = p.Nodes[i].ID // itself where it is none in front of it: then it keeps nothing
		p.refs[n] = r
		p.Borders[n] = session.Border{Prior: r.to}
	}
}

// line moves the records of a log without ids, in which each hangs under the one in front of it, to where they hang, and counts
// anew what names others by their number.
func (p *path) line(res *Result) {
	if p.leaf < 0 || p.entries[p.leaf].put > 0 {
		return
	}
	behind := int32(-1)
	for _, n := range slices.Backward(p.Path(p.leaf)) {
		if !p.moved[n] {
			behind = n
			continue
		}
		res.Moves = append(res.Moves, Move{From: p.ref(n), Behind: p.ref(behind), Code: p.findings[p.entries[n].why].Code})
	}
	still := len(p.moved) == 0 && !slices.ContainsFunc(p.entries, func(e entry) bool { return e.dropped })
	for i := range p.Nodes {
		n := int32(i)
		r, ok := p.refs[n]
		to := int32(-1)
		if ok && r.place > 0 && p.place[n] > 0 {
			to = p.Find(r.to)
		}
		if to < 0 || p.place[to] == 0 {
			continue
		}
		was := int64(p.Nodes[to].At.N)
		now, why := was, int32(-1)
		if !still {
			now, why = p.renumbered(to)
		}
		if now == r.place || to == n && now < r.place {
			continue
		}
		if r.why >= 0 {
			why = r.why
		}
		if was != r.place && r.why < 0 || why < 0 {
			f := p.add(finding.OpenCompaction, p.ref(n), "number", fmt.Sprintf("the compaction keeps from record %d on: since a line was torn that is another one", r.place))
			f.Repair = "the number is counted anew"
			why = p.newest()
		}
		p.put(n, why, p.entries[n].prior, "", strconv.AppendInt(nil, now, 10))
	}
}

// renumbered is the number that a record will have, and a finding for which that is another one. What stands in front of it and is
// no node, as the header, stays there.
func (p *path) renumbered(n int32) (now int64, why int32) {
	was := p.Nodes[n].At.N
	now, why = int64(was), -1
	for k := range p.Nodes {
		front := p.place[k] > 0 && p.place[k] < p.place[n]
		switch at := p.Nodes[k].At.N; {
		case at < was && !front:
			now, why = now-1, p.entries[k].why
		case at > was && front:
			now, why = now+1, p.entries[k].why
		}
	}
	return now, why
}
