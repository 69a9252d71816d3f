package grok

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// End says what is left open, and what would end it.
func (d *updates) End(b *format.Batch) {
	d.closings = nil
	d.old(b)
	d.lost(b)
	d.unkept(b)
	d.unnamed(b)
	if !d.open && len(d.behind) == 0 {
		return
	}
	h, e := readHistory(d.dir), readEvents(d.dir)
	d.missed(b, &h, &e)
	if !d.open {
		return
	}
	order := slices.Clone(d.order)
	lost := map[string]ask{} // calls that the user was not shown
	for _, a := range h.asks {
		if _, ok := d.calls[a.id]; !ok && d.ofThisTurn(h) {
			order = append(order, a.id)
			lost[a.id] = a
		}
	}
	open := false
	for _, id := range order {
		if c := d.calls[id]; c != nil && c.ended {
			continue
		}
		open = true
		d.settle(b, id, lost, &h, &e)
	}
	if !open && (d.hostly && !e.open || e.known && !e.open && !d.hurtBehind(d.began) || !e.known && d.ends == 0) {
		return // a release that does not write the end of a turn
	}
	stop := e.stop()
	f := finding.About(finding.OpenTurn, d.began, "tail", "a turn is open at the end of the log")
	f.Repair = "a record is added that ends it as " + stop
	b.Findings = append(b.Findings, f)
	mark := "TURN_INTERRUPTED"
	if stop != interrupted {
		mark = "FROM_EVENTS"
	}
	prompt := d.prompt
	if prompt == "" {
		prompt = d.id + "-interrupted"
	}
	d.add("_x.ai/session/update", `"sessionUpdate":"turn_completed","prompt_id":"`+prompt+`","stop_reason":"`+stop+`"`, "", mark, format.Closing{Kind: "turn_completed"})
}

// hurtBehind tells whether bytes behind a record are damaged.
func (d *updates) hurtBehind(at session.Ref) bool {
	return slices.ContainsFunc(d.wounds, func(w wound) bool { return w.at > at.Text })
}

// ofThisTurn tells whether the history's last turn is the open one: one of its calls was shown in that, of whichever answer, since
// a client that is killed takes the newest update of the log with it; or none was shown in that.
func (d *updates) ofThisTurn(h told) bool {
	return len(d.order) == 0 || slices.ContainsFunc(d.order, func(id string) bool { return h.turn[id] })
}

// settle reports a call without end and writes what ends it.
func (d *updates) settle(b *format.Batch, id string, lost map[string]ask, h *told, e *events) {
	ref := d.began
	if c := d.calls[id]; c != nil {
		ref = c.ref
	}
	f := finding.About(finding.DanglingCall, ref, "tail", fmt.Sprintf("call %q has no end in what the user is shown", id))
	f.CallID = id
	f.Never = "repeat it blindly: it may have run"
	status, code, text := "failed", "", ""
	if r, ok := h.result(id); ok && !cancelled(within(r)) {
		status, code, text = "completed", finding.ResultRestored, r
		if own := ownCode(within(r)); own != "" {
			status, code = "failed", own
		}
	}
	if text == "" || text[0] != '"' {
		var words string
		code, words = e.grade(d.dir, id, slices.IndexFunc(h.asks, func(a ask) bool { return a.id == id }))
		if c := d.calls[id]; c != nil && c.pending && !e.known && !hasTerminal(d.dir, id) {
			code, words = finding.ToolNotStarted, notStartedText // today's client never says so
		}
		status, text = "failed", `"`+words+`"`
	}
	f.Repair = "its end is added: " + code
	b.Findings = append(b.Findings, f)
	mark := code
	if code == finding.ResultRestored {
		mark = "FROM_CHAT_HISTORY"
	}
	if a, ok := lost[id]; ok {
		body := `"sessionUpdate":"tool_call","toolCallId":"` + id + `","title":"` + a.name + `"`
		if args := unquote(a.args); json.Valid([]byte(args)) {
			body += `,"rawInput":` + args
		}
		d.add("session/update", body, d.prompt, "FROM_CHAT_HISTORY", format.Closing{Kind: "tool_call", CallID: id})
	}
	d.add("session/update", callEnd(id, status, text), d.prompt, mark, format.Closing{Code: code, Kind: "tool_call_update", CallID: id})
}

// missed reports calls of turns that ended whose end was lost: the history has their result, or the turn came to its own end, or
// was ended after a crash. In one that the user cancelled they have none as a rule.
func (d *updates) missed(b *format.Batch, h *told, e *events) {
	for _, u := range d.behind {
		result, ok := h.result(u.id)
		said := within(result)
		real := ok && !invented(said)
		if !real && u.aborted {
			continue
		}
		f := finding.About(finding.DanglingCall, u.ref, "ended", fmt.Sprintf("call %q has no end in what the user is shown, and its turn has", u.id))
		f.CallID = u.id
		f.Never = "repeat it blindly: it may have run"
		status, mark, text := "failed", finding.ToolOutcomeUnknown, `"`+endedText+`"`
		switch {
		case real:
			status, mark, text = "completed", "FROM_CHAT_HISTORY", result
		case ok && !cancelled(said):
			text = result
			if own := ownCode(said); own != "" {
				mark = own
			}
		case u.cut:
			if e.ended[u.id] {
				break
			}
			if text = `"` + unknownText + `"`; ok && !hasTerminal(d.dir, u.id) {
				mark, text = "FROM_CHAT_HISTORY", result // what the model was told
			}
		}
		f.Repair = "its end is told in front of the end of its turn"
		f.Patches = []finding.Patch{{At: u.end, Ins: between(d.lineAt(u.time, u.stamp, "session/update", callEnd(u.id, status, text), u.prompt, mark), u.glued)}}
		b.Findings = append(b.Findings, f)
	}
}

// callEnd is the end of a call.
func callEnd(id, status, text string) string {
	return `"sessionUpdate":"tool_call_update","toolCallId":"` + id + `","status":"` + status + `","content":[{"type":"content","content":{"type":"text","text":` + text + `}}]`
}

// unquote is what the inside of a string says.
func unquote(inside string) string {
	var s string
	if json.Unmarshal([]byte(`"`+inside+`"`), &s) != nil {
		return ""
	}
	return s
}

// add writes a record behind the last one.
func (d *updates) add(method, update, prompt, mark string, c format.Closing) {
	c.Line = d.line(method, update, prompt, mark)
	d.closings = append(d.closings, c)
}

// between is a line that is to stand in front of a record; one that shares its line with the record in front of it gets a line of its
// own behind it anyway.
func between(line []byte, glued bool) []byte {
	if glued {
		return append([]byte{'\n'}, bytes.TrimSuffix(line, []byte{'\n'})...)
	}
	return line
}

// line is a record at the end, with the next number.
func (d *updates) line(method, update, prompt, mark string) []byte {
	return d.lineAt(d.time, d.stamp, method, update, prompt, mark)
}

// lineAt is one of another time.
func (d *updates) lineAt(time string, stamp int64, method, update, prompt, mark string) []byte {
	d.high++
	line := `{"timestamp":` + orZero(time) + `,"method":"` + method + `","params":{"sessionId":"` + d.id + `","update":{` + update + `},"_meta":{"eventId":"` +
		d.id + `-` + strconv.FormatInt(d.high, 10) + `","agentTimestampMs":` + strconv.FormatInt(stamp, 10)
	if prompt != "" {
		line += `,"promptId":"` + prompt + `"`
	}
	return []byte(line + `,"sessfix":{"synthetic":"` + mark + `"}}}}` + "\n")
}

func orZero(s string) string {
	if s == "" {
		return "0"
	}
	return s
}

// Settle is what ends the turn.
func (d *updates) Settle() ([]format.Closing, error) { return d.closings, nil }

// Hurt notes where bytes are damaged. Bytes that are no UTF-8 keep the client from showing anything at all, wherever they stand.
func (d *updates) Hurt(faults []finding.Finding) {
	d.wounds = woundsOf(faults)
	for i := range faults {
		f := &faults[i]
		if (f.Code == finding.TornLine || f.Code == finding.TornTail || f.Code == finding.GluedTorn || f.Code == finding.NotObject) && !utf8.Valid(bytesAt(d.dir, updatesName, f.Span)) {
			f.Where = "utf8"
		}
	}
}
