package scan

import (
	"fmt"
	"strings"
	"testing"
)

// showCaps writes captures as key index, kind, count and text.
func showCaps(m *Machine, buf []byte, from int) string {
	var parts []string
	for _, c := range m.Caps {
		s := fmt.Sprintf("%d%c%s", c.Key, c.Kind, buf[from+int(c.Off):from+int(c.Off+c.Len)])
		if c.Kind == '{' || c.Kind == '[' {
			s += fmt.Sprint("#", c.N)
		} else if c.N != 0 {
			s += "?"
		}
		if c.Esc {
			s += "~"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " ")
}

func TestCaptures(t *testing.T) {
	for _, c := range []struct {
		keys, in, want string
		dup            bool
	}{
		{"a", `{"a":1}`, `001`, false},
		{"a", `{"a":"x"}`, `0""x"`, false},
		{"a", `{"a":"x\n"}`, `0""x\n"~`, false},
		{"a", `{"a":-1.5e3,"b":2}`, `00-1.5e3`, false},
		{"a", `{"a":true}`, `0ttrue`, false},
		{"a", `{"a":false}`, `0ffalse`, false},
		{"a", `{"a":null}`, `0nnull`, false},
		{"a", `{"a":{}}`, `0{{}#0`, false},
		{"a", `{"a":[]}`, `0[[]#0`, false},
		{"a", `{"a":[ ]}`, `0[[ ]#0`, false},
		{"a", `{"a":[1,[2,3],{"a":4}]}`, `0[[1,[2,3],{"a":4}]#3`, false},
		{"a", `{"a":["x","y","z","w"]}`, `0[["x","y","z","w"]#4`, false},
		{"a", `{"a":[1,2,3,4,5,6,7,8,9,10,11,12]}`, `0[[1,2,3,4,5,6,7,8,9,10,11,12]#12`, false},
		{"a", `{"a":[1,"x",2,3,4,5,6,7,8,"y","z",9]}`, `0[[1,"x",2,3,4,5,6,7,8,"y","z",9]#12`, false},
		{"a", `{"a":{"x":1,"y":[1,2],"z":{"a":1}}}`, `0{{"x":1,"y":[1,2],"z":{"a":1}}#3`, false},
		{"a", `{"b":{"a":1}}`, ``, false},
		{"a", `{"b":[{"a":1}],"a":2}`, `002`, false},
		{"a", `[{"a":1}]`, ``, false},
		{"a", `"a"`, ``, false},
		{"a", ` {"a":1}`, `001`, false},
		{"a", "{ \"a\" : 1 }", `001`, false},
		{"a", `{"\u0061":1}`, `001`, false},
		{"é", `{"é":1}`, `001`, false},
		{"é", `{"\u00e9":1}`, `001`, false},
		{"😀", `{"\ud83d\ude00":1}`, `001`, false},
		{`a"b`, `{"a\"b":1}`, `001`, false},
		{"ab abc abcdefgh abcdefghi abcdefghj", `{"abcdefghj":5,"abcdefgh":3,"a":0,"abcdefghi":4,"abc":2,"ab":1,"abcdefghk":6,"abcdefg":7}`, `405 203 304 102 001`, false},
		{"sourceEventSeqs sourceEventSex", `{"sourceEventSeqs":[1],"sourceEventSex":[],"sourceEventSeqt":0}`, `0[[1]#1 1[[]#0`, false},
		{"a.b", `{"a":{"b":1},"b":2}`, `001`, false},
		{"a.b", `{"a":[{"b":1}]}`, ``, false},
		{"a.b", `{"a":1}`, ``, false},
		{"a.b a", `{"a":{"b":1}}`, `1{{"b":1}#1 001`, false},
		{"a.b.c", `{"a":{"x":{"c":0},"b":{"c":1}}}`, `001`, false},
		{"a[]", `{"a":[1,"x",{},[2]]}`, `001 0""x" 0{{}#0 0[[2]#1`, false},
		{"a[]", `{"a":{"b":1}}`, ``, false},
		{"a[] a", `{"a":[1,2]}`, `1[[1,2]#2 001 002`, false},
		{"a[].id", `{"a":[{"id":1},{"x":0},5,{"id":"2"}]}`, `001 0""2"`, false},
		{"a[].id a[] a[].b", `{"a":[{"id":1,"b":[7]},{"b":2}]}`, `1{{"id":1,"b":[7]}#2 001 2[[7]#1 1{{"b":2}#1 202`, false},
		{"a[][]", `{"a":[[1,2],3,[[4]]]}`, `001 002 0[[4]#1`, false},
		{"[]", `[1,[2],"x"]`, `001 0[[2]#1 0""x"`, false},
		{"[].a", `[{"a":1},{"a":2}]`, `001 002`, false},
		{"*", `{"a":1,"b":{"c":2}}`, `0*"a" 0*"b"`, false},
		{"* a", `{"a":1,"b":{"a":2}}`, `101 0*"b"`, false},
		{"* a.b", `{"a":{"b":1,"c":2},"d":3}`, `101 0*"d"`, false},
		{"a.*", `{"a":{"b":1,"c\n":2},"d":3}`, `0*"b" 0*"c\n"~`, false},
		{"a a.*", `{"a":{"b":1},"d":3}`, `0{{"b":1}#1 1*"b"`, false},
		{"a.* a.b[]", `{"a":{"b":[1],"c":[2]}}`, `101 0*"c"`, false},
		{"*", `{"*":1}`, `0*"*"`, false},
		{"*", `[1]`, ``, false},

		{"a", `{"a":1,"a":2}`, `002`, true},
		{"a", `{"a":1,"\u0061":2}`, `002`, true},
		{"a", `{"x":1,"x":2,"a":1}`, `001`, false},
		{"a b", `{"a":1,"b":3,"a":2}`, `103 002`, true},
		{"a a.b", `{"a":{"b":1},"a":2}`, `002`, true},
		{"a a.b", `{"a":2,"a":{"b":1}}`, `0{{"b":1}#1 101`, true},
		{"a.b", `{"a":{"b":1},"a":2}`, ``, true},
		{"a.b", `{"a":{"b":1,"b":2}}`, `002`, true},
		{"a.b", `{"a":{"b":1,"b":2},"a":{"b":3,"b":4}}`, `004`, true},
		{"a a.b a.c", `{"a":{"b":1,"c":2,"b":3},"a":{"c":4},"a":{"c":5,"b":6,"c":7}}`, `0{{"c":5,"b":6,"c":7}#3 106 207`, true},
		{"a[].b", `{"a":[{"b":1},{"b":2}]}`, `001 002`, false},
		{"a[].b", `{"a":[{"b":1},{"b":2,"b":3}]}`, `001 003`, true},
		{"a[] a", `{"a":[1,2],"a":[3]}`, `1[[3]#1 003`, true},
		{"a b *", `{"x":0,"a":1,"y":0,"a":2,"x":0}`, `2*"x" 2*"y" 002 2*"x"`, true},
		{"a", `{"b":{"a":1,"a":2}}`, ``, false},
		{"a a.a a.a.a", `{"a":{"a":{"a":1}}}`, `0{{"a":{"a":1}}#1 1{{"a":1}#1 201`, false},
	} {
		m := mustMachine(t, strings.Fields(c.keys)...)
		for _, lead := range []string{"", " \n"} {
			if _, f := judgeBoth(t, m, lead+c.in); f.Cause != OK {
				t.Errorf("%s: %v", c.in, f)
			}
			for range 2 {
				buf, from, to := paddedText(lead+c.in, `"`)
				m.Value(buf, from, to)
				if got := showCaps(m, buf, from); got != c.want || m.Dup != c.dup {
					t.Errorf("%s of %s:\n got %s %v\nwant %s %v", c.keys, c.in, got, m.Dup, c.want, c.dup)
				}
				m.Tolerant(buf, from, to)
				if got := showCaps(m, buf, from); got != c.want || m.Dup != c.dup {
					t.Errorf("tolerant, %s of %s:\n got %s %v\nwant %s %v", c.keys, c.in, got, m.Dup, c.want, c.dup)
				}
			}
		}
	}
}

func TestCapturesOfFlawedText(t *testing.T) {
	m := mustMachine(t, "a", "b[]")
	in := "{\"a\":\"x\n\xff\",\"b\":[\"\x00\"]}"
	buf, from, to := paddedText(in, "\n")
	if end, f := m.Tolerant(buf, from, to); f.Cause != OK || end != to {
		t.Fatal(end, f)
	}
	if got, want := showCaps(m, buf, from), "0\"\"x\n\xff\" 1\"\"\x00\""; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestManyKeys has more keys in an object than any table begins with.
func TestManyKeys(t *testing.T) {
	var keys, members, want []string
	for k := range 500 {
		key := fmt.Sprintf("sharedprefix%d", k)
		keys = append(keys, key)
		members = append(members, fmt.Sprintf("%q:%d", key, k))
		want = append(want, fmt.Sprintf("%d0%d", k, k))
	}
	m := mustMachine(t, keys...)
	buf, from, to := paddedText("{"+strings.Join(members, ",")+"}", "\n")
	if _, f := m.Value(buf, from, to); f.Cause != OK || showCaps(m, buf, from) != strings.Join(want, " ") {
		t.Error(f, showCaps(m, buf, from))
	}
}

func TestKeyPaths(t *testing.T) {
	for _, path := range []string{"", ".", "a.", ".a", "a..b", "*.a", "a.*.b", "*[]", "a[", "a]", "a[0]", "[a]", "a[]b", "a.[]", "a[].", "a.*[]", "[]a", "a][", "a.[].b"} {
		if _, err := NewMachine([]string{path}); err == nil {
			t.Errorf("%q accepted", path)
		}
	}
	for _, twice := range [][]string{{"a", "a"}, {"*", "*"}, {"a.b", "c", "a.b"}, {"a[]", "a[]"}} {
		if _, err := NewMachine(twice); err == nil {
			t.Errorf("%q accepted", twice)
		}
	}
	if m, err := NewMachine(nil); err != nil {
		t.Error(err)
	} else {
		judgeBoth(t, m, `{"a":[{}]}`)
	}
}

// TestManyDuplicates must stay linear.
func TestManyDuplicates(t *testing.T) {
	m := mustMachine(t, "a", "a.b")
	s := "{" + strings.Repeat(`"a":{"b":1,"b":2},`, 300_000) + `"a":3}`
	buf, from, to := paddedText(s, "\n")
	m.Value(buf, from, to)
	if got := showCaps(m, buf, from); got != "003" || !m.Dup {
		t.Error(got)
	}
}
