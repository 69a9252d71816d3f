package grok

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/session"
)

// ask is a call of an answer; all is as written.
type ask struct{ id, name, args string }

// told is what the history says of calls.
type told struct {
	dir     fs.FS
	asks    []ask                   // of its last answer that asks, behind the last prompt
	turn    map[string]bool         // what was asked for behind the last prompt
	results map[string]session.Span // of each call
}

// result is the text of a call's result, as written.
func (t *told) result(id string) (text string, ok bool) {
	at, ok := t.results[id]
	if !ok {
		return "", false
	}
	f, ok := recordAt(t.dir, historyName, at)
	return string(f.Value(kContent)), ok && f.Kind(kContent) == '"'
}

func readHistory(dir fs.FS) (t told) {
	t.dir, t.turn, t.results = dir, map[string]bool{}, map[string]session.Span{}
	numbered := false
	besideAt(dir, historyName, func(f *fields, at, end int64) {
		numbered = numbered || f.Kind(kItemPrompt) == '0'
		switch {
		case f.Kind(kItemPrompt) == '0' || !numbered && (string(f.Str(kType)) == "user" || string(f.Str(kRole)) == "user") && bytes.Contains(f.Value(kContent), query):
			t.asks = t.asks[:0]
			clear(t.turn)
		case len(f.calls) > 0:
			t.asks = t.asks[:0]
			for _, c := range f.calls {
				a := ask{string(f.Inside(c.id)), string(f.Inside(c.name)), string(f.Inside(c.args))}
				t.asks, t.turn[a.id] = append(t.asks, a), true
			}
		case f.Has(kCall):
			t.results[string(f.Str(kCall))] = session.Span{Text: at, TextLen: end - at}
		}
	})
	return t
}

// shown are the calls that ended, as the user was shown.
type shown struct {
	dir fs.FS
	at  map[string]session.Span
}

func readUpdates(dir fs.FS) *shown {
	s := &shown{dir, map[string]session.Span{}}
	besideAt(dir, updatesName, func(f *fields, at, end int64) {
		if done := string(f.Str(kStatus)); done == "completed" || done == "failed" {
			s.at[string(f.Str(kCallOf))] = session.Span{Text: at, TextLen: end - at}
		}
	})
	return s
}

// end is what was shown of a call's end, as JSON, and what marks it as made by a recovery.
func (s *shown) end(id string) (mark, text string, ok bool) {
	at, ok := s.at[id]
	if !ok {
		return "", "", false
	}
	f, ok := recordAt(s.dir, updatesName, at)
	return string(f.Str(kMark)), textOf(f), ok
}

// textOf is what a result says, as a JSON string: what the tool meant for the model, else the text blocks that were shown, else all
// that it gave.
func textOf(f *fields) string {
	if f.Kind(kForPrompt) == '"' {
		return string(f.Value(kForPrompt))
	}
	var blocks []struct {
		Content struct {
			Type string          `json:"type"`
			Text json.RawMessage `json:"text"`
		} `json:"content"`
	}
	var b strings.Builder
	if json.Unmarshal(f.Value(kShown), &blocks) == nil {
		for _, x := range blocks {
			if x.Content.Type == "text" && len(x.Content.Text) > 1 {
				b.Write(x.Content.Text[1 : len(x.Content.Text)-1])
			}
		}
	}
	if b.Len() > 0 {
		return `"` + b.String() + `"`
	}
	var out bytes.Buffer
	if json.Compact(&out, f.Value(kOutput)) == nil && out.Len() > 0 {
		text, _ := json.Marshal(out.String())
		return string(text)
	}
	return `""`
}

// slot is a tool of the last answer that was about to run.
type slot struct {
	asking bool   // the user is asked
	answer string // allow, deny, …
}

// events is what they say of the last turn.
type events struct {
	known bool
	open  bool   // it did not end
	cut   bool   // it was ended as interrupted
	how   string // it ended, in the word of the events
	turns int
	last  string // the newest time, as written
	slots []slot
	ended map[string]bool // calls
}

// readEvents reads them. A tool's start has no call's id: it is the one of the call with the same place among those of the answer.
func readEvents(dir fs.FS) (e events) {
	e.ended = map[string]bool{}
	e.known = beside(dir, eventsName, func(f *fields) { e.take(f) }) && e.turns > 0
	return e
}

func (e *events) take(f *fields) {
	keep(&e.last, f.Str(kStampText))
	switch string(f.Str(kType)) {
	case "turn_started":
		e.turns, e.open, e.cut, e.slots = e.turns+1, true, false, nil
	case "turn_ended":
		e.how = string(f.Str(kOutcome))
		e.open, e.cut = false, e.how == interrupted
	case "loop_started":
		e.slots = nil
	case "tool_started":
		e.slots = append(e.slots, slot{})
	case "permission_requested":
		if n := len(e.slots); n > 0 {
			e.slots[n-1].asking = true
		}
	case "permission_resolved":
		if n := len(e.slots); n > 0 {
			e.slots[n-1].asking, e.slots[n-1].answer = false, string(f.Str(kDecision))
		}
	case "tool_completed":
		if id := string(f.Str(kCall)); id != "" {
			e.ended[id] = true
		}
	}
}

// interrupted is how a turn ends that a crash ended, in log and events.
const interrupted = "interrupted"

// stop is how the last turn ended, in the word of the log.
func (e *events) stop() string {
	switch {
	case !e.known || e.open:
		return interrupted
	case e.how == "completed":
		return endTurn
	case e.how == "cancelled", e.how == "error":
		return e.how
	}
	return interrupted
}

// What results of unanswered calls say.
const (
	unknownText    = finding.ToolOutcomeUnknown + ": the session ended before a result of this call was recorded (closed by sessfix). " + finding.LookFirst
	notStartedText = finding.ToolNotStarted + ": the session ended before this call was started (closed by sessfix). It did not run. Ask for it again if it is still wanted."
	endedText      = finding.ToolOutcomeUnknown + ": this call ended, and what it gave was not recorded (closed by sessfix). " + finding.LookFirst
)

// grade says how far a call came that has no result: the n-th of its answer.
func (e *events) grade(dir fs.FS, id string, n int) (code, text string) {
	if e.ended[id] {
		return finding.ToolOutcomeUnknown, endedText
	}
	if hasTerminal(dir, id) {
		return finding.ToolOutcomeUnknown, unknownText
	}
	if !e.known || n < 0 || !e.open && !e.cut {
		return finding.ToolOutcomeUnknown, unknownText
	}
	if n >= len(e.slots) || e.slots[n].asking || e.slots[n].answer != "" && e.slots[n].answer != "allow" {
		return finding.ToolNotStarted, notStartedText
	}
	return finding.ToolOutcomeUnknown, unknownText
}

// hasTerminal tells whether a command of the call left its output: it ran.
func hasTerminal(dir fs.FS, id string) bool {
	name := "terminal/" + id + ".log"
	if dir == nil || !fs.ValidPath(name) {
		return false
	}
	_, err := fs.Stat(dir, name)
	return err == nil
}
