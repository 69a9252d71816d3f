package grok_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/grok"
)

// files are the folder as a file system.
func (f folder) files() fstest.MapFS {
	m := fstest.MapFS{}
	for name, text := range f {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

// source is one file of a folder.
func (f folder) source(name string) format.Source {
	return format.Source{Path: name, Dir: f.files(), Records: func() iter.Seq2[format.Line, error] {
		return func(yield func(format.Line, error) bool) {
			n := int64(0)
			for line := range strings.Lines(f[name]) {
				if !yield(format.Line{Raw: []byte(strings.TrimSuffix(line, "\n")), N: n}, nil) {
					return
				}
				n++
			}
		}
	}}
}

// sheet takes what a stage makes.
type sheet struct {
	lines []string
	from  []int64
	notes []string
}

func (s *sheet) Put(l format.Line) error {
	s.lines, s.from = append(s.lines, string(l.Raw)), append(s.from, l.N)
	return nil
}
func (s *sheet) Drop(n int64, why string) {
	s.notes = append(s.notes, fmt.Sprintf("drop %d: %s", n, why))
}
func (s *sheet) Note(n int64, text string) { s.notes = append(s.notes, fmt.Sprintf("%d: %s", n, text)) }

// text is the file that the lines are.
func (s *sheet) text() string {
	if len(s.lines) == 0 {
		return ""
	}
	return strings.Join(s.lines, "\n") + "\n"
}

// step runs the one that a file has.
func (f folder) step(name string) (*sheet, error) {
	s := f.source(name)
	out := &sheet{}
	for _, u := range (grok.Format{}).Upgrades() {
		if u.Part != name {
			continue
		}
		stage, err := u.Begin(s)
		if err != nil {
			return nil, err
		}
		for l, err := range s.Records() {
			if err != nil {
				return nil, err
			}
			raw := bytes.Clone(l.Raw)
			if err := stage.Record(l, out); err != nil {
				return nil, err
			}
			if !bytes.Equal(raw, l.Raw) {
				return nil, errors.New("the stage wrote into a record of the source")
			}
			clear(l.Raw) // it is valid no longer
		}
		if err := stage.End(out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// upgraded is a folder with all its steps taken, twice, which must be as once.
func (f folder) upgraded(t *testing.T) folder {
	t.Helper()
	for range 2 {
		out := f
		for _, u := range (grok.Format{}).Upgrades() {
			if _, ok := f[u.Part]; !ok {
				continue
			}
			age, err := (grok.Format{}).Age(f.source(u.Part))
			if err != nil {
				t.Fatal(u.Part, err)
			}
			s, err := f.step(u.Part)
			if err != nil {
				t.Fatal(u.Part, err)
			}
			if (age == u.From) != (s.text() != f[u.Part] && s.text() != f[u.Part]+"\n") {
				t.Errorf("%s is said to be of generation %s, and the step makes of it\n%s", u.Part, age, s.text())
			}
			if age == u.From {
				out = out.with(u.Part, s.text())
			}
		}
		if out2 := out; !slices.Equal(out.names(), f.names()) {
			t.Errorf("files %v became %v", f.names(), out2.names())
		}
		f = out
	}
	for name := range f {
		if age, err := (grok.Format{}).Age(f.source(name)); err != nil || age != "1" {
			t.Errorf("after its step %s is of generation %s, %v", name, age, err)
		}
	}
	return f
}

func (f folder) names() []string {
	var names []string
	for name := range f {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func TestUpgradeLog(t *testing.T) {
	const bare = `{"sessionId":"s","update":{"sessionUpdate":"x" , "n":1.0},"_meta":{"agentTimestampMs":%s}}`
	for _, c := range []struct{ name, log, want string }{
		{"bare", fmt.Sprintf(bare, "1999"), `{"timestamp":1,"method":"session/update","params":` + fmt.Sprintf(bare, "1999") + `}`},
		{"none goes back in time", fmt.Sprintf(bare, "5000") + "\n" + fmt.Sprintf(bare, "2000"),
			`{"timestamp":5,"method":"session/update","params":` + fmt.Sprintf(bare, "5000") + "}\n" + `{"timestamp":5,"method":"session/update","params":` + fmt.Sprintf(bare, "2000") + `}`},
		{"behind one with an envelope", `{"timestamp":7,"method":"_x.ai/session/update","params":{}}` + "\n" + fmt.Sprintf(bare, "2000"),
			`{"timestamp":7,"method":"_x.ai/session/update","params":{}}` + "\n" + `{"timestamp":7,"method":"session/update","params":` + fmt.Sprintf(bare, "2000") + `}`},
		{"before the epoch", fmt.Sprintf(bare, "-5000"), `{"timestamp":0,"method":"session/update","params":` + fmt.Sprintf(bare, "-5000") + `}`},
		{"a time that is no number", fmt.Sprintf(bare, `"x"`), `{"timestamp":0,"method":"session/update","params":` + fmt.Sprintf(bare, `"x"`) + `}`},
		{"one that is too long", fmt.Sprintf(bare, `99999999999999999999`), `{"timestamp":0,"method":"session/update","params":` + fmt.Sprintf(bare, `99999999999999999999`) + `}`},
		{"without a time", `{"sessionId":"s","update":{}}`, `{"timestamp":0,"method":"session/update","params":{"sessionId":"s","update":{}}}`},
		{"twice named members stay", `{"sessionId":"s","sessionId":"t","update":{},"x":[1e400]}`, `{"timestamp":0,"method":"session/update","params":{"sessionId":"s","sessionId":"t","update":{},"x":[1e400]}}`},
	} {
		got := folder{logName: c.log + "\n"}.upgraded(t)
		if got[logName] != c.want+"\n" {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got[logName], c.want)
		}
	}
}

// A call on bare lines that the log tells no end of gets one: from the history, or, where nothing follows, of what is known.
func TestUpgradeEnds(t *testing.T) {
	line := func(n int, update string) string {
		return fmt.Sprintf(`{"sessionId":"%s","update":{"sessionUpdate":%s},"_meta":{"eventId":"%s-%d","agentTimestampMs":%d000}}`, id, update, id, n, n) + "\n"
	}
	say := func(n int, kind, text string) string {
		return line(n, `"`+kind+`","content":{"type":"text","text":"`+text+`"}`)
	}
	call := func(n int, c string) string {
		return line(n, `"tool_call","toolCallId":"`+c+`","title":"run","rawInput":{}`)
	}
	done := func(n int, c string) string {
		return line(n, `"tool_call_update","toolCallId":"`+c+`","status":"completed"`)
	}
	prompt := func(n int) string { return say(n, "user_message_chunk", "a") }
	bare := func(words ...string) string {
		out := `{"role":"system","content":"s"}` + "\n"
		for _, w := range words {
			kind, c, _ := strings.Cut(w, ":")
			c, text, _ := strings.Cut(c, ":")
			switch kind {
			case "user":
				out += `{"role":"user","content":"<user_query>\na\n</user_query>"}`
			case "asks":
				out += `{"role":"assistant","content":"","tool_calls":[{"id":"` + c + `","type":"function","function":{"name":"run","arguments":"{}"}}]}`
			case "result":
				out += `{"role":"tool","tool_call_id":"` + c + `","content":"` + text + `"}`
			case "answer":
				out += `{"role":"assistant","content":"` + c + `"}`
			}
			out += "\n"
		}
		return out
	}
	summary := strings.Replace(goodSummary, `,"chat_format_version":1`, `,"num_chat_messages":1`, 1)
	for _, c := range []struct{ name, log, history, want string }{
		{"all have one", prompt(1) + call(2, "c1") + done(3, "c1") + say(4, "agent_message_chunk", "b"), bare("user", "asks:c1", "result:c1:r", "answer:b"), ""},
		{"in front of a prompt", prompt(1) + call(2, "c1") + say(3, "agent_message_chunk", "b") + prompt(4) + say(5, "agent_message_chunk", "d"), bare("user", "asks:c1", "result:c1:r", "answer:b", "user", "answer:d"), "3 completed c1 r FROM_CHAT_HISTORY"},
		{"one that gave nothing", prompt(1) + call(2, "c1") + prompt(4) + say(5, "agent_message_chunk", "d"), bare("user", "asks:c1", "result:c1:Tool execution was cancelled by the user (tool `run` was not executed).", "user", "answer:d"), ""},
		{"at the end", prompt(1) + call(2, "c1") + say(3, "agent_message_chunk", "b"), bare("user", "asks:c1", "result:c1:r", "answer:b"), "3 completed c1 r FROM_CHAT_HISTORY"},
		{"what a repair said", prompt(1) + call(2, "c1"), bare("user", "asks:c1", "result:c1:TOOL_OUTCOME_UNKNOWN: x", "answer:b"), "2 failed c1 TOOL_OUTCOME_UNKNOWN: x TOOL_OUTCOME_UNKNOWN"},
	} {
		f := folder{logName: c.log, historyName: c.history, summaryName: summary}
		now := f.upgraded(t)
		now.clean(t, place)
		var got []string
		for n, l := range strings.Split(strings.TrimSpace(now[logName]), "\n") {
			var v struct {
				Params struct {
					Update struct {
						Call    string `json:"toolCallId"`
						Status  string
						Content json.RawMessage
					}
					Meta struct {
						Event string                     `json:"eventId"`
						Made  struct{ Synthetic string } `json:"sessfix"`
					} `json:"_meta"`
				}
			}
			if err := json.Unmarshal([]byte(l), &v); err != nil {
				t.Fatal(err)
			}
			if u := v.Params.Update; v.Params.Meta.Made.Synthetic != "" {
				var said []struct{ Content struct{ Text string } }
				json.Unmarshal(u.Content, &said)
				got = append(got, fmt.Sprint(n, " ", u.Status, " ", u.Call, " ", said[0].Content.Text, " ", v.Params.Meta.Made.Synthetic))
				if !strings.HasPrefix(v.Params.Meta.Event, id+"-") {
					t.Errorf("%s: %s", c.name, l)
				}
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q\n%s", c.name, got, c.want, now[logName])
		}
	}
}

// Each line of the history, and what becomes of it; lines that are several are told one under the other.
func TestUpgradeHistory(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"system", `{"role":"system","content":"s"}`, `{"type":"system","content":"s"}`},
		{"words", `{ "role" : "user", "content":"\u00e9 <", "name":"n","x":1.0}`, `{ "type" : "user", "content":[{"type":"text","text":"\u00e9 <"}], "name":"n","x":1.0}`},
		{"members in another order", `{"content":"a","role":"user"}`, `{"content":[{"type":"text","text":"a"}],"type":"user"}`},
		{"an image", `{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:,","detail":"low"}}]}`,
			`{"type":"user","content":[{"type":"text","text":"a"},{"type":"image","url":"data:,","detail":"low"}]}`},
		{"an image that is its address", `{"role":"user","content":[{"image_url":"data:,","type":"image_url"}]}`, `{"type":"user","content":[{"url":"data:,","type":"image"}]}`},
		{"no words", `{"role":"user","content":null}`, `{"type":"user","content":[]}`},
		{"an answer", `{"role":"assistant","content":"a","model_id":"m","refusal":null}`, `{"type":"assistant","content":"a","model_id":"m","refusal":null}`},
		{"an answer without words", `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}`,
			`{"type":"assistant","content":"","tool_calls":[{"id":"c","name":"f","arguments":"{}"}]}`},
		{"one that says nothing at all", `{"role":"assistant"}`, `{"type":"assistant","content":""}`},
		{"an answer in parts", `{"role":"assistant","content":[{"type":"text","text":"a\n"},{"type":"text","text":"\u0041"}],"tool_calls":null}`, `{"type":"assistant","content":"a\n\n\u0041"}`},
		{"a call with more", `{"role":"assistant","content":"","tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":1}","strict":true}, "y":2}]}`,
			`{"type":"assistant","content":"","tool_calls":[{"index":0,"id":"c","name":"f","arguments":"{\"a\":1}","strict":true, "y":2}]}`},
		{"arguments that are no text", `{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{"a": 1.0}}}]}`,
			`{"type":"assistant","content":"","tool_calls":[{"name":"f","arguments":"{\"a\":1.0}","id":""}]}`},
		{"a call as it is now", `{"role":"assistant","content":"","tool_calls":[{"id":"c","name":"f"}]}`, `{"type":"assistant","content":"","tool_calls":[{"id":"c","name":"f","arguments":"{}"}]}`},
		{"thoughts", `{"role":"assistant","reasoning_content":"t\u0022","content":"a"}`,
			`{"type":"reasoning","id":"","summary":[{"type":"summary_text","text":"t\u0022"}]}` + "\n" + `{"type":"assistant","content":"a"}`},
		{"no thoughts", `{"role":"assistant","reasoning_content":"","content":"a"}`, `{"type":"assistant","reasoning_content":"","content":"a"}`},
		{"a result", `{"role":"tool","tool_call_id":"c","content":"r"}`, `{"type":"tool_result","tool_call_id":"c","content":"r"}`},
		{"a result in parts", `{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"image_url","image_url":{"url":"u"}}]}`,
			`{"type":"tool_result","tool_call_id":"c","content":"a\nb","images":[{"type":"image","url":"u"}]}`},
		{"a result of no call", `{"role":"tool","content":null}`, `{"type":"tool_result","content":"","tool_call_id":""}`},
		{"a type of its own", `{"type":"message","role":"assistant","content":"a"}`, `{"type":"assistant","role":"assistant","content":"a"}`},
		{"as it is now", `{"type":"user","content":[{"type":"text","text":"a"}],"prompt_index":0}`, `{"type":"user","content":[{"type":"text","text":"a"}],"prompt_index":0}`},
		{"of a later client", `{"type":"later","x":1}`, `{"type":"later","x":1}`},
		{"thoughts in an item", `{"type":"assistant","content":"a","reasoning":{"text":"t","encrypted":"e","id":"r","y":1},"model_id":"m"}`,
			`{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"t"}],"encrypted_content":"e","y":1}` + "\n" + `{"type":"assistant","content":"a","model_id":"m"}`},
		{"secret thoughts alone", `{"type":"assistant","reasoning":{"encrypted":"e"},"content":"a"}`, `{"type":"reasoning","id":"","summary":[],"encrypted_content":"e"}` + "\n" + `{"type":"assistant","content":"a"}`},
		{"no thoughts in an item", `{"type":"assistant","reasoning":{"text":""},"content":"a"}`, `{"type":"assistant","reasoning":{"text":""},"content":"a"}`},
		{"what the provider gave", `{"type":"assistant","content":"a","raw_output":[{"type":"reasoning","id":"r","summary":[],"z":0},{"type":"web_search_call","id":"w","status":"completed","action":{"type":"search","query":"q"}}]}`,
			`{"type":"reasoning","id":"r","summary":[],"z":0}` + "\n" + `{"type":"backend_tool_call","kind":{"tool_type":"web_search","id":"w","status":"completed","action":{"type":"search","query":"q"}}}` + "\n" + `{"type":"assistant","content":"a"}`},
		{"and what the answer holds already", `{"type":"assistant","content":"a","raw_output":[{"type":"message","id":"m"},{"type":"custom_tool_call","id":"x","call_id":"y","name":"x_search","input":"i"}],"reasoning":{"text":"t"}}`,
			`{"type":"backend_tool_call","kind":{"tool_type":"x_search","id":"x","call_id":"y","name":"x_search","input":"i"}}` + "\n" + `{"type":"assistant","content":"a","raw_output":[{"type":"message","id":"m"}],"reasoning":{"text":"t"}}`},
		{"and thoughts beside it", `{"type":"assistant","content":"a","raw_output":[{"type":"reasoning","id":"r","summary":[]}],"reasoning":{"text":"t"}}`,
			`{"type":"reasoning","id":"r","summary":[]}` + "\n" + `{"type":"assistant","content":"a","raw_output":[],"reasoning":{"text":"t"}}`},
		{"what no client could read", `{"type":"assistant","content":"a","raw_output":[{"type":"reasoning"},{"type":"code_interpreter_call","id":"i"},5]}`,
			`{"type":"assistant","content":"a","raw_output":[{"type":"reasoning"},{"type":"code_interpreter_call","id":"i"},5]}`},
	} {
		got := folder{historyName: c.line + "\n"}.upgraded(t)
		if got[historyName] != c.want+"\n" {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got[historyName], c.want)
		}
		for line := range strings.Lines(got[historyName]) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: no JSON: %s", c.name, line)
			}
		}
	}
}

// A call that the provider ran is told once.
func TestUpgradeOnce(t *testing.T) {
	const search = `{"type":"web_search_call","id":"w","status":"completed","action":{}}`
	const item = `{"type":"backend_tool_call","kind":{"tool_type":"web_search","id":"w","status":"completed","action":{}}}` + "\n"
	const answer = `{"type":"assistant","content":"a","raw_output":[` + search + `]}` + "\n"
	const bare = `{"type":"assistant","content":"a"}` + "\n"
	if got := (folder{historyName: item + answer}).upgraded(t)[historyName]; got != item+bare {
		t.Errorf("an item stands there: %s", got)
	}
	if got := (folder{historyName: answer + answer}).upgraded(t)[historyName]; got != item+bare+bare {
		t.Errorf("two answers: %s", got)
	}
}

func TestUpgradeSummary(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"none", "{\n  \"info\": {},\n  \"x\": 1.0\n}", "{\n  \"info\": {},\n  \"x\": 1.0,\n  \"chat_format_version\": 1\n}"},
		{"zero", `{"chat_format_version":0,"num_chat_messages":3}`, `{"chat_format_version":1,"num_chat_messages":2}`},
		{"null", `{"chat_format_version" : null , "a":1}`, `{"chat_format_version" : 1 , "a":1}`},
		{"empty", `{ }`, `{"chat_format_version":1 }`},
		{"one", `{"chat_format_version":1,"num_chat_messages":3}`, `{"chat_format_version":1,"num_chat_messages":3}`},
	} {
		f := folder{summaryName: c.text, historyName: `{"role":"assistant","content":"a","reasoning_content":"t"}` + "\n"}
		if got := strings.TrimSuffix(f.upgraded(t)[summaryName], "\n"); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestUpgradePoints(t *testing.T) {
	const head = `{"prompt_index":0,"created_at":"t",`
	for _, c := range []struct{ name, cwd, line, want string }{
		{"in the folder", "/w", `"file_snapshots":{"/w/a/b":{"path":"/w/a/b","content":"\u00e9","n":1.0}},"after_snapshots":{}}`, `"file_snapshots":{"a/b":{"path":"a/b","content":"\u00e9","n":1.0}},"after_snapshots":{}}`},
		{"behind", "/w", `"after_snapshots":{"x":{"path":"x"},"/w/a":{"path":"/w/a","content":null}}}`, `"after_snapshots":{"x":{"path":"x"},"a":{"path":"a","content":null}}}`},
		{"elsewhere", "/w", `"file_snapshots":{"/ww/a":{"path":"/ww/a"},"/w":{},"/w/":{},"/w/../a":{}}}`, ""},
		{"taken", "/w", `"file_snapshots":{"/w/a":{"path":"/w/a"},"a":{"path":"a"}}}`, ""},
		{"twice", "/w", `"file_snapshots":{"/w/a":{},"/w//a":{}}}`, `"file_snapshots":{"a":{},"/w//a":{}}}`},
		{"the root", "/", `"file_snapshots":{"/a":{}}}`, `"file_snapshots":{"a":{}}}`},
		{"Windows", `C:\w`, `"file_snapshots":{"C:\\w\\a":{"path":"C:\\w\\a"},"C:\\wa":{}}}`, `"file_snapshots":{"a":{"path":"a"},"C:\\wa":{}}}`},
		{"a backslash in a name", "/w", `"file_snapshots":{"/w\\a":{}}}`, ""},
		{"no folder", "", `"file_snapshots":{"/w/a":{}}}`, ""},
	} {
		if c.want == "" {
			c.want = c.line
		}
		cwd, _ := json.Marshal(c.cwd)
		f := folder{"rewind_points.jsonl": head + c.line + "\n", summaryName: `{"info":{"id":"s","cwd":` + string(cwd) + `},"chat_format_version":1}`}
		if got := f.upgraded(t)["rewind_points.jsonl"]; got != head+c.want+"\n" {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// What cannot be brought over is refused, with its record.
func TestUpgradeRefused(t *testing.T) {
	healthy := folder{logName: updates("user:0:a", "end:end_turn"), historyName: history("system"), summaryName: goodSummary}
	user := `{"role":"user","content":"a"}` + "\n"
	for _, c := range []struct {
		name, part string
		folder     folder
		n          int64
		why        string
	}{
		{"a line of the log of no form", logName, healthy.with(logName, updates("user:0:a")+`{"x":1}`+"\n"), 1, "neither"},
		{"a bare line without an update", logName, healthy.with(logName, `{"sessionId":"s","update":5}`+"\n"), 0, "neither"},
		{"a line of the history of no form", historyName, healthy.with(historyName, user+`{"x":1}`+"\n"), 1, "neither"},
		{"a role that no client knows", historyName, healthy.with(historyName, `{"role":"developer","content":"a"}`+"\n"), 0, "neither"},
		{"a part that no item has", historyName, healthy.with(historyName, user+user+`{"role":"user","content":[{"type":"input_audio"}]}`+"\n"), 2, `"input_audio"`},
		{"an answer with an image", historyName, healthy.with(historyName, `{"role":"assistant","content":[{"type":"image_url","image_url":{"url":"u"}}]}`+"\n"), 0, "image"},
		{"content that is a number", historyName, healthy.with(historyName, `{"role":"tool","content":5}`+"\n"), 0, "neither text"},
		{"a call without a name", historyName, healthy.with(historyName, `{"role":"assistant","content":"","tool_calls":[{"id":"c","function":{}}]}`+"\n"), 0, "name"},
		{"a later history", summaryName, healthy.with(summaryName, `{"chat_format_version":2}`), -1, "version"},
		{"a later history, and its log", logName, healthy.with(summaryName, `{"chat_format_version":2}`), -1, "version"},
		{"a later compaction", historyName, healthy.with("compaction_checkpoints/k.json", `{"schema_version":2}`), -1, "k.json"},
		{"a later workflow", logName, healthy.with("workflows/r/state.json", `{"version":5}`), -1, "workflows/r/state.json"},
	} {
		_, err := c.folder.step(c.part)
		var no *format.RefusedError
		if !errors.As(err, &no) || no.N != c.n || !strings.Contains(no.Why, c.why) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	var later *format.VersionError
	if _, err := (grok.Format{}).Age(folder{summaryName: `{"chat_format_version":2}`}.source(summaryName)); !errors.As(err, &later) || !later.Newer {
		t.Errorf("a later history is of generation %v", err)
	}
}

// A session that the client is moving is left alone.
func TestUpgradeMoving(t *testing.T) {
	for phase, ok := range map[string]bool{"prepared": false, "staged": false, "target_published": false, "ready": false, "committed": true, "rolled_back": true, "": true} {
		dir := folder{logName: updates("user:0:a"), summaryName: goodSummary}.put(t, place)
		if phase != "" {
			home := filepath.Dir(filepath.Dir(filepath.Dir(dir)))
			os.MkdirAll(filepath.Join(home, "relocations"), 0o700)
			if err := os.WriteFile(filepath.Join(home, "relocations", id+".json"), []byte(`{"version":1,"phase":"`+phase+`"}`), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := (grok.Format{}).Upgrades()[0].Begin(format.Source{Path: filepath.Join(dir, logName), Dir: os.DirFS(dir)})
		if (err == nil) != ok {
			t.Errorf("%q: %v", phase, err)
		}
	}
}

// Whatever a line is, a step takes it or refuses it: it makes whole records, and a second run changes nothing.
func FuzzUpgrade(f *testing.F) {
	for _, line := range []string{
		`{"role":"assistant","content":[{"type":"text","text":"a"}],"tool_calls":[{"function":{"name":"f","arguments":{}}}],"reasoning_content":"t"}`,
		`{"type":"assistant","content":"a","raw_output":[{"type":"reasoning","id":"r","summary":[]}],"reasoning":{"text":"t"}}`,
		`{"sessionId":"s","update":{},"_meta":{"agentTimestampMs":1}}`, `{"role":"user","content":[{"type":"image_url","image_url":{}}]}`,
		`{"prompt_index":0,"file_snapshots":{"/w/a":{"path":"/w/a"}}}`, `{"role":"tool","role":"user","type":5}`, ` { } `, `{"a":{"b":[{}]}}`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.ContainsAny(line, "\n") {
			return
		}
		for _, part := range []string{logName, historyName, "rewind_points.jsonl", summaryName} {
			x := folder{part: line + "\n"}
			if part != summaryName {
				x[summaryName] = goodSummary
			}
			s, err := x.step(part)
			if err != nil {
				var no *format.RefusedError
				if !errors.As(err, &no) {
					t.Fatal(err)
				}
				continue
			}
			for _, l := range s.lines {
				if !json.Valid([]byte(l)) && json.Valid([]byte(line)) {
					t.Fatalf("%s: %q became %q", part, line, l)
				}
			}
			x[part] = s.text()
			if again, err := x.step(part); err != nil || again.text() != s.text() {
				t.Fatalf("%s: %q became %q, and then %+v, %v", part, line, s.text(), again, err)
			}
		}
	})
}
