package claude

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/sessfix/sessfix/session"
)

// lastStopping is the last release known to go up no further where it does not see a parent.
const lastStopping = 2_001_081

func (d dialect) heals() bool { return d.rank > lastStopping }

// reach is how much older than a record the one may be that the client hangs it under by itself.
const reach = 5 * time.Second

// maxTries bounds how many nodes are looked at for the whole of a log.
const maxTries = 10_000_000

// Heals is what a client does with a record whose parent it does not see, because it is lost or of a type that it does not know:
// it hangs it under the newest node that is not newer, of several the first in the file, wherever that is. It must have a time, be no
// more than five seconds older, be of the main talk, and not lie on the way already. Progress records and messages without content are
// out of the tree before.
func (d dialect) Heals(t *session.Tree) func(n int32, onWay []bool) int32 {
	if !d.heals() {
		return nil
	}
	var by []int32 // the nodes that something may be hung under, by their time
	tries := 0
	return func(n int32, onWay []bool) int32 {
		own := t.Nodes[n].Time
		if own == 0 {
			return -1
		}
		if by == nil {
			by = candidates(t)
		}
		best := int32(-1)
		for k := sort.Search(len(by), func(k int) bool { return t.Nodes[by[k]].Time > own }) - 1; k >= 0 && tries < maxTries; k-- {
			tries++
			x := &t.Nodes[by[k]]
			if best >= 0 && x.Time != t.Nodes[best].Time || instant(own).Sub(instant(x.Time)) > reach {
				break
			}
			if by[k] != n && (int(by[k]) >= len(onWay) || !onWay[by[k]]) {
				best = by[k]
			}
		}
		return best
	}
}

func candidates(t *session.Tree) []int32 {
	by := []int32{}
	for i := range t.Nodes {
		if x := &t.Nodes[i]; !x.Opaque && !x.Passed && !x.Side && x.Time != 0 {
			by = append(by, int32(i))
		}
	}
	slices.SortStableFunc(by, func(a, b int32) int { return cmp.Compare(t.Nodes[a].Time, t.Nodes[b].Time) })
	return by
}

// instant is the time that millis has read.
func instant(v int64) time.Time {
	next := func(unit int64) int {
		n := v % unit
		v /= unit
		return int(n)
	}
	ms, s, m, h := next(1000), next(100), next(100), next(100)
	day, month := next(100), next(100)
	return time.Date(int(v), time.Month(month), day, h, m, s, ms*int(time.Millisecond), time.UTC)
}
