package pi

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/internal/damage"
	"github.com/sessfix/sessfix/internal/spoken"
	"github.com/sessfix/sessfix/session"
)

// entryOf is an entry of some type; the members hold no id, parent and time.
func entryOf(typ, members string) string {
	return `{"type":"` + typ + `","id":"e1","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z"` + members + `}`
}

func messageOf(members string) string {
	return entryOf("message", `,"message":{"timestamp":1767225600990,`+members+`}`)
}

func answerOf(blocks, more string) string {
	return messageOf(`"role":"assistant","api":"anthropic-messages","model":"m","content":[` + blocks + `]` + more)
}

func resultOf(content, more string) string {
	return messageOf(`"role":"toolResult","toolCallId":"c","toolName":"sh","content":` + content + more)
}

var tellings = []struct{ name, line, want string }{
	{"a header", head, ""},
	{"no JSON", `{"type":"message"`, ""},
	{"a string", messageOf(`"role":"user","content":"x"`), `user: "x"`},
	{"blocks", messageOf(`"role":"user","content":[{"type":"text","text":"x"},{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"text","text":"y"}]`),
		`user: "x"; image image/png AA==; "y"`},
	{"a block of another kind", messageOf(`"role":"user","content":[{"type":"audio","text":"x"},{"type":7},{},null,3]`), `user: other "audio"`},
	{"nothing", messageOf(`"role":"user","content":[]`), ""},
	{"an empty text", messageOf(`"role":"user","content":[{"type":"text","text":""}]`), ""},
	{"null", messageOf(`"role":"user","content":null`), ""},
	{"half a surrogate, and a byte that is no UTF-8", messageOf("\"role\":\"user\",\"content\":\"\\ud83d \xff\""), "user: \"\uFFFD \uFFFD\""},
	{"a control character", messageOf("\"role\":\"user\",\"content\":\"a\x01b\""), `user: "a\x01b"`},
	{"an answer", answerOf(`{"type":"text","text":"x","textSignature":"t"}`, `,"stopReason":"stop"`), `assistant <m>: "x"`},
	{"an answer that is a string", messageOf(`"role":"assistant","model":"m","content":"x"`), `assistant <m>: "x"`},
	{"thinking", answerOf(`{"type":"thinking","thinking":"t","thinkingSignature":"s"}`, ""), `assistant <m>: thinking s "t"`},
	{"thinking without words", answerOf(`{"type":"thinking","thinking":"","thinkingSignature":"s"}`, ""), `assistant <m>: thinking s`},
	{"thinking of nothing", answerOf(`{"type":"thinking","thinking":""}`, ""), ""},
	{"thinking that is sealed", answerOf(`{"type":"thinking","thinking":"[redacted]","thinkingSignature":"ZZ==","redacted":true}`, ""), `assistant <m>: thinking ZZ== sealed "[redacted]"`},
	{"thinking of a service that signs nothing", strings.Replace(answerOf(`{"type":"thinking","thinking":"t","thinkingSignature":"reasoning_content"}`, ""), "anthropic-messages", "openai-completions", 1), `assistant <m>: thinking "t"`},
	{"a call", answerOf(`{"type":"text","text":"x"},{"type":"toolCall","id":"c","name":"sh","arguments":{"a": 1.0,"n":9007199254740993,"A":"\u0041"}}`, `,"stopReason":"toolUse"`),
		`assistant <m>: "x"; call c sh {"a": 1.0,"n":9007199254740993,"A":"\u0041"}`},
	{"calls under other names", answerOf(`{"type":"toolUse","id":"c","name":"sh","input":{}},{"type":"functionCall","id":"d","name":"sh","arguments":"{}"}`, ""), `assistant <m>: call c sh {}; call d sh "{}"`},
	{"a call without input", answerOf(`{"type":"toolCall","id":"c","name":"sh"}`, ""), `assistant <m>: call c sh`},
	{"an answer that was cut at its greatest length", answerOf(`{"type":"text","text":"x"}`, `,"stopReason":"length"`), `assistant <m>: "x"`},
	{"an answer that failed", answerOf(`{"type":"text","text":"x"},{"type":"toolCall","id":"c","name":"sh","arguments":{}}`, `,"stopReason":"error","errorMessage":"500"`),
		`assistant (people) <m>: "x"; call c sh {} | note (people) <error>: "500"`},
	{"an answer that was given up", answerOf(``, `,"stopReason":"aborted"`), `note (people) <aborted>: "aborted"`},
	{"a result", resultOf(`[{"type":"text","text":"x"}]`, `,"isError":false`), `tool: result c sh "x"`},
	{"a result that is a string", resultOf(`"x"`, ``), `tool: result c sh "x"`},
	{"a result of nothing", resultOf(`[]`, `,"isError":true`), `tool: result c sh failed`},
	{"a result with an image", resultOf(`[{"type":"text","text":"x"},{"type":"image","data":"AA==","mimeType":"image/png"}]`, ``), `tool: result c sh ["x"; image image/png AA==]`},
	{"an image alone", resultOf(`[{"type":"image","data":"AA==","mimeType":"image/png"}]`, ``), `tool: result c sh [image image/png AA==]`},
	{"two texts", resultOf(`[{"type":"text","text":"x"},{"type":"text","text":"y"}]`, ``), `tool: result c sh ["x"; "y"]`},
	{"ours", resultOf(`[{"type":"text","text":"x"}]`, `,"details":{"sessfix":{"code":"TOOL_OUTCOME_UNKNOWN","v":1}},"isError":true`), `tool: result c sh failed made up "x"`},
	{"ours, by its words", resultOf(`"TOOL_NOT_STARTED: it did not"`, `,"details":null`), `tool: result c sh made up "TOOL_NOT_STARTED: it did not"`},
	{"a result that tells of such words", resultOf(`"grep: TOOL_NOT_STARTED: it did not"`, `,"details":[]`), `tool: result c sh "grep: TOOL_NOT_STARTED: it did not"`},
	{"OpenClaw's", resultOf(`"x"`, `,"details":{"openclawSyntheticMissingToolResult":true}`), `tool: result c sh made up "x"`},
	{"OpenClaw's, by its words", resultOf(`"[openclaw] missing tool result in session history"`, ``), `tool: result c sh made up "[openclaw] missing tool result in session history"`},
	{"a command", messageOf(`"role":"bashExecution","command":"ls","output":"a\n","exitCode":0,"cancelled":false,"truncated":false`), "user <command>: " + `"Ran ` + "`ls`" + `\n` + "```" + `\na\n\n` + "```" + `"`},
	{"a command that failed, of nothing", messageOf(`"role":"bashExecution","command":"ls","output":"","exitCode":2`), "user <command>: " + `"Ran ` + "`ls`" + `\n(no output)\n\nCommand exited with code 2"`},
	{"a command that was ended", messageOf(`"role":"bashExecution","command":"ls","output":"","exitCode":2,"cancelled":true,"truncated":true,"fullOutputPath":"/o"`),
		"user <command>: " + `"Ran ` + "`ls`" + `\n(no output)\n\n(command cancelled)\n\n[Output truncated. Full output: /o]"`},
	{"a command that is nobody's business", messageOf(`"role":"bashExecution","command":"ls","output":"","excludeFromContext":true`), "user (people) <command>: " + `"Ran ` + "`ls`" + `\n(no output)"`},
	{"of an extension", messageOf(`"role":"custom","customType":"k","content":"x","display":true`), `user <k>: "x"`},
	{"of a hook", messageOf(`"role":"hookMessage","customType":"k","content":[{"type":"text","text":"x"}],"display":false`), `user (model) <k>: "x"`},
	{"of the system", messageOf(`"role":"system","content":"a","sections":{"z":"b","c":null,"n":7,"y":""},"toolsAdded":[]`), `system (model): "a\n\nb\n\nRemoved system prompt section \"c\"."`},
	{"sections that are none", messageOf(`"role":"system","content":[{"type":"text","text":"a"}],"sections":7`), `system (model): "a"`},
	{"of a role that nobody knows", messageOf(`"role":"oracle","content":"x"`), `note (people) <oracle>: "x"`},
	{"of no role", messageOf(`"content":"x"`), `note (people): "x"`},
	{"of nothing", entryOf("message", ""), ""},
	{"a number", entryOf("message", `,"message":7`), ""},
	{"more brackets than anybody reads", entryOf("message", `,"message":`+strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)), ""},
	{"an extension's", entryOf("custom_message", `,"customType":"k","content":"x","display":true`), `user <k>: "x"`},
	{"an extension's, not shown", entryOf("custom_message", `,"customType":"k","content":[{"type":"text","text":"x"}],"display":false`), `user (model) <k>: "x"`},
	{"an extension's state", entryOf("custom", `,"customType":"k","data":{"text":"x"}`), ""},
	{"a branch", entryOf("branch_summary", `,"fromId":"e0","summary":"s"`), `user <branch summary>: "The following is a summary of a branch that this conversation came back from:\n\n<summary>\ns</summary>"`},
	{"a branch without summary", entryOf("branch_summary", `,"fromId":"e0","summary":""`), ""},
	{"a compaction", entryOf("compaction", `,"summary":"s","firstKeptEntryId":"e0"`), `user stands <compaction>: "The conversation history before this point was compacted into the following summary:\n\n<summary>\ns\n</summary>"`},
	{"a compaction with the system's", entryOf("compaction", `,"summary":"s","systemMessage":{"role":"system","content":"a"}`),
		`system (model) stands: "a" | user <compaction>: "The conversation history before this point was compacted into the following summary:\n\n<summary>\ns\n</summary>"`},
	{"an edit", entryOf("context_edit", `,"targetId":"e0","replacement":{"content":[{"type":"text","text":"x"}]}`), `note (model) <edit>: "x"`},
	{"an edit by a string", entryOf("context_edit", `,"targetId":"e0","replacement":{"content":"x"}`), `note (model) <edit>: "x"`},
	{"an edit that takes out", entryOf("context_edit", `,"targetId":"e0","replacement":null`), `note (people) <edit>: "what e0 says is sent no more"`},
	{"a label", entryOf("label", `,"targetId":"e0","label":"l"`), `note (people) <label>: "l"`},
	{"the end of one", entryOf("label", `,"targetId":"e0"`), ""},
	{"a name", entryOf("session_info", `,"name":"n"`), `note (people) <name>: "n"`},
	{"a model", entryOf("model_change", `,"provider":"p","modelId":"m"`), `note (people) <model>: "p/m"`},
	{"a model, of 0.7", entryOf("model_change", `,"model":"p/m"`), `note (people) <model>: "p/m"`},
	{"a level", entryOf("thinking_level_change", `,"thinkingLevel":"high"`), `note (people) <thinking level>: "high"`},
	{"tools", entryOf("active_tools_change", `,"activeToolNames":["a","b"]`), `note (people) <tools>: "a, b"`},
	{"usage", entryOf("usage", `,"kind":"cache_warm","usage":{}`), ""},
	{"a type that nobody knows", entryOf("of_the_future", `,"content":"x","summary":"s"`), ""},
}

func tellOf(t testing.TB, client, header, line string) []format.Message {
	t.Helper()
	d, err := (Format{}).Dialect(format.Peek{First: []byte(header), FirstLine: true}, client)
	if err != nil {
		t.Fatal(err)
	}
	return d.(format.Teller).NewTelling(format.Place{}).Tell(&session.Record{Raw: []byte(line)}, nil)
}

func TestTell(t *testing.T) {
	for _, c := range tellings {
		got := tellOf(t, "", head, c.line)
		if words := spoken.Words(got); words != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, words, c.want)
		}
		if fault := spoken.Fault(got); fault != "" {
			t.Errorf("%s: %s", c.name, fault)
		}
		for _, m := range got {
			if m.ID != "e1" || m.Time != 1767225601000 {
				t.Errorf("%s: id %q, time %d", c.name, m.ID, m.Time)
			}
		}
	}
}

// An edit of a client that takes no notice of it is for people.
func TestTellEdit(t *testing.T) {
	edit := entryOf("context_edit", `,"targetId":"e0","replacement":{"content":"x"}`)
	if got := spoken.Words(tellOf(t, "0.73.1", head, edit)); got != `note (people) <edit>: "x"` {
		t.Error(got)
	}
}

// Entries without ids say their own time where they have no other.
func TestTellLinear(t *testing.T) {
	old := strings.Replace(head, `"version":3,`, "", 1)
	got := tellOf(t, "", old, unided)
	if len(got) != 1 || got[0].ID != "" || got[0].Time != 1767225601000 {
		t.Errorf("%+v", got)
	}
	got = tellOf(t, "", old, `{"type":"message","timestamp":"tomorrow","message":{"role":"user","content":"t","timestamp":1767225600990}}`)
	if len(got) != 1 || got[0].Time != 1767225600990 {
		t.Errorf("%+v", got)
	}
}

// What was told before stays as it is, and nothing of the record is kept.
func TestTellAppends(t *testing.T) {
	d, _ := (Format{}).Dialect(format.Peek{First: []byte(head), FirstLine: true}, "")
	telling := d.(format.Teller).NewTelling(format.Place{})
	raw := []byte(answerOf(`{"type":"toolCall","id":"c","name":"sh","arguments":{"a":1}}`, ""))
	list := telling.Tell(&session.Record{Raw: raw}, []format.Message{{Title: "first"}})
	for i := range raw {
		raw[i] = 'x'
	}
	if got := spoken.Words(list); got != `note <first>:  | assistant <m>: call c sh {"a":1}` {
		t.Error(got)
	}
}

// recordsOf are the lines of all logs below some folders.
func recordsOf(t testing.TB, patterns ...string) (lines [][]byte) {
	t.Helper()
	for _, p := range patterns {
		paths, err := filepath.Glob(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, bytes.Split(data, []byte("\n"))...)
		}
	}
	return lines
}

var logs = []string{
	"../../testdata/sessions/pi/*.jsonl", "../../testdata/sessions/pi/*/*.jsonl", "../../testdata/corrupt/pi-*/*.jsonl", "../../testdata/field/*pi-*/*.jsonl",
	"../../../shared/oracles/pi/samples/*.jsonl", "../../../shared/oracles/pi/samples/*/*.jsonl",
}

// All logs that there are can be told, and most of their messages say something.
func TestTellLogs(t *testing.T) {
	said, entries := 0, 0
	for _, line := range recordsOf(t, logs...) {
		got := tellOf(t, "", head, string(line))
		if fault := spoken.Fault(got); fault != "" {
			t.Errorf("%s: %.200s", fault, line)
		}
		if bytes.Contains(line, []byte(`{"type":"message"`)) {
			entries++
			said += min(len(got), 1)
		}
	}
	if entries < 100 || said < entries*8/10 {
		t.Errorf("%d of %d messages say something", said, entries)
	}
}

// FuzzTell bends records. Whatever they say is text.
func FuzzTell(f *testing.F) {
	for i := range tellings {
		f.Add("", uint64(i))
	}
	f.Add(`{"type":"message","message":{"role":"user","content":"`+"\x00\xed\xa0\x80"+`"}}`, uint64(0))
	pieces := []string{`null`, `""`, `[]`, `{}`, `7`, `true`, `"role":"toolResult",`, `"type":"compaction",`, `"\ud800"`, "\xff", `"content":[{"type":"text","text":"x"}],`}
	f.Fuzz(func(t *testing.T, line string, seed uint64) {
		if line == "" {
			rnd := rand.New(rand.NewPCG(seed, 1))
			line = string(damage.Bend(rnd, []byte(tellings[seed%uint64(len(tellings))].line), pieces))
		}
		got := tellOf(t, "", head, line)
		if fault := spoken.Fault(got); fault != "" {
			t.Errorf("%s: %q", fault, line)
		}
		if again := spoken.Words(tellOf(t, "", head, line)); again != spoken.Words(got) {
			t.Errorf("%q is told in two ways", line)
		}
	})
}
