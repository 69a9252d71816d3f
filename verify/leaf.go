package verify

import (
	"fmt"
	"slices"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// leaf finds out whether the client goes on from the newest work, and gives back the talk that is sent
// from the leaf that is right.
func (t *tree) leaf(r format.Replayer, leaf int32) ([]int32, int32) {
	sent := t.sent(r, leaf)
	var high int64
	on := make([]bool, len(t.Nodes))
	for _, n := range sent {
		on[n] = true
		high = max(high, t.Nodes[n].Time)
	}
	newest := int32(-1)
	for i := range t.Nodes {
		x := &t.Nodes[i]
		if x.Side || !t.talk(int32(i)) || on[i] || x.Time <= high || t.results(int32(i)) {
			continue
		}
		newest, high = int32(i), x.Time
	}
	if newest < 0 {
		return sent, leaf
	}
	under := t.Under(newest)
	tip := newest
	for i := range t.Nodes {
		if under[i] && t.talk(int32(i)) && !t.Nodes[i].Side {
			tip = int32(i)
		}
	}
	better := t.sent(r, tip)
	f := t.add(finding.WrongLeaf, t.ref(tip), "", fmt.Sprintf("the newest work ends here, but the client goes on from line %d", t.ref(leaf).Logical))
	f.Lines = []int64{t.ref(leaf).Logical}
	t.point(tip)
	return better, tip
}

// point asks for the record that names the leaf; there is one.
func (t *tree) point(leaf int32) {
	for i := range t.changes {
		if t.changes[i].Kind == Point {
			t.changes[i].Rec = t.ref(leaf)
			return
		}
	}
	c := Change{Kind: Point, Rec: t.ref(leaf)}
	if n := len(t.Pointers); n > 0 {
		c.Last = t.Pointers[n-1].Rec
	}
	t.changes = append(t.changes, c)
}

// tip keeps what is added at the end of the file from being taken for the place to go on from: answers of calls in
// the middle, summaries, and records told anew that nothing hangs under.
func (t *tree) tip() {
	leaf := t.leafAt
	if t.Pointed() == leaf {
		return
	}
	kids := make([]bool, len(t.Nodes))
	for i := range t.Nodes {
		if up := t.Nodes[i].Up; up >= 0 {
			kids[up] = true
		}
	}
	for i := range t.changes {
		if c := &t.changes[i]; c.Kind == Answer && c.Where == "mid" || c.Kind == Bridge {
			t.point(leaf)
			return
		}
	}
	named := len(t.Pointers) > 0 || t.healing && slices.ContainsFunc(t.Path(leaf), func(n int32) bool {
		up := t.Nodes[n].Up
		return up >= 0 && t.Nodes[up].Opaque
	})
	onWay := make([]bool, len(t.Nodes))
	for _, n := range t.Path(leaf) {
		onWay[n] = true
	}
	for n, i := range t.retold {
		c := &t.changes[i]
		if n == leaf || c.Parent.Len == 0 && !c.Root && len(c.Truths)+len(c.Mends) == 0 {
			continue
		}
		// Where a record is named, however long ago, what stands last in the file may count, and where the client does not see the way down
		// from there; else the newest that hangs below what stands last, which is the leaf only where it hangs there.
		x := &t.Nodes[n]
		beside := !onWay[n] && !x.Passed && !x.Side && !x.Opaque
		if named || !kids[n] || beside || x.Time > t.Nodes[leaf].Time {
			t.point(leaf)
			return
		}
	}
}

// strays are records that bear the mark of a sub-agent's talk though they hang in the main one and a pointer
// names them: the client then finds no session.
func (t *tree) strays() {
	n := t.Pointed()
	if n < 0 {
		return
	}
	x := &t.Nodes[n]
	if !x.Side || x.Up < 0 || t.Nodes[x.Up].Side {
		return
	}
	f := t.add(finding.WrongLeaf, t.ref(n), format.SideMark, "the place to go on from bears the mark of a sub-agent's talk: the client finds no session")
	f.Repair = "the record is told anew without that mark, and a record is added that names it as the place to go on from"
	t.mend(n, f, format.SideMark)
	x.Side = false
	t.point(n)
}

// kept notes records that a border kept and that are lost.
func (t *tree) kept(n int32, b session.Border) {
	lost := 0
	for _, id := range b.Keeps {
		if t.Find(id) < 0 {
			lost++
		}
	}
	if lost > 0 {
		f := t.add(finding.OpenCompaction, t.ref(n), "kept", fmt.Sprintf("%d of %d records that the compaction kept are not in the log", lost, len(b.Keeps)))
		f.Repair = "nothing: what they said is lost"
		f.Severity, f.Cure = finding.Note, finding.Leave
	}
}

// compactions finds borders without a summary: the history in front of them still counts.
func (t *tree) compactions() {
	if len(t.Borders) == 0 {
		return
	}
	kids, named := map[int32]bool{}, map[session.ID]bool{}
	for i := range t.Nodes {
		x := &t.Nodes[i]
		if x.Up >= 0 && x.Kind == session.Summary {
			kids[x.Up] = true
		}
		if x.Named {
			named[x.Parent] = true
		}
	}
	for i := range t.Nodes {
		x, b := &t.Nodes[i], t.Borders[int32(i)]
		t.kept(int32(i), b)
		if x.Kind != session.CompactionEnd || kids[int32(i)] || b.Anchor != (session.ID{}) && (t.Find(b.Anchor) >= 0 || named[b.Anchor]) {
			continue
		}
		if named[x.ID] {
			continue // something else hangs under it: the client goes on from there
		}
		f := t.add(finding.OpenCompaction, t.ref(int32(i)), "tail", "a compaction's border without its summary: the client forgets what stands in front of it")
		f.Repair = "the border is told anew as a plain note: the history in front of it counts again"
		f.Never = "replace history with half a summary"
		t.mend(int32(i), f, format.OpenBorder)
		x.Kind = session.Note
		up := t.Find(b.Prior)
		if up < 0 || up == int32(i) {
			up = int32(i) - 1 // the record in front of it
		}
		if up >= 0 {
			c := t.retell(int32(i))
			c.Parent, c.Code, c.Of, x.Up = t.ref(up), finding.OpenCompaction, x.At.Text, up
		}
	}
}
