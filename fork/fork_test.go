package fork_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/durable/faultfs"
	"github.com/sessfix/sessfix/fork"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/claude"
	"github.com/sessfix/sessfix/format/codex"
	"github.com/sessfix/sessfix/format/dsh"
	"github.com/sessfix/sessfix/format/grok"
	"github.com/sessfix/sessfix/format/openclaw"
	"github.com/sessfix/sessfix/format/pi"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

var formats = []format.Format{dsh.Format{}, claude.Format{}, codex.Format{}, openclaw.Format{}, pi.Format{}, grok.Format{}}

var when = time.Date(2026, 2, 3, 4, 5, 6, 789e6, time.UTC)

func options(at string, before bool) fork.Options {
	p, err := fork.ParsePlace(at, before)
	if err != nil {
		panic(err)
	}
	return fork.Options{Place: p, Now: when, Random: rand.NewChaCha8([32]byte{7}), Store: store.Options{Formats: formats}}
}

// open gives the sessions below a path.
func open(t *testing.T, path string) [][]store.Session {
	t.Helper()
	found, err := store.Open(context.Background(), []string{path}, store.Options{Formats: formats})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(found.Close)
	return found.Groups()
}

// tree is what lies in a folder.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return out
}

// copyTree gives a test sessions of its own.
func copyTree(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(from))
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

func clean(t *testing.T, parts []store.Session) bool {
	t.Helper()
	for _, s := range parts {
		res, err := verify.File(context.Background(), s)
		if err != nil || res.Verdict != verify.Clean {
			return false
		}
	}
	return true
}

func TestParsePlace(t *testing.T) {
	for text, want := range map[string]string{
		"last": "last", "turn:3": "turn:3", "turn:0": "turn:0", "seq:0": "seq:0", "line:9": "line:9", "id:a b": "id:a b", "id:x:y": "id:x:y",
		"": "", "last:1": "", "turn": "", "turn:": "", "turn:x": "", "turn:-1": "", "line:0": "", "id:": "", "end": "", "seq:99999999999999999999": "",
	} {
		p, err := fork.ParsePlace(text, false)
		switch {
		case (err == nil) != (want != ""):
			t.Errorf("%q: %v", text, err)
		case err == nil && p.String() != want:
			t.Errorf("%q reads as %q", text, p)
		}
	}
}

// two is a talk of two turns, with two calls at once in the first.
const two = `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"hi"},"uuid":"00000001-0000-4000-8000-000000000001","timestamp":"2026-01-02T03:04:05.000Z","sessionId":"5a5a5a5a-1111-4222-8333-444455556666","cwd":"/w","version":"2.1.300"}
{"parentUuid":"00000001-0000-4000-8000-000000000001","isSidechain":false,"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"Bash","input":{}}]},"uuid":"00000002-0000-4000-8000-000000000002","timestamp":"2026-01-02T03:04:06.000Z","sessionId":"5a5a5a5a-1111-4222-8333-444455556666","cwd":"/w","version":"2.1.300"}
{"parentUuid":"00000002-0000-4000-8000-000000000002","isSidechain":false,"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"call_2","name":"Bash","input":{}}]},"uuid":"00000003-0000-4000-8000-000000000003","timestamp":"2026-01-02T03:04:07.000Z","sessionId":"5a5a5a5a-1111-4222-8333-444455556666","cwd":"/w","version":"2.1.300"}
{"parentUuid":"00000002-0000-4000-8000-000000000002","isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"one"}]},"uuid":"00000004-0000-4000-8000-000000000004","timestamp":"2026-01-02T03:04:08.000Z","sessionId":"5a5a5a5a-1111-4222-8333-444455556666","cwd":"/w","version":"2.1.300"}
{"parentUuid":"00000003-0000-4000-8000-000000000003","isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_2","content":"two"}]},"uuid":"00000005-0000-4000-8000-000000000005","timestamp":"2026-01-02T03:04:09.000Z","sessionId":"5a5a5a5a-1111-4222-8333-444455556666","cwd":"/w","version":"2.1.300"}
{"parentUuid":"00000005-0000-4000-8000-000000000005","isSidechain":false,"type":"assistant","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"done"}]},"uuid":"00000006-0000-4000-8000-000000000006","timestamp":"2026-01-02T03:04:10.000Z","sessionId":"5a5a5a5a-1111-4222-8333-444455556666","cwd":"/w","version":"2.1.300"}
{"parentUuid":"00000006-0000-4000-8000-000000000006","isSidechain":false,"type":"user","message":{"role":"user","content":"more"},"uuid":"00000007-0000-4000-8000-000000000007","timestamp":"2026-01-02T03:04:11.000Z","sessionId":"5a5a5a5a-1111-4222-8333-444455556666","cwd":"/w","version":"2.1.300"}
{"parentUuid":"00000007-0000-4000-8000-000000000007","isSidechain":false,"type":"assistant","message":{"id":"m3","role":"assistant","content":[{"type":"text","text":"that is all"}]},"uuid":"00000008-0000-4000-8000-000000000008","timestamp":"2026-01-02T03:04:12.000Z","sessionId":"5a5a5a5a-1111-4222-8333-444455556666","cwd":"/w","version":"2.1.300"}
`

func lone(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Each place is legal or refused, with the reason and the nearest ones that are not.
func TestPlaces(t *testing.T) {
	path := lone(t, "5a5a5a5a-1111-4222-8333-444455556666.jsonl", two)
	parts := open(t, path)[0]
	for _, c := range []struct {
		at     string
		before bool
		want   string // records of the child, or what the refusal says
	}{
		{"last", false, "8"}, {"last", true, "7"}, {"turn:1", false, "6"}, {"turn:2", false, "8"}, {"turn:2", true, "6"}, {"turn:3", false, "no turn 3: it has 2"},
		{"turn:1", true, "empty"}, {"line:1", false, "1"}, {"line:1", true, "empty; the nearest place is line:1"},
		{"line:2", false, "call_1 is unanswered there; the nearest places are line:1 and line:5"}, {"line:3", false, "call_2 is unanswered"},
		{"line:4", false, "call_2 is unanswered"}, {"line:5", false, "5"}, {"line:6", true, "5"}, {"line:9", false, "there is no line:9"},
		{"id:00000006-0000-4000-8000-000000000006", false, "6"}, {"id:call_1", false, "there is no id:call_1"}, {"seq:1", false, "there is no seq:1"},
	} {
		o := options(c.at, c.before)
		o.Output = t.TempDir()
		child, err := fork.Make(context.Background(), parts, o)
		var no *fork.RefusedError
		switch {
		case errors.As(err, &no):
			if !strings.Contains(no.Why, c.want) {
				t.Errorf("%s before %t: %q, want %q", c.at, c.before, no.Why, c.want)
			}
			if left := tree(t, o.Output); len(left) > 0 {
				t.Errorf("%s: %v is left", c.at, left)
			}
		case err != nil:
			t.Errorf("%s before %t: %v", c.at, c.before, err)
		case fmt.Sprint(child.Records) != c.want:
			t.Errorf("%s before %t: %d records, want %s", c.at, c.before, child.Records, c.want)
		}
	}
	if data, _ := os.ReadFile(path); string(data) != two {
		t.Error("the parent is not as it was")
	}
}

// An id is found however its format keeps it.
func TestPlaceByID(t *testing.T) {
	const text = `{"type":"session","version":3,"id":"019a0000-0000-7000-8000-000000000001","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/w"}
{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-01-02T03:04:06.000Z","message":{"role":"user","content":"hi","timestamp":1767323046000}}
{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"2026-01-02T03:04:07.000Z","message":{"role":"user","content":"more","timestamp":1767323047000}}
`
	path := lone(t, "2026-01-02T03-04-05-000Z_019a0000-0000-7000-8000-000000000001.jsonl", text)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	o := options("id:aaaaaaaa", false)
	o.Output = t.TempDir()
	child, err := fork.Make(context.Background(), open(t, path)[0], o)
	if err != nil || child.Records != 2 {
		t.Fatalf("%+v: %v", child, err)
	}
	if fi, err := os.Stat(child.Path); err != nil || fi.Mode().Perm() != 0o640 && runtime.GOOS != "windows" {
		t.Errorf("the child's mode is %v: %v", fi.Mode(), err)
	}
}

// fieldPlace is a request to the command in a case from the field.
type fieldPlace struct {
	Before  int    `json:"before_line"`
	After   int    `json:"after_line"`
	Expect  string `json:"expect"`
	Records int64  `json:"child_records"`
	Nearest []int  `json:"nearest"`
}

// The requests of the cases from the field are answered as expected, and a refused one writes nothing.
func TestFieldPlaces(t *testing.T) {
	names, _ := filepath.Glob(filepath.Join("..", "testdata", "field", "*", "expect.json"))
	seen := 0
	for _, name := range names {
		var expect struct {
			Inputs []string
			After  struct{ Fork []fieldPlace } `json:"after_repair"`
		}
		data, err := os.ReadFile(name)
		if err != nil || json.Unmarshal(data, &expect) != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, q := range expect.After.Fork {
			seen++
			parts := open(t, filepath.Join(filepath.Dir(name), expect.Inputs[0]))[0]
			o := options(fmt.Sprintf("line:%d", max(q.Before, q.After)), q.Before > 0)
			o.Output = t.TempDir()
			child, err := fork.Make(context.Background(), parts, o)
			var no *fork.RefusedError
			switch {
			case q.Expect == "refuse" && !errors.As(err, &no), q.Expect == "refuse" && len(tree(t, o.Output)) > 0:
				t.Errorf("%s %+v: %v", name, q, err)
			case q.Expect == "ok" && (err != nil || child.Records != q.Records):
				t.Errorf("%s %+v: %+v, %v", name, q, child, err)
			}
			for _, n := range q.Nearest {
				if !strings.Contains(no.Why, fmt.Sprintf("line:%d", n)) {
					t.Errorf("%s %+v: %q does not name line %d", name, q, no.Why, n)
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no case asks for a fork")
	}
}

// What is open at a place is ended there when that was asked for.
func TestClose(t *testing.T) {
	parts := open(t, lone(t, "5a5a5a5a-1111-4222-8333-444455556666.jsonl", two))[0]
	o := options("line:4", false)
	o.Close, o.Output = true, t.TempDir()
	child, err := fork.Make(context.Background(), parts, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(child.Closers) != 1 || child.Closers[0].CallID != "call_2" || child.Closers[0].Code != "TOOL_OUTCOME_UNKNOWN" {
		t.Errorf("closers %+v", child.Closers)
	}
	if got := open(t, child.Path); len(got) != 1 || !clean(t, got[0]) {
		t.Error("the child is not clean")
	}
}

// Every legal place of every session that is shipped gives a child that is clean, and every other one a reason; the parents stay
// as they are.
func TestEveryPlace(t *testing.T) {
	for _, agent := range []string{"dsh", "claude-code", "codex", "pi", "openclaw", "grok"} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			dir := copyTree(t, filepath.Join("..", "testdata", "sessions", agent))
			before := tree(t, dir)
			legal, illegal := 0, 0
			for _, parts := range open(t, dir) {
				if !clean(t, parts) {
					continue
				}
				cuts, err := fork.List(context.Background(), parts)
				var no *fork.RefusedError
				if errors.As(err, &no) {
					continue // no log, or of a generation that is brought over first
				}
				if err != nil {
					t.Errorf("%s: %v", parts[0].Path, err)
					continue
				}
				every := 1
				if testing.Short() {
					every = 5
				}
				for i, c := range cuts {
					if i%every != 0 {
						continue
					}
					at := fmt.Sprintf("line:%d", c.Logical)
					o := options(at, false)
					o.Output = t.TempDir()
					child, err := fork.Make(context.Background(), parts, o)
					switch {
					case c.Open != "":
						illegal++
						if !errors.As(err, &no) || !strings.HasPrefix(no.Why, c.Open) {
							t.Errorf("%s %s: %v, want %q", parts[0].Path, at, err, c.Open)
						}
					case errors.As(err, &no):
						t.Errorf("%s %s: legal, and %v", parts[0].Path, at, err)
					case err != nil:
						t.Errorf("%s %s: %v", parts[0].Path, at, err)
					default:
						legal++
						if got := open(t, child.Path); len(got) != 1 || !clean(t, got[0]) {
							t.Errorf("%s %s: the child is not clean", parts[0].Path, at)
						}
					}
				}
			}
			if legal < 3 {
				t.Errorf("%d legal places, %d others", legal, illegal)
			}
			if !maps.Equal(tree(t, dir), before) {
				t.Error("a parent is not as it was")
			}
		})
	}
}

// Whatever operation fails, or is the last one before a crash: there is a child, or there is none that anybody finds.
func TestFaults(t *testing.T) {
	for _, from := range []string{"claude-code", "dsh", "pi"} {
		t.Run(from, func(t *testing.T) {
			dir := copyTree(t, filepath.Join("..", "testdata", "sessions", from))
			var parts []store.Session
			for _, g := range open(t, dir) {
				if clean(t, g) && parts == nil {
					if _, err := fork.List(context.Background(), g); err == nil {
						parts = g
					}
				}
			}
			attempt := func(fsys durable.FS) (string, error) {
				o := options("last", false)
				o.Output, o.FS = t.TempDir(), fsys
				_, err := fork.Make(context.Background(), parts, o)
				return o.Output, err
			}
			counting := faultfs.New(durable.Disk)
			out, err := attempt(counting)
			if err != nil {
				t.Fatal(err)
			}
			want := tree(t, out)
			for n := 1; n <= counting.Ops(); n++ {
				for _, stop := range []bool{false, true} {
					fsys := faultfs.New(durable.Disk)
					if stop {
						fsys.Stop(n)
					} else {
						fsys.Fail(n, nil)
					}
					out, err := attempt(fsys)
					got := tree(t, out)
					for name, text := range got {
						if strings.HasSuffix(name, ".tmp") && stop {
							continue
						}
						if want[name] != text || err != nil && !stop {
							t.Errorf("operation %d, stop %t: %s is left: %v", n, stop, name, err)
						}
					}
					if err == nil && !maps.Equal(got, want) {
						t.Errorf("operation %d, stop %t: done, and not there", n, stop)
					}
				}
			}
		})
	}
}

// A child never takes the place of anything.
func TestNeverOver(t *testing.T) {
	parts := open(t, lone(t, "5a5a5a5a-1111-4222-8333-444455556666.jsonl", two))[0]
	o := options("last", false)
	o.Output, o.ID = t.TempDir(), "6b6b6b6b-1111-4222-8333-444455556666"
	child, err := fork.Make(context.Background(), parts, o)
	if err != nil {
		t.Fatal(err)
	}
	before := tree(t, o.Output)
	var no *fork.RefusedError
	if _, err := fork.Make(context.Background(), parts, o); !errors.As(err, &no) || !strings.Contains(no.Why, "there already") {
		t.Errorf("again: %v", err)
	}
	if !maps.Equal(tree(t, o.Output), before) {
		t.Errorf("%s is not as it was", child.Path)
	}
}

// The same parent, place, id and time give the same child.
func TestSameChild(t *testing.T) {
	parts := open(t, lone(t, "5a5a5a5a-1111-4222-8333-444455556666.jsonl", two))[0]
	var first map[string]string
	for range 2 {
		o := options("turn:1", false)
		o.Output = t.TempDir()
		if _, err := fork.Make(context.Background(), parts, o); err != nil {
			t.Fatal(err)
		}
		if got := tree(t, o.Output); first == nil {
			first = got
		} else if !maps.Equal(first, got) {
			t.Error("two children differ")
		}
	}
}

// What stands in front of the place must be whole; what is behind does not matter.
func TestDamagedParent(t *testing.T) {
	lines := strings.SplitAfter(two, "\n")
	torn := strings.Join(lines[:6], "") + lines[6][:80] + "\n" + lines[7]
	parts := open(t, lone(t, "5a5a5a5a-1111-4222-8333-444455556666.jsonl", torn))[0]
	o := options("line:6", false)
	o.Output = t.TempDir()
	if child, err := fork.Make(context.Background(), parts, o); err != nil || child.Records != 6 {
		t.Errorf("in front of the damage: %v", err)
	}
	o = options("last", false)
	o.Output = t.TempDir()
	var no *fork.RefusedError
	if _, err := fork.Make(context.Background(), parts, o); !errors.As(err, &no) || !strings.Contains(no.Why, "stands in front of the place") {
		t.Errorf("behind it: %v", err)
	}
}
