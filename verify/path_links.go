package verify

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// names gives ids to records that lack one or have another's.
func (p *path) names(res *Result) {
	name, _ := p.chained.Names()
	for i := range p.Nodes {
		n, e := int32(i), &p.entries[i]
		if !e.twin && e.written != (session.ID{}) || e.put == 0 {
			continue
		}
		id := p.chained.NewID(fmt.Sprintf("%s\x00record\x00%d", res.ID, p.Nodes[n].At.N), p.taken)
		if e.twin {
			p.add(finding.IDConflict, p.ref(n), "path", "the id stands for other content earlier in the log, and the client takes this record in its place everywhere")
			p.findings[p.newest()].Repair = "the later record gets an id of its own, and what was hung under it since follows"
		} else {
			f := p.add(finding.EventInvalid, p.ref(n), "nameless", "the record has no id: what is written next will have no parent")
			f.Repair = "it gets an id, made of the session's and of its place"
			f.Never = "drop the record"
		}
		p.put(n, p.newest(), e.own, name, id)
		e.id = p.keep(id)
		p.Alias(session.MakeID(id), n)
	}
}

// taken tells whether an id is in use.
func (p *path) taken(id []byte) bool { return p.Find(session.MakeID(id)) >= 0 }

// put patches a record: a value takes the place of another, or becomes a member that the record lacks.
func (p *path) put(n, why int32, at session.Sub, name string, value []byte) {
	base := p.ref(n).Text
	t := finding.Patch{At: base + int64(at.Off), Del: int64(at.Len), Ins: bytes.Clone(value)}
	if at.Len == 0 {
		t = finding.Patch{At: base + int64(p.entries[n].put), Ins: fmt.Appendf(nil, `,"%s":%s`, name, value)}
	}
	p.findings[why].Patches = append(p.findings[why].Patches, t)
	p.entries[n].changed, p.entries[n].why = true, why
}

// links finds what is wrong with the parents of records and hangs the records, in the tree at hand, where they belong: under
// one that stands in front of them, and hangs not under them.
func (p *path) links() {
	circles, forward := p.Circles(), false
	for i := range p.Nodes {
		forward = forward || p.Nodes[i].Up >= int32(i) // only then may a record hang below a later one
	}
	under := map[session.ID]int32{} // where what a lost record held was hung
	looks := 0
	for i := range p.Nodes {
		n := int32(i)
		x := &p.Nodes[n]
		before := n - 1
		if forward && before >= 0 && looks < maxLooks && (circles[n] || x.Up < 0) {
			looks++
			below := p.Under(n)
			for before >= 0 && below[before] {
				before--
			}
		}
		switch {
		case circles[n]:
			f := p.add(finding.ParentCycle, p.ref(n), "path", "going up from this record leads back to it")
			f.Repair = "its parent becomes the record in front of it"
			p.hang(n, before)
		case x.Up == session.Absent && before < 0:
			f := p.add(finding.ParentMissing, p.ref(n), "first", "the record hangs under one that is lost, and none stands in front of it")
			f.Repair = "nothing: what stood in front of it is lost"
			x.Up = session.Root
		case x.Up == session.Absent:
			f := p.add(finding.ParentMissing, p.ref(n), "path", "the record hangs under one that is not in the log")
			f.Repair = "its parent becomes the record in front of the gap"
			if up := p.remembered(n); up >= 0 && up < n && !(forward && p.above(up, n)) {
				before = up
				f.Repair = "its parent becomes that of the lost record, which its remains name"
			} else if up, ok := under[x.Parent]; ok && !(forward && p.above(up, n)) {
				before = up // what one record held together stays together
			}
			under[x.Parent] = before
			p.hang(n, before)
		case x.Up == session.Root && before >= 0 && p.cutOff(n, before):
			f := p.add(finding.ChainCut, p.ref(n), "path", "the record has no parent, and there is talk in front of it")
			f.Repair = "its parent becomes the record in front of it"
			p.hang(n, before)
		}
	}
}

// cutOff tells whether a record without parent cannot have been written so: the client leaves the member out, or names
// none, only where it lost its place; and none but a user's message begins a talk anew.
func (p *path) cutOff(n, before int32) bool {
	e := &p.entries[n]
	if e.put == 0 {
		return false // records have no parents
	}
	lost := p.entries[before].written == (session.ID{})
	return e.bare || lost || p.cutOffAtRoot(n)
}

// hang hangs a node under another, as the newest finding says.
func (p *path) hang(n, up int32) {
	if up < 0 {
		up = session.Root
	}
	p.Nodes[n].Up = up
	p.entries[n].why, p.entries[n].hung = p.newest(), true
}

// above tells whether a node is n or hangs below it.
func (p *path) above(at, n int32) bool {
	for steps := 0; at >= 0 && steps < len(p.Nodes); steps++ {
		if at == n {
			return true
		}
		at = p.Nodes[at].Up
	}
	return false
}

// maxLine bounds how much of a torn line is looked at.
const maxLine = 64 << 10

// remains are what a torn line names: the record's own id and its parent's, as JSON.
type remains struct {
	at      int64
	own, up []byte
}

// recall reads what torn lines name.
func (p *path) recall() []remains {
	own, up := p.chained.Names()
	list := []remains{}
	for _, t := range p.torn {
		line := make([]byte, min(t.TextLen, maxLine))
		if _, err := p.in.R.ReadAt(line, t.Text); err != nil {
			continue
		}
		front, behind, ok := bytes.Cut(line, fmt.Appendf(nil, `"%s":`, up))
		i := bytes.LastIndex(front, fmt.Appendf(nil, `"%s":`, own))
		end := bytes.IndexAny(behind, ",}")
		if !ok || i < 0 || end < 0 {
			continue
		}
		id := front[i+len(own)+3:]
		if k := bytes.IndexByte(id, ','); k >= 0 {
			list = append(list, remains{t.Text, id[:k], behind[:end]})
		}
	}
	return list
}

// remembered is the parent of a node's lost parent, where the remains of a torn line name both; -1 where none do. Where that
// was torn as well, it is the next one further up.
func (p *path) remembered(n int32) int32 {
	if len(p.torn) == 0 || p.in.Medium != scan.Lines {
		return session.Root
	}
	if p.remains == nil {
		p.remains = p.recall()
	}
	says := make([]byte, p.entries[n].up.Len)
	if _, err := p.in.R.ReadAt(says, p.ref(n).Text+int64(p.entries[n].up.Off)); err != nil || len(says) == 0 {
		return session.Root
	}
	for range p.remains {
		i := slices.IndexFunc(p.remains, func(r remains) bool { return bytes.Equal(r.own, says) })
		if i < 0 {
			break
		}
		if m := p.meant(p.remains[i].up, p.remains[i].at); m >= 0 {
			return m
		}
		says = p.remains[i].up
	}
	return session.Root
}

// meant is the record that an id stood for at a place of the log.
func (p *path) meant(id []byte, at int64) int32 {
	name := session.MakeID(id)
	if _, twins := p.meaning[name]; !twins {
		return p.Find(name)
	}
	for n, e := range slices.Backward(p.entries) {
		if e.written == name && p.ref(int32(n)).Text < at {
			return int32(n)
		}
	}
	return session.Root
}
