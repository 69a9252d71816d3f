package claude

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/session"
)

// grow makes a tree of nodes "id under kind group =result ~call", where kind is u or a and - is none.
func grow(nodes ...string) *session.Tree {
	t := &session.Tree{}
	for i, s := range nodes {
		f := strings.Fields(s)
		l := session.Link{ID: session.MakeID([]byte(f[0])), Kind: session.UserMessage}
		if f[2] == "a" {
			l.Kind = session.AssistantMessage
		}
		if f[1] != "-" {
			l.Parent, l.Named = session.MakeID([]byte(f[1])), true
		}
		if f[3] != "-" {
			l.Group = session.MakeID([]byte(f[3]))
		}
		var legs []session.Leg
		for _, c := range f[4:] {
			e := session.Event{Kind: session.CallAsked}
			if c[0] == '=' {
				e.Kind = session.CallResult
			}
			legs = append(legs, t.Leg(&e, []byte(c[1:]), nil))
		}
		t.Add(l, session.Ref{Span: session.Span{Text: int64(i)}}, legs)
	}
	t.Grow()
	t.Join()
	return t
}

// Results stand behind the whole of the answer that asks for them, in the order of the file; what stands on the way keeps its place.
func TestReplayOrder(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes []string
		want  string
	}{
		{"parallel, the last result on the way",
			[]string{"u - u -", "a u a m", "b a a m ~1", "c b a m ~2", "d c a m ~3", "r c u - =2", "s d u - =3", "q b u - =1", "e q a n"}, "u a b c d r s q e"},
		{"the first result on the way",
			[]string{"u - u -", "b u a m ~1", "c b a m ~2", "q b u - =1", "r c u - =2", "e q a n"}, "u b c q r e"},
		{"two results of a call", []string{"u - u -", "b u a m ~1", "q b u - =1", "r q u - =1", "e q a n"}, "u b q r e"},
		{"a result far behind, talk on the way", []string{"u - u -", "b u a m ~1", "v b u -", "q b u - =1", "c v a n"}, "u b q v c"},
		{"answers without a name", []string{"u - u -", "b u a - ~1", "q b u - =1", "c b a - ~2", "r c u - =2"}, "u b q c r"},
	} {
		tree := grow(c.nodes...)
		leaf := int32(len(tree.Nodes) - 1)
		d := dialect{rank: firstUnwritten}
		var got []string
		for _, n := range d.Replay(tree, tree.Path(leaf)) {
			got = append(got, strings.Fields(c.nodes[n])[0])
		}
		if s := fmt.Sprint(strings.Join(got, " ")); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}
