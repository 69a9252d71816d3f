package grok_test

import (
	"strings"
	"testing"

	"github.com/sessfix/sessfix/verify"
)

// What is open at the end of a log, and what is written to end it. Lines are told as "call c1", "failed c1 CODE", "completed c1 text", "end reason".
func TestEndings(t *testing.T) {
	const gone = "TOOL_NOT_STARTED"
	const unknown = "TOOL_OUTCOME_UNKNOWN"
	first := []string{"user:0:a", "say:b", "end:end_turn"}
	asked := func(result ...string) string {
		return history(append([]string{"system", "user:0:a", "answer:b", "user:1:c", "asks:d:c1,c2"}, result...)...)
	}
	for _, c := range []struct {
		name    string
		log     []string
		history string
		more    folder
		want    string
	}{
		{"nothing is open", nil, history("system", "user:0:a", "answer:b"), nil, ""},
		{"a prompt", []string{"user:1:c"}, history("system", "user:0:a", "answer:b", "user:1:c"), nil, "end interrupted"},
		{"half an answer", []string{"user:1:c", "say:d"}, history("system", "user:0:a", "answer:b", "user:1:c"), nil, "end interrupted"},
		{"calls, and no events", []string{"user:1:c", "say:d", "call:c1", "call:c2"}, asked(), nil, "failed c1 " + unknown + ", failed c2 " + unknown + ", end interrupted"},
		{"calls that began", []string{"user:1:c", "say:d", "call:c1", "call:c2"}, asked(), folder{eventsName: events("turn", "ended:completed", "turn", "loop", "tool", "tool")},
			"failed c1 " + unknown + ", failed c2 " + unknown + ", end interrupted"},
		{"the second did not begin", []string{"user:1:c", "say:d", "call:c1", "call:c2"}, asked(), folder{eventsName: events("turn", "ended:completed", "turn", "loop", "tool", "ask", "allow")},
			"failed c1 " + unknown + ", failed c2 " + gone + ", end interrupted"},
		{"none began", []string{"user:1:c", "say:d", "call:c1", "call:c2"}, asked(), folder{eventsName: events("turn", "ended:completed", "turn", "loop")}, "failed c1 " + gone + ", failed c2 " + gone + ", end interrupted"},
		{"tools of an earlier answer do not count", []string{"user:1:c", "say:d", "call:c1", "call:c2"}, asked(), folder{eventsName: events("turn", "loop", "tool", "tool", "ended:completed", "turn", "loop", "tool", "tool", "loop", "tool")},
			"failed c1 " + unknown + ", failed c2 " + gone + ", end interrupted"},
		{"the user is asked", []string{"user:1:c", "say:d", "call:c1"}, asked(), folder{eventsName: events("turn", "ended:completed", "turn", "loop", "tool", "ask")},
			"failed c1 " + gone + ", call c2, failed c2 " + gone + ", end interrupted"},
		{"the user said no", []string{"user:1:c", "say:d", "call:c1", "call:c2"}, asked(), folder{eventsName: events("turn", "ended:completed", "turn", "loop", "tool", "ask", "deny", "tool", "ask", "cancelled")},
			"failed c1 " + gone + ", failed c2 " + gone + ", end interrupted"},
		{"it left output, whatever the events say", []string{"user:1:c", "say:d", "call:c1", "call:c2"}, asked(), folder{eventsName: events("turn", "ended:completed", "turn", "loop"), "terminal/c2.log": ""},
			"failed c1 " + gone + ", failed c2 " + unknown + ", end interrupted"},
		{"the events saw its end", []string{"user:1:c", "say:d", "call:c1", "call:c2"}, asked(), folder{eventsName: events("turn", "ended:completed", "turn", "loop", "done:c1")},
			"failed c1 " + unknown + ", failed c2 " + gone + ", end interrupted"},
		{"the history has a result", []string{"user:1:c", "say:d", "call:c1", "call:c2"}, asked("result:c1:true \"é\""), nil, `completed c1 true \"é\", failed c2 ` + unknown + ", end interrupted"},
		{"one ended", []string{"user:1:c", "say:d", "call:c1", "call:c2", "done:c1:x"}, asked(), nil, "failed c2 " + unknown + ", end interrupted"},
		{"one that is at work", []string{"user:1:c", "say:d", "call:c1", "run:c1", "call:c2"}, asked(), folder{eventsName: events("turn", "ended:completed", "turn", "loop", "tool")},
			"failed c1 " + unknown + ", failed c2 " + gone + ", end interrupted"},
		{"it was said to wait", []string{"user:1:c", "say:d", "wait:c1", "call:c2"}, asked(), nil, "failed c1 " + gone + ", failed c2 " + unknown + ", end interrupted"},
		{"it was said to wait, and then began", []string{"user:1:c", "say:d", "wait:c1", "run:c1", "call:c2"}, asked(), nil, "failed c1 " + unknown + ", failed c2 " + unknown + ", end interrupted"},
		{"it was said to wait, and left output", []string{"user:1:c", "say:d", "wait:c1", "call:c2"}, asked(), folder{"terminal/c1.log": "x"}, "failed c1 " + unknown + ", failed c2 " + unknown + ", end interrupted"},
		{"it was said to wait, and the events know better", []string{"user:1:c", "say:d", "wait:c1", "call:c2"}, asked(), folder{eventsName: events("turn", "ended:completed", "turn", "loop", "tool")},
			"failed c1 " + unknown + ", failed c2 " + gone + ", end interrupted"},
		{"a call that was never shown", []string{"user:1:c", "say:d", "call:c1", "done:c1:x"}, asked("result:c1:x"), nil, "call c2, failed c2 " + unknown + ", end interrupted"},
		{"the second answer's call was never shown", []string{"user:1:c", "say:d", "call:c0", "done:c0:x", "say:d"},
			history("system", "user:0:a", "answer:b", "user:1:c", "asks:d:c0", "result:c0:x", "asks:d:c1"), nil, "call c1, failed c1 " + unknown + ", end interrupted"},
		{"the history is behind, and its last call was an earlier turn's", []string{"user:1:c", "say:d", "call:c9", "done:c9:x", "user:2:e", "say:f", "call:c8", "done:c8:x"},
			history("system", "user:0:a", "answer:b", "user:1:c", "asks:d:c0", "result:c0:x", "asks:d:c1"), nil, "end interrupted"},
		{"all ended", []string{"user:1:c", "say:d", "call:c1", "call:c2", "done:c1:x", "done:c2:y"}, asked("result:c1:x", "result:c2:y"), nil, "end interrupted"},
		{"all ended, and the turn as well", []string{"user:1:c", "say:d", "call:c1", "call:c2", "done:c1:x", "done:c2:y", "end:max_tokens"}, asked("result:c1:x", "result:c2:y"), nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := updates(append(first[:3:3], c.log...)...)
			files := folder{logName: log, historyName: c.history, summaryName: goodSummary}
			for name, text := range c.more {
				files[name] = text
			}
			m := files.mend(t)
			if !strings.HasPrefix(m.folder[logName], log) {
				t.Errorf("more than an appendix:\n%s", m.folder[logName])
			}
			if got := toldLines(added(log, m.folder[logName])); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", m.found, got, c.want)
			}
			if (c.want == "") != (m.verdict == verify.Clean) {
				t.Errorf("%s: %s", m.verdict, m.found)
			}
		})
	}
}

// A call of an earlier turn, which has its end there, is not one of a turn that a kill cut short before it asked for any.
func TestEarlierCalls(t *testing.T) {
	told := history("system", "user:0:a", "asks::c1", "result:c1:r", "answer:x", "user:1:b")
	bare := strings.NewReplacer(`,"prompt_index":0`, "", `,"prompt_index":1`, "").Replace(told)
	for _, h := range []string{told, bare} {
		f := folder{logName: updates("user:0:a", "call:c1", "done:c1:r", "say:x", "end:end_turn", "user:1:b"), historyName: h, eventsName: events("turn", "loop", "tool", "done:c1", "ended:completed", "turn", "loop"), summaryName: goodSummary}
		m := f.mend(t)
		if lines := added(f[logName], m.folder[logName]); len(lines) != 1 || !strings.Contains(lines[0], `"stop_reason":"interrupted"`) {
			t.Errorf("added to the log: %s", lines)
		}
	}
}

// toldLines tells records that a repair added.
func toldLines(lines []string) string {
	var out []string
	between := func(s, from, to string) string {
		_, s, _ = strings.Cut(s, from)
		s, _, _ = strings.Cut(s, to)
		return s
	}
	for _, l := range lines {
		call := between(l, `"toolCallId":"`, `"`)
		text := strings.TrimSuffix(between(l, `"type":"text","text":"`, `"}}`), `"}}]}`)
		if code, _, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(code, "TOOL_") {
			text = code
		}
		switch {
		case strings.Contains(l, `"tool_call"`):
			out = append(out, "call "+call)
		case strings.Contains(l, `"tool_call_update"`):
			out = append(out, between(l, `"status":"`, `"`)+" "+call+" "+text)
		case strings.Contains(l, `"turn_completed"`):
			out = append(out, "end "+between(l, `"stop_reason":"`, `"`))
		default:
			out = append(out, l)
		}
	}
	return strings.Join(out, ", ")
}

// Records that are added bear the last time, numbers above all others, and what marks them.
func TestEndingsMarked(t *testing.T) {
	log := updates("user:0:a", "say:b", "call:c1")
	log += `{"timestamp":1718236900,"method":"session/update","params":{"sessionId":"` + id + `","update":{"sessionUpdate":"agent_thought_chunk"},"_meta":{"eventId":"` + id + `-70","agentTimestampMs":5,"promptId":"prompt-1"}}}` + "\n"
	m := folder{logName: log, historyName: history("system", "user:0:a", "asks:b:c1", "result:c1:r"), summaryName: goodSummary, eventsName: events("turn", "loop", "tool")}.mend(t)
	want := `{"timestamp":1718236900,"method":"session/update","params":{"sessionId":"` + id + `","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"r"}}]},"_meta":{"eventId":"` + id + `-71","agentTimestampMs":1718236800003,"promptId":"prompt-1","sessfix":{"synthetic":"FROM_CHAT_HISTORY"}}}}
{"timestamp":1718236900,"method":"_x.ai/session/update","params":{"sessionId":"` + id + `","update":{"sessionUpdate":"turn_completed","prompt_id":"prompt-1","stop_reason":"interrupted"},"_meta":{"eventId":"` + id + `-72","agentTimestampMs":1718236800003,"sessfix":{"synthetic":"TURN_INTERRUPTED"}}}}`
	if got := strings.Join(added(log, m.folder[logName]), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := m.folder[eventsName]; !strings.HasSuffix(got, `{"ts":"2024-06-13T00:00:02.000Z","type":"turn_ended","outcome":"interrupted"}`+"\n") {
		t.Errorf("%s", got)
	}
}

// What looks open and is not.
func TestClosed(t *testing.T) {
	turn := folder{logName: updates("user:0:a", "say:b", "end:end_turn"), historyName: history("system", "user:0:a", "answer:b"), summaryName: goodSummary}
	for name, files := range map[string]folder{
		"a turn that the user cancelled, with calls": turn.with(logName, updates("user:0:a", "say:b", "call:c1", "call:c2", "end:cancelled")).
			with(historyName, history("system", "user:0:a", "asks:b:c1,c2", "result:c1:Tool execution was halted by the harness (user cancelled).", "result:c2:Tool execution was halted by the harness (user cancelled).")).
			with(eventsName, events("turn", "loop", "tool", "ended:cancelled")),
		"a turn of the host":                                turn.with(logName, updates("user:0:a", "say:b", "end:end_turn", "host:wake up", "say:c", "end:end_turn")).with(historyName, history("system", "user:0:a", "answer:b", "answer:c")),
		"words of the host, and no answer":                  turn.with(logName, updates("user:0:a", "say:b", "end:end_turn", "host:wake up")),
		"an answer of the host's turn, that no event knows": turn.with(logName, updates("user:0:a", "say:b", "end:end_turn", "host:wake up", "say:c")),
		"a command at the end":                              turn.with(logName, updates("user:0:a", "say:b", "end:end_turn", "user::/status")),
		"a client that ends no turn":                        turn.with(logName, updates("user::a", "say:b", "user::c", "say:d")).with(historyName, history("system", "user:0:a", "answer:b", "user:1:c", "answer:d")),
		"taken back":                                        turn.with(logName, updates("user:0:a", "say:b", "end:end_turn", "user:1:c", "call:c1", "rewind:1")),
		"taken back, and nothing is left":                   turn.with(logName, updates("user:0:a", "call:c1", "rewind:0")).with(historyName, history("system")),
		"a turn in front of it without end": turn.with(logName, updates("user:0:a", "say:b", "user:1:c", "say:d", "end:end_turn")).
			with(historyName, history("system", "user:0:a", "answer:b", "user:1:c", "answer:d")),
		"a rewind that leads nowhere": turn.with(logName, updates("user:0:a", "say:b", "end:end_turn", "rewind:5")),
		"equal items":                 turn.with(historyName, history("system", `{"type":"user","content":[],"synthetic_reason":"system_reminder"}`, `{"type":"user","content":[],"synthetic_reason":"system_reminder"}`, "user:0:a", "answer:b")),
		"a search of the server's": turn.with(historyName, history("system", "user:0:a", `{"type":"backend_tool_call","kind":{"tool_type":"web_search","id":"w"}}`,
			`{"type":"reasoning","id":"r","summary":[]}`, "answer:b")),
	} {
		if m := files.mend(t); m.verdict != verify.Clean {
			t.Errorf("%s: %s", name, m.found)
		}
	}
}

// A log as it was written first, without envelopes and numbers, is left as it is; calls in the history of such a client are answered as in any other: the client reads both forms, line by line.
func TestFirstForm(t *testing.T) {
	bare := func(n, update string) string {
		return `{"sessionId":"` + id + `","update":{"sessionUpdate":` + update + `},"_meta":{"eventId":"` + id + `-` + n + `"}}` + "\n"
	}
	old := `{"role":"system","content":"s"}` + "\n" + `{"role":"user","content":"<user_query>\na\n</user_query>"}` + "\n"
	log := bare("1", `"user_message_chunk","content":{"type":"text","text":"a"}`) + bare("2", `"agent_message_chunk","content":{"type":"text","text":"b"}`)
	whole := folder{logName: log, historyName: old + `{"role":"assistant","content":"b"}` + "\n", summaryName: strings.Replace(goodSummary, `,"chat_format_version":1`, "", 1)}
	if m := whole.mend(t); m.verdict != verify.Clean || m.notes != "updates VERSION_OLD log" {
		t.Errorf("%s, notes %s", m.found, m.notes)
	}
	// A call without result.
	asks := `{"role":"assistant","content":"b","tool_calls":[{"id":"c1","type":"function","function":{"name":"run","arguments":"{}"}}]}` + "\n"
	m := whole.with(historyName, old+asks).mend(t)
	if lines := added(old+asks, m.folder[historyName]); len(lines) != 1 || !strings.Contains(lines[0], `"tool_call_id":"c1","content":"TOOL_OUTCOME_UNKNOWN: `) {
		t.Errorf("%s: added %q", m.found, lines)
	}
	// One that has.
	done := old + asks + `{"role":"tool","tool_call_id":"c1","content":"r"}` + "\n" + `{"role":"assistant","content":"d"}` + "\n"
	if m = whole.with(historyName, done).mend(t); m.verdict != verify.Clean {
		t.Errorf("%s", m.found)
	}
	// Lost, it is told anew as the log tells it, in the new form.
	m = whole.with(historyName, "").mend(t)
	if want := history(`{"type":"system","content":""}`, "user:0:a", `{"type":"assistant","content":"b"}`); m.folder[historyName] != want {
		t.Errorf("gives\n%s", m.folder[historyName])
	}
}
