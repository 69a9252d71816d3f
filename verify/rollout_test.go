package verify_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/codex"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// rolloutPath is a rollout's name, in no client's home.
const rolloutPath = "rollout-2026-01-02T03-04-05-" + rolloutThread + ".jsonl"

const rolloutThread = "01900000-0000-7000-8000-000000000001"

// rollout writes a rollout from a shorthand, one record a word group:
//
//	start t1 | user u | say x | call c1 | out c1 | end t1
//
// The generation is legacy, paginated or bare. Calls are call, shell, custom and search, their outputs out, cout and
// found; server and web are answered by the service itself. "made c1" is an output that the client made up, "ours c1"
// one of sessfix. "ran c1" and "patched c1" are records of finished items, "pack +c1 =c1 *c2" is a compaction whose
// history asks for two calls and answers one, "summary" one without history, and "back 2" takes two prompts back. A
// second word behind a call or an output is its text.
//
// Ordinals are counted. "@7 note" gives a record the ordinal 7 and goes on from there, "~note" leaves it away.
func rollout(generation, records string) string {
	var out strings.Builder
	header := `{"id":"` + rolloutThread + `","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/w","originator":"o","cli_version":"0.171.0"`
	n, nth := 0, 0
	line := func(typ, payload string) {
		at := fmt.Sprintf("2026-01-02T03:%02d:%02d.000Z", 4+nth/60, nth%60)
		nth++
		switch {
		case generation == "bare":
			out.WriteString(payload + "\n")
		case generation == "paginated" && n >= 0:
			fmt.Fprintf(&out, `{"timestamp":"%s","ordinal":%d,"type":"%s","payload":%s}`+"\n", at, n, typ, payload)
			n++
		default:
			fmt.Fprintf(&out, `{"timestamp":"%s","type":"%s","payload":%s}`+"\n", at, typ, payload)
		}
	}
	switch generation {
	case "bare":
		line("", `{"id":"`+rolloutThread+`","timestamp":"2026-01-02T03:04:05.000Z","instructions":null}`)
	case "paginated":
		line("session_meta", header+`,"history_mode":"paginated"}`)
	default:
		line("session_meta", header+`}`)
	}
	for _, rec := range strings.Split(records, "|") {
		w := strings.Fields(rec)
		if len(w) == 0 {
			continue
		}
		if w[0][0] == '@' {
			n, _ = strconv.Atoi(w[0][1:])
			w = w[1:]
		}
		next := n
		bare := w[0][0] == '~'
		if bare {
			n, w[0] = -1, w[0][1:]
		}
		line(rolloutRecord(w, generation))
		if bare {
			n = next
		}
	}
	return out.String()
}

// rolloutRecord is the type and the payload of a record.
func rolloutRecord(w []string, generation string) (typ, payload string) {
	word := func(i int) string {
		if i < len(w) {
			return w[i]
		}
		return ""
	}
	id := word(1)
	item := func(kind, more string) (string, string) {
		if id != "" {
			more = `,"call_id":"` + id + `"` + more
		}
		return "response_item", `{"type":"` + kind + `"` + more + `}`
	}
	event := func(kind, more string) (string, string) { return "event_msg", `{"type":"` + kind + `"` + more + `}` }
	done := func(kind, id string) (string, string) {
		return event("item_completed", `,"thread_id":"`+rolloutThread+`","turn_id":"t","item":{"type":"`+kind+`","id":"`+id+`","aggregated_output":"of `+id+`","exit_code":0}`)
	}
	turn := ""
	if id != "" {
		turn = `,"turn_id":"` + id + `"`
	}
	output := `,"output":"` + word(2) + `"`
	message := func(role string) (string, string) {
		return "response_item", `{"type":"message","role":"` + role + `","content":[{"type":"text","text":"` + word(1) + `"}]}`
	}
	switch w[0] {
	case "start":
		if word(2) != "" {
			turn += `,"root_turn_id":"` + word(2) + `"`
		}
		return event("task_started", turn)
	case "end":
		return event("task_complete", turn)
	case "abort":
		return event("turn_aborted", turn+`,"reason":"interrupted"`)
	case "user":
		return message("user")
	case "say":
		return message("assistant")
	case "rule":
		return message("developer")
	case "think":
		return "response_item", `{"type":"reasoning","summary":[],"encrypted_content":"x"}`
	case "prompt":
		if generation == "paginated" {
			return done("UserMessage", "u")
		}
		return event("user_message", `,"message":"m","images":[]`)
	case "call":
		return item("function_call", `,"id":"fc_`+id+`","name":"sh","arguments":"`+word(2)+`"`)
	case "shell":
		return item("local_shell_call", `,"status":"completed","action":{"type":"exec","command":["ls"]}`)
	case "custom":
		return item("custom_tool_call", `,"name":"apply_patch","input":"`+word(2)+`"`)
	case "search":
		return item("tool_search_call", `,"execution":"client","arguments":{}`)
	case "server":
		return item("tool_search_call", `,"execution":"server","arguments":{}`)
	case "web":
		return item("web_search_call", `,"status":"completed"`)
	case "out":
		return item("function_call_output", output)
	case "cout":
		return item("custom_tool_call_output", output)
	case "found":
		return item("tool_search_output", `,"execution":"client","status":"completed","tools":[]`)
	case "server-found":
		return item("tool_search_output", `,"execution":"server","status":"completed","tools":[]`)
	case "made":
		return item("function_call_output", `,"output":"aborted"`)
	case "ours":
		return item("function_call_output", `,"output":"TOOL_OUTCOME_UNKNOWN: closed by sessfix"`)
	case "ran":
		return done("CommandExecution", id)
	case "patched":
		return done("FileChange", id)
	case "shown":
		return done("AgentMessage", id)
	case "pack":
		var items []string
		for _, x := range w[1:] {
			switch x[0] {
			case '+':
				items = append(items, `{"type":"function_call","name":"sh","arguments":"","call_id":"`+x[1:]+`"}`)
			case '=':
				items = append(items, `{"type":"function_call_output","call_id":"`+x[1:]+`","output":"o"}`)
			case '*':
				items = append(items, `{"type":"custom_tool_call","name":"sh","input":"","call_id":"`+x[1:]+`"}`)
			}
		}
		return "compacted", `{"message":"s","replacement_history":[` + strings.Join(items, ",") + `]}`
	case "summary":
		return "compacted", `{"message":"s"}`
	case "back":
		return event("thread_rolled_back", `,"num_turns":`+id)
	case "ctx":
		return "turn_context", `{"turn_id":"t","cwd":"/w"}`
	case "set":
		return event("thread_settings_applied", `,"thread_id":"`+rolloutThread+`","thread_settings":{"x":"`+id+`"}`)
	case "head":
		return "session_meta", `{"id":"` + rolloutThread + `","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/w","originator":"o","cli_version":"0.171.0","history_mode":"` + generation + `"}`
	default:
		return event("token_count", `,"info":null`)
	}
}

// rolloutInput is what verify takes of a rollout that lies at a path.
func rolloutInput(t testing.TB, path, text string) verify.Input {
	t.Helper()
	o := store.Options{Formats: []format.Format{codex.Format{}}, Env: func(string) string { return "" }}
	r := strings.NewReader(text)
	s, err := store.Recognise(context.Background(), path, r, r.Size(), o)
	if err != nil {
		t.Fatal(err)
	}
	return verify.InputOf(s, r, r.Size())
}

func judgeRollout(t testing.TB, text string) *verify.Result {
	t.Helper()
	res, err := verify.Session(context.Background(), rolloutInput(t, rolloutPath, text))
	if err != nil {
		t.Fatal(err)
	}
	return res
}
