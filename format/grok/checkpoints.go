package grok

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// checkpointAt names the file of a compaction.
type checkpointAt struct {
	file string
	turn int
	ref  session.Ref
}

func (d *updates) border(file string, at session.Ref) {
	if d.named == nil {
		d.named = map[string]bool{}
	}
	d.named[file] = true
	d.borders = append(d.borders, checkpointAt{file, d.turns, at})
}

// unnamed reports files of compactions that the log does not name: the client never comes back to what was in front of them.
func (d *updates) unnamed(b *format.Batch) {
	if d.dir == nil {
		return
	}
	entries, _ := fs.ReadDir(d.dir, "compaction_checkpoints")
	for _, e := range entries {
		name := "compaction_checkpoints/" + e.Name()
		if strings.HasSuffix(name, ".json") && e.Type().IsRegular() && !d.named[name] {
			b.Findings = append(b.Findings, note(finding.DerivedMismatch, "border", name+" is of a compaction that the log does not know: the history is compacted all the same"))
		}
	}
}

// unkept reports compactions whose file is not there, or cannot be read: the history could not be made anew.
func (d *updates) unkept(b *format.Batch) {
	if d.dir == nil || len(d.borders) == 0 {
		return
	}
	if _, err := fs.Stat(d.dir, historyName); err != nil {
		return // a log without the rest of its session
	}
	for _, c := range d.borders {
		if _, ok := readCheckpoint(d.dir, c.file); !ok {
			f := finding.About(finding.SpillMissing, c.ref, "checkpoint", fmt.Sprintf("the compaction's file %q is not there, or cannot be read: no rewind leads behind it, and the history cannot be made anew", c.file))
			b.Findings = append(b.Findings, f)
		}
	}
}
