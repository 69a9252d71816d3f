package verify

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

func TestCommittedValues(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{"a":1,"b":2}`, `{ "b": 2, "a": 1 }`, true},
		{`{"a":1,"a":2}`, `{"a":2}`, true},
		{`{"a":1,"a":2}`, `{"a":1}`, false},
		{`[1,2]`, `[2,1]`, false},
		{`[1,[2]]`, `[[1],2]`, false},
		{`["a","b"]`, `["ab"]`, false},
		{`["1"]`, `[1]`, false},
		{`[true,false,null]`, `[ true , false , null ]`, true},
		{`[true]`, `[false]`, false},
		{`[1.0]`, `[1]`, true},
		{`[100]`, `[1e2]`, true},
		{`[0.001]`, `[1E-3]`, true},
		{`[-0]`, `[0]`, true},
		{`[0e9]`, `[0.000]`, true},
		{`[9007199254740993]`, `[9007199254740992]`, false},
		{`[0.1]`, `[0.10000000000000001]`, false},
		{`[1e400]`, `[1e401]`, false},
		{`[1e99999999999999999999]`, `[10e99999999999999999998]`, true},
		{`[-1]`, `[1]`, false},
		{`["é"]`, `["\u00e9"]`, true},
		{`["\/"]`, `["/"]`, true},
		{`["\ud83d\ude00"]`, `["😀"]`, true},
		{`["\ud800"]`, `["\ud801"]`, false},
		{`["\ud800"]`, `["\ufffd"]`, false},
		{`["\ud800\ud83d\ude00"]`, `["\ud800😀"]`, true},
		{`["\ud800x"]`, `["\ud800"]`, false},
		{`{"\u0061":1}`, `{"a":1}`, true},
		{`{}`, `[]`, false},
		{`{"a":{}}`, `{"a":[]}`, false},
	} {
		a, ok := canonical([]byte(c.a))
		b, also := canonical([]byte(c.b))
		if !ok || !also {
			t.Errorf("%s or %s is not read", c.a, c.b)
		} else if bytes.Equal(a, b) != c.same {
			t.Errorf("%s and %s: the same is %t", c.a, c.b, !c.same)
		}
	}
	for _, s := range []string{"", " ", "{", "}", `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{a:1}`, "[1,]", "[,1]", `"a`, `"\x"`, `"\u12"`, `"\`, "1.", ".1", "1e", "--1", "1 2", "tru", "nul", "[1]]", "{}x"} {
		if _, ok := canonical([]byte(s)); ok {
			t.Errorf("%q is taken", s)
		}
	}
	deep := append(bytes.Repeat([]byte("["), 1<<20), bytes.Repeat([]byte("]"), 1<<20)...)
	if _, ok := canonical(deep); ok {
		t.Error("a million arrays inside each other are taken")
	}
}

func TestCommittedQuestion(t *testing.T) {
	one := `{"type":"x"}`
	for _, c := range []struct {
		q  Question
		ok bool
	}{
		{Question{}, false},
		{Question{ID: "a"}, true},
		{Question{Numbered: true}, true},
		{Question{ID: "a", Numbered: true}, false},
		{Question{ID: "a", Record: []byte(one)}, false},
		{Question{Record: []byte(one)}, true},
		{Question{Record: []byte(one + "\n")}, true},
		{Question{Record: []byte(one + "\r\n")}, true},
		{Question{Record: []byte("")}, false},
		{Question{Record: []byte(one + "\n" + one)}, false},
		{Question{Record: []byte(one + one)}, false},
		{Question{Record: []byte(one[:5])}, false},
		{Question{Record: []byte("5")}, false},
		{Question{Record: []byte("{\"a\":\"\xff\"}")}, false},
	} {
		if _, err := seek(c.q); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.q, err)
		}
	}
}

func TestCommittedMentions(t *testing.T) {
	for text, want := range map[string]bool{
		`{"parent":"ab"}`: true, `{"ab":1}`: true, `{"text":"say \"ab\" and \"ab\""}`: false, `{"text":"xab"}`: false,
		`{"text":"\"ab\"","id":"ab"}`: true, `{}`: false, `"ab"`: true,
	} {
		if got := mentions([]byte(text), "ab"); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

// Values that the standard library takes for the same, or for others, are so here.
func FuzzCommittedValues(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.50,"x"]}`), []byte(`{"a":[1,2.5,"\u0078"]}`))
	f.Add([]byte(`{"a":1}`), []byte(`{"a":2}`))
	f.Add([]byte(`[0.1,1e5]`), []byte(`[0.1,100000]`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		x, ok := canonical(a)
		if ok != json.Valid(a) && bytes.IndexFunc(a, func(r rune) bool { return r < ' ' }) < 0 {
			if !ok && len(a) < 1000 {
				t.Fatalf("%q is valid and not read", a)
			}
		}
		if !json.Valid(a) || !json.Valid(b) {
			return
		}
		y, _ := canonical(b)
		var v, w any
		if json.Unmarshal(a, &v) != nil || json.Unmarshal(b, &w) != nil {
			return // numbers that no float holds
		}
		if bytes.Equal(x, y) && !reflect.DeepEqual(v, w) {
			t.Errorf("%q and %q are not the same", a, b)
		}
	})
}
