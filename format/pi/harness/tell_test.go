package harness

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/internal/damage"
	"github.com/sessfix/sessfix/internal/spoken"
	"github.com/sessfix/sessfix/session"
)

// telling tells a log line by line, as a whole.
func tellLog(t testing.TB, text string) (list []format.Message) {
	t.Helper()
	first, _, _ := strings.Cut(text, "\n")
	d, err := Dialect([]byte(first))
	if err != nil {
		return nil
	}
	telling := d.(format.Teller).NewTelling(format.Place{})
	for _, line := range strings.Split(text, "\n") {
		list = telling.Tell(&session.Record{Raw: []byte(line)}, list)
	}
	return list
}

// sentOf is what of that is sent: what stands for all in front of it takes its place.
func sentOf(list []format.Message) (out []format.Message) {
	for _, m := range list {
		if m.Stands {
			out = nil
		}
		if m.For != format.PeopleOnly && len(m.Blocks) > 0 {
			out = append(out, format.Message{Role: m.Role, Blocks: m.Blocks})
		}
	}
	return out
}

func TestTell(t *testing.T) {
	const border = `The conversation history before this point was compacted into the following summary:\n\n<summary>\n`
	side := func(n int) string { return set(tips, "side", nullable(idOf(n))) }
	broken := strings.Replace(asking("c"), "toolUse", "error", 1)
	for _, c := range []struct {
		name       string
		log        []tx
		want, sent string
	}{
		{"a talk", []tx{{tip(0)}, {says(1, 0, user("a")), tip(1)}, {says(2, 1, asking("c")), tip(2)}, {says(3, 2, result("c")), tip(3)}},
			`user: "a" | assistant: thinking "hm"; "I run"; call c bash {"kind":"entry","seq":7} | tool: result c bash "real"`, ``},
		{"two entries in one transaction", []tx{{says(1, 0, user("a")), says(2, 1, user("b")), tip(2)}}, `user: "a" | user: "b"`, ``},
		{"no lane at all", []tx{{says(1, 0, user("a"))}, {says(2, 1, user("b"))}}, `user: "a" | user: "b"`, ``},
		{"entries in front of the lane", []tx{{says(1, 0, user("a"))}, {says(2, 1, user("b"))}, {tip(2)}}, `user: "a" | user: "b"`, ``},
		{"two branches in front of it", []tx{{says(1, 0, user("a"))}, {says(2, 1, user("b"))}, {says(3, 1, user("c"))}, {tip(3)}},
			`user: "a" | user: "b" | user (people): "c" | note (people) <navigation>: "the talk goes on from an earlier entry" | user stands copy: "a" | user copy: "c"`, `user: "a" | user: "c"`},
		{"another lane", []tx{{says(1, 0, user("a")), tip(1)}, {side(1)}, {says(2, 1, user("b")), side(2)}, {says(3, 1, user("c")), tip(3)}}, `user: "a" | user (people): "b" | user: "c"`, `user: "a" | user: "c"`},
		{"what was another lane's", []tx{{says(1, 0, user("a")), tip(1)}, {side(1)}, {says(2, 1, user("b")), side(2)}, {tip(2)}}, `user: "a" | user (people): "b" | user copy: "b"`, `user: "a" | user: "b"`},
		{"a lane of another name", []tx{{says(1, 0, user("a")), side(1)}, {says(2, 1, user("b")), side(2)}}, `user: "a" | user: "b"`, ``},
		{"main comes later", []tx{{says(1, 0, user("a")), side(1)}, {says(2, 0, user("b")), tip(2)}},
			`user: "a" | note (people) <navigation>: "the talk goes on from an earlier entry" | user (model) stands copy:  | user: "b"`, `user: "b"`},
		{"back", []tx{{says(1, 0, user("a")), tip(1)}, {says(2, 1, user("b")), tip(2)}, {tip(1)}, {says(3, 1, user("c")), tip(3)}},
			`user: "a" | user: "b" | note (people) <navigation>: "the talk goes on from an earlier entry" | user stands copy: "a" | user: "c"`, `user: "a" | user: "c"`},
		{"back, with a summary", []tx{{says(1, 0, user("a")), tip(1)}, {says(2, 1, user("b")), tip(2)}, {other(3, 1, "branch_summary", `"fromId":"`+eid(2)+`","summary":"s"`), tip(3)}},
			`user: "a" | user: "b" | note (people) <navigation>: "the talk goes on from an earlier entry" | user stands copy: "a" | user <branch summary>: "The following is a summary of a branch that this conversation came back from:\n\n<summary>\ns</summary>"`,
			`user: "a" | user: "The following is a summary of a branch that this conversation came back from:\n\n<summary>\ns</summary>"`},
		{"back at the start", []tx{{says(1, 0, user("a")), tip(1)}, {tip(0)}}, `user: "a" | note (people) <navigation>: "the talk goes on from an earlier entry" | user (model) stands copy: `, `-`},
		{"back to what is never sent", []tx{{says(1, 0, broken), tip(1)}, {says(2, 1, user("b")), tip(2)}, {tip(1)}},
			`assistant (people): thinking "hm"; "I run"; call c bash {"kind":"entry","seq":7} | note (people) <error>: "error" | user: "b" | note (people) <navigation>: "the talk goes on from an earlier entry" | assistant (people) copy: thinking "hm"; "I run"; call c bash {"kind":"entry","seq":7} | note (people) copy <error>: "error" | user (model) stands copy: `, `-`},
		{"nowhere", []tx{{says(1, 0, user("a")), tip(1)}, {tip(9)}, {set(tips, "main", `7`)}}, `user: "a"`, ``},
		{"a compaction", []tx{{says(1, 0, user("a"))}, {says(2, 1, user("b"))}, {compacts(3, 2, user("b"), broken), tip(3)}, {says(4, 3, user("c")), tip(4)}},
			`user: "a" | user: "b" | user stands <compaction>: "` + border + `s3\n</summary>" | user copy: "b" | assistant (people) copy: thinking "hm"; "I run"; call c bash {"kind":"entry","seq":7} | note (people) copy <error>: "error" | user: "c"`,
			`user: "` + border + `s3\n</summary>" | user: "b" | user: "c"`},
		{"a compaction without list", []tx{{other(1, 0, "compaction", `"summary":"s","retainedTail":7`), tip(1)}}, `user stands <compaction>: "` + border + `s\n</summary>"`, ``},
		{"back behind a compaction", []tx{{compacts(1, 0), tip(1)}, {says(2, 1, user("b")), tip(2)}, {tip(1)}},
			`user stands <compaction>: "` + border + `s1\n</summary>" | user: "b" | user stands copy <compaction>: "` + border + `s1\n</summary>"`, `user: "` + border + `s1\n</summary>"`},
		{"back in front of a compaction", []tx{{says(1, 0, user("a")), tip(1)}, {compacts(2, 1), tip(2)}, {tip(1)}},
			`user: "a" | user stands <compaction>: "` + border + `s2\n</summary>" | note (people) <navigation>: "the talk goes on from an earlier entry" | user stands copy: "a"`, `user: "a"`},
		{"an answer that was put off", []tx{{says(1, 0, strings.Replace(asking(), "toolUse", "deferred", 1)), tip(1)}}, `assistant (people): thinking "hm"; "I run"`, `-`},
		{"what was cut off", []tx{{says(1, 0, strings.Replace(result("c"), `{"type":"text","text":"real"}`, `{"type":"text","text":"half"},{"type":"text","text":"[Tool execution was interrupted. The preceding"}`, 1)), tip(1)}},
			`tool: result c bash made up ["half"; "[Tool execution was interrupted. The preceding"]`, ``},
		{"twice", []tx{{says(1, 0, user("a")), tip(1)}, {says(1, 0, user("b")), tip(1)}}, `user: "a"`, ``},
		{"a name, a label, an extension's", []tx{{set(names, "", `"n"`)}, {set(labels, eid(1), `"l"`)}, {unset(labels, eid(1))}, {set("x", "y", `"z"`)}, {other(1, 0, "custom", `"customType":"k","data":"d"`), tip(1)}, {paid(7)}},
			`note (people) <name>: "n" | note (people) <label>: "l"`, `-`},
		{"a circle", []tx{{says(1, 2, user("a"))}, {says(2, 1, user("b"))}, {tip(2)}, {says(3, 3, user("c")), tip(3)}},
			`user (people): "a" | user (people): "b" | note (people) <navigation>: "the talk goes on from an earlier entry" | user stands copy: "a" | user copy: "b" | user (people): "c" | note (people) <navigation>: "the talk goes on from an earlier entry" | user stands copy: "c"`, ``},
	} {
		list := tellLog(t, told(head(""), c.log...))
		if got := spoken.Words(list); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
		}
		if fault := spoken.Fault(list); fault != "" {
			t.Errorf("%s: %s", c.name, fault)
		}
		if got := spoken.Words(sentOf(list)); c.sent != "" && got != strings.Trim(c.sent, "-") {
			t.Errorf("%s: what is sent is\n%s, want\n%s", c.name, got, c.sent)
		}
	}
}

// A lane that goes back without end is followed for a while.
func TestTellCopies(t *testing.T) {
	d := dialect{current}
	telling := d.NewTelling(format.Place{}).(*telling)
	telling.left = 3
	var list []format.Message
	for _, line := range strings.Split(told(head(""), tx{says(1, 0, user("a")), says(2, 1, user("b")), tip(2)}, tx{tip(1)}, tx{tip(2)}, tx{tip(1)}, tx{tip(2)}, tx{says(3, 2, user("c")), tip(3)}), "\n") {
		list = telling.Tell(&session.Record{Raw: []byte(line)}, list)
	}
	const want = `user: "a" | user: "b" | note (people) <navigation>: "the talk goes on from an earlier entry" | user stands copy: "a" | user copy: "b" | note (people) <navigation>: "the talk goes on from an earlier entry" | user stands copy: "a" | note (people) <navigation>: "the lane goes back so often that it is followed no further" | user (people): "c"`
	if got := spoken.Words(list); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}

func TestTellDraft(t *testing.T) {
	entry := func(lane, id, parent, text string) string {
		if lane != "" {
			lane = `"lane":"` + lane + `",`
		}
		return `{"kind":"entry",` + lane + `"type":"message","id":"` + id + `","parentId":` + nullable(parent) + `,"message":` + user(text) + `}`
	}
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"a talk":             {[]string{entry("main", "a", "", "a"), entry("main", "b", "a", "b")}, `user: "a" | user: "b"`},
		"another lane":       {[]string{entry("main", "a", "", "a"), `{"kind":"lane","lane":"side","leafId":"a"}`, entry("side", "b", "a", "b"), entry("main", "c", "a", "c")}, `user: "a" | user (people): "b" | user: "c"`},
		"copied":             {[]string{entry("", "a", "", "a"), entry("", "b", "a", "b"), `{"kind":"lane","lane":"main","leafId":"b"}`}, `user: "a" | user: "b"`},
		"back":               {[]string{entry("main", "a", "", "a"), entry("main", "b", "a", "b"), `{"kind":"lane","lane":"main","leafId":"a"}`}, `user: "a" | user: "b" | note (people) <navigation>: "the talk goes on from an earlier entry" | user stands copy: "a"`},
		"a name and a label": {[]string{`{"kind":"fact","fact":"name","name":"n"}`, `{"kind":"fact","fact":"name"}`, `{"kind":"fact","fact":"label","targetId":"a","label":"l"}`}, `note (people) <name>: "n" | note (people) <label>: "l"`},
		"settings": {[]string{`{"kind":"entry","lane":"main","type":"model_change","id":"a","parentId":null,"provider":"p","modelId":"m"}`, `{"kind":"entry","lane":"main","type":"thinking_level_change","id":"b","parentId":"a","thinkingLevel":"high"}`},
			`note (people) <model>: "p/m" | note (people) <thinking level>: "high"`},
		"operations": {[]string{`{"kind":"record","type":"operation_started","id":"op","lane":"main","intent":{"kind":"run"}}`}, ``},
	} {
		if got := spoken.Words(tellLog(t, drafts(c.lines...))); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", name, got, c.want)
		}
	}
}

// Of all logs that there are, each prompt is sent once.
func TestTellLogs(t *testing.T) {
	logs := 0
	for _, pattern := range []string{"../../../testdata/sessions/pi/*/harness.jsonl", "../../../testdata/corrupt/pi-harness-*/*.jsonl", "../../../../shared/oracles/pi/samples/harness-v4-*.jsonl"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			list := tellLog(t, string(data))
			if fault := spoken.Fault(list); fault != "" {
				t.Errorf("%s: %s", path, fault)
			}
			if !Own(bytes.SplitN(data, []byte("\n"), 2)[0]) {
				continue
			}
			logs++
			if len(sentOf(list)) == 0 {
				t.Errorf("%s: nothing is sent", path)
			}
		}
	}
	if logs < 5 {
		t.Errorf("%d logs", logs)
	}
}

// FuzzTell bends lines of logs. Whatever they say is text.
func FuzzTell(f *testing.F) {
	for i := range 40 {
		f.Add("", uint64(i))
	}
	f.Add(`[{"kind":"entry","id":"a","parentId":"a","type":"message","message":{"role":"user","content":"\ud800"}},{"kind":"value","op":"set","namespace":"pi.branch.tip","key":"main","value":"a"}]`, uint64(0))
	f.Add(`[7,null,[],{"kind":"entry"}]`, uint64(1))
	logs := []string{
		crash(), told(head(""), asked(effectPending, planned, planned)...),
		told(head(""), tx{says(1, 0, user("a")), tip(1)}, tx{says(2, 1, asking("c")), tip(2)}, tx{compacts(3, 2, user("b")), tip(3)}, tx{tip(1)}, tx{says(4, 1, result("c")), tip(4)}),
		drafts(`{"kind":"fact","fact":"name","name":"n"}`, `{"kind":"entry","lane":"main","type":"message","id":"a","parentId":null,"message":{"role":"user","content":"x"}}`),
	}
	f.Fuzz(func(t *testing.T, more string, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		lines := strings.Split(logs[rnd.IntN(len(logs))], "\n")
		for range rnd.IntN(4) {
			if i := rnd.IntN(len(lines)); i > 0 {
				lines[i] = string(damage.Bend(rnd, []byte(lines[i]), pieces))
			}
		}
		text := strings.Join(append(lines, more), "\n")
		list := tellLog(t, text)
		if fault := spoken.Fault(list); fault != "" {
			t.Fatalf("%s: %s", fault, text)
		}
		if again := spoken.Words(tellLog(t, text)); again != spoken.Words(list) {
			t.Fatalf("it is told in two ways: %s", text)
		}
	})
}
