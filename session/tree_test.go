package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/session"
)

// grow makes a tree of pairs "id parent"; "-" is no parent.
func grow(pairs string) *session.Tree {
	t := &session.Tree{}
	for i, p := range strings.Split(pairs, ",") {
		w := strings.Fields(p)
		l := session.Link{ID: session.MakeID([]byte(w[0])), Kind: session.UserMessage, Time: int64(i)}
		if w[1] != "-" {
			l.Parent, l.Named = session.MakeID([]byte(w[1])), true
		}
		t.Add(l, session.Ref{N: int64(i)}, nil)
	}
	t.Grow()
	return t
}

func TestTreeGrow(t *testing.T) {
	for _, c := range []struct{ pairs, ups string }{
		{"a -, b a, c b", "[-1 0 1]"},
		{"a x, b a", "[-2 0]"},
		{"b a, a -", "[1 -1]"},
		{"a a", "[0]"},
		{"a b, b a", "[1 0]"},
		{"a -, b c, c d, d b", "[-1 2 3 1]"},
		{"a -, b a, a b", "[1 0]"}, // the last record of an id counts
		{"a -, b a, c b, b -", "[-1 -1 1]"},
	} {
		tree := grow(c.pairs)
		ups := []int32{}
		for _, n := range tree.Nodes {
			ups = append(ups, n.Up)
		}
		if got := fmt.Sprint(ups); got != c.ups {
			t.Errorf("%s: %s, want %s", c.pairs, got, c.ups)
		}
	}
}

func TestTreePathAndUnder(t *testing.T) {
	for _, c := range []struct {
		pairs       string
		leaf        int32
		path, below string // below the leaf, itself too
	}{
		{"a -, b a, c b, d a", 2, "[2 1 0]", "[2]"},
		{"a -, b a, c b, d a", 0, "[0]", "[0 1 2 3]"},
		{"a -, b a, c b, d a", 1, "[1 0]", "[1 2]"},
		{"c b, b a, a -", 0, "[0 1 2]", "[0]"},
		{"c b, b a, a -", 2, "[2]", "[0 1 2]"},
		{"a x, b a", 1, "[1 0]", "[1]"},
		{"a a, b a", 0, "[0]", "[0 1]"},
		{"a a, b a", 1, "[1 0]", "[1]"},
		{"a b, b a", 0, "[0 1]", "[0 1]"},
		{"a -, b c, c d, d b, e c", 4, "[4 2 3 1]", "[4]"},
		{"a -, b c, c d, d b, e c", 1, "[1 2 3]", "[1 2 3 4]"},
		{"a -, b c, c d, d b, e c", 0, "[0]", "[0]"},
		{"d c, c a, b a, a b, e d", 1, "[1 3 2]", "[0 1 4]"},
	} {
		tree := grow(c.pairs)
		below := []int32{}
		for n, in := range tree.Under(c.leaf) {
			if in {
				below = append(below, int32(n))
			}
		}
		if path := fmt.Sprint(tree.Path(c.leaf)); path != c.path || fmt.Sprint(below) != c.below {
			t.Errorf("%s: the path of %d is %s, want %s; below it are %v, want %s", c.pairs, c.leaf, path, c.path, below, c.below)
		}
	}
}

// Of an id the last record counts, at the place of the first, and with its calls alone.
func TestTreeAdd(t *testing.T) {
	var tree session.Tree
	raw := []byte("one sh two")
	one := session.Event{Kind: session.CallAsked, Call: session.Sub{Off: 0, Len: 3}, Name: session.Sub{Off: 4, Len: 2}}
	two := session.Event{Kind: session.CallResult, Flags: session.Synthetic, Call: session.Sub{Off: 7, Len: 3}}
	id := func(s string) session.ID { return session.MakeID([]byte(s)) }
	add := func(name string, n int64, kind session.Kind, events ...session.Event) (int32, bool) {
		var legs []session.Leg
		for i := range events {
			legs = append(legs, tree.Leg(&events[i], events[i].Call.Of(raw), events[i].Name.Of(raw)))
		}
		return tree.Add(session.Link{ID: id(name), Kind: kind}, session.Ref{N: n}, legs)
	}
	for i, c := range []struct {
		name   string
		kind   session.Kind
		events []session.Event
		node   int32
		again  bool
	}{
		{"a", session.AssistantMessage, []session.Event{one, two}, 0, false},
		{"b", session.UserMessage, []session.Event{two}, 1, false},
		{"a", session.Note, []session.Event{two}, 0, true},
		{"c", session.UserMessage, nil, 2, false},
		{"b", session.Summary, nil, 1, true},
	} {
		if n, again := add(c.name, int64(i), c.kind, c.events...); n != c.node || again != c.again {
			t.Errorf("record %d is node %d, %t", i, n, again)
		}
	}
	a, b := tree.Nodes[0], tree.Nodes[1]
	if a.At.N != 2 || a.Kind != session.Note || b.At.N != 4 || b.Kind != session.Summary {
		t.Errorf("%+v %+v", a, b)
	}
	if legs := tree.LegsOf(0); len(legs) != 1 || legs[0].Kind != session.CallResult || legs[0].Flags != session.Synthetic || legs[0].Node != 0 ||
		tree.CallID(legs[0]) != "two" || tree.CallName(legs[0]) != "" || legs[0].Call != id("two") {
		t.Errorf("%+v", legs)
	}
	if len(tree.LegsOf(1)) > 0 || len(tree.LegsOf(2)) > 0 || tree.Find(id("c")) != 2 || tree.Find(id("d")) != -1 {
		t.Error("the tree knows what it should not")
	}
	if g := tree.Legs[0]; tree.CallID(g) != "one" || tree.CallName(g) != "sh" {
		t.Errorf("%+v", g)
	}
	if (&session.Tree{}).Find(id("a")) != -1 {
		t.Error("an empty tree has a node")
	}
}

// Of a border the last record counts as well, and what it keeps is a copy.
func TestTreeBorders(t *testing.T) {
	var tree session.Tree
	id := func(s string) session.ID { return session.MakeID([]byte(s)) }
	add := func(name string, kind session.Kind, keeps ...session.ID) {
		n, _ := tree.Add(session.Link{ID: id(name), Kind: kind, Prior: id("p"), Anchor: id("q")}, session.Ref{}, nil)
		if len(keeps) > 0 {
			tree.Keep(n, keeps)
		}
	}
	keeps := []session.ID{id("a"), id("b")}
	add("w", session.CompactionEnd, keeps...)
	keeps[0] = id("c")
	if b := tree.Borders[0]; b.Prior != id("p") || b.Anchor != id("q") || len(b.Keeps) != 2 || b.Keeps[0] != id("a") {
		t.Errorf("%+v", b)
	}
	add("w", session.CompactionEnd)
	if b, ok := tree.Borders[0]; !ok || len(b.Keeps) > 0 {
		t.Errorf("told anew without them it still keeps %d records", len(b.Keeps))
	}
	add("u", session.UserMessage, keeps...)
	add("w", session.Note, keeps...)
	if len(tree.Borders) > 0 {
		t.Errorf("%+v", tree.Borders)
	}
}

// Groups and results go in file order, whatever was told anew.
func TestTreeJoin(t *testing.T) {
	var tree session.Tree
	raw := []byte("12")
	for _, c := range []struct{ name, group, results string }{
		{"a", "g", "1"}, {"b", "h", "12"}, {"c", "g", "1"}, {"d", "", "2"}, {"b", "g", "2"}, {"e", "h", ""}, {"f", "g", "11"},
	} {
		var legs []session.Leg
		for _, call := range c.results {
			e := session.Event{Kind: session.CallResult, Call: session.Sub{Off: uint32(call - '1'), Len: 1}}
			asked := session.Event{Kind: session.CallAsked, Call: e.Call}
			legs = append(legs, tree.Leg(&asked, e.Call.Of(raw), nil), tree.Leg(&e, e.Call.Of(raw), nil))
		}
		tree.Add(session.Link{ID: session.MakeID([]byte(c.name)), Group: session.MakeID([]byte(c.group))}, session.Ref{}, legs)
	}
	for range 2 { // it may be called again
		tree.Join()
		for what, want := range map[string]string{"g": "0 1 2 5", "h": "4", "x": "", "": ""} {
			var got []string
			for n := range tree.Group(session.MakeID([]byte(what))) {
				got = append(got, fmt.Sprint(n))
			}
			if s := strings.Join(got, " "); s != want {
				t.Errorf("group %q is %s, want %s", what, s, want)
			}
		}
		for what, want := range map[string]string{"1": "0 2 5 5", "2": "1 3", "3": ""} {
			var got []string
			for g := range tree.Results(session.MakeID([]byte(what))) {
				if got = append(got, fmt.Sprint(g.Node)); g.Kind != session.CallResult {
					t.Errorf("%+v is no result", g)
				}
			}
			if s := strings.Join(got, " "); s != want {
				t.Errorf("results of %s are in %s, want %s", what, s, want)
			}
		}
		for range tree.Group(session.MakeID([]byte("g"))) {
			break
		}
		for range tree.Results(session.MakeID([]byte("1"))) {
			break
		}
	}
}

// A record of a plain part is found again by what is kept of it, in a large file too.
func TestTreePlace(t *testing.T) {
	for _, off := range []int64{0, 7, 5 << 30} {
		r := session.Ref{Span: session.Span{Off: off, Len: 9, Text: off, TextLen: 9, Line: 3, Logical: 3}, N: 2, Marks: session.Salvaged | session.DupKeys}
		if got := session.PlaceOf(r).Ref(); got != r {
			t.Errorf("%+v is found as %+v", r, got)
		}
	}
}

// A chain of many records, however it lies in the file: with time that grows faster than their number, or a stack,
// this would not end.
func TestTreeLongChain(t *testing.T) {
	const n = 200_000
	id := func(i int) session.ID { return session.ID{Hi: 1, Lo: uint64(i + 1)} }
	for name, at := range map[string]func(i int) int{
		"forwards":  func(i int) int { return i },
		"backwards": func(i int) int { return n - 1 - i },
		"mixed":     func(i int) int { return i * 7919 % n },
	} {
		for _, cycle := range []bool{false, true} {
			if cycle && name == "forwards" {
				continue
			}
			var tree session.Tree
			for i := range n {
				k := at(i)
				l := session.Link{ID: id(k), Parent: id(k - 1), Named: k > 0}
				if cycle && k == 0 {
					l.Parent, l.Named = id(n-1), true
				}
				tree.Add(l, session.Ref{N: int64(i)}, nil)
			}
			tree.Grow()
			if got := len(tree.Path(tree.Find(id(n - 1)))); got != n {
				t.Errorf("%s: the path has %d nodes", name, got)
			}
			want, got := n/2, 0
			if cycle {
				want = n
			}
			for _, in := range tree.Under(tree.Find(id(n / 2))) {
				if in {
					got++
				}
			}
			if got != want {
				t.Errorf("%s: %d nodes hang below the middle, want %d", name, got, want)
			}
		}
	}
}
