package pi

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/internal/damage"
)

// logOf is the source that lines are.
func logOf(id string, lines ...string) format.Source {
	return format.Source{Path: place, Medium: "jsonl", ID: id, Records: func() iter.Seq2[format.Line, error] {
		return func(yield func(format.Line, error) bool) {
			for n, l := range lines {
				if !yield(format.Line{Raw: []byte(l), N: int64(n)}, nil) {
					return
				}
			}
		}
	}}
}

// made is what steps make of a log.
type made struct {
	lines []string
	from  []int64
	notes []string
}

func (m *made) Put(l format.Line) error {
	m.lines, m.from = append(m.lines, string(l.Raw)), append(m.from, l.N)
	return nil
}
func (m *made) Drop(n int64, why string)  { m.notes = append(m.notes, why) }
func (m *made) Note(n int64, text string) { m.notes = append(m.notes, text) }

// upgraded takes a log from one generation to another.
func upgraded(s format.Source, from, to string) (*made, error) {
	lines := []format.Line{}
	for l := range s.Records() {
		lines = append(lines, l)
	}
	out := &made{}
	for _, u := range (Format{}).Upgrades() {
		if u.From != from || from == to {
			continue
		}
		notes := out.notes
		out = &made{notes: notes}
		stage, err := u.Begin(s)
		if err != nil {
			return nil, err
		}
		for _, l := range lines {
			if err := stage.Record(l, out); err != nil {
				return nil, err
			}
		}
		if err := stage.End(out); err != nil {
			return nil, err
		}
		lines = lines[:0:0]
		for i, l := range out.lines {
			lines = append(lines, format.Line{Raw: []byte(l), N: out.from[i]})
		}
		from = u.To
	}
	return out, nil
}

const (
	first1  = `{"type":"session","id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`
	ask     = `{"type":"message","timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"t","n":9007199254740993}}`
	summary = `{"type":"compaction","timestamp":"2026-01-01T00:00:02.000Z","summary":"s","firstKeptEntryIndex":1,"tokensBefore":1.0}`
)

func TestUpgrade(t *testing.T) {
	with := func(line, old, new string) string { return strings.Replace(line, old, new, 1) }
	headed := func(members string) string { return with(first1, `"cwd"`, members+`,"cwd"`) }
	// Ids are written as the number of the record that they are made of.
	for _, c := range []struct {
		name string
		in   []string
		out  []string
	}{
		{"a talk", []string{first1, ask, ask}, []string{
			`{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`,
			`{"type":"message","id":"<1>","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"t","n":9007199254740993}}`,
			`{"type":"message","id":"<2>","parentId":"<1>","timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"t","n":9007199254740993}}`,
		}},
		{"nothing but a header", []string{first1}, []string{head}},
		{"a compaction", []string{first1, ask, summary}, []string{head, entered(ask, "<1>", "null"),
			`{"type":"compaction","id":"<2>","parentId":"<1>","timestamp":"2026-01-01T00:00:02.000Z","summary":"s","firstKeptEntryId":"<1>","tokensBefore":1.0}`}},
		{"it keeps itself alone", []string{first1, ask, with(summary, `:1,`, `:2,`)}, []string{head, entered(ask, "<1>", "null"),
			with(entered(summary, "<2>", "<1>"), `"firstKeptEntryIndex":1`, `"firstKeptEntryId":"<2>"`)}},
		{"it counts the header", []string{first1, ask, with(summary, `:1,`, ` : 0.0 ,`)}, []string{head, entered(ask, "<1>", "null"),
			with(entered(summary, "<2>", "<1>"), `"firstKeptEntryIndex":1,`, `"firstKeptEntryId" : "<2>" ,`), "note"}},
		{"it counts an entry behind it", []string{first1, summary[:len(summary)-1] + `,"firstKeptEntryIndex":2}`, ask}, []string{head,
			with(entered(summary, "<1>", "null"), `}`, `,"firstKeptEntryId":"<1>"}`), entered(ask, "<2>", "<1>"), "note"}},
		{"it counts in halves", []string{first1, ask, with(summary, `:1,`, `:1.5,`)}, []string{head, entered(ask, "<1>", "null"),
			with(entered(summary, "<2>", "<1>"), `"firstKeptEntryIndex":1`, `"firstKeptEntryId":"<2>"`), "note"}},
		{"it counts in words", []string{first1, ask, with(summary, `:1,`, `:"1",`)}, []string{head, entered(ask, "<1>", "null"), with(entered(summary, "<2>", "<1>"), ":1,", `:"1",`)}},
		{"a second header counts", []string{first1, head, ask, with(summary, `:1,`, `:2,`)}, []string{head, head, entered(ask, "<2>", "null"),
			with(entered(summary, "<3>", "<2>"), `"firstKeptEntryIndex":1`, `"firstKeptEntryId":"<2>"`)}},
		{"a branch", []string{headed(`"branchedFrom":"/p\\a.jsonl"`), ask}, []string{
			with(head, `"cwd":"/w"`, `"branchedFrom":"/p\\a.jsonl","cwd":"/w","parentSession":"/p\\a.jsonl"`), entered(ask, "<1>", "null")}},
		{"a branch that has a parent", []string{headed(`"parentSession":"/q","branchedFrom":"/p"`)}, []string{with(head, `"cwd"`, `"parentSession":"/q","branchedFrom":"/p","cwd"`)}},
		{"settings of 0.13", []string{headed(`"provider":"p","modelId":"m/1","thinkingLevel":"high"`), ask}, []string{
			with(head, `"cwd"`, `"provider":"p","modelId":"m/1","thinkingLevel":"high","cwd"`),
			`{"type":"model_change","id":"<model>","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","provider":"p","modelId":"m/1"}`,
			`{"type":"thinking_level_change","id":"<thinking>","parentId":"<model>","timestamp":"2026-01-01T00:00:00.000Z","thinkingLevel":"high"}`,
			entered(ask, "<1>", "<thinking>")}},
		{"settings of 0.7", []string{headed(`"model":"p/m/1","thinkingLevel":"off"`), ask}, []string{
			with(head, `"cwd"`, `"model":"p/m/1","thinkingLevel":"off","cwd"`),
			`{"type":"model_change","id":"<model>","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","provider":"p","modelId":"m/1"}`,
			`{"type":"thinking_level_change","id":"<thinking>","parentId":"<model>","timestamp":"2026-01-01T00:00:00.000Z","thinkingLevel":"off"}`,
			entered(ask, "<1>", "<thinking>")}},
		{"settings that say nothing", []string{headed(`"model":"m","provider":"p","modelId":"","thinkingLevel":""`)}, []string{with(head, `"cwd"`, `"model":"m","provider":"p","modelId":"","thinkingLevel":"","cwd"`)}},
		{"another model, 0.7", []string{first1, `{"type":"model_change","timestamp":"x","model":"p\/m"}`}, []string{head,
			`{"type":"model_change","id":"<1>","parentId":null,"provider":"p","modelId":"m","timestamp":"x","model":"p\/m"}`}},
		{"another model, later", []string{first1, `{"type":"model_change","timestamp":"x","provider":"p","modelId":"m","model":"q/n"}`}, []string{head,
			`{"type":"model_change","id":"<1>","parentId":null,"timestamp":"x","provider":"p","modelId":"m","model":"q/n"}`}},
		{"a hook's message", []string{first1, `{"message":{"content":"hookMessage","role":"hookMessage"},"type":"message"}`}, []string{head,
			`{"message":{"content":"hookMessage","role":"custom"},"type":"message","id":"<1>","parentId":null}`}},
		{"a parent without id", []string{first1, ask, `{ "parentId":7 , "type":"odd"}`}, []string{head, entered(ask, "<1>", "null"), `{ "parentId":"<1>" , "type":"odd","id":"<2>"}`}},
		{"no type", []string{first1, `{"x":1}`, ` { } `}, []string{head, `{"id":"<1>","parentId":null,"x":1}`, ` {"id":"<2>","parentId":"<1>" } `}},
		{"a header of a fork of version 1", []string{with(head, `"cwd"`, `"parentSession":"/p","cwd"`), ask}, []string{with(head, `"cwd"`, `"parentSession":"/p","cwd"`), entered(ask, "<1>", "null")}},
		{"a version that is null", []string{with(head, `:3`, `:null`)}, []string{head}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := upgraded(logOf("s1", c.in...), "1", "3")
			if err != nil {
				t.Fatal(err)
			}
			want := c.out
			if i := len(want) - 1; want[i] == "note" {
				if want = want[:i]; len(got.notes) != 1 {
					t.Errorf("notes: %q", got.notes)
				}
			} else if len(got.notes) > 0 {
				t.Errorf("notes: %q", got.notes)
			}
			for i := range want {
				want[i] = idsIn(want[i])
			}
			if g, w := strings.Join(got.lines, "\n"), strings.Join(want, "\n"); g != w {
				t.Errorf("got\n%s\nwant\n%s", g, w)
			}
		})
	}
}

// entered is an entry of version 1 with an id and a parent.
func entered(line, id, up string) string {
	if up != "null" {
		up = `"` + up + `"`
	}
	i := strings.Index(line, `,`)
	return line[:i] + `,"id":"` + id + `","parentId":` + up + line[i:]
}

// idsIn puts ids in the place of their names: <2>, <model>.
func idsIn(line string) string {
	free := func([]byte) bool { return false }
	for name, seed := range map[string]string{
		"1": "1\x00", "2": "2\x00", "3": "3\x00", "model": "0\x00model_change", "thinking": "0\x00thinking_level_change",
	} {
		id := dialect{}.NewID("s1\x00"+seed, free)
		line = strings.ReplaceAll(line, `"<`+name+`>"`, string(id))
	}
	return line
}

// Ids are those of the recipe that all made-up entries have.
func TestUpgradeIDs(t *testing.T) {
	got, err := upgraded(logOf("s1", first1, ask), "1", "3")
	if err != nil || !strings.Contains(got.lines[1], `"id":"448e64ca"`) {
		t.Errorf("%s, %v", got.lines, err)
	}
	// Two records whose hashes agree get different ids.
	s := &treeing{session: "s1", given: map[string]bool{}}
	a := s.name(1, "")
	s.session = "s1"
	if b := s.name(1, ""); a == b {
		t.Errorf("%s twice", a)
	}
}

func TestUpgradeSecond(t *testing.T) {
	hook := `{"type":"message","id":"b","parentId":"a","message":{"role":"hookMessage","content":[]}}`
	second := strings.Replace(head, ":3", ":2", 1)
	for _, c := range []struct {
		name    string
		in, out []string
	}{
		{"a hook's message", []string{second, treed, hook}, []string{head, treed, strings.Replace(hook, "hookMessage", "custom", 1)}},
		{"a custom message of that role", []string{second, strings.Replace(hook, `"message"`, `"custom"`, 1)}, []string{head, strings.Replace(hook, `"message"`, `"custom"`, 1)}},
		{"a branch of before", []string{strings.Replace(second, `"cwd"`, `"branchedFrom":"/p","cwd"`, 1)},
			[]string{strings.Replace(head, `"cwd":"/w"`, `"branchedFrom":"/p","cwd":"/w","parentSession":"/p"`, 1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := upgraded(logOf("s1", c.in...), "2", "3")
			if err != nil || strings.Join(got.lines, "\n") != strings.Join(c.out, "\n") {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

func TestAge(t *testing.T) {
	version := func(v string) string { return strings.Replace(head, `"version":3`, `"version":`+v, 1) }
	hook := `{"type":"message","id":"b","parentId":"a","message":{"role":"hookMessage","content":[]}}`
	for _, c := range []struct {
		name, want string
		lines      []string
	}{
		{"1", "1", []string{first1, ask}},
		{"2", "2", []string{version("2"), treed}},
		{"3", "3", []string{head, treed}},
		{"a fork of version 1", "1", []string{head, ask, ask}},
		{"a fork of version 2", "2", []string{head, treed, hook}},
		{"ids without a version", "3", []string{first1, treed}},
		{"ids without a version, and hooks", "2", []string{first1, hook}},
		{"a header of 1 alone", "1", []string{first1}},
		{"a header alone", "3", []string{head}},
		{"strays count nothing", "1", []string{head, `{}`, ask}},
		{"a second header counts nothing", "1", []string{head, head, ask}},
		{"AgentHarness", "harness", []string{`{"v":4,"kind":"header","id":"s1","storageVersion":1,"createdAt":1,"cwd":"/w"}`}},
		{"its draft", "harness-draft", []string{`{"version":4,"kind":"header","id":"s1","createdAt":1,"cwd":"/w"}`}},
		{"another of its versions", "refused: format version 5 is newer than this sessfix knows", []string{`{"v":5,"kind":"header","id":"s1","storageVersion":1,"createdAt":1,"cwd":"/w"}`}},
		{"mixed", "refused: some entries have ids and this one has none: whether the session is a tree or a line cannot be said", []string{head, treed, ask}},
		{"mixed, from the first on", "refused: some entries have ids and this one has none: whether the session is a tree or a line cannot be said", []string{first1, ask, treed}},
		{"newer", "refused: format version 4 is newer than this sessfix knows", []string{version("4")}},
		{"in words", `refused: the header's version is a text, "2", and no number: which generation it is cannot be said`, []string{version(`"2"`)}},
		{"no header", "refused: the log does not begin with a header", []string{treed}},
		{"a record of none", "refused: the record is no object that can be read", []string{head, `7`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Format{}.Age(logOf("s1", c.lines...))
			if err != nil {
				got = "refused: " + err.Error()
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestUpgradeRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		n     int64
		lines []string
	}{
		{"an id", 2, []string{first1, ask, treed}},
		{"no header", 0, []string{ask}},
		{"no object", 1, []string{first1, `7`}},
		{"no record", 1, []string{first1, `{"type":`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r *format.RefusedError
			if _, err := upgraded(logOf("s1", c.lines...), "1", "3"); !errors.As(err, &r) || r.N != c.n || r.Why == "" {
				t.Errorf("%v", err)
			}
		})
	}
}

// FuzzUpgrade takes lines, as they are and bent, to version 3: what comes of records is records, each with what it had, and another
// upgrade finds nothing to do.
func FuzzUpgrade(f *testing.F) {
	for i, s := range fuzzSeeds(f) {
		f.Add(s, uint64(i))
	}
	for _, s := range []string{ask, summary, `{"type":"model_change","model":"p/m"}`, `{}`} {
		f.Add([]byte(s), uint64(1))
	}
	heads := []string{first1, head, strings.Replace(first1, `"cwd"`, `"model":"a/b","thinkingLevel":"x","branchedFrom":"/p","cwd"`, 1)}
	f.Fuzz(func(t *testing.T, line []byte, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		bent := damage.Bend(rnd, line, pieces)
		begin := heads[rnd.IntN(len(heads))]
		if rnd.IntN(4) == 0 {
			begin = string(damage.Bend(rnd, []byte(begin), pieces))
		}
		s := logOf("s1", begin, string(line), ask, string(bent))
		age, err := Format{}.Age(s)
		if err != nil {
			return
		}
		out, err := upgraded(s, age, "3")
		if err != nil || age == "3" || strings.HasPrefix(age, "harness") {
			return
		}
		i := 0
		for l := range s.Records() {
			for out.from[i] == -1 {
				i++
			}
			if out.from[i] != l.N {
				t.Fatalf("record %d becomes record %d", l.N, out.from[i])
			}
			if json.Valid(l.Raw) && !json.Valid([]byte(out.lines[i])) || strings.ContainsRune(out.lines[i], '\n') && !bytes.ContainsRune(l.Raw, '\n') {
				t.Fatalf("%q becomes %q", l.Raw, out.lines[i])
			}
			i++
		}
		if again, err := (Format{}).Age(logOf("s1", out.lines...)); err != nil || again != "3" {
			t.Fatalf("%q, of version %s: then %s, %v", out.lines, age, again, err)
		}
	})
}
