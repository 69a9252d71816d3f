package codex

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

const thread = "01900000-0000-7000-8000-000000000001"

// place is a rollout's place in no client's home.
const place = "rollout-2026-01-02T03-04-05-" + thread + ".jsonl"

// recordOf makes a record of a line, as scan does.
func recordOf(t testing.TB, line string) *session.Record {
	t.Helper()
	m, err := scan.NewMachine(keys[:])
	if err != nil {
		t.Fatal(err)
	}
	buf := append([]byte(line), make([]byte, scan.Pad)...)
	if _, f := m.Value(buf, 0, len(line)); f.Cause != scan.OK {
		t.Fatalf("%s: %+v", line, f)
	}
	return &session.Record{Span: session.Span{Len: int64(len(line)), TextLen: int64(len(line)), Logical: 1}, Raw: buf[:len(line)], Caps: m.Caps}
}

// kinds are the words for events in these tests.
var kinds = map[session.Kind]string{
	session.Header: "header", session.TurnStart: "turn+", session.TurnEnd: "turn-", session.SystemMessage: "rule", session.UserMessage: "user",
	session.AssistantMessage: "say", session.Delta: "delta", session.CallAsked: "ask", session.CallResult: "answer", session.CallFinished: "ran",
	session.CompactionEnd: "pack", session.Prompt: "prompt", session.Rollback: "back", session.Setting: "setting", session.Note: "note",
}

// classes are the words for classes of calls.
var classes = [...]string{function: " function", custom: " custom", search: " search"}

// told is what a record means, in short.
func told(r *session.Record, b *format.Batch) string {
	var out []string
	for _, e := range b.Events {
		s := kinds[e.Kind] + classes[e.Class]
		for _, p := range []session.Sub{e.Call, e.Name, e.ID, e.Root} {
			if p.Len > 0 {
				s += " " + string(p.Of(r.Raw))
			}
		}
		if e.Turn > 0 {
			s += fmt.Sprint(" ", e.Turn)
		}
		if e.Flags&session.Synthetic != 0 {
			s += " made-up"
		}
		if e.Flags&session.Inherited != 0 {
			s += " inherited"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// What each record means. Lines without an envelope are put into one.
func TestDecode(t *testing.T) {
	item := func(s string) string {
		return `{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":7,"type":"response_item","payload":` + s + `}`
	}
	event := func(s string) string {
		return `{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":7,"type":"event_msg","payload":` + s + `}`
	}
	done := func(s string) string {
		return event(`{"type":"item_completed","thread_id":"t","turn_id":"u","item":` + s + `}`)
	}
	top := func(typ, s string) string {
		return `{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":7,"type":"` + typ + `","payload":` + s + `}`
	}
	for _, c := range []struct{ line, want string }{
		{item(`{"type":"message","role":"user","content":[]}`), "user"},
		{item(`{"type":"message","role":"assistant","content":[]}`), "say"},
		{item(`{"type":"message","role":"developer","content":[]}`), "rule"},
		{item(`{"type":"message","role":"system","content":[]}`), "rule"},
		{item(`{"type":"agent_message","author":"a","recipient":"b","content":"x"}`), "user"},
		{item(`{"type":"reasoning","summary":[],"encrypted_content":"x"}`), "delta"},
		{item(`{"type":"ghost_snapshot","ghost_commit":{}}`), "note"},
		{item(`{"type":"what","call_id":"c"}`), "delta"},
		{item(`{"call_id":"c"}`), "note"},
		{item(`{}`), "note"},
		{item(`{"type":"function_call","id":"fc_1","name":"sh","arguments":"{}","call_id":"c"}`), "ask function c sh"},
		{item(`{"type":"local_shell_call","call_id":"c","status":"completed","action":{"type":"exec","command":["ls"]}}`), "ask function c"},
		{item(`{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"x"}`), "ask custom c apply_patch"},
		{item(`{"type":"tool_search_call","call_id":"c","execution":"client","arguments":{}}`), "ask search c"},
		{item(`{"type":"tool_search_call","call_id":"c","arguments":{}}`), "ask search c"},
		{item(`{"type":"tool_search_call","call_id":"c","execution":"server","arguments":{}}`), "delta"},
		{item(`{"type":"web_search_call","call_id":"c","status":"completed"}`), "delta"},
		{item(`{"type":"image_generation_call","call_id":"c","result":"x"}`), "delta"},
		{item(`{"type":"local_shell_call","call_id":null,"status":"completed","action":{}}`), "delta"},
		{item(`{"type":"function_call","name":"sh","arguments":"{}","call_id":""}`), "delta"},
		{item(`{"type":"function_call","name":"sh","arguments":"{}","call_id":7}`), "delta"},
		{item(`{"type":"function_call_output","call_id":"c","output":"x"}`), "answer function c"},
		{item(`{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"aborted"}]}`), "answer function c"},
		{item(`{"type":"function_call_output","output":"x"}`), "delta"},
		{item(`{"type":"custom_tool_call_output","call_id":"c","output":"x"}`), "answer custom c"},
		{item(`{"type":"tool_search_output","call_id":"c","execution":"client","status":"completed","tools":[]}`), "answer search c"},
		{item(`{"type":"tool_search_output","call_id":"c","execution":"server","status":"completed","tools":[]}`), "delta"},
		{item(`{"type":"function_call_output","call_id":"c","output":"aborted"}`), "answer function c made-up"},
		{item(`{"type":"custom_tool_call_output","call_id":"c","output":"aborted"}`), "answer custom c made-up"},
		{item(`{"type":"function_call_output","call_id":"c","output":"aborted by user"}`), "answer function c"},
		{item(`{"type":"function_call_output","call_id":"c","output":"` + unknownText + `"}`), "answer function c made-up"},
		{item(`{"type":"function_call_output","call_id":"c","output":"` + finding.ToolOutcomeUnknown + `"}`), "answer function c"},
		{item(`{"type":"function_call","name":"sh","arguments":"aborted","call_id":"c","output":"aborted"}`), "ask function c sh"},

		{event(`{"type":"task_started","turn_id":"t1","root_turn_id":"t0"}`), "turn+ t1 t0"},
		{event(`{"type":"turn_started","turn_id":"t1"}`), "turn+ t1"},
		{event(`{"type":"task_started"}`), "turn+"},
		{event(`{"type":"task_complete","turn_id":"t1"}`), "turn- t1"},
		{event(`{"type":"turn_complete","turn_id":"t1"}`), "turn- t1"},
		{event(`{"type":"turn_aborted","reason":"interrupted"}`), "turn-"},
		{event(`{"type":"user_message","message":"x","images":[]}`), "prompt"},
		{event(`{"type":"agent_message","message":"x"}`), "note"},
		{event(`{"type":"token_count","info":null}`), "note"},
		{event(`{"type":"thread_rolled_back","num_turns":3}`), "back 3"},
		{event(`{"type":"thread_rolled_back","num_turns":-1}`), "back"},
		{event(`{"type":"thread_rolled_back","num_turns":1.5}`), "back"},
		{event(`{"type":"thread_rolled_back","num_turns":9000000000}`), "back 1073741824"},
		{event(`{"type":"thread_rolled_back"}`), "back"},
		{event(`{"type":"thread_settings_applied","thread_id":"t","thread_settings":{}}`), "setting"},
		{done(`{"type":"UserMessage","id":"u"}`), "prompt"},
		{done(`{"type":"AgentMessage","id":"u"}`), "note"},
		{done(`{"type":"CommandExecution","id":"c"}`), "ran c"},
		{done(`{"type":"FileChange","id":"c"}`), "ran c"},
		{done(`{"type":"McpToolCall","id":"c"}`), "ran c"},
		{done(`{"type":"CommandExecution"}`), "note"},
		{done(`{"type":"Reasoning","id":"c"}`), "note"},
		{event(`{}`), "note"},

		{top("turn_context", `{"turn_id":"t","cwd":"/w"}`), "setting"},
		{top("world_state", `{"full":true,"state":{}}`), "setting"},
		{top("token_usage_record", `{}`), "note"},
		{top("what", `{"type":"function_call","call_id":"c"}`), "note"},
		{top("compacted", `{"message":"s"}`), "pack"},
		{top("compacted", `{"message":"s","replacement_history":[]}`), "pack"},
		{top("compacted", `{"message":"s","replacement_history":[{"type":"message","role":"user"},{"type":"function_call","id":"x","call_id":"a"},{"call_id":"b","type":"custom_tool_call"},`+
			`{"type":"function_call_output","call_id":"a","output":"aborted"},{"type":"tool_search_call","execution":"server","call_id":"d"},{"type":"function_call","call_id":""},{"type":"function_call"},7]}`),
			"pack, ask function a inherited, ask custom b inherited, answer function a inherited"},
		{top("compacted", `{"message":"s","replacement_history":null}`), "pack"},
	} {
		for _, d := range []dialect{{generation: legacy}, {generation: paginated}} {
			r := recordOf(t, c.line)
			b := &format.Batch{}
			d.NewDecoder(format.Place{Path: place}).Decode(r, b)
			if got := told(r, b); got != c.want {
				t.Errorf("%s\n%s says %s, want %s", c.line, d.generation, got, c.want)
			}
			if b.Time != 1767323045678 || len(b.Findings) > 0 {
				t.Errorf("%s: %d %+v", c.line, b.Time, b.Findings)
			}
			if d.generation == paginated && (!b.Numbered || b.Seq != 7) || b.Unnumbered == (d.generation == paginated) {
				t.Errorf("%s: number %d %t %t", c.line, b.Seq, b.Numbered, b.Unnumbered)
			}
		}
	}
}

// Copies of an item are told by its payload: numbers and times differ.
func TestBody(t *testing.T) {
	d := dialect{generation: paginated}.NewDecoder(format.Place{Path: place})
	for line, want := range map[string]string{
		`{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":7,"type":"response_item","payload":{"type":"function_call_output","call_id":"c"},"metadata":{}}`: `{"type":"function_call_output","call_id":"c"}`,
		`{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":7,"type":"compacted","payload":{"replacement_history":[]}}`:                                      "",
		`{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":7,"type":"event_msg","payload":{"type":"task_started"}}`:                                         "",
	} {
		r := recordOf(t, line)
		b := &format.Batch{}
		d.Decode(r, b)
		if got := string(b.Body.Of(r.Raw)); got != want {
			t.Errorf("%s: %s", line, got)
		}
	}
}

// An ordinal that is none is as good as missing.
func TestOrdinals(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "7": 7, "288230376151711744": 1 << 58, "2882303761517117449": 2882303761517117449,
		"-1": -1, "1.0": -1, "1e3": -1, `"1"`: -1, "null": -1, "99999999999999999999": -1, "[1]": -1} {
		d := dialect{generation: paginated}.NewDecoder(format.Place{Path: place})
		b := &format.Batch{}
		d.Decode(recordOf(t, `{"timestamp":"t","ordinal":`+text+`,"type":"event_msg","payload":{}}`), b)
		if b.Numbered != (want >= 0) || b.Numbered && b.Seq != want || b.Time != 0 {
			t.Errorf("%s is %d, %t, at %d", text, b.Seq, b.Numbered, b.Time)
		}
	}
}

// The oldest rollouts.
func TestDecodeBare(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{"id":"` + thread + `","timestamp":"2026-01-02T03:04:05.000Z","instructions":null}`, "header"},
		{`{"record_type":"state"}`, "note"},
		{`{"type":"message","role":"user","content":[]}`, "user"},
		{`{"type":"message","id":null,"role":"assistant","content":[]}`, "say"},
		{`{"type":"function_call","id":"fc","name":"sh","arguments":"","call_id":"c"}`, "ask function c sh"},
		{`{"type":"local_shell_call","id":null,"call_id":"c","status":"completed","action":{}}`, "ask function c"},
		{`{"type":"function_call_output","call_id":"c","output":"x"}`, "answer function c"},
		{`{"type":"function_call_output","call_id":"c","output":"aborted"}`, "answer function c made-up"},
		{`{"type":"reasoning","id":"r","summary":[]}`, "delta"},
	} {
		r := recordOf(t, c.line)
		b := &format.Batch{}
		d := dialect{generation: bare, rank: firstEnveloped - 1}.NewDecoder(format.Place{Path: place})
		d.Decode(recordOf(t, `{"id":"`+thread+`","timestamp":"2026-01-02T03:04:05.000Z"}`), b)
		b.Reset()
		d.Decode(r, b)
		if got := told(r, b); got != c.want || !b.Unnumbered || len(b.Findings) > 0 {
			t.Errorf("%s: %s %+v, want %s", c.line, got, b.Findings, c.want)
		}
	}
	// Later releases do not read them.
	for rank, want := range map[int]int{20_000: 0, firstEnveloped - 1: 0, firstEnveloped: 1, 171_000: 1} {
		b := &format.Batch{}
		dialect{generation: bare, rank: rank}.NewDecoder(format.Place{}).Decode(recordOf(t, `{"id":"`+thread+`","timestamp":"2026-01-02T03:04:05.000Z"}`), b)
		if len(b.Findings) != want || want > 0 && b.Findings[0].Code != finding.VersionOld || b.Header == nil || b.Header.ID != thread {
			t.Errorf("release %d: %+v", rank, b)
		}
	}
}

// An ordinary record is read without a new piece of memory.
func TestDecodeAllocates(t *testing.T) {
	for _, line := range []string{
		`{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":7,"type":"response_item","payload":{"type":"function_call","id":"fc_1","name":"sh","arguments":"{}","call_id":"c"}}`,
		`{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":7,"type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c","output":"x"}}`,
		`{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":7,"type":"response_item","payload":{"type":"message","role":"assistant","content":[]}}`,
		`{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":7,"type":"event_msg","payload":{"type":"item_completed","thread_id":"` + thread + `","item":{"type":"CommandExecution","id":"c"}}}`,
		`{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":7,"type":"event_msg","payload":{"type":"task_started","turn_id":"t"}}`,
		`{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":7,"type":"turn_context","payload":{"turn_id":"t","cwd":"/w"}}`,
		`{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":7,"type":"token_usage_record","payload":{}}`,
		`{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":7,"type":"compacted","payload":{"replacement_history":[{"type":"function_call","call_id":"c"}]}}`,
		`{"timestamp":"","ordinal":7,"type":"event_msg","payload":{"type":"token_count"}}`,
	} {
		r := recordOf(t, line)
		b := &format.Batch{}
		d := dialect{generation: paginated}.NewDecoder(format.Place{Path: place})
		d.Decode(r, b)
		if n := testing.AllocsPerRun(100, func() { b.Reset(); d.Decode(r, b) }); n > 0 {
			t.Errorf("%v pieces of memory for %s", n, line)
		}
	}
}

func TestDialect(t *testing.T) {
	head := func(more string) string {
		return `{"timestamp":"t","type":"session_meta","payload":{"id":"` + thread + `"` + more + `}}`
	}
	for _, c := range []struct{ first, want string }{
		{head(""), legacy}, {head(`,"history_mode":"legacy"`), legacy}, {head(`,"history_mode":"paginated"`), paginated},
		{head(`,"history_mode":"later"`), `format version "later" is newer`},
		{head(`,"history_mode":null`), legacy},
		{strings.Replace(head(""), `"type"`, `"ordinal":0,"type"`, 1), paginated},
		{strings.Replace(head(`,"history_mode":"legacy"`), `"type"`, `"ordinal":0,"type"`, 1), paginated},
		{`{"id":"` + thread + `","timestamp":"t"}`, bare}, {`{"type":"message","role":"user"}`, bare}, {`{"record_type":"state"}`, bare},
		{`{"timestamp":"t","ordinal":3,"type":"event_msg","payload":{}}`, paginated}, {`{"timestamp":"t","type":"event_msg","payload":{}}`, legacy},
		{"", legacy}, {`{"torn`, legacy},
	} {
		d, err := Format{}.Dialect(format.Peek{Path: place, Line: []byte(c.first), First: []byte(c.first), FirstLine: true}, "")
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = d.Version()
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.first, got, c.want)
		}
		if err == nil && d.(format.Ranked).Rank() != 171_000 {
			t.Errorf("%s: release %d", c.first, d.(format.Ranked).Rank())
		}
	}
	for v, want := range map[string]int{"0.142.3": 142_003, "0.20.0": 20_000, "1.0.0": 1_000_000, "": 171_000, "0.171": -1, "0.171.x": -1, "0.171.1000": -1, "0.-1.0": -1, "later": -1} {
		d, err := Format{}.Dialect(format.Peek{}, v)
		if err != nil && want >= 0 || err == nil && d.(format.Ranked).Rank() != want {
			t.Errorf("release %q: %v %v", v, d, err)
		}
	}
	if _, err := format.ParseReactions(reactions); err != nil {
		t.Error(err)
	}
}

// What may be done depends on the generation alone.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		generation           string
		dense, pinned, inMid bool
	}{{bare, false, false, true}, {legacy, false, false, true}, {paginated, true, true, false}} {
		r := dialect{generation: c.generation}.Rules()
		if !r.List || r.Dense != c.dense || r.Pinned != c.pinned || r.InsertMid != c.inMid || r.Tree || r.Starts {
			t.Errorf("%s: %+v", c.generation, r)
		}
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		path, first string
		line        bool
		want        format.Match
	}{
		{"x.jsonl", `{"timestamp":"t","type":"session_meta","payload":{}}`, true, format.ByHeader},
		{"x.jsonl", `{"timestamp":"t","type":"session_meta","payload":{}}`, false, format.ByShape},
		{"x.jsonl", `{"timestamp":"t","type":"event_msg","payload":{}}`, true, format.ByShape},
		{"x.jsonl", `{"timestamp":"t","type":"what","payload":{}}`, true, format.No},
		{place, `{"timestamp":"t","type":"what","payload":{}}`, true, format.ByName},
		{place, "", false, format.ByName},
		{place + ".zst", "", false, format.ByName},
		{place, `{"id":"x","timestamp":"t"}`, true, format.ByHeader},
		{place, `{"id":"x","timestamp":"t"}`, false, format.ByName},
		{"x.jsonl", `{"id":"x","timestamp":"t"}`, true, format.No},
		{"rollout-2026-01-02T03-04-05-x.jsonl", "", false, format.No},
		// Other agents' files.
		{"x.jsonl", `{"type":"session","version":3,"id":"a","timestamp":"t","cwd":"/"}`, true, format.No},
		{"x.jsonl", `{"type":"session","version":0,"id":"x","createdAt":1,"delegationDepth":0}`, true, format.No},
		{"x.jsonl", `{"parentUuid":null,"type":"user","uuid":"a","message":{},"timestamp":"t"}`, true, format.No},
		{"x.jsonl", `{"type":"session.start","data":{},"id":"a","timestamp":"t","parentId":null}`, true, format.No},
		{"x.jsonl", `{"type":"event_msg","payload":null}`, true, format.No},
		{"x.jsonl", `{"type":"message","payload":{}}`, true, format.No},
		{"x.jsonl", `[1]`, true, format.No},
		{"x.jsonl", `7`, true, format.No},
	} {
		if got := (Format{}).Detect(format.Peek{Path: c.path, First: []byte(c.first), FirstLine: c.line}); got != c.want {
			t.Errorf("%s %s: %d, want %d", c.path, c.first, got, c.want)
		}
	}
}

func TestTitle(t *testing.T) {
	for first, want := range map[string]format.Header{
		`{"timestamp":"t","type":"session_meta","payload":{"id":"i","cwd":"/w"}}`: {ID: "i", CWD: "/w"},
		`{"id":"i","timestamp":"t"}`: {ID: "i"},
		`{"torn`:                     {},
		"":                           {},
	} {
		if got := (Format{}).Title(format.Peek{First: []byte(first)}); got != want {
			t.Errorf("%s: %+v", first, got)
		}
	}
}

// A record without ordinal gets it behind its timestamp; one that is none makes way for it.
func TestMend(t *testing.T) {
	f := finding.New(finding.SeqMissing)
	f.Expected = 12
	for line, want := range map[string]string{
		`{"timestamp":"t","type":"event_msg","payload":{}}`:               `{"timestamp":"t","ordinal":12,"type":"event_msg","payload":{}}`,
		`{"timestamp":"t","ordinal":"x","type":"event_msg","payload":{}}`: `{"timestamp":"t","ordinal":12,"type":"event_msg","payload":{}}`,
		`{"timestamp":"t","ordinal":-3,"type":"event_msg","payload":{}}`:  `{"timestamp":"t","ordinal":12,"type":"event_msg","payload":{}}`,
		`  {"type":"event_msg","payload":{"ordinal":1}}`:                  `  {"ordinal":12,"type":"event_msg","payload":{"ordinal":1}}`,
	} {
		patches := dialect{generation: paginated}.Mend("", recordOf(t, line), &f)
		if len(patches) != 1 {
			t.Fatalf("%s: %+v", line, patches)
		}
		p := patches[0]
		if got := line[:p.At] + string(p.Ins) + line[p.At+p.Del:]; got != want {
			t.Errorf("%s: %s", line, got)
		}
	}
	other := finding.New(finding.SeqGap)
	if p := (dialect{}).Mend("", recordOf(t, `{}`), &other); p != nil {
		t.Errorf("%+v", p)
	}
}
