package verify

import (
	"fmt"
	"slices"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// cuts finds the records under such as the client does not see, where what it makes of them by itself is not the talk that the log
// holds. What it heals is no fault.
func (t *tree) cuts(r format.Replayer, sent []int32) {
	heal := t.heals(r)
	if heal == nil || !slices.ContainsFunc(t.Nodes, func(x session.Node) bool { return x.Opaque }) {
		return
	}
	if slices.Equal(t.healed(r, heal), sent) {
		return
	}
	// Those first that it hangs elsewhere, then all.
	for _, astray := range []bool{true, false} {
		onWay := make([]bool, len(t.Nodes))
		way := t.Path(t.leafAt)
		of := t.leafAt // what the client sees last
		for _, n := range way {
			onWay[n] = true
			if x := &t.Nodes[n]; !x.Passed && !x.Opaque {
				of = n
			}
			up := t.Nodes[n].Up
			if t.Nodes[n].Opaque || up < 0 || !t.Nodes[up].Opaque {
				continue
			}
			does := "finds no way past it"
			if to := heal(of, onWay); to < 0 {
				does = "stops there"
			} else if t.spoken(to) != t.spoken(up) {
				does = fmt.Sprintf("goes on with line %d instead", t.ref(to).Logical)
			} else if astray {
				continue
			}
			t.opaque(n, does)
		}
		if slices.Equal(t.healed(r, heal), sent) {
			return
		}
	}
}

// heals is what the client does with a record whose parent it does not see, nil where it goes up no further.
func (t *tree) heals(r format.Replayer) func(n int32, onWay []bool) int32 {
	h, ok := r.(format.Healer)
	if !ok {
		return nil
	}
	return h.Heals(&t.Tree)
}

// spoken is the first node from n up that says something, -1 if there is none.
func (t *tree) spoken(n int32) int32 {
	for range t.Nodes { // no more steps than nodes, whatever the links say
		if n < 0 || t.talk(n) {
			break
		}
		n = t.Nodes[n].Up
	}
	return max(n, -1)
}

// healed is the talk that a client sends which hangs by itself what it finds cut.
func (t *tree) healed(r format.Replayer, heal func(n int32, onWay []bool) int32) []int32 {
	ups := t.ups()
	defer func() {
		for i, up := range ups {
			t.Nodes[i].Up = up
		}
	}()
	cut := make([]bool, len(t.Nodes))
	for i := range t.Nodes {
		x := &t.Nodes[i]
		for range t.Nodes { // no more steps than nodes, whatever the links say
			if x.Up < 0 || !t.Nodes[x.Up].Passed {
				break
			}
			x.Up = t.Nodes[x.Up].Up
		}
	}
	for i := range t.Nodes {
		x := &t.Nodes[i]
		if x.Up >= 0 && t.Nodes[x.Up].Opaque {
			x.Up, cut[i] = session.Root, true
		}
	}
	leaf := t.leafAt
	if !t.pointed() {
		leaf = r.Leaf(&t.Tree)
	}
	onWay := make([]bool, len(t.Nodes))
	for n := leaf; n >= 0; {
		onWay[n] = true
		up := t.Nodes[n].Up
		if cut[n] || up >= 0 && onWay[up] {
			up = heal(n, onWay)
			t.Nodes[n].Up = up
		}
		n = up
	}
	return t.sent(r, leaf)
}

// pointed tells whether a record is asked for that names the place to go on from.
func (t *tree) pointed() bool {
	return slices.ContainsFunc(t.changes, func(c Change) bool { return c.Kind == Point })
}
