package grok

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

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
