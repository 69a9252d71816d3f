package verify

import (
	"fmt"
	"hash/maphash"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/provider"
	"github.com/sessfix/sessfix/session"
)

// tree checks a log whose records hang under each other. It keeps some 200 bytes a record, and 40 and the id's text for each end of a call.
type tree struct {
	session.Tree
	rules    format.Rules
	packed   bool
	healing  bool // the client hangs by itself what it finds cut
	findings []finding.Finding
	changes  []Change
	retold   map[int32]int // changes that tell a node anew
	legs     []session.Leg
	seed     maphash.Seed
	held     []held
	heal     []int32 // nodes whose place is mended, in file order
	lost     map[session.ID][]int32
	told     map[int32]bool // results that are told anew as text
	images   map[int32]int  // how many a node's message holds
	repeats  int            // records that stand here a second time, byte for byte
	repeated session.Ref    // the first of them
	framed   []session.Ref  // of the nodes, where the part is compressed

	hung    map[session.ID][]int32 // healed nodes by the group that they hang under
	answers map[session.ID][]int32 // nodes with results by their parent
	others  int                    // branches of second writers that were reported
	leads   map[session.ID][2]int32
	missing []naming
	leafAt  int32             // where the client is to go on
	passed  map[int32][]int32 // what hangs under each node that the client takes out
	cut     []int32           // nodes that are hung past one which the client does not go past
}

// held is a finding about a record that matters only where the record is replayed.
type held struct {
	node int32
	f    finding.Finding
}

// naming is a finding about a node's lost parent.
type naming struct {
	node    int32
	finding int
}

// waits tells findings about single records that wait for the whole tree: whether the record is sent, and whether it
// was told anew.
func waits(f *finding.Finding) bool {
	return f.Code == finding.ProviderRejects || f.Code == finding.EventInvalid && f.Where == format.NoContent
}

// maxHeld bounds how many are kept.
const maxHeld = 10_000

func newTree(rules format.Rules, packed bool) *tree {
	return &tree{rules: rules, packed: packed, seed: maphash.MakeSeed(), retold: map[int32]int{}, lost: map[session.ID][]int32{}, told: map[int32]bool{}, images: map[int32]int{}}
}

// record takes what the next record means, and keeps the findings that must wait.
func (t *tree) record(r *session.Record, b *format.Batch) {
	if b.Points {
		t.Pointers = append(t.Pointers, session.Pointer{Leaf: b.Leaf, Rec: r.Ref()})
	}
	if !b.Linked {
		return
	}
	t.legs = t.legs[:0]
	for i := range b.Events {
		e := &b.Events[i]
		if e.Kind == session.CallAsked || e.Kind == session.CallResult {
			t.legs = append(t.legs, t.Leg(e, callID(r, e), e.Name.Of(r.Raw)))
		}
	}
	n, again := t.Add(b.Link, r.Ref(), t.legs)
	hash := maphash.Bytes(t.seed, r.Raw)
	if again && hash == t.Nodes[n].Hash {
		if t.repeats++; t.repeats == 1 {
			t.repeated = r.Ref()
		}
	}
	if again && hash != t.Nodes[n].Hash {
		t.add(finding.IDConflict, r.Ref(), "", "the id stands for other content earlier in the log")
	}
	t.Nodes[n].Hash = hash
	if t.packed {
		t.framed = append(t.framed, make([]session.Ref, len(t.Nodes)-len(t.framed))...)
		t.framed[n] = r.Ref()
	}
	if len(b.Keeps) > 0 {
		t.Keep(n, b.Keeps)
	}
	delete(t.images, n)
	if b.Images > 0 {
		t.images[n] = b.Images
	}
	for i := range b.Findings {
		if waits(&b.Findings[i]) && len(t.held) < maxHeld {
			t.held = append(t.held, held{n, b.Findings[i]})
		}
	}
}

func (t *tree) add(code finding.Code, ref session.Ref, where, message string) *finding.Finding {
	t.findings = append(t.findings, finding.About(code, ref, where, message))
	return &t.findings[len(t.findings)-1]
}

// ref finds a node's record again.
func (t *tree) ref(n int32) session.Ref {
	if int(n) < len(t.framed) {
		return t.framed[n]
	}
	return t.Nodes[n].At.Ref()
}

// talk tells whether a node says something to the model.
func (t *tree) talk(n int32) bool {
	x := &t.Nodes[n]
	return x.Kind.Talk() && !x.Void
}

// end judges the whole tree as the client would read it.
func (t *tree) end(res *Result, in Input) {
	r, ok := in.Dialect.(format.Replayer)
	if !ok || len(t.Nodes) == 0 {
		return
	}
	if t.repeats > 0 {
		t.add(finding.IDRepeated, t.repeated, "", fmt.Sprintf("from here on %d records stand in the log a second time, byte for byte", t.repeats))
	}
	t.Grow()
	t.Join()
	t.sides()
	raw := t.ups()
	heal := t.heals(r)
	t.healing = heal != nil
	t.links(heal)
	t.Join()
	t.strays()
	t.compactions()
	if leaf := r.Leaf(&t.Tree); leaf >= 0 {
		var sent []int32
		sent, t.leafAt = t.leaf(r, leaf)
		t.cuts(r, sent)
		for _, n := range t.cut {
			raw[n] = session.Root
		}
		t.share(r, raw, len(sent))
		t.pairs(res, sent)
		t.say(sent)
		t.tip()
		res.Turns = t.turns(t.leafAt)
	}
	res.Changes = t.sorted()
	t.name(in)
}

// turns counts what the user said on the way to a leaf, past the borders of compactions.
func (t *tree) turns(leaf int32) (n int64) {
	seen := map[int32]bool{}
	for at := leaf; at >= 0 && !seen[at]; {
		seen[at] = true
		x := &t.Nodes[at]
		if x.Kind == session.UserMessage && !t.results(at) && !t.told[at] {
			n++
		}
		if x.Kind == session.CompactionEnd {
			at = t.Find(t.Borders[at].Prior)
		} else {
			at = x.Up
		}
	}
	return n
}

// maxNames bounds how many lost parents are named in the findings.
const maxNames = 1000

// name reads again, for the findings about lost parents, what those were called.
func (t *tree) name(in Input) {
	if t.packed {
		return
	}
	for i, n := range t.missing {
		x := &t.Nodes[n.node]
		buf := make([]byte, min(x.Says.Len, 200))
		if i == maxNames || len(buf) == 0 {
			return
		}
		if _, err := in.R.ReadAt(buf, x.At.Text+int64(x.Says.Off)); err == nil {
			t.findings[n.finding].Missing = string(buf)
		}
	}
}

// sides takes the log of a sub-agent for a talk of its own.
func (t *tree) sides() {
	for i := range t.Nodes {
		if !t.Nodes[i].Side {
			return
		}
	}
	for i := range t.Nodes {
		t.Nodes[i].Side = false
	}
}

// results tells whether a node holds results, and not as text alone.
func (t *tree) results(n int32) bool {
	if t.told[n] {
		return false
	}
	for _, g := range t.LegsOf(n) {
		if g.Kind == session.CallResult {
			return true
		}
	}
	return false
}

// ups are the parents as the log gives them.
func (t *tree) ups() []int32 {
	out := make([]int32, len(t.Nodes))
	for i := range t.Nodes {
		out[i] = t.Nodes[i].Up
	}
	return out
}

// sent are the nodes of talk that the client replays from a leaf.
func (t *tree) sent(r format.Replayer, leaf int32) []int32 {
	var out []int32
	for _, n := range r.Replay(&t.Tree, t.Path(leaf)) {
		if t.talk(n) {
			out = append(out, n)
		}
	}
	return out
}

// share says, in the first finding about the chain, how much of the talk a client reaches that takes the links as they are.
func (t *tree) share(r format.Replayer, raw []int32, after int) {
	for i := range t.findings {
		f := &t.findings[i]
		switch f.Code {
		case finding.ParentMissing, finding.ParentCycle, finding.ChainCut, finding.WrongLeaf:
			healed := t.ups()
			for k, up := range raw {
				t.Nodes[k].Up = up
			}
			before := 0
			if leaf := r.Leaf(&t.Tree); leaf >= 0 {
				before = len(t.sent(r, leaf))
			}
			for k, up := range healed {
				t.Nodes[k].Up = up
			}
			if before < after {
				f.Message += fmt.Sprintf("; going up from where the log ends reaches %d of %d messages", before, after)
			}
			return
		}
	}
}

// say brings up the findings that waited.
func (t *tree) say(sent []int32) {
	if len(t.held) == 0 {
		return
	}
	on := make([]bool, len(t.Nodes))
	images := 0
	for _, n := range sent {
		on[n] = true
		images += t.images[n]
	}
	for _, h := range t.held {
		// What was wrong with a record that was told anew since is wrong no more.
		if !on[h.node] && h.f.Code == finding.ProviderRejects || h.f.Record.Text != t.Nodes[h.node].At.Text {
			continue
		}
		if h.f.Where == string(provider.ImageMany) && images <= provider.ManyImages {
			continue
		}
		t.findings = append(t.findings, h.f)
		t.mend(h.node, &h.f, h.f.Where)
	}
}
