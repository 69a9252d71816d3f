package grok

import (
	"slices"
	"strings"
)

// gap is what the log tells between two items of the history, and the history does not hold.
type gap struct {
	lost      []retold
	among     []item // what the history holds there instead
	low, high int64
	last      bool // no item follows that the log tells
}

func gaps(told []retold, list []item, where []int) (out []gap) {
	low, at := int64(0), 0
	for i := 0; i < len(told); {
		if k := where[i]; k >= 0 {
			low, at = list[k].end, k+1
			i++
			continue
		}
		g := gap{low: low, high: 1 << 62, among: list[at:], last: true}
		k := i
		for k < len(told) && where[k] < 0 {
			k++
		}
		if k < len(told) {
			g.high, g.among, g.last = list[where[k]].at, list[min(at, where[k]):where[k]], false
		}
		g.lost = slices.Clone(told[i:k])
		out = append(out, g)
		i = k
	}
	return out
}

// spoiled is the answer of which the log holds the words, where it is one and bytes of it are damaged.
func (g *gap) spoiled() *item {
	if len(g.lost) != 1 || g.lost[0].prompt >= 0 || len(g.lost[0].calls) > 0 || len(g.among) != 1 {
		return nil
	}
	if y := &g.among[0]; y.bad && y.answer && len(y.calls) == 0 {
		return y
	}
	return nil
}

// leave leaves answers out that the history may hold in other words.
func (g *gap) leave() {
	for _, y := range g.among {
		if y.answer && len(y.calls) == 0 {
			g.lost = slices.DeleteFunc(g.lost, func(x retold) bool { return x.prompt < 0 && len(x.calls) == 0 })
			return
		}
	}
}

// bare tells whether no item stands between two places.
func (g *gap) bare(from, to int64) bool {
	return !slices.ContainsFunc(g.among, func(y item) bool { return y.at >= from && y.at < to })
}

// places are where the items of a gap are told: an answer in front of its results, all others at a wound in front of the next of
// those, or behind them; without any wound at the end, where the turns came to their own. They are none where it is to be left.
func (d *history) places(g *gap, list []item) []wound {
	var in []wound
	for _, w := range d.wounds {
		if w.at >= g.low && w.at <= g.high {
			in = append(in, w)
		}
	}
	out := make([]wound, len(g.lost))
	if len(in) == 0 {
		if !g.last || len(list) == 0 || g.low+1 < list[len(list)-1].end || slices.ContainsFunc(g.lost, func(x retold) bool { return !x.ended }) {
			return nil
		}
		for i := range out {
			out[i] = wound{at: d.end, line: d.line + 1}
		}
		return out
	}
	at := make([]int, len(g.lost))
	for i, x := range g.lost {
		at[i] = slices.IndexFunc(in, func(w wound) bool {
			return w.call != "" && slices.ContainsFunc(x.calls, func(c retoldCall) bool { return c.id == w.call })
		})
		for at[i] > 0 && in[at[i]-1].call == "" && g.bare(in[at[i]-1].at, in[at[i]].at) {
			at[i]-- // what is left of it stands there
		}
	}
	for i := len(at) - 2; i >= 0; i-- {
		if at[i] < 0 {
			at[i] = at[i+1]
		}
	}
	for i := range at {
		switch {
		case at[i] < 0 && i > 0 && at[i-1] >= 0:
			at[i] = at[i-1]
			if k := slices.IndexFunc(in[at[i]:], func(w wound) bool { return w.call == "" }); k > 0 {
				at[i] += k
			}
		case at[i] < 0 && g.low == 0: // behind what stands in front of all talk
			at[i] = len(in) - 1
		case at[i] < 0:
			at[i] = 0
		case i > 0:
			at[i] = max(at[i], at[i-1])
		}
		out[i] = in[at[i]]
	}
	return out
}

// locate finds told items in the history: for each its place there, -1 where it is not. It is nil where the two do not run side
// by side.
func locate(told []retold, list []item) []int {
	where := make([]int, len(told))
	at, found := 0, false
	for i := range told {
		where[i] = -1
		k := at
		if k > 0 && len(told[i].calls) > 0 {
			k-- // calls of one answer may be told as several
		}
		for ; k < len(list); k++ {
			if told[i].is(&list[k]) {
				where[i], at, found = k, k+1, true
				break
			}
		}
	}
	first := len(list)
	for _, k := range where {
		if k >= 0 {
			first = k
			break
		}
	}
	for k, y := range list { // words that a compaction kept bear no number
		if y.query && y.prompt < 0 && k > first || !found && len(told) > 0 && y.prompt >= told[0].prompt {
			return nil
		}
	}
	return where
}

// is tells whether an item of the history is the one that the log tells.
func (x *retold) is(y *item) bool {
	switch {
	case x.prompt >= 0:
		return y.prompt == x.prompt
	case !y.answer:
		return false
	case len(x.calls) > 0:
		return slices.ContainsFunc(x.calls, func(c retoldCall) bool { return slices.Contains(y.calls, c.id) })
	}
	return len(y.calls) == 0 && y.text == strings.TrimSpace(x.text)
}
