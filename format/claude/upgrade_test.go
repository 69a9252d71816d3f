package claude

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sessfix/sessfix/format"
)

// sourceOf is a file of the lines of a recipe.
func sourceOf(path, text string) format.Source {
	lines, _ := recipe(text)
	return format.Source{Path: path, Dir: fstest.MapFS{}, Records: func() iter.Seq2[format.Line, error] {
		return func(yield func(format.Line, error) bool) {
			for n, line := range lines {
				if !yield(format.Line{Raw: []byte(line), N: int64(n)}, nil) {
					return
				}
			}
		}
	}}
}

// collected is what stages write, one line each: the number of the source's record, and the record where it is not as it was.
type collected struct {
	s     format.Source
	lines []string
	said  []string
}

func (c *collected) Put(l format.Line) error {
	text := fmt.Sprint(l.N)
	for was := range c.s.Records() {
		if was.N == l.N && string(was.Raw) == string(l.Raw) {
			c.lines = append(c.lines, text)
			return nil
		}
	}
	c.lines = append(c.lines, fmt.Sprintf("%s %s", text, l.Raw))
	return nil
}

func (c *collected) Drop(n int64, why string) {
	c.said = append(c.said, fmt.Sprintf("drop %d: %s", n, why))
}
func (c *collected) Note(n int64, text string) {
	c.said = append(c.said, fmt.Sprintf("note %d: %s", n, text))
}

// upgraded takes a file of a generation one step on.
func upgraded(t *testing.T, s format.Source, from string) (*collected, error) {
	t.Helper()
	out := &collected{s: s}
	for _, u := range (Format{}).Upgrades() {
		if u.From != from {
			continue
		}
		st, err := u.Begin(s)
		if err != nil {
			return nil, err
		}
		for l := range s.Records() {
			if err := st.Record(l, out); err != nil {
				return nil, err
			}
		}
		return out, st.End(out)
	}
	t.Fatalf("no step from %s", from)
	return nil, nil
}

const promptOnly = `{"type":"last-prompt","lastPrompt":"one","sessionId":"@1"}`

func TestAge(t *testing.T) {
	agent := filepath.Join(filepath.Dir(sessionPath(t)), "agent-a1.jsonl")
	for _, c := range []struct{ path, log, want string }{
		{"", "user a\n answer b", g1},
		{"", "", g1},
		{"", `{"type":"summary","summary":"s","leafUuid":"b"}`, g1},
		{"", `{"type":"queue-operation","operation":"dequeue","sessionId":"@1"}` + "\nuser a", g2},
		{"", `user a
			result c ,"sourceToolAssistantUUID":"b"`, g3},
		{"", `user a
			{"type":"progress","uuid":"p","parentUuid":"a"}`, g3},
		{"", "user a\n" + promptOnly, g4},
		{"", promptOnly, g3}, // nothing to go on from
		{"", `{"type":"user","uuid":"a","parentUuid":null,"isSidechain":true}` + "\n" + promptOnly, g3},
		{"", "user a\n" + promptOnly + "\n" + `{"type":"last-prompt","leafUuid":"a"}`, g5},
		{"", "user a\nnote b", g5},
		{"", "user a\n" + promptOnly + "\n" + `{"type":"api-request","id":"r"}`, g6},
		{"", "user a\n" + `{"type":"cost-state"}` + "\n" + promptOnly, g6},
		{agent, "user a", g2Agent},
		{filepath.Join(filepath.Dir(agent), idOf("1"), "subagents", "agent-a1.jsonl"), "user a", g3Agent},
		{filepath.Join(filepath.Dir(agent), idOf("1"), "subagents", "workflows", "wf_1", "agent-a1.jsonl"), "user a", g3Agent},
	} {
		if c.path == "" {
			c.path = sessionPath(t)
		}
		if got, err := (Format{}).Age(sourceOf(c.path, c.log)); err != nil || got != c.want {
			t.Errorf("%s: %s, want %s, %v", c.log, got, c.want, err)
		}
	}
	for log, why := range map[string]string{
		`user a ,"version":"2.1.329"`: "2.1.329",
		"user a\n{":                   "cannot be read",
	} {
		var no *format.RefusedError
		if _, err := (Format{}).Age(sourceOf(sessionPath(t), log)); !errors.As(err, &no) || !strings.Contains(no.Why, why) {
			t.Errorf("%s: %v", log, err)
		}
	}
	if got, err := (Format{}).Age(sourceOf(sessionPath(t), `user a ,"version":"`+Newest+`"`)); err != nil || got != g1 {
		t.Errorf("the newest release: %s %v", got, err)
	}
}

func TestUpgradePointer(t *testing.T) {
	at := func(s string) string { return ` ,"timestamp":"2026-01-02T03:04:0` + s + `.000Z"` }
	root := func(id string) string {
		return `{"type":"user","uuid":"` + id + `","parentUuid":null,"message":{"content":"x"}}`
	}
	pointed := func(leaf string) string {
		return `-1 {"type":"last-prompt","lastPrompt":"one","leafUuid":"` + leaf + `","sessionId":"@1"}`
	}
	for _, c := range []struct{ name, log, want string }{
		{"the last message", "user a\nanswer b\n" + promptOnly, "0 1 2 " + pointed("b")},
		{"behind the prompt stands what a note is not", "user a\n" + promptOnly + "\nnote b", "0 1 2 " + pointed("a")},
		{"a strange prompt, kept as it is", "user a\n" + `{"lastPrompt" : "\ud83d \/","type":"last-prompt"}`, `0 1 -1 {"type":"last-prompt","lastPrompt":"\ud83d \/","leafUuid":"a"}`},
		{"an id told anew", "user a\nuser b\n" + root("a") + "\n" + promptOnly, "0 1 2 3 " + pointed("b")},
		{"a history that was taken back", "user a\nuser b\n" + root("c") + "\n" + promptOnly, "0 1 2 3 " + pointed("c")},
		{"a compaction", `user a
			{"type":"system","subtype":"compact_boundary","uuid":"x","parentUuid":null,"logicalParentUuid":"a"}
			{"type":"user","isCompactSummary":true,"uuid":"y","parentUuid":"x","message":{"content":"x"}}` + "\n" + promptOnly, "0 1 2 3 " + pointed("y")},
		{"times fit", "user a" + at("1") + "\nuser b" + at("2") + "\n" + promptOnly, "0 1 2 " + pointed("b")},
		{"refused: the last is not the newest", "user a" + at("2") + "\nuser b" + at("1") + "\n" + promptOnly, "refused at 1: not the newest"},
		{"refused: two histories", root("a") + "\n" + root("b") + "\n" + `{"type":"user","uuid":"c","parentUuid":"a","message":{"content":"x"}}` + "\n" + promptOnly, "refused at 1: side by side"},
		{"refused: only sub-agents", `{"type":"user","uuid":"a","parentUuid":null,"isSidechain":true}` + "\n" + promptOnly, "refused at -1: nothing was said"},
		{"refused: a strange link", "user a\n" + `{"type":"turn","id":"b","parentUuid":"a"}` + "\n" + promptOnly, "refused at 1: turn"},
		{"a strange type that is linked as others", "user a\n" + `{"type":"turn","uuid":"b","parentUuid":"a"}` + "\n" + promptOnly, "0 1 2 " + pointed("a")},
		{"parents in a circle", `{"type":"user","uuid":"a","parentUuid":"b","message":{"content":"x"}}` + "\n" + `{"type":"user","uuid":"b","parentUuid":"a","message":{"content":"x"}}` + "\n" + promptOnly, "0 1 2 " + pointed("b")},
	} {
		out, err := upgraded(t, sourceOf(sessionPath(t), c.log), g4)
		var got string
		var no *format.RefusedError
		switch {
		case errors.As(err, &no):
			got = fmt.Sprintf("refused at %d: %s", no.N, no.Why)
			if at, word, _ := strings.Cut(c.want, ": "); strings.HasPrefix(got, at+": ") && strings.Contains(got, word) {
				continue
			}
		case err != nil:
			t.Fatal(err)
		default:
			got = strings.ReplaceAll(strings.Join(out.lines, " "), idOf("1"), "@1")
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Upgrading twice is upgrading once.
func TestUpgradePointerOnce(t *testing.T) {
	log := "user a\nanswer b\n" + promptOnly
	out, err := upgraded(t, sourceOf(sessionPath(t), log), g4)
	if err != nil {
		t.Fatal(err)
	}
	again := log + "\n" + strings.TrimPrefix(out.lines[len(out.lines)-1], "-1 ")
	if age, err := (Format{}).Age(sourceOf(sessionPath(t), again)); err != nil || age != g5 {
		t.Errorf("%s %v", age, err)
	}
}

// agentLog puts the log of a sub-agent beside a session and gives it as a source.
func agentLog(t *testing.T, log, session string) format.Source {
	t.Helper()
	dir := t.TempDir()
	s := sourceOf(filepath.Join(dir, "agent-a1.jsonl"), log)
	lines, _ := recipe(log)
	if err := os.WriteFile(s.Path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if session != "" {
		lines, _ = recipe(session)
		if err := os.WriteFile(filepath.Join(dir, idOf("1")+".jsonl"), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.Dir = os.DirFS(dir)
	return s
}

func TestUpgradeAgent(t *testing.T) {
	const (
		asked  = `{"type":"assistant","uuid":"q","parentUuid":null,"message":{"content":[{"type":"text","text":"x"},{"type":"tool_use","id":"toolu_0","input":{"description":"other"}},{"type":"tool_use","id":"toolu_1","name":"Task","input":{"description":"a \"job\"","prompt":"p","subagent_type":"general-purpose"}}]}}`
		answer = `{"type":"user","uuid":"r","parentUuid":"q","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"done"}]}]},"toolUseResult":{"status":"completed","agentId":"a1"}}`
		full   = `{"agentType":"general-purpose","description":"a \"job\"","toolUseId":"toolu_1","finished":true}`
	)
	for _, c := range []struct{ name, log, session, header, why string }{
		{"its call is known", "user a", asked + "\n" + answer, full, ""},
		{"the session that the last record names", `{"type":"user","uuid":"a","sessionId":"@2"}` + "\nuser b\n" + `{"type":"x","uuid":"c"}`, asked + "\n" + answer, full, ""},
		{"a result in front of its call, and torn lines", "user a", answer + "\n{\"torn\n" + asked, full, ""},
		{"sent to the background", "user a", asked + "\n" + strings.Replace(answer, "completed", "async_launched", 1), `{"agentType":"general-purpose","description":"a \"job\"","toolUseId":"toolu_1"}`, ""},
		{"the call itself is lost", "user a", answer, `{"toolUseId":"toolu_1","finished":true}`, ""},
		{"nobody asked for it", "user a", asked + "\n" + strings.Replace(answer, `"a1"`, `"a2"`, 1), "", ""},
		{"refused: no session named", `{"type":"user","uuid":"a"}`, asked, "", "no record says"},
		{"refused: a session that leads elsewhere", `{"type":"user","uuid":"a","sessionId":"../../x"}`, asked, "", "no record says"},
		{"refused: its session is gone", "user a", "", "", "does not lie beside"},
		{"refused: a newer release", `user a ,"version":"3.0.0"`, asked, "", "3.0.0"},
	} {
		s := agentLog(t, c.log, c.session)
		out, err := upgraded(t, s, g2Agent)
		if c.why != "" {
			var no *format.RefusedError
			if !errors.As(err, &no) || !strings.Contains(no.Why, c.why) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for n, line := range out.lines {
			if line != fmt.Sprint(n) {
				t.Errorf("%s: record %d became %s", c.name, n, line)
			}
		}
		to := filepath.Join(filepath.Dir(s.Path), idOf("1"), "subagents", "agent-a1.jsonl")
		if got := nested(s.Path); got != to {
			t.Errorf("%s: it goes to %s", c.name, got)
		}
		files, err := headers(s)
		got := ""
		for _, f := range files {
			var b strings.Builder
			if err := f.Write(&b); err != nil {
				t.Fatal(err)
			}
			if got = b.String(); f.Name != idOf("1")+"/subagents/agent-a1.meta.json" {
				t.Errorf("%s: the header goes to %s", c.name, f.Name)
			}
		}
		if err != nil || got != c.header || (got == "") != (len(out.said) == 1) {
			t.Errorf("%s: header %s, want %s, %v %v", c.name, got, c.header, out.said, err)
		}
	}
}

// What a repair would change must not change where a log goes.
func TestUpgradeAgentDamaged(t *testing.T) {
	s := agentLog(t, "user a", "user a")
	if err := os.WriteFile(s.Path, []byte(`{"type":"user","uuid":"b","sessionId":"`+idOf("2")+`"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var no *format.RefusedError
	if _, err := upgraded(t, s, g2Agent); !errors.As(err, &no) || !strings.Contains(no.Why, "repair it first") {
		t.Errorf("%v", err)
	}
}

// FuzzUpgrade: whatever stands in a record, it is kept as it is, or refused with the reason.
func FuzzUpgrade(f *testing.F) {
	f.Add([]byte(promptOnly), []byte(`{"type":"user","uuid":"b","parentUuid":"a"}`))
	f.Add([]byte(`{"type":"system","subtype":"compact_boundary","uuid":"x","parentUuid":null,"logicalParentUuid":"a"}`), []byte(`{"toolUseResult":{"agentId":"a1","status":1},"message":{"content":[{"tool_use_id":"t"},7]}}`))
	f.Add([]byte(`{"message":{"content":[{"id":"t","input":{"description":"x"}}],"content":{}},"sessionId":"s"}`), []byte(`{"parentUuid":1,"type":7}`))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		lines := [][]byte{[]byte(`{"type":"user","uuid":"a","parentUuid":null,"sessionId":"` + idOf("1") + `"}`), one, []byte(promptOnly), two}
		s := format.Source{Path: filepath.Join("none", "agent-a1.jsonl"), Dir: fstest.MapFS{idOf("1") + ".jsonl": {Data: append(append(one[:len(one):len(one)], '\n'), two...)}}}
		s.Records = func() iter.Seq2[format.Line, error] {
			return func(yield func(format.Line, error) bool) {
				for n, line := range lines {
					if !yield(format.Line{Raw: line, N: int64(n)}, nil) {
						return
					}
				}
			}
		}
		var no *format.RefusedError
		if _, err := (Format{}).Age(format.Source{Path: "x.jsonl", Records: s.Records}); err != nil && !errors.As(err, &no) {
			t.Fatal(err)
		}
		if _, err := headers(s); err != nil && !errors.As(err, &no) {
			t.Fatal(err)
		}
		if _, err := askedFor(s, idOf("1")); err != nil {
			t.Fatal(err)
		}
		out, err := upgraded(t, s, g4)
		if err != nil {
			if !errors.As(err, &no) {
				t.Fatal(err)
			}
			return
		}
		for n, line := range out.lines[:len(lines)] {
			if line != fmt.Sprint(n) {
				t.Fatalf("record %d became %s", n, line)
			}
		}
		if f, err := read([]byte(strings.TrimPrefix(out.lines[len(lines)], "-1 "))); err != nil || f.Kind(kLeaf) != '"' {
			t.Fatalf("the pointer is %s", out.lines[len(lines)])
		}
	})
}
