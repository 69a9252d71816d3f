package claude

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// Recipes are lines of words: "user a", "answer b", "result c", "note d" are nodes under the one in front of them, a "*" in
// front of the word says that the child gets the node, and what stands behind the id is more members. A line that begins with "{"
// stands for itself. @1 is the id of ones.
func recipe(text string) (lines []string, taken []bool) {
	up := "null"
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, d := range "12345" {
			line = strings.ReplaceAll(line, "@"+string(d), idOf(string(d)))
		}
		word, star := strings.CutPrefix(line, "*")
		if line == "" {
			continue
		}
		if taken = append(taken, star); strings.HasPrefix(word, "{") {
			lines = append(lines, word)
			continue
		}
		w := append(strings.SplitN(word, " ", 3), "", "")
		kind, id, more := w[0], w[1], w[2]
		body := map[string]string{
			"user":   `"type":"user","message":{"role":"user","content":"` + id + `"}`,
			"answer": `"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"` + id + `"}]}`,
			"result": `"type":"user","message":{"role":"user","content":[{"tool_use_id":"c","type":"tool_result","content":"` + id + `"}]}`,
			"note":   `"type":"attachment","attachment":{}`,
		}[kind]
		lines = append(lines, fmt.Sprintf(`{"parentUuid":%s,%s,"uuid":"%s","sessionId":"%s","cwd":"/old"%s}`, up, body, id, idOf("1"), more))
		up = `"` + id + `"`
	}
	return lines, taken
}

// request asks for the child of a recipe; the cut is the last record that it gets, but where one is named.
func request(path, text string) format.ForkRequest {
	lines, taken := recipe(text)
	q := format.ForkRequest{Path: path, ID: idOf("2"), Dialect: dialect{rank: firstUnwritten}}
	q.Cut.N = int64(max(0, strings.Count(text[:max(0, strings.LastIndex(text, "*"))], "\n")))
	q.Each = func(yield func(r *session.Record, taken bool) error) error {
		for n, line := range lines {
			if err := yield(&session.Record{N: int64(n), Raw: []byte(line)}, taken[n]); err != nil {
				return err
			}
		}
		return nil
	}
	return q
}

// born is what the child's file holds, ids by their digit.
func born(t *testing.T, q format.ForkRequest) (format.Child, string) {
	t.Helper()
	c, err := (Format{}).Fork(q)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Files) != 1 {
		t.Fatalf("%d files", len(c.Files))
	}
	var b bytes.Buffer
	if err := c.Files[0].Write(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, d := range "12345" {
		text = strings.ReplaceAll(text, idOf(string(d)), "@"+string(d))
	}
	return c, text
}

const copyOf = `,"forkedFrom":{"sessionId":"@1","messageUuid":"`

func TestForkRecords(t *testing.T) {
	node := func(kind, up, id, more string) string {
		lines, _ := recipe("*" + kind + " " + id)
		line := strings.Replace(lines[0], `"parentUuid":null`, `"parentUuid":`+up, 1)
		line = strings.Replace(line, idOf("1"), "@2", 1)
		return strings.TrimSuffix(line, "}") + more + copyOf + id + "\"}}\n"
	}
	const asked = `,"requestSessionId":"@1"`
	for _, c := range []struct{ name, parent, want string }{
		{
			"nodes, by whose answer and whose copy they are", "*user a\n *answer b\n user c",
			node("user", "null", "a", "") + node("answer", `"a"`, "b", asked),
		},
		{
			"the last pointer of what is kept", `*user a
				*answer b
				{"type":"last-prompt","lastPrompt":"one","leafUuid":"b","sessionId":"@1"}
				user c
				{"type":"last-prompt","lastPrompt":"two","leafUuid":"c","sessionId":"@1"}`,
			node("user", "null", "a", "") + node("answer", `"a"`, "b", asked) +
				`{"type":"last-prompt","lastPrompt":"one","leafUuid":"b","sessionId":"@2"}` + "\n",
		},
		{
			"a pointer without a prompt, where only later ones are known", `*user a
				{"type":"last-prompt","lastPrompt":"two","sessionId":"@1"}
				answer b`,
			node("user", "null", "a", "") + `{"type":"last-prompt","leafUuid":"a","sessionId":"@2"}` + "\n",
		},
		{
			"the pointer leads to what is said, not to a note", `*user a
				*note b
				answer c
				{"type":"last-prompt","leafUuid":"c","sessionId":"@1"}`,
			node("user", "null", "a", "") + node("note", `"a"`, "b", "") + `{"type":"last-prompt","leafUuid":"a","sessionId":"@2"}` + "\n",
		},
		{
			"side records: the last of each, all replacements, titles of kept records", `{"type":"custom-title","customTitle":"old","sessionId":"@1"}
				{"type":"summary","summary":"kept","leafUuid":"a"}
				{"type":"summary","summary":"left","leafUuid":"b"}
				{"type":"mode","mode":"plan","sessionId":"@1"}
				*user a
				answer b
				{"type":"content-replacement","replacements":[1],"sessionId":"@1"}
				{"type":"custom-title","customTitle":"new","sessionId":"@1"}
				{"type":"content-replacement","replacements":[2],"sessionId":"@1"}
				{"type":"cost-state","totalCostUSD":1,"sessionId":"@1"}
				{"type":"queue-operation","operation":"enqueue","content":"x","sessionId":"@1"}`,
			node("user", "null", "a", "") + `{"type":"summary","summary":"kept","leafUuid":"a"}
{"type":"mode","mode":"plan","sessionId":"@2"}
{"type":"content-replacement","replacements":[1],"sessionId":"@2"}
{"type":"custom-title","customTitle":"new","sessionId":"@2"}
{"type":"content-replacement","replacements":[2],"sessionId":"@2"}
`,
		},
		{
			"a grandchild: the answer was asked for by the first session", `*{"type":"user","uuid":"a","parentUuid":null,"sessionId":"@1","forkedFrom":{"sessionId":"@3","messageUuid":"a"}}
				*{"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"@1","forkedFrom":{"sessionId":"@3","messageUuid":"b"}}
				*{"type":"assistant","uuid":"c","parentUuid":"b","sessionId":"@1","requestSessionId":"@4"}`,
			`{"type":"user","uuid":"a","parentUuid":null,"sessionId":"@2","forkedFrom":{"sessionId":"@1","messageUuid":"a"}}
{"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"@2","forkedFrom":{"sessionId":"@1","messageUuid":"b"},"requestSessionId":"@3"}
{"type":"assistant","uuid":"c","parentUuid":"b","sessionId":"@2","requestSessionId":"@4","forkedFrom":{"sessionId":"@1","messageUuid":"c"}}
`,
		},
		{
			"every other byte stays", `*{ "uuid" : "a","parentUuid":null, "type":"user","n":1.0,"big":12345678901234567890,"s":"\u00e4\ud83d" , "sessionId" : "@1"  }`,
			`{ "uuid" : "a","parentUuid":null, "type":"user","n":1.0,"big":12345678901234567890,"s":"\u00e4\ud83d" , "sessionId" : "@2"  ` + copyOf + "a\"}}\n",
		},
		{
			"a record without a session gets none", `*{"uuid":"a","parentUuid":null,"type":"user"}`,
			`{"uuid":"a","parentUuid":null,"type":"user"` + copyOf + "a\"}}\n",
		},
		{
			"what a sub-agent said in between is not where it goes on", `*user a
				*{"type":"assistant","uuid":"s","parentUuid":"a","isSidechain":true}`,
			node("user", "null", "a", "") + `{"type":"assistant","uuid":"s","parentUuid":"a","isSidechain":true` + asked + copyOf + "s\"}}\n",
		},
	} {
		q := request(sessionPath(t), c.parent)
		if strings.Contains(c.name, "sub-agent") {
			q.Cut.N = 0
		}
		if _, got := born(t, q); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// The pointer leads up from the cut, wherever what speaks there stands in the file.
func TestForkPointsUp(t *testing.T) {
	q := request(sessionPath(t), `*{"type":"system","uuid":"n","parentUuid":"b"}
		*{"type":"user","uuid":"a","parentUuid":null}
		*{"type":"attachment","uuid":"x","parentUuid":"s"}
		*{"type":"assistant","uuid":"b","parentUuid":"a"}
		*{"type":"system","subtype":"compact_boundary","uuid":"c","parentUuid":null,"logicalParentUuid":"b"}
		*{"type":"user","isCompactSummary":true,"uuid":"s","parentUuid":"c"}
		*{"type":"assistant","uuid":"r","parentUuid":"r"}`)
	for n, want := range []string{"b", "a", "s", "b", "b", "s", ""} {
		q.Cut.N = int64(n)
		_, got := born(t, q)
		line := `{"type":"last-prompt","leafUuid":"` + want + `","sessionId":"@2"}`
		if strings.Contains(got, "last-prompt") != (want != "") || want != "" && !strings.HasSuffix(got, "\n"+line+"\n") {
			t.Errorf("cut at %d: %s", n, got)
		}
	}
}

// Without a pointer the client goes on from the last message of the file: one is written where that is another.
func TestForkPoints(t *testing.T) {
	q := request(sessionPath(t), "*user a\n *answer b\n *result c")
	q.Cut.N = 1
	if _, got := born(t, q); !strings.HasSuffix(got, "\n"+`{"type":"last-prompt","leafUuid":"b","sessionId":"@2"}`+"\n") {
		t.Errorf("no pointer: %s", got)
	}
}

func TestForkPlace(t *testing.T) {
	abs := func(parts ...string) string {
		p, err := filepath.Abs(filepath.Join(parts...))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, c := range []struct{ path, cwd, root, name string }{
		{sessionPath(t), "", abs("r", "projects"), "-w/@2.jsonl"},
		{sessionPath(t), "/home/dev/prøj_é.x y", abs("r", "projects"), "-home-dev-pr-j---x-y/@2.jsonl"},
		{sessionPath(t), `C:\𝒜`, abs("r", "projects"), "C----/@2.jsonl"},
		{abs("copies", "mine.jsonl"), "", abs("copies"), "@2.jsonl"},
		{abs("copies", "mine.jsonl"), "/elsewhere", abs("copies"), "@2.jsonl"},
	} {
		q := request(c.path, "*user a\n *answer b")
		q.CWD = c.cwd
		child, text := born(t, q)
		if name := strings.ReplaceAll(child.Files[0].Name, idOf("2"), "@2"); child.Root != c.root || name != c.name {
			t.Errorf("%s, %s: %s %s", c.path, c.cwd, child.Root, name)
		}
		want := quoted(c.cwd)
		if c.cwd == "" {
			want = `"/old"`
		}
		if strings.Count(text, `"cwd":`+want) != 2 {
			t.Errorf("%s: no working directory %s in %s", c.path, want, text)
		}
	}
	for r := rune(0); r < 0x180; r++ {
		want := "-"
		if strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", r) {
			want = string(r)
		}
		if got := slugOf(string(r)); got != want {
			t.Errorf("%q becomes %q", r, got)
		}
	}
}

func TestForkRefuses(t *testing.T) {
	agent := filepath.Join(strings.TrimSuffix(sessionPath(t), ".jsonl"), "subagents", "agent-a1.jsonl")
	for _, c := range []struct {
		name, path, parent, id, cwd string
		cut, n                      int64
		why                         string
	}{
		{"an id that is none", "", "*user a", "my-branch", "", 0, -1, "UUID"},
		{"an id in capitals", "", "*user a", strings.ToUpper(idOf("a")), "", 0, -1, "UUID"},
		{"an id with a path", "", "*user a", "../" + idOf("2"), "", 0, -1, "UUID"},
		{"a sub-agent's log", agent, "*user a", "", "", 0, -1, "fork its session"},
		{"nothing kept", "", "user a", "", "", 0, 0, "empty"},
		{"nothing said", "", "*note a\n user b", "", "", 0, 0, "empty"},
		{"a sub-agent's talk", "", `*user a
			*{"type":"assistant","uuid":"s","parentUuid":"a","isSidechain":true}`, "", "", 1, 1, "sub-agent"},
		{"a sub-agent's talk, of which nothing is kept", "", `{"type":"assistant","uuid":"s","parentUuid":"a","isSidechain":true}`, "", "", 0, 0, "sub-agent"},
		{"a long path", "", "*user a", "", "/" + strings.Repeat("x", 200), 0, -1, "shorter"},
		{"a record that is none", "", "*{\"uuid\":", "", "", 0, 0, "cannot be read"},
	} {
		if c.path == "" {
			c.path = sessionPath(t)
		}
		q := request(c.path, c.parent)
		if q.CWD, q.Cut.N = c.cwd, c.cut; c.id != "" {
			q.ID = c.id
		}
		_, err := (Format{}).Fork(q)
		var no *format.RefusedError
		if !errors.As(err, &no) || no.N != c.n || !strings.Contains(no.Why, c.why) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestForkNotes(t *testing.T) {
	const spilled = `,"toolUseResult":{"persistedOutputPath":"/p/tool-results/a.txt"}`
	for _, c := range []struct {
		name, parent string
		beside       fs.FS
		want         []string
	}{
		{"nothing", "*user a", fstest.MapFS{}, nil},
		{"no folder known", "*user a", nil, nil},
		{"one", "*user a\n*result b " + spilled + "\nresult c " + spilled, nil, []string{"1 full text of a result is"}},
		{"two", "*user a\n*result b " + spilled + "\n*result c " + spilled, nil, []string{"2 full texts of results are"}},
		{"sub-agents", "*user a", fstest.MapFS{idOf("1") + "/subagents/agent-a1.jsonl": {}}, []string{"sub-agents"}},
		{"copies of files", "*user a\n" + `{"type":"file-history-snapshot","messageId":"a","snapshot":{}}`, nil, []string{"edits"}},
	} {
		q := request(sessionPath(t), c.parent)
		q.Dir = c.beside
		child, _ := born(t, q)
		if !slices.EqualFunc(child.Notes, c.want, strings.Contains) {
			t.Errorf("%s: %q", c.name, child.Notes)
		}
	}
}

func TestNewID(t *testing.T) {
	if id, err := (Format{}).NewID(noon, strings.NewReader("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")); err != nil || id != "ffffffff-ffff-4fff-bfff-ffffffffffff" {
		t.Errorf("%s %v", id, err)
	}
	if id, err := (Format{}).NewID(noon, strings.NewReader(strings.Repeat("\x00", 15))); err == nil {
		t.Errorf("15 bytes make %s", id)
	}
}

// FuzzFork: whatever a record holds, its copy is a record of the same id, in the child's session, and refused is what is none.
func FuzzFork(f *testing.F) {
	f.Add([]byte(`{"type":"user","uuid":"a","sessionId":"s","cwd":"/w","message":{"content":"x"}}`))
	f.Add([]byte(`{"type":"assistant","uuid":"a","sessionId":null,"forkedFrom":{"sessionId":"t"}, "requestSessionId":7 } `))
	f.Add([]byte(`{"uuid":"a","uuid":"b","sessionId":"s","sessionId":"t","forkedFrom":1,"x":"}"}`))
	f.Add([]byte(`{"type":"last-prompt","leafUuid":"\"","lastPrompt":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, _ := scan.NewMachine(keys[:])
		padded := append(bytes.Clone(data), make([]byte, scan.Pad)...)
		if end, _ := m.Tolerant(padded, 0, len(data)); bytes.ContainsAny(data, "\n") || strings.TrimSpace(string(data[min(end, len(data)):])) != "" {
			return // no record, or more than one
		}
		first := `{"type":"user","uuid":"first","parentUuid":null}`
		q := request(sessionPath(t), "*"+first+"\n*user last")
		lines := [][]byte{[]byte(first), data}
		q.CWD = `/a "b"`
		q.Each = func(yield func(r *session.Record, taken bool) error) error {
			for n, line := range lines {
				if err := yield(&session.Record{N: int64(n), Raw: line}, true); err != nil {
					return err
				}
			}
			return nil
		}
		c, err := (Format{}).Fork(q)
		if err != nil {
			var no *format.RefusedError
			if !errors.As(err, &no) {
				t.Fatal(err)
			}
			return
		}
		var b bytes.Buffer
		if err := c.Files[0].Write(&b); err != nil {
			t.Fatal(err)
		}
		was, _ := peel(data)
		for line := range bytes.Lines(b.Bytes()) {
			line = bytes.TrimSuffix(line, []byte("\n"))
			buf := append(bytes.Clone(line), make([]byte, scan.Pad)...)
			end, fault := m.Tolerant(buf, 0, len(line))
			got, err := peel(line)
			if err != nil || fault.Cause != scan.OK || strings.TrimSpace(string(line[end:])) != "" {
				t.Fatalf("%q gives %q", data, line)
			}
			if got.Has(cSession) && string(got.Str(cSession)) != q.ID {
				t.Fatalf("%q gives %q of another session", data, line)
			}
			if isNode(was) && string(got.Str(cUUID)) != "first" && string(got.Str(cUUID)) != string(was.Str(cUUID)) {
				t.Fatalf("%q gives %q of another id", data, line)
			}
		}
	})
}
