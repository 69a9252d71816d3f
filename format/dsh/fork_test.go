package dsh_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/dsh"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
	"github.com/sessfix/sessfix/verify"
)

// now is when all branches of these tests are made.
var now = time.UnixMilli(1800000000123)

// stem is a session that is to be cut.
type stem struct {
	t      *testing.T
	path   string
	data   []byte
	medium string
}

func stemOf(t *testing.T, text string) *stem {
	return &stem{t: t, path: filepath.Join(t.TempDir(), "session.jsonl"), data: []byte(text), medium: scan.Lines}
}

func (s *stem) dialect() format.Dialect {
	s.t.Helper()
	first, _, _ := bytes.Cut(s.text(), []byte("\n"))
	d, err := dsh.Format{}.Dialect(format.Peek{Path: s.path, Line: first, First: first, FirstLine: true}, "")
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

// text is the log's text, out of its frames.
func (s *stem) text() []byte {
	s.t.Helper()
	if s.medium == scan.Lines {
		return s.data
	}
	return unframed(s.t, s.data)
}

func unframed(t *testing.T, data []byte) []byte {
	t.Helper()
	d, err := zstd.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	text, err := io.ReadAll(d)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// request asks for a branch, as the command does.
func (s *stem) request(cut format.Cut, id string) format.ForkRequest {
	d := s.dialect()
	return format.ForkRequest{
		Path: s.path, Medium: s.medium, Dialect: d, Cut: cut, ID: id, Now: now,
		Each: func(yield func(r *session.Record, taken bool) error) error {
			sc, err := scan.New(context.Background(), bytes.NewReader(s.data), int64(len(s.data)), scan.Options{Medium: s.medium, Framing: d.Framing()})
			if err != nil {
				return err
			}
			for sc.Next() {
				if err := yield(sc.Record(), sc.Record().N <= cut.N); err != nil {
					return err
				}
			}
			return sc.Err()
		},
	}
}

func (s *stem) cuts() []format.Cut {
	s.t.Helper()
	cuts, err := dsh.Format{}.Cuts(s.request(format.Cut{}, ""))
	if err != nil {
		s.t.Fatal(err)
	}
	return cuts
}

// grow makes the branch and gives its place and content.
func (s *stem) grow(q format.ForkRequest) (name string, data []byte) {
	s.t.Helper()
	child, err := dsh.Format{}.Fork(q)
	if err != nil {
		s.t.Fatal(err)
	}
	if len(child.Files) != 1 {
		s.t.Fatalf("%d files", len(child.Files))
	}
	var b bytes.Buffer
	if err := child.Files[0].Write(&b); err != nil {
		s.t.Fatal(err)
	}
	return child.Files[0].Name, b.Bytes()
}

// faults are what verify says of a log, notes left out.
func faults(t *testing.T, name string, data []byte, medium string) []string {
	t.Helper()
	s := &stem{t: t, path: name, data: data, medium: medium}
	res, err := verify.Session(context.Background(), verify.Input{
		Path: name, Place: name, R: bytes.NewReader(data), Size: int64(len(data)), Medium: medium, Format: dsh.Format{}, Dialect: s.dialect(),
	})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range res.Findings {
		if f.Severity != finding.Note {
			out = append(out, fmt.Sprintf("%s: %s", f.Code, f.Message))
		}
	}
	return out
}

// fits tells whether the faults of a branch are those of its cut: what is open there, which a repair ends, and nothing else.
func fits(faults []string, c format.Cut) bool {
	turn := strings.Contains(c.Open, "turn")
	for _, f := range faults {
		code, _, _ := strings.Cut(f, ":")
		switch finding.Code(code) {
		case finding.OpenTurn, finding.OpenStep, finding.DanglingCall:
		default:
			return false
		}
	}
	return turn == (len(faults) > 0)
}

const fourCalls = `
	inbox: agent/inbox/spliced {"target":"next-turn","start":0,"inserted":[]}
	turn/start {"turn":1}
	step/start {"turn":1,"step":1}
	user/message {"id":"m1","role":"user","content":[],"source":{"kind":"user"}} S
	assistant/message {"turn":1,"step":1,"message":{"id":"m2","role":"assistant","content":[{"type":"tool-call","id":"a","name":"read","arguments":"{}"},{"type":"tool-call","id":"b\"","name":"read","arguments":"{}"}],"source":{"kind":"model","provider":"p","model":"m"}}} S
	tool/call {"turn":1,"step":1,"callId":"b\"","name":"read","arguments":"{}"}
	tool/call {"turn":1,"step":1,"callId":"a","name":"read","arguments":"{}"}
	tool/result {"turn":1,"step":1,"message":RESULT_a} S[6]
	tool/result {"turn":1,"step":1,"message":RESULT_b} S[5]
	step/end {"turn":1,"step":1}
	turn/end {"turn":1,"reason":{"kind":"completed"}}
	session/title {"title":"Trees","messageSeqs":[3],"source":{"kind":"fallback"}}
	compaction/start {"compactionId":"c","turn":null}
	compaction/end {"compactionId":"c","turn":null,"error":{"message":"no"}}
	session/end-seed {}
	turn/start {"turn":2}
	turn/end {"turn":2,"reason":{"kind":"interrupted"}}`

// callsLog is a session with two calls, a compaction that failed, and a restart, as a version writes it.
func callsLog(version int) string {
	result := func(id string) string {
		if version >= 4 {
			return `{"id":"r","role":"tool","toolCallId":"` + id + `","source":{"kind":"tool","callId":"` + id + `"},"content":[]}`
		}
		return `{"id":"r","role":"user","source":{"kind":"tool","callId":"` + id + `"},"content":[{"type":"tool-result","toolCallId":"` + id + `","content":[]}]}`
	}
	header := `"id":"tide","createdAt":7,"cwd":"/srv/a b","delegationDepth":0`
	if version >= 2 {
		header += `,"isSeeded":false`
	}
	return logOf(version, header, strings.NewReplacer("RESULT_a", result("a"), "RESULT_b", result(`b\"`)).Replace(fourCalls))
}

// Where a session may be cut, and what stands in the way elsewhere.
func TestForkCuts(t *testing.T) {
	want := []string{
		`-1 session: the child would be empty`,
		`0 agent/inbox/spliced`,
		`1 turn/start: turn 1 is open there`,
		`2 step/start: turn 1 is open there`,
		`3 user/message m1: turn 1 is open there`,
		`4 assistant/message m2: calls a, b\" are unanswered in turn 1`,
		`5 tool/call: calls a, b\" are unanswered in turn 1`,
		`6 tool/call: calls a, b\" are unanswered in turn 1`,
		`7 tool/result r: call b\" is unanswered in turn 1`,
		`8 tool/result r: turn 1 is open there`,
		`9 step/end: turn 1 is open there`,
		`10 turn/end, 1 turns`,
		`11 session/title, 1 turns`,
		`12 compaction/start, 1 turns: a compaction is open there`,
		`13 compaction/end, 1 turns`,
		`14 session/end-seed, 1 turns`,
		`15 turn/start, 1 turns: turn 2 is open there`,
		`16 turn/end, 2 turns`,
	}
	for _, version := range []int{0, 1, 2, 3, 4} {
		s := stemOf(t, callsLog(version))
		for n, c := range s.cuts() {
			have := fmt.Sprintf("%d %s", c.Seq, c.Kind)
			if c.ID != "" {
				have += " " + c.ID
			}
			if c.Turn > 0 {
				have += fmt.Sprintf(", %d turns", c.Turn)
			}
			if c.Open != "" {
				have += ": " + c.Open
			}
			if have != want[n] || c.N != int64(n) || c.Closable != (c.Open != "" && n > 0) {
				t.Errorf("version %d: %s, record %d, closable %v, want %s", version, have, c.N, c.Closable, want[n])
			}
		}
	}
}

// The branch, to the byte, behind the lines of its parent.
func TestForkTails(t *testing.T) {
	const head = `{"type":"session","version":%d,"id":"sprout","createdAt":1800000000123,"cwd":"/srv/a b","parentSession":"tide",%s,"delegationDepth":0}`
	for _, c := range []struct {
		version int
		seq     int64
		seed    string
		tail    string
	}{
		{0, 10, `"seedLength":11`, `{"type":"session/end-seed","seq":11,"time":1800000000123,"data":{}}`},
		{1, 0, `"seedLength":1`, `{"type":"session/end-seed","seq":1,"time":1800000000123,"data":{}}`},
		{0, 14, `"seedLength":15`, ``},
		{2, 14, `"isSeeded":true`, `{"type":"session/end-seed","seq":15,"time":9,"data":{"inherited":true}}`},
		{3, 10, `"isSeeded":true`, `{"type":"session/end-seed","seq":11,"time":9,"data":{"inherited":true}}`},
		{4, 11, `"isSeeded":true`, `{"type":"session/end-seed","seq":12,"time":9,"data":{"inherited":true}}`},
		{0, 12, `"seedLength":13`, `{"type":"session/end-seed","seq":13,"time":1800000000123,"data":{}}`},
		{3, 9, `"isSeeded":true`, `{"type":"session/end-seed","seq":10,"time":9,"data":{"inherited":true}}`},
		{0, 7, `"seedLength":8`, `{"type":"session/end-seed","seq":8,"time":1800000000123,"data":{}}`},
		{4, 5, `"isSeeded":true`, `
			{"type":"session/end-seed","seq":6,"time":9,"data":{"inherited":true}}
			{"type":"tool/result","seq":7,"time":9,"data":{"turn":1,"step":1,"message":{"id":"forked-tool-result-a-7","role":"tool","toolCallId":"a","isError":true,"source":{"kind":"tool","callId":"a"},"content":[{"type":"text","text":"NOT STARTED"}]},"error":{"name":"ToolNotStartedError","code":"TOOL_NOT_STARTED"}},"surfaceOp":"append"}
			{"type":"tool/result","seq":8,"time":9,"data":{"turn":1,"step":1,"message":{"id":"forked-tool-result-b\"-8","role":"tool","toolCallId":"b\"","isError":true,"source":{"kind":"tool","callId":"b\""},"content":[{"type":"text","text":"STARTED"}]},"error":{"name":"ToolOutcomeUnknownError","code":"TOOL_OUTCOME_UNKNOWN"}},"surfaceOp":"append","sourceEventSeqs":[5]}
			{"type":"step/end","seq":9,"time":9,"data":{"turn":1,"step":1}}
			{"type":"turn/end","seq":10,"time":9,"data":{"turn":1,"reason":{"kind":"forked"}}}`},
	} {
		s := stemOf(t, callsLog(c.version))
		_, data := s.grow(s.request(s.cuts()[c.seq+1], "sprout"))
		lines := strings.SplitAfter(string(s.data), "\n")
		want := fmt.Sprintf(head, c.version, c.seed) + "\n" + strings.Join(lines[1:c.seq+2], "")
		for _, line := range strings.Split(c.tail, "\n") {
			if line = strings.TrimSpace(line); line != "" {
				want += line + "\n"
			}
		}
		const begun = "This branch of the session begins after the tool call was recorded as started, and before its result (closed by sessfix). " + finding.LookFirst
		want = strings.NewReplacer(`"NOT STARTED"`, `"This branch of the session begins before the tool call was recorded as started. Ask for it again if it is still needed (closed by sessfix)."`,
			`"STARTED"`, `"`+begun+`"`).Replace(want)
		if string(data) != want {
			t.Errorf("version %d at %d:\n%s\nwant\n%s", c.version, c.seq, data, want)
		}
	}
}

// Every shipped session at every place: what the branch inherits is the parent's own bytes, and verify finds no fault in it.
func TestForkEverywhere(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("..", "..", "testdata", "sessions", "dsh", "*.jsonl*"))
	legal, closed := 0, 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := &stem{t: t, path: file, data: data, medium: scan.Lines}
		if strings.HasSuffix(file, ".zstd") {
			s.medium = scan.Frames
		}
		lines := bytes.SplitAfter(s.text(), []byte("\n"))
		for _, c := range s.cuts() {
			if c.N == 0 || s.medium == scan.Frames && c.N%6 > 0 { // frames take their time
				continue
			}
			if c.Open == "" {
				legal++
			} else {
				closed++
			}
			name, child := s.grow(s.request(c, "session-x"))
			if got := faults(t, filepath.Join("/made", name), child, s.medium); !fits(got, c) {
				t.Errorf("%s at %d, %s: %v", file, c.Seq, c.Open, got)
			}
			text := child
			if s.medium == scan.Frames {
				text = unframed(t, child)
			}
			_, text, _ = bytes.Cut(text, []byte("\n"))
			if !bytes.HasPrefix(text, bytes.Join(lines[1:c.N+1], nil)) {
				t.Errorf("%s at %d: the branch does not begin with the bytes of its parent", file, c.Seq)
			}
		}
	}
	if legal < 50 || closed < 300 {
		t.Fatalf("only %d legal places, and %d others", legal, closed)
	}
}

// The same of every version, at every place of a session that they all could have written.
func TestForkVersions(t *testing.T) {
	for version := range dsh.Newest + 1 {
		s := stemOf(t, callsLog(version))
		for _, c := range s.cuts()[1:] {
			name, data := s.grow(s.request(c, "x"))
			got := faults(t, path.Join("/made", name), data, scan.Lines)
			if version < 4 && !fits(got, c) || version == 4 && len(got) > 0 {
				t.Errorf("version %d at %d: %v", version, c.Seq, got)
			}
		}
	}
}

// What the header of a branch takes over, and where its log lies.
func TestForkHeader(t *testing.T) {
	for _, c := range []struct{ name, header, cwd, id, place, want, note string }{
		{"the preset stays, a sub-agent's origin and depth do not",
			`"id":"deep","createdAt":7,"cwd":"/w","parentSession":"top","seedLength":1,"origin":"subagent","delegationDepth":3,"agentPreset":"code"`, "", "x",
			"--w--/x/session.jsonl", `"id":"x","createdAt":1800000000123,"cwd":"/w","parentSession":"deep","seedLength":1,"delegationDepth":0,"agentPreset":"code"`,
			"the branch is a session of its own and no sub-agent of the other session's parent"},
		{"no folder", `"id":"deep","createdAt":7,"delegationDepth":0`, "", "a/b",
			"_no-cwd/a~002Fb/session.jsonl", `"id":"a/b","createdAt":1800000000123,"parentSession":"deep","seedLength":1,"delegationDepth":0`, ""},
		{"another folder", `"id":"deep","createdAt":7,"cwd":"/w","delegationDepth":0`, "/w <2>", "x",
			"--w~0020~003C2~003E--/x/session.jsonl", `"id":"x","createdAt":1800000000123,"cwd":"/w <2>","parentSession":"deep","seedLength":1,"delegationDepth":0`, ""},
		{"a cwd with escapes is copied", `"id":"de\u0065p","createdAt":7,"cwd":"\/w\u00e9","delegationDepth":0`, "", "x",
			"--w~00E9--/x/session.jsonl", `"id":"x","createdAt":1800000000123,"cwd":"\/w\u00e9","parentSession":"de\u0065p","seedLength":1,"delegationDepth":0`, ""},
		{"a member that no client knows", `"id":"deep","createdAt":7,"mode":"x","delegationDepth":0`, "", "x",
			"_no-cwd/x/session.jsonl", `"id":"x","createdAt":1800000000123,"parentSession":"deep","seedLength":1,"delegationDepth":0`,
			`members of the header that the client does not know, such as "mode", are not taken over`},
	} {
		s := stemOf(t, logOf(0, c.header, `session/title {"title":"T","messageSeqs":[],"source":{"kind":"user"}}`))
		q := s.request(s.cuts()[1], c.id)
		q.CWD = c.cwd
		child, err := dsh.Format{}.Fork(q)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		name, data := s.grow(q)
		first, _, _ := bytes.Cut(data, []byte("\n"))
		if want := `{"type":"session","version":0,` + c.want + "}"; name != c.place || string(first) != want {
			t.Errorf("%s: %s\n%s\nwant %s\n%s", c.name, name, first, c.place, want)
		}
		if note := strings.Join(child.Notes, "|"); note != c.note {
			t.Errorf("%s: notes %q", c.name, note)
		}
		if child.Root != filepath.Dir(s.path) {
			t.Errorf("%s: the branch of a copy lies under %s", c.name, child.Root)
		}
		if got := faults(t, path.Join("/made", name), data, scan.Lines); len(got) > 0 {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// A log in a root of sessions gets its branch into the same root.
func TestForkRoot(t *testing.T) {
	root := filepath.Join(t.TempDir(), "sessions")
	s := stemOf(t, callsLog(3))
	s.path = filepath.Join(root, "--srv-a~0020b--", "tide", "session.v3.jsonl")
	child, err := dsh.Format{}.Fork(s.request(s.cuts()[1], "x"))
	if err != nil || child.Root != root || child.Files[0].Name != "--srv-a~0020b--/x/session.v3.jsonl" {
		t.Fatalf("%+v, %v", child, err)
	}
}

// A branch that cannot be made is refused in words.
func TestForkRefuses(t *testing.T) {
	whole := callsLog(0)
	for _, c := range []struct {
		name, log string
		change    func(q *format.ForkRequest)
		want      string
	}{
		{"no id", whole, func(q *format.ForkRequest) { q.ID = "" }, "the branch needs an id"},
		{"its parent's id", whole, func(q *format.ForkRequest) { q.ID = "tide" }, "the branch cannot have the id of the session that it is made of"},
		{"a long id", whole, func(q *format.ForkRequest) { q.ID = strings.Repeat("/", 60) }, "the id makes a directory name of more than 255 bytes"},
		{"a relative folder", whole, func(q *format.ForkRequest) { q.CWD = "w" }, `the working directory "w" is no absolute path`},
		{"no header", strings.Join(strings.SplitAfter(whole, "\n")[1:], ""), nil, "the session has no readable header, and a branch must name it"},
		{"a hole", strings.Replace(whole, `"seq":3,`, `"seq":4,`, 1), nil, "the record does not carry number 3, which it should have"},
		{"another cut", whole, func(q *format.ForkRequest) { q.Cut.Seq = 9 }, "the records in front of the cut end with number 10, and not with 9"},
	} {
		s := stemOf(t, c.log)
		q := s.request(format.Cut{Ref: session.Ref{N: 11}, Seq: 10}, "x")
		if c.change != nil {
			c.change(&q)
		}
		child, err := dsh.Format{}.Fork(q)
		if err == nil {
			err = child.Files[0].Write(io.Discard)
		}
		var refused *format.RefusedError
		if !errors.As(err, &refused) || refused.Why != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// An empty session has an empty branch.
func TestForkEmpty(t *testing.T) {
	for version, want := range []string{`{"type":"session/end-seed","seq":0,"time":1800000000123,"data":{}}`, 2: `{"type":"session/end-seed","seq":0,"time":1800000000123,"data":{"inherited":true}}`} {
		if want == "" {
			continue
		}
		s := stemOf(t, logOf(version, "", "")[:strings.IndexByte(logOf(version, "", ""), '\n')+1])
		cuts := s.cuts()
		if len(cuts) != 1 || cuts[0].Open != "" {
			t.Fatalf("%+v", cuts)
		}
		_, data := s.grow(s.request(cuts[0], "x"))
		if _, tail, _ := strings.Cut(string(data), "\n"); tail != want+"\n" {
			t.Errorf("version %d: %s", version, tail)
		}
	}
}

// Ids are version 4 UUIDs of what the source of chance gives, and nothing else.
func TestForkNewID(t *testing.T) {
	id, err := dsh.Format{}.NewID(now, strings.NewReader("0123456789abcdef"))
	if want := "session-30313233-3435-4637-b839-616263646566"; id != want || err != nil {
		t.Errorf("%s, %v, want %s", id, err, want)
	}
	if _, err := (dsh.Format{}).NewID(now, strings.NewReader("0123")); err == nil {
		t.Error("an id of too little chance")
	}
}

// FuzzFork cuts a log with a strange line in it. Nothing may panic, and whatever is written reads as records.
func FuzzFork(f *testing.F) {
	for i, s := range fuzzSeeds(f) {
		f.Add(s, uint8(i), uint8(i*7))
	}
	f.Fuzz(func(t *testing.T, line []byte, version, at uint8) {
		lines := strings.SplitAfter(callsLog(int(version)%(dsh.Newest+1)), "\n")
		text := strings.Join(lines[:6], "") + string(line) + "\n" + strings.Join(lines[6:], "")
		s := &stem{t: t, path: "session.jsonl", data: []byte(text), medium: scan.Lines}
		cuts := s.cuts()
		c := cuts[int(at)%len(cuts)]
		child, err := dsh.Format{}.Fork(s.request(c, "x"))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if child.Files[0].Write(&b) != nil {
			return
		}
		for _, l := range bytes.Split(bytes.TrimSuffix(b.Bytes(), []byte("\n")), []byte("\n")) {
			if !json.Valid(l) {
				t.Fatalf("cut at %d: %q", c.Seq, l)
			}
		}
	})
}
