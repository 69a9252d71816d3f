package grok

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// rewind is a turn whose number was given away before: what stood between was taken back.
type rewind struct {
	to    int
	time  string
	stamp int64
	at    session.Ref // the turn
	low   int64       // the turn in front of it begins here
}

// lost reports rewinds that are gone, where damaged bytes show that something is.
func (d *updates) lost(b *format.Batch) {
	for _, w := range d.rewinds {
		if !slices.ContainsFunc(d.wounds, func(x wound) bool { return x.at >= w.low && x.at <= w.at.Text }) {
			continue
		}
		f := finding.About(finding.DerivedMismatch, w.at, "rewind", fmt.Sprintf("this turn has the number of an earlier one, %d, and the rewind that gave it away was damaged: the client shows what was taken back", w.to))
		f.Repair = "the rewind is written again in front of it"
		f.Never = "delete what was taken back"
		made := seconds(w.time)
		if made == "" {
			made = "1970-01-01T00:00:00Z"
		}
		line := d.lineAt(w.time, w.stamp, "_x.ai/session/update", `"sessionUpdate":"rewind_marker","target_prompt_index":`+strconv.Itoa(w.to)+`,"created_at":"`+made+`"`, "", "REWIND_RESTORED")
		f.Patches = []finding.Patch{{At: w.at.Text, Ins: line}} // a record that shares its line gets its newline first
		b.Findings = append(b.Findings, f)
		d.rewind(w.to)
	}
}

// rewind takes turns back.
func (d *updates) rewind(to int) {
	d.turns = to
	d.behind = slices.DeleteFunc(d.behind, func(u unended) bool { return u.turn >= to })
	d.borders = slices.DeleteFunc(d.borders, func(c checkpointAt) bool { return c.turn > to })
}
