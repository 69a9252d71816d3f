package repair_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/verify"
)

// at is the string at a path of members in a record, "" where there is none.
func at(record []byte, path string) string {
	var v any
	if json.Unmarshal(record, &v) != nil {
		return ""
	}
	for name := range strings.SplitSeq(path, ".") {
		if list, ok := v.([]any); ok && len(list) > 0 {
			v = list[0]
		}
		m, ok := v.(map[string]any)
		if !ok {
			return ""
		}
		v = m[name]
	}
	s, _ := v.(string)
	return s
}

// Ids of every kind are found, in whatever way they are written, and the answer says what they are the ids of.
func TestCommittedIDs(t *testing.T) {
	for _, c := range []struct{ file, path, what string }{
		{"dsh/orchard.v0.jsonl", "data.message.id", "message"},
		{"dsh/orchard.v0.jsonl", "data.id", "message"},
		{"dsh/orchard.v0.jsonl", "data.callId", "start of the call"},
		{"dsh/orchard.v0.jsonl", "data.compactionId", "start of the compaction"},
		{ferryFile, "payload.call_id", "request of the call"},
		{ferryFile, "payload.item.id", "item"},
		{ferryFile, "payload.turn_id", "start of the turn"},
		{"claude-code/orchard.jsonl", "uuid", "record"},
		{"claude-code/orchard.jsonl", "message.id", "message"},
		{"claude-code/orchard.jsonl", "message.content.tool_use_id", "result of the call"},
		{"pi/linear.jsonl", "id", "entry"},
		{"pi/parallel.jsonl", "message.toolCallId", "result of the call"},
		{"pi/orchard/harness.jsonl", "id", "entry"},
		{clawFile, "id", "entry"},
		{"grok/orchard/updates.jsonl", "params._meta.eventId", "event"},
		{"grok/orchard/updates.jsonl", "params.update.toolCallId", "update of the call"},
		{"grok/orchard/chat_history.jsonl", "tool_call_id", "result of the call"},
	} {
		path := copied(t, c.file)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		id, line := "", 0
		for i, l := range bytes.Split(data, []byte("\n")) {
			if id = at(l, c.path); id != "" && i > 0 {
				line = i + 1
				break
			}
		}
		if line == 0 {
			t.Errorf("%s has no %s", c.file, c.path)
			continue
		}
		says := func(how string) {
			got := asking(t, path, "", "", verify.Question{ID: id})
			if got.Outcome != verify.Stored || !slices.ContainsFunc(got.Where, func(s verify.Sighting) bool { return s.What == c.what }) {
				t.Errorf("%s, %s, %s: %+v", c.file, c.path, how, got)
			}
			if part := asking(t, path, "", "", verify.Question{ID: id[:len(id)-1]}); part.Outcome == verify.Stored {
				t.Errorf("%s, %s, %s: a part of the id is taken for it: %+v", c.file, c.path, how, part)
			}
		}
		says("as it is")
		escaped := `"\u00` + strings.ToLower(string("0123456789abcdef"[id[0]>>4])+string("0123456789abcdef"[id[0]&15])) + id[1:] + `"`
		if err := os.WriteFile(path, bytes.ReplaceAll(data, []byte(`"`+id+`"`), []byte(escaped)), 0o600); err != nil {
			t.Fatal(err)
		}
		says("escaped")
	}
}
