package grok_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/verify"
)

// talk is a healthy session without its summary.
var talk = folder{
	logName:     updates("user:0:How are you?", "say:Well.", "end:end_turn", "user:1:And now?", "say:Still well.", "end:end_turn"),
	historyName: history("system", "user:0:How are you?", "answer:Well.", "user:1:And now?", "answer:Still well."),
	eventsName:  events("turn", "loop", "ended:completed", "turn", "loop", "ended:completed"),
}

// A summary that the client cannot read is written anew.
func TestSummary(t *testing.T) {
	const good = goodSummary
	for _, c := range []struct{ name, text, found string }{
		{"missing", "-", "SIDECAR_MISSING"},
		{"empty", "", "SIDECAR_EMPTY"},
		{"blank", " \n", "SIDECAR_EMPTY"},
		{"zeros", strings.Repeat("\x00", 99), "SIDECAR_EMPTY"},
		{"torn", good[:120], "SIDECAR_CORRUPT"},
		{"torn in its first word", `{"in`, "SIDECAR_CORRUPT"},
		{"an empty object", `{}`, "SIDECAR_CORRUPT"},
		{"a list", `[]`, "SIDECAR_CORRUPT"},
		{"null", `null`, "SIDECAR_CORRUPT"},
		{"twice", good + good, "SIDECAR_CORRUPT"},
		{"zeros behind it", good + "\x00\x00", "SIDECAR_CORRUPT"},
		{"no info", strings.Replace(good, `"info"`, `"xnfo"`, 1), "SIDECAR_CORRUPT"},
		{"an info without id", strings.Replace(good, `"id"`, `"xd"`, 1), "SIDECAR_CORRUPT"},
		{"an info without folder", strings.Replace(good, `"cwd"`, `"cwx"`, 1), "SIDECAR_CORRUPT"},
		{"the id is a number", strings.Replace(good, `"`+id+`"`, `7`, 1), "SIDECAR_CORRUPT"},
		{"the title is null", strings.Replace(good, `"t"`, `null`, 1), "SIDECAR_CORRUPT"},
		{"a time is a number", strings.Replace(good, `"updated_at":"2024-06-13T00:00:00Z"`, `"updated_at":7`, 1), "SIDECAR_CORRUPT"},
		{"the count is a text", strings.Replace(good, `"num_messages":1`, `"num_messages":"1"`, 1), "SIDECAR_CORRUPT"},
		{"the count is less than nothing", strings.Replace(good, `"num_messages":1`, `"num_messages":-1`, 1), "SIDECAR_CORRUPT"},
		{"no model", strings.Replace(good, `"current_model_id":"m",`, ``, 1), "SIDECAR_CORRUPT"},
		{"a version that is too high", strings.Replace(good, `"chat_format_version":1`, `"chat_format_version":300`, 1), "SIDECAR_CORRUPT"},
		{"a version that is a text", strings.Replace(good, `"chat_format_version":1`, `"chat_format_version":"1"`, 1), "SIDECAR_CORRUPT"},
		{"a version that no client wrote yet", strings.Replace(good, `"chat_format_version":1`, `"chat_format_version":255`, 1), ""},
		{"no version", strings.Replace(good, `,"chat_format_version":1`, ``, 1), ""},
		{"an empty title", strings.Replace(good, `"t"`, `""`, 1), ""},
		{"whole", good, ""},
		{"whole, with more", strings.Replace(good, `"num_messages"`, `"x":{"y":[1,{}]},"num_messages"`, 1), ""},
		{"whole, over many lines", "\n" + strings.ReplaceAll(good, ",", ",\r\n ") + "\n\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := talk.with(summaryName, c.text).mend(t)
			if got := strings.TrimPrefix(m.found, "summary "); got != c.found {
				t.Fatalf("found %s, want %s", m.found, c.found)
			}
			if c.found == "" {
				return
			}
			var s struct {
				Info     struct{ ID, CWD string }
				Title    *string `json:"session_summary"`
				Made     string  `json:"created_at"`
				Changed  string  `json:"updated_at"`
				Messages int     `json:"num_messages"`
				Items    int     `json:"num_chat_messages"`
				Model    string  `json:"current_model_id"`
				Turns    int     `json:"next_trace_turn"`
				Version  int     `json:"chat_format_version"`
			}
			if err := json.Unmarshal([]byte(m.folder[summaryName]), &s); err != nil {
				t.Fatalf("%v\n%s", err, m.folder[summaryName])
			}
			if s.Info.ID != id || s.Info.CWD != "/w" || s.Title == nil || s.Messages != 6 || s.Items != 5 || s.Model != "m" || s.Turns != 2 || s.Version != 1 || s.Made == "" || s.Changed == "" {
				t.Errorf("%s", m.folder[summaryName])
			}
			if m.written != summaryName {
				t.Errorf("%s were written", m.written)
			}
		})
	}
}

// What a summary is made of where nothing of it is left, byte for byte.
func TestSummaryAnew(t *testing.T) {
	m := talk.mend(t)
	want := `{
  "info": {
    "id": "01900000-0000-7000-8000-000000000001",
    "cwd": "/w"
  },
  "session_summary": "How are you?",
  "created_at": "2024-06-10T02:35:18.400Z",
  "updated_at": "2024-06-13T00:00:05Z",
  "num_messages": 6,
  "num_chat_messages": 5,
  "current_model_id": "m",
  "next_trace_turn": 2,
  "chat_format_version": 1,
  "last_active_at": "2024-06-13T00:00:05Z",
  "generated_title": "How are you?"
}`
	if got := m.folder[summaryName]; got != want {
		t.Errorf("%s", got)
	}
}

// What is left of a torn summary stays byte for byte, also what is not known here, and in its order.
func TestSummaryLeft(t *testing.T) {
	whole := `{"zz": [1.50, {"a" : "\u00e9é"}],"info":{"id":"` + id + `","cwd":"/w","x":1e400},"title_is_manual":true,"generated_title":"Mine","num_messages":999,"created_at":"2020-01-01T00:00:00.000271828Z","worktree_label":"w`
	m := talk.with(summaryName, whole).mend(t)
	got := strings.Join(strings.Fields(m.folder[summaryName]), "")
	for _, left := range []string{`"zz":[1.50,{"a":"\u00e9é"}],"info":{"id":"` + id + `","cwd":"/w","x":1e400},"title_is_manual":true,"generated_title":"Mine",`, `"created_at":"2020-01-01T00:00:00.000271828Z"`, `"num_messages":6,`} {
		if !strings.Contains(got, left) {
			t.Errorf("%s is not in it:\n%s", left, got)
		}
	}
	if strings.Contains(got, "worktree_label") {
		t.Errorf("half a value is in it:\n%s", got)
	}
}

// Where the group's name is too long for a file name, a file in it says of which folder it is.
func TestSummaryOfLongGroup(t *testing.T) {
	const long = "sessions/project-0123456789abcdef/" + id
	cwd := "/" + strings.Repeat("very long/", 40)
	files := talk.with("../.cwd", cwd+"\n")
	m := plan(t, files.put(t, long))
	if m.found != "summary SIDECAR_MISSING" || !strings.Contains(m.folder[summaryName], `"cwd": "`+cwd+`"`) {
		t.Errorf("%s\n%s", m.found, m.folder[summaryName])
	}
	// The client does not know of the folder either, and the history does.
	told := talk.with(historyName, history("system", `{"type":"user","content":[{"type":"text","text":"<user_info>\nOS Version: linux\nWorkspace Path: /home/a \"b\" é\n</user_info>"}]}`, "user:0:a", "answer:b", "user:1:c", "answer:d"))
	m = plan(t, told.put(t, long))
	if m.found != "summary SIDECAR_MISSING" || !strings.Contains(m.folder[summaryName], `"cwd": "/home/a \"b\" é"`) {
		t.Errorf("%s\n%s", m.found, m.folder[summaryName])
	}
	if m = plan(t, talk.put(t, long)); m.verdict != verify.Refused || m.written != "" {
		t.Errorf("nobody knows the folder: %s %s", m.verdict, m.found)
	}
}

// Where no file says which model answered nothing is made up.
func TestSummaryOfUnknownModel(t *testing.T) {
	files := talk.with(logName, strings.ReplaceAll(talk[logName], `,"modelId":"m"`, "")).with(historyName, strings.ReplaceAll(talk[historyName], `,"model_id":"m"`, ""))
	for name, text := range map[string]string{"missing": "-", "empty": "", "torn": goodSummary[:100]} {
		m := files.with(summaryName, text).mend(t)
		if m.verdict != verify.Refused || m.written != "" || !strings.HasSuffix(m.found, " unknown") {
			t.Errorf("%s: %s, %s", name, m.verdict, m.found)
		}
	}
	// One that is torn behind the model says so itself.
	text := strings.Replace(goodSummary, `"session_summary"`, `"current_model_id":"left","session_summary"`, 1)
	if m := files.with(summaryName, text[:150]).mend(t); m.verdict != verify.Repairable || !strings.Contains(m.folder[summaryName], `"current_model_id": "left"`) {
		t.Errorf("%s, %s", m.verdict, m.found)
	}
	// The model of a prompt will do, but that of an answer is better.
	if m := talk.with(historyName, files[historyName]).mend(t); !strings.Contains(m.folder[summaryName], `"current_model_id": "m"`) {
		t.Errorf("%s, %s", m.verdict, m.found)
	}
}

// The title is the first prompt, as far as a title goes; a fork is known by the ids of its events.
func TestSummaryTells(t *testing.T) {
	long := strings.Repeat("é", 150)
	log := updates(`{"timestamp":5,"method":"session/update","params":{"sessionId":"`+id+`","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"  `+long+`"},"_meta":{"promptIndex":0,"modelId":"chunk"}},"_meta":{"eventId":"01800000-0000-7000-8000-000000000009-4"}}}`, "say:b", "end:end_turn")
	files := folder{logName: log, historyName: `{"role":"system","content":"s"}` + "\n" + `{"role":"user","content":"a"}` + "\n" + `{"role":"assistant","content":"b"}` + "\n"}
	m := files.mend(t)
	for _, want := range []string{`"session_summary": "` + long[:200] + `"`, `"parent_session_id": "01800000-0000-7000-8000-000000000009"`, `"chat_format_version": 0`, `"current_model_id": "chunk"`, `"num_messages": 3`, `"num_chat_messages": 3`} {
		if !strings.Contains(m.folder[summaryName], want) {
			t.Errorf("%s is not in it:\n%s", want, m.folder[summaryName])
		}
	}
}

// The counters grow by what a repair adds; of what the client counted itself nobody knows better.
func TestSummaryCounters(t *testing.T) {
	files := folder{
		logName: updates("user:0:a", "say:b", "call:c1"), historyName: history("system", "user:0:a", "asks:b:c1"), eventsName: events("turn", "loop", "tool"),
		summaryName: strings.Replace(goodSummary, `"num_messages":1,`, `"num_messages":3,"num_chat_messages": 3,`, 1),
	}
	m := files.mend(t)
	if want := strings.Replace(goodSummary, `"num_messages":1,`, `"num_messages":5,"num_chat_messages": 4,`, 1); m.folder[summaryName] != want {
		t.Errorf("%s", m.folder[summaryName])
	}
	files[summaryName] = strings.Replace(goodSummary, `"num_messages":1,`, `"num_messages":70,"num_chat_messages":1,`, 1)
	if m = files.mend(t); !strings.Contains(m.folder[summaryName], `"num_messages":70,"num_chat_messages":4,`) {
		t.Errorf("%s", m.folder[summaryName])
	}
	// Counters that are wrong by themselves are left.
	if m = talk.with(summaryName, goodSummary).mend(t); m.verdict != verify.Clean {
		t.Errorf("%s", m.found)
	}
}
