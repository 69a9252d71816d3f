package grok_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/grok"
	"github.com/sessfix/sessfix/session"
)

// tellingOf begins with a file of a session; what lies beside it may be nil.
func tellingOf(t testing.TB, name string, beside fs.FS) format.Telling {
	t.Helper()
	d, err := (grok.Format{}).Dialect(format.Peek{Path: name}, "")
	if err != nil {
		t.Fatal(err)
	}
	return d.(format.Teller).NewTelling(format.Place{Path: name, Dir: beside})
}

// said is messages in words: who to whom, what about, and each block.
func said(messages []format.Message) string {
	var lines []string
	for _, m := range messages {
		line := m.Role.String()
		for _, x := range []struct {
			is   bool
			word string
		}{
			{m.For == format.ModelOnly, "to the model"}, {m.For == format.PeopleOnly, "to people"}, {m.Copy, "copy"}, {m.Stands, "stands"},
			{m.Title != "", "(" + m.Title + ")"}, {m.ID != "", "#" + m.ID}, {m.Model != "", "by " + m.Model}, {m.Time != 0, fmt.Sprint("at ", m.Time)},
		} {
			if x.is {
				line += " " + x.word
			}
		}
		lines = append(lines, line+":"+saidBlocks(m.Blocks))
	}
	return strings.Join(lines, "\n")
}

func saidBlocks(blocks []format.Block) (line string) {
	for _, b := range blocks {
		line += " " + b.Kind.String()
		for _, x := range []struct {
			is   bool
			word string
		}{
			{b.ID != "", "#" + b.ID}, {b.Name != "", b.Name}, {b.Failed, "failed"}, {b.MadeUp, "made up"}, {b.Sealed, "sealed"},
			{b.Text != "", fmt.Sprintf("%q", b.Text)}, {b.Input != nil, string(b.Input)}, {b.Media+b.Data != "", b.Media + "," + b.Data},
			{b.URL != "", "<" + b.URL + ">"}, {b.Signature != "", "signed " + b.Signature}, {b.Content != nil, "[" + strings.TrimSpace(saidBlocks(b.Content)) + "]"},
		} {
			if x.is {
				line += " " + x.word
			}
		}
	}
	return line
}

// What each kind of item says.
func TestTellHistory(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{"type":"system","content":"Be short."}`, `system to the model: text "Be short."`},
		{`{"type":"system","content":""}`, ``},

		{`{"type":"user","content":[{"type":"text","text":"<user_info>\nOS\n</user_info>"}]}`, `user to the model: text "<user_info>\nOS\n</user_info>"`},
		{`{"type":"user","content":[{"type":"text","text":"<system-reminder>\nx\n</system-reminder>"}]}`, `user to the model: text "<system-reminder>\nx\n</system-reminder>"`},
		{`{"type":"user","content":[{"type":"text","text":"x"}],"synthetic_reason":"compaction_meta"}`, `user to the model (compaction meta): text "x"`},
		{`{"type":"user","content":[{"type":"text","text":"x"}],"synthetic_reason":"never heard of"}`, `user to the model (never heard of): text "x"`},
		{`{"type":"user","content":[{"type":"text","text":"<user_query>\na\nb\n</user_query>"}],"prompt_index":0}`,
			"user to the model copy: text \"<user_query>\\na\\nb\\n</user_query>\"\nuser to people: text \"a\\nb\""},
		{`{"type":"user","content":[{"type":"text","text":"You stopped:\n<user_query>\nof </user_query>\n</user_query>\nGo on."}],"prior_turn_interrupt":"mid_turn_abort","prompt_index":1}`,
			"user to the model: text \"You stopped:\\n<user_query>\\nof </user_query>\\n</user_query>\\nGo on.\"\nuser to people: text \"of </user_query>\""},
		{`{"type":"user","content":[{"type":"text","text":"<user_query>\nhalf"}]}`, `user: text "<user_query>\nhalf"`},
		{`{"type":"user","content":[{"type":"text","text":"<user_query>\n\n</user_query>"}]}`, `user: text "<user_query>\n\n</user_query>"`},
		{`{"type":"user","content":[{"type":"text","text":"also"}],"synthetic_reason":"interjection"}`, `user (interjection): text "also"`},
		{`{"type":"user","content":[{"type":"text","text":"<user_query>\nsee\n</user_query>"},{"type":"image","url":"data:image/png;base64,AA=="}]}`,
			`user: text "<user_query>\nsee\n</user_query>" image image/png,AA==`},
		{`{"type":"user","content":[{"type":"image","url":"https://host/a.png"},{"type":"hologram"},{"type":"text","text":""}]}`, `user: image <https://host/a.png> other "hologram"`},
		{`{"type":"user","content":"alone"}`, `user: text "alone"`},
		{`{"type":"user","content":[]}`, ``},
		{`{"type":"user"}`, ``},

		{`{"type":"assistant","content":"x","model_id":"m"}`, `assistant by m: text "x"`},
		{`{"type":"assistant","content":"","model_id":"m"}`, ``},
		{`{"type":"assistant","content":"","tool_calls":[{"id":"c1","name":"sh","arguments":"{\"a\": 1.0}"},{"id":"c2","name":"sh","arguments":"{\"a\""},{"id":"c3","name":"sh","arguments":""},{"id":"c4","name":"sh"}]}`,
			`assistant: call #c1 sh {"a": 1.0} call #c2 sh "{\"a\"" call #c3 sh {} call #c4 sh {}`},
		{`{"type":"assistant","content":"x","model_id":3}`, `assistant: text "x"`}, // what can be read of it

		{`{"type":"tool_result","tool_call_id":"c1","content":"exit: 0\nx"}`, `tool: result #c1 "exit: 0\nx"`},
		{`{"type":"tool_result","tool_call_id":"c1","content":""}`, `tool: result #c1`},
		{`{"type":"tool_result","tool_call_id":"c1","content":"see","images":[{"type":"image","url":"data:image/jpeg;x=y;base64,AA=="}]}`,
			`tool: result #c1 [text "see" image image/jpeg,AA==]`},
		{`{"type":"tool_result","tool_call_id":"c1","content":"Tool execution was cancelled by the user (tool ` + "`sh`" + ` was not executed)."}`,
			"tool: result #c1 failed made up \"Tool execution was cancelled by the user (tool `sh` was not executed).\""},
		{`{"type":"tool_result","tool_call_id":"c1","content":"Tool execution was halted by the harness (user_cancel); the tool ` + "`sh`" + ` was not executed."}`,
			"tool: result #c1 failed made up \"Tool execution was halted by the harness (user_cancel); the tool `sh` was not executed.\""},
		{`{"type":"tool_result","tool_call_id":"c1","content":"TOOL_NOT_STARTED: x"}`, `tool: result #c1 failed made up "TOOL_NOT_STARTED: x"`},
		{`{"type":"tool_result","tool_call_id":"c1","content":"User rejected the execution for tool ` + "`sh`" + `"}`, "tool: result #c1 failed \"User rejected the execution for tool `sh`\""},

		{`{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"content":[{"type":"reasoning_text","text":"c"}]}`,
			`assistant #r: thinking "a\nb\nc"`},
		{`{"type":"reasoning","id":"r","summary":[],"encrypted_content":"c2Vj","status":"completed"}`, `assistant #r: thinking sealed ,c2Vj`},
		{`{"type":"reasoning","id":"r","summary":[]}`, ``},

		{`{"type":"backend_tool_call","kind":{"tool_type":"web_search","id":"w","action":{"type":"search","query":"q"}}}`, `assistant #w: text "[backend web_search] search: q"`},
		{`{"type":"backend_tool_call","kind":{"tool_type":"web_search","id":"w","action":{"type":"open_page","url":"u"}}}`, `assistant #w: text "[backend web_search] open: u"`},
		{`{"type":"backend_tool_call","kind":{"tool_type":"web_search","id":"w","action":{"type":"find","url":"u","pattern":"p"}}}`, `assistant #w: text "[backend web_search] find \"p\" in u"`},
		{`{"type":"backend_tool_call","kind":{"tool_type":"x_search","id":"x","name":"find","input":"{}"}}`, `assistant #x: text "[backend x_search] find({})"`},
		{`{"type":"backend_tool_call","kind":{"tool_type":"code_interpreter","id":"x","code":"` + strings.Repeat("ö", 60) + `"}}`,
			`assistant #x: text "[backend code_interpreter] ` + strings.Repeat("ö", 50) + `..."`},
		{`{"type":"backend_tool_call","kind":{}}`, ``},
		{`{"type":"backend_tool_call"}`, ``},

		// As it was written first, and by early releases.
		{`{"role":"system","content":"x"}`, `system to the model: text "x"`},
		{`{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}},{"type":"image_url","image_url":"u"}]}`,
			`user: text "see" image image/png,AA== image <u>`},
		{`{"role":"assistant","content":null,"reasoning_content":"t","tool_calls":[{"id":"c","type":"function","function":{"name":"sh","arguments":"{}"}},{"id":"d","function":{"name":"sh","arguments":{"a":[1]}}}]}`,
			`assistant: thinking "t" call #c sh {} call #d sh {"a":[1]}`},
		{`{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, `tool: result #c "a\nb"`},
		{`{"type":"assistant","content":"x","reasoning":{"text":"t","encrypted":"c2Vj","id":"r"}}`, `assistant: thinking sealed "t" ,c2Vj text "x"`},
		{`{"type":"assistant","content":"x","raw_output":[{"type":"reasoning","id":"r","summary":[{"text":"t"}]},{"type":"web_search_call","id":"w","action":{"query":"q"}},{"type":"message"},3]}`,
			`assistant: thinking "t" text "[backend web_search] search: q" text "x"`},

		{`{"type":"never heard of","content":"x"}`, ``},
		{`{"content":"x"}`, ``},
		{`{"type":"assistant","content":"x"`, ``},
		{`[]`, ``},
		{``, ``},
		{`{"type":"user","content":[[[{"type":"text","text":"deep"}]]]}`, ``},
		{`{"type":"assistant","content":"half \ud83d"}`, `assistant: text "half ` + "\ufffd" + `"`},
	} {
		if got := said(tellingOf(t, historyName, nil).Tell(&session.Record{Raw: []byte(c.line)}, nil)); got != c.want {
			t.Errorf("%s\nsays %s\nwant %s", c.line, got, c.want)
		}
	}
}

// What the provider ran is told once where early releases wrote it twice.
func TestTellTwice(t *testing.T) {
	answer := func(text string, ids ...string) string {
		line := `{"type":"assistant","content":"` + text + `","raw_output":[3`
		for _, id := range ids {
			line += `,{"type":"web_search_call","id":"` + id + `","action":{"query":"` + id + `"}}`
		}
		return line + `,{"type":"never heard of","id":"w"}]}` + "\n"
	}
	f := folder{historyName: `{"type":"backend_tool_call","kind":{"tool_type":"web_search","id":"u","action":{"query":"q"}}}` + "\n" + answer("x", "u", "v") + answer("y", "v", "w", "")}
	want := `assistant #u: text "[backend web_search] search: q"
assistant: text "[backend web_search] search: v" text "x"
assistant: text "[backend web_search] search: w" text "[backend web_search] search: " text "y"`
	if got := said(told(t, f.files(), historyName)); got != want {
		t.Errorf("says %s", got)
	}
}

// A prompt that a compaction kept stands on the log for people.
func TestTellCompacted(t *testing.T) {
	var kept, numbered bool
	for _, m := range told(t, sample(t, "compacted").files(), historyName) {
		switch line := said([]format.Message{m}); line {
		case `user to the model (kept prompt): text "<user_query>\nAnd on Tuesday?\n</user_query>"`:
			kept = true
		case `user to people: text "Press the pears, and tell me how much that is together."`:
			numbered = true
		case `user to people: text "And on Tuesday?"`:
			t.Error(line)
		}
	}
	if !kept || !numbered {
		t.Error(kept, numbered)
	}
}

// What each kind of update says where nothing else is known of the session.
func TestTellLog(t *testing.T) {
	around := func(update string) string {
		return `{"timestamp":7,"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":` + update + `},"_meta":{"eventId":"s-1"}}}`
	}
	for _, c := range []struct{ update, want string }{
		{`"user_message_chunk","content":{"type":"text","text":"x"}`, `user to people #s-1 at 7000: text "x"`},
		{`"user_message_chunk","content":{"type":"text","text":"x"},"_meta":{"hostTurn":true}`, `user to people (host) #s-1 at 7000: text "x"`},
		{`"user_message_chunk","content":{"type":"image","data":"AA==","mimeType":"image/png"}`, `user to people #s-1 at 7000: image image/png,AA==`},
		{`"user_message_chunk","content":{"type":"image","data":"","mimeType":"image/png","uri":"file:///a"}`, `user to people #s-1 at 7000: image image/png, <file:///a>`},
		{`"user_message_chunk","content":{"type":"resource_link","uri":"file:///a","name":"a"}`, `user to people #s-1 at 7000: file <file:///a>`},
		{`"user_message_chunk","content":{"type":"resource","resource":{"uri":"file:///a","text":"in it"}}`, `user to people #s-1 at 7000: text "in it"`},
		{`"user_message_chunk","content":{"type":"resource","resource":{"uri":"file:///a","blob":"AA==","mimeType":"x/y"}}`, `user to people #s-1 at 7000: file x/y,AA==`},
		{`"user_message_chunk"`, ``},
		{`"agent_message_chunk","content":{"type":"text","text":"x"}`, `assistant to people #s-1 at 7000: text "x"`},
		{`"agent_thought_chunk","content":{"type":"text","text":"x"}`, `assistant to people #s-1 at 7000: thinking "x"`},
		{`"tool_call","toolCallId":"c","title":"sh","rawInput":{"a":1.0}`, `assistant to people #s-1 at 7000: call #c sh {"a":1.0}`},
		{`"tool_call","toolCallId":"c","title":"Run","_meta":{"x.ai/tool":{"name":"sh"}}`, `assistant to people #s-1 at 7000: call #c sh {}`},
		{`"tool_call","toolCallId":"c","title":"sh","status":"completed","content":[{"type":"content","content":{"type":"text","text":"x"}}]`,
			"assistant to people #s-1 at 7000: call #c sh {}\ntool to people #s-1 at 7000: result #c \"x\""},
		{`"tool_call_update","toolCallId":"c","title":"Execute"`, ``},
		{`"tool_call_update","toolCallId":"c","status":"in_progress"`, ``},
		{`"tool_call_update","toolCallId":"c","status":"failed","content":[{"type":"content","content":{"type":"text","text":"x"}}]`, `tool to people #s-1 at 7000: result #c failed "x"`},
		{`"tool_call_update","toolCallId":"c","status":"completed","content":[{"type":"diff","path":"a","oldText":"b\nc","newText":"d\n"},{"type":"content","content":{"type":"text","text":"x"}}]`,
			`tool to people #s-1 at 7000: result #c [text "--- a\n+++ a\n-b\n-c\n+d\n" text "x"]`},
		{`"tool_call_update","toolCallId":"c","status":"completed","rawOutput":{"type":"Bash","output_for_prompt":"exit: 0"}`, `tool to people #s-1 at 7000: result #c "exit: 0"`},
		{`"tool_call_update","toolCallId":"c","status":"completed","rawOutput":{"type": "Other"}`, `tool to people #s-1 at 7000: result #c "{\"type\":\"Other\"}"`},
		{`"tool_call_update","toolCallId":"c","status":"completed"`, `tool to people #s-1 at 7000: result #c`},
		{`"plan","entries":[{"content":"a","status":"pending"},{"content":"b"}]`, `note to people (plan) #s-1 at 7000: text "- pending: a\n- b\n"`},
		{`"turn_completed","stop_reason":"end_turn"`, ``},
		{`"turn_completed","stop_reason":"interrupted","agent_result":"It broke off."`, `note to people (turn) #s-1 at 7000: text "interrupted: It broke off."`},
		{`"rewind_marker","target_prompt_index":1`, `note to people (rewind) #s-1 at 7000: text "prompt 1 and what follows it were taken back"`},
		{`"compaction_checkpoint","prompt_index_at_compaction":2`, `note to people (compaction) #s-1 at 7000: text "what stands in front of prompt 2 is sent as a summary"`},
		{`"auto_compact_completed","summary_preview":null`, ``},
		{`"auto_compact_failed","error":"no"`, `note to people (compaction) #s-1 at 7000: text "failed: no"`},
		{`"retry_state","type":"retrying","attempt":1,"max_retries":3,"reason":"503"`, `note to people (error) #s-1 at 7000: text "retrying: 503 (1 of 3)"`},
		{`"retry_state","type":"failed","error_type":"auth","message":"no"`, `note to people (error) #s-1 at 7000: text "failed: auth: no"`},
		{`"subagent_spawned","subagent_type":"general","description":"count","child_session_id":"k"`, `note to people (sub-agent) #s-1 at 7000: text "general, count, k"`},
		{`"subagent_finished","status":"failed","error":"no","child_session_id":"k"`, `note to people (sub-agent) #s-1 at 7000: text "failed, no, k"`},
		{`"task_backgrounded","task_id":"t","command":"sleep 9"`, `note to people (background task) #s-1 at 7000: text "sleep 9"`},
		{`"task_completed","task_snapshot":{"task_id":"t"}`, `note to people (background task) #s-1 at 7000: text "ended, t"`},
		{`"model_changed","model_id":"m"`, `note to people (model) #s-1 at 7000: text "m"`},
		{`"model_auto_switched","new_model_id":"m","reason":"busy"`, `note to people (model) #s-1 at 7000: text "m: busy"`},
		{`"hook_annotation","message":"x"`, `note to people (hook) #s-1 at 7000: text "x"`},
		{`"session_recap","summary":"x"`, `note to people (recap) #s-1 at 7000: text "x"`},
		{`"monitor_event","description":"d","event_text":"x"`, `note to people (monitor) #s-1 at 7000: text "d: x"`},
		{`"scheduled_task_fired","prompt":"x"`, `note to people (schedule) #s-1 at 7000: text "x"`},
		{`"image_compressed","message":"x"`, `note to people (image) #s-1 at 7000: text "x"`},
		{`"image_dropped","notes":["a","b"]`, `note to people (image) #s-1 at 7000: text "a\nb"`},
		{`"background_tasks","tasks":[]`, ``},
		{`"never heard of","message":"x"`, ``},
	} {
		if got := said(tellingOf(t, logName, nil).Tell(&session.Record{Raw: []byte(around(c.update))}, nil)); got != c.want {
			t.Errorf("%s\nsays %s\nwant %s", c.update, got, c.want)
		}
	}
	for line, want := range map[string]string{
		`{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}},"_meta":{"eventId":"s-1","agentTimestampMs":9}}`:                                                                                           `assistant to people #s-1 at 9: text "x"`,
		`{"params":{"update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed","content":[{"type":"content","content":{"type":"text","text":"TOOL_OUTCOME_UNKNOWN: x"}}]},"_meta":{"sessfix":{"synthetic":"TOOL_OUTCOME_UNKNOWN"}}}}`: `tool to people: result #c failed made up "TOOL_OUTCOME_UNKNOWN: x"`,
		`{"params":{}}`: ``,
		`{"params":3}`:  ``,
		`nothing`:       ``,
	} {
		if got := said(tellingOf(t, logName, nil).Tell(&session.Record{Raw: []byte(line)}, nil)); got != want {
			t.Errorf("%s\nsays %s\nwant %s", line, got, want)
		}
	}
}

// What each kind of event says.
func TestTellEvents(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{"ts":"2026-06-01T08:00:01.007Z","type":"permission_resolved","tool_name":"sh","decision":"allow","wait_ms":0}`, ``},
		{`{"ts":"2026-06-01T08:00:01.007Z","type":"permission_resolved","tool_name":"sh","decision":"allow","wait_ms":12}`, `note to people (permission) at 1780300801007: text "sh: allow, after 12 ms"`},
		{`{"ts":"never","type":"permission_resolved","tool_name":"sh","decision":"deny","wait_ms":0}`, `note to people (permission): text "sh: deny"`},
		{`{"ts":"","type":"tool_completed","tool_name":"sh","outcome":"success","tool_call_id":"c"}`, ``},
		{`{"ts":"","type":"tool_completed","tool_name":"sh","outcome":"error","tool_call_id":"c"}`, `note to people (tool) #c: text "sh: error"`},
		{`{"ts":"","type":"turn_ended","outcome":"completed"}`, ``},
		{`{"ts":"","type":"turn_ended","outcome":"cancelled","cancellation_category":"mid_turn_abort"}`, `note to people (turn): text "cancelled: mid_turn_abort"`},
		{`{"ts":"","type":"turn_ended"}`, ``},
		{`{"ts":"","type":"turn_started","turn_number":0}`, ``},
		{`{`, ``},
	} {
		if got := said(tellingOf(t, eventsName, nil).Tell(&session.Record{Raw: []byte(c.line)}, nil)); got != c.want {
			t.Errorf("%s\nsays %s\nwant %s", c.line, got, c.want)
		}
	}
	end := &session.Record{Raw: []byte(`{"type":"turn_ended","outcome":"cancelled"}`)}
	if got := said(tellingOf(t, eventsName, fstest.MapFS{logName: {}}).Tell(end, nil)); got != `note to people copy (turn): text "cancelled"` {
		t.Errorf("beside a log the end of a turn is %s", got)
	}
	point := &session.Record{Raw: []byte(`{"prompt_index":0,"file_snapshots":{}}`)}
	if got := tellingOf(t, "rewind_points.jsonl", nil).Tell(point, nil); got != nil {
		t.Errorf("a rewind point says %s", said(got))
	}
}

// told are the messages of all records of a file, with what lies beside it known.
func told(t testing.TB, dir fs.FS, name string) (out []format.Message) {
	t.Helper()
	data, err := fs.ReadFile(dir, name)
	if err != nil {
		t.Fatal(err)
	}
	tell := tellingOf(t, name, dir)
	at := int64(0)
	for line := range bytes.Lines(data) {
		raw := bytes.Clone(bytes.TrimRight(line, "\r\n"))
		from := len(out)
		out = tell.Tell(&session.Record{Raw: raw, Span: session.Span{Text: at, TextLen: int64(len(raw))}}, out)
		before := said(out[from:])
		for i := range raw {
			raw[i] = 'x'
		}
		if said(out[from:]) != before {
			t.Errorf("%s: a message of the record at %d changes with its bytes", name, at)
		}
		at += int64(len(line))
	}
	return out
}

// of are those messages of a log that are no copies, by who speaks.
func ofOwn(messages []format.Message) (lines []string) {
	for _, m := range messages {
		if !m.Copy {
			m.ID, m.Time = "", 0
			lines = append(lines, said([]format.Message{m}))
		}
	}
	return lines
}

// Beside a history the log tells what is in it alone: turns that a compaction took away, what went wrong. Beside none it tells all.
func TestTellLogBesideHistory(t *testing.T) {
	for name, want := range map[string][]string{
		"orchard": nil,
		"rewound": {`note to people (rewind): text "prompt 1 and what follows it were taken back"`},
		"compacted": {
			`user: text "What was picked on Monday?"`, `assistant: text "30 kg of plums."`, `user: text "And on Tuesday?"`, `assistant: text "12 kg of pears."`,
			`note to people (compaction): text "what stands in front of prompt 2 is sent as a summary"`,
			`note to people (plan): text "- pending: Press the pears\n"`,
		},
		"cancelled": {`note to people (turn): text "cancelled"`},
		"healed":    {`note to people (turn): text "interrupted: The turn broke off."`},
		"first":     nil,
		"early":     nil,
	} {
		f := sample(t, name)
		if got := ofOwn(told(t, f.files(), logName)); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		delete(f, historyName)
		for _, m := range told(t, f.files(), logName) {
			if gone := slices.Contains([]string{"And for bed two?", "A walnut.", "Is it not too tall?", "It grows to 20 metres."}, m.Blocks[0].Text); m.Copy != gone {
				t.Errorf("%s: without a history: %s", name, said([]format.Message{m}))
			}
		}
	}
}

// A number of a prompt that the history begins with tells what a compaction took away where the log has no word of it, as in a fork.
func TestTellLogOfFork(t *testing.T) {
	f := sample(t, "compacted")
	var lines []string
	for line := range strings.Lines(f[logName]) {
		if !strings.Contains(line, "compact") {
			lines = append(lines, line)
		}
	}
	f = f.with(logName, strings.Join(lines, ""))
	if got := ofOwn(told(t, f.files(), logName)); len(got) != 5 || got[3] != `assistant: text "12 kg of pears."` {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	f = f.with(historyName, strings.ReplaceAll(f[historyName], `,"prompt_index":2`, ""))
	if got := ofOwn(told(t, f.files(), logName)); len(got) != 1 {
		t.Errorf("where nothing has a number: %s", strings.Join(got, "\n"))
	}
}

// Words that the model was not sent are a note.
func TestTellLogCommand(t *testing.T) {
	chunk := func(text, meta string) string {
		return `{"method":"session/update","params":{"update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"` + text + `"}` + meta + "}}}\n"
	}
	says := func(text string) string {
		return `{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}}}}` + "\n"
	}
	const end = `{"method":"_x.ai/session/update","params":{"update":{"sessionUpdate":"turn_completed","prompt_id":"p","stop_reason":"end_turn"}}}` + "\n"
	f := folder{
		historyName: `{"type":"user","content":[{"type":"text","text":"a"}],"prompt_index":0}` + "\n",
		logName: chunk("a", `,"_meta":{"promptIndex":0}`) + says("A") + end + chunk("/context", "") + says("half full") + chunk("wake up", `,"_meta":{"hostTurn":true}`) + says("I woke up") + end +
			chunk("/usage", "") + strings.Replace(end, "end_turn", "error", 1) + says("told") + chunk("b", `,"_meta":{"promptIndex":1}`),
	}
	want := `note to people (command): text "/context" note to people (command): text "half full" note to people (command): text "/usage" note to people (turn): text "error"`
	if got := strings.Join(ofOwn(told(t, f.files(), logName)), " "); got != want {
		t.Errorf("%s", got)
	}
}

// All that is shipped is told without harm, and says something.
func TestTellAll(t *testing.T) {
	folders := 0
	for _, root := range []string{"../../testdata/sessions/grok", "../../testdata/corrupt", "../../../shared/oracles/grok/samples"} {
		dirs, _ := filepath.Glob(filepath.Join(root, "*"))
		for _, dir := range dirs {
			if root == "../../testdata/corrupt" && !strings.HasPrefix(filepath.Base(dir), "grok-") {
				continue
			}
			words := 0
			for _, name := range []string{historyName, logName, eventsName, "rewind_points.jsonl"} {
				if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
					continue
				}
				messages := told(t, os.DirFS(dir), name)
				sound(t, messages)
				words += len(messages)
			}
			if fi, err := os.Stat(dir); err == nil && fi.IsDir() {
				folders++
				if words == 0 {
					t.Errorf("%s says nothing", dir)
				}
			}
		}
	}
	if folders < 30 {
		t.Errorf("%d sessions", folders)
	}
}

// sound holds messages against what every reader of them may rely on.
func sound(t testing.TB, messages []format.Message) {
	t.Helper()
	for _, m := range messages {
		if len(m.Blocks) == 0 || m.Stands || m.Role > format.Tool || m.For > format.PeopleOnly || m.Role == format.Note && m.For != format.PeopleOnly {
			t.Errorf("a message of nothing, or to nobody: %s", said([]format.Message{m}))
		}
		soundBlocks(t, m.Role, m.Blocks)
		if whole := m.Title + m.ID + m.Model; !utf8.ValidString(whole) {
			t.Errorf("no text: %q", whole)
		}
	}
}

func soundBlocks(t testing.TB, role format.Role, blocks []format.Block) {
	t.Helper()
	for _, b := range blocks {
		for _, text := range []string{b.Text, b.ID, b.Name, b.Media, b.Data, b.URL, string(b.Input)} {
			if !utf8.ValidString(text) {
				t.Errorf("no text: %q", text)
			}
		}
		switch {
		case b.Kind == format.Call && (role != format.Assistant || b.Input == nil && b.Text == "" || b.Input != nil && !json.Valid(b.Input)),
			b.Kind == format.Result && (role != format.Tool || b.Text != "" && b.Content != nil),
			b.Kind != format.Result && b.Content != nil,
			b.Sealed && (b.Kind != format.Thinking || b.Data == ""),
			b.Kind == format.Text && b.Text == "":
			t.Errorf("of %s: %s", role, saidBlocks([]format.Block{b}))
		}
		soundBlocks(t, role, b.Content)
	}
}

// Whatever a record holds, what is told of it is text, and told twice it is the same.
func FuzzTell(f *testing.F) {
	for _, name := range []string{"orchard", "early", "compacted", "cancelled"} {
		for _, file := range []string{historyName, logName, eventsName} {
			data, err := os.ReadFile(filepath.Join("../../testdata/sessions/grok", name, file))
			if err != nil {
				f.Fatal(err)
			}
			for line := range bytes.Lines(data) {
				f.Add(bytes.TrimSpace(line))
			}
		}
	}
	f.Add([]byte(`{"type":"assistant","tool_calls":[{"id":"\ud800","name":"` + "\xff" + `","arguments":{"a":"` + "\xff" + `"}}],"raw_output":[{"type":"custom_tool_call","name":"` + "\x00" + `"}]}`))
	f.Add([]byte(`{"type":"user","content":[{"type":"image","url":"data:` + "\xff" + `;base64,` + "\xff" + `"},{"type":"` + "\xff" + `"}]}`))
	f.Add([]byte(`{"params":{"update":{"sessionUpdate":"tool_call","rawInput":"` + "\xff" + `","status":"completed","rawOutput":["` + "\xff" + `"]}},"timestamp":9223372036854775807}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, name := range []string{historyName, logName, eventsName, "rewind_points.jsonl"} {
			tell := tellingOf(t, name, nil)
			once := tell.Tell(&session.Record{Raw: bytes.Clone(raw)}, nil)
			sound(t, once)
			if twice := tell.Tell(&session.Record{Raw: bytes.Clone(raw)}, nil); said(twice) != said(once) {
				t.Errorf("%s: %s, then %s", name, said(once), said(twice))
			}
		}
	})
}
