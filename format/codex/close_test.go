package codex

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

const moment = 1767323045678 // 2026-01-02T03:04:05.678Z

// The client derives ids of outputs that it makes up from those of their calls (measured with 0.171.0).
func TestDeriveID(t *testing.T) {
	if got := deriveID("fco:fc_mock_0022"); got != "46372829-287a-5fa8-a6e1-338d5e0186ef" {
		t.Error(got)
	}
	for _, name := range []string{"", "a", "fco:" + strings.Repeat("x", 200)} {
		if got := deriveID(name); !uuids.MatchString(got) || got[14] != '5' || !strings.ContainsRune("89ab", rune(got[19])) {
			t.Errorf("%q: %s is no UUID of version 5", name, got)
		}
	}
}

// What is appended to a rollout, line by line. "U" stands for the text that says that the outcome is not known.
func TestClose(t *testing.T) {
	here := time.Local
	time.Local = time.FixedZone("elsewhere", 5*3600) // no machine's time may show
	defer func() { time.Local = here }()
	call := func(class uint8) []session.Call { return []session.Call{{ID: "c1", Class: class}} }
	asked := func(kind, id string) [][]byte {
		return [][]byte{[]byte(`{"timestamp":"t","type":"response_item","payload":{"type":"` + kind + `"` + id + `,"call_id":"c1"}}`)}
	}
	page := `{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":41,"type":"response_item","payload":`
	plain := `{"timestamp":"2026-01-02T03:04:05.678Z","type":"response_item","payload":`
	for _, c := range []struct {
		name, generation string
		q                format.CloseRequest
		want             []string
		codes            string
	}{
		{"a function", paginated, format.CloseRequest{Calls: call(function), Asked: asked("function_call", `,"id":"fc_mock_0022"`)},
			[]string{page + `{"type":"function_call_output","id":"fco_46372829-287a-5fa8-a6e1-338d5e0186ef","call_id":"c1","output":"U"}}`}, finding.ToolOutcomeUnknown},
		{"a function without id", paginated, format.CloseRequest{Calls: call(function), Asked: asked("function_call", ``)},
			[]string{page + `{"type":"function_call_output","call_id":"c1","output":"U"}}`}, finding.ToolOutcomeUnknown},
		{"a function with an empty id", paginated, format.CloseRequest{Calls: call(function), Asked: asked("function_call", `,"id":""`)},
			[]string{page + `{"type":"function_call_output","call_id":"c1","output":"U"}}`}, finding.ToolOutcomeUnknown},
		{"a function whose id is null", paginated, format.CloseRequest{Calls: call(function), Asked: asked("function_call", `,"id":null`)},
			[]string{page + `{"type":"function_call_output","call_id":"c1","output":"U"}}`}, finding.ToolOutcomeUnknown},
		{"a local shell", legacy, format.CloseRequest{Calls: call(function), Asked: asked("local_shell_call", `,"id":"lsh_1"`)},
			[]string{plain + `{"type":"function_call_output","id":"fco_` + deriveID("fco:lsh_1") + `","call_id":"c1","output":"U"}}`}, finding.ToolOutcomeUnknown},
		{"a custom tool", paginated, format.CloseRequest{Calls: call(custom), Asked: asked("custom_tool_call", `,"id":"ct_1"`)},
			[]string{page + `{"type":"custom_tool_call_output","id":"ctco_` + deriveID("ctco:ct_1") + `","call_id":"c1","output":"U"}}`}, finding.ToolOutcomeUnknown},
		{"a search", paginated, format.CloseRequest{Calls: call(search), Asked: asked("tool_search_call", `,"id":"ts_1"`)},
			[]string{page + `{"type":"tool_search_output","id":"tso_` + deriveID("tso:ts_1") + `","call_id":"c1","status":"completed","execution":"client","tools":[]}}`}, finding.ToolOutcomeUnknown},
		{"a function, in a rollout without numbers", legacy, format.CloseRequest{Calls: call(function)},
			[]string{plain + `{"type":"function_call_output","call_id":"c1","output":"U"}}`}, finding.ToolOutcomeUnknown},
		{"a function, without envelope", bare, format.CloseRequest{Calls: call(function), Asked: [][]byte{[]byte(`{"type":"function_call","id":"fc_1","call_id":"c1"}`)}, TurnID: "t1"},
			[]string{`{"type":"function_call_output","call_id":"c1","output":"U"}`}, finding.ToolOutcomeUnknown},
		{"a turn", paginated, format.CloseRequest{TurnID: "t1"},
			[]string{`{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":41,"type":"event_msg","payload":{"type":"turn_aborted","turn_id":"t1","reason":"interrupted"}}`}, ""},
		{"a turn that belongs to another", legacy, format.CloseRequest{TurnID: "t1", RootTurn: "t0"},
			[]string{`{"timestamp":"2026-01-02T03:04:05.678Z","type":"event_msg","payload":{"type":"turn_aborted","turn_id":"t1","reason":"interrupted","root_turn_id":"t0"}}`}, ""},
		{"all of it", paginated, format.CloseRequest{TurnID: "t1", Calls: []session.Call{{ID: "c1", Class: function}, {ID: "c\\u00e92", Class: custom}}, Asked: [][]byte{nil, nil}, Found: [][]byte{nil, nil}},
			[]string{
				page + `{"type":"function_call_output","call_id":"c1","output":"U"}}`,
				strings.Replace(page, "41", "42", 1) + `{"type":"custom_tool_call_output","call_id":"c\u00e92","output":"U"}}`,
				`{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":43,"type":"event_msg","payload":{"type":"turn_aborted","turn_id":"t1","reason":"interrupted"}}`,
			}, finding.ToolOutcomeUnknown + " " + finding.ToolOutcomeUnknown + " "},
	} {
		c.q.NextSeq, c.q.Time = 41, moment
		got, err := dialect{generation: c.generation}.Close(c.q)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var lines, codes []string
		for _, g := range got {
			lines, codes = append(lines, strings.ReplaceAll(string(g.Line), unknownText, "U")), append(codes, g.Code)
			if !json.Valid(g.Line) {
				t.Errorf("%s: no JSON: %s", c.name, g.Line)
			}
			if (g.CallID == "") != (g.Kind == "turn_aborted") {
				t.Errorf("%s: %+v", c.name, g)
			}
		}
		if a, b := strings.Join(lines, ""), strings.Join(c.want, "\n")+"\n"; a != b || strings.Join(codes, " ") != c.codes {
			t.Errorf("%s:\n got %swant %s%q", c.name, a, b, codes)
		}
	}
	for name, q := range map[string]format.CloseRequest{
		"no class":      {Calls: call(0)},
		"a later class": {Calls: call(9)},
		"a torn record": {Calls: call(function), Asked: [][]byte{[]byte(`{"id":`)}},
	} {
		if _, err := (dialect{generation: legacy}).Close(q); err == nil {
			t.Errorf("%s: it is closed", name)
		}
	}
}

// What sessfix writes it knows again, in each generation.
func TestCloserIsKnown(t *testing.T) {
	for _, generation := range []string{bare, legacy, paginated} {
		d := dialect{generation: generation}
		got, err := d.Close(format.CloseRequest{Calls: []session.Call{{ID: "a", Class: function}, {ID: "b", Class: custom}, {ID: "c", Class: search}}, TurnID: "t", NextSeq: 5})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, g := range got {
			r := recordOf(t, strings.TrimSuffix(string(g.Line), "\n"))
			b := &format.Batch{}
			dec := d.NewDecoder(format.Place{Path: place})
			dec.(*decoder).first = true
			dec.Decode(r, b)
			all = append(all, told(r, b))
		}
		want := "answer function a made-up, answer custom b made-up, answer search c"
		if generation != bare {
			want += ", turn- t"
		}
		if s := strings.Join(all, ", "); s != want {
			t.Errorf("%s: %s", generation, s)
		}
	}
}

// The output that the record of a finished item holds is put back as it is written there.
func TestRestored(t *testing.T) {
	for _, c := range []struct{ item, want string }{
		{`"aggregated_output":"a\n","exit_code":0`, `Process exited with code 0\nOutput:\na\n`},
		{`"aggregated_output":"\u00e9\ud83d\ude00 \"\\\/é","exit_code":-1`, `Process exited with code -1\nOutput:\n\u00e9\ud83d\ude00 \"\\\/é`},
		{`"aggregated_output":"","exit_code":3`, `Process exited with code 3\n`},
		{`"aggregated_output":null,"exit_code":null,"status":"failed"`, `Status: failed\n`},
		{`"status":"completed","exit_code":1`, `Process exited with code 1\n`},
		{`"status":"a\"b"`, `Status: a\"b\n`},
		{`"status":"completed","stdout":"out","stderr":"err\n"`, `Status: completed\nOutput:\noutOutput:\nerr\n`},
		{`"aggregated_output":"x"`, `Output:\nx`},
		{`"status":"completed","result":{"content":[{"text":"a\"b"}]}`, `Status: completed\nResult:\n{\"content\":[{\"text\":\"a\\\"b\"}]}`},
		{`"result":"done"`, `Result:\n\"done\"`},
		{`"result":null`, ""},
		{``, ""},
		{`"aggregated_output":7`, ""},
		{`"exit_code":"x"`, ""},
	} {
		if c.item != "" {
			c.item = "," + c.item
		}
		record := []byte(`{"timestamp":"t","ordinal":6,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"c1"` + c.item + `}}}`)
		got, err := dialect{generation: legacy}.Close(format.CloseRequest{Calls: []session.Call{{ID: "c1", Class: function}}, Asked: [][]byte{nil}, Found: [][]byte{record}, Time: moment})
		if err != nil || len(got) != 1 {
			t.Fatalf("%s: %v %+v", c.item, err, got)
		}
		want, code := `"`+unknownText+`"`, finding.ToolOutcomeUnknown
		if c.want != "" {
			want, code = `"`+restoredText+c.want+`"`, finding.ResultRestored
		}
		line := `{"timestamp":"2026-01-02T03:04:05.678Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":` + want + `}}` + "\n"
		if string(got[0].Line) != line || got[0].Code != code || !json.Valid(got[0].Line) {
			t.Errorf("%s:\n got %s %swant %s %s", c.item, got[0].Code, got[0].Line, code, line)
		}
	}
	// A restored output is a real one.
	r := recordOf(t, `{"timestamp":"t","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"`+restoredText+`Output:\nx"}}`)
	b := &format.Batch{}
	dialect{generation: legacy}.NewDecoder(format.Place{}).Decode(r, b)
	if got := told(r, b); got != "answer function c1" {
		t.Error(got)
	}
}
