package grok

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
)

// Items of a history that were torn may stand in the log as well: they are told again. A place where bytes are damaged, or
// where a result stands without the answer that asks for it, is a wound; what the log tells between the items on both sides of
// one, and the history does not hold, is put there.

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
