package grok

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// Items of a history that were torn may stand in the log as well: they are told again. A place where bytes are damaged, or
// where a result stands without the answer that asks for it, is a wound; what the log tells between the items on both sides of
// one, and the history does not hold, is put there.

// wound is a place where something is missing.
type wound struct {
	at, line int64
	call     string // of a result that stands there alone
}

// Hurt notes where bytes are damaged.
func (d *history) Hurt(faults []finding.Finding) {
	d.wounds = append(d.wounds, woundsOf(faults)...)
	for _, f := range faults {
		switch f.Code {
		case finding.BadUTF8:
			d.sore = append(d.sore, f.Text)
		case finding.GluedWhole:
			d.glued = append(d.glued, f.Text)
		case finding.NoFinalNewline:
			d.end-- // the newline comes first
		}
	}
}

func woundsOf(faults []finding.Finding) (out []wound) {
	for _, f := range faults {
		switch e, ok := finding.Lookup(f.Code); {
		case !ok || e.Stage != finding.StageBytes || f.Code == finding.BlankLine || f.Code == finding.NoFinalNewline:
		case f.Code == finding.BadUTF8 || f.Code == finding.ControlChar || f.Code == finding.SplitRecord || f.Code == finding.GluedWhole: // nothing is lost
		default:
			out = append(out, wound{at: f.Text, line: f.Line})
		}
	}
	slices.SortFunc(out, func(a, b wound) int { return cmp.Compare(a.at, b.at) })
	return out
}

// Recalls tells whether the answer that asks for a call is put back, or the result of the call.
func (d *history) Recalls(call string) bool { return d.recalled[call] }

// item is one of the history that is there, with the results behind it.
type item struct {
	at, end int64
	prompt  int  // its number, -1 = none
	query   bool // words of the user
	answer  bool
	calls   []string
	text    string
	line    int64 // behind it, without results
	bad     bool  // bytes of it are no UTF-8
}

// items reads the history once more.
func (d *history) items() (list []item, results map[string]bool) {
	results = map[string]bool{}
	besideAt(d.dir, historyName, func(f *fields, at, end int64) {
		x := item{at: at, end: end, line: end, prompt: -1, bad: !utf8.Valid(f.Raw)}
		switch string(f.Str(kType)) {
		case "user":
			if n, err := strconv.Atoi(string(f.Value(kItemPrompt))); err == nil {
				x.prompt = n
			}
			x.query = bytes.Contains(f.Value(kContent), query)
		case "assistant":
			x.answer, x.text = true, strings.TrimSpace(unquote(string(f.Str(kContent))))
			for _, c := range f.calls {
				x.calls = append(x.calls, string(f.Inside(c.id)))
			}
		case "tool_result":
			call := string(f.Str(kCall))
			n := len(list)
			near := n > 0 && slices.Contains(list[n-1].calls, call)
			if near || !cancelled(f.Str(kContent)) { // else it goes
				results[call] = true
			}
			if near {
				list[n-1].end = end
				return
			}
		}
		list = append(list, x)
	})
	return list, results
}

// restore puts items back that the log still tells: at a wound, and at the end, where the log is ahead by turns that came to their
// own end.
func (d *history) restore(b *format.Batch) {
	if d.dir == nil || d.old {
		return
	}
	o, ok := readOutline(d.dir)
	if d.prompt >= 0 && len(o.turns) == 0 {
		f := finding.New(finding.DerivedMismatch)
		f.Where, f.Message = "log", "the history holds a talk, and the log beside it is empty or not there: the client shows nothing, and counts prompts from 0 again"
		f.Repair = "nothing: what the user was shown is in the log alone"
		f.Never = "delete the history"
		b.Findings = append(b.Findings, f)
	}
	if !ok || !o.marked || len(o.turns) == 0 {
		return // turns are not told apart
	}
	last := len(o.turns) - 1
	behind := d.prompt < last || o.turns[last].stop == endTurn && !d.spoke
	if len(d.wounds)+len(d.sore) == 0 && !behind {
		return
	}
	list, results := d.items()
	d.clean(list)
	if len(d.sore) == 0 && !behind {
		return
	}
	from, to := d.around(&o, list, behind)
	var told []retold
	w := &writer{outline: &o, dir: d.dir}
	for n := from; n <= to; n++ {
		told = append(told, w.turn(n)...)
	}
	where := locate(told, list)
	if where == nil {
		return
	}
	d.recalled = map[string]bool{}
	for _, g := range gaps(told, list, where) {
		g.last = g.last && to == last
		if y := g.spoiled(); y != nil {
			d.reword(b, y, g.lost[0].line)
			continue
		}
		g.leave()
		at := d.places(&g, list)
		for i := 0; i < len(at); {
			k := i
			for k < len(at) && at[k] == at[i] {
				k++
			}
			d.tell(b, at[i], g.lost[i:k], list, results)
			i = k
		}
	}
}

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

// reword puts an answer in the place of its damaged copy.
func (d *history) reword(b *format.Batch, y *item, line []byte) {
	f := finding.New(finding.DerivedMismatch)
	f.Text, f.Off, f.TextLen, f.Len, f.Where = y.at, y.at, y.line-y.at, y.line-y.at, "history"
	f.Message = "bytes of this answer are damaged, and the log holds its words"
	f.Repair = "it is told again, of the log"
	f.Never = "let the client go on without it"
	f.Patches = []finding.Patch{{At: y.at, Ins: line}, {At: y.at, Del: y.line - y.at + 1}}
	b.Findings = append(b.Findings, f)
}

// clean sorts the wounds. A result whose call the history asks for somewhere is no sign of an answer that is lost.
func (d *history) clean(list []item) {
	asked := map[string]bool{}
	for _, x := range list {
		for _, c := range x.calls {
			asked[c] = true
		}
	}
	d.wounds = slices.DeleteFunc(d.wounds, func(w wound) bool { return w.call != "" && asked[w.call] })
	slices.SortFunc(d.wounds, func(a, b wound) int { return cmp.Compare(a.at, b.at) })
	for _, w := range d.wounds {
		d.sore = append(d.sore, w.at)
	}
	slices.Sort(d.sore)
}

// endTurn is how a turn ends by itself.
const endTurn = "end_turn"

// around are the turns, of those that are not compacted, that may have lost something.
func (d *history) around(o *outline, list []item, behind bool) (from, to int) {
	base, last := 0, len(o.turns)-1
	if b, ok := o.border(); ok {
		base = b.index
	}
	from, to = max(base, d.prompt), last
	if len(d.sore) == 0 {
		return from, to
	}
	from = base
	for _, x := range list {
		switch {
		case x.prompt < 0:
		case x.at < d.sore[0]:
			from = max(base, x.prompt)
		case !behind && x.at > d.sore[len(d.sore)-1]:
			return from, min(x.prompt, last)
		}
	}
	return from, to
}

// tell writes items at a place. An answer right in front of it gets the results first that it waits for.
func (d *history) tell(b *format.Batch, w wound, lost []retold, list []item, results map[string]bool) {
	if !slices.ContainsFunc(lost, func(x retold) bool { return !x.part }) {
		return
	}
	var ins []byte
	for _, y := range list {
		if y.end != w.at && y.end+1 != w.at {
			continue
		}
		for _, id := range y.calls {
			if !results[id] {
				_, text := d.Grade(session.Call{ID: id})
				ins = append(ins, resultLine(id, text)...)
				d.recalled[id] = true
			}
		}
	}
	words := 0
	for i := range lost {
		x := &lost[i]
		if x.part {
			continue
		}
		ins = append(ins, x.line...)
		words++
		for _, c := range x.calls {
			d.recalled[c.id] = true
			if !results[c.id] {
				ins = append(ins, c.result...)
			}
		}
	}
	if slices.ContainsFunc(list, func(x item) bool { return x.end == w.at }) && w.at != d.end && !slices.Contains(d.glued, w.at) { // behind a record on its line
		ins = append([]byte{'\n'}, bytes.TrimSuffix(ins, []byte{'\n'})...)
	}
	f := finding.New(finding.DerivedMismatch)
	f.Text, f.Off, f.Line, f.Where = w.at, w.at, w.line, "history"
	f.Message = fmt.Sprintf("items of the talk are missing here that the log holds: %d", words)
	f.Repair = "they are told again, of the log"
	f.Never = "let the client go on without them"
	f.Patches = []finding.Patch{{At: w.at, Ins: ins}}
	b.Findings = append(b.Findings, f)
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
