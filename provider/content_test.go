package provider

import (
	"reflect"
	"testing"
)

func TestCheck(t *testing.T) {
	text, blank := Block{Kind: Text}, Block{Kind: Text, Blank: true}
	call := func(id, name string, object bool) Block {
		return Block{Kind: Call, ID: []byte(id), Name: []byte(name), Object: object}
	}
	result := Block{Kind: Result, ID: []byte("c")}
	for _, c := range []struct {
		name   string
		role   Role
		blocks []Block
		want   []Rule
	}{
		{"nothing", User, nil, nil},
		{"texts", User, []Block{text, text}, nil},
		{"empty user text", User, []Block{text, blank}, []Rule{EmptyText}},
		{"empty answer", Assistant, []Block{blank}, []Rule{EmptyAnswer}},
		{"call", Assistant, []Block{call("toolu_1", "Bash", true)}, nil},
		{"input", Assistant, []Block{call("toolu_1", "Bash", false)}, []Rule{Input}},
		{"id", Assistant, []Block{call("a b", "Bash", true)}, []Rule{Name}},
		{"no id", Assistant, []Block{call("", "Bash", true)}, []Rule{Name}},
		{"name", Assistant, []Block{call("a", "Bäsh", true)}, []Rule{Name}},
		{"results first", User, []Block{result, text}, nil},
		{"result last", User, []Block{text, result, result}, []Rule{ResultLast}},
		{"result in an answer", Assistant, []Block{text, result}, nil},
		{"empty result", User, []Block{{Kind: Result, Blank: true}}, nil},
		{"empty error", User, []Block{{Kind: Result, Blank: true, Failed: true}}, []Rule{EmptyError}},
		{"error", User, []Block{{Kind: Result, Failed: true}}, nil},
		{"image", User, []Block{{Kind: Image, Size: MaxImage}}, nil},
		{"large image", User, []Block{{Kind: Image, Size: MaxImage + 1}}, []Rule{ImageSize}},
		{"thinking", Assistant, []Block{{Kind: Thinking, Signed: true}, {Kind: Thinking}}, []Rule{Unsigned}},
		{"other", User, []Block{{Kind: Other, Blank: true}}, nil},
	} {
		var got []Rule
		for _, p := range Check(nil, c.role, c.blocks) {
			got = append(got, p.Rule)
			if p.Message == "" {
				t.Errorf("%s: %s says nothing", c.name, p.Rule)
			}
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { Check(nil, User, []Block{result, text}) }); n != 0 {
		t.Errorf("a sound message costs %v allocations", n)
	}
}

func TestText(t *testing.T) {
	for s, want := range map[string]bool{``: true, `  `: true, `\n\t \r`: true, `a`: false, `\\n`: false, `\u0020`: false, `\`: false} {
		if Blank([]byte(s)) != want {
			t.Errorf("%q is blank: %v", s, !want)
		}
	}
	for s, want := range map[string]int{`plain`: -1, `\ud83d\ude00`: -1, `x\ud83d`: 1, `\ude00`: 0, `\ud83d\ud83d\ude00`: 0, `\\ud83d`: -1, `\\\ud83d`: 2, `\u00e9\uDBFFx`: 6, `\u`: -1} {
		if got, _ := Escapes([]byte(s), 0); got != want {
			t.Errorf("%q: at %d, want %d", s, got, want)
		}
	}
	for s, want := range map[string]int{`plain`: -1, `\u0000`: 0, `\\u0000`: -1, `\u00001`: 0, `\u0001`: -1, `\ud83dx\u0000`: 7, `\ud83d\ude00\u0000\u0000`: 12} {
		if _, got := Escapes([]byte(s), 0); got != want {
			t.Errorf("%q: U+0000 at %d, want %d", s, got, want)
		}
	}
}
