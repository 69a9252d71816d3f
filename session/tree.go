package session

import "iter"

// Link is what a record of a tree says of its place and its part in the talk.
type Link struct {
	ID, Parent ID
	Named      bool // Parent is a name; false: the record says that it has none
	Group      ID   // joins the records of one answer
	Kind       Kind // what it is for the model; a Note is not sent
	Fresh      bool // it has no parent because it begins a history anew
	Side       bool // belongs to the talk of a sub-agent
	Void       bool // never sent, whatever its kind
	MadeUp     bool // an answer that a client wrote itself, for one that never came
	Idle       bool // it asks nothing of the model
	Opaque     bool // the client that reads it next does not go up past it
	Passed     bool // that client takes it out: what hangs under it hangs under its parent
	Time       int64
	Says       Sub    // the text of Parent in the record
	OwnAt      Sub    // where ID stands in the record, quotes included
	UpAt       Sub    // likewise Parent
	PutAt      uint32 // behind a member of the record, where one that it lacks may be put in
	PriorAt    Sub    // where Prior stands in the record, quotes included
	Prior      ID     // of a compaction's border: the last record in front of it, or the first that it keeps; of an edit: what it edits; of a Goto: where the talk goes on
	PriorN     int64  // in place of Prior, in a log whose records have no ids: the number of that record, from 0
	Anchor     ID     // likewise: the summary behind which the kept records stand
}

// Places of a parent that is no node.
const (
	Root   = -1 // the record names none
	Absent = -2 // it names one that is not there
)

// Node is what is kept of a record of a tree: some 120 bytes.
type Node struct {
	ID, Parent, Group ID
	Time              int64
	Hash              uint64
	Says              Sub   // the text of Parent in its record
	At                Place // the last record of its id: that one counts
	Up                int32 // its parent, or Root or Absent
	Legs              int32 // index of its first leg
	N                 int32 // and how many it has
	Kind              Kind
	Named             bool
	Fresh, Side, Void bool
	MadeUp, Idle      bool
	Opaque, Passed    bool
}

// Place finds a record again in a plain part, in 24 bytes.
type Place struct {
	Text         int64
	Len, N, Line uint32
	Marks        Marks
}

// PlaceOf shortens a Ref.
func PlaceOf(r Ref) Place {
	return Place{Text: r.Text, Len: uint32(r.TextLen), N: uint32(r.N), Line: uint32(r.Logical), Marks: r.Marks}
}

// Ref is the whole of it, for a part whose text is the file itself.
func (p Place) Ref() Ref {
	return Ref{Span: Span{Off: p.Text, Len: int64(p.Len), Text: p.Text, TextLen: int64(p.Len), Line: int64(p.Line), Logical: int64(p.Line)},
		N: int64(p.N), Marks: p.Marks}
}

// Border is what a compaction's border says beside its place.
type Border struct {
	Prior, Anchor ID
	Keeps         []ID
}

// Leg is one end of a call: asked for, or its result.
type Leg struct {
	Call  ID
	Node  int32
	Kind  Kind // CallAsked or CallResult
	Flags Flags
	id    Sub // in the tree's text
	name  Sub
}

// Tree is a log whose records hang under each other. For records of one id the last one counts, at the place
// of the first.
type Tree struct {
	Nodes []Node
	Legs  []Leg
	// Pointers are the records that name the leaf to go on from, in file order.
	Pointers []Pointer
	// Borders are those of compactions, what edits edit and where the talk goes on, by node.
	Borders map[int32]Border
	index   map[ID]int32
	// nodes of one group, and results of one call, hang together: the next one, -1 behind the last.
	nextInGroup []int32
	group       map[ID]int32
	nextResult  []int32 // by leg
	result      map[ID]int32
	text        []byte // ids and names of calls
}

// Pointer is a record that names a leaf.
type Pointer struct {
	Leaf ID
	Rec  Ref
}

// Add takes a record; legs are its calls and results. It tells whether an earlier one has the same id.
func (t *Tree) Add(l Link, ref Ref, legs []Leg) (n int32, again bool) {
	if t.index == nil {
		t.index = map[ID]int32{}
	}
	n, again = t.index[l.ID]
	if !again {
		n = int32(len(t.Nodes))
		t.index[l.ID] = n
		t.Nodes = append(t.Nodes, Node{})
	}
	hash := t.Nodes[n].Hash
	t.Nodes[n] = Node{
		ID: l.ID, Parent: l.Parent, Group: l.Group, Time: l.Time, Says: l.Says, Hash: hash, At: PlaceOf(ref), Legs: int32(len(t.Legs)), N: int32(len(legs)),
		Kind: l.Kind, Named: l.Named, Fresh: l.Fresh, Side: l.Side, Void: l.Void, MadeUp: l.MadeUp, Idle: l.Idle,
		Opaque: l.Opaque, Passed: l.Passed,
	}
	for _, g := range legs {
		g.Node = n
		t.Legs = append(t.Legs, g)
	}
	delete(t.Borders, n)
	if l.Kind == CompactionEnd || l.Kind == Edit || l.Kind == Goto {
		if t.Borders == nil {
			t.Borders = map[int32]Border{}
		}
		t.Borders[n] = Border{Prior: l.Prior, Anchor: l.Anchor}
	}
	return n, again
}

// Keep notes what a border keeps.
func (t *Tree) Keep(n int32, ids []ID) {
	if b, ok := t.Borders[n]; ok {
		b.Keeps = append([]ID(nil), ids...)
		t.Borders[n] = b
	}
}

// Leg makes a leg of an event, with the call's id and the tool's name as they will be read.
func (t *Tree) Leg(e *Event, id, name []byte) Leg {
	keep := func(b []byte) Sub {
		at := uint32(len(t.text))
		t.text = append(t.text, b...)
		return Sub{at, uint32(len(b))}
	}
	return Leg{Call: MakeID(id), Kind: e.Kind, Flags: e.Flags, id: keep(id), name: keep(name)}
}

// CallID is the id of a leg's call as it is written.
func (t *Tree) CallID(g Leg) string { return string(g.id.Of(t.text)) }

// CallName is the name of the tool.
func (t *Tree) CallName(g Leg) string { return string(g.name.Of(t.text)) }

// Find is the node of an id, -1 if there is none.
func (t *Tree) Find(id ID) int32 {
	if n, ok := t.index[id]; ok {
		return n
	}
	return -1
}

// Pointed is the node that the last pointer names, -1 if there is none that the client sees: earlier pointers do not count.
func (t *Tree) Pointed() int32 {
	if len(t.Pointers) == 0 {
		return -1
	}
	n := t.Find(t.Pointers[len(t.Pointers)-1].Leaf)
	if n >= 0 && (t.Nodes[n].Opaque || t.Nodes[n].Passed) {
		return -1
	}
	return n
}

// LegsOf are the calls and results of a node.
func (t *Tree) LegsOf(n int32) []Leg {
	x := &t.Nodes[n]
	return t.Legs[x.Legs : x.Legs+x.N]
}

// Grow sets Up of every node.
func (t *Tree) Grow() {
	for i := range t.Nodes {
		n := &t.Nodes[i]
		switch {
		case !n.Named:
			n.Up = Root
		default:
			if n.Up = t.Find(n.Parent); n.Up < 0 {
				n.Up = Absent
			}
		}
	}
}

// Join makes ready what Group and Results walk through. It must be called again when nodes were added.
func (t *Tree) Join() {
	t.nextInGroup, t.group = make([]int32, len(t.Nodes)), map[ID]int32{}
	t.nextResult, t.result = make([]int32, len(t.Legs)), map[ID]int32{}
	for i := len(t.Nodes) - 1; i >= 0; i-- {
		n := &t.Nodes[i]
		t.nextInGroup[i] = -1
		if n.Group != (ID{}) {
			if next, ok := t.group[n.Group]; ok {
				t.nextInGroup[i] = next
			}
			t.group[n.Group] = int32(i)
		}
		for k := n.Legs + n.N - 1; k >= n.Legs; k-- {
			if t.Legs[k].Kind != CallResult {
				continue
			}
			t.nextResult[k] = -1
			if next, ok := t.result[t.Legs[k].Call]; ok {
				t.nextResult[k] = next
			}
			t.result[t.Legs[k].Call] = k
		}
	}
}

// Group goes over the nodes of a group, in file order.
func (t *Tree) Group(id ID) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		n, ok := t.group[id]
		for ok && n >= 0 && yield(n) {
			n = t.nextInGroup[n]
		}
	}
}

// Results goes over the results of a call, in file order.
func (t *Tree) Results(call ID) iter.Seq[Leg] {
	return func(yield func(Leg) bool) {
		k, ok := t.result[call]
		for ok && k >= 0 && yield(t.Legs[k]) {
			k = t.nextResult[k]
		}
	}
}

// Under tells, for every node, whether it is root or hangs below it.
func (t *Tree) Under(root int32) []bool {
	const unknown, no, yes = 0, 1, 2
	state := make([]uint8, len(t.Nodes))
	state[root] = yes
	var path []int32
	for i := range t.Nodes {
		path = path[:0]
		n := int32(i)
		for n >= 0 && state[n] == unknown {
			state[n] = no // also where a cycle ends
			path = append(path, n)
			n = t.Nodes[n].Up
		}
		if n >= 0 && state[n] == yes {
			for _, p := range path {
				state[p] = yes
			}
		}
	}
	out := make([]bool, len(state))
	for i, s := range state {
		out[i] = s == yes
	}
	return out
}

// Path lists the nodes from leaf to the first one without parent in the tree; a cycle ends it.
func (t *Tree) Path(leaf int32) []int32 {
	var out []int32
	seen := make([]bool, len(t.Nodes))
	for n := leaf; n >= 0 && !seen[n]; n = t.Nodes[n].Up {
		seen[n] = true
		out = append(out, n)
	}
	return out
}

// Alias makes a node known by another id as well.
func (t *Tree) Alias(id ID, n int32) { t.index[id] = n }
