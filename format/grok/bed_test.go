package grok_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/grok"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// folder are the files of a session, by their names in its folder.
type folder map[string]string

const (
	logName     = "updates.jsonl"
	historyName = "chat_history.jsonl"
	eventsName  = "events.jsonl"
	summaryName = "summary.json"
	planName    = "plan.json"
)

// place is where the session of these tests lies in the client's home.
const place = "sessions/%2Fw/01900000-0000-7000-8000-000000000001"

const id = "01900000-0000-7000-8000-000000000001"

// goodSummary is one that the client takes.
const goodSummary = `{"info":{"id":"` + id + `","cwd":"/w"},"session_summary":"t","created_at":"2024-06-13T00:00:00Z","updated_at":"2024-06-13T00:00:00Z","num_messages":1,"current_model_id":"m","chat_format_version":1}`

// with is the same folder with one file that is another, or none where the text is "-".
func (f folder) with(name, text string) folder {
	out := maps.Clone(f)
	if out[name] = text; text == "-" {
		delete(out, name)
	}
	return out
}

// put writes the folder below a fresh home, and gives its path.
func (f folder) put(t *testing.T, at string) (dir string) {
	t.Helper()
	root := t.TempDir()
	past := time.Now().Add(-time.Hour)
	for name, text := range f {
		path := filepath.Join(root, filepath.FromSlash(at), filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		os.Chtimes(path, past, past)
	}
	return filepath.Join(root, filepath.FromSlash(at))
}

// mended is what a repair makes of a folder.
type mended struct {
	folder
	found   string // what is damaged, file by file: "updates OPEN_TURN tail, …"
	notes   string // what is only worth a word
	verdict verify.Verdict
	written string // which files are
}

// mend repairs a folder in its place, and again, which must change nothing.
func (f folder) mend(t *testing.T) mended {
	t.Helper()
	dir := f.put(t, place)
	m := plan(t, dir)
	if m.verdict != verify.Repairable {
		return m
	}
	for name := range strings.FieldsSeq(m.written) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(m.folder[name]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if again := plan(t, dir); again.verdict != verify.Clean {
		t.Errorf("a second repair finds %s", again.found)
	}
	return m
}

// plan works out a repair, and writes nothing.
func plan(t *testing.T, dir string) mended {
	t.Helper()
	found, err := store.Open(t.Context(), []string{dir}, store.Options{Formats: []format.Format{grok.Format{}}})
	if err != nil {
		t.Fatal(err)
	}
	groups := found.Groups()
	if len(groups) != 1 {
		t.Fatalf("%d sessions, %v", len(groups), found.Troubles)
	}
	outs, err := repair.Parts(t.Context(), groups[0], repair.Options{DryRun: true})
	m := mended{folder: folder{}}
	var damage, notes, written []string
	for i, o := range outs {
		name := filepath.Base(groups[0][i].Path)
		data, e := os.ReadFile(groups[0][i].Path)
		if e == nil {
			m.folder[name] = string(data)
		}
		if o.Before == nil {
			continue
		}
		m.verdict = max(m.verdict, o.Before.Verdict)
		for _, x := range o.Before.Findings {
			what := strings.TrimSpace(fmt.Sprint(name[:strings.IndexByte(name, '.')], " ", x.Code, " ", x.Where))
			if x.Damage() {
				damage = append(damage, what)
			} else {
				notes = append(notes, what)
			}
		}
		if o.Result == nil {
			continue
		}
		r, e := o.Plan.Apply(bytes.NewReader(data), int64(len(data)))
		if e != nil {
			t.Fatal(e)
		}
		var w bytes.Buffer
		r.WriteTo(&w)
		m.folder[name] = w.String()
		written = append(written, name)
	}
	m.found, m.notes, m.written = strings.Join(damage, ", "), strings.Join(notes, ", "), strings.Join(written, " ")
	if err != nil {
		t.Fatalf("%v, of %s", err, m.found)
	}
	return m
}

// updates makes a log. Each word is one record:
//
//	user:N:text   a prompt with its number, "" = none          host:text     words of the host
//	say:text      a piece of an answer                         call:id       a call of the tool run
//	done:id:text  its end, fail:id:text one that failed        run:id        it is at work
//	end:reason    the end of a turn                            rewind:N      a rewind
//	wall:N:file   a compaction in front of turn N              plan:a,b      a list of what is to be done
//	idle          a record without meaning
//
// A word that begins with "!" has no event's id; one that begins with "{" is a record as it is.
func updates(words ...string) string {
	var b strings.Builder
	for n, word := range words {
		if word[0] == '{' {
			b.WriteString(word + "\n")
			continue
		}
		meta := fmt.Sprintf(`"eventId":"%s-%d","agentTimestampMs":171823680%04d`, id, n+1, n+1)
		if word[0] == '!' {
			word, meta = word[1:], ""
		}
		kind, rest, _ := strings.Cut(word, ":")
		arg, more, _ := strings.Cut(rest, ":")
		method, update := "session/update", ""
		switch kind {
		case "user":
			number := ""
			if arg != "" {
				number = `,"_meta":{"promptIndex":` + arg + `,"modelId":"m"}`
			}
			update = `"user_message_chunk","content":{"type":"text","text":` + strconv.Quote(more) + "}" + number
		case "host":
			update = `"user_message_chunk","content":{"type":"text","text":` + strconv.Quote(rest) + `},"_meta":{"hostTurn":true}`
		case "say":
			update = `"agent_message_chunk","content":{"type":"text","text":` + strconv.Quote(rest) + `}`
		case "call":
			update = `"tool_call","toolCallId":"` + arg + `","title":"Run it","rawInput":{"x":"` + arg + `"},"_meta":{"x.ai/tool":{"name":"run"}}`
		case "wait":
			update = `"tool_call","toolCallId":"` + arg + `","title":"Run it","rawInput":{"x":"` + arg + `"},"status":"pending"`
		case "run":
			update = `"tool_call_update","toolCallId":"` + arg + `","status":"in_progress"`
		case "done", "fail":
			update = `"tool_call_update","toolCallId":"` + arg + `","status":"` + map[string]string{"done": "completed", "fail": "failed"}[kind] + `","content":[{"type":"content","content":{"type":"text","text":` + strconv.Quote(more) + `}}]`
		case "end":
			method, update = "_x.ai/session/update", `"turn_completed","prompt_id":"p","stop_reason":"`+arg+`"`
		case "rewind":
			method, update = "_x.ai/session/update", `"rewind_marker","target_prompt_index":`+arg+`,"created_at":"2024-06-13T00:00:00Z"`
		case "wall":
			method, update = "_x.ai/session/update", `"compaction_checkpoint","checkpoint_id":"k","prompt_index_at_compaction":`+arg+`,"checkpoint_file":"`+more+`","schema_version":1,"created_at":"2024-06-13T00:00:00Z"`
		case "plan":
			var entries []string
			for e := range strings.SplitSeq(rest, ",") {
				entries = append(entries, `{"content":"`+e+`","priority":"high","status":"pending"}`)
			}
			update = `"plan","entries":[` + strings.Join(entries, ",") + `]`
		case "idle":
			method, update = "_x.ai/session/update", `"session_recap"`
		case "menu":
			update = `"available_commands_update"`
		default:
			panic(word)
		}
		fmt.Fprintf(&b, `{"timestamp":%d,"method":"%s","params":{"sessionId":"%s","update":{"sessionUpdate":%s},"_meta":{%s}}}`+"\n", 1718236800+n, method, id, update, meta)
	}
	return b.String()
}

// history makes one: system, user:N:text, answer:text, asks:text:id,id, result:id:text; one that begins with "{" is an item as it is.
func history(words ...string) string {
	var b strings.Builder
	for _, word := range words {
		kind, rest, _ := strings.Cut(word, ":")
		arg, more, _ := strings.Cut(rest, ":")
		switch {
		case word[0] == '{':
			b.WriteString(word)
		case kind == "system":
			b.WriteString(`{"type":"system","content":"s"}`)
		case kind == "user":
			fmt.Fprintf(&b, `{"type":"user","content":[{"type":"text","text":"<user_query>\n%s\n</user_query>"}],"prompt_index":%s}`, more, arg)
		case kind == "answer":
			fmt.Fprintf(&b, `{"type":"assistant","content":%q,"model_id":"m"}`, rest)
		case kind == "asks":
			var calls []string
			for id := range strings.SplitSeq(more, ",") {
				calls = append(calls, fmt.Sprintf(`{"id":"%s","name":"run","arguments":"{\"x\":\"%s\"}"}`, id, id))
			}
			fmt.Fprintf(&b, `{"type":"assistant","content":%q,"tool_calls":[%s],"model_id":"m"}`, arg, strings.Join(calls, ","))
		case kind == "result":
			fmt.Fprintf(&b, `{"type":"tool_result","tool_call_id":"%s","content":%q}`, arg, more)
		default:
			panic(word)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// events makes them: turn, ended:outcome, loop, tool, ask, allow, deny, done:id.
func events(words ...string) string {
	var b strings.Builder
	for n, word := range words {
		kind, arg, _ := strings.Cut(word, ":")
		fmt.Fprintf(&b, `{"ts":"2024-06-13T00:00:%02d.000Z",`, n)
		switch kind {
		case "turn":
			b.WriteString(`"type":"turn_started","turn_number":0,"schema_version":"1.0"}`)
		case "ended":
			b.WriteString(`"type":"turn_ended","outcome":"` + arg + `"}`)
		case "loop":
			b.WriteString(`"type":"loop_started","loop_index":0}`)
		case "tool":
			b.WriteString(`"type":"tool_started","tool_name":"run"}`)
		case "ask":
			b.WriteString(`"type":"permission_requested","tool_name":"run"}`)
		case "allow", "deny", "cancelled":
			b.WriteString(`"type":"permission_resolved","tool_name":"run","decision":"` + kind + `","wait_ms":1}`)
		case "done":
			b.WriteString(`"type":"tool_completed","tool_name":"run","duration_ms":1,"outcome":"success","tool_call_id":"` + arg + `"}`)
		default:
			panic(word)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// added are the lines of a text that another has not, one after the other.
func added(old, now string) (lines []string) {
	have := strings.SplitAfter(old, "\n")
	for l := range strings.SplitAfterSeq(now, "\n") {
		if i := slices.Index(have, l); i >= 0 {
			have = slices.Delete(have, i, i+1)
		} else if l != "" {
			lines = append(lines, strings.TrimSuffix(l, "\n"))
		}
	}
	return lines
}
