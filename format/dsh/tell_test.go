package dsh_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/dsh"
	"github.com/sessfix/sessfix/internal/damage"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// told is what lines say, in the shorthand of short.
func told(t *testing.T, version int, lines ...string) string {
	t.Helper()
	d, err := dsh.Format{}.Dialect(format.Peek{First: fmt.Appendf(nil, `{"type":"session","version":%d,"createdAt":1}`, version)}, "")
	if err != nil {
		t.Fatal(err)
	}
	telling := d.(format.Teller).NewTelling(format.Place{})
	var out []string
	var list []format.Message
	for _, line := range lines {
		raw := []byte(line)
		list = telling.Tell(&session.Record{Raw: raw}, list[:0])
		for i := range raw {
			raw[i] = '#' // what is told refers to no memory of the record
		}
		for _, m := range list {
			out = append(out, short(m))
		}
	}
	return strings.Join(out, "\n")
}

// short writes a message: role, what else is said of it, and its blocks.
func short(m format.Message) string {
	words := []string{m.Role.String()}
	for _, w := range []struct {
		is   bool
		word string
	}{{m.For == format.ModelOnly, "model"}, {m.For == format.PeopleOnly, "people"}, {m.Stands, "stands"}, {m.Copy, "copy"},
		{m.Title != "", m.Title}, {m.ID != "", "#" + m.ID}, {m.Model != "", "by " + m.Model}, {m.Time != 0, fmt.Sprint("at ", m.Time)}} {
		if w.is {
			words = append(words, w.word)
		}
	}
	return strings.Join(words, ", ") + blocks(m.Blocks)
}

func blocks(list []format.Block) string {
	var out strings.Builder
	for _, b := range list {
		fmt.Fprintf(&out, " [%s", b.Kind)
		for _, w := range []struct {
			is   bool
			word string
		}{{b.ID != "", b.ID}, {b.Name != "", b.Name}, {b.Input != nil, string(b.Input)}, {b.Text != "", fmt.Sprintf("%q", b.Text)},
			{b.Failed, "failed"}, {b.MadeUp, "made up"}, {b.Media != "", b.Media}, {b.Signature != "", "signed " + b.Signature},
			{b.Sealed, "sealed"}, {b.Data != "", b.Data}} {
			if w.is {
				out.WriteString(" " + w.word)
			}
		}
		out.WriteString(blocks(b.Content) + "]")
	}
	return out.String()
}

// event is a record without number.
func event(kind, data string, more ...string) string {
	return `{"type":"` + kind + `","time":7,"data":` + data + strings.Join(more, "") + `}`
}

const (
	step    = `"turn":1,"step":1,`
	appends = `,"surfaceOp":"append"`
)

func TestTellMessages(t *testing.T) {
	user := func(source, content string) string {
		return event("user/message", `{"id":"u","role":"user","content":[`+content+`],"source":{"kind":"`+source+`"}}`, appends)
	}
	assistant := func(content, more string) string {
		return event("assistant/message", `{`+step+`"message":{"id":"a","role":"assistant","content":[`+content+`],"source":{"kind":"model","provider":"p","model":"m"`+more+`}}}`, appends)
	}
	result := func(content, more string) string {
		return event("tool/result", `{`+step+`"message":{"id":"r","role":"user","source":{"kind":"tool","callId":"c"},"content":[{"type":"tool-result","toolCallId":"c","content":[`+content+`]`+more+`}]}}`, appends)
	}
	made := func(id, code string) string {
		return event("tool/result", `{`+step+`"message":{"id":"`+id+`","role":"user","source":{"kind":"tool","callId":"c"},"content":[{"type":"tool-result","toolCallId":"c","content":[],"isError":true}]},"error":{"name":"E","code":"`+code+`"}}`, appends)
	}
	hi := `{"type":"text","text":"hi\n\ud83c\udf33 \ud800"}`
	image := `{"type":"image","attachment":{"attachmentId":"sha256:ab","mediaType":"image/png","bytes":9,"width":3,"height":4,"name":"x.png"}}`
	for _, c := range []struct {
		version    int
		line, want string
	}{
		{0, user("user", hi), `user, #u, at 7 [text "hi\n🌳 �"]`},
		{0, user("user", hi+","+image), `user, #u, at 7 [text "hi\n🌳 �"] [image "image x.png 3×4 in attachment sha256:ab" image/png]`},
		{2, user("goal", hi), `user, #u, at 7 [text "hi\n🌳 �"]`},
		{3, user("plugin", hi), `user, model, #u, at 7 [text "hi\n🌳 �"]`},
		{4, user("agent-instructions", hi), `user, model, #u, at 7 [text "hi\n🌳 �"]`},
		{0, user("user", ""), ``},
		{0, user("user", `{"type":"text","text":""}`), ``},
		{0, user("user", `{"type":"plugin:map","text":"x"}`), `user, #u, at 7 [other "plugin:map"]`},
		{0, user("user", `null,3,"x",{"type":"text","text":4},{"type":"text","text":"y"}`), `user, #u, at 7 [text "y"]`},
		{0, event("user/message", `{"content":[`+hi+`],"source":{"kind":"user"}}`, appends), `user, at 7 [text "hi\n🌳 �"]`},
		{0, event("steering/message", `{"turn":1,"content":[`+hi+`],"source":{"kind":"user"}}`, appends), `user, at 7 [text "hi\n🌳 �"]`},
		{0, event("steering/message", `{"turn":1,"message":{"id":"s","role":"user","content":[`+hi+`],"source":{"kind":"user"}}}`, appends), `user, #s, at 7 [text "hi\n🌳 �"]`},
		{1, event("steering/message", `{"turn":1,"content":[`+hi+`],"source":{"kind":"user"}}`, appends), ``},

		{0, assistant(`{"type":"reasoning","text":"so"},`+hi, ""), `assistant, #a, by m, at 7 [thinking "so"] [text "hi\n🌳 �"]`},
		{0, assistant(`{"type":"tool-call","id":"c","name":"bash","arguments":"{\"a\": 1.0,\"a\":\"\\ud800\"}"}`, ""), `assistant, #a, by m, at 7 [call c bash {"a": 1.0,"a":"\ud800"}]`},
		{0, assistant(`{"type":"tool-call","id":"c","name":"bash","arguments":"{\"a\":"}`, ""), `assistant, #a, by m, at 7 [call c bash "{\"a\":"]`},
		{0, assistant(`{"type":"tool-call","id":"c","name":"bash","arguments":""}`, ""), `assistant, #a, by m, at 7 [call c bash]`},
		{0, assistant(`{"type":"tool-call","id":"c","name":"bash","arguments":{"a":1}}`, ""), `assistant, #a, by m, at 7 [call c bash {"a":1}]`},
		{0, assistant(`{"type":"tool-call","id":"c","name":"bash"}`, ""), `assistant, #a, by m, at 7 [call c bash]`},
		{0, assistant(``, ""), ``},
		{0, event("assistant/message", `{`+step+`"content":[`+hi+`],"provenance":{"provider":"p","model":"m"}}`, appends), `assistant, by m, at 7 [text "hi\n🌳 �"]`},
		{2, event("assistant/message", `{`+step+`"interrupted":true,"message":{"id":"a","role":"assistant","content":[`+hi+`],"source":{"kind":"model","model":"m"}}}`, appends),
			"assistant, #a, by m, at 7 [text \"hi\\n🌳 �\"]\nnote, people, interrupted, at 7 [text \"The answer was cut off here.\"]"},
		{3, assistant(`{"type":"reasoning","text":"so"},{"type":"reasoning","text":""}`, `,"replayState":{"response":{"kind":"pi-ai","api":"anthropic-messages"},"blocks":[{"type":"reasoning","thinkingSignature":"S"},{"type":"reasoning","thinkingSignature":"X","redacted":true}]}`),
			`assistant, #a, by m, at 7 [thinking "so" signed S] [thinking sealed X]`},
		{3, assistant(`{"type":"reasoning","text":"so"}`, `,"replayState":{"response":{"kind":"pi-ai","api":"openai-responses"},"blocks":[{"type":"reasoning","thinkingSignature":"S"}]}`), `assistant, #a, by m, at 7 [thinking "so"]`},
		{3, assistant(`{"type":"reasoning","text":"so"}`, `,"replayState":{"response":{"kind":"pi-ai","api":"anthropic-messages"},"blocks":[]}`), `assistant, #a, by m, at 7 [thinking "so"]`},

		{0, result(hi, `,"isError":true`), `tool, #r, at 7 [result c "hi\n🌳 �" failed]`},
		{0, result("", ""), `tool, #r, at 7 [result c]`},
		{3, result(hi+","+image, ""), `tool, #r, at 7 [result c [text "hi\n🌳 �"] [image "image x.png 3×4 in attachment sha256:ab" image/png]]`},
		{0, event("tool/result", `{`+step+`"callId":"c","content":[`+hi+`],"isError":true}`, appends), `tool, at 7 [result c "hi\n🌳 �" failed]`},
		{4, event("tool/result", `{`+step+`"message":{"id":"r","role":"tool","toolCallId":"c","isError":true,"source":{"kind":"tool","callId":"c"},"content":[`+hi+`]}}`, appends),
			`tool, #r, at 7 [result c "hi\n🌳 �" failed]`},
		{0, made("interrupted-tool-result-c-9", "TOOL_NOT_STARTED"), `tool, #interrupted-tool-result-c-9, at 7 [result c failed made up]`},
		{0, made("forked-tool-result-c-9", "TOOL_OUTCOME_UNKNOWN"), `tool, #forked-tool-result-c-9, at 7 [result c failed made up]`},
		{0, made("r", "TOOL_OUTCOME_UNKNOWN"), `tool, #r, at 7 [result c failed]`},
		{0, made("interrupted-tool-result-c-9", "EXIT"), `tool, #interrupted-tool-result-c-9, at 7 [result c failed]`},
		{0, event("tool/result", `{`+step+`"message":{"id":"r","role":"user","source":{"kind":"tool","callId":"c"},"content":[`+hi+`]}}`, appends), `tool, #r, at 7 [result c "hi\n🌳 �"]`},

		{3, event("system/message", `{`+step+`"message":{"id":"s","role":"system","source":{"kind":"x"},"content":[`+hi+`]}}`, appends), `system, model, #s, at 7 [text "hi\n🌳 �"]`},
		{3, event("system/message", `{`+step+`"message":{"id":"s","role":"system","source":{"kind":"x"},"content":[]}}`, appends), ``},
		{2, event("system/message", `{`+step+`"message":{"id":"s","role":"system","source":{"kind":"x"},"content":[`+hi+`]}}`, appends), ``},
		{4, event("developer/message", `{`+step+`"message":{"id":"s","role":"developer","source":{"kind":"x"},"content":[`+hi+`]}}`, appends), `system, model, #s, at 7 [text "hi\n🌳 �"]`},

		{0, event("tool/call", `{`+step+`"callId":"c","name":"bash","arguments":"{}"}`), ``},
		{0, event("no/such", `{"text":"x"}`, `,"ignorable":true`), ``},
		{0, `{"type":"session","version":0,"id":"x","createdAt":1}`, ``},
		{0, `{"type":"user/message"`, ``},
		{0, `{"type":"user/message","time":7}`, ``},
		{0, `null`, ``}, {0, `[1]`, ``}, {0, ``, ``}, {0, strings.Repeat("[", 100_000), ``},
	} {
		if got := told(t, c.version, c.line); got != c.want {
			t.Errorf("version %d: %.300s\nsays %s\nwant %s", c.version, c.line, got, c.want)
		}
	}
}

func TestTellNotes(t *testing.T) {
	for _, c := range []struct {
		version    int
		kind, data string
		want       string
	}{
		{0, "approval/asked", `{"id":"p","toolName":"bash","callId":"c","reason":"it writes"}`, `approval, #p, at 7 [text "asked for bash: it writes"]`},
		{0, "approval/decided", `{"id":"p","outcome":"rejected"}`, `approval, #p, at 7 [text "rejected"]`},
		{0, "turn/end", `{"turn":1,"reason":{"kind":"completed"}}`, ``},
		{0, "turn/end", `{"turn":1,"reason":{"kind":"interrupted"}}`, `turn end, at 7 [text "interrupted"]`},
		{0, "turn/end", `{"turn":1,"reason":{"kind":"aborted","reason":{"kind":"hook","reason":"no"}}}`, `turn end, at 7 [text "aborted: hook: no"]`},
		{0, "turn/end", `{"turn":1,"reason":{"kind":"error","error":{"message":"busy","code":"OVERLOADED"}}}`, `turn end, at 7 [text "error: busy (OVERLOADED)"]`},
		{0, "turn/end", `{"turn":1,"reason":{"kind":"error","step":1,"failure":{"message":"busy"}}}`, `turn end, at 7 [text "error: busy"]`},
		{0, "turn/end", `{"turn":1,"reason":{"kind":"error","step":1,"message":"busy","code":"X"}}`, `turn end, at 7 [text "error: busy (X)"]`},
		{0, "compaction/summary", `{"compactionId":"k","summary":[{"type":"text","text":"short"}]}`, `compaction, #k, at 7 [text "short"]`},
		{0, "compact/summary", `{"summary":[{"type":"text","text":"short"}]}`, `compaction, at 7 [text "short"]`},
		{0, "compaction/summary", `{"compactionId":"k","summary":[]}`, ``},
		{0, "compaction/end", `{"compactionId":"k","turn":null,"error":"no room"}`, `compaction, #k, at 7 [text "failed: no room"]`},
		{0, "compaction/end", `{"compactionId":"k","turn":null}`, ``},
		{0, "compaction/start", `{"compactionId":"k","turn":null}`, ``},
		{0, "llm/retry", `{"retryId":"r","failure":{"message":"busy","code":"OVERLOADED"}}`, `retry, at 7 [text "busy (OVERLOADED)"]`},
		{0, "todo/write", `{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"pending"}]}`, `todo, at 7 [text "completed: a\npending: b"]`},
		{0, "command/run", `{"commandId":"k","name":"compact","args":"now","source":{"kind":"user"}}`, `command, #k, at 7 [text "/compact now"]`},
		{0, "command/done", `{"commandId":"k","kind":"error","text":"nothing"}`, `command, #k, at 7 [text "nothing"]`},
		{0, "session/title", `{"title":"T"}`, `title, at 7 [text "T"]`},
		{0, "goal/change", `{"operation":"create","goal":{"objective":"o"}}`, `goal, at 7 [text "create: o"]`},
		{0, "schedule/change", `{"operation":"create","schedule":{"prompt":"p"}}`, `schedule, at 7 [text "create: p"]`},
		{0, "feedback/record", `{"text":"fine"}`, `feedback, at 7 [text "fine"]`},
		{0, "hook/result", `{"point":"PreToolUse","decision":"deny","stderrSummary":"no"}`, `hook, at 7 [text "PreToolUse deny: no"]`},
		{0, "hook/result", `{"point":"PreToolUse","decision":"pass"}`, ``},
		{0, "team/task", `{"task":{"subject":"s","status":"pending"}}`, `team, at 7 [text "pending: s"]`},
		{0, "team/message/queued", `{"message":{"senderName":"A","content":[{"type":"text","text":"x"}]}}`, `team, at 7 [text "a message to a member of the team, from: A"] [text "x"]`},
		{0, "subagent/descriptor", `{"version":3,"mode":"one-shot","provider":"in-process","label":"w"}`, `sub-agent, at 7 [text "in-process: w"]`},
		{0, "tool-workflow/run-start", `{"runId":"w","name":"flow"}`, `workflow, at 7 [text "start: flow"]`},
		{0, "tool-workflow/agent-start", `{"runId":"w","seq":1,"label":"worker","childId":"x"}`, `workflow, at 7 [text "agent: worker"]`},
		{2, "tool/code-dispatch", `{"name":"bash","arguments":{},"isError":true,"content":[{"type":"text","text":"x"}]}`, `inner call, at 7 [text "ran bash, which failed"] [text "x"]`},
		{3, "tool/ptc-dispatch", `{"name":"bash","arguments":{},"isError":false,"content":[]}`, `inner call, at 7 [text "ran bash"]`},
		{3, "tool/code-dispatch", `{"name":"bash","arguments":{},"isError":false,"content":[]}`, ``},
		{0, "sandbox/mode", `{"mode":"read-only"}`, ``},
		{0, "agent/inbox/spliced", `{"target":"next-turn","start":0,"inserted":[{"id":"u","role":"user","content":[{"type":"text","text":"x"}]}]}`, ``},
		{0, "request/context", `{"provider":"p","model":"m"}`, ``},
		{0, "session/end-seed", `{}`, ``},
		{0, "todo/write", `[]`, ``},
	} {
		want := c.want
		if want != "" {
			want = "note, people, " + want
		}
		if got := told(t, c.version, event(c.kind, c.data)); got != want {
			t.Errorf("version %d: %s %s\nsays %s\nwant %s", c.version, c.kind, c.data, got, want)
		}
	}
}

// A system prompt that stands in request headers is told where it changes.
func TestTellHeaders(t *testing.T) {
	header := func(system string) string {
		return event("request/header", `{"header":{"config":{"provider":"p","model":"m"}`+system+`},"reason":"initial"}`)
	}
	a, b, none := header(`,"system":"A"`), header(`,"system":"B"`), header("")
	want := "system, model, at 7 [text \"A\"]\nsystem, model, at 7 [text \"B\"]\nsystem, model, at 7 [text \"A\"]"
	if got := told(t, 2, a, a, b, b, none, a); got != want {
		t.Errorf("says\n%s\nwant\n%s", got, want)
	}
	if got := told(t, 3, a); got != "" {
		t.Errorf("version 3 says %s", got)
	}
}

func TestTellReplaced(t *testing.T) {
	user := func(seq int, text, op string) string {
		return fmt.Sprintf(`{"type":"user/message","seq":%d,"time":7,"data":{"id":"u","role":"user","content":[{"type":"text","text":"%s"}],"source":{"kind":"user"}},"surfaceOp":%s}`, seq, text, op)
	}
	result := func(seq int, op string) string {
		return fmt.Sprintf(`{"type":"tool/result","seq":%d,"time":7,"data":{"message":{"id":"r","role":"user","source":{"kind":"tool","callId":"c"},"content":[{"type":"tool-result","toolCallId":"c","content":[]}]}},"surfaceOp":%s}`, seq, op)
	}
	const add = `"append"`
	op := func(a, b int) string { return fmt.Sprintf(`{"op":"replace","start":%d,"end":%d}`, a, b) }
	summary := event("compaction/summary", `{"summary":[]}`)
	for _, c := range []struct {
		what  string
		lines []string
		last  string
	}{
		{"all", []string{user(0, "a", add), user(1, "b", add), summary, user(3, "s", op(0, 1))}, `user, model, stands, copy, #u, at 7 [text "s"]`},
		{"all, without a summary", []string{user(0, "a", add), user(1, "b", add), user(2, "s", op(0, 1))}, `user, model, stands, #u, at 7 [text "s"]`},
		{"the first", []string{user(0, "a", add), user(1, "b", add), user(2, "s", op(0, 0))}, `user, model, #u, at 7 [text "s"]`},
		{"the last", []string{user(0, "a", add), user(1, "b", add), user(2, "s", op(1, 1))}, `user, model, #u, at 7 [text "s"]`},
		{"twice", []string{user(0, "a", add), user(1, "b", add), user(2, "s", op(0, 0)), user(3, "z", op(2, 1))}, `user, model, stands, #u, at 7 [text "z"]`},
		{"a result", []string{user(0, "a", add), result(1, add), result(2, op(1, 1))}, `tool, copy, #r, at 7 [result c]`},
		{"nothing that is there", []string{user(0, "a", add), user(1, "s", `{"op":"replace"}`)}, `user, model, #u, at 7 [text "s"]`},
	} {
		got := told(t, 0, c.lines...)
		if got = got[strings.LastIndexByte(got, '\n')+1:]; got != c.last {
			t.Errorf("%s: says %s\nwant %s", c.what, got, c.last)
		}
	}
}

func TestTellAttempts(t *testing.T) {
	chunk := func(step int, chunk string) string {
		return event("assistant/chunk", fmt.Sprintf(`{"turn":1,"step":%d,"chunk":{%s}}`, step, chunk))
	}
	row := func(kind, more string) string {
		return `{"type":"` + kind + `","seq0":1,"time0":7,"data":{"turn":1,"step":1,` + more + `}}`
	}
	text := func(s string) string { return chunk(1, `"type":"text-delta","index":1,"text":"`+s+`"`) }
	finish := chunk(1, `"type":"finish","reason":{"kind":"error"}`)
	end := event("step/end", `{"turn":1,"step":1}`)
	message := event("assistant/message", `{"turn":1,"step":1,"message":{"id":"a","role":"assistant","content":[],"source":{"kind":"model"}}}`, appends)
	const oops = `note, people, attempt, at 7 [text "An answer came to nothing: `
	const ab = oops + `2 characters of text."] [text "äb"]`
	for _, c := range []struct {
		what    string
		version int
		lines   []string
		want    string
	}{
		{"one that became a message", 0, []string{text("ä"), finish, message, end}, ``},
		{"one of another step", 0, []string{text("äb"), event("assistant/message", `{"turn":1,"step":2,"message":{"id":"a","role":"assistant","content":[],"source":{"kind":"model"}}}`, appends), end}, ab},
		{"a step ends", 0, []string{text("ä"), text("b"), end, end}, ab},
		{"a turn ends", 0, []string{text("äb"), event("turn/end", `{"turn":1,"reason":{"kind":"interrupted"}}`)}, ab + "\n" + `note, people, turn end, at 7 [text "interrupted"]`},
		{"a retry", 0, []string{text("äb"), event("llm/retry-started", `{"turn":1,"step":1}`), text("c"), message}, ab},
		{"the next one begins", 0, []string{text("äb"), finish, text("c"), message}, ab},
		{"a chunk of another step", 0, []string{text("äb"), chunk(2, `"type":"text-delta","index":0,"text":"x"`)}, ab},
		{"nothing in it", 0, []string{chunk(1, `"type":"block-start","index":0,"blockType":"text"`), chunk(1, `"type":"usage","usage":{}`), end}, ``},
		{"of all kinds", 1, []string{row("reasoning-chunks", `"index":0,"dt":[1],"texts":["th","ink"]`), row("text-chunks", `"index":1,"dt":[],"texts":["t"]`),
			row("tool-call-chunks", `"index":2,"dt":[],"id":"c","name":"bash","args":["{\"a\""]`), end},
			oops + `5 characters of thinking, 1 characters of text, 1 calls."] [thinking "think"] [text "t"] [other "call of bash {\"a\""]`},
		{"whole blocks", 0, []string{text("ä"), chunk(1, `"type":"block-end","index":1,"block":{"type":"text","text":"äb"}`), text("c"),
			chunk(1, `"type":"block-end","index":2,"block":{"type":"tool-call","id":"c","name":"bash","arguments":"{}"}`),
			chunk(1, `"type":"block-end","index":3,"block":{"type":"strange"}`), end},
			oops + `2 characters of text, 1 calls."] [text "äb"] [other "call of bash {}"]`},
		{"a record of its own", 2, []string{event("assistant/attempt", `{"turn":1,"step":1,"stream":[{"type":"chunk","time":1,"chunk":{"type":"block-start","index":1,"blockType":"text"}},
			{"type":"text-chunks","time0":1,"index":1,"dt":[1],"texts":["ä","b"]},{"type":"chunk","time":1,"chunk":{"type":"finish","reason":{"kind":"error"}}},3]}`)}, ab},
		{"no packed row in this version", 2, []string{row("text-chunks", `"index":1,"dt":[],"texts":["t"]`), end}, ``},
		{"no chunks in this version", 2, []string{text("x"), end}, ``},
	} {
		if got := told(t, c.version, c.lines...); got != c.want {
			t.Errorf("%s: says\n%s\nwant\n%s", c.what, got, c.want)
		}
	}
}

// Of a long attempt a part is kept, and its length told.
func TestTellAttemptBounds(t *testing.T) {
	long := `{"turn":1,"step":1,"chunk":{"type":"text-delta","index":%d,"text":"` + strings.Repeat("ä", 300_001) + `"}}`
	var lines []string
	for i := range 600 {
		if i > 4 {
			long = `{"turn":1,"step":1,"chunk":{"type":"text-delta","index":%d,"text":"x"}}`
		}
		lines = append(lines, event("assistant/chunk", fmt.Sprintf(long, i)))
	}
	got := told(t, 0, append(lines, event("step/end", `{"turn":1,"step":1}`))...)
	if n := len(got); n < 1<<20 || n > 1<<20+2000 || !utf8.ValidString(got) {
		t.Errorf("%d bytes are told", n)
	}
	if want := `"An answer came to nothing: 1500256 characters of text."`; !strings.Contains(got[:200], want) {
		t.Errorf("says %s", got[:200])
	}
}

// wholeText fails where a text is not valid UTF-8, or an input no JSON.
func wholeText(t *testing.T, list []format.Block) {
	for _, b := range list {
		for _, s := range []string{b.Text, b.ID, b.Name, b.Media, b.Data, b.URL, b.Signature} {
			if !utf8.ValidString(s) {
				t.Errorf("%q is not valid UTF-8", s)
			}
		}
		if b.Input != nil && (!json.Valid(b.Input) || !utf8.Valid(b.Input)) {
			t.Errorf("the input %q is no JSON", b.Input)
		}
		wholeText(t, b.Content)
	}
}

// tellFile tells every record of a log, and gives how many messages that are.
func tellFile(t *testing.T, path string) map[format.Role]int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	medium := scan.Lines
	if bytes.HasPrefix(data, []byte("\x28\xb5\x2f\xfd")) {
		medium = scan.Frames
	}
	d, err := dsh.Format{}.Dialect(format.Peek{Path: "x"}, "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := scan.New(context.Background(), bytes.NewReader(data), int64(len(data)), scan.Options{Medium: medium, Framing: d.Framing()})
	if err != nil {
		t.Fatal(err)
	}
	count := map[format.Role]int{}
	var telling format.Telling
	var list []format.Message
	for s.Next() {
		r := s.Record()
		if telling == nil {
			if d, err = (dsh.Format{}).Dialect(format.Peek{Path: path, First: r.Raw}, ""); err != nil {
				return count // of a newer version
			}
			telling = d.(format.Teller).NewTelling(format.Place{Path: path})
		}
		list = telling.Tell(r, list[:0])
		for _, m := range list {
			count[m.Role]++
			wholeText(t, m.Blocks)
			if len(m.Blocks) == 0 || !utf8.ValidString(m.ID) {
				t.Errorf("%s says %s", path, short(m))
			}
		}
	}
	return count
}

func TestTellSamples(t *testing.T) {
	all := map[format.Role]int{}
	files := 0
	for _, root := range []string{"../../testdata/sessions/dsh", "../../testdata/corrupt", "../../testdata/field", "../../../shared/oracles/dsh/samples"} {
		filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			named := strings.Contains(path, ".jsonl") && (strings.HasPrefix(e.Name(), "session.") || strings.Contains(e.Name(), ".v"))
			if err != nil || e.IsDir() || !named {
				return nil
			}
			files++
			for role, n := range tellFile(t, path) {
				all[role] += n
			}
			return nil
		})
	}
	for role := format.Note; role <= format.Tool; role++ {
		if all[role] < 10 {
			t.Errorf("%d files say %d of the role %s", files, all[role], role)
		}
	}
}

// The shipped orchard session says the same in each version and medium.
func TestTellVersions(t *testing.T) {
	const dir = "../../testdata/sessions/dsh/orchard."
	for _, name := range []string{"v0.jsonl", "v0.jsonl.zstd", "v2.jsonl", "v3.jsonl", "v3.jsonl.zstd"} {
		got := tellFile(t, dir+name)
		if want := map[format.Role]int{format.System: 1, format.User: 3, format.Assistant: 3, format.Tool: 2, format.Note: 6}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s says %v, want %v", name, got, want)
		}
	}
}

// FuzzTell tells a line, as it is and bent, in each version, behind a piece of an answer.
func FuzzTell(f *testing.F) {
	for i, s := range fuzzSeeds(f) {
		f.Add(s, uint64(i))
	}
	f.Fuzz(func(t *testing.T, line []byte, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		for version := range dsh.Newest + 1 {
			d, err := dsh.Format{}.Dialect(format.Peek{First: fmt.Appendf(nil, `{"type":"session","version":%d,"createdAt":1}`, version)}, "")
			if err != nil {
				t.Fatal(err)
			}
			telling := d.(format.Teller).NewTelling(format.Place{})
			var list []format.Message
			for _, raw := range [][]byte{
				[]byte(`{"type":"assistant/chunk","seq":0,"time":1,"data":{"turn":1,"step":1,"chunk":{"type":"text-delta","index":0,"text":"x"}}}`),
				line, damage.Bend(rnd, line, pieces), damage.Bend(rnd, line, pieces), []byte(`{"type":"turn/end","seq":9,"time":9,"data":{}}`),
			} {
				was := bytes.Clone(raw)
				list = telling.Tell(&session.Record{Raw: raw}, list)
				if !bytes.Equal(was, raw) {
					t.Fatalf("version %d: telling changes %q to %q", version, was, raw)
				}
			}
			for _, m := range list {
				wholeText(t, m.Blocks)
				if len(m.Blocks) == 0 || !utf8.ValidString(m.ID+m.Model+m.Title) {
					t.Errorf("version %d: %q says %s", version, line, short(m))
				}
			}
		}
	})
}

// Of several system prompts in headers the last one is sent.
func TestHeadersReplaced(t *testing.T) {
	const (
		old  = "[] false [] false [] true [] false [1] true [3] false [] true"
		none = "[] false [] false [] false [] false [] false [] false [] false"
	)
	for version, want := range []string{old, old, old, none, none} {
		text := fmt.Sprintf(`{"type":"session","version":%d,"id":"x","createdAt":1,"delegationDepth":0}`+"\n", version)
		for seq, header := range []string{"turn/start", `"system":"A"`, `"system":"A"`, `"system":"B"`, `"tools":[]`, `"system":"C"`} {
			line := fmt.Sprintf(`{"type":"request/header","seq":%d,"time":1,"data":{"header":{%s},"reason":"change"}}`, seq, header)
			if header == "turn/start" {
				line = `{"type":"turn/start","seq":0,"time":1,"data":{"turn":1}}`
			}
			text += line + "\n"
		}
		d, err := dsh.Format{}.Dialect(format.Peek{First: []byte(text[:strings.IndexByte(text, '\n')])}, "")
		if err != nil {
			t.Fatal(err)
		}
		s, err := scan.New(t.Context(), strings.NewReader(text), int64(len(text)), scan.Options{Medium: scan.Lines, Framing: d.Framing()})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		var b format.Batch
		for dec := d.NewDecoder(format.Place{Path: "x"}); s.Next(); {
			b.Reset()
			dec.Decode(s.Record(), &b)
			got = append(got, fmt.Sprint(b.Replaced, b.Front))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("version %d: %s\nwant %s", version, strings.Join(got, " "), want)
		}
	}
}
