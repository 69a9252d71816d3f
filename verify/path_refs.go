package verify

import "github.com/sessfix/sessfix/session"

// references writes anew what records name, where that has another id by now.
func (p *path) references() {
	for i := range p.Nodes {
		n := int32(i)
		r, ok := p.refs[n]
		to := int32(-1)
		if ok {
			to = p.Find(r.to)
		}
		if to < 0 || p.entries[n].dropped || r.written == (session.ID{}) || session.MakeID(p.id(to)) == r.written {
			continue // also of one that is dropped: its old id would mean another
		}
		why := r.why
		if why < 0 {
			why = p.entries[to].why
		}
		p.put(n, why, p.entries[n].prior, "", p.id(to))
	}
}
