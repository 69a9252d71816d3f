package verify

import (
	"github.com/sessfix/sessfix/finding"
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
	if len(p.Nodes) > 0 {
		p.places(res)
		p.names(res)
		p.Grow()
		for i := range p.Nodes {
			p.entries[i].was = p.Nodes[i].Up
		}
		p.links()
		p.tip()
		p.own()
		p.look()
		for _, n := range p.husks {
			f := p.add(finding.EventInvalid, p.ref(n), "husk", "the record lacks what its type is about, and the client breaks on it")
			f.Repair = "it goes to quarantine, and what hangs under it is hung higher"
			f.Never = "drop what hangs under it"
			p.drop(n, p.newest())
		}
		p.keepLost()
		q := p.settle()
		q.blank(res)
		q.unkept()
		q.close(res)
		p.parents()
		p.references()
		p.line(res)
		p.copies(res)
		p.share()
	}
	for n, e := range p.entries {
		if e.dropped {
			res.Drops = append(res.Drops, dropRecord(p.ref(int32(n)), p.findings[e.why].Code))
		}
	}
	p.tails(res)
	res.Findings = append(res.Findings, p.findings...)
}

// maxRounds bounds how often what was mended is looked at again.
const maxRounds = 20

// settle pairs calls and results, and looks again for as long as that changes what is sent.
func (p *path) settle() *pairing {
	for round := 0; ; round++ {
		p.own()
		p.look()
		said := len(p.findings)
		q := p.pairs()
		if len(p.findings) == said {
			q.kept()
		}
		if len(p.findings) == said || round == maxRounds {
			return q
		}
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
