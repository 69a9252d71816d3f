package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessfix/sessfix/format"
)

// script reads a talk off words: "u" and "a" are texts of the user and the assistant, "s" one of the system, "a:x,y" an answer that asks
// for calls x and y, "r:x" a result of x.
func script(words string) (out []chat) {
	for _, w := range strings.Fields(words) {
		who, ids, _ := strings.Cut(w, ":")
		c := chat{role: map[byte]format.Role{'u': format.User, 'a': format.Assistant, 's': format.System, 'r': format.User}[who[0]]}
		if who[0] != 'r' && (ids == "" || len(who) > 1) {
			c.blocks = append(c.blocks, format.Block{Text: who})
		}
		for _, id := range strings.Split(ids, ",") {
			switch {
			case ids == "":
			case who[0] == 'r':
				c.blocks = append(c.blocks, format.Block{Kind: format.Result, ID: id, Text: "gave " + id})
			default:
				c.blocks = append(c.blocks, format.Block{Kind: format.Call, ID: id, Name: "bash", Input: []byte("{}")})
			}
		}
		out = append(out, c)
	}
	return out
}

// written is what comes out of a talk, in the same words, and what was counted.
func written(t testing.TB, talk []chat) (string, Left) {
	var out []string
	p := &pairing{maxID: 40, emit: func(c *chat) error {
		w := map[format.Role]string{format.User: "u", format.Assistant: "a", format.System: "s"}[c.role]
		var parts []string
		for _, b := range c.blocks {
			switch b.Kind {
			case format.Call:
				parts = append(parts, "?"+b.ID)
			case format.Result:
				mark := "="
				if b.MadeUp {
					mark = "~"
				}
				parts = append(parts, mark+b.ID)
			default:
				parts = append(parts, b.Text)
			}
		}
		out = append(out, w+"("+strings.Join(parts, " ")+")")
		return nil
	}}
	for _, c := range talk {
		if err := p.add(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.end(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, " "), p.counts
}

func TestPairing(t *testing.T) {
	for _, c := range []struct{ name, talk, want string }{
		{"a talk", "u a u", "u(u) a(a) u(u)"},
		{"a call", "u a:x r:x a", "u(u) a(?x) u(=x) a(a)"},
		{"an answer in pieces", "u a a:x a:y r:x r:y a", "u(u) a(a ?x ?y) u(=x =y) a(a)"},
		{"results the other way round", "u a:x,y r:y r:x", "u(u) a(?x ?y) u(=x =y)"},
		{"a result and a word", "u a:x r:x u a", "u(u) a(?x) u(=x u) a(a)"},
		{"a word before the result", "u a:x u r:x a", "u(u) a(?x) u(=x u) a(a)"},
		{"instructions in between", "u a:x s r:x a", "u(u) a(?x) u(=x) s(s) a(a)"},
		{"no result", "u a:x", "u(u) a(?x) u(~x)"},
		{"no result, and the talk goes on", "u a:x u a", "u(u) a(?x) u(~x u) a(a)"},
		{"no result, and the answer goes on", "u a:x a u", "u(u) a(?x) u(~x) a(a) u(u)"},
		{"no result, and the answer goes on with a call", "u a:x a a:y r:y a", "u(u) a(?x) u(~x) a(a ?y) u(=y) a(a)"},
		{"no result, and the same call again", "u a:x a a:x u", "u(u) a(?x) u(~x) a(a ?x_3) u(~x_3 u)"},
		{"a word behind a call that has its result", "u a:x a r:x", "u(u) a(?x a) u(=x)"},
		{"one of two results", "u a:x,y r:y u a", "u(u) a(?x ?y) u(~x =y u) a(a)"},
		{"a result without call", "u r:x a", "u(u) a(a)"},
		{"a second result", "u a:x r:x r:x a", "u(u) a(?x) u(=x) a(a)"},
		{"an id of two calls", "u a:x r:x a:x r:x", "u(u) a(?x) u(=x) a(?x_2) u(=x_2)"},
		{"an id of two calls at once", "u a:x,x r:x r:x", "u(u) a(?x ?x_2) u(=x =x_2)"},
		{"a late result, behind another call", "u a:x u a:y r:y r:x", "u(u) a(?x) u(=x u) a(?y) u(=y)"},
		{"an id that is none", "u a:ä r:ä", "u(u) a(?call_0a94dc9d420d1142) u(=call_0a94dc9d420d1142)"},
		{"an empty id", "u a:, r:,", "u(u) a(?call_e3b0c44298fc1c14 ?call_e3b0c44298fc1c14_2) u(=call_e3b0c44298fc1c14 =call_e3b0c44298fc1c14_2)"},
	} {
		got, _ := written(t, script(c.talk))
		if strings.Contains(c.want, "call_0a94") { // any name will do that is the same in both places
			if strings.Contains(got, "ä") || strings.Count(got, "call_") != 2 {
				t.Errorf("%s: %s", c.name, got)
			}
			continue
		}
		if got != c.want {
			t.Errorf("%s: %q gives %s, want %s", c.name, c.talk, got, c.want)
		}
	}
}

// What is counted is what was done.
func TestLeft(t *testing.T) {
	_, left := written(t, script("u a:x r:y u a:x r:x a:a.b r:a.b"))
	if want := (Left{Orphans: 1, Answered: 1, Renamed: 2}); left != want {
		t.Errorf("%+v, want %+v", left, want)
	}
}

// Whatever is said in whatever order: the list passes the provider's rules, which hold it up on its way, and no text, no call and no
// result that has its call in reach is lost.
func TestListsAreAccepted(t *testing.T) {
	words := rapid.SampledFrom([]string{"u", "a", "s", "a:x", "a:y", "a:x,y", "ab:z", "r:x", "r:y", "r:z", "r:x,y", "a:b.c", "r:b.c", "a:" + strings.Repeat("q", 90), "r:" + strings.Repeat("q", 90)})
	rapid.Check(t, func(rt *rapid.T) {
		talk := rapid.SliceOfN(words, 0, 40).Draw(rt, "talk")
		for _, to := range []api{anthropic{}, openAI{}} {
			text, l := listed(t, to, script(strings.Join(talk, " ")))
			var list []map[string]any
			if err := json.Unmarshal(text, &list); err != nil {
				rt.Fatalf("%v: %s", err, text)
			}
			asked, given := 0, 0
			for _, w := range talk {
				who, ids, _ := strings.Cut(w, ":")
				if who[0] == 'a' && ids != "" {
					asked += strings.Count(ids, ",") + 1
				}
				if who[0] == 'r' {
					given += strings.Count(ids, ",") + 1
				}
			}
			name := `"type":"tool_use"`
			if _, ok := to.(openAI); ok {
				name = `"type":"function"`
			}
			if got := bytes.Count(text, []byte(name)); got != asked {
				rt.Fatalf("%d calls of %d: %s", got, asked, text)
			}
			results := bytes.Count(text, []byte(`"tool_use_id"`)) + bytes.Count(text, []byte(`"tool_call_id"`))
			if left := l.pairing.counts; results-left.Answered+left.Orphans != given {
				rt.Fatalf("%d results, %d made up, %d left out, of %d: %s", results, left.Answered, left.Orphans, given, text)
			}
			made := bytes.Count(text, []byte(unanswered))
			if made != l.pairing.counts.Answered {
				rt.Fatalf("%d results were made up, %d were counted: %s", made, l.pairing.counts.Answered, text)
			}
		}
	})
}

// listed writes a talk as a provider takes it.
func listed(t testing.TB, to api, talk []chat) ([]byte, *list) {
	var buf bytes.Buffer
	l := newList(&buf, to)
	for _, c := range talk {
		if _, turns := to.limits(); turns && c.role == format.System {
			continue
		}
		if err := l.pairing.add(c); err != nil {
			t.Fatalf("%v in %s", err, shown(talk))
		}
	}
	if err := l.end(); err != nil {
		t.Fatalf("%v in %s", err, shown(talk))
	}
	return buf.Bytes(), l
}

func shown(talk []chat) string { return fmt.Sprintf("%+v", talk) }

// A last answer does not end in white space, of whatever kind; text that is nothing else is left out.
func TestLastAnswerIsTrimmed(t *testing.T) {
	for _, end := range []string{" ", "\n", "\t", "\u00a0", "\u2028", "\u3000", "\ufeff", " \ufeff\n"} {
		text, _ := listed(t, anthropic{}, []chat{{format.User, []format.Block{{Text: "u"}}}, {format.Assistant, []format.Block{{Text: "a" + end}}}})
		if !strings.Contains(string(text), `"text":"a"}`) {
			t.Errorf("%q ends a list: %s", end, text)
		}
		m := &Said{Message: format.Message{Role: format.User, Blocks: []format.Block{{Text: end}}}}
		if _, ok := chatOf(m, &Left{}); ok {
			t.Errorf("%q is said", end)
		}
	}
}
