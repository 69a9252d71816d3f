package grok_test

import "testing"

// A plan that is torn is made of the last one that was shown. The client does without one that it cannot read.
func TestPlan(t *testing.T) {
	const one = `{"todos":{"x":{"content":"Press","priority":"high","status":"completed"}}}`
	const empty, pears = "{\n  \"todos\": {}\n}", `{
  "todos": {
    "1": {
      "content": "pears",
      "priority": "high",
      "status": "pending"
    },
    "2": {
      "content": "plums",
      "priority": "high",
      "status": "pending"
    }
  }
}`
	odd := `{"timestamp":1,"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","entries":7},"_meta":{"eventId":"s-9"}}}`
	few := `{"timestamp":1,"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[{"content":"é\u00e9 \"q\"","status":"done"},{"content":"no status"},{}]},"_meta":{"eventId":"s-9"}}}`
	for _, c := range []struct {
		name, text string
		log        []string
		want       string // "" = it stays
	}{
		{"whole", one, nil, ""},
		{"another value", "[]", nil, ""},
		{"torn", one[:40], []string{"user:0:a", "plan:apples", "say:b", "plan:pears,plums", "end:end_turn"}, pears},
		{"empty", "", []string{"user:0:a", "plan:pears,plums", "end:end_turn"}, pears},
		{"zeros", "\x00\x00\x00", []string{"user:0:a", "plan:pears,plums", "end:end_turn"}, pears},
		{"twice", one + one, []string{"user:0:a", "plan:pears,plums", "end:end_turn"}, pears},
		{"no plan was shown", one[:40], []string{"user:0:a", "say:b", "end:end_turn"}, empty},
		{"the last one cannot be read", one[:40], []string{"user:0:a", "plan:apples", odd, "end:end_turn"}, empty},
		{"half of it can", one[:40], []string{"user:0:a", few, "end:end_turn"}, "{\n  \"todos\": {\n    \"1\": {\n      \"content\": \"é\\u00e9 \\\"q\\\"\",\n      \"status\": \"done\"\n    }\n  }\n}"},
	} {
		log := c.log
		if log == nil {
			log = []string{"user:0:a", "say:b", "end:end_turn"}
		}
		m := folder{logName: updates(log...), historyName: history("system", "user:0:a", "answer:b"), summaryName: goodSummary, planName: c.text}.mend(t)
		want, written := c.want, planName
		if want == "" {
			want, written = c.text, ""
		}
		if m.folder[planName] != want || m.written != written {
			t.Errorf("%s: %s, %q written, gives\n%s", c.name, m.found, m.written, m.folder[planName])
		}
	}
}
