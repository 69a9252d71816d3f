package verify

import (
	"fmt"
	"slices"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/session"
)

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

// surviving is where the last record begins that stays where it stands, but for copies; -1 if there is none.
func (p *path) surviving() int64 {
	last := int64(-1)
	for i := range p.Nodes {
		if e := &p.entries[i]; !e.dropped && !e.added && !(e.put == 0 && p.moved[int32(i)]) {
			last = max(last, p.ref(int32(i)).Text)
		}
	}
	return last
}

// tails judges records that are no entries by whether the client would go on from them, once others were taken out.
func (p *path) tails(res *Result) {
	last := p.surviving()
	for _, r := range p.repeats {
		if !slices.ContainsFunc(res.Drops, func(d Drop) bool { return d.Text == r.ref.Text }) {
			last = max(last, r.ref.Text)
		}
	}
	for _, r := range p.strays {
		if r.Text < last {
			p.add(finding.EventInvalid, r, "stray", "the record is no entry: it has neither type nor id").Repair = "nothing: the client passes over it"
			continue
		}
		f := p.add(finding.EventInvalid, r, "stray-last", "the record is no entry, and the client would go on from it: all in front of it is forgotten")
		f.Repair = "it goes to quarantine"
		res.Drops = append(res.Drops, dropRecord(r, f.Code))
	}
}

// tip finds the record to go on from: the last one, but for copies of earlier records, and but for one with the id of an
// earlier record that does not go on from the one in front of it.
func (p *path) tip() {
	end := p.natural()
	n := end
	for n > 0 && p.entries[n].twin && p.Nodes[n].Up != n-1 {
		n--
	}
	p.leaf = n
	if n != end {
		p.astray(p.ref(end), n).Repair = "a record that says nothing is added behind the newest work, and the talk goes on from there"
	}
}

// copies judges records that stand there a second time: a copy must not differ from its original, and the client must not go on
// from an old one, once others were taken out.
func (p *path) copies(res *Result) {
	var stay []repeat
	for _, r := range p.repeats {
		if e := p.entries[r.node]; e.changed || e.dropped {
			res.Drops = append(res.Drops, dropRecord(r.ref, p.findings[e.why].Code))
		} else {
			stay = append(stay, r)
		}
	}
	last, more := p.surviving(), len(p.repeats)
	i := slices.IndexFunc(stay, func(r repeat) bool { return r.ref.Text > last })
	if i >= 0 && p.leaf >= 0 {
		end := stay[len(stay)-1]
		if end.node != p.leaf && p.Nodes[end.node].Kind != session.Goto {
			f := p.astray(end.ref, p.leaf)
			f.Repair = "the copies at the end go to quarantine; the records stay where they stood first"
			for _, r := range stay[i:] {
				res.Drops = append(res.Drops, dropRecord(r.ref, finding.WrongLeaf))
			}
			more -= len(stay) - i
		}
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
