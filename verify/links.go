package verify

import (
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/session"
)

// maxLooks bounds how often the whole tree is looked through for what hangs below a record.
const maxLooks = 1000

// links finds what is wrong with the parents of records and hangs the records, in the tree at
// hand, where the repair will hang them. What a client that heals makes of a record under one that it does not see is asked later.
func (t *tree) links(heal func(n int32, onWay []bool) int32) {
	talked := false // there is talk in front
	circles, above, early := t.Circles(), t.above(), t.Early()
	looks := 0
	last := [2]int32{session.Root, session.Root}
	for i := range t.Nodes {
		n := int32(i)
		x := &t.Nodes[n]
		side := 0
		if x.Side {
			side = 1
		}
		before := last[side]
		own := false // what stands in front of it hangs below it
		if (early[n] && x.Up < 0 || circles[n]) && looks < maxLooks {
			looks++
			before, own = t.outside(n, before)
		}
		switch {
		case x.Up == session.Absent && x.Kind == session.CompactionEnd:
			// A border hangs under nothing, whatever it names.
			x.Up = session.Root
		case x.Up == session.Absent:
			t.lost[x.Parent] = append(t.lost[x.Parent], n)
			t.absent(n, before, heal)
		case x.Up == session.Root && !x.Named && !own && x.Kind != session.CompactionEnd && x.Kind != session.Summary && !x.Fresh && talked && !x.Side && above[n]:
			t.add(finding.ChainCut, t.ref(n), "", "the record has no parent, and there is talk in front of it")
			t.hang(n, before, finding.ChainCut)
		case circles[n]:
			t.add(finding.ParentCycle, t.ref(n), "", "going up from this record leads back to it")
			t.hang(n, before, finding.ParentCycle)
		case heal == nil && x.Up >= 0 && t.Nodes[x.Up].Opaque && above[n]:
			t.opaque(n, "stops there")
		}
		talked = talked || t.talk(n) && !x.Side
		if x.Up == session.Root && !x.Named && talked && !above[n] && x.Kind != session.CompactionEnd {
			continue // a stray that leads nowhere
		}
		last[side] = n
	}
}

// opaque deals with a record that hangs under one which the client does not go past; does is what it does instead.
func (t *tree) opaque(n int32, does string) {
	up := t.Nodes[n].Up
	for steps := 0; up >= 0 && t.Nodes[up].Opaque; steps++ {
		if up = t.Nodes[up].Up; steps == maxLooks {
			return
		}
	}
	if up < 0 {
		return
	}
	f := t.add(finding.ChainCut, t.ref(n), "opaque", "the record hangs under one of a type that this client does not know, and it "+does)
	f.Repair = "the record is told anew, hung under the nearest one that the client knows; the unknown one stays where it is"
	t.hang(n, up, finding.ChainCut)
	t.cut = append(t.cut, n)
}

// absent deals with a record whose parent is lost.
func (t *tree) absent(n, before int32, heal func(n int32, onWay []bool) int32) {
	x := &t.Nodes[n]
	if up := t.Find(x.Parent); up >= 0 {
		x.Up = up // it was put back meanwhile
		return
	}
	if s := t.summaryOf(x.Parent); s >= 0 {
		f := t.add(finding.OpenCompaction, t.ref(s), "summary", "the summary of a compaction is lost, and later records hang under it")
		f.Repair = "a record is added in the summary's place that says so"
		t.changes = append(t.changes, Change{Kind: Bridge, Rec: t.ref(n), Child: t.ref(n), Parent: t.ref(s)})
		border := t.Nodes[s]
		up, _ := t.Add(session.Link{ID: x.Parent, Parent: border.ID, Named: true, Kind: session.Summary, Time: border.Time}, t.ref(s), nil)
		t.Nodes[up].Up = s
		t.Nodes[n].Up = up
		return
	}
	if before < 0 {
		f := t.add(finding.ParentMissing, t.ref(n), "first", "the record hangs under one that is lost, and none stands in front of it")
		f.Severity, f.Cure = finding.Note, finding.Leave
		x.Up = session.Root
		return
	}
	if kids := t.lost[x.Parent]; kids[0] != n && t.Nodes[kids[0]].Up >= 0 {
		before = t.Nodes[kids[0]].Up // what one record held together stays together
	}
	where := ""
	if heal != nil && heal(n, nil) < 0 {
		where = "far"
	}
	t.add(finding.ParentMissing, t.ref(n), where, "the record hangs under one that is not in the log")
	t.missing = append(t.missing, naming{n, len(t.findings) - 1})
	t.hang(n, before, finding.ParentMissing)
}

// summaryOf is the border whose summary has an id, -1 if there is none.
func (t *tree) summaryOf(id session.ID) int32 {
	last := int32(-1)
	for n, b := range t.Borders {
		if n > last && b.Anchor == id && id != (session.ID{}) {
			last = n
		}
	}
	return last
}

// hang hangs a node under another and asks for the record that says so.
func (t *tree) hang(n, parent int32, why finding.Code) {
	x := &t.Nodes[n]
	c := t.retell(n)
	if parent < 0 {
		x.Up = session.Root
		c.Root, c.Code, c.Of = true, why, x.At.Text
		return
	}
	c.Parent, c.Code, c.Of = t.ref(parent), why, x.At.Text
	x.Up = parent
	t.heal = append(t.heal, n)
	if !x.Passed {
		return
	}
	// What hangs under a record that the client takes out is hung by where that one stood when it was read.
	for _, k := range t.passing(n) {
		if k == parent || t.Nodes[k].Up < 0 || !t.Nodes[t.Nodes[k].Up].Passed {
			continue
		}
		c := t.retell(k)
		c.Parent, c.Code, c.Of = t.ref(parent), why, x.At.Text
		t.Nodes[k].Up = parent
		t.heal = append(t.heal, k)
	}
}

// passing are the records that hang under one which the client takes out, or under others of the kind below it.
func (t *tree) passing(n int32) []int32 {
	if t.passed == nil {
		t.passed = map[int32][]int32{}
		for i := range t.Nodes {
			if up := t.Nodes[i].Up; up >= 0 && t.Nodes[up].Passed {
				t.passed[up] = append(t.passed[up], int32(i))
			}
		}
	}
	var out []int32
	seen := map[int32]bool{n: true}
	for todo := []int32{n}; len(todo) > 0; todo = todo[1:] {
		for _, k := range t.passed[todo[0]] {
			switch {
			case seen[k]:
			case t.Nodes[k].Passed:
				todo = append(todo, k)
			default:
				out = append(out, k)
			}
			seen[k] = true
		}
	}
	return out
}

// outside is the last record from before on, going back, that does not hang below n; own tells that there is none.
func (t *tree) outside(n, before int32) (out int32, own bool) {
	met := before >= 0
	under := t.Under(n)
	for before >= 0 && (under[before] || t.Nodes[before].Side != t.Nodes[n].Side) {
		before--
	}
	return before, met && before < 0
}

// above tells for each node whether talk hangs below it, or it is talk itself.
func (t *tree) above() []bool {
	out := make([]bool, len(t.Nodes))
	for i := len(t.Nodes) - 1; i >= 0; i-- {
		for n := int32(i); n >= 0 && !out[n] && (t.talk(int32(i)) || out[i]); n = t.Nodes[n].Up {
			out[n] = true
		}
	}
	return out
}
