package harness

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// outline tells writes in few words.
func outline(t *testing.T, added []map[string]any) string {
	t.Helper()
	var out []string
	seq := 0.0
	for _, w := range added {
		if n := w["seq"].(float64); seq > 0 && n != seq+1 {
			t.Fatalf("number %v follows %v", n, seq)
		}
		seq = w["seq"].(float64)
		name := strings.TrimPrefix(fmt.Sprint(w["namespace"]), "pi.")
		key := strings.NewReplacer("01a00000-0000-7000-8000-000000000", "#").Replace(fmt.Sprint(w["key"]))
		switch {
		case w["kind"] == "entry":
			m := w["message"].(map[string]any)
			word := fmt.Sprintf("entry #%s under #%s %s", w["id"].(string)[33:], w["parentId"].(string)[33:], m["role"])
			if d, ok := m["details"].(map[string]any); ok {
				if s, ok := d["sessfix"].(map[string]any); ok {
					word += " " + s["code"].(string)
				}
			}
			if w["terminate"] == true {
				word += " ends"
			}
			if s, ok := m["stopReason"]; ok {
				word += " " + s.(string)
			}
			out = append(out, word)
		case w["kind"] == "usage":
			out = append(out, "usage")
		case w["op"] == "delete":
			out = append(out, fmt.Sprintf("-%s %s", name, key))
		case name == "branch.tip":
			out = append(out, "tip #"+w["value"].(string)[33:])
		case name == "result":
			v := w["value"].(map[string]any)
			out = append(out, fmt.Sprintf("%s %s", v["kind"], v["status"]))
		case name == "lane.state":
			v := w["value"].(map[string]any)
			if v["currentOperationId"] != nil || v["lastOperationId"] != eid(900) {
				t.Errorf("%v", v)
			}
			out = append(out, fmt.Sprintf("idle %d", len(v["inbox"].([]any))))
		}
	}
	return strings.Join(out, "; ")
}

const closed = "-op.meta #900; -op.state #900; "

// How each state in which a crash can leave an operation is ended.
func TestSettle(t *testing.T) {
	at := func(members string, more ...string) []tx { return append(begin(), append(tx{state(members)}, more...)) }
	generating := func(more ...string) []tx {
		return at(`"at":"assistant.effect_pending",`+running+`,"generationContext":{`+model+`},"attempt":1,"responseEntryId":"`+eid(40)+`","usageId":"`+eid(41)+`"`, more...)
	}
	task := func(at, boundary string) string {
		return `"at":"` + at + `",` + running + `,"task":{"taskId":"t","boundary":{"kind":"` + boundary + `"}}`
	}
	other := func(intent, members string) []tx { return append(begin(), tx{meta(intent), state(members)}) }
	pending := func(n int, message string) string {
		return set(pendings, eid(n), `{"type":"message","payload":`+message+`}`)
	}
	open := "OPEN_TURN tail"
	for name, c := range map[string]struct {
		log              []tx
		findings, writes string
	}{
		"starting":   {begin(), open, closed + "run aborted; idle 0"},
		"checkpoint": {at(`"at":"checkpoint",` + running + `,"continuation":{"kind":"need_assistant"}`), open, closed + "run aborted; idle 0"},
		"all is done": {at(`"at":"checkpoint","control":{"status":"running"},"latestAssistantEntryId":"` + eid(1) + `","continuation":{"kind":"may_finish","includeFinalAssistant":true}`), open,
			closed + "run completed; idle 0"},
		"all is done without an answer": {at(`"at":"checkpoint",` + running + `,"continuation":{"kind":"may_finish","includeFinalAssistant":false}`), open, closed + "run completed; idle 0"},
		"the answer lacks":              {at(`"at":"checkpoint",` + running + `,"continuation":{"kind":"may_finish","includeFinalAssistant":true}`), open, closed + "run aborted; idle 0"},
		"done and cancelled": {at(`"at":"checkpoint","control":{"status":"cancel_requested","requestedAt":1},"continuation":{"kind":"may_finish","includeFinalAssistant":false}`), open,
			closed + "run aborted; idle 0"},
		"done, and more is asked for": {append(at(`"at":"checkpoint",`+running+`,"continuation":{"kind":"may_finish","includeFinalAssistant":false}`),
			tx{pending(70, user("more")), lane(`"`+eid(900)+`"`, `[{"entryId":"`+eid(70)+`","kind":"followUp"}]`)}), open, closed + "run aborted; idle 1"},
		"ready":           {at(`"at":"assistant.ready",` + running), open, closed + "run aborted; idle 0"},
		"a retry":         {at(`"at":"assistant.retry_wait",` + running + `,"notBefore":9`), open, closed + "run aborted; idle 0"},
		"asked the model": {generating(), open, "entry #040 under #001 assistant aborted; usage; tip #040; " + closed + "run aborted; idle 0"},
		"streaming": {generating(push(frames, eid(900)+":"+eid(40), `{"type":"start","partial":{"role":"assistant","api":"a","provider":"p","model":"m","timestamp":5}}`)), open,
			"entry #040 under #001 assistant aborted; usage; tip #040; " + closed + "-pending.assistant_frame #900:#040; run aborted; idle 0"},
		"planned": {asked(planned, planned), open + ", DANGLING_CALL tail c0, DANGLING_CALL tail c1",
			"entry #010 under #002 toolResult TOOL_NOT_STARTED; entry #011 under #010 toolResult TOOL_NOT_STARTED; tip #011; " + closed + "run aborted; idle 0"},
		"started": {append(asked(effectPending, planned), tx{set(toolArgs, eid(900)+":t:0", "{}"), set(toolMemos, eid(900)+":"+eid(10)+":m", "1"), set(toolArgs, eid(901)+":t:0", "{}")}),
			open + ", DANGLING_CALL tail c0, DANGLING_CALL tail c1",
			"entry #010 under #002 toolResult TOOL_OUTCOME_UNKNOWN; entry #011 under #010 toolResult TOOL_NOT_STARTED; tip #011; " + closed + "-op.tool_args #900:t:0; -op.tool_memo #900:#010:m; run aborted; idle 0"},
		"over and not placed": {append(asked(effectPending, outcomeReady), tx{pending(11, result("c1"))}), open + ", DANGLING_CALL tail c0, DANGLING_CALL tail c1",
			"entry #010 under #002 toolResult TOOL_OUTCOME_UNKNOWN; entry #011 under #010 toolResult; tip #011; " + closed + "-pending.entry #011; run aborted; idle 0"},
		"over, and it ends the run": {append(asked(outcomeReady), tx{pending(10, strings.Replace(result("c0"), `"isError"`, `"usage":`+noUsage+`,"isError"`, 1)), strings.Replace(batch(outcomeReady), `"sourceIndex"`, `"terminate":true,"sourceIndex"`, 1)}),
			open + ", DANGLING_CALL tail c0", "entry #010 under #002 toolResult ends; usage; tip #010; " + closed + "-pending.entry #010; run aborted; idle 0"},
		"one is placed": {append(asked(planned, planned), tx{says(10, 2, result("c0")), set(tips, "main", `"`+eid(10)+`"`), batch(completed, planned)}), open + ", DANGLING_CALL tail c1",
			"entry #011 under #010 toolResult TOOL_NOT_STARTED; tip #011; " + closed + "run aborted; idle 0"},
		"with output": {append(asked(effectPending), tx{set(toolOutputs, eid(900)+":"+eid(10), `{"content":[{"type":"text","text":"half"}],"details":{"lines":3},"usage":`+noUsage+`}`)}), open + ", DANGLING_CALL tail c0",
			"entry #010 under #002 toolResult TOOL_OUTCOME_UNKNOWN; usage; tip #010; " + closed + "-pending.tool_output #900:#010; run aborted; idle 0"},
		"a compaction in a run": {at(task("summary.deciding", "resume_checkpoint"), set(preparations, eid(900)+":t", "{}")), open, closed + "-op.preparation #900:t; run aborted; idle 0"},
		"a compaction":          {other(`{"kind":"compaction"}`, task("summary.effect_pending", "finish")), open, closed + "compaction aborted; idle 0"},
		"its retry":             {other(`{"kind":"compaction"}`, task("summary.retry_wait", "finish")), open, closed + "compaction aborted; idle 0"},
		"a way to another entry": {other(`{"kind":"navigation","targetId":"`+eid(1)+`","summarize":false}`, `"at":"navigation.ready_to_commit",`+running+`,"targetId":"`+eid(1)+`"`), open,
			closed + "navigation aborted; idle 0"},
		"a summary of the way": {other(`{"kind":"navigation","targetId":"`+eid(1)+`","summarize":true,"label":"l"}`,
			strings.Replace(task("summary.ready", "commit_navigation"), `"commit_navigation"`, `"commit_navigation","label":"l","targetId":"`+eid(1)+`"`, 1)), open, closed + "navigation aborted; idle 0"},
		"the provider takes its time": {at(`"at":"deferred.suspended",` + running + `,"sourceEntryId":"` + eid(1) + `"`), "OPEN_TURN suspended", ""},
		"it is asked again":           {at(`"at":"deferred.effect_pending",` + running + `,` + model + `,"responseEntryId":"` + eid(40) + `","usageId":"` + eid(41) + `"`), "OPEN_TURN suspended", ""},
		"and given up": {at(`"at":"deferred.effect_pending","control":{"status":"cancel_requested"},` + model + `,"responseEntryId":"` + eid(40) + `","usageId":"` + eid(41) + `"`), open,
			"entry #040 under #001 assistant aborted; usage; tip #040; " + closed + "run aborted; idle 0"},
	} {
		text := told(head(""), c.log...)
		if got := decode(t, text).codes(); got != c.findings {
			t.Errorf("%s: %q, want %q", name, got, c.findings)
			continue
		}
		_, added := mend(t, text)
		if got := outline(t, added); got != c.writes {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.writes)
		}
	}
}

// What does not fit together is refused, as the client refuses it, and nothing is added.
func TestSpoilt(t *testing.T) {
	at := func(members string) []tx { return append(begin(), tx{state(members)}) }
	for name, log := range map[string][]tx{
		"no meta":              append(begin(), tx{unset(metas, eid(900))}),
		"no state":             append(begin(), tx{unset(states, eid(900))}),
		"a meta of another":    append(begin(), tx{set(metas, eid(900), `{"operationId":"x","lane":"main","intent":`+run+`}`)}),
		"of another lane":      append(begin(), tx{set(metas, eid(900), `{"operationId":"`+eid(900)+`","lane":"side","intent":`+run+`}`)}),
		"no object":            append(begin(), tx{set(states, eid(900), `7`)}),
		"unknown state":        at(`"at":"dreaming",` + running),
		"unknown control":      at(`"at":"starting","control":{"status":"paused"}`),
		"no fit":               at(`"at":"navigation.ready_to_commit",` + running),
		"another way":          append(begin(), tx{meta(`{"kind":"navigation","targetId":"a","summarize":false}`), state(`"at":"navigation.ready_to_commit",` + running + `,"targetId":"b"`)}),
		"no such call":         append(asked(planned), tx{strings.Replace(batch(planned), `"sourceIndex":2`, `"sourceIndex":1`, 1)}),
		"no place for results": append(asked(planned), tx{strings.Replace(batch(planned), `"resultEntryId":"`+eid(10)+`"`, `"resultEntryId":null`, 1)}),
		"one place for two":    append(asked(planned, planned), tx{strings.Replace(batch(planned, planned), eid(11), eid(10), 1)}),
		"completed, no result": asked(completed),
		"a result, planned":    append(asked(planned), tx{says(10, 2, result("c0"))}),
		"over, no result":      asked(outcomeReady),
		"over, another's":      append(asked(outcomeReady), tx{set(pendings, eid(10), `{"type":"message","payload":`+result("c9")+`}`)}),
		"out of order":         append(asked(planned, planned), tx{says(11, 2, result("c1")), batch(planned, completed)}),
		"unknown status":       asked("dreaming"),
		"asked by nobody":      append(begin(), tx{batch(planned)}),
		"no id for the answer": at(`"at":"assistant.effect_pending",` + running),
		"an id in use":         at(`"at":"assistant.effect_pending",` + running + `,"responseEntryId":"` + eid(1) + `","usageId":"` + eid(41) + `"`),
		"no inbox":             append(begin(), tx{lane(`"`+eid(900)+`"`, "null")}),
		"inbox without entry":  append(begin(), tx{lane(`"`+eid(900)+`"`, `[{"entryId":"x","kind":"steer"}]`)}),
		"no state of the lane": append(begin(), tx{set(laneStates, "main", "7")}),
	} {
		s := decode(t, told(head(""), log...))
		if got := s.codes(); got != "EVENT_INVALID lane" || len(s.closings) > 0 || s.findings[0].Record.N == 0 {
			t.Errorf("%s: %q, %d closings", name, got, len(s.closings))
		}
	}
}

// Two lanes are ended by a line each, one behind the other.
func TestSettleLanes(t *testing.T) {
	side := func(w string) string {
		return strings.NewReplacer(`"main"`, `"side \"é\""`, eid(900), eid(901), eid(1), eid(31)).Replace(w)
	}
	log := begin()
	for _, x := range begin() {
		var y tx
		for _, w := range x {
			y = append(y, side(w))
		}
		log = append(log, y)
	}
	text := told(head(`,"nextSeq":50`), log...)
	s := decode(t, text)
	if len(s.closings) != 2 || s.codes() != "OPEN_TURN tail, OPEN_TURN tail" {
		t.Fatalf("%s, %d closings", s.codes(), len(s.closings))
	}
	_, added := mend(t, text)
	if n := added[0]["seq"].(float64); n != 50 {
		t.Errorf("the first number is %v, and the header says 50", n)
	}
}

var uuid7 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func TestDeriveID(t *testing.T) {
	for _, ms := range []int64{0, 1, 1700000000000, 1 << 48, safest, -5} {
		a, b := deriveID(ms, "a"), deriveID(ms, "b")
		if !uuid7.MatchString(a) || a == b || a != deriveID(ms, "a") {
			t.Errorf("%d: %s, %s", ms, a, b)
		}
	}
	if got := deriveID(1700000000000, "x")[:13]; got != "018bcfe5-6800" {
		t.Error(got)
	}
}

// A result says what it is, and keeps what the call had shown, as it stands.
func TestMade(t *testing.T) {
	c := call{0, `c\"1`, `ba\u0073h`}
	shown := &cell{value: []byte(`{"content":[ {"type":"text","text":"h\u00e9 1.0"} ],"details":{"n":1.0,"big":9007199254740993},"usage":{"input":1.0}}`)}
	got, usage := made(c, "TOOL_OUTCOME_UNKNOWN", unknownText, shown, 7)
	want := `{"role":"toolResult","toolCallId":"c\"1","toolName":"ba\u0073h","content":[{"type":"text","text":"h\u00e9 1.0"},{"type":"text","text":"` + unknownText + shownText +
		`"}],"details":{"sessfix":{"code":"TOOL_OUTCOME_UNKNOWN","v":1},"n":1.0,"big":9007199254740993},"usage":{"input":1.0},"isError":true,"timestamp":7}`
	if got != want || usage != `{"input":1.0}` {
		t.Errorf("%s\nwant\n%s\nusage %s", got, want, usage)
	}
	for _, v := range []string{`7`, `{}`, `{"content":7,"details":"x","usage":[]}`, `{"content":[],"details":{}}`, `{"details":{"sessfix":7}}`} {
		got, usage := made(c, "X", "text", &cell{value: []byte(v)}, 7)
		want := `{"role":"toolResult","toolCallId":"c\"1","toolName":"ba\u0073h","content":[{"type":"text","text":"text"}],"details":{"sessfix":{"code":"X","v":1}},"isError":true,"timestamp":7}`
		if got != want || usage != "" || !json.Valid([]byte(got)) {
			t.Errorf("%s: %s, usage %s", v, got, usage)
		}
	}
}

// crash is a run with two calls that was killed in the first, with the pieces of its answer, which are deleted again.
func crash() string {
	key := eid(900) + ":" + eid(2)
	log := append(begin(),
		tx{state(`"at":"assistant.effect_pending",` + running + `,"generationContext":{` + model + `},"responseEntryId":"` + eid(2) + `","usageId":"` + eid(500) + `"`)},
		tx{push(frames, key, `{"type":"start","partial":{"role":"assistant","content":[],"api":"a","provider":"p","model":"m","timestamp":5}}`)},
		tx{push(frames, key, `{"type":"text_start","contentIndex":0,"content":{"type":"text","text":"é"}}`)},
		tx{push(frames, key, `{"type":"text_delta","contentIndex":0,"delta":"\ud83d"}`)},
		tx{push(frames, key, `{"type":"text_delta","contentIndex":0,"delta":"\ude00"}`)},
	)
	last := asked(planned, planned)[2]
	last = append(last, `{"kind":"list","op":"delete","namespace":"`+frames+`","key":"`+key+`"}`)
	log = append(log, last,
		tx{set(toolArgs, eid(900)+":t:0", "{}"), batch(effectPending, planned)},
		tx{set(toolOutputs, eid(900)+":"+eid(10), `{"content":[{"type":"text","text":"half"}],"details":{}}`)},
		tx{set(pendings, eid(10), `{"type":"message","payload":`+result("c0")+`}`), unset(toolOutputs, eid(900)+":"+eid(10)), batch(outcomeReady, planned)},
		tx{says(10, 2, result("c0")), unset(pendings, eid(10)), set(tips, "main", `"`+eid(10)+`"`), batch(completed, planned)},
	)
	return told(head(""), log...)
}

// At whatever byte a log is cut, what is left of it can be ended, and then nothing is open.
func TestEveryCut(t *testing.T) {
	text := crash()
	header := strings.IndexByte(text, '\n') + 1
	for n := header; n <= len(text); n++ {
		cut := text[:n]
		if end := strings.LastIndexByte(cut, '\n') + 1; end < n {
			if json.Valid([]byte(cut[end:])) {
				cut += "\n" // a whole last line lacks its newline only
			} else {
				cut = cut[:end]
			}
		}
		mended, _ := mend(t, cut)
		if again := decode(t, mended); len(again.findings) > 0 {
			t.Fatalf("cut at %d: %s", n, again.codes())
		}
	}
}

// Where one lane cannot be read, the client attaches to none: no other is said to be ended.
func TestSpoiltBesideOpen(t *testing.T) {
	s := decode(t, told(head(""), append(begin(), tx{set(laneStates, "a", `{"currentOperationId":null,"inbox":[]}`)}, tx{set(tips, "z", "7")})...))
	if got := s.codes(); got != "EVENT_INVALID lane, EVENT_INVALID lane" || len(s.closings) > 0 {
		t.Errorf("%q, %d closings", got, len(s.closings))
	}
}
