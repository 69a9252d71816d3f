package codex

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/internal/damage"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// inShort is a message in short: who speaks, for whom if not for all, its marks and its blocks.
func inShort(m *format.Message) string {
	s := m.Role.String() + [...]string{"", " model", " people"}[m.For]
	for _, mark := range []struct {
		is   bool
		word string
	}{{m.Stands, "stands"}, {m.Copy, "copy"}, {m.ID != "", "#" + m.ID}, {m.Model != "", "by " + m.Model}, {m.Title != "", "(" + m.Title + ")"}} {
		if mark.is {
			s += " " + mark.word
		}
	}
	return s + ": " + blocksInShort(m.Blocks)
}

func blocksInShort(blocks []format.Block) string {
	var out []string
	for _, b := range blocks {
		s := b.Kind.String()
		for _, v := range []string{b.ID, b.Name, string(b.Input), b.Media, b.Data, b.URL} {
			if v != "" {
				s += " " + v
			}
		}
		if b.Text != "" {
			s += fmt.Sprintf(" %q", b.Text)
		}
		if len(b.Content) > 0 {
			s += " [" + blocksInShort(b.Content) + "]"
		}
		for _, mark := range []struct {
			is   bool
			word string
		}{{b.Sealed, "sealed"}, {b.Failed, "failed"}, {b.MadeUp, "made-up"}} {
			if mark.is {
				s += " " + mark.word
			}
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// tellAll tells some lines as one rollout, each message in short.
func tellAll(generation string, lines ...string) []string {
	var out []string
	t := dialect{generation: generation}.NewTelling(format.Place{})
	for _, l := range lines {
		for _, m := range t.Tell(&session.Record{Raw: []byte(l)}, nil) {
			out = append(out, inShort(&m))
		}
	}
	return out
}

func tellItem(s string) string  { return tellTop("response_item", s) }
func tellEvent(s string) string { return tellTop("event_msg", s) }
func tellDone(s string) string {
	return tellEvent(`{"type":"item_completed","thread_id":"t","turn_id":"u","item":` + s + `}`)
}
func tellTop(typ, s string) string {
	return `{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":7,"type":"` + typ + `","payload":` + s + `}`
}

// What each record says, alone.
func TestTell(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{tellItem(`{"type":"message","id":"m","role":"user","content":[{"type":"input_text","text":"go"}]}`),
			`user #m: text "go"`},
		{tellItem(`{"type":"message","role":"user","content":"go"}`),
			`user: text "go"`},
		{tellItem(`{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"}]}`),
			`user model: text "<environment_context>x</environment_context>"`},
		{tellItem(`{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /w\n"},{"type":"input_text","text":"<environment_context>\n</environment_context>"}]}`),
			`user model: text "# AGENTS.md instructions for /w\n", text "<environment_context>\n</environment_context>"`},
		{tellItem(`{"type":"message","role":"user","content":[{"type":"input_text","text":"<b>go</b>"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["user.text"]}}`),
			`user: text "<b>go</b>"`},
		{tellItem(`{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["skills.body"]}}`),
			`user model: text "go"`},
		{tellItem(`{"type":"message","role":"developer","content":[{"type":"input_text","text":"be brief"}]}`),
			`system model: text "be brief"`},
		{tellItem(`{"type":"message","role":"system","content":[{"type":"input_text","text":"be brief"}]}`),
			`system model: text "be brief"`},
		{tellItem(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"},{"type":"refusal","refusal":"no"}],"phase":"final_answer"}`),
			`assistant: text "a", text "no"`},
		{tellItem(`{"type":"message","role":"assistant","content":[]}`),
			``},
		{tellItem(`{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AA=="},{"type":"input_image","image_url":"https://x/y.png"}]}`),
			`user: image image/png AA==, image https://x/y.png`},
		{tellItem(`{"type":"message","role":"user","content":[{"type":"input_image","image_url":{"url":"https://x"}},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AB=="}]}`),
			`user: image https://x, file application/pdf AB== "a.pdf"`},
		{tellItem(`{"type":"message","role":"user","content":[{"type":"input_audio","audio_url":"data:audio/wav;base64,AA=="},{"type":"woven"},7]}`),
			`user: file audio/wav AA== "audio", other "woven", other`},
		{tellItem(`{"type":"agent_message","author":"/captain","recipient":"/captain/a","content":[{"type":"input_text","text":"go"},{"type":"encrypted_content","encrypted_content":"x"}]}`),
			`user (from /captain to /captain/a): text "go", other x "a sealed message" sealed`},
		{tellTop("inter_agent_communication", `{"author":"/a","recipient":"/b","content":"go","trigger_turn":true}`),
			`user (from /a to /b): text "go"`},
		{tellItem(`{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"content":null,"encrypted_content":"x"}`),
			`assistant #rs: thinking x "a\n\nb" sealed`},
		{tellItem(`{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"a"}]}`),
			`assistant: thinking "a"`},
		{tellItem(`{"type":"reasoning","summary":[],"encrypted_content":null}`),
			``},
		{tellItem(`{"type":"function_call","id":"fc","name":"exec_command","arguments":"{\"cmd\": \"ls\"}","call_id":"c"}`),
			`assistant #fc: call c exec_command {"cmd": "ls"}`},
		{tellItem(`{"type":"function_call","name":"find","namespace":"mail","arguments":"","call_id":"c"}`),
			`assistant: call c mail.find`},
		{tellItem(`{"type":"function_call","name":"x","arguments":"{\"cmd\":","call_id":"c"}`),
			`assistant: call c x "{\"cmd\":"`},
		{tellItem(`{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"*** Begin"}`),
			`assistant: call c apply_patch "*** Begin"`},
		{tellItem(`{"type":"local_shell_call","call_id":"c","status":"completed","action":{"type":"exec","command":["ls"]}}`),
			`assistant: call c local_shell {"type":"exec","command":["ls"]}`},
		{tellItem(`{"type":"tool_search_call","call_id":"c","execution":"client","arguments":{"query":"q"}}`),
			`assistant: call c tool_search {"query":"q"}`},
		{tellItem(`{"type":"tool_search_call","call_id":"c","execution":"server","arguments":{"query":"q"}}`),
			`assistant: other c tool_search {"query":"q"}`},
		{tellItem(`{"type":"tool_search_output","call_id":"c","execution":"client","status":"completed","tools":[{"name":"x"}]}`),
			`tool: result c "[{\"name\":\"x\"}]"`},
		{tellItem(`{"type":"tool_search_output","call_id":"c","execution":"server","status":"completed","tools":[]}`),
			`assistant: other c "[]"`},
		{tellItem(`{"type":"web_search_call","id":"ws","status":"completed","action":{"type":"search","query":"q"}}`),
			`assistant #ws: other ws web_search {"type":"search","query":"q"} "web search: q"`},
		{tellItem(`{"type":"image_generation_call","id":"ig","status":"completed","revised_prompt":"a cat","result":"AA=="}`),
			`assistant #ig: other ig image_generation "an image was asked for: a cat", image image/png AA==`},
		{tellItem(`{"type":"function_call_output","call_id":"c","output":"a\n"}`),
			`tool: result c "a\n"`},
		{tellItem(`{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"a"}]}`),
			`tool: result c "a"`},
		{tellItem(`{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:image/png;base64,AA=="}]}`),
			`tool: result c [text "a", image image/png AA==]`},
		{tellItem(`{"type":"function_call_output","call_id":"c","output":{"content":"no","success":false}}`),
			`tool: result c "no" failed`},
		{tellItem(`{"type":"function_call_output","call_id":"c","output":"{\"output\":\"x\",\"metadata\":{\"exit_code\":2}}"}`),
			`tool: result c "{\"output\":\"x\",\"metadata\":{\"exit_code\":2}}" failed`},
		{tellItem(`{"type":"function_call_output","call_id":"c","output":"Chunk ID: a\nWall time: 0 seconds\nProcess exited with code 1\nOutput:\n"}`),
			`tool: result c "Chunk ID: a\nWall time: 0 seconds\nProcess exited with code 1\nOutput:\n" failed`},
		{tellItem(`{"type":"function_call_output","call_id":"c","output":"Output:\nExit code: 1\n"}`),
			`tool: result c "Output:\nExit code: 1\n"`},
		{tellItem(`{"type":"custom_tool_call_output","call_id":"c","output":"Exit code: 0\nOutput:\nok"}`),
			`tool: result c "Exit code: 0\nOutput:\nok"`},
		{tellItem(`{"type":"function_call_output","call_id":"c","output":"aborted"}`),
			`tool: result c "aborted" made-up`},
		{tellItem(`{"type":"custom_tool_call_output","call_id":"c","output":"` + finding.ToolOutcomeUnknown + `: x"}`),
			`tool: result c "` + finding.ToolOutcomeUnknown + `: x" made-up`},
		{tellItem(`{"type":"compaction","encrypted_content":"x"}`),
			`user model: other x "a sealed summary" sealed`},
		{tellItem(`{"type":"additional_tools","role":"developer","tools":[{"name":"x"}]}`),
			`system model: other [{"name":"x"}] "additional_tools"`},
		{tellItem(`{"type":"ghost_snapshot","ghost_commit":{"id":"a"}}`),
			``},
		{tellItem(`{"type":"woven","text":"a"}`),
			``},
		{tellTop("session_meta", `{"id":"t","instructions":"be brief"}`),
			`system model: text "be brief"`},
		{tellTop("session_meta", `{"id":"t","instructions":null,"base_instructions":null}`),
			``},
		{tellTop("session_meta", `{"id":"t","base_instructions":{"text":"be brief"},"history_base":{"thread_id":"x"}}`),
			``},
		{tellTop("turn_context", `{"turn_id":"u","model":"m"}`),
			``},
		{tellTop("world_state", `{"full":true,"state":{"text":"x"}}`),
			``},
		{tellTop("token_usage_record", `{"turn_id":"u"}`),
			``},
		{tellEvent(`{"type":"error","message":"no network","codex_error_info":null}`),
			`note people (error): text "no network"`},
		{tellEvent(`{"type":"stream_error","message":"again"}`),
			`note people (stream error): text "again"`},
		{tellEvent(`{"type":"deprecation_notice","summary":"old","details":null}`),
			`note people (warning): text "old"`},
		{tellEvent(`{"type":"turn_aborted","turn_id":"u","reason":"interrupted"}`),
			`note people (turn aborted): text "interrupted"`},
		{tellEvent(`{"type":"task_complete","turn_id":"u","last_agent_message":"x"}`),
			``},
		{tellEvent(`{"type":"task_complete","turn_id":"u","error":{"message":"x"}}`),
			`note people (error): text "x"`},
		{tellEvent(`{"type":"thread_rolled_back","num_turns":2}`),
			`note people (rollback): text "turns taken back: 2"`},
		{tellEvent(`{"type":"entered_review_mode","user_facing_hint":"changes"}`),
			`note people (review): text "a review begins: changes"`},
		{tellEvent(`{"type":"exited_review_mode","review_output":null}`),
			`note people (review): text "the review has ended"`},
		{tellEvent(`{"type":"thread_goal_updated","goal":{"objective":"x"}}`),
			`note people (goal): text "x"`},
		{tellEvent(`{"type":"exec_command_end","call_id":"c","command":["bash","-lc","ls"],"stdout":"a","exit_code":1}`),
			`note people (command): text "ls\nexit code 1\na"`},
		{tellEvent(`{"type":"mcp_tool_call_end","call_id":"c","invocation":{"server":"mail","tool":"find"},"result":{}}`),
			`note people (tool): text "mail.find"`},
		{tellDone(`{"type":"CommandExecution","id":"c","command":["ls","-l"],"aggregated_output":"a\n","stdout":"b","exit_code":0}`),
			`note people (command): text "ls -l\nexit code 0\na\n"`},
		{tellDone(`{"type":"FileChange","id":"c","changes":{"/b":{},"/a":{}},"status":"completed"}`),
			`note people (files): text "/b\n/a\ncompleted"`},
		{tellDone(`{"type":"SubAgentActivity","id":"c","kind":"started","agent_path":"/captain/a"}`),
			`note people (agent): text "/captain/a started"`},
		{tellDone(`{"type":"EnteredReviewMode","id":"c","user_facing_hint":"changes"}`),
			`note people (review): text "a review begins: changes"`},
		{tellDone(`{"type":"UserMessage","id":"c","content":[{"type":"text","text":"go"}]}`),
			``},
		{tellDone(`{"type":"AgentMessage","id":"c","content":[{"type":"Text","text":"go"}]}`),
			``},
		{tellDone(`{"type":"ContextCompaction","id":"c"}`),
			``},
		{tellEvent(`{"type":"user_message","message":"go","images":[]}`),
			``},
		{tellEvent(`{"type":"token_count","info":null}`),
			``},
		{tellItem(`{"type":"message","id":7,"role":"user","content":[{"type":"input_text","text":"\ud800 \u0000"}]}`),
			`user: text "� \x00"`},
		{`{"type":"response_item","payload":7}`,
			``},
		{`[1,2]`,
			``},
		{`{"a":`,
			``},
	} {
		if got := strings.Join(tellAll(paginated, c.line), "; "); got != c.want {
			t.Errorf("%s\nsays %s\nwant %s", c.line, got, c.want)
		}
	}
}

// What a record says where others stand in front of it.
func TestTellBehind(t *testing.T) {
	user := func(s string) string {
		return tellItem(`{"type":"message","role":"user","content":[{"type":"input_text","text":"` + s + `"}]}`)
	}
	back := tellEvent(`{"type":"thread_rolled_back","num_turns":1}`)
	ran := tellDone(`{"type":"CommandExecution","id":"c","command":["ls"],"status":"completed"}`)
	asked := tellItem(`{"type":"function_call","name":"x","arguments":"{}","call_id":"c"}`)
	head := tellTop("session_meta", `{"base_instructions":{"text":"be brief"}}`)
	long := strings.Repeat("é", 50_000)
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"a copied parent's header", []string{head, head}, `system model: text "be brief"`},
		{"the model of the turn", []string{tellTop("turn_context", `{"model":"m"}`), asked}, `assistant by m: call c x {}`},
		{"a command that an item asks for", []string{asked, ran}, `assistant: call c x {}`},
		{"one that none asks for", []string{ran}, `note people (command): text "ls\ncompleted"`},
		{"an output of another class", []string{asked, tellItem(`{"type":"custom_tool_call_output","call_id":"c","output":"x"}`), tellItem(`{"type":"function_call_output","call_id":"c","output":"y"}`)},
			`assistant: call c x {}; tool people: result c "x"; tool: result c "y"`},
		{"a new history", []string{tellTop("compacted", `{"message":"sum","replacement_history":[
			{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]},
			{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]},
			{"type":"ghost_snapshot"},
			{"type":"function_call","name":"x","arguments":"{}","call_id":"c"},
			{"type":"message","role":"user","content":[{"type":"input_text","text":"sum"}]}]}`), ran},
			`system model stands copy: text "rules"; user copy: text "go"; assistant copy: call c x {}; user model (summary): text "sum"`},
		{"a summary by its kind", []string{tellTop("compacted", `{"message":"","replacement_history":[
			{"type":"message","role":"user","content":[{"type":"input_text","text":"s"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["compaction.summary"]}}]}`)},
			`user model stands (summary): text "s"`},
		{"a sealed summary", []string{tellTop("compacted", `{"message":"","replacement_history":[{"type":"message","role":"user","content":"go"},{"type":"compaction","encrypted_content":"x"}]}`)},
			`user stands copy: text "go"; user model (summary): other x "a sealed summary" sealed`},
		{"a summary that the new history lacks", []string{tellTop("compacted", `{"message":"sum","replacement_history":[{"type":"message","role":"user","content":"go"}]}`)},
			`user stands copy: text "go"; note people (summary): text "sum"`},
		{"an empty new history", []string{tellTop("compacted", `{"message":"sum","replacement_history":[]}`)}, `note people stands (compaction): text "sum"`},
		{"an old compaction", []string{user("a"), user("<environment_context>x</environment_context>"), user("b"), tellTop("compacted", `{"message":"sum"}`)},
			`user: text "a"; user model: text "<environment_context>x</environment_context>"; user: text "b"; ` +
				`user stands copy: text "a"; user copy: text "b"; user model (summary): text "sum"`},
		{"instructions behind a compaction", []string{head, tellTop("compacted", `{"message":"sum"}`)},
			`system model: text "be brief"; system model stands copy: text "be brief"; user model (summary): text "sum"`},
		{"those that another rollout tells", []string{tellTop("session_meta", `{"base_instructions":{"text":"be brief"},"history_base":{}}`), tellTop("compacted", `{"message":"","replacement_history":[]}`)},
			`system model stands copy: text "be brief"; note people (compaction): text "nothing is left"`},
		{"an old compaction of nothing", []string{tellTop("compacted", `{"message":""}`)}, `user model stands (summary): text "(no summary available)"`},
		{"what was taken back", []string{user("a"), user("b"), back, tellTop("compacted", `{"message":"sum"}`)},
			`user: text "a"; user: text "b"; note people (rollback): text "turns taken back: 1"; user stands copy: text "a"; user model (summary): text "sum"`},
		{"all was taken back", []string{user("a"), tellEvent(`{"type":"thread_rolled_back","num_turns":99}`), tellTop("compacted", `{"message":"sum"}`)},
			`user: text "a"; note people (rollback): text "turns taken back: 99"; user model stands (summary): text "sum"`},
		{"two old compactions", []string{tellTop("compacted", `{"message":"sum"}`), tellTop("compacted", `{"message":"`+summed+` x"}`), tellTop("compacted", `{"message":"more"}`)},
			`user model stands (summary): text "sum"; user stands copy: text "sum"; user model (summary): text "` + summed + ` x"; user stands copy: text "sum"; user model (summary): text "more"`},
		{"a long speech", []string{user("a"), user(long), tellTop("compacted", `{"message":"sum"}`)},
			`user: text "a"; user: text "` + long + `"; user stands copy: text "` + long[:40_000] + `", text "…5000 tokens truncated…", text "` + long[:40_000] + `"; user model (summary): text "sum"`},
		{"one that is too long only with others", []string{user(long[:50_000]), user(long[:40_000]), tellTop("compacted", `{"message":"sum"}`)},
			`user: text "` + long[:50_000] + `"; user: text "` + long[:40_000] + `"; ` +
				`user stands copy: text "` + long[:20_000] + `", text "…2500 tokens truncated…", text "` + long[:20_000] + `"; user copy: text "` + long[:40_000] + `"; user model (summary): text "sum"`},
	} {
		if got := strings.Join(tellAll(legacy, c.lines...), "; "); got != c.want {
			t.Errorf("%s: says %.2000s\nwant %.2000s", c.name, got, c.want)
		}
	}
}

// The oldest rollouts have no envelopes, and no times.
func TestTellBare(t *testing.T) {
	got := strings.Join(tellAll(bare, `{"id":"t","timestamp":"2026-01-02T03:04:05.678Z","instructions":"be brief","git":{}}`, `{"record_type":"state"}`,
		`{"type":"message","id":null,"role":"user","content":[{"type":"input_text","text":"go"}]}`,
		`{"type":"function_call","id":"fc","name":"shell","arguments":"{}","call_id":"c"}`,
		`{"type":"function_call_output","call_id":"c","output":"x"}`), "; ")
	want := `system model: text "be brief"; user: text "go"; assistant #fc: call c shell {}; tool: result c "x"`
	if got != want {
		t.Errorf("says %s\nwant %s", got, want)
	}
}

func TestTellTime(t *testing.T) {
	tell := dialect{generation: legacy}.NewTelling(format.Place{})
	line := tellTop("compacted", `{"replacement_history":[{"type":"message","role":"user","content":"a"},{"type":"message","role":"user","content":"b"}]}`)
	got := tell.Tell(&session.Record{Raw: []byte(line)}, []format.Message{{Time: 7}})
	if len(got) != 3 || got[0].Time != 7 || got[1].Time != 1767323045678 || got[2].Time != 1767323045678 {
		t.Errorf("says %+v", got)
	}
}

// A record that was cut out of a bad line may hold raw control characters and bytes that are no text.
func TestTellSalvaged(t *testing.T) {
	line := tellItem("{\"type\":\"message\",\"role\":\"user\",\"content\":\"a\tb\xff\"}")
	got := dialect{generation: legacy}.NewTelling(format.Place{}).Tell(&session.Record{Raw: []byte(line), Marks: session.Salvaged}, nil)
	if len(got) != 1 || inShort(&got[0]) != `user: text "a\tb�"` {
		t.Errorf("says %+v", got)
	}
}

// What is remembered does not grow with the rollout.
func TestTellMemory(t *testing.T) {
	tell := dialect{generation: legacy}.NewTelling(format.Place{}).(*telling)
	text := strings.Repeat("x", 200_000)
	for n := range 3 * manyCalls {
		call := tellItem(fmt.Sprintf(`{"type":"function_call","name":"x","arguments":"{}","call_id":"c%d"}`, n))
		tell.Tell(&session.Record{Raw: []byte(call)}, nil)
		if n < 100 {
			tell.Tell(&session.Record{Raw: []byte(tellItem(`{"type":"message","role":"user","content":"` + text + `"}`))}, nil)
		}
	}
	if n := len(tell.calls.now) + len(tell.calls.before); n > 2*manyCalls {
		t.Errorf("%d calls are remembered", n)
	}
	size := 0
	for _, s := range tell.heard.list {
		size += s.cost()
	}
	if size != tell.heard.bytes || size > rememberBytes {
		t.Errorf("%d bytes are remembered, and %d counted", size, tell.heard.bytes)
	}
}

// A rollout begins in the others that its header names, the outermost first.
func TestBases(t *testing.T) {
	bases := func(path string) (string, error) {
		first, err := firstOf(piece{path: path, framing: dialect{generation: paginated}.Framing()})
		if err != nil {
			t.Fatal(err)
		}
		list, err := Format{}.Bases(path, dialect{generation: paginated}, first)
		var out []string
		for _, b := range list {
			out = append(out, fmt.Sprint(Format{}.Named(b.Path), " ", b.Bytes))
		}
		return strings.Join(out, ", "), err
	}
	sessions := filepath.Join("..", "..", "testdata", "sessions", "codex")
	for _, c := range []struct{ path, want string }{
		{"fork/rollout-2026-04-03T09-30-00-019d0003-1111-7222-8333-000000000003.jsonl", ""},
		{"fork/rollout-2026-04-05T09-30-00-019d0005-1111-7222-8333-000000000005.jsonl",
			"019d0003-1111-7222-8333-000000000003 7138, 019d0004-1111-7222-8333-000000000004 3025"},
		{"packed/rollout-2026-04-10T09-30-00-019d000a-1111-7222-8333-00000000000a.jsonl", "019d0009-1111-7222-8333-000000000009 14034"},
		{"revert/rollout-2026-04-07T09-30-00-019d0007-1111-7222-8333-000000000007.jsonl",
			"019d0006-1111-7222-8333-000000000006 3616, 019d0006-9999-7222-8333-000000000001 4114"},
	} {
		if got, err := bases(filepath.Join(sessions, c.path)); err != nil || got != c.want {
			t.Errorf("%s begins in %q, %v; want %q", c.path, got, err, c.want)
		}
	}
	var refused *format.RefusedError
	missing := filepath.Join("..", "..", "testdata", "corrupt", "codex-base-missing", "rollout-2026-04-04T09-30-00-019d0004-1111-7222-8333-000000000004.jsonl")
	if got, err := bases(missing); got != "" || !errors.As(err, &refused) {
		t.Errorf("a base that is not there: %q, %v", got, err)
	}
}

// A line may hold a list without end.
func TestTellManyPieces(t *testing.T) {
	tell := dialect{generation: legacy}.NewTelling(format.Place{})
	many := "[" + strings.Repeat("0,", 2*manyElements) + "0]"
	for _, line := range []string{
		tellItem(`{"type":"message","role":"user","content":` + many + `}`),
		tellItem(`{"type":"function_call_output","call_id":"c","output":` + many + `}`),
		tellTop("compacted", `{"replacement_history":[`+strings.Repeat(`{"type":"message","role":"user","content":"a"},`, 2*manyElements)+`{}]}`),
	} {
		out := tell.Tell(&session.Record{Raw: []byte(line)}, nil)
		n := len(out)
		for _, m := range out {
			for _, b := range m.Blocks {
				n += 1 + len(b.Content)
			}
		}
		if n > 2*manyElements+2 {
			t.Errorf("%.90s: %d pieces", line, n)
		}
	}
}

// Every record of the shipped rollouts, damaged ones too, and of the real client's where they are at hand, is told.
func TestTellRollouts(t *testing.T) {
	n := 0
	for _, root := range []string{"../../testdata/sessions/codex", "../../testdata/corrupt", "../../../shared/oracles/codex/samples"} {
		filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if _, ok := nameOf(path); err != nil || !ok {
				return nil
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			medium := scan.Lines
			if strings.HasSuffix(path, ".zst") {
				medium = scan.Frames
			}
			for _, generation := range []string{bare, legacy, paginated} {
				n += tellSanely(t, bytes.NewReader(data), medium, generation)
			}
			return nil
		})
	}
	if n < 1000 {
		t.Errorf("only %d messages", n)
	}
}

// tellSanely tells a text, and gives how many messages it says.
func tellSanely(t *testing.T, text io.ReaderAt, medium, generation string) (n int) {
	t.Helper()
	size := text.(interface{ Size() int64 }).Size()
	d := dialect{generation: generation, rank: 171_000}
	s, err := scan.New(context.Background(), text, size, scan.Options{Medium: medium, Framing: d.Framing()})
	if err != nil {
		t.Fatal(err)
	}
	tell := d.NewTelling(format.Place{})
	for s.Next() {
		r := s.Record()
		raw := bytes.Clone(r.Raw)
		out := tell.Tell(r, nil)
		if !bytes.Equal(raw, r.Raw) {
			t.Fatalf("telling changes %q to %q", raw, r.Raw)
		}
		for i := range out {
			n++
			if m := &out[i]; len(m.Blocks) == 0 || m.Stands != (i == 0 && m.Stands) || !utf8.ValidString(m.Title+m.ID+m.Model) {
				t.Fatalf("%q says %+v", raw, m)
			}
			blocksSanely(t, raw, out[i].Blocks)
		}
	}
	return n
}

func blocksSanely(t *testing.T, raw []byte, blocks []format.Block) {
	t.Helper()
	for _, b := range blocks {
		for _, s := range []string{b.Text, b.ID, b.Name, b.Media, b.Data, b.URL, string(b.Input)} {
			if !utf8.ValidString(s) {
				t.Fatalf("%q says %q", raw, s)
			}
		}
		if len(b.Input) > 0 && !json.Valid(b.Input) {
			t.Fatalf("%q gives the input %q", raw, b.Input)
		}
		blocksSanely(t, raw, b.Content)
	}
}

// FuzzTell tells a line, as it is and bent, behind others.
func FuzzTell(f *testing.F) {
	for i, s := range fuzzSeeds(f) {
		f.Add(s, uint64(i))
	}
	f.Add([]byte(tellTop("compacted", `{"message":"`+summed+`"}`)), uint64(1))
	f.Add([]byte(tellItem(`{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"data:;base64,"},{}]}`)), uint64(2))
	f.Fuzz(func(t *testing.T, line []byte, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		text := bytes.Join([][]byte{line, {'\n'}, damage.Bend(rnd, line, pieces), {'\n'}, line}, nil)
		for _, generation := range []string{bare, legacy, paginated} {
			tellSanely(t, bytes.NewReader(text), scan.Lines, generation)
		}
	})
}
