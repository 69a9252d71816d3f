package repair_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format/all"
	"github.com/sessfix/sessfix/internal/damage"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

const (
	ferryFile = "codex/ferry/rollout-2026-04-01T09-30-00-019d0001-1111-7222-8333-000000000001.jsonl"
	clawFile  = "openclaw/agents/main/sessions/019e0009-1111-7222-8333-000000000009.jsonl"
)

// Each outcome of each agent, made of shipped samples by steps of the damage recipes. Ask is seq:N, id:ID, line:N or last for the healthy
// session's line as a record, or a record. Why must be said, of an outcome that is unknown or as a note.
func TestCommittedOutcomes(t *testing.T) {
	for _, c := range []struct {
		name, file, client string
		steps              []string
		ask                string
		want               verify.Outcome
		says               string
	}{
		{"a number", "dsh/orchard.v0.jsonl", "", nil, "seq:5", verify.Stored, "does not prove"},
		{"one of a packed row", "dsh/stop-chunks.v0.jsonl", "", nil, "seq:10", verify.Stored, ""},
		{"behind the highest", "dsh/orchard.v0.jsonl", "", nil, "seq:999", verify.Absent, ""},
		{"a record", "dsh/orchard.v0.jsonl", "", nil, "line:7", verify.Stored, ""},
		{"in another spelling", "dsh/tiny.v0.jsonl", "", nil, `{ "seq":1,"type":"step/start", "time":1.7e12,"data":{"step":1,"turn":1.0}}`, verify.Unsure, "number 1"},
		{"a message", "dsh/orchard.v0.jsonl", "", nil, "id:no-such-id", verify.Absent, ""},
		{"its number has another", "dsh/orchard.v0.jsonl", "", nil, `{"type":"turn/end","seq":5,"time":1,"data":{"turn":9}}`, verify.Unsure, "another record has number 5"},
		{"a hole in the numbers", "dsh/orchard.v0.jsonl", "", []string{"drop-line 7"}, "seq:5", verify.Unsure, "missing between others"},
		{"damage in front that stops the client", "dsh/orchard.v0.jsonl", "", []string{"torn-line 7 at 30"}, "line:12", verify.Unsure, "TORN_LINE"},
		{"damage in front, asked for what is behind all", "dsh/orchard.v0.jsonl", "", []string{"torn-line 7 at 30"}, "seq:999", verify.Absent, ""},
		{"two on a line", "dsh/orchard.v0.jsonl", "", []string{"glue 7"}, "line:7", verify.Unsure, "damaged place"},
		{"NUL bytes at the end", "dsh/orchard.v0.jsonl", "", []string{"nul 512 end"}, "seq:999", verify.Unsure, "NUL_TAIL"},
		{"two histories", "dsh/two-writers.v0.jsonl", "", nil, "seq:9", verify.Unsure, ""},
		{"a frame", "dsh/orchard.v0.jsonl.zstd", "", nil, "seq:5", verify.Stored, ""},
		{"frames without checksum, found", "dsh/orchard.v0.jsonl.zstd", "", []string{"unchecked 2"}, "seq:5", verify.Stored, "no checksum"},
		{"frames without checksum, not found", "dsh/orchard.v0.jsonl.zstd", "", []string{"unchecked 2"}, "id:no-such-id", verify.Unsure, "without checksum"},
		{"a torn frame that still holds it", "dsh/orchard.v0.jsonl.zstd", "", []string{"torn-frame 6 -2"}, "last", verify.Unsure, ""},
		{"a damaged frame", "dsh/orchard.v0.jsonl.zstd", "", []string{"flip frame 2 byte 20 bit 3"}, "id:no-such-id", verify.Unsure, "FRAME"},
		{"the header is lost", "dsh/orchard.v0.jsonl", "", []string{"drop-line 1"}, "id:no-such-id", verify.Unsure, "beginning"},

		{"an ordinal", ferryFile, "", nil, "seq:30", verify.Stored, ""},
		{"behind the highest", ferryFile, "", nil, "seq:99", verify.Absent, ""},
		{"a record", ferryFile, "", nil, "line:12", verify.Stored, ""},
		{"a hole in the numbers", ferryFile, "", []string{"drop-line 12"}, "seq:11", verify.Unsure, "missing between others"},
		{"a torn line passed over", ferryFile, "", []string{"torn-line 12 at 40"}, "line:20", verify.Stored, ""},
		{"the torn line itself", ferryFile, "", []string{"torn-line 12 at 40"}, "line:12", verify.Unsure, "partly written"},
		{"bytes that stop the client", ferryFile, "", []string{"bom"}, "line:20", verify.Unsure, "BOM"},
		{"packed, found", "codex/packed/rollout-2026-04-09T09-30-00-019d0009-1111-7222-8333-000000000009.jsonl.zst", "", nil, "seq:4", verify.Stored, "no checksum"},

		{"a record's id", "claude-code/tiny.jsonl", "", nil, "id:17fa2c4b-8432-540c-9d9d-0065cdcfab0c", verify.Stored, ""},
		{"no such id", "claude-code/tiny.jsonl", "", nil, "id:no-such-id", verify.Absent, ""},
		{"no numbers, a record", "claude-code/old.jsonl", "", nil, "line:3", verify.Stored, ""},
		{"its child is there", "claude-code/tiny.jsonl", "", []string{"drop-line 9"}, "line:9", verify.Unsure, "named there"},
		{"its id has other content", "claude-code/old.jsonl", "", []string{`replace line 3 "\"type\":" "\"kind\":7,\"type\":"`}, "line:3", verify.Unsure, "its id"},
		{"a torn line", "claude-code/tiny.jsonl", "", []string{"torn-line 9 at 60"}, "line:9", verify.Unsure, ""},

		{"an entry", "pi/linear.jsonl", "", nil, "line:3", verify.Stored, ""},
		{"an answer whose call is lost", "pi/parallel.jsonl", "", []string{"drop-line 4"}, "line:5", verify.Stored, ""},
		{"no such entry", "pi/linear.jsonl", "", nil, "id:no-such-id", verify.Absent, ""},
		{"its child is there", "pi/linear.jsonl", "", []string{"drop-line 3"}, "line:3", verify.Unsure, "named there"},
		{"a transaction", "pi/orchard/harness.jsonl", "", nil, "id:019e0008-2222-7222-8333-000000000001", verify.Stored, ""},
		{"no such number", "pi/orchard/harness.jsonl", "", nil, "seq:9999", verify.Absent, ""},

		{"an entry", clawFile, "", nil, "line:3", verify.Stored, ""},
		{"no such entry", clawFile, "", nil, "id:no-such-id", verify.Absent, ""},
		{"behind a tear at which doctor stops", clawFile, "2026.9.6", []string{"torn-line 3 at 50"}, "line:5", verify.Unsure, "stops"},

		{"an event", "grok/tiny/updates.jsonl", "", nil, "id:019e8232-6000-7222-8333-000000000001-4", verify.Stored, ""},
		{"a call", "grok/orchard/updates.jsonl", "", nil, "id:call_south", verify.Stored, ""},
		{"no such id", "grok/tiny/updates.jsonl", "", nil, "id:no-such-id", verify.Absent, ""},
		{"a torn log", "grok/tiny/updates.jsonl", "", []string{"cut -30"}, "line:3", verify.Absent, "partly written"},
	} {
		agent, _, _ := strings.Cut(c.file, "/")
		t.Run(agent+", "+c.name, func(t *testing.T) {
			path := copied(t, c.file)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			p, err := damage.NewPart(data)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range c.steps {
				step, err := damage.ParseStep(s)
				if err == nil {
					err = p.Do(step)
				}
				if err != nil {
					t.Fatalf("%s: %v", s, err)
				}
			}
			if err := os.WriteFile(path, p.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			got := asking(t, path, c.client, "", question(t, c.ask, p.Base))
			if got.Outcome != c.want {
				t.Fatalf("%s, want %s: %+v", got.Outcome, c.want, got)
			}
			if said := strings.Join(append(got.Why, got.Notes...), "\n"); !strings.Contains(said, c.says) {
				t.Errorf("it says\n%s\nand not %q", said, c.says)
			}
			if got.Outcome == verify.Unsure && (len(got.Why) == 0 || len(got.Look) == 0) {
				t.Errorf("it does not say why, or what to look at: %+v", got)
			}
		})
	}
}

// question reads the short form of one.
func question(t *testing.T, ask string, lines [][]byte) (q verify.Question) {
	t.Helper()
	kind, value, _ := strings.Cut(ask, ":")
	number := func() (n int64) {
		for _, c := range value {
			n = n*10 + int64(c-'0')
		}
		return n
	}
	switch {
	case kind == "seq":
		q.Seq, q.Numbered = number(), true
	case kind == "id":
		q.ID = value
	case kind == "last":
		q.Record = lines[len(lines)-1]
	case kind == "line":
		q.Record = lines[number()-1]
	default:
		q.Record = []byte(ask)
	}
	return q
}

// A file of another's history counts as far as the session begins with it.
func TestCommittedElsewhere(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../testdata/sessions/codex/fork")); err != nil {
		t.Fatal(err)
	}
	child := filepath.Join(dir, "rollout-2026-04-04T09-30-00-019d0004-1111-7222-8333-000000000004.jsonl")
	for n := range int64(10) {
		if got := asking(t, child, "", "", verify.Question{Seq: n, Numbered: true}); got.Outcome != verify.Stored {
			t.Errorf("record %d, which stands in the file that the session begins in or in its own: %+v", n, got)
		}
	}
	if got := asking(t, child, "", "", verify.Question{Seq: 999, Numbered: true}); got.Outcome != verify.Absent {
		t.Errorf("a record behind all: %+v", got)
	}
	if err := os.Remove(filepath.Join(dir, "rollout-2026-04-03T09-30-00-019d0003-1111-7222-8333-000000000003.jsonl")); err != nil {
		t.Fatal(err)
	}
	if got := asking(t, child, "", "", verify.Question{Seq: 0, Numbered: true}); got.Outcome != verify.Unsure {
		t.Errorf("that file is gone: %+v", got)
	}
}

// A session that lies in two files, or went on in another, may have the record there.
func TestCommittedBeside(t *testing.T) {
	for dir, file := range map[string]string{"dual-encoding": "session.jsonl", "clean-generation-beside": "session.jsonl"} {
		path := filepath.Join("..", "testdata", "corrupt", dir, file)
		for _, q := range []verify.Question{{ID: "no-such-id"}, {Seq: 2, Numbered: true}} {
			if got := asking(t, path, "", "", q); got.Outcome != verify.Unsure {
				t.Errorf("%s: %+v", dir, got)
			}
		}
	}
}

// A call that no log has, and of which the output is there, was made.
func TestCommittedWitness(t *testing.T) {
	path := copied(t, "grok/tiny/updates.jsonl")
	ask := verify.Question{ID: "call_lost"}
	if got := asking(t, path, "", "", ask); got.Outcome != verify.Absent {
		t.Fatalf("%+v", got)
	}
	terminal := filepath.Join(filepath.Dir(path), "terminal")
	if err := os.Mkdir(terminal, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(terminal, "call_lost.log"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := asking(t, path, "", "", ask); got.Outcome != verify.Unsure {
		t.Errorf("%+v", got)
	}
}

// A session that later releases have in a database may have gone on there.
func TestCommittedMoved(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../testdata/sessions/openclaw")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, strings.TrimPrefix(clawFile, "openclaw/"))
	ask := verify.Question{ID: "no-such-id"}
	if got := asking(t, path, "", "", ask); got.Outcome != verify.Absent {
		t.Fatalf("%+v", got)
	}
	agent := filepath.Join(dir, "agents", "main", "agent")
	if err := os.Mkdir(agent, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(agent, "openclaw-agent.sqlite"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := asking(t, path, "", "", ask); got.Outcome != verify.Unsure {
		t.Errorf("%+v", got)
	}
}

// A packed rollout beside which the plain one lies is not what the client reads.
func TestCommittedPackedBeside(t *testing.T) {
	path := copied(t, "codex/packed/rollout-2026-04-09T09-30-00-019d0009-1111-7222-8333-000000000009.jsonl.zst")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := damage.Unpack(data)
	if err != nil {
		t.Fatal(err)
	}
	ask := verify.Question{Seq: 4, Numbered: true}
	if got := asking(t, path, "", "", ask); got.Outcome != verify.Stored {
		t.Fatalf("%+v", got)
	}
	plain := strings.TrimSuffix(path, ".zst")
	if err := os.WriteFile(plain, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := asking(t, path, "", "", ask); got.Outcome != verify.Unsure {
		t.Errorf("the packed one: %+v", got)
	}
	if got := asking(t, plain, "", "", ask); got.Outcome != verify.Stored {
		t.Errorf("the plain one: %+v", got)
	}
}

// A row that a database counts and the log does not hold was there.
func TestCommittedCounted(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "sessions", "2026", "04", "01")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("../testdata/sessions/" + ferryFile)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, filepath.Base(ferryFile))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	ask := verify.Question{Seq: 999, Numbered: true}
	if got := asking(t, path, "", "", ask); got.Outcome != verify.Absent {
		t.Fatalf("%+v", got)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(home, "thread_history_1.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range []string{
		"create table thread_history_projection_state (thread_id text, next_rollout_byte_offset int, next_rollout_ordinal int)",
		fmt.Sprintf("insert into thread_history_projection_state values ('019d0001-1111-7222-8333-000000000001', %d, 40)", len(data)+100),
	} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	if got := asking(t, path, "", "", ask); got.Outcome != verify.Unsure {
		t.Errorf("%+v", got)
	}
}

// Where somebody has the log open a record that is not there may still come; one that is there stays there.
func TestCommittedLive(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("looking for processes works on Linux only")
	}
	data, err := os.ReadFile("../testdata/sessions/dsh/tiny.v0.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := bytes.Cut(data, []byte("\n"))
	head = regexp.MustCompile(`"id":"[^"]*"`).ReplaceAll(head, []byte(`"id":"s-fault"`))
	head = regexp.MustCompile(`"cwd":"[^"]*"`).ReplaceAll(head, []byte(`"cwd":"/w"`))
	b := newHomeBed(t, slices.Concat(head, []byte("\n"), rest))
	ask := func(seq int64) verify.Outcome {
		found, err := store.Open(t.Context(), []string{b.path}, store.Options{Formats: all.Formats()})
		if err != nil {
			t.Fatal(err)
		}
		defer found.Close()
		c, err := repair.Committed(t.Context(), found.Groups()[0], verify.Question{Seq: seq, Numbered: true}, b.cases)
		if err != nil {
			t.Fatal(err)
		}
		return c.Outcome
	}
	if got := ask(999); got != verify.Absent {
		t.Errorf("nobody is there: %s", got)
	}
	for _, what := range []string{"lock", "write"} {
		at := b.path
		if what == "lock" {
			at = filepath.Join(b.home, "session.lock")
		}
		end := faultChild(t, what, at)
		if got := ask(999); got != verify.Unsure {
			t.Errorf("%s: %s", what, got)
		}
		if got := ask(3); got != verify.Stored {
			t.Errorf("%s, of what is there: %s", what, got)
		}
		end()
	}
	if got := ask(999); got != verify.Absent {
		t.Errorf("the owner is gone: %s", got)
	}
}

// A client that takes the number of a torn record for its own, as resuming does, does not make that one written; neither does
// a repair, which moreover keeps what is left of it.
func TestCommittedAfterRepair(t *testing.T) {
	data, err := os.ReadFile("../testdata/sessions/dsh/stop-one-result.v0.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndexByte(data[:len(data)-1], '\n') + 1
	record := data[at:]
	b := newBed(t, "session.jsonl", data[:len(data)-20])
	torn := asking(t, b.path, "", b.cases, verify.Question{Record: record})
	if torn.Outcome != verify.Absent || !strings.HasPrefix(torn.Advice, "mend the log") {
		t.Fatalf("%+v", torn)
	}
	if _, err := b.repair(nil); err != nil {
		t.Fatal(err)
	}
	b.settle()
	seq, err := strconv.ParseInt(string(regexp.MustCompile(`"seq":(\d+)`).FindSubmatch(record)[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	for ask, q := range map[string]verify.Question{"record": {Record: record}, "number": {Seq: seq, Numbered: true}} {
		got := asking(t, b.path, "", b.cases, q)
		if got.Outcome != verify.Unsure {
			t.Errorf("%s: %+v", ask, got)
		}
		if len(got.Why) == 0 || len(got.Look) == 0 {
			t.Errorf("%s: it does not say why: %+v", ask, got)
		}
	}
	// Without the case its number is still known to be a recovery's.
	if got := asking(t, b.path, "", "", verify.Question{Seq: seq, Numbered: true}); got.Outcome != verify.Unsure {
		t.Errorf("%+v", got)
	}
	if err := b.undo(nil); err != nil {
		t.Fatal(err)
	}
	if got := asking(t, b.path, "", b.cases, verify.Question{Record: record}); got.Outcome != verify.Absent || got.Advice != torn.Advice {
		t.Errorf("after undo: %+v", got)
	}
}
