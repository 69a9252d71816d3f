package openclaw

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/internal/spoken"
	"github.com/sessfix/sessfix/session"
)

const header = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`

func tellOf(t testing.TB, line string) []format.Message {
	t.Helper()
	d, err := (Format{}).Dialect(format.Peek{Path: "/h/agents/main/sessions/s1.jsonl", First: []byte(header), FirstLine: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	return d.(format.Teller).NewTelling(format.Place{}).Tell(&session.Record{Raw: []byte(line)}, nil)
}

func TestTell(t *testing.T) {
	answer := func(provider, model string) string {
		return `{"type":"message","id":"e1","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"assistant","provider":` + provider + `,"model":"` + model + `","content":[{"type":"text","text":"x"}]}}`
	}
	for _, c := range []struct{ name, line, want string }{
		{"an answer", answer(`"p"`, "m"), `assistant <m>: "x"`},
		{"what was delivered by other ways", answer(`"openclaw"`, "delivery-mirror"), `assistant (people) <delivery-mirror>: "x"`},
		{"what was put in", answer(`"openclaw"`, "gateway-injected"), `assistant (people) <gateway-injected>: "x"`},
		{"a model of that name", answer(`"p"`, "delivery-mirror"), `assistant <delivery-mirror>: "x"`},
		{"a provider that is no word", answer(`7`, "delivery-mirror"), `assistant <delivery-mirror>: "x"`},
		{"a model of that provider", answer(`"openclaw"`, "m"), `assistant <m>: "x"`},
		{"a prompt that is shown alone", `{"type":"message","message":{"role":"user","content":"x","excludeFromContext":true}}`, `user (people): "x"`},
		{"a prompt that is sent", `{"type":"message","message":{"role":"user","content":"excludeFromContext","excludeFromContext":1}}`, `user: "excludeFromContext"`},
		{"a new beginning", `{"type":"reset","id":"e1","parentId":"e0","timestamp":"2026-01-01T00:00:01.000Z","reason":"daily"}`, `note (people) stands <reset>: "the talk begins anew: daily"`},
		{"one without reason", `{"type":"reset","id":"e1","reason":7}`, `note (people) stands <reset>: "the talk begins anew"`},
		{"a place to go on from", `{"type":"leaf","id":"e1","parentId":"e0","targetId":"e2"}`, ``},
		{"a call", `{"type":"message","message":{"role":"assistant","content":[{"type":"toolUse","id":"c","name":"sh","input":{"a":1}}]}}`, `assistant: call c sh {"a":1}`},
		{"a result of the client's", `{"type":"message","message":{"role":"toolResult","toolCallId":"c","content":"x","details":{"openclawSyntheticMissingToolResult":true,"reason":"missing_tool_result"},"isError":true}}`, `tool: result c failed made up "x"`},
		{"an edit, which it knows nothing of", `{"type":"context_edit","targetId":"e0","replacement":{"content":"x"}}`, `note (people) <edit>: "x"`},
	} {
		got := tellOf(t, c.line)
		if words := spoken.Words(got); words != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, words, c.want)
		}
	}
}

// All logs that there are can be told.
func TestTellLogs(t *testing.T) {
	said := 0
	for _, pattern := range []string{
		"../../testdata/sessions/openclaw/agents/*/sessions/*.jsonl", "../../testdata/corrupt/openclaw-*/agents/*/sessions/*.jsonl",
		"../../testdata/field/*openclaw-*/*.jsonl", "../../../shared/oracles/pi/samples/openclaw-legacy/agents/*/sessions/*.jsonl",
	} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range bytes.Split(data, []byte("\n")) {
				got := tellOf(t, string(line))
				if fault := spoken.Fault(got); fault != "" {
					t.Errorf("%s: %s: %.200s", path, fault, line)
				}
				said += len(got)
			}
		}
	}
	if said < 20 {
		t.Errorf("%d messages", said)
	}
}

// FuzzTell tells records. Whatever they say is text.
func FuzzTell(f *testing.F) {
	f.Add([]byte(`{"type":"reset","reason":"\ud800"}`))
	f.Add([]byte(`{"type":"message","message":{"role":"assistant","provider":"openclaw","model":"delivery-mirror","content":"` + "\xff" + `"}}`))
	f.Add([]byte(`{"type":"reset","reason":[`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if fault := spoken.Fault(tellOf(t, string(line))); fault != "" {
			t.Errorf("%s: %q", fault, line)
		}
	})
}
