package dsh_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/dsh"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/verify"
)

// logOf writes a log. Each line of text is "[label:] type data [rest]"; records are numbered by
// their place, and <label> stands for the number of a labelled one. S is short for an append to
// the surface, S[1,2] for one that cites. A header is what stands behind the version.
func logOf(version int, header, text string) string {
	if header == "" {
		header = `"id":"tide","createdAt":7,"delegationDepth":0`
		if version >= 2 {
			header += `,"isSeeded":false`
		}
	}
	var out []string
	var names []string
	n := 0
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if name, rest, ok := strings.Cut(line, ": "); ok && !strings.ContainsAny(name, " {/") {
			names = append(names, "<"+name+">", fmt.Sprint(n), "<"+name+"+1>", fmt.Sprint(n+1), "<"+name+"+2>", fmt.Sprint(n+2))
			line = rest
		}
		typ, rest, _ := strings.Cut(strings.NewReplacer(names...).Replace(line), " ")
		d := json.NewDecoder(strings.NewReader(rest))
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			panic(line)
		}
		data, rest := rest[:d.InputOffset()], strings.TrimSpace(rest[d.InputOffset():])
		if cites, ok := strings.CutPrefix(rest, "S"); ok {
			rest = `"surfaceOp":"append"`
			if cites != "" {
				rest += `,"sourceEventSeqs":` + cites
			}
		}
		if rest != "" {
			rest = "," + rest
		}
		if strings.HasSuffix(typ, "-chunks") {
			out = append(out, fmt.Sprintf(`{"type":%q,"seq0":%d,"time0":9,"data":%s}`, typ, n, data))
			var row struct{ Texts, Args []string }
			_ = json.Unmarshal([]byte(data), &row)
			n += max(1, len(row.Texts)+len(row.Args))
			continue
		}
		out = append(out, fmt.Sprintf(`{"type":%q,"seq":%d,"time":9,"data":%s%s}`, typ, n, data, rest))
		n++
	}
	return fmt.Sprintf("{\"type\":\"session\",\"version\":%d,%s}\n", version, header) + strings.Join(out, "\n") + "\n"
}

// refusals are the findings of a log about the migration to a target.
func refusals(t *testing.T, log, target string) []finding.Finding {
	t.Helper()
	first, _, _ := strings.Cut(log, "\n")
	d, err := dsh.Format{}.Dialect(format.Peek{Path: "tide.jsonl", First: []byte(first), FirstLine: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	if target != "" {
		if d, err = d.(format.Targeter).Target(target); err != nil {
			t.Fatal(err)
		}
	}
	res, err := verify.Session(context.Background(), verify.Input{
		Path: "tide.jsonl", Place: "tide.jsonl", R: bytes.NewReader([]byte(log)), Size: int64(len(log)),
		Medium: scan.Lines, Format: dsh.Format{}, Dialect: d,
	})
	if err != nil {
		t.Fatal(err)
	}
	var out []finding.Finding
	for _, f := range res.Findings {
		switch f.Code {
		case finding.WontMigrate:
			out = append(out, f)
		case finding.EventInvalid, finding.SeqGap, finding.SeqFork, finding.HeaderCorrupt:
			t.Errorf("the log of this case is damaged by itself: %s: %s\n%s", f.Code, f.Message, log)
		}
	}
	return out
}

const (
	open    = "turn/start {\"turn\":1}\nstep/start {\"turn\":1,\"step\":1}\n"
	shut    = "\nstep/end {\"turn\":1,\"step\":1}\nturn/end {\"turn\":1,\"reason\":{\"kind\":\"completed\"}}"
	says    = `user/message {"id":"m1","role":"user","content":[{"type":"text","text":"ebb"}],"source":{"kind":"user"}} S` + "\n"
	asks    = `assistant/message {"turn":1,"step":1,"message":{"id":"m2","role":"assistant","content":[{"type":"tool-call","id":"k","name":"sh","arguments":"{}"}],"source":{"kind":"model","provider":"p","model":"q"}}} S` + "\n"
	starts  = `run: tool/call {"turn":1,"step":1,"callId":"k","name":"sh","arguments":"{}"}` + "\n"
	answers = `tool/result {"turn":1,"step":1,"message":{"id":"m3","role":"user","content":[{"type":"tool-result","toolCallId":"k","content":[],"isError":false}],"source":{"kind":"tool","callId":"k"}}} S[<run>]` + "\n"
	answer  = `assistant/message {"turn":1,"step":1,"message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"flow"}],"source":{"kind":"model","provider":"p","model":"q"}}} `
	chunk   = `assistant/chunk {"turn":1,"step":1,"chunk":{"type":"text-delta","index":0,"text":"flow"}}` + "\n"
	notRun  = `tool/result {"turn":1,"step":1,"message":{"id":"interrupted-tool-result-k-NUMBER","role":"user","source":{"kind":"tool","callId":"k"},"content":[{"type":"tool-result","toolCallId":"k","isError":true,"content":[{"type":"text","text":"The tool call was interrupted before the Harness recorded it as started. Retry it if it is still needed."}]}]},"error":{"name":"ToolNotStartedError","code":"TOOL_NOT_STARTED"}} S` + "\n"
	header  = `request/header {"header":{"config":{"provider":"p","model":"q"}},"reason":"initial"}` + "\n"
	retries = `llm/retry {"retryId":"r","turn":1,"step":1,"provider":"p","mode":"always","policyKey":"y","retry":1,"delayMs":5,"failure":{"message":"slow","code":"c"}}` + "\n"
)

func inTurn(lines string) string { return open + lines + shut }

func message(content, source string) string {
	return `user/message {"id":"m1","role":"user","content":` + content + `,"source":` + source + "} S\n"
}

var migrations = []struct {
	name     string
	from, to int
	header   string // of both logs
	good     string
	bad      string
	badHead  string // instead of a bad log
	want     string // in the message
}{
	{name: "header member", from: 0, to: 1, good: says, badHead: `"id":"tide","createdAt":7,"delegationDepth":0,"hue":"red"`, want: `v0→v1 refuses the session: the header holds the unlisted member "hue"`},
	{name: "header origin", from: 0, to: 1, good: says, badHead: `"id":"tide","createdAt":7,"delegationDepth":0,"origin":"cron"`, want: "origin"},
	{name: "seed longer than log", from: 0, to: 1, good: says, badHead: `"id":"tide","createdAt":7,"delegationDepth":0,"seedLength":9`, want: "promises 9"},
	{name: "unknown type", from: 0, to: 1, good: says, bad: `tide/turned {} "ignorable":true`, want: `v0→v1 refuses the session: event type "tide/turned"`},
	{name: "unknown type of version 1", from: 1, to: 2, good: says, bad: `tide/turned {} "ignorable":true`, want: "v1→v2"},
	{name: "type without frozen payload", from: 2, to: 3, good: inTurn(says), bad: `workspace/changes {}`, want: "v2→v3"},
	{name: "unlisted member", from: 0, to: 1, good: `plan/mode {"active":true}`, bad: `plan/mode {"active":true,"why":"x"}`, want: `plan/mode holds the unlisted member "why"`},
	{name: "missing member", from: 0, to: 1, good: `feedback/record {"text":"x"}`, bad: `feedback/record {}`, want: "text is missing"},
	{name: "unlisted value", from: 0, to: 1, good: `approval/decided {"id":"a","outcome":"rejected"}`, bad: `approval/decided {"id":"a","outcome":"maybe"}`, want: "outcome is none of allowed-once"},
	{name: "value deep inside", from: 0, to: 1, good: `todo/write {"todos":[{"content":"","status":"pending"}]}`, bad: `todo/write {"todos":[{"content":"","status":"late"}]}`, want: "todos[0].status"},
	{name: "retry mode", from: 0, to: 1, good: retries, bad: strings.Replace(retries, "always", "often", 1), want: "mode is none of normal, always"},
	{name: "bounded retry", from: 0, to: 1, good: retries, bad: strings.Replace(retries, `"delayMs"`, `"maxRetries":2,"delayMs"`, 1), want: "maxRetries"},
	{name: "schedule", from: 0, to: 1, good: `schedule/change {"version":1,"operation":"create","schedule":{"id":"s","kind":"every","prompt":"p","everySeconds":300,"scheduledAt":"2026-02-03T04:05:06.007Z"}}`, bad: `schedule/change {"version":1,"operation":"create","schedule":{"id":"s","kind":"every","prompt":"p","everySeconds":299,"scheduledAt":"2026-02-03T04:05:06.007Z"}}`, want: "below 300"},
	{name: "descriptor", from: 0, to: 1, good: `subagent/descriptor {"version":3,"mode":"one-shot","provider":"p"}`, bad: `subagent/descriptor {"version":2,"mode":"one-shot","provider":"p"}`, want: "version is 2"},
	{name: "descriptor model", from: 0, to: 1, good: `subagent/descriptor {"version":3,"mode":"continuable","provider":"p","label":"l","agentProvider":"a","agentModel":"b"}`, bad: `subagent/descriptor {"version":3,"mode":"continuable","provider":"p","label":"l","agentModel":"b"}`, want: "one of agentProvider"},
	{name: "plugin form", from: 0, to: 1, good: message("[]", `{"kind":"plugin","plugin":"p","summary":"s"}`), bad: message("[]", `{"kind":"plugin","plugin":"p","form":"relay","summary":"s"}`), want: "summary"},
	{name: "header preset", from: 1, to: 2, good: inTurn(says), badHead: `"id":"tide","createdAt":7,"delegationDepth":0,"agentPreset":1`, want: "agentPreset is no text"},
	{name: "descriptor of version 1", from: 1, to: 3, good: inTurn(`subagent/descriptor {"version":3,"mode":"one-shot","provider":"p"}`), bad: inTurn(`subagent/descriptor {"version":2,"mode":"one-shot","provider":"p"}`), want: "v2→v3"},
	{name: "retired header reason", from: 0, to: 1, good: inTurn(header), bad: inTurn(strings.Replace(header, "initial", "fallback", 1)), want: "fallback"},
	{name: "source members", from: 0, to: 1, good: message("[]", `{"kind":"coordinator","form":"relay","senderSessionId":"s"}`), bad: message("[]", `{"kind":"coordinator","form":"relay","senderSessionId":"s","x":1}`), want: "source holds"},
	{name: "source kind", from: 0, to: 3, good: inTurn(message("[]", `{"kind":"agent-message","form":"relay","senderSessionId":"s"}`)), bad: inTurn(message("[]", `{"kind":"gull"}`)), want: "v2→v3 refuses the session: user/message has a payload in which source.kind"},
	{name: "source kind before", from: 0, to: 2, good: inTurn(message("[]", `{"kind":"gull"}`)), bad: inTurn(message("[]", `{"kind":"goal","goalId":"g","revision":0,"round":1}`)), want: "source.revision"},
	{name: "content kind", from: 0, to: 3, good: inTurn(message(`[{"type":"file","attachment":{"attachmentId":"a","name":"n","bytes":1}}]`, `{"kind":"user"}`)), bad: inTurn(message(`[{"type":"song"}]`, `{"kind":"user"}`)), want: "content[0].type"},
	{name: "error of a result that is none", from: 0, to: 3, good: inTurn(asks + starts + answers), bad: inTurn(asks + starts + strings.Replace(answers, `}} S`, `},"error":{"name":"E","code":"C"}} S`, 1)), want: "carries an error"},
	{name: "foreign marker", from: 0, to: 1, good: "turn/start {\"turn\":1}\n" + `session-log-deepseek/delivery-accepted {"sessionId":"tide","throughSeq":0} "ignorable":true`, bad: "turn/start {\"turn\":1}\n" + `session-log-deepseek/delivery-accepted {"sessionId":"moon","throughSeq":0} "ignorable":true`, want: "names another session"},
	{name: "marker of the target", from: 2, to: 3, good: "turn/start {\"turn\":1}\n" + `session-log-deepseek/delivery-accepted {"sessionId":"tide","throughSeq":0,"sessionFormatVersion":2}`, bad: "turn/start {\"turn\":1}\n" + `session-log-deepseek/delivery-accepted {"sessionId":"tide","throughSeq":0,"sessionFormatVersion":3}`, want: "claims version 3"},

	{name: "dangling call", from: 0, to: 2, good: inTurn(asks + starts + answers), bad: inTurn(asks + starts), want: `v1→v2 refuses the session: call "k" has no result when its step ends`},
	{name: "open tail", from: 0, to: 3, good: open + asks + starts, bad: open + asks + starts + "turn/end {\"turn\":1,\"reason\":{\"kind\":\"completed\"}}", want: "its turn ends"},
	{name: "start of another call", from: 0, to: 2, good: inTurn(asks + starts + answers), bad: inTurn(asks + strings.Replace(starts, `"{}"`, `"{ }"`, 1) + answers), want: "does not match one call"},
	{name: "call asked twice", from: 0, to: 2, good: inTurn(asks + starts + answers + strings.ReplaceAll(asks+starts+answers, "run", "again")), bad: inTurn(asks + asks + starts + answers), want: "asked for and not answered"},
	{name: "result without start", from: 0, to: 3, good: inTurn(asks + strings.Replace(notRun, "NUMBER", "40", 1)), bad: inTurn(asks + strings.Replace(strings.Replace(notRun, "NUMBER", "40", 1), "still needed", "wanted", 1)), want: "TOOL_NOT_STARTED"},
	{name: "number of a made-up result", from: 0, to: 2, good: inTurn("c: " + chunk + strings.Replace(strings.Replace(asks, " S", " S[<c>]", 1)+notRun, "NUMBER", "3", 1)), bad: inTurn("c: " + chunk + strings.Replace(strings.Replace(asks, " S", " S[<c>]", 1)+notRun, "NUMBER", "4", 1)), want: "ends in 4, and the record becomes number 3"},
	{name: "id of a made-up result", from: 0, to: 3, good: inTurn(asks + strings.Replace(notRun, "NUMBER", "4", 1)), bad: inTurn(asks + starts + strings.Replace(notRun, "NUMBER", "04", 1)), want: "message.id"},
	{name: "turn number", from: 0, to: 2, good: inTurn(says), bad: "turn/start {\"turn\":2}", want: "turn 2 starts where turn 1 comes next"},
	{name: "step number", from: 0, to: 2, good: inTurn(says), bad: "turn/start {\"turn\":1}\nstep/start {\"turn\":1,\"step\":2}", want: "step 1 comes next"},
	{name: "step open at turn end", from: 0, to: 2, good: inTurn(says), bad: open + "turn/end {\"turn\":1,\"reason\":{\"kind\":\"completed\"}}", want: "its step 1 is open"},
	{name: "turn left open", from: 0, to: 2, good: "turn/start {\"turn\":1}\n" + `agent/inbox/spliced {"target":"next-turn","start":0,"inserted":[{"id":"i","role":"user","content":[],"source":{"kind":"user"}}]}` + "\nturn/start {\"turn\":2}", bad: "turn/start {\"turn\":1}\n" + `agent/inbox/spliced {"target":"next-turn","start":0,"inserted":[]}` + "\nturn/start {\"turn\":2}", want: "turn 1 is not ended"},
	{name: "turn left open in version 2", from: 2, to: 3, good: "turn/start {\"turn\":1}", bad: "turn/start {\"turn\":1}\n" + `agent/inbox/spliced {"target":"next-turn","start":0,"inserted":[{"id":"i","role":"user","content":[],"source":{"kind":"user"}}]}` + "\nturn/start {\"turn\":2}", want: "turn 1 is not ended"},
	{name: "request outside of a turn", from: 0, to: 2, good: inTurn(header), bad: header, want: "outside of a turn"},
	{name: "turn end in a compaction", from: 0, to: 2, good: inTurn(says+`compaction/start {"compactionId":"x","turn":1}`) + "\nsession/end-seed {}", bad: inTurn(says + `compaction/start {"compactionId":"x","turn":1}`), want: "turn/end stands inside of a compaction"},
	{name: "compaction without summary", from: 0, to: 2, good: `compaction/start {"compactionId":"x","turn":null}` + "\n" + `compaction/end {"compactionId":"x","turn":null,"error":"e"}`, bad: `compaction/start {"compactionId":"x","turn":null}` + "\n" + `compaction/end {"compactionId":"x","turn":null}`, want: "without summary"},
	{name: "prune of a gap", from: 0, to: 2, good: inTurn("a: " + says + "b: " + says + `compaction/prune {"shadowedRange":{"start":<a>,"end":<b>},"shadowedSeqs":[<a>,<b>],"shadowedTokenCount":1}`), bad: inTurn("a: " + says + says + "b: " + says + `compaction/prune {"shadowedRange":{"start":<a>,"end":<b>},"shadowedSeqs":[<a>,<b>],"shadowedTokenCount":1}`), want: "no unbroken piece"},
	{name: "retry of another provider", from: 0, to: 2, good: inTurn(header + retries), bad: inTurn(strings.Replace(header, `"p"`, `"o"`, 1) + retries), want: "another provider"},
	{name: "retry count", from: 0, to: 2, good: inTurn(header + retries), bad: inTurn(header + retries + retries), want: "counts 1 where 2"},
	{name: "retry start", from: 0, to: 2, good: inTurn(header + retries + `llm/retry-started {"retryId":"r","turn":1,"step":1,"retry":1}`), bad: inTurn(header + retries + `llm/retry-started {"retryId":"r","turn":1,"step":1,"retry":2}`), want: "pairs with no"},
	{name: "command", from: 0, to: 2, good: `command/run {"commandId":"c","name":"n","source":{"kind":"user"}}` + "\n" + `command/done {"commandId":"c","kind":"success"}`, bad: `command/done {"commandId":"c","kind":"success"}`, want: "no command/run"},
	{name: "title", from: 0, to: 2, good: "a: " + says + `session/title {"title":"x","messageSeqs":[<a>],"source":{"kind":"fallback"}}`, bad: "a: " + message("[]", `{"kind":"plugin","plugin":"p"}`) + `session/title {"title":"x","messageSeqs":[<a>],"source":{"kind":"fallback"}}`, want: "no message of a user"},
	{name: "dispatch", from: 0, to: 2, good: inTurn(`tool/code-dispatch-start {"rootCallId":"k","parentCallId":"k","subCallId":"s","name":"n","arguments":{"a":1,"b":2}}` + "\n" + `tool/code-dispatch {"rootCallId":"k","parentCallId":"k","subCallId":"s","name":"n","arguments":{"b":2,"a":1},"isError":false,"content":[]}`), bad: inTurn(`tool/code-dispatch {"rootCallId":"k","parentCallId":"k","subCallId":"s","name":"n","arguments":1,"isError":false,"content":[]}`), want: "does not match one start"},

	{name: "chunks not cited", from: 0, to: 2, good: inTurn("c: " + chunk + answer + "S[<c>]"), bad: inTurn(chunk + answer + "S"), want: "does not cite the chunks"},
	{name: "chunks cited in part", from: 0, to: 2, good: inTurn(`c: text-chunks {"turn":1,"step":1,"index":0,"dt":[1],"texts":["a","b"]}` + "\n" + answer + "S[2,3]"), bad: inTurn(`c: text-chunks {"turn":1,"step":1,"index":0,"dt":[1],"texts":["a","b"]}` + "\n" + answer + "S[2]"), want: "exactly the chunks"},
	{name: "packed row", from: 0, to: 1, good: open + `text-chunks {"turn":1,"step":1,"index":0,"dt":[1],"texts":["a",7]}`, bad: inTurn(`text-chunks {"turn":1,"step":1,"index":0,"dt":[],"texts":[7]}`), want: "texts[0] is no text"},
	{name: "surfaceOp", from: 2, to: 3, good: inTurn("a: " + says + strings.Replace(says, " S", ` "surfaceOp":{"op":"replace","start":<a>,"end":<a>},"sourceEventSeqs":[<a>]`, 1)), bad: inTurn("a: " + says + strings.Replace(says, " S", ` "surfaceOp":{"op":"replace","start":<a>,"end":<a>,"x":1},"sourceEventSeqs":[<a>]`, 1)), want: "surfaceOp"},
	{name: "chunks outside of their step", from: 0, to: 2, good: inTurn(chunk), bad: "turn/start {\"turn\":1}\n" + chunk, want: "lie outside of that step"},
	{name: "seed splits an answer", from: 0, to: 2, header: `"id":"tide","createdAt":7,"delegationDepth":0,"seedLength":3`, good: inTurn(says + "c: " + chunk + "d: " + chunk + answer + "S[<c>,<d>]"), bad: inTurn("c: " + chunk + "d: " + chunk + answer + "S[<c>,<d>]"), want: "ends inside of an answer"},
	{name: "chunk named", from: 0, to: 2, good: inTurn("c: " + says + chunk + strings.Replace(says, " S", " S[<c>]", 1)), bad: inTurn("c: " + chunk + strings.Replace(says, " S", " S[<c>]", 1)), want: "names the chunk 2"},

	{name: "message in front of the first step", from: 0, to: 3, good: inTurn(says), bad: says + inTurn(""), want: "v2→v3 refuses the session: a message stands in front of the first step"},
	{name: "prompt outside of a step", from: 0, to: 3, good: inTurn(strings.Replace(header, `}},"r`, `},"system":"x"},"r`, 1)), bad: "turn/start {\"turn\":1}\n" + strings.Replace(header, `}},"r`, `},"system":"x"},"r`, 1), want: "outside of a step"},
	{name: "deferred tool", from: 3, to: 4, good: inTurn(header), bad: inTurn(strings.Replace(header, `}},"r`, `},"tools":[{"name":"n","deferLoading":true}]},"r`, 1)), want: "v3→v4"},
	{name: "dangling call of version 3", from: 3, to: 4, good: inTurn(asks + starts + answers), bad: inTurn(asks + starts), want: "v3→v4"},

	{name: "old turn", from: 0, to: 3, good: `turn/start {"turn":1,"trigger":{"kind":"user"}}` + "\nstep/start {\"turn\":1,\"step\":1}\n" + `steering/message {"turn":1,"content":[],"source":{"kind":"user"}} S` + "\nstep/end {\"turn\":1,\"step\":1}\n" + `turn/end {"turn":1,"reason":{"kind":"error","step":1,"message":"e"}}`, bad: `turn/start {"turn":1,"trigger":{}}`, want: "ever written"},
	{name: "old compaction", from: 0, to: 2, good: `compact/start {"turn":null}` + "\n" + `compact/end {"turn":null,"error":"e"}`, bad: `compact/end {"turn":null,"error":"e"}`, want: "compactionId is missing"},
	{name: "old messages", from: 0, to: 3, good: inTurn(`user/message {"content":[],"source":{"kind":"user"}} S` + "\n" + `assistant/message {"turn":1,"step":1,"content":[],"provenance":{"provider":"p","model":"q"}} S`), bad: inTurn(`user/message {"content":[],"source":{"kind":"user"},"x":1} S`), want: `unlisted member "x"`},
	{name: "goal change in a message", from: 0, to: 3, good: inTurn(message(`[{"type":"text","text":"<goal_state>{\"cleared\":{\"id\":\"g\",\"revision\":2},\"clearedAt\":3}</goal_state>"}]`, `{"kind":"goal","goalId":"g","revision":2,"round":0,"change":{"kind":"goal/change","version":1,"operation":"clear","cleared":{"id":"g","revision":2},"clearedAt":3}}`)), bad: inTurn(message(`[]`, `{"kind":"goal","goalId":"g","revision":2,"round":0,"change":{"kind":"goal/change","version":1,"operation":"clear","cleared":{"id":"g","revision":2},"clearedAt":3}}`)), want: "content is not the state"},
}

func TestTargetRefuses(t *testing.T) {
	for _, c := range migrations {
		t.Run(c.name, func(t *testing.T) {
			target := fmt.Sprintf("v%d", c.to)
			good := logOf(c.from, c.header, c.good)
			for _, f := range refusals(t, good, target) {
				t.Errorf("the good log is refused: %s\n%s", f.Message, good)
			}
			head, text := c.header, c.bad
			if c.badHead != "" {
				head, text = c.badHead, c.good
			}
			bad := logOf(c.from, head, text)
			got := refusals(t, bad, target)
			if len(got) == 0 || !strings.Contains(got[0].Message, c.want) {
				t.Fatalf("the bad log gives %v, want %q\n%s", got, c.want, bad)
			}
			if got[0].Len == 0 && !strings.Contains(c.want, "promises") {
				t.Error("the finding has no span")
			}
			// Without a target, and with one that is not newer, nothing is said of migrations.
			for _, target := range []string{"", fmt.Sprint(c.from)} {
				if got := refusals(t, bad, target); len(got) > 0 {
					t.Errorf("target %q: %s", target, got[0].Message)
				}
			}
		})
	}
}

func TestTargetVersions(t *testing.T) {
	d, err := dsh.Format{}.Dialect(format.Peek{First: []byte(`{"type":"session","version":0,"id":"a","createdAt":1}`)}, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"0.1.0", "0.1.1-rc.2", "0.1.2", "0.1.3", "0.1.3-alpha.2", "0.1.5-rc.2", "0.1.7", "0.2.0-rc.2", "dsh-v0.2", "v3", "4", "0"} {
		if _, err := d.(format.Targeter).Target(v); err != nil {
			t.Errorf("%s: %v", v, err)
		}
	}
	for _, v := range []string{"", "5", "v5", "0.1", "0.1.4", "0.1.31", "0.3", "1.0", "latest"} {
		_, err := d.(format.Targeter).Target(v)
		if err == nil || !strings.Contains(err.Error(), "0.1.5*") {
			t.Errorf("%q: error %v, want one that lists what is known", v, err)
		}
	}
}

// FuzzTarget: no payload, however wrong, brings the judge down.
func FuzzTarget(f *testing.F) {
	for _, c := range migrations {
		f.Add([]byte(logOf(c.from, c.header, c.good)))
		f.Add([]byte(logOf(c.from, c.header, c.bad)))
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		first, _, _ := bytes.Cut(log, []byte("\n"))
		d, err := dsh.Format{}.Dialect(format.Peek{Path: "tide.jsonl", First: first, FirstLine: true}, "")
		if err != nil {
			return
		}
		for _, target := range []string{"v1", "v2", "v3", "v4"} {
			d, err := d.(format.Targeter).Target(target)
			if err != nil {
				t.Fatal(err)
			}
			in := verify.Input{Path: "x", R: bytes.NewReader(log), Size: int64(len(log)), Medium: scan.Lines, Format: dsh.Format{}, Dialect: d}
			if _, err := verify.Session(context.Background(), in); err != nil {
				t.Log(err)
			}
		}
	})
}
