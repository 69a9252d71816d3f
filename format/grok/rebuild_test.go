package grok_test

import (
	"strings"
	"testing"

	"github.com/sessfix/sessfix/verify"
)

// wall is the file of a compaction.
func wall(schema string) string {
	return `{"checkpoint_id":"k","prompt_index_at_compaction":2,"compacted_history":[{"type":"system","content":"s"},
 {"type":"user", "content":[{"type":"text","text":"<summary>\n\u00e9 1.50"}],"synthetic_reason":"compaction_meta"}],"schema_version":` + schema + `,"created_at":"2024-06-13T00:00:00Z"}`
}

// A history that is lost is made of what the log tells. Items stand as in history, results that were made up as "unknown" or "not started".
func TestRebuilt(t *testing.T) {
	const kept = `{"type":"user","content":[{"type":"text","text":"<summary>\n\u00e9 1.50"}],"synthetic_reason":"compaction_meta"}`
	checkpoint := folder{"k.json": wall("1")}
	goOn := strings.Replace(updates("wall:2:k.json"), `,"created_at"`, `,"auto_continue":{"prompt_text":"Go on."},"created_at"`, 1)
	for _, c := range []struct {
		name string
		log  []string
		more folder
		want []string
	}{
		{"one turn", []string{"user:0:a", "say:b", "say: c", "end:end_turn"}, nil, []string{"user:0:a", "answer:b c"}},
		{"a prompt in pieces", []string{"user:0:a", "user:0: b", "say:c", "end:end_turn"}, nil, []string{"user:0:a b", "answer:c"}},
		{"a turn that begins with a call", []string{"user:0:a", "call:c1", "done:c1:r", "say:b", "end:end_turn"}, nil, []string{"user:0:a", "asks::c1", "result:c1:r", "answer:b"}},
		{"calls at once, that end in another order", []string{"user:0:a", "say:b", "call:c1", "call:c2", "done:c2:s", "done:c1:r", "say:c", "end:end_turn"}, nil,
			[]string{"user:0:a", "asks:b:c1,c2", "result:c1:r", "result:c2:s", "answer:c"}},
		{"one ends before the next is shown", []string{"user:0:a", "call:c1", "call:c2", "done:c1:r", "call:c3", "done:c2:s", "fail:c3:u", "end:end_turn"}, nil,
			[]string{"user:0:a", "asks::c1,c2,c3", "result:c1:r", "result:c2:s", "result:c3:u"}},
		{"one after the other", []string{"user:0:a", "call:c1", "done:c1:r", "call:c2", "done:c2:s", "say:b", "end:end_turn"}, nil,
			[]string{"user:0:a", "asks::c1", "result:c1:r", "asks::c2", "result:c2:s", "answer:b"}},
		{"taken back", []string{"user:0:a", "say:b", "end:end_turn", "user:1:c", "say:d", "end:end_turn", "rewind:1", "user:1:e", "say:f", "end:end_turn"}, nil,
			[]string{"user:0:a", "answer:b", "user:1:e", "answer:f"}},
		{"all taken back", []string{"user:0:a", "say:b", "end:end_turn", "rewind:0", "user:0:e", "say:f", "end:end_turn"}, nil, []string{"user:0:e", "answer:f"}},
		{"commands are not sent", []string{"user:0:a", "say:b", "end:end_turn", "user::/status", "say:fine", "end:end_turn", "user:1:c", "say:d", "end:end_turn"}, nil,
			[]string{"user:0:a", "answer:b", "user:1:c", "answer:d"}},
		{"a command first", []string{"user:0:a", "say:b", "end:end_turn", "user::/status", "say:fine", "end:end_turn"}, nil, []string{"user:0:a", "answer:b"}},
		{"compacted", []string{"user:0:a", "say:b", "end:end_turn", "user:1:c", "say:d", "end:end_turn", "wall:2:k.json", "user:2:e", "say:f", "end:end_turn"}, checkpoint,
			[]string{"system", kept, "user:2:e", "answer:f"}},
		{"compacted, and it went on by itself", []string{"user:0:a", "say:b", "end:end_turn", "user:1:c", "say:d", "end:end_turn", strings.TrimSpace(goOn), "user:2:e", "say:f", "end:end_turn"}, checkpoint,
			[]string{"system", kept, `{"type":"user","content":[{"type":"text","text":"Go on."}],"synthetic_reason":"auto_continue"}`, "user:2:e", "answer:f"}},
		{"nothing behind a compaction", []string{"user:0:a", "say:b", "end:end_turn", "user:1:c", "say:d", "end:end_turn", "wall:2:k.json"}, checkpoint, []string{"system", kept}},
		{"the last compaction counts", []string{"user:0:a", "say:b", "end:end_turn", "wall:1:none.json", "user:1:c", "say:d", "end:end_turn", "wall:2:k.json", "user:2:e", "say:f", "end:end_turn"}, checkpoint,
			[]string{"system", kept, "user:2:e", "answer:f"}},
		{"taken back to the compaction", []string{"user:0:a", "say:b", "end:end_turn", "user:1:c", "say:d", "end:end_turn", "wall:2:k.json", "user:2:e", "say:f", "end:end_turn", "rewind:2", "user:2:g", "say:h", "end:end_turn"}, checkpoint,
			[]string{"system", kept, "user:2:g", "answer:h"}},
		{"the compaction's file is lost", []string{"user:0:a", "say:b", "end:end_turn", "user:1:c", "say:d", "end:end_turn", "wall:2:k.json", "user:2:e", "say:f", "end:end_turn"}, nil,
			[]string{"user:0:a", "answer:b", "user:1:c", "answer:d", "user:2:e", "answer:f"}},
		{"the compaction's file is torn", []string{"user:0:a", "say:b", "end:end_turn", "wall:1:k.json", "user:1:e", "say:f", "end:end_turn"}, folder{"k.json": wall("1")[:90]},
			[]string{"user:0:a", "answer:b", "user:1:e", "answer:f"}},
		{"the compaction's file is of a later client", []string{"user:0:a", "say:b", "end:end_turn", "wall:1:k.json", "user:1:e", "say:f", "end:end_turn"}, folder{"k.json": wall("2")},
			[]string{"user:0:a", "answer:b", "user:1:e", "answer:f"}},
		{"the compaction's file lies elsewhere", []string{"user:0:a", "say:b", "end:end_turn", "wall:1:../k.json", "user:1:e", "say:f", "end:end_turn"}, folder{"../k.json": wall("1")},
			[]string{"user:0:a", "answer:b", "user:1:e", "answer:f"}},
		{"no prompt bears a number", []string{"user::a", "say:b", "user::c", "say:d"}, nil,
			[]string{"user:0:a", `{"type":"assistant","content":"b"}`, "user:1:c", `{"type":"assistant","content":"d"}`}},
		{"words of the host", []string{"user:0:a", "say:b", "end:end_turn", "host:wake up", "say:c", "end:end_turn"}, nil, []string{"user:0:a", "answer:bc"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, lost := range []string{"-", "", "\n", strings.Repeat("\x00", 40)} {
				files := folder{logName: updates(c.log...), summaryName: goodSummary, historyName: lost}
				if lost == "-" {
					delete(files, historyName)
				}
				for name, text := range c.more {
					files[name] = text
				}
				m := files.mend(t)
				want := c.want
				if want[0] != "system" {
					want = append([]string{`{"type":"system","content":""}`}, want...)
				}
				if got := m.folder[historyName]; got != history(want...) {
					t.Errorf("lost as %q, %s: gives\n%swant\n%s", lost, m.found, got, history(want...))
				}
			}
		})
	}
}

// What the result of a call says: what the tool meant for the model, else what was shown, else all that it gave. Its name is the tool's, not the title.
func TestRebuiltResult(t *testing.T) {
	call := func(more string) string {
		return `{"timestamp":1718236801,"method":"session/update","params":{"sessionId":"` + id + `","update":{` + more + `},"_meta":{"eventId":"` + id + `-9","agentTimestampMs":1}}}`
	}
	for _, c := range []struct{ name, call, end, asks, result string }{
		{"for the model", `"title":"T","rawInput":{"a":1}`, `"content":[{"type":"content","content":{"type":"text","text":"shown"}}],"rawOutput":{"output_for_prompt":"meant é\n"}`, `"name":"T","arguments":"{\"a\":1}"`, "meant é\n"},
		{"as it was shown", `"title":"T","rawInput":{}`, `"content":[{"type":"content","content":{"type":"text","text":"one "}},{"type":"content","content":{"type":"text","text":"two"}}],"rawOutput":{"x":1}`, `"name":"T","arguments":"{}"`, "one two"},
		{"all that it gave", `"title":"T"`, `"rawOutput":{"x": [1, 2]}`, `"name":"T","arguments":"{}"`, `{"x":[1,2]}`},
		{"nothing", `"title":"T"`, `"content":[]`, `"name":"T","arguments":"{}"`, ""},
		{"the input comes later", `"title":"T"`, `"rawInput":{"b":2},"content":[{"type":"content","content":{"type":"text","text":"x"}}]`, `"name":"T","arguments":"{\"b\":2}"`, "x"},
		{"the tool's name", `"title":"Execute it","_meta":{"x.ai/tool":{"name":"run_it"}}`, `"content":[]`, `"name":"run_it","arguments":"{}"`, ""},
	} {
		log := updates("user:0:a", call(`"sessionUpdate":"tool_call","toolCallId":"c1",`+c.call), call(`"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed",`+c.end), "end:end_turn")
		m := folder{logName: log, summaryName: goodSummary, historyName: ""}.mend(t)
		want := history(`{"type":"system","content":""}`, "user:0:a", `{"type":"assistant","content":"","tool_calls":[{"id":"c1",`+c.asks+`}],"model_id":"m"}`, "result:c1:"+c.result)
		if got := m.folder[historyName]; got != want {
			t.Errorf("%s: gives\n%swant\n%s", c.name, got, want)
		}
	}
}

// A log that tells nothing makes no history, and of one in the old form nothing is known.
func TestNotRebuilt(t *testing.T) {
	for name, log := range map[string]string{"empty": "", "no talk": updates("idle", "menu"), "all taken back": updates("user:0:a", "say:b", "end:end_turn", "rewind:0")} {
		m := folder{logName: log, summaryName: goodSummary, historyName: ""}.mend(t)
		if m.verdict != verify.Clean || m.folder[historyName] != "" {
			t.Errorf("%s: %s, %q", name, m.found, m.folder[historyName])
		}
	}
}
