package pi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/internal/damage"
	"github.com/sessfix/sessfix/session"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 7e6, time.FixedZone("", 3600))

func TestNewID(t *testing.T) {
	id, err := Format{}.NewID(time.UnixMilli(0x0123456789ab), bytes.NewReader(bytes.Repeat([]byte{0xff}, 10)))
	if err != nil || id != "01234567-89ab-7fff-bfff-ffffffffffff" {
		t.Errorf("%s, %v", id, err)
	}
	if _, err := (Format{}).NewID(noon, bytes.NewReader(nil)); err == nil {
		t.Error("an id without chance")
	}
}

// forking asks for the child of lines, cut behind the one with a number. Taken are those on the way up from there.
func forking(n int, lines []string) format.ForkRequest {
	d, _ := Format{}.Dialect(format.Peek{First: []byte(lines[0]), FirstLine: true}, "")
	byID, taken := map[session.ID]int{}, map[int]bool{}
	of := func(i, key int) session.ID {
		f, err := read([]byte(lines[i]))
		if err != nil {
			return session.ID{}
		}
		return idOf(f, key)
	}
	for i := range lines {
		byID[of(i, kID)] = i
	}
	for i, ok := n, true; ok && i > 0 && !taken[i]; i, ok = byID[of(i, kParent)] {
		taken[i] = true
	}
	return format.ForkRequest{
		Path: "/h/.pi/agent/sessions/--w--/p.jsonl", Medium: "jsonl", Dialect: d, ID: "child", Now: noon,
		Cut: format.Cut{Ref: session.Ref{N: int64(n)}},
		Each: func(yield func(r *session.Record, taken bool) error) error {
			for i, l := range lines {
				if err := yield(&session.Record{N: int64(i), Raw: []byte(l)}, i == 0 || taken[i]); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// childOf writes the child.
func childOf(q format.ForkRequest) ([]string, error) {
	c, err := Format{}.Fork(q)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := c.Files[0].Write(&b); err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n"), nil
}

// put is an entry: its id, what it hangs under, and more members.
func put(typ, id, up, more string) string {
	if up != "null" {
		up = `"` + up + `"`
	}
	return `{"type":"` + typ + `","id":"` + id + `","parentId":` + up + `,"timestamp":"2026-01-01T00:00:01.000Z"` + more + `}`
}

func TestFork(t *testing.T) {
	born := `{"type":"session","version":3,"id":"child","timestamp":"2026-06-01T11:00:00.007Z","cwd":"/w","parentSession":"/h/.pi/agent/sessions/--w--/p.jsonl"}`
	said := func(id, up string) string { return put("message", id, up, `,"message":{"role":"user","content":"t"}`) }
	named := func(id, up, target, text string) string {
		return put("label", id, up, `,"targetId":"`+target+`","label":"`+text+`"`)
	}
	keeps := func(id, up, first string) string { return put("compaction", id, up, `,"firstKeptEntryId":"`+first+`"`) }
	// An id <x> is the one that a label x has in the child.
	for _, c := range []struct {
		name string
		at   int
		in   []string
		out  []string
	}{
		{"the first of two", 1, []string{head, said("a", "null"), said("b", "a")}, []string{born, said("a", "null")}},
		{"one of two branches", 3, []string{head, said("a", "null"), said("b", "a"), said("c", "a"), said("d", "b")}, []string{born, said("a", "null"), said("c", "a")}},
		{"bytes stay", 2, []string{head, ` {"id" : "a","type":"message","n":1.0,"n":9007199254740993,"parentId" : null }`, said("b", "a")},
			[]string{born, ` {"id" : "a","type":"message","n":1.0,"n":9007199254740993,"parentId" : null }`, said("b", "a")}},
		{"a label on the way", 3, []string{head, said("a", "null"), named("b", "a", "a", "x"), said("c", "b")}, []string{born, said("a", "null"), said("c", "a"), named("<b>", "c", "a", "x")}},
		{"a label at the start", 2, []string{head, named("a", "null", "b", "x"), said("b", "a")}, []string{born, said("b", "null"), named("<a>", "b", "b", "x")}},
		{"a label elsewhere, of an entry on the way", 1, []string{head, said("a", "null"), said("b", "a"), named("c", "b", "a", "x")}, []string{born, said("a", "null"), named("<c>", "a", "a", "x")}},
		{"a label of an entry elsewhere", 1, []string{head, said("a", "null"), said("b", "a"), named("c", "b", "b", "x")}, []string{born, said("a", "null")}},
		{"a label that was taken off", 4, []string{head, said("a", "null"), named("b", "a", "a", "x"), put("label", "c", "b", `,"targetId":"a"`), said("d", "c")}, []string{born, said("a", "null"), said("d", "a")}},
		{"a label that was changed", 3, []string{head, said("a", "null"), named("b", "a", "a", "x"), named("c", "b", "a", "y")}, []string{born, said("a", "null"), named("<c>", "a", "a", "y")}},
		{"a label of a label", 3, []string{head, said("a", "null"), named("b", "a", "a", "x"), named("c", "b", "b", "y")}, []string{born, said("a", "null"), named("<b>", "a", "a", "x")}},
		{"labels hang under each other", 4, []string{head, said("a", "null"), named("b", "a", "a", "x"), said("c", "b"), named("d", "c", "c", "y")},
			[]string{born, said("a", "null"), said("c", "a"), named("<b>", "c", "a", "x"), named("<d>", "<b>", "c", "y")}},
		{"a compaction that keeps from a label on", 4, []string{head, said("a", "null"), named("b", "a", "a", "x"), said("c", "b"), keeps("d", "c", "b")},
			[]string{born, said("a", "null"), said("c", "a"), keeps("d", "c", "c"), named("<b>", "d", "a", "x")}},
		{"and nothing stands between", 3, []string{head, said("a", "null"), named("b", "a", "a", "x"), keeps("d", "b", "b")},
			[]string{born, said("a", "null"), keeps("d", "a", "d"), named("<b>", "d", "a", "x")}},
		{"a compaction that keeps itself", 2, []string{head, said("a", "null"), keeps("d", "a", "d")}, []string{born, said("a", "null"), keeps("d", "a", "d")}},
		{"a parent further on", 2, []string{head, said("b", "a"), said("c", "b"), said("a", "null")}, []string{born, said("a", "null"), said("b", "a"), said("c", "b")}},
		{"a parent that is nowhere", 2, []string{head, said("a", "x"), said("b", "a")}, []string{born, said("a", "null"), said("b", "a")}},
		{"a parent that is a circle", 2, []string{head, said("a", "b"), said("b", "a")}, []string{born, said("a", "null"), said("b", "a")}},
		{"no parent at all", 1, []string{head, `{"type":"message","id":"a"}`}, []string{born, `{"type":"message","parentId":null,"id":"a"}`}},
		{"numbers for ids", 2, []string{head, `{"type":"x","id":7,"parentId":null}`, `{"type":"label","id":8,"parentId":7,"targetId":7,"label":"x"}`},
			[]string{born, `{"type":"x","id":7,"parentId":null}`, `{"type":"label","id":"<8>","parentId":7,"targetId":7,"label":"x"}`}},
		{"an id a second time", 3, []string{head, said("a", "null"), said("a", "null"), said("b", "a")}, []string{born, said("a", "null"), said("b", "a")}},
		{"strays and a second header", 4, []string{head, said("a", "null"), `{}`, head, said("b", "a")}, []string{born, said("a", "null"), said("b", "a")}},
		{"a header with more in it", 1, []string{strings.Replace(head, `"cwd"`, `"parentSession":"/old","metadata":{"n":1.0},"cwd"`, 1), said("a", "null")},
			[]string{`{"type":"session","version":3,"id":"child","timestamp":"2026-06-01T11:00:00.007Z","parentSession":"/h/.pi/agent/sessions/--w--/p.jsonl","metadata":{"n":1.0},"cwd":"/w"}`, said("a", "null")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := childOf(forking(c.at, c.in))
			if err != nil {
				t.Fatal(err)
			}
			for i, w := range c.out {
				c.out[i] = regexp.MustCompile(`"<(\w)>"`).ReplaceAllStringFunc(w, func(name string) string {
					was := `"` + name[2:3] + `"`
					if name == `"<8>"` {
						was = "8"
					}
					return string(dialect{}.NewID("child\x00label\x00"+was, func([]byte) bool { return false }))
				})
			}
			if g, w := strings.Join(got, "\n"), strings.Join(c.out, "\n"); g != w {
				t.Errorf("got\n%s\nwant\n%s", g, w)
			}
		})
	}
}

// A label's new id is none that the parent has.
func TestForkLabelID(t *testing.T) {
	free := string(dialect{}.NewID("child\x00label\x00\"b\"", func([]byte) bool { return false }))
	lines := []string{head, treed, put("label", "b", "a", `,"targetId":"a","label":"x"`), strings.Replace(put("custom", "#", "a", ""), `"#"`, free, 1)}
	got, err := childOf(forking(1, lines))
	if err != nil || len(got) != 3 || strings.Contains(got[2], free) || !strings.Contains(got[2], `"label":"x"`) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestForkPlace(t *testing.T) {
	for _, c := range []struct{ path, cwd, root, name string }{
		{"/h/sessions/--w--/p.jsonl", "", "/h/sessions", "--w--/2026-06-01T11-00-00-007Z_child.jsonl"},
		{"/h/sessions/--w--/p.jsonl", "/x/y", "/h/sessions", "--x-y--/2026-06-01T11-00-00-007Z_child.jsonl"},
		{"/all/p.jsonl", "", "/all", "2026-06-01T11-00-00-007Z_child.jsonl"},
		{"/all/p.jsonl", "/x/y", "/all", "2026-06-01T11-00-00-007Z_child.jsonl"},
	} {
		q := forking(1, []string{head, treed})
		q.Path, q.CWD = filepath.FromSlash(c.path), c.cwd
		q.Dir = fstest.MapFS{"2026-01-01T00-00-00-000Z_grandchild.jsonl": {}, "child.jsonl": {}}
		got, err := Format{}.Fork(q)
		if err != nil || len(got.Files) != 1 {
			t.Fatal(got, err)
		}
		abs, _ := filepath.Abs(filepath.FromSlash(c.root))
		if got.Root != abs || got.Files[0].Name != c.name {
			t.Errorf("%s in %q: %s in %s", c.path, c.cwd, got.Files[0].Name, got.Root)
		}
		lines, err := childOf(q)
		if f, e := read([]byte(lines[0])); err != nil || e != nil || plain(f.Value(kCWD)) != map[bool]string{true: "/w", false: c.cwd}[c.cwd == ""] {
			t.Errorf("%s", lines[0])
		}
		if h, ok := (Format{}).Inherits(format.Peek{First: []byte(lines[0]), FirstLine: true}); !ok || h.Parent != q.Path && filepath.IsAbs(q.Path) || h.Records != -1 {
			t.Errorf("%s: %+v", lines[0], h)
		}
	}
}

func TestForkNotes(t *testing.T) {
	lines := []string{head, treed, put("label", "b", "a", `,"targetId":"a","label":"x"`), put("custom", "c", "b", "")}
	for at, want := range map[int]string{1: "entries behind the cut or on other branches, which stay with the parent alone: 1", 3: ""} {
		c, err := Format{}.Fork(forking(at, lines))
		if err != nil || strings.Join(c.Notes, "|") != want {
			t.Errorf("%d: %q, %v", at, c.Notes, err)
		}
	}
}

func TestForkRefuses(t *testing.T) {
	q := func(change func(*format.ForkRequest), lines ...string) format.ForkRequest {
		q := forking(1, lines)
		if change != nil {
			change(&q)
		}
		return q
	}
	var many []string
	for i := range 500 {
		many = append([]string{put("custom", fmt.Sprint("c", i), map[bool]string{true: "null", false: fmt.Sprint("c", i-1)}[i == 0], "")}, many...)
	}
	for _, c := range []struct {
		name, why string
		q         format.ForkRequest
	}{
		{"version 1", "sessfix migrate", q(nil, first1, ask)},
		{"version 2", "sessfix migrate", q(nil, strings.Replace(head, ":3", ":2", 1), treed)},
		{"AgentHarness", "AgentHarness", q(nil, `{"v":4,"kind":"header","id":"s1","storageVersion":1,"createdAt":1,"cwd":"/w"}`, `{"kind":"entry","seq":1}`)},
		{"an id with a slash", "is no id", q(func(q *format.ForkRequest) { q.ID = "../x" }, head, treed)},
		{"an id that is taken", "lies there already", q(func(q *format.ForkRequest) {
			q.Dir = fstest.MapFS{"2026-01-01T00-00-00-000Z_child.jsonl": {}}
		}, head, treed)},
		{"no id", "is no id", q(func(q *format.ForkRequest) { q.ID = "" }, head, treed)},
		{"no entry", "no entry", q(nil, head, `{}`)},
		{"no header", "no header", q(nil, treed, treed)},
		{"backwards all the way", "another order", q(nil, append([]string{head}, many...)...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r *format.RefusedError
			if got, err := childOf(c.q); !errors.As(err, &r) || !strings.Contains(r.Why, c.why) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// FuzzFork cuts a session behind a line, as it is and bent, and behind others: the child is a chain of whole records.
func FuzzFork(f *testing.F) {
	for i, s := range fuzzSeeds(f) {
		f.Add(s, uint64(i))
	}
	f.Add([]byte(put("label", "b", "a", `,"targetId":"a","label":"x"`)), uint64(1))
	f.Add([]byte(put("compaction", "b", "a", `,"firstKeptEntryId":"l"`)), uint64(2))
	f.Fuzz(func(t *testing.T, line []byte, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		lines := []string{head, treed, put("label", "l", "a", `,"targetId":"b","label":"x"`), string(line), string(damage.Bend(rnd, line, pieces)), put("custom", "z", "b", ""), put("label", "y", "z", `,"targetId":"z","label":"x"`)}
		rnd.Shuffle(len(lines)-1, func(i, j int) { lines[i+1], lines[j+1] = lines[j+1], lines[i+1] })
		for _, l := range lines {
			if !json.Valid([]byte(l)) || strings.ContainsRune(l, '\n') {
				return
			}
		}
		for n := 1; n < len(lines); n++ {
			out, err := childOf(forking(n, lines))
			var r *format.RefusedError
			if err != nil {
				if !errors.As(err, &r) {
					t.Fatal(err)
				}
				continue
			}
			up := json.RawMessage("null")
			for i, l := range out {
				var e map[string]json.RawMessage
				if err := json.Unmarshal([]byte(l), &e); err != nil {
					t.Fatalf("%s: %v", l, err)
				}
				if i > 0 && refOf(e["parentId"]) != refOf(up) {
					t.Fatalf("%q hangs under %s in\n%s\nmade of\n%s", e["id"], e["parentId"], strings.Join(out, "\n"), strings.Join(lines, "\n"))
				}
				if i > 0 {
					up = e["id"]
				}
			}
		}
	})
}
