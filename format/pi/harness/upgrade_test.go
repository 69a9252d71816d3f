package harness

import (
	"encoding/json"
	"errors"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/internal/damage"
)

// left is what comes of a log.
type left struct{ lines, drops, notes []string }

func (m *left) Put(l format.Line) error {
	m.lines = append(m.lines, string(l.Raw))
	return nil
}
func (m *left) Drop(n int64, why string)  { m.drops = append(m.drops, num(n)) }
func (m *left) Note(n int64, text string) { m.notes = append(m.notes, text) }

// leave takes a log out of the format.
func leave(text string, beside ...string) (*left, error) {
	dir := fstest.MapFS{}
	for _, name := range beside {
		dir[name] = &fstest.MapFile{}
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	s := format.Source{Path: "/h/sessions/--w--/x.jsonl", ID: sessionID, Dir: dir, Records: func() iter.Seq2[format.Line, error] { return nil }}
	stage, err := Upgrades()[0].Begin(s)
	if err != nil {
		return nil, err
	}
	out := &left{}
	for n, l := range lines {
		if err := stage.Record(format.Line{Raw: []byte(l), N: int64(n)}, out); err != nil {
			return out, err
		}
	}
	return out, stage.End(out)
}

// shortly tells lines of version 3 in few words: type, id, parent, and what is in it.
func shortly(t *testing.T, lines []string) string {
	t.Helper()
	var out []string
	made := map[string]string{"": "-"}
	for _, l := range lines {
		var e struct {
			Type, ID, ParentID, Timestamp, Name, TargetID, Label, FirstKeptEntryID, FromID, ModelID, ThinkingLevel, CustomType string
			ActiveToolNames                                                                                                    []string
			Message                                                                                                            struct{ Role string }
		}
		if err := json.Unmarshal([]byte(l), &e); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		if made[e.ID] = "#" + strings.TrimLeft(e.ID[24:], "0"); !strings.HasPrefix(e.ID, "01a00000-") {
			made[e.ID] = "new"
		}
		word := e.Type
		if e.Type != "session" {
			word += " " + made[e.ID] + " " + made[e.ParentID]
		}
		for _, s := range []string{e.Message.Role, e.Name, made[e.TargetID], e.Label, made[e.FirstKeptEntryID], e.FromID, e.ModelID, e.ThinkingLevel, e.CustomType, strings.Join(e.ActiveToolNames, "+")} {
			if s != "" && s != "-" {
				word += " " + s
			}
		}
		out = append(out, word)
	}
	return strings.Join(out, "; ")
}

func compacts(n, up int, tail ...string) string {
	return `{"kind":"entry","id":"` + eid(n) + `","parentId":` + nullable(idOf(up)) + `,"type":"compaction","summary":"s` + num(int64(n)) + `","retainedTail":[` + strings.Join(tail, ",") + `],"tokensBefore":9,"fromHook":false,"timestamp":1700000000000}`
}

func other(n, up int, typ, members string) string {
	return `{"kind":"entry","id":"` + eid(n) + `","parentId":` + nullable(idOf(up)) + `,"type":"` + typ + `",` + members + `,"timestamp":1700000000000}`
}

func tip(n int) string { return set(tips, "main", nullable(idOf(n))) }

func TestLeave(t *testing.T) {
	idle := lane("null", "[]")
	config := set(laneConfigs, "main", `{"model":{"provider":"p","modelId":"m"},"thinkingLevel":"high","activeToolNames":["a","b"]}`)
	for _, c := range []struct {
		name  string
		log   []tx
		want  string
		drops int
		notes int
	}{
		{"a talk", []tx{{tip(0)}, {says(1, 0, user("a")), tip(1)}, {says(2, 1, asking()), tip(2)}}, "session; message #1 - user; message #2 #1 assistant", 1, 0},
		{"two entries in one transaction", []tx{{says(1, 0, user("a")), says(2, 1, asking()), tip(2)}}, "session; message #1 - user; message #2 #1 assistant", 0, 0},
		{"nothing said", []tx{{tip(0), config, idle}}, "session; model_change new - m; thinking_level_change new new high; active_tools_change new new a+b", 1, 0},
		{"settings", []tx{{tip(0), config, idle}, {says(1, 0, user("a")), tip(1)}}, "session; message #1 - user; model_change new #1 m; thinking_level_change new new high; active_tools_change new new a+b", 1, 0},
		{"a name that was changed, a label", []tx{{set(names, "", `"x"`)}, {says(1, 0, user("a")), tip(1)}, {set(labels, eid(1), `"l"`)}, {set(names, "", `"y"`)}},
			"session; message #1 - user; session_info new #1 y; label new new #1 l", 3, 0},
		{"a label that was taken off, one of nothing", []tx{{says(1, 0, user("a")), tip(1), set(labels, eid(1), `"l"`)}, {unset(labels, eid(1)), set(labels, eid(7), `"m"`)}}, "session; message #1 - user", 1, 0},
		{"two branches", []tx{{says(1, 0, user("a")), tip(1)}, {says(2, 1, user("b")), set(tips, "side", `"`+eid(2)+`"`)}}, "session; message #1 - user; message #2 #1 user; custom new #1 sessfix.marker", 0, 1},
		{"another branch alone", []tx{{says(1, 0, user("a")), set(tips, "odd", `"`+eid(1)+`"`)}}, "session; message #1 - user", 0, 1},
		{"back at the start", []tx{{says(1, 0, user("a")), tip(1)}, {tip(0)}}, "session; message #1 - user; custom new - sessfix.marker", 1, 0},
		{"a summary of a branch", []tx{{says(1, 0, user("a"))}, {other(2, 1, "branch_summary", `"fromId":"`+eid(1)+`","summary":"s","fromHook":false`)}, {other(3, 0, "branch_summary", `"fromId":null,"summary":"s"`), tip(3)}},
			"session; message #1 - user; branch_summary #2 #1 " + eid(1) + "; branch_summary #3 - root", 0, 0},
		{"an entry of an application", []tx{{other(1, 0, "custom", `"customType":"x","data":{"n":1.0}`), tip(1)}}, "session; custom #1 - x", 0, 0},
		{"a compaction", []tx{{says(1, 0, user("a"))}, {says(2, 1, user("b"))}, {says(3, 2, asking())}, {compacts(4, 3, user("b"), asking()), tip(4)}}, "session; message #1 - user; message #2 #1 user; message #3 #2 assistant; compaction #4 #3 #2", 0, 0},
		{"it leaves out an answer that failed", []tx{{says(1, 0, user("a"))}, {says(2, 1, strings.Replace(asking(), "toolUse", "error", 1))}, {compacts(3, 2, user("a")), tip(3)}}, "session; message #1 - user; message #2 #1 assistant; compaction #3 #2 #1", 0, 0},
		{"it keeps an answer that failed", []tx{{says(1, 0, user("a"))}, {says(2, 1, strings.Replace(asking(), "toolUse", "error", 1))}, {compacts(3, 2, strings.Replace(asking(), "toolUse", "error", 1)), tip(3)}}, "session; message #1 - user; message #2 #1 assistant; compaction #3 #2 #2", 0, 0},
		{"it keeps nothing", []tx{{says(1, 0, user("a"))}, {compacts(2, 1), tip(2)}}, "session; message #1 - user; compaction #2 #1 #2", 0, 0},
		{"it keeps all", []tx{{says(1, 0, user("a"))}, {compacts(2, 1, user("a")), tip(2)}}, "session; message #1 - user; compaction #2 #1 #1", 0, 0},
		{"between what is kept stands what says nothing", []tx{{says(1, 0, user("a"))}, {other(2, 1, "custom", `"customType":"x"`)}, {says(3, 2, user("b"))}, {compacts(4, 3, user("a"), user("b")), tip(4)}},
			"session; message #1 - user; custom #2 #1 x; message #3 #2 user; compaction #4 #3 #1", 0, 0},
		{"a summary is kept", []tx{{other(1, 0, "branch_summary", `"fromId":null,"summary":"s"`)}, {compacts(2, 1, `{"role":"branchSummary","summary":"s","fromId":null,"timestamp":1}`), tip(2)}},
			"session; branch_summary #1 - root; compaction #2 #1 #1", 0, 0},
		{"what is kept goes back over an earlier one", []tx{{says(1, 0, user("a"))}, {compacts(2, 1, user("a"))}, {says(3, 2, user("b"))}, {compacts(4, 3, user("a"), user("b")), tip(4)}},
			"session; message #1 - user; compaction #2 #1 #1; message #3 #2 user; compaction #4 #3 #1", 0, 1},
		{"an earlier one is kept as well, as it comes from version 3", []tx{{says(1, 0, user("a"))}, {compacts(2, 1)}, {compacts(3, 2, `{"role":"compactionSummary","summary":"s2","tokensBefore":9,"timestamp":1}`), tip(3)}},
			"session; message #1 - user; compaction #2 #1 #2; compaction #3 #2 #2", 0, 0},
		{"what ran is over", append(begin(), tx{says(2, 1, asking()), tip(2), unset(metas, eid(900)), unset(states, eid(900)), set(results, eid(900), "{}"), idle}, tx{push(frames, "x", "1")}, tx{`{"kind":"list","op":"delete","namespace":"` + frames + `","key":"x"}`}),
			"session; message #1 - user; message #2 #1 assistant", 3, 0},
		{"rows of usage", []tx{{says(1, 0, user("a")), tip(1), paid(2)}, {`{"kind":"usage","id":"` + eid(3) + `","usage":{},"entryId":"` + eid(1) + `","adjustment":false}`}}, "session; message #1 - user", 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := leave(told(head(""), c.log...))
			if err != nil {
				t.Fatal(err)
			}
			if got := shortly(t, out.lines); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if len(out.drops) != c.drops || len(out.notes) != c.notes {
				t.Errorf("drops %q, notes %q", out.drops, out.notes)
			}
		})
	}
}

// Members keep their bytes, also those that nobody knows.
func TestLeaveBytes(t *testing.T) {
	log := head(`,"metadata":{"n":1.0}`) + "\n" + `[{"seq":1, "x" : 9007199254740993,"kind":"entry","id":"` + eid(1) + `","parentId":null,"type":"message","message":{"role":"user","content":"\u0061,}"},"terminate":true,"timestamp":1.7e12}, {"kind":"value","op":"set","seq":2,"namespace":"pi.branch.tip","key":"main","value":"` + eid(1) + `"}]` + "\n"
	out, err := leave(log)
	want := []string{
		`{"type":"session","version":3,"id":"` + sessionID + `","timestamp":"2023-11-14T22:13:20.000Z","cwd":"/home/user/project","metadata":{"n":1.0}}`,
		`{"type":"message","id":"` + eid(1) + `","parentId":null,"timestamp":"2023-11-14T22:13:20.000Z","x" : 9007199254740993,"message":{"role":"user","content":"\u0061,}"},"terminate":true}`,
	}
	if err != nil || strings.Join(out.lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("%v\n%s", err, strings.Join(out.lines, "\n"))
	}
}

func TestLeaveParent(t *testing.T) {
	beside := filepath.Join(string(filepath.Separator)+"h", "sessions", "--w--", "2026-01-01T00-00-00-000Z_p1.jsonl")
	quoted, _ := json.Marshal(beside)
	for _, c := range []struct {
		name, more, want string
		notes            int
	}{
		{"none", "", "", 0},
		{"beside it", `,"parentSessionId":"p1"`, `,"parentSession":` + string(quoted) + `,"parentSessionId":"p1"}`, 0},
		{"elsewhere", `,"parentSessionId":"p2"`, `,"parentSessionId":"p2"}`, 1},
		{"a path of version 3", `,"legacyParentSessionPath":"/p.jsonl"`, `,"parentSession":"/p.jsonl","legacyParentSessionPath":"/p.jsonl"}`, 0},
	} {
		out, err := leave(told(head(c.more)), filepath.Base(beside), "2026-01-01T00-00-00-000Z_p10.jsonl")
		if err != nil || !strings.HasSuffix(out.lines[0], `"cwd":"/home/user/project"`+c.want) && c.want != "" || len(out.notes) != c.notes {
			t.Errorf("%s: %v, %v", c.name, out, err)
		}
	}
}

func TestLeaveRefuses(t *testing.T) {
	said := tx{says(1, 0, user("a")), tip(1)}
	for _, c := range []struct {
		name, why string
		n         int64
		log       string
	}{
		{"an open run", "is open in lane", 2, told(head(""), begin()...)},
		{"inputs that wait", "1 inputs wait", 2, told(head(""), said, tx{lane("null", `[{"entryId":"x"}]`)})},
		{"what a run left", "not over", 2, told(head(""), said, tx{set(toolArgs, "x", "{}")})},
		{"a value of an application", `a value of "app"`, 2, told(head(""), said, tx{set("app", "x", "1")})},
		{"a value of the future", `a value of "pi.new"`, 2, told(head(""), said, tx{set("pi.new", "x", "1")})},
		{"a list of an application", `a list of "app"`, 2, told(head(""), said, tx{push("app", "x", "1")})},
		{"several branches, none of them main", "2 branches", -1, told(head(""), tx{set(tips, "a", "null"), set(tips, "b", "null")})},
		{"a branch that goes nowhere", "not there", -1, told(head(""), tx{tip(7)})},
		{"a compaction that keeps other words", "not those of the entries", 2, told(head(""), said, tx{compacts(2, 1, user("b"))})},
		{"a compaction that leaves one out", "not those of the entries", 3, told(head(""), said, tx{says(2, 1, user("b"))}, tx{compacts(3, 2, user("a"))})},
		{"a compaction that keeps more than there is", "not those of the entries", 2, told(head(""), said, tx{compacts(2, 1, user("b"), user("a"))})},
		{"a compaction without a list", "does not say", 1, told(head(""), tx{other(1, 0, "compaction", `"summary":"s"`)})},
		{"an entry of the future", `type "odd"`, 1, told(head(""), tx{other(1, 0, "odd", `"x":1`)})},
		{"a write of the future", `kind "odd"`, 1, told(head(""), tx{`{"kind":"odd"}`})},
		{"an id again", "second time", 2, told(head(""), said, tx{says(1, 0, user("b"))})},
		{"a time of no calendar", "no time that version 3", 1, head("") + "\n" + `{"kind":"entry","id":"a","parentId":null,"seq":1,"timestamp":9007199254740991,"type":"custom"}`},
		{"no time", "no time", 1, head("") + "\n" + `{"kind":"entry","id":"a","parentId":null,"seq":1,"type":"custom"}`},
		{"no id", "no id", 1, head("") + "\n" + `{"kind":"entry","parentId":null,"seq":1,"timestamp":1,"type":"custom"}`},
		{"no header", "begin with a header", 0, `{"kind":"value","op":"set","seq":1}`},
		{"no record", "cannot be read", 1, head("") + "\n{"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r *format.RefusedError
			if _, err := leave(c.log); !errors.As(err, &r) || !strings.Contains(r.Why, c.why) || r.N != c.n {
				t.Errorf("%v", err)
			}
		})
	}
}

// FuzzLeave bends lines of a log that leaves the format: what is written are records with ids, each behind its parent.
func FuzzLeave(f *testing.F) {
	for i := range 40 {
		f.Add("", uint64(i))
	}
	f.Add(`{"kind":"entry","id":"a","parentId":null,"seq":90,"timestamp":90,"type":"compaction","retainedTail":[7,{"role":"branchSummary"},[]],"retainedTail":[{}]}`, uint64(2))
	logs := []string{
		told(head(`,"parentSessionId":"p"`), tx{tip(0), set(laneConfigs, "main", `{"model":{"provider":"p","modelId":"m"},"thinkingLevel":"x","activeToolNames":[]}`), lane("null", "[]")},
			tx{says(1, 0, user("a")), tip(1)}, tx{other(2, 1, "branch_summary", `"fromId":null,"summary":"s"`)}, tx{compacts(3, 2, user("a"), `{"role":"branchSummary","summary":"s"}`), tip(3), paid(4)},
			tx{set(labels, eid(1), `"l"`), set(names, "", `"n"`)}, tx{set(tips, "side", `"`+eid(1)+`"`)}),
		crash(),
	}
	f.Fuzz(func(t *testing.T, more string, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		lines := strings.Split(strings.TrimSuffix(logs[rnd.IntN(len(logs))], "\n"), "\n")
		lines = lines[:1+rnd.IntN(len(lines))]
		for range rnd.IntN(3) {
			i := rnd.IntN(len(lines))
			lines[i] = string(damage.Bend(rnd, []byte(lines[i]), pieces))
		}
		if more != "" {
			lines = append(lines, more)
		}
		out, err := leave(strings.Join(lines, "\n"))
		var r *format.RefusedError
		if err != nil {
			if !errors.As(err, &r) || strings.Contains(r.Why, "%!") {
				t.Fatal(err)
			}
			return
		}
		for _, l := range lines {
			if !json.Valid([]byte(l)) {
				return
			}
		}
		for i, l := range out.lines {
			var e struct{ Type, ID, Timestamp any }
			if err := json.Unmarshal([]byte(l), &e); err != nil || e.ID == nil || e.Timestamp == nil || (e.Type == "session") != (i == 0) {
				t.Fatalf("%s: %v", l, err)
			}
		}
	})
}
