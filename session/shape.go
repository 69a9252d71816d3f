package session

// Early marks records that stand behind one that hangs under them.
func (t *Tree) Early() []bool {
	out := make([]bool, len(t.Nodes))
	for i := range t.Nodes {
		if up := t.Nodes[i].Up; up > int32(i) {
			out[up] = true
		}
	}
	return out
}

// Circles are the records, each the first of its circle, that going up leads back to.
func (t *Tree) Circles() map[int32]bool {
	const fresh, walking, done = 0, 1, 2
	state := make([]uint8, len(t.Nodes))
	out := map[int32]bool{}
	var path []int32
	for i := range t.Nodes {
		path = path[:0]
		n := int32(i)
		for n >= 0 && state[n] == fresh {
			state[n] = walking
			path = append(path, n)
			n = t.Nodes[n].Up
		}
		if n >= 0 && state[n] == walking {
			first := n
			for up := t.Nodes[n].Up; up != n; up = t.Nodes[up].Up {
				first = min(first, up)
			}
			out[first] = true
		}
		for _, p := range path {
			state[p] = done
		}
	}
	return out
}
