package session

// Link is what a record of a tree says of its place and its part in the talk.
type Link struct {
	ID, Parent ID
	Named      bool // Parent is a name; false: the record says that it has none
	Group      ID   // joins the records of one answer
	Kind       Kind // what it is for the model; a Note is not sent
	Fresh      bool // it has no parent because it begins a history anew
	Side       bool // belongs to the talk of a sub-agent
	Void       bool // never sent, whatever its kind
	Time       int64
	Prior      ID // of a compaction's border: the last record in front of it
	Anchor     ID // likewise: the summary behind which the kept records stand
}

// Places of a parent that is no node.
const (
	Root   = -1 // the record names none
	Absent = -2 // it names one that is not there
)

// Node is what is kept of a record of a tree.
type Node struct {
	Link
	Ref   Ref   // the last record of its id: that one counts
	First Ref   // the first one, whose place in the file is the node's
	Up    int32 // its parent, or Root or Absent
	Legs  int32 // index of its first leg
	N     int32 // and how many it has
	Hash  uint64
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
	// Keeps are the records that a compaction's border keeps, by the node of the border.
	Keeps map[int32][]ID
	index map[ID]int32
	text  []byte // ids and names of calls
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
		t.Nodes = append(t.Nodes, Node{First: ref})
	}
	x := &t.Nodes[n]
	x.Link, x.Ref, x.Legs, x.N = l, ref, int32(len(t.Legs)), int32(len(legs))
	for _, g := range legs {
		g.Node = n
		t.Legs = append(t.Legs, g)
	}
	return n, again
}

// Keep notes what a border keeps.
func (t *Tree) Keep(n int32, ids []ID) {
	if t.Keeps == nil {
		t.Keeps = map[int32][]ID{}
	}
	t.Keeps[n] = append([]ID(nil), ids...)
}

// Leg makes a leg of an event; raw is its record.
func (t *Tree) Leg(e *Event, raw []byte) Leg {
	keep := func(s Sub) Sub {
		at := uint32(len(t.text))
		t.text = append(t.text, s.Of(raw)...)
		return Sub{at, s.Len}
	}
	return Leg{Call: MakeID(e.Call.Of(raw)), Kind: e.Kind, Flags: e.Flags, id: keep(e.Call), name: keep(e.Name)}
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
	seen := map[int32]bool{}
	for n := leaf; n >= 0 && !seen[n]; n = t.Nodes[n].Up {
		seen[n] = true
		out = append(out, n)
	}
	return out
}
