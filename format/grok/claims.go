package grok

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// invented tells a result that a recovery wrote in place of a real one: ours, or the client's.
func invented(text []byte) bool {
	return ownCode(text) != "" || cancelled(text) || bytes.HasPrefix(text, haltHead)
}

// ownCode is the code that a text of ours begins with, "" where it is none of ours.
func ownCode(text []byte) string {
	for _, code := range []string{finding.ToolOutcomeUnknown, finding.ToolNotStarted} {
		if bytes.HasPrefix(text, []byte(code+":")) {
			return code
		}
	}
	return ""
}

// within is what stands in a JSON string.
func within(text string) []byte { return []byte(strings.Trim(text, `"`)) }

// haltHead begins what the client answers a call with that the user cancelled, running or not (1.0.41).
var haltHead = []byte("Tool execution was halted by the harness (")

// What the client itself answers a call with that it finds without result, whatever became of it (1.0.41).
var cancelHead, cancelTail = []byte("Tool execution was cancelled by the user (tool `"), []byte("` was not executed).")

func cancelled(text []byte) bool {
	return bytes.HasPrefix(text, cancelHead) && bytes.HasSuffix(text, cancelTail)
}

// claim is such an answer.
type claim struct {
	ref     session.Ref
	call    string
	at, len int64 // its text, as written
}

// judgeClaims holds them against what the other files say.
func (d *history) judgeClaims(b *format.Batch) {
	for _, c := range d.claims {
		if d.real[c.call] {
			continue // the true one stands behind it
		}
		code, text := d.Grade(session.Call{ID: c.call})
		if cancelled(within(text)) || code != finding.ResultRestored && !d.events.ended[c.call] && !hasTerminal(d.dir, c.call) {
			continue // nothing says that it ran
		}
		f := finding.About(finding.FalseCloser, c.ref, "cancelled", fmt.Sprintf("the client told the model that call %q was cancelled and did not run: it ran", c.call))
		f.CallID = c.call
		f.Repair = "its text is replaced: " + code
		f.Never = "let the model repeat it blindly"
		f.Patches = []finding.Patch{{At: c.at, Del: c.len, Ins: []byte(text)}}
		b.Findings = append(b.Findings, f)
	}
}
