package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// Logs are told here write by write: numbers and times are put in where the log is written down.
type tx []string

const sessionID = "01a00000-0000-7000-8000-000000000000"

// head is the header, with members to be added.
func head(more string) string {
	return `{"v":4,"kind":"header","id":"` + sessionID + `","storageVersion":1,"createdAt":1700000000000,"cwd":"/home/user/project"` + more + `}`
}

// eid is the id of an entry.
func eid(n int) string { return fmt.Sprintf("01a00000-0000-7000-8000-%012d", n) }

func set(space, key, value string) string {
	return `{"kind":"value","op":"set","namespace":"` + space + `","key":"` + key + `","value":` + value + `}`
}

func unset(space, key string) string {
	return `{"kind":"value","op":"delete","namespace":"` + space + `","key":"` + key + `"}`
}

func push(space, key, value string) string {
	return `{"kind":"list","op":"append","namespace":"` + space + `","key":"` + key + `","value":` + value + `}`
}

func says(n, up int, message string) string {
	return `{"kind":"entry","id":"` + eid(n) + `","parentId":` + nullable(idOf(up)) + `,"type":"message","message":` + message + `,"timestamp":1700000000000}`
}

func idOf(n int) string {
	if n == 0 {
		return ""
	}
	return eid(n)
}

func paid(n int) string {
	return `{"kind":"usage","id":"` + eid(n) + `","usage":` + noUsage + `,"adjustment":false}`
}

func user(text string) string {
	return `{"role":"user","content":[{"type":"text","text":"` + text + `"}],"timestamp":1}`
}

// asking is an answer with a thought, a text, and calls from the third block on.
func asking(calls ...string) string {
	b := `{"type":"thinking","thinking":"hm"},{"type":"text","text":"I run"}`
	for _, c := range calls {
		b += `,{"type":"toolCall","id":"` + c + `","name":"bash","arguments":{"kind":"entry","seq":7}}`
	}
	return `{"role":"assistant","content":[` + b + `],"stopReason":"toolUse","timestamp":2}`
}

func result(call string) string {
	return `{"role":"toolResult","toolCallId":"` + call + `","toolName":"bash","content":[{"type":"text","text":"real"}],"isError":false,"timestamp":3}`
}

// meta and state are the values of operation 900, in lane main.
func meta(intent string) string {
	return set(metas, eid(900), `{"operationId":"`+eid(900)+`","lane":"main","sourceTipId":null,"startedAt":1700000000001,"intent":`+intent+`}`)
}

const (
	run     = `{"kind":"run","promptEntryIds":[]}`
	running = `"control":{"status":"running"},"latestAssistantEntryId":null`
	model   = `"configuration":{"model":{"provider":"faux","modelId":"faux-1"}}`
)

func state(members string) string { return set(states, eid(900), `{`+members+`}`) }

func lane(current, inbox string) string {
	return set(laneStates, "main", `{"currentOperationId":`+current+`,"lastOperationId":null,"inbox":`+inbox+`}`)
}

// begin are the transactions of a lane with a prompt and a run that starts.
func begin() []tx {
	return []tx{
		{set(tips, "main", "null"), set(laneConfigs, "main", `{"model":{}}`), lane("null", "[]")},
		{says(1, 0, user("Go")), set(tips, "main", `"`+eid(1)+`"`), meta(run), state(`"at":"starting",` + running), lane(`"`+eid(900)+`"`, "[]")},
	}
}

// asked are those of a run whose answer asks for calls, which stand as told; the results are to be entries 10 and on.
func asked(statuses ...string) []tx {
	var ids []string
	for i := range statuses {
		ids = append(ids, fmt.Sprintf("c%d", i))
	}
	return append(begin(), tx{says(2, 1, asking(ids...)), paid(500), set(tips, "main", `"`+eid(2)+`"`), batch(statuses...)})
}

func batch(statuses ...string) string {
	var calls []string
	for i, s := range statuses {
		calls = append(calls, fmt.Sprintf(`{"status":"%s","sourceIndex":%d,"resultEntryId":"%s"}`, s, i+2, eid(10+i)))
	}
	return state(`"at":"tools",` + running + `,"batch":{"assistantEntryId":"` + eid(2) + `","turnId":"t","calls":[` + strings.Join(calls, ",") + `]}`)
}

// told gives the transactions numbers from 1 on, below a header.
func told(header string, log ...tx) string {
	out := header + "\n"
	seq := 0
	for _, t := range log {
		var lines []string
		for _, w := range t {
			seq++
			lines = append(lines, strings.Replace(w, `{"kind":`, fmt.Sprintf(`{"seq":%d,"kind":`, seq), 1))
		}
		if len(lines) == 1 {
			out += lines[0] + "\n"
		} else {
			out += "[" + strings.Join(lines, ",") + "]\n"
		}
	}
	return out
}

// seen is what decoding a text gives.
type seen struct {
	findings []finding.Finding
	closings []format.Closing
	batches  []format.Batch
	header   *format.Header
}

// codes are the findings with their places, and what calls they are about.
func (s seen) codes() string {
	var out []string
	for _, f := range s.findings {
		w := string(f.Code)
		for _, more := range []string{f.Where, f.CallID} {
			if more != "" {
				w += " " + more
			}
		}
		out = append(out, w)
	}
	return strings.Join(out, ", ")
}

func (s seen) settled() string {
	var b strings.Builder
	for _, c := range s.closings {
		b.Write(c.Line)
	}
	return b.String()
}

// decode reads a text line by line. What is no JSON is passed over, as scan takes it out of the log, and so is a last line
// that is not whole.
func decode(t testing.TB, text string) seen {
	t.Helper()
	first, _, _ := strings.Cut(text, "\n")
	d, err := Dialect([]byte(first))
	if err != nil {
		t.Fatal(err)
	}
	return decodeAs(t, d, text)
}

func decodeAs(t testing.TB, d format.Dialect, text string) seen {
	t.Helper()
	m, err := scan.NewMachine(d.Framing().Keys)
	if err != nil {
		t.Fatal(err)
	}
	dec := d.NewDecoder(format.Place{})
	var s seen
	var b format.Batch
	take := func() {
		s.findings = append(s.findings, b.Findings...)
		c := b
		c.Events, c.Findings = append([]session.Event(nil), b.Events...), nil
		s.batches = append(s.batches, c)
		if b.Header != nil {
			s.header = b.Header
		}
	}
	buf := append([]byte(text), make([]byte, scan.Pad)...)
	var n, number int64
	for at := 0; at < len(text); {
		number++
		end, marks := len(text), session.Unterminated
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end, marks = at+i, 0
		}
		stop, f := m.Value(buf, at, end)
		if f.Cause == scan.OK && strings.TrimSpace(text[stop:end]) == "" && strings.ContainsRune("{[", rune(text[at])) {
			r := &session.Record{N: n, Raw: buf[at:end:end], Caps: m.Caps, Marks: marks}
			r.Span = session.Span{Off: int64(at), Len: int64(end - at), Text: int64(at), TextLen: int64(end - at), Line: number, Logical: number}
			if m.Dup {
				r.Marks |= session.DupKeys
			}
			b.Reset()
			before := bytes.Clone(r.Raw)
			dec.Decode(r, &b)
			if !bytes.Equal(before, r.Raw) {
				t.Fatalf("decoding changes %q", before)
			}
			take()
			n++
		}
		at = end + 1
	}
	b.Reset()
	dec.End(&b)
	take()
	if p, ok := dec.(format.Settler); ok {
		if s.closings, err = p.Settle(); err != nil {
			t.Fatal(err)
		}
		again, _ := p.Settle()
		if (seen{closings: again}).settled() != s.settled() {
			t.Fatal("what ends the log differs the second time")
		}
	}
	return s
}

// mend adds what ends a log, and holds it against what it must be.
func mend(t testing.TB, text string) (mended string, added []map[string]any) {
	t.Helper()
	s := decode(t, text)
	mended = text + s.settled()
	if err := fine(s, decode(t, mended)); err != "" {
		t.Fatalf("%s\n%s", err, mended)
	}
	for _, c := range s.closings {
		if c.Line == nil {
			continue
		}
		var writes []map[string]any
		if err := json.Unmarshal(c.Line, &writes); err != nil {
			t.Fatalf("%s: %v", c.Line, err)
		}
		added = append(added, writes...)
	}
	return mended, added
}

// fine says what is wrong with a log that was ended: nothing may be open, or be said of it that was not said before.
func fine(before, after seen) string {
	old := map[string]int{}
	for _, f := range before.findings {
		old[string(f.Code)+f.Where+f.CallID]++
	}
	for _, f := range after.findings {
		if f.Where == "tail" && f.Code == finding.OpenTurn || old[string(f.Code)+f.Where+f.CallID] == 0 {
			return fmt.Sprintf("%s %s is said of the log that was ended: %s", f.Code, f.Where, f.Message)
		}
	}
	if len(after.closings) > 0 {
		return "the log that was ended is ended once more"
	}
	return ""
}
