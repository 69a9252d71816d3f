package codex

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sessfix/sessfix/format"
)

// kept gathers what a stage gives.
type kept struct {
	lines   []string
	from    []int64
	dropped []int64
	noted   []int64
}

func (k *kept) Put(l format.Line) error {
	k.lines, k.from = append(k.lines, string(l.Raw)), append(k.from, l.N)
	return nil
}
func (k *kept) Drop(n int64, _ string) { k.dropped = append(k.dropped, n) }
func (k *kept) Note(n int64, _ string) { k.noted = append(k.noted, n) }

// upgraded takes lines one generation on.
func upgraded(to string, lines ...string) (*kept, error) {
	k := &kept{}
	s := format.Source{Path: place, Records: func() iter.Seq2[format.Line, error] {
		return func(yield func(format.Line, error) bool) {
			for n, l := range lines {
				if !yield(format.Line{Raw: []byte(l), N: int64(n)}, nil) {
					return
				}
			}
		}
	}}
	for _, u := range (Format{}).Upgrades() {
		if u.To != to {
			continue
		}
		stage, err := u.Begin(s)
		if err != nil {
			return k, err
		}
		for n, l := range lines {
			raw := []byte(l)
			if err := stage.Record(format.Line{Raw: raw, N: int64(n)}, k); err != nil {
				return k, err
			}
			clear(raw) // it is valid during the call only
		}
		return k, stage.End(k)
	}
	return k, format.ErrNoWay
}

func same(t *testing.T, k *kept, want ...string) {
	t.Helper()
	for n := range max(len(k.lines), len(want)) {
		got, wanted := "nothing", "nothing"
		if n < len(k.lines) {
			got = k.lines[n]
			if !json.Valid([]byte(got)) {
				t.Errorf("line %d is no JSON: %s", n, got)
			}
		}
		if n < len(want) {
			wanted = want[n]
		}
		if got != wanted {
			t.Errorf("line %d\n got %s\nwant %s", n, got, wanted)
		}
	}
}

const at = `"2026-01-02T03:04:05.678Z"`

// enveloped is a record of a legacy rollout.
func enveloped(typ, payload string) string {
	return `{"timestamp":` + at + `,"type":"` + typ + `","payload":` + payload + `}`
}

// page is a record of a paginated rollout.
func page(n int, typ, payload string) string {
	return fmt.Sprintf(`{"timestamp":%s,"ordinal":%d,"type":"%s","payload":%s}`, at, n, typ, payload)
}

// The oldest rollouts get envelopes, and the events by which the client lists them.
func TestUpgradeBare(t *testing.T) {
	k, err := upgraded(legacy,
		`{"id":"`+thread+`","timestamp":`+at+`,"instructions":"Be \"brief\".","git":{"branch":"main"},"rank":1.0}`,
		`{"record_type":"state"}`,
		`{"type":"message","id":null,"role":"user","content":[{"type":"input_text","text":"<environment_context>\n  <cwd>/home/\u006dara</cwd>\n</environment_context>"}]}`,
		`{"type":"message","id":null,"role":"user","content":[{"type":"input_text","text":"<b> is "},{"type":"input_text","text":"\ud83d\ude00?"},{"type":"input_image","image_url":"data:x"}]}`,
		`{"type":"function_call","id":null,"name":"shell","arguments":"{}","call_id":"c","n":12345678901234567890}`,
		`{"type":"function_call_output","call_id":"c","output":"1.0"}`,
		`{"role":"assistant","content":[{"type":"output_text","text":"A tag."}],"type":"message","id":null}`,
		`{"type":"message","role":"assistant","content":[]}`,
		enveloped("event_msg", `{"type":"user_message","message":"later"}`),
	)
	if err != nil {
		t.Fatal(err)
	}
	same(t, k,
		enveloped("session_meta", `{"id":"`+thread+`","timestamp":`+at+`,"cwd":"/home/\u006dara","originator":"codex_cli_rs","cli_version":"","source":"unknown","model_provider":"openai","base_instructions":{"text":"Be \"brief\"."},"git":{"branch":"main"},"rank":1.0}`),
		enveloped("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n  <cwd>/home/\u006dara</cwd>\n</environment_context>"}]}`),
		enveloped("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"<b> is "},{"type":"input_text","text":"\ud83d\ude00?"},{"type":"input_image","image_url":"data:x"}]}`),
		enveloped("event_msg", `{"type":"user_message","message":"<b> is \ud83d\ude00?","images":["data:x"]}`),
		enveloped("response_item", `{"type":"function_call","name":"shell","arguments":"{}","call_id":"c","n":12345678901234567890}`),
		enveloped("response_item", `{"type":"function_call_output","call_id":"c","output":"1.0"}`),
		enveloped("response_item", `{"role":"assistant","content":[{"type":"output_text","text":"A tag."}],"type":"message"}`),
		enveloped("event_msg", `{"type":"agent_message","message":"A tag."}`),
		enveloped("response_item", `{"type":"message","role":"assistant","content":[]}`),
		enveloped("event_msg", `{"type":"user_message","message":"later"}`),
	)
	if fmt.Sprint(k.dropped, k.from) != "[1] [0 2 3 -1 4 5 6 -1 7 8]" {
		t.Error(k.dropped, k.from)
	}
}

// What nobody can bring over is refused, with the record.
func TestUpgradeRefuses(t *testing.T) {
	bareHead := `{"id":"` + thread + `","timestamp":` + at + `}`
	head := enveloped("session_meta", `{"id":"`+thread+`"}`)
	for _, c := range []struct {
		name, to string
		lines    []string
		n        int64
	}{
		{"no header", legacy, []string{`{"type":"message"}`}, 0},
		{"no id", legacy, []string{`{"id":"x","timestamp":` + at + `}`}, 0},
		{"no time", legacy, []string{`{"id":"` + thread + `","timestamp":"yesterday"}`}, 0},
		{"unknown item", legacy, []string{bareHead, `{"type":"poem"}`}, 1},
		{"unknown record", legacy, []string{bareHead, `{"record_type":"poem"}`}, 1},
		{"no type", legacy, []string{bareHead, `{"role":"user"}`}, 1},
		{"torn", legacy, []string{bareHead, `{"type":"mess`}, 1},
		{"no object", legacy, []string{bareHead, `[]`}, 1},
		{"no header", paginated, []string{enveloped("event_msg", `{}`)}, 0},
		{"nothing", paginated, nil, -1},
		{"unknown mode", paginated, []string{enveloped("session_meta", `{"id":"`+thread+`","history_mode":"scrolled"}`)}, 0},
		{"base", paginated, []string{enveloped("session_meta", `{"id":"`+thread+`","history_base":{"thread_id":"x"}}`)}, 0},
		{"unknown item", paginated, []string{head, enveloped("response_item", `{"type":"poem"}`)}, 1},
		{"no envelope", paginated, []string{head, `{"timestamp":` + at + `,"type":"event_msg"}`}, 1},
		{"no time", paginated, []string{head, `{"type":"event_msg","payload":{"type":"user_message","message":"x"}}`}, 1},
		{"back without number", paginated, []string{head, enveloped("event_msg", `{"type":"thread_rolled_back"}`)}, 1},
		{"back over a summary", paginated, []string{
			head, enveloped("event_msg", `{"type":"task_started","turn_id":"t1"}`), enveloped("event_msg", `{"type":"user_message","message":"x"}`),
			enveloped("compacted", `{"message":"x"}`), enveloped("event_msg", `{"type":"thread_rolled_back","num_turns":1}`),
		}, 4},
		{"back behind a summary, without turns", paginated, []string{
			head, enveloped("compacted", `{"message":"x"}`), enveloped("event_msg", `{"type":"user_message","message":"x"}`),
			enveloped("event_msg", `{"type":"thread_rolled_back","num_turns":1}`),
		}, 3},
	} {
		_, err := upgraded(c.to, c.lines...)
		var r *format.RefusedError
		if !errors.As(err, &r) || r.N != c.n || r.Why == "" {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	dir := fstest.MapFS{place: {}, place + ".zst": {}}
	for _, path := range []string{place, place + ".zst"} {
		for _, u := range (Format{}).Upgrades() {
			if _, err := u.Begin(format.Source{Path: path, Dir: dir}); err == nil {
				t.Errorf("%s: a rollout that lies there twice is taken", path)
			}
		}
	}
}

// Events become items as in the client's own migration (measured with 0.171.0).
func TestUpgradeItems(t *testing.T) {
	for _, c := range []struct{ event, item, beside string }{
		{`{"type":"user_message","message":"h\u0069","images":["u"],"image_details":["high"],"local_images":["/a"],"text_elements":[{}],"kind":"plain"}`,
			`{"type":"UserMessage","id":"item-1","content":[{"type":"text","text":"h\u0069","text_elements":[{}]},{"type":"image","image_url":"u","detail":"high"},{"type":"local_image","path":"/a"}]}`, `"kind":"plain"`},
		{`{"type":"user_message","message":" ","images":null,"audio":["a"],"local_audio":["/b"],"client_id":"c"}`,
			`{"type":"UserMessage","id":"item-1","client_id":"c","content":[{"type":"audio","audio_url":"a"},{"type":"local_audio","path":"/b"}]}`, ""},
		{`{"type":"agent_message","message":"x","phase":"commentary","memory_citation":null}`, `{"type":"AgentMessage","id":"item-1","content":[{"type":"Text","text":"x"}],"phase":"commentary"}`, ""},
		{`{"type":"agent_message","message":"x","phase":"later"}`, `{"type":"AgentMessage","id":"item-1","content":[{"type":"Text","text":"x"}]}`, `"phase":"later"`},
		{`{"type":"agent_reasoning","text":"hm"}`, `{"type":"Reasoning","id":"item-1","summary_text":["hm"],"raw_content":[]}`, ""},
		{`{"type":"agent_reasoning_raw_content","text":"hm"}`, `{"type":"Reasoning","id":"item-1","summary_text":[],"raw_content":["hm"]}`, ""},
		{`{"type":"context_compacted"}`, `{"type":"ContextCompaction","id":"item-1"}`, ""},
		{`{"type":"patch_apply_end","call_id":"c","stdout":"ok","stderr":"","success":true,"changes":{},"status":"completed"}`, `{"type":"FileChange","id":"c","changes":{},"status":"completed","stdout":"ok"}`, `"success":true`},
		{`{"type":"mcp_tool_call_end","call_id":"c","invocation":{"server":"s","tool":"t"},"duration":{"secs":0},"result":{"Ok":{"content":[],"isError":true}},"app_name":"a"}`,
			`{"type":"McpToolCall","id":"c","server":"s","tool":"t","arguments":null,"appName":"a","status":"failed","result":{"content":[],"isError":true},"duration":{"secs":0}}`, ""},
		{`{"type":"mcp_tool_call_end","call_id":"c","invocation":{"server":"s","tool":"t","arguments":{"a":1}},"duration":{"secs":0},"result":{"Err":"bad"}}`,
			`{"type":"McpToolCall","id":"c","server":"s","tool":"t","arguments":{"a":1},"status":"failed","error":{"message":"bad"},"duration":{"secs":0}}`, ""},
		{`{"type":"web_search_end","call_id":"c","query":"q","action":{"type":"search"}}`, `{"type":"WebSearch","id":"c","query":"q","action":{"type":"search"}}`, ""},
		{`{"type":"image_generation_end","call_id":"c","status":"completed","result":"AA","saved_path":"/x"}`,
			`{"type":"Extension","id":"c","kind":"image_gen.generation","status":"completed","revisedPrompt":null,"result":"AA","transparentBackground":null,"failure":null,"savedPath":"/x","generationId":null}`, ""},
		{`{"type":"entered_review_mode","prompt":"look"}`, `{"type":"EnteredReviewMode","id":"item-1","target":{"type":"custom","instructions":"look"},"user_facing_hint":"Review requested."}`, ""},
		{`{"type":"exited_review_mode","review_output":null}`, `{"type":"ExitedReviewMode","id":"item-1","review_output":null}`, ""},
		{`{"type":"sub_agent_activity","event_id":"s","kind":"started","agent_thread_id":"t","agent_path":"/r"}`, `{"type":"SubAgentActivity","id":"s","kind":"started","agent_thread_id":"t","agent_path":"/r"}`, ""},
		{`{"type":"exec_command_end","call_id":"c","turn_id":"t1","command":["ls"],"cwd":"/a b","parsed_cmd":[],"stdout":"x","aggregated_output":"x","exit_code":-1,"duration":{"secs":0},"status":"failed"}`,
			`{"type":"CommandExecution","id":"c","command":["ls"],"cwd":"file:///a%20b","parsed_cmd":[],"source":"agent","status":"failed","aggregated_output":"x","exit_code":-1,"duration":{"secs":0}}`, `"stdout":"x"`},
		{`{"type":"dynamic_tool_call_response","call_id":"c","turn_id":"t1","tool":"t","arguments":{},"content_items":[],"success":false,"error":"e","duration":{"secs":0}}`,
			`{"type":"DynamicToolCall","id":"c","tool":"t","arguments":{},"status":"failed","content_items":[],"success":false,"error":"e","duration":{"secs":0}}`, ""},
		// What lacks something stays an event.
		{`{"type":"web_search_end","call_id":"c","query":"q"}`, "", ""},
		{`{"type":"exec_command_end","call_id":"c","turn_id":"t1","command":["ls"],"cwd":"a","parsed_cmd":[],"exit_code":0,"duration":{},"status":"failed"}`, "", ""},
		{`{"type":"user_message","message":7}`, "", ""},
		{`{"type":"agent_message","message":""}`, "", ""},
		{`{"type":"agent_reasoning","text":""}`, "", ""},
		{`{"type":"agent_reasoning"}`, "", ""},
		{`{"type":"poem"}`, "", ""},
	} {
		k, err := upgraded(paginated,
			enveloped("session_meta", `{"id":"`+thread+`","history_mode":"legacy","x":[1.0]}`),
			enveloped("event_msg", `{"type":"task_started","turn_id":"t1"}`),
			enveloped("event_msg", c.event))
		if err != nil {
			t.Errorf("%s: %v", c.event, err)
			continue
		}
		want := page(2, "event_msg", c.event)
		if c.item != "" {
			payload := `{"type":"item_completed","thread_id":"` + thread + `","turn_id":"t1","item":` + c.item + `,"completed_at_ms":1767323045678}`
			if c.beside != "" {
				payload += `,"kept":{` + c.beside + `}`
			}
			want = page(2, "event_msg", payload)
		}
		same(t, k, page(0, "session_meta", `{"session_id":"`+thread+`","id":"`+thread+`","history_mode":"paginated","x":[1.0]}`),
			page(1, "event_msg", `{"type":"task_started","turn_id":"t1"}`), want)
	}
}

// Items that stand in no turn get one, named as the client names it.
func TestUpgradeTurns(t *testing.T) {
	item := func(turn, item string) string {
		return `{"type":"item_completed","thread_id":"` + thread + `","turn_id":"` + turn + `","item":` + item + `,"completed_at_ms":1767323045678}`
	}
	user := func(n, text string) string {
		return `{"type":"UserMessage","id":"item-` + n + `","content":[{"type":"text","text":"` + text + `","text_elements":[]}]}`
	}
	begun := func(turn string) string {
		return `{"type":"task_started","turn_id":"` + turn + `","started_at":1767323045,"model_context_window":null,"collaboration_mode_kind":"default"}`
	}
	ended := func(turn string) string {
		return `{"type":"task_complete","turn_id":"` + turn + `","last_agent_message":null,"completed_at":1767323045}`
	}
	k, err := upgraded(paginated,
		enveloped("session_meta", `{"session_id":"s","id":"`+thread+`"}`),
		enveloped("session_meta", `{"id":"parent"}`),
		enveloped("response_item", `{"type":"ghost_snapshot"}`),
		enveloped("event_msg", `{"type":"user_message","message":"a"}`),
		enveloped("event_msg", `{"type":"agent_reasoning","text":"1"}`),
		enveloped("event_msg", `{"type":"agent_reasoning","text":"2"}`),
		enveloped("poem", `{}`),
		enveloped("event_msg", `{"type":"user_message","message":"b"}`),
		enveloped("event_msg", `{"type":"turn_aborted","reason":"interrupted"}`),
		enveloped("event_msg", `{"type":"task_started","turn_id":"t1"}`),
		enveloped("event_msg", `{"type":"turn_aborted","turn_id":null}`),
		enveloped("event_msg", `{"type":"turn_aborted"}`),
		enveloped("event_msg", `{"type":"patch_apply_end","call_id":"c","turn_id":"t1","status":"failed"}`),
		enveloped("event_msg", `{"type":"patch_apply_end","call_id":"c","turn_id":"t2","status":"failed"}`),
		enveloped("event_msg", `{"type":"item_completed","thread_id":"parent","turn_id":"t1","item":{}}`),
	)
	if err != nil {
		t.Fatal(err)
	}
	same(t, k,
		page(0, "session_meta", `{"session_id":"s","id":"`+thread+`","history_mode":"paginated"}`),
		page(1, "response_item", `{"type":"ghost_snapshot"}`),
		page(2, "event_msg", begun("rollout-2")),
		page(3, "event_msg", item("rollout-2", user("1", "a"))),
		page(4, "event_msg", item("rollout-2", `{"type":"Reasoning","id":"item-2","summary_text":["1"],"raw_content":[]}`)),
		page(5, "event_msg", item("rollout-2", `{"type":"Reasoning","id":"item-2","summary_text":["1","2"],"raw_content":[]}`)),
		page(6, "poem", `{}`),
		page(7, "event_msg", ended("rollout-2")),
		page(8, "event_msg", begun("rollout-5")),
		page(9, "event_msg", item("rollout-5", user("3", "b"))),
		page(10, "event_msg", `{"type":"turn_aborted","turn_id":"rollout-5","reason":"interrupted"}`),
		page(11, "event_msg", `{"type":"task_started","turn_id":"t1"}`),
		page(12, "event_msg", `{"type":"turn_aborted","turn_id":"t1"}`),
		page(13, "event_msg", `{"type":"turn_aborted"}`),
		page(14, "event_msg", item("t1", `{"type":"FileChange","id":"c","status":"failed"}`)),
		page(15, "event_msg", begun("t2")),
		page(16, "event_msg", item("t2", `{"type":"FileChange","id":"c","status":"failed"}`)),
		page(17, "event_msg", `{"type":"item_completed","thread_id":"`+thread+`","turn_id":"t1","item":{}}`),
		page(18, "event_msg", ended("t2")),
	)
	if fmt.Sprint(k.dropped, k.noted) != "[1] [6 -1]" {
		t.Error(k.dropped, k.noted)
	}
}

// Turns that were taken back go, with what belongs to them.
func TestUpgradeTakenBack(t *testing.T) {
	event := func(s string) string { return enveloped("event_msg", s) }
	say := func(role, text string) string {
		return enveloped("response_item", `{"type":"message","role":"`+role+`","content":[{"type":"input_text","text":"`+text+`"}]}`)
	}
	k, err := upgraded(paginated,
		enveloped("session_meta", `{"id":"`+thread+`"}`),
		event(`{"type":"task_started","turn_id":"t1"}`), // 1
		say("user", "<environment_context></environment_context>"), enveloped("turn_context", `{}`), say("user", "a"), event(`{"type":"user_message","message":"a"}`),
		event(`{"type":"task_complete","turn_id":"t1"}`),
		event(`{"type":"task_started","turn_id":"t2"}`), enveloped("turn_context", `{}`), // 7
		say("user", "<environment_context></environment_context>"), say("user", "b"), event(`{"type":"user_message","message":"b"}`),
		event(`{"type":"patch_apply_end","call_id":"c","turn_id":"t1","status":"failed"}`), // 12
		say("assistant", "x"), event(`{"type":"task_complete","turn_id":"t2"}`),
		event(`{"type":"user_message","message":"c"}`), // 15
		event(`{"type":"thread_rolled_back","num_turns":2}`),
		event(`{"type":"patch_apply_end","call_id":"c","turn_id":"t2","status":"failed"}`),
		event(`{"type":"thread_rolled_back","num_turns":0}`),
		event(`{"type":"user_message","message":"d"}`),
	)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(k.dropped); got != "[7 8 9 10 11 13 14 15 16 17 18]" {
		t.Error(got)
	}
}

// Every record of the testdata is in the result, or is told to be dropped; and nothing else is changed.
func TestUpgradeTestdata(t *testing.T) {
	paths, _ := filepath.Glob("../../testdata/sessions/codex/*/*.jsonl")
	done := 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		if strings.Contains(lines[0], `"ordinal"`) {
			continue
		}
		done++
		k, err := upgraded(paginated, lines...)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		found := map[int64]bool{}
		for i, n := range k.from {
			found[n] = true
			if !bytes.Contains([]byte(k.lines[i]), []byte(fmt.Sprintf(`,"ordinal":%d,`, i))) {
				t.Errorf("%s: line %d has another number", path, i)
			}
		}
		for _, n := range k.dropped {
			found[n] = true
		}
		for n := range lines {
			if !found[int64(n)] {
				t.Errorf("%s: record %d is lost", path, n)
			}
		}
	}
	if done < 7 {
		t.Errorf("%d rollouts", done)
	}
}
