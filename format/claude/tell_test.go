package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

func tell(line string) []format.Message {
	return dialect{}.NewTelling(format.Place{}).Tell(&session.Record{Raw: []byte(line)}, nil)
}

// What each kind of record says. Every line has the id u and a time, which the messages must have too.
func TestTell(t *testing.T) {
	const noon = 1767355445678
	line := func(typ, more string) string {
		return `{"type":"` + typ + `","uuid":"u","timestamp":"2026-01-02T12:04:05.678Z",` + more + `}`
	}
	user := func(content, more string) string {
		return line("user", `"message":{"role":"user","content":`+content+`}`+more)
	}
	answer := func(content, more string) string {
		return line("assistant", `"message":{"id":"m","model":"fir","content":`+content+`}`+more)
	}
	system := func(kind, more string) string {
		return line("system", `"subtype":"`+kind+`"`+more)
	}
	attached := func(a, more string) string {
		return line("attachment", `"attachment":`+a+more)
	}
	text := func(s string) format.Block { return format.Block{Kind: format.Text, Text: s} }
	one := func(m format.Message, blocks ...format.Block) []format.Message {
		m.ID, m.Time, m.Blocks = "u", noon, blocks
		return []format.Message{m}
	}
	said := func(blocks ...format.Block) []format.Message {
		return one(format.Message{Role: format.User}, blocks...)
	}
	gave := func(blocks ...format.Block) []format.Message {
		return one(format.Message{Role: format.Tool}, blocks...)
	}
	answered := func(blocks ...format.Block) []format.Message {
		return one(format.Message{Role: format.Assistant, Model: "fir"}, blocks...)
	}
	noted := func(title, s string) []format.Message {
		return one(format.Message{For: format.PeopleOnly, Title: title}, text(s))
	}
	hidden := func(role format.Role, title string, blocks ...format.Block) []format.Message {
		return one(format.Message{Role: role, For: format.ModelOnly, Title: title}, blocks...)
	}
	result := func(s string) format.Block { return format.Block{Kind: format.Result, ID: "c", Text: s} }
	for _, c := range []struct {
		name, line string
		want       []format.Message
	}{
		{"user", user(`"hello \"you\"\n\ud83d\ude00"`, ""), said(text("hello \"you\"\n\U0001F600"))},
		{"half a pair", user(`"a\ud83d"`, ""), said(text("a\uFFFD"))},
		{"bad UTF-8", user("\"a\xff\"", ""), said(text("a\uFFFD"))},
		{"blank", user(`" \n"`, ""), nil},
		{"no content", user(`null`, ""), nil},
		{"no message", line("user", `"message":7`), nil},
		{"blocks", user(`[{"type":"text","text":"a"},{"type":"text","text":""},{"type":"text","text":"b"},7,"c",null]`, ""), said(text("a"), text("b"))},
		{"hidden", user(`"x"`, `,"isMeta":true`), hidden(format.User, "", text("x"))},
		{"summary", user(`"x"`, `,"isCompactSummary":true,"isVisibleInTranscriptOnly":true`), one(format.Message{Role: format.User, Stands: true}, text("x"))},
		{"image", user(`[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]`, ""),
			said(format.Block{Kind: format.Image, Media: "image/png", Data: "AA=="})},
		{"image elsewhere", user(`[{"type":"image","source":{"type":"url","url":"http://a/b"}}]`, ""), said(format.Block{Kind: format.Image, URL: "http://a/b"})},
		{"image of a file", user(`[{"type":"image","source":{"type":"file","file_id":"f_1"}}]`, ""), said(format.Block{Kind: format.Other, Text: "image f_1"})},
		{"document", user(`[{"type":"document","title":"plan","source":{"type":"base64","media_type":"application/pdf","data":"AA=="}}]`, ""),
			said(format.Block{Kind: format.File, Text: "plan", Media: "application/pdf", Data: "AA=="})},
		{"text document", user(`[{"type":"document","title":"note","source":{"type":"text","media_type":"text/plain","data":"hi"}}]`, ""),
			said(format.Block{Kind: format.File, Text: "hi", Name: "note", Media: "text/plain"})},
		{"strange block", user(`[{"type":"hologram","name":"n"}]`, ""), said(format.Block{Kind: format.Other, Text: "hologram n", Name: "n"})},

		{"answer", answer(`[{"type":"text","text":"x"}]`, ""), answered(text("x"))},
		{"answer as text", answer(`"x"`, ""), answered(text("x"))},
		{"blank answer", answer(`[{"type":"text","text":" "}]`, ""), nil},
		{"thinking", answer(`[{"type":"thinking","thinking":"t","signature":"s"}]`, ""), answered(format.Block{Kind: format.Thinking, Text: "t", Signature: "s"})},
		{"hollow thinking", answer(`[{"type":"thinking","thinking":"","signature":"s"}]`, ""), answered(format.Block{Kind: format.Thinking, Signature: "s"})},
		{"sealed thinking", answer(`[{"type":"redacted_thinking","data":"AA=="}]`, ""), answered(format.Block{Kind: format.Thinking, Data: "AA==", Sealed: true})},
		{"calls", answer(`[{"type":"tool_use","id":"c","name":"n","input":{"a" : 1.0,"a":"\u00e9"}},{"type":"tool_use","id":"d","name":"n","input":"torn"},{"type":"tool_use","id":"e","name":"n"}]`, ""),
			answered(format.Block{Kind: format.Call, ID: "c", Name: "n", Input: []byte(`{"a" : 1.0,"a":"\u00e9"}`)},
				format.Block{Kind: format.Call, ID: "d", Name: "n", Input: []byte(`"torn"`)}, format.Block{Kind: format.Call, ID: "e", Name: "n"})},
		{"the provider's tool", answer(`[{"type":"server_tool_use","id":"c","name":"web_search","input":{}}]`, ""),
			answered(format.Block{Kind: format.Other, Text: "server_tool_use web_search", ID: "c", Name: "web_search"})},
		{"the client's answer", line("assistant", `"message":{"model":"<synthetic>","content":[{"type":"text","text":"x"}]}`), one(format.Message{Role: format.Assistant}, text("x"))},
		{"error", line("assistant", `"isApiErrorMessage":true,"message":{"model":"<synthetic>","content":[{"type":"text","text":"x"}]}`), noted("API error", "x")},

		{"result", user(`[{"type":"tool_result","tool_use_id":"c","content":"x","is_error":false}]`, `,"toolUseResult":{"stdout":"y"}`), gave(result("x"))},
		{"empty results", user(`[{"type":"tool_result","tool_use_id":"c"},{"type":"tool_result","tool_use_id":"c","content":[]}]`, ""), gave(result(""), result(""))},
		{"result of one text", user(`[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"x"}]}]`, ""), gave(result("x"))},
		{"mixed result", user(`[{"type":"tool_result","tool_use_id":"c","is_error":true,"content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}},{"type":"tool_result","tool_use_id":"d"}]}]`, ""),
			gave(format.Block{Kind: format.Result, ID: "c", Failed: true, Content: []format.Block{text("x"),
				{Kind: format.Image, Media: "image/png", Data: "AA=="}, {Kind: format.Other, Text: "tool_result"}}})},
		{"the client's result", user(`[{"type":"tool_result","tool_use_id":"c","content":"x","is_error":true}]`, `,"toolDenialKind":"interrupted"`),
			gave(format.Block{Kind: format.Result, ID: "c", Text: "x", Failed: true, MadeUp: true})},
		{"denied", user(`[{"type":"tool_result","tool_use_id":"c","content":"x","is_error":true}]`, `,"toolDenialKind":"user-rejected"`),
			gave(format.Block{Kind: format.Result, ID: "c", Text: "x", Failed: true})},
		{"interrupted", user(`[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"[Tool call interrupted: x"}]}]`, ""),
			gave(format.Block{Kind: format.Result, ID: "c", Text: "[Tool call interrupted: x", MadeUp: true})},

		{"command", system("local_command", `,"content":"<local-command-stdout>x</local-command-stdout>","isMeta":false`), said(text("<local-command-stdout>x</local-command-stdout>"))},
		{"border", system("compact_boundary", `,"content":"Compacted","compactMetadata":{}`), noted("compaction", "Compacted")},
		{"retry", system("api_error", `,"error":{"status":529,"error":{"type":"error","error":{"message":"busy"}}}`), noted("API error", "529 busy")},
		{"broken line", system("api_error", `,"error":{}`), noted("API error", "no answer came")},
		{"hooks", system("stop_hook_summary", `,"hookErrors":["a",7,"b"],"stopReason":"c"`), noted("stop hook", "a\nb\nc")},
		{"silent hooks", system("stop_hook_summary", `,"hookErrors":[],"stopReason":""`), nil},
		{"time", system("turn_duration", `,"durationMs":7,"content":"x"`), nil},
		{"news", system("away_summary", `,"content":"x"`), noted("away summary", "x")},
		{"plain news", line("system", `"content":"x"`), noted("", "x")},
		{"nothing new", system("bridge_status", ""), nil},

		{"reminder", attached(`{"type":"date","date":"d"}`, `,"renderedRole":"system","rendered":[{"content":"a"},{"content":[{"type":"text","text":"b"}]},7]`),
			hidden(format.System, "date", text("a"), text("b"))},
		{"reminder of the user's", attached(`{"type":"remote_session_change"}`, `,"renderedRole":"user","rendered":[{"content":"a"}]`), hidden(format.User, "remote session change", text("a"))},
		{"queued", attached(`{"type":"queued_command","prompt":"p","commandMode":"prompt"}`, ""), said(text("p"))},
		{"queued and rendered", attached(`{"type":"queued_command","prompt":[{"type":"text","text":"p"}]}`, `,"renderedRole":"system","rendered":[{"content":"they said: p"}]`),
			append(one(format.Message{Role: format.User, For: format.PeopleOnly}, text("p")), hidden(format.System, "queued command", text("they said: p"))...)},
		{"news of a job", attached(`{"type":"queued_command","prompt":"p","commandMode":"task-notification"}`, ""), hidden(format.User, "queued command", text("p"))},
		{"file", attached(`{"type":"file","filename":"f","content":{"type":"text","file":{"filePath":"f","content":"x"}}}`, ""), hidden(format.User, "file", text("x"))},
		{"edited file", attached(`{"type":"edited_text_file","filename":"f","snippet":"x"}`, ""), hidden(format.User, "edited text file", text("x"))},
		{"hook's words", attached(`{"type":"hook_additional_context","content":["a","b",7]}`, ""), hidden(format.User, "hook additional context", text("a"), text("b"))},
		{"critical", attached(`{"type":"critical_system_reminder","content":"x"}`, ""), hidden(format.User, "critical system reminder", text("x"))},
		{"system prompt", attached(`{"type":"prompt_snapshot","systemPrompt":["x"]}`, ""), nil},
		{"strange attachment", attached(`{"type":"hologram","content":"x","prompt":"y"}`, ""), nil},
		{"no attachment", attached(`"x"`, `,"rendered":[{"content":"a"}]`), nil},

		{"progress", line("progress", `"data":{"message":"x"},"content":"x"`), nil},
		{"title", line("summary", `"summary":"x","leafUuid":"l"`), noted("title", "x")},
		{"own title", line("custom-title", `"customTitle":"x","sessionId":"s"`), noted("title", "x")},
		{"model's title", line("ai-title", `"aiTitle":"x","sessionId":"s"`), noted("title", "x")},
		{"waits", line("queue-operation", `"operation":"enqueue","content":"x"`), one(format.Message{For: format.PeopleOnly, Title: "queued", Copy: true}, text("x"))},
		{"waits no more", line("queue-operation", `"operation":"dequeue","content":"x"`), nil},
		{"pointer", line("last-prompt", `"lastPrompt":"x"`), one(format.Message{For: format.PeopleOnly, Title: "unknown"}, format.Block{Kind: format.Other, Text: "a record of type last-prompt"})},
		{"strange", line("hologram", `"content":"x"`), one(format.Message{For: format.PeopleOnly, Title: "unknown"}, format.Block{Kind: format.Other, Text: "a record of type hologram"})},

		{"torn", `{"type":"user","uuid":"u","message":{"content":"x`, nil},
		{"deep", user(strings.Repeat(`[`, 100_000)+strings.Repeat(`]`, 100_000), ""), nil},
		{"deep block", user(`[{"type":"text","text":"x"},{"type":"image","source":`+strings.Repeat(`[`, 9_000)+strings.Repeat(`]`, 9_000)+`}]`, ""),
			said(text("x"), format.Block{Kind: format.Image})},
	} {
		if got := tell(c.line); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %.300s\nsays %+v\nwant %+v", c.name, c.line, got, c.want)
		}
	}
	for _, line := range []string{
		`{"type":"last-prompt","lastPrompt":"x","leafUuid":"l","sessionId":"s"}`, `{"type":"mode","mode":"normal","sessionId":"s"}`,
		`{"type":"file-history-snapshot","messageId":"m","snapshot":{}}`, `{"type":"api-request-blob","hash":"h","message":{"role":"user","content":"x"}}`,
		"", "7", "[]", "null", `"user"`, "{}", `{"type":7}`,
	} {
		if got := tell(line); got != nil {
			t.Errorf("%s says %+v", line, got)
		}
	}
}

// Results and what stands between them keep their order, and a record that compacts stands for the rest but once.
func TestTellOrder(t *testing.T) {
	got := tell(`{"type":"user","uuid":"u","isCompactSummary":true,"message":{"content":[{"type":"tool_result","tool_use_id":"c","content":"1"},` +
		`{"type":"tool_result","tool_use_id":"d","content":"2"},{"type":"text","text":"3"},{"type":"tool_result","tool_use_id":"e","content":"4"}]}}`)
	var have []string
	for _, m := range got {
		have = append(have, fmt.Sprint(m.Role, m.Stands))
		for _, b := range m.Blocks {
			have = append(have, b.Text)
		}
	}
	if s := strings.Join(have, " "); s != "tool true 1 2 user false 3 tool false 4" {
		t.Errorf("%s", s)
	}
}

// Our own closer is known, whatever it stands in.
func TestTellCloser(t *testing.T) {
	c, err := dialect{}.Answer([]byte(asked), nil, session.Call{ID: "call_1"})
	if err != nil {
		t.Fatal(err)
	}
	got := tell(string(c.Line))
	if len(got) != 1 || got[0].Role != format.Tool || len(got[0].Blocks) != 1 {
		t.Fatalf("%+v", got)
	}
	if b := got[0].Blocks[0]; b.ID != "call_1" || b.Text != unknownText || !b.MadeUp || !b.Failed {
		t.Errorf("%+v", b)
	}
	bridge, err := dialect{}.Bridge([]byte(asked), []byte(`{"uuid":"b","sessionId":"s"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := tell(string(bridge)); len(got) != 1 || !got[0].Stands {
		t.Errorf("a summary in the place of a lost one says %+v", got)
	}
}

// Every record of the sessions at hand is told: each block of its content is in a message, in its order, and what is told
// keeps none of the record's memory.
func TestTellSamples(t *testing.T) {
	for _, root := range []string{filepath.Join("..", "..", "testdata", "sessions", "claude-code"), filepath.Join("..", "..", "..", "shared", "oracles", "claude-code", "samples")} {
		if _, err := os.Stat(root); err != nil {
			t.Logf("%s is not here", root)
			continue
		}
		records, blocks := 0, 0
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".jsonl" {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			s, err := scan.New(t.Context(), bytes.NewReader(data), int64(len(data)), scan.Options{Medium: scan.Lines, Framing: dialect{}.Framing()})
			if err != nil {
				return err
			}
			for s.Next() {
				r := s.Record()
				want := contentOf(t, r.Raw)
				got := dialect{}.NewTelling(format.Place{Path: path}).Tell(r, nil)
				before := fmt.Sprintf("%+v", got)
				clear(r.Raw)
				if after := fmt.Sprintf("%+v", got); after != before {
					t.Fatalf("%s:%d: what is told changes with the record", path, r.Line)
				}
				var have []string
				for _, m := range got {
					checkTold(t, m)
					for _, b := range m.Blocks {
						have = append(have, b.Kind.String()+" "+b.ID)
					}
				}
				records++
				blocks += len(want)
				if want != nil && !reflect.DeepEqual(have, want) {
					t.Errorf("%s:%d: told are %q, want %q", path, r.Line, have, want)
				}
			}
			return s.Err()
		})
		if err != nil {
			t.Fatal(err)
		}
		if records < 100 || blocks < 50 {
			t.Errorf("%s: %d records with %d blocks", root, records, blocks)
		}
	}
}

// contentOf are the blocks of a message that say something, as another reader sees them; nil for records of other kinds.
func contentOf(t *testing.T, raw []byte) (out []string) {
	t.Helper()
	var r struct {
		Type    string
		Message struct{ Content any }
	}
	if json.Unmarshal(raw, &r) != nil || r.Type != "user" && r.Type != "assistant" {
		return nil
	}
	if s, ok := r.Message.Content.(string); ok && strings.TrimSpace(s) != "" {
		return []string{"text "}
	}
	list, _ := r.Message.Content.([]any)
	for _, x := range list {
		b := x.(map[string]any)
		if s, ok := b["text"].(string); ok && strings.TrimSpace(s) == "" {
			continue
		}
		kind := map[string]string{"tool_use": "call", "tool_result": "result", "document": "file"}[b["type"].(string)]
		if kind == "" {
			kind = b["type"].(string)
		}
		id, _ := b["id"].(string)
		if kind == "result" {
			id, _ = b["tool_use_id"].(string)
		}
		out = append(out, kind+" "+id)
	}
	return out
}

// checkTold holds what is said against what a Message promises.
func checkTold(t *testing.T, m format.Message) {
	t.Helper()
	if len(m.Blocks) == 0 {
		t.Fatalf("a message says nothing: %+v", m)
	}
	if m.Role == format.Note && m.For != format.PeopleOnly {
		t.Fatalf("a note is for %d", m.For)
	}
	texts := []string{m.Title, m.ID, m.Model}
	var check func(list []format.Block, inside bool)
	check = func(list []format.Block, inside bool) {
		for _, b := range list {
			texts = append(texts, b.Text, b.ID, b.Name, b.Media, b.Data, b.URL, b.Signature)
			if b.Input != nil && (b.Kind != format.Call || !json.Valid(b.Input)) {
				t.Fatalf("the input of a %s is %q", b.Kind, b.Input)
			}
			if (b.Kind == format.Result) != (m.Role == format.Tool && !inside) {
				t.Fatalf("a %s says a %s", m.Role, b.Kind)
			}
			if b.Content != nil && b.Text != "" {
				t.Fatalf("a result is a text and more: %+v", b)
			}
			check(b.Content, true)
		}
	}
	check(m.Blocks, false)
	for _, s := range texts {
		if !utf8.ValidString(s) {
			t.Fatalf("%q is no UTF-8", s)
		}
	}
}

// FuzzTell: no record upsets the telling, and it tells the same again.
func FuzzTell(f *testing.F) {
	f.Add([]byte(asked))
	for _, s := range []string{
		result(`{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"base64","data":"AA=="}}]},{"type":"text","text":"y"}`, `,"isMeta":true`),
		`{"type":"assistant","uuid":"a","message":{"model":"<synthetic>","content":[{"type":"redacted_thinking","data":"AA=="},{"type":"thinking","thinking":"\ud83d","signature":"s"},{"type":"server_tool_use","name":"n"}]}}`,
		`{"type":"system","subtype":"api_error","uuid":"a","error":{"status":529,"error":{"error":{"message":"busy"}}}}`,
		`{"type":"system","subtype":"stop_hook_summary","uuid":"a","hookErrors":["a",[]],"stopReason":"b"}`,
		`{"type":"attachment","uuid":"a","attachment":{"type":"queued_command","prompt":[{"type":"text","text":"p"}]},"rendered":[{"content":"x"}],"renderedRole":"system"}`,
		`{"type":"attachment","uuid":"a","attachment":{"type":"file","content":{"file":{"content":"x"}}}}`,
		`{"type":"user","uuid":"a","message":{"content":[{"type":"document","title":"t","source":{"type":"text","data":"x"}}]}}`,
		`{"type":"hologram","uuid":"a"}`, `{"type":"queue-operation","operation":"enqueue","content":["x"]}`, "{\"type\":\"user\",\"message\":{\"content\":\"\xff\"}}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		raw := bytes.Clone(data)
		got := tell(string(data))
		for _, m := range got {
			checkTold(t, m)
		}
		if again := (telling{}).Tell(&session.Record{Raw: raw}, nil); !reflect.DeepEqual(got, again) {
			t.Fatalf("%q says %+v, and then %+v", data, got, again)
		}
		if !bytes.Equal(raw, data) {
			t.Fatalf("%q is changed", data)
		}
	})
}
