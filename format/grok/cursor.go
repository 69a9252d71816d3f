package grok

import (
	"fmt"
	"io/fs"

	"github.com/sessfix/sessfix/format"
)

// Replay tells what a client gets that names the last event it saw: what came behind that, or all, where the event is not to be
// found among what was not taken back, or where something behind it bears no id.
func (Format) Replay(dir fs.FS, cursor string) (r format.Replay, ok bool) {
	type line struct {
		turn        int
		named, here bool
	}
	var live []line
	var p prompts
	ok = beside(dir, updatesName, func(f *fields) {
		kind := f.Str(kUpdate)
		if s, to := p.take(kind, f); s == rewinds {
			k := len(live)
			for k > 0 && live[k-1].turn > to {
				k--
			}
			live = live[:k]
			return
		}
		status := string(f.Str(kStatus))
		if string(kind) == "available_commands_update" || string(kind) == "tool_call_update" && status == "in_progress" {
			return // never replayed
		}
		id := string(f.Str(kEvent))
		live = append(live, line{p.turns, id != "", id != "" && id == cursor})
	})
	if !ok {
		return r, false
	}
	r = format.Replay{Cursor: cursor, Full: true, Records: len(live), Why: "no event of that id is left"}
	for i := len(live) - 1; i >= 0; i-- {
		switch {
		case live[i].here:
			return format.Replay{Cursor: cursor, Records: len(live) - 1 - i}, true
		case !live[i].named:
			r.Why = fmt.Sprintf("the event is not among the last %d, and the one in front of those bears no id", len(live)-1-i)
			return r, true
		}
	}
	return r, true
}

var _ format.Replayable = Format{}
