package claude

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/provider"
	"github.com/sessfix/sessfix/session"
)

const asked = `{"parentUuid":"p","isSidechain":false,"message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"dig","input":{"depth":1e2}}]},` +
	`"type":"assistant","uuid":"11111111-0000-4000-8000-000000000001","timestamp":"2026-01-02T03:04:05.000Z","userType":"external","cwd":"/garden","sessionId":"22222222-0000-4000-8000-000000000002","version":"2.1.328","gitBranch":"main"}`

func result(content, more string) string {
	return `{"parentUuid":"p","type":"user","message":{"role":"user","content":[` + content + `]},"uuid":"u","timestamp":"2026-01-02T03:04:06.000Z"` + more + `}`
}

// Each mend changes what it names, and leaves every other byte as it is.
func TestRetell(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		q              format.Retelling
	}{
		{"parent", `{"parentUuid":null,"uuid":"a","n":1.50}`, `{"parentUuid":"b","uuid":"a","n":1.50}`, format.Retelling{Parent: []byte(`{"uuid":"b"}`)}},
		{"parent absent", `{ "uuid":"a"}`, `{"parentUuid":"b", "uuid":"a"}`, format.Retelling{Parent: []byte(`{"uuid":"b"}`)}},
		{"content null", `{"message":{"role":"user","content":null},"uuid":"a"}`, `{"message":{"role":"user","content":[{"type":"text","text":"(content lost)"}]},"uuid":"a"}`, format.Retelling{Mends: []string{format.NoContent}}},
		{"no content", `{"message":{"role":"user"}}`, `{"message":{"content":[{"type":"text","text":"(content lost)"}],"role":"user"}}`, format.Retelling{Mends: []string{format.NoContent}}},
		{"no message", `{"type":"user","message":null}`, `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"(content lost)"}]}}`, format.Retelling{Mends: []string{format.NoContent}}},
		{"root", `{"parentUuid":"a","uuid":"a"}`, `{"parentUuid":null,"uuid":"a"}`, format.Retelling{Root: true}},
		{"side", `{"uuid":"a","isSidechain":true,"k":"\u00e9"}`, `{"uuid":"a","isSidechain":false,"k":"\u00e9"}`, format.Retelling{Mends: []string{format.SideMark}}},
		{"border",
			`{"parentUuid":null,"logicalParentUuid":"x","subtype":"compact_boundary","uuid":"a","compactMetadata":{"trigger":"auto"}}`,
			`{"parentUuid":"x","subtype":"informational","uuid":"a"}`,
			format.Retelling{Mends: []string{format.OpenBorder}, Parent: []byte(`{"uuid":"x"}`)}},
		{"empty text", `{"message":{"content":"  \n"},"uuid":"a"}`, `{"message":{"content":"(empty message)"},"uuid":"a"}`, format.Retelling{Mends: []string{string(provider.EmptyText)}}},
		{"empty block", `{"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":" "}]}}`, `{"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"(empty)"}]}}`,
			format.Retelling{Mends: []string{string(provider.EmptyText)}}},
		{"input", `{"message":{"content":[{"type":"tool_use","id":"c","name":"n","input":"raw"}]}}`, `{"message":{"content":[{"type":"tool_use","id":"c","name":"n","input":{"input":"raw"}}]}}`,
			format.Retelling{Mends: []string{string(provider.Input)}}},
		{"input absent", `{"message":{"content":[{"type":"tool_use","id":"c","name":"n"}]}}`, `{"message":{"content":[{"type":"tool_use","input":{},"id":"c","name":"n"}]}}`,
			format.Retelling{Mends: []string{string(provider.Input)}}},
		{"empty error", `{"message":{"content":[{"type":"tool_result","tool_use_id":"c","content":"","is_error":true}]}}`, `{"message":{"content":[{"type":"tool_result","tool_use_id":"c","content":"(no output)","is_error":true}]}}`,
			format.Retelling{Mends: []string{string(provider.EmptyError)}}},
		{"error without content", `{"message":{"content":[{"type":"tool_result","tool_use_id":"c","is_error":true}]}}`, `{"message":{"content":[{"type":"tool_result","tool_use_id":"c","is_error":true,"content":"(no output)"}]}}`,
			format.Retelling{Mends: []string{string(provider.EmptyError)}}},
		{"result last", `{"message":{"content":[{"type":"text","text":"t"}, {"type":"tool_result","tool_use_id":"c"}]}}`, `{"message":{"content":[{"type":"tool_result","tool_use_id":"c"},{"type":"text","text":"t"}]}}`,
			format.Retelling{Mends: []string{string(provider.ResultLast)}}},
		{"surrogate", `{"message":{"content":"a\ud83d b\ude00 \ud83d\ude00 \\ud83d"}}`, `{"message":{"content":"a\ufffd b\ufffd \ud83d\ude00 \\ud83d"}}`, format.Retelling{Mends: []string{string(provider.Surrogate)}}},
		{"orphan", result(`{"type":"tool_result","tool_use_id":"c","content":"out\n"}`, `,"toolUseResult":{"stdout":"out"},"sourceToolAssistantUUID":"z"`),
			result(`{"type":"text","text":"Result of a tool call that is lost: out\n"}`, ""), format.Retelling{Mends: []string{"orphan c"}}},
		{"orphan blocks", result(`{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"x"},{"type":"image","source":{}}]}`, ""),
			result(`{"type":"text","text":"Result of a tool call that is lost: "},{"type":"text","text":"x"},{"type":"image","source":{}}`, ""), format.Retelling{Mends: []string{"orphan c"}}},
		{"one orphan of two", result(`{"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"tool_result","tool_use_id":"b","content":"2"}`, `,"toolUseResult":"1"`),
			result(`{"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"text","text":"Result of a tool call that is lost: 2"}`, `,"toolUseResult":"1"`), format.Retelling{Mends: []string{"orphan b"}}},
		{"rename", `{"message":{"content":[{"type":"tool_use","id":"c","name":"c"}]}}`, `{"message":{"content":[{"type":"tool_use","id":"d","name":"c"}]}}`, format.Retelling{Mends: []string{"rename c d"}}},
		{"unsigned", `{"message":{"content":[{"type":"thinking","thinking":"x"}],"id":"m"}}`, `{"message":{"content":[],"id":"m"}}`, format.Retelling{Mends: []string{string(provider.Unsigned)}}},
		{"truth", result(`{"type":"tool_result","tool_use_id":"c","content":"[Tool call interrupted]","is_error":true}`, `,"toolDenialKind":"interrupted","toolUseResult":"x"`),
			result(`{"tool_use_id":"c","type":"tool_result","content":"over"}`, `,"toolUseResult":{"stdout":"over"}`),
			format.Retelling{Truths: []format.Truth{{Record: []byte(result(`{"tool_use_id":"c","type":"tool_result","content":"over"}`, `,"toolUseResult":{"stdout":"over"}`)), Call: "c"}}}},
	} {
		c.q.Record = []byte(c.in)
		got, err := dialect{}.Retell(c.q)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if string(got) != c.want+"\n" {
			t.Errorf("%s:\n got %swant %s", c.name, got, c.want)
		}
		if !json.Valid(got) {
			t.Errorf("%s: %s is no JSON", c.name, got)
		}
	}
	if _, err := (dialect{}).Retell(format.Retelling{Record: []byte(`{"uuid":"a"}`), Mends: []string{"what"}}); err == nil {
		t.Error("an unknown mend is passed over")
	}
	if _, err := (dialect{}).Retell(format.Retelling{Record: []byte(`{"uuid":`)}); err == nil {
		t.Error("a torn record is told anew")
	}
}

// An image that is too large becomes a text that says so.
func TestRetellImage(t *testing.T) {
	in := `{"message":{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"` + strings.Repeat("A", provider.MaxImage+1) + `"}},{"type":"text","text":"look"}]},"uuid":"a"}`
	got, err := dialect{}.Retell(format.Retelling{Record: []byte(in), Mends: []string{string(provider.ImageSize)}})
	want := `{"message":{"role":"user","content":[{"type":"text","text":"(an image of 5242881 bytes stood here that the provider does not take)"},{"type":"text","text":"look"}]},"uuid":"a"}` + "\n"
	if err != nil || string(got) != want {
		t.Fatalf("%.200s %v", got, err)
	}
}

// A result of ours takes its surroundings from the line that asks, its id from session and call, or the lost id
// that a later record names.
func TestAnswer(t *testing.T) {
	call := session.Call{ID: "call_1", Name: "dig"}
	one, err := dialect{}.Answer([]byte(asked), nil, call)
	if err != nil {
		t.Fatal(err)
	}
	two, _ := dialect{}.Answer([]byte(asked), nil, call)
	if !reflect.DeepEqual(one, two) {
		t.Error("two runs differ")
	}
	var v map[string]any
	if err := json.Unmarshal(one.Line, &v); err != nil {
		t.Fatalf("%s: %v", one.Line, err)
	}
	for key, want := range map[string]any{
		"parentUuid": "11111111-0000-4000-8000-000000000001", "type": "user", "timestamp": "2026-01-02T03:04:05.000Z", "cwd": "/garden",
		"sourceToolAssistantUUID": "11111111-0000-4000-8000-000000000001", "sessionId": "22222222-0000-4000-8000-000000000002", "isSidechain": false,
	} {
		if v[key] != want {
			t.Errorf("%s is %v, want %v", key, v[key], want)
		}
	}
	if id := v["uuid"].(string); len(id) != 36 || id[14] != '5' {
		t.Errorf("uuid %s is no version 5", id)
	}
	taken, err := dialect{}.Answer([]byte(asked), []byte(`{"uuid":"x","parentUuid":"99999999-0000-4000-8000-000000000009"}`), call)
	if err != nil || !strings.Contains(string(taken.Line), `"uuid":"99999999-0000-4000-8000-000000000009"`) {
		t.Errorf("%s %v", taken.Line, err)
	}
	other, _ := dialect{}.Answer([]byte(asked), nil, session.Call{ID: "call_2"})
	if string(other.Line) == string(one.Line) {
		t.Error("two calls get one record")
	}
}

func TestPointAndBridge(t *testing.T) {
	p, err := dialect{}.Point([]byte(asked), []byte(`{"type":"last-prompt","lastPrompt":"dig \"deep\"","leafUuid":"z"}`))
	want := `{"type":"last-prompt","lastPrompt":"dig \"deep\"","leafUuid":"11111111-0000-4000-8000-000000000001","sessionId":"22222222-0000-4000-8000-000000000002"}` + "\n"
	if err != nil || string(p) != want {
		t.Errorf("%s %v", p, err)
	}
	if p, err = (dialect{}).Point([]byte(asked), nil); err != nil || strings.Contains(string(p), "lastPrompt") {
		t.Errorf("%s %v", p, err)
	}
	b, err := dialect{}.Bridge([]byte(`{"uuid":"c","parentUuid":"lost"}`), []byte(asked))
	if err != nil || !json.Valid(b) || !strings.Contains(string(b), `"uuid":"lost"`) || !strings.Contains(string(b), `"isCompactSummary":true`) {
		t.Errorf("%s %v", b, err)
	}
}
