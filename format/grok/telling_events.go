package grok

import (
	"fmt"
	"io/fs"
	"time"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// eventTelling tells what a person was asked and said, and what did not go well. What all sessions are full of is no message: leave
// that needs no person, calls that succeed, turns that come to their own end.
type eventTelling struct {
	dir    fs.FS
	looked bool
	shown  bool // the log tells ends of turns too
}

// saidEvent is what an event says.
type saidEvent struct {
	Time     string `json:"ts"`
	Type     string `json:"type"`
	Tool     string `json:"tool_name"`
	Call     string `json:"tool_call_id"`
	Decision string `json:"decision"`
	Wait     int64  `json:"wait_ms"`
	Outcome  string `json:"outcome"`
	Why      string `json:"cancellation_category"`
}

// Tell says what an event does.
func (t *eventTelling) Tell(r *session.Record, out []format.Message) []format.Message {
	var s saidEvent
	if !decode(r.Raw, &s) {
		return out
	}
	title, text, again := "", "", false
	switch s.Type {
	case "permission_resolved":
		if title, text = "permission", join(": ", s.Tool, s.Decision); s.Wait > 0 {
			text += fmt.Sprintf(", after %d ms", s.Wait)
		} else if s.Decision == "allow" {
			return out
		}
	case "tool_completed":
		if s.Outcome == "" || s.Outcome == "success" {
			return out
		}
		title, text = "tool", join(": ", s.Tool, s.Outcome)
	case "turn_ended":
		if s.Outcome == "completed" {
			return out
		}
		title, text, again = "turn", join(": ", s.Outcome, s.Why), t.isShown()
	}
	if text == "" {
		return out
	}
	m := remark(title, text)
	m.ID, m.Copy = s.Call, again
	if at, err := time.Parse(time.RFC3339, s.Time); err == nil {
		m.Time = at.UnixMilli()
	}
	return append(out, m)
}

// isShown tells whether there is a log.
func (t *eventTelling) isShown() bool {
	if !t.looked && t.dir != nil {
		fi, err := fs.Stat(t.dir, updatesName)
		t.shown = err == nil && fi.Mode().IsRegular()
	}
	t.looked = true
	return t.shown
}
