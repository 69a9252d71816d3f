package scan

import (
	"bytes"
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// paddedText puts s behind some other text and in front of bytes that would continue any value,
// so that a scan that reads over either edge gives itself away.
func paddedText(s, behind string) (buf []byte, from, to int) {
	const before = `["x",`
	buf = append([]byte(before), s...)
	to = len(buf)
	for len(buf) < to+Pad {
		buf = append(buf, behind...)
	}
	return buf[: to+Pad : to+Pad], len(before), to
}

var paddings = []string{"\x00", "\n", "1", `"`, `"}`, "]", "}", " ", "\\", "\xBF", "e5", "a", `,"b":1}`, "[", "{"}

// judgeBoth runs the careful scan over s and the fast one, with bit maps and without, with every
// kind of padding, makes sure that they agree, and returns end and offset relative to s.
func judgeBoth(t *testing.T, m *Machine, s string) (int, Fault) {
	t.Helper()
	var end int
	var f Fault
	for x, behind := range paddings {
		buf, from, to := paddedText(s, behind)
		e, g := m.Value(buf, from, to)
		caps, dup := append(m.Caps[:0:0], m.Caps...), m.Dup
		e2, g2 := m.careful(buf, from, to, false)
		if e != e2 || g != g2 || dup != m.Dup || !slices.Equal(caps, m.Caps) {
			t.Fatalf("%.200q before %q: fast gives %d %v %.500s, careful %d %v %.500s", s, behind, e, g, fmt.Sprint(caps), e2, g2, fmt.Sprint(m.Caps))
		}
		if m.wide {
			m.wide = false
			e2, g2 = m.Value(buf, from, to)
			if e != e2 || g != g2 || dup != m.Dup || !slices.Equal(caps, m.Caps) {
				t.Fatalf("%.200q before %q: with bit maps %d %v %.500s, without %d %v %.500s", s, behind, e, g, fmt.Sprint(caps), e2, g2, fmt.Sprint(m.Caps))
			}
			m.wide = true
		}
		e -= from
		if g.Cause != OK {
			g.Off -= from
			if g.Off != e || e > len(s) {
				t.Fatalf("%.200q: end %d, offset %d", s, e, g.Off)
			}
		}
		if x > 0 && (e != end || f != g) {
			t.Fatalf("%.200q: %d %v before %q, %d %v before %q", s, end, f, paddings[0], e, g, behind)
		}
		end, f = e, g
	}
	return end, f
}

func mustMachine(t testing.TB, keys ...string) *Machine {
	t.Helper()
	m, err := NewMachine(keys)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func everything(t testing.TB) *Machine {
	return mustMachine(t, "a", "a.b", "a.b[]", "[]", "[].a", "[][]", "*", "a.*")
}

var acceptedValues = []string{
	`{}`, `[]`, `""`, `0`, `-0`, `1`, `-1`, `true`, `false`, `null`,
	`[[]]`, `[{}]`, `{"a":{}}`, `{"a":[]}`, `{"":0}`, `{"":""}`,
	`[1]`, `[1,2]`, `["a"]`, `["a","b"]`, `[true,false,null]`, `[null]`, `[[],[]]`, `[{},{}]`, `[[[[[[]]]]]]`,
	`1.0`, `1.5e10`, `1e1`, `1E1`, `1e+1`, `1e-1`, `1E+01`, `0.1`, `0e0`, `0E-0`, `-0.0`, `-1.25`, `0.0e00`,
	`123456789012345678901234567890`, `1e99999`, `-1e-99999`, `0.` + strings.Repeat("3", 100), strings.Repeat("9", 300),
	`[0]`, `[-0]`, `[1.0]`, `[1e1]`, `[0.5,0,0]`, `[12345678]`, `[123456789]`, `[1234567,1]`, `[-123456789,12345678]`,
	`{"a":0}`, `{"a":0.5,"b":0}`, `{"a":-1}`, `{"a":12345678}`, `{"time":1780000000070}`,
	` {}`, "\t[]", "\n1", "\r\"\"", " \t\n\r{ \t\n\r} ",
	`{ "a" : 1 }`, `{"a" :1}`, `{"a": 1}`, `{"a":1 }`, `{"a":1 ,"b":2}`, `{"a":1, "b":2}`, "{\n\"a\"\n:\n1\n,\n\"b\"\n:\n2\n}",
	`[ ]`, `[ 1]`, `[1 ]`, `[1 ,2]`, `[1, 2]`, `[ "a" , "b" ]`, `[ [ ] , { } ]`, "[\t\t\t\t\t\t\t\t\t\t1]",
	`{"a":1,"a":2}`, `{"a":1,"a":1}`, `{"a":{"b":1},"a":{"b":2}}`, `{"x":1,"x":2}`, `{"a":1,"\u0061":2}`,
	`"\""`, `"\\"`, `"\/"`, `"\b"`, `"\f"`, `"\n"`, `"\r"`, `"\t"`, `"\\\\"`, `"\\\""`, `"a\\"`, `"\"\"\"\""`,
	`"\u0000"`, `"\u001f"`, `"\u0022"`, `"\u005C"`, `"\uabcd"`, `"\uABCD"`, `"\uaBcD9"`, `"\uFFFF"`, `"\uFFFE"`, `"\uFDD0"`,
	`"\uD800"`, `"\uDC00"`, `"\ud800\ud800"`, `"\udc00\ud800"`, `"\ud83d\ude00"`, `"\ud800\n"`, `"\ud800\u0041"`, `"\uD834\uDd1e"`,
	`{"\ud800":1}`, `{"\n":1}`, `{"\u0061":{"\u0062":1}}`, `{"\"":1,"\\":2}`,
	"\"\x7f\"", "\"\u2028\u2029\"", "\"\u0080\"", "\"\u07ff\"", "\"\u0800\"", "\"\ud7ff\"", "\"\ue000\"", "\"\uffff\"", "\"\ufffd\"",
	"\"\U00010000\"", "\"\U0010ffff\"", "\"\U0003ffff\"", "\"\U00040000\"", "\"\U000fffff\"", "\"\U00100000\"", "\"\ufdd0\"", "\"\ufeff\"",
	"\"é\"", "\"日本語\"", "\"🚀\"", "\"🚀é日a\"", "\"aé日🚀\"", "\"документ\"", "\"日本語日本語日本語日本語日本語\"",
	"{\"é\":1}", "{\"日本語日本語\":\"🚀🚀🚀🚀🚀\"}", "{\"größe\":{\"größe\":[\"größe\"]}}",
	`"0123456"`, `"01234567"`, `"012345678"`, `"012345678901234"`, `"0123456789012345"`, `"01234567890123456"`,
	`["0123456789012345678901234567890123456789"]`, `"                                   "`, `"/*x*/"`, `"//"`,
	`["abcdefg","abcdefgh","abcdefghi","abcdefghijklmno","abcdefghijklmnop","abcdefghijklmnopq"]`,
	`{"a":true,"b":false,"c":null}`, `[true]`, `[false]`, `[[true],[false],[null]]`,
	`{"a":{"b":[1,{"c":"d"},[2,"e"]],"f":{}},"g":[{}]}`, `[{"a":1},{"a":[2]},[3]]`, `[1,"a",{},[],true,null,1.5]`,
	`{"type":"text-chunks","seq0":8,"time0":1780000000070,"data":{"turn":1,"dt":[7,7,12],"texts":["I will ","look ",""]}}`,
	`[7,38,44,46,1234567,0,5,0,0,10,99999999,1]`, `["","","",""]`, `["",1,"",[""]]`,
	`["é","日本","🚀","","\n","a\u00e9","0123456789012345678901234567890123456789012345678901234567890123","x"]`,
}

type refused struct {
	s     string
	cause Cause
	off   int
	in    bool
}

var refusedValues = []refused{
	{``, Truncated, 0, false}, {` `, Truncated, 1, false}, {"\n\t", Truncated, 2, false},
	{`{`, Truncated, 1, false}, {`[`, Truncated, 1, false}, {`"`, Truncated, 1, true}, {`-`, Truncated, 1, false},
	{`t`, Truncated, 1, false}, {`tru`, Truncated, 3, false}, {`f`, Truncated, 1, false}, {`fals`, Truncated, 4, false},
	{`n`, Truncated, 1, false}, {`nul`, Truncated, 3, false}, {`1.`, Truncated, 2, false}, {`1e`, Truncated, 2, false},
	{`1e+`, Truncated, 3, false}, {`-0.`, Truncated, 3, false}, {`0E-`, Truncated, 3, false},
	{`{"`, Truncated, 2, true}, {`{"a`, Truncated, 3, true}, {`{"a"`, Truncated, 4, false}, {`{"a":`, Truncated, 5, false},
	{`{"a":1`, Truncated, 6, false}, {`{"a":1,`, Truncated, 7, false}, {`{"a":"`, Truncated, 6, true}, {`{"a":[`, Truncated, 6, false},
	{`{"a":tr`, Truncated, 7, false}, {`{"a" `, Truncated, 5, false}, {`{ `, Truncated, 2, false}, {`[ `, Truncated, 2, false},
	{`[1`, Truncated, 2, false}, {`[1,`, Truncated, 3, false}, {`[1, `, Truncated, 4, false}, {`[[]`, Truncated, 3, false},
	{`["a"`, Truncated, 4, false}, {`["a",`, Truncated, 5, false}, {`["a","`, Truncated, 6, true}, {`[{}`, Truncated, 3, false},
	{`"\`, Truncated, 2, true}, {`"\u`, Truncated, 3, true}, {`"\u1`, Truncated, 4, true}, {`"\u12f`, Truncated, 6, true},
	{`"\u12ff`, Truncated, 7, true}, {`"\"`, Truncated, 3, true}, {`"\\\"`, Truncated, 5, true},
	{"\"\xc3", Truncated, 2, true}, {"\"\xe2\x82", Truncated, 3, true}, {"\"\xf0\x9f\x9a", Truncated, 4, true}, {"\"a\xf0", Truncated, 3, true},
	{"{\"a\":\"\xe2\x82", Truncated, 8, true}, {"{\"\xe2", Truncated, 3, true},

	{`]`, Syntax, 0, false}, {`}`, Syntax, 0, false}, {`,`, Syntax, 0, false}, {`:`, Syntax, 0, false}, {`a`, Syntax, 0, false},
	{`'a'`, Syntax, 0, false}, {`+1`, Syntax, 0, false}, {`.5`, Syntax, 0, false}, {`--1`, Syntax, 1, false}, {`-a`, Syntax, 1, false},
	{`-.5`, Syntax, 1, false}, {`1.a`, Syntax, 2, false}, {`1..2`, Syntax, 2, false}, {`1ea`, Syntax, 2, false}, {`1e+-1`, Syntax, 3, false},
	{`1e.5`, Syntax, 2, false}, {`1.e5`, Syntax, 2, false}, {`-Infinity`, Syntax, 1, false}, {`NaN`, Syntax, 0, false}, {`Infinity`, Syntax, 0, false},
	{`True`, Syntax, 0, false}, {`tRue`, Syntax, 1, false}, {`trua`, Syntax, 3, false}, {`falsy`, Syntax, 4, false}, {`nil`, Syntax, 1, false},
	{`nulL`, Syntax, 3, false}, {"\x00", Syntax, 0, false}, {"\xef\xbb\xbf{}", Syntax, 0, false}, {"\x0b1", Syntax, 0, false}, {"\u00a01", Syntax, 0, false},
	{`[,]`, Syntax, 1, false}, {`[1,]`, Syntax, 3, false}, {`[,1]`, Syntax, 1, false}, {`[1,,2]`, Syntax, 3, false}, {`[1 2]`, Syntax, 3, false},
	{`[1}`, Syntax, 2, false}, {`[}`, Syntax, 1, false}, {`[1:2]`, Syntax, 2, false}, {`["a" "b"]`, Syntax, 5, false}, {`["a":1]`, Syntax, 4, false},
	{`["é","\n",]`, Syntax, 11, false}, {"[\"é\",\"\xff\",1]", BadUTF8, 7, true}, {"[\"é\",\"a\n\",1]", Control, 8, true}, {`["é" ,"é";]`, Syntax, 11, false},
	{`["a",]`, Syntax, 5, false}, {`["a","b",]`, Syntax, 9, false}, {`[""""]`, Syntax, 3, false}, {`["a",,"b"]`, Syntax, 5, false}, {`["a"]]`, OK, 5, false},
	{`[01]`, Syntax, 2, false}, {`[-01]`, Syntax, 3, false}, {`[00]`, Syntax, 2, false}, {`[1.]`, Syntax, 3, false}, {`[1e]`, Syntax, 3, false},
	{`[0x1]`, Syntax, 2, false}, {`[1_0]`, Syntax, 2, false}, {`[+1]`, Syntax, 1, false}, {`[-]`, Syntax, 2, false}, {`[1-2]`, Syntax, 2, false},
	{`[7,08]`, Syntax, 4, false}, {`[7,8,009,1,2,3]`, Syntax, 6, false}, {`[1,2,3,4,5,06,7]`, Syntax, 12, false}, {`[1,,,,,,,,,]`, Syntax, 3, false},
	{`[truex]`, Syntax, 5, false}, {`[tru]`, Syntax, 4, false}, {`[nullnull]`, Syntax, 5, false}, {`[1true]`, Syntax, 2, false},
	{`[1,2;3]`, Syntax, 4, false}, {`[1,2/3]`, Syntax, 4, false}, {`[1,2:3]`, Syntax, 4, false}, {`[1,2.3.4]`, Syntax, 6, false},
	{`[1,2,3,4,5,6,7,8 9]`, Syntax, 17, false}, {`[123456789012x]`, Syntax, 13, false},
	{`{,}`, Syntax, 1, false}, {`{]`, Syntax, 1, false}, {`{1:1}`, Syntax, 1, false}, {`{a:1}`, Syntax, 1, false}, {`{'a':1}`, Syntax, 1, false},
	{`{"a"}`, Syntax, 4, false}, {`{"a":}`, Syntax, 5, false}, {`{"a":,}`, Syntax, 5, false}, {`{"a",1}`, Syntax, 4, false}, {`{"a"1}`, Syntax, 4, false},
	{`{"a"::1}`, Syntax, 5, false}, {`{"a":1,}`, Syntax, 7, false}, {`{"a":1,,}`, Syntax, 7, false}, {`{"a":1 "b":2}`, Syntax, 7, false},
	{`{"a":1]`, Syntax, 6, false}, {`{"a":1:2}`, Syntax, 6, false}, {`{"a":1,2}`, Syntax, 7, false}, {`{"a":[1,2}`, Syntax, 9, false},
	{`{"a" x:1}`, Syntax, 5, false}, {`{"a": x}`, Syntax, 6, false}, {`{"a":1;"b":2}`, Syntax, 6, false}, {`{{}}`, Syntax, 1, false}, {`{[]}`, Syntax, 1, false},
	{`{null:1}`, Syntax, 1, false}, {`{"a":1}}`, OK, 7, false}, {`{"a":tru}`, Syntax, 8, false}, {`{"a":"b"c}`, Syntax, 8, false}, {"{\x00}", Syntax, 1, false},
	{"{\"a\":1\x00}", Syntax, 6, false}, {"{\"a\"\x00:1}", Syntax, 4, false}, {"[1,\x0c2]", Syntax, 3, false}, {"[1\x00,2]", Syntax, 2, false},
	{`[/**/]`, Syntax, 1, false}, {`[1]//`, OK, 3, false}, {`{"a":/**/1}`, Syntax, 5, false}, {`{#}`, Syntax, 1, false}, {"[\xc3\xa9]", Syntax, 1, false},

	{`"\a"`, Syntax, 2, true}, {`"\x41"`, Syntax, 2, true}, {`"\0"`, Syntax, 2, true}, {`"\'"`, Syntax, 2, true}, {`"\U0041"`, Syntax, 2, true},
	{`"\u12"`, Syntax, 5, true}, {`"\u"`, Syntax, 3, true}, {`"\u12G4"`, Syntax, 5, true}, {`"\u 123"`, Syntax, 3, true}, {`"\u+123"`, Syntax, 3, true},
	{`"\u123g"`, Syntax, 6, true}, {`"\ud800\x"`, Syntax, 8, true}, {`"\\\q"`, Syntax, 4, true}, {`{"\z":1}`, Syntax, 3, true}, {"\"\\\xc3\xa9\"", Syntax, 2, true},
	{"\"\\u\xef\xbc\x91000\"", Syntax, 3, true}, {`["abc\def"]`, Syntax, 6, true},

	{"\"\x00\"", Control, 1, true}, {"\"\n\"", Control, 1, true}, {"\"\t\"", Control, 1, true}, {"\"\x1f\"", Control, 1, true}, {"\"abc\rdef\"", Control, 4, true},
	{"{\"a\n\":1}", Control, 3, true}, {"[\"0123456789abcdef\x01\"]", Control, 18, true}, {"\"\\\n\"", Control, 2, true}, {"\"\\u\x00000\"", Control, 3, true}, {"\"\n", Control, 1, true},

	{"\"\x80\"", BadUTF8, 1, true}, {"\"\xbf\"", BadUTF8, 1, true}, {"\"\xc0\x80\"", BadUTF8, 1, true}, {"\"\xc1\xbf\"", BadUTF8, 1, true}, {"\"\xc2\"", BadUTF8, 1, true},
	{"\"\xc3\xc3\xa9\"", BadUTF8, 1, true}, {"\"\xe0\x80\x80\"", BadUTF8, 1, true}, {"\"\xe0\x9f\xbf\"", BadUTF8, 1, true}, {"\"\xed\xa0\x80\"", BadUTF8, 1, true},
	{"\"\xed\xbf\xbf\"", BadUTF8, 1, true}, {"\"\xe2\x82\"", BadUTF8, 1, true}, {"\"\xe2\"", BadUTF8, 1, true}, {"\"\xe2\x82A\"", BadUTF8, 1, true},
	{"\"\xf0\x80\x80\x80\"", BadUTF8, 1, true}, {"\"\xf0\x8f\xbf\xbf\"", BadUTF8, 1, true}, {"\"\xf4\x90\x80\x80\"", BadUTF8, 1, true}, {"\"\xf5\x80\x80\x80\"", BadUTF8, 1, true},
	{"\"\xf8\x88\x80\x80\x80\"", BadUTF8, 1, true}, {"\"\xfe\"", BadUTF8, 1, true}, {"\"\xff\"", BadUTF8, 1, true}, {"\"\xf0\x9f\x9a\"", BadUTF8, 1, true},
	{"\"é\x80\"", BadUTF8, 3, true}, {"\"日\x80\"", BadUTF8, 4, true}, {"\"🚀\x80\"", BadUTF8, 5, true}, {"\"0123456789abcdef\xff\"", BadUTF8, 17, true},
	{"{\"\xff\":1}", BadUTF8, 2, true}, {"[\"ok\",\"\xc3\x28\"]", BadUTF8, 7, true}, {"\"\xe0\x80", BadUTF8, 1, true}, {"\"\xf7\xbf\xbf\xbf\"", BadUTF8, 1, true},
	// A number at the top ends where its grammar ends; the rest is not looked at.
	{`01`, OK, 1, false}, {`1x`, OK, 1, false}, {`1 2`, OK, 1, false}, {`{} {}`, OK, 2, false}, {`truex`, OK, 4, false}, {`"a"b`, OK, 3, false},
	{"1\x00", OK, 1, false}, {`-0-`, OK, 2, false}, {`{}{}`, OK, 2, false}, {`[1]]`, OK, 3, false}, {`null,`, OK, 4, false},
}

func TestAccepts(t *testing.T) {
	m := everything(t)
	for _, s := range acceptedValues {
		end, f := judgeBoth(t, m, s)
		if f.Cause != OK || end != len(strings.TrimRight(s, " ")) {
			t.Errorf("%q: %d %v", s, end, f)
		}
		// The same inside containers, where the fast scan takes other ways.
		for _, outer := range []string{"[%s]", "[%s,1]", `{"a":%s}`, `{"a":%s,"c":""}`, `{"q":[%s]}`, `["",%s,""]`, `[1,%s,1,2,3,4,5,6]`, `{"a":{"b":[%s,%s]}}`, `[[%s]]`} {
			o := strings.ReplaceAll(outer, "%s", s)
			if end, f := judgeBoth(t, m, o); f.Cause != OK || end != len(o) {
				t.Errorf("%q: %d %v", o, end, f)
			}
		}
	}
}

func TestRefuses(t *testing.T) {
	m := everything(t)
	for _, c := range refusedValues {
		want := Fault{Cause: c.cause, Off: c.off, InString: c.in}
		if c.cause == OK {
			want = Fault{}
		}
		end, f := judgeBoth(t, m, c.s)
		if end != c.off || f != want {
			t.Errorf("%q: %d %v, want %d %v", c.s, end, f, c.off, want)
		}
		if c.cause == OK {
			continue
		}
		for _, outer := range []string{"[", "[1,", `{"a":`, `{"q":{"r":`, `["",`, `{"a":{"b":[`, `[7,7,7,7,7,7,7,7,`} {
			want.Off = c.off + len(outer)
			// An array that has begun may also end.
			if (c.s == "]" || c.s == "}") && strings.HasSuffix(outer, "[") {
				continue
			}
			if _, f := judgeBoth(t, m, outer+c.s); f != want {
				t.Errorf("%q: %v, want %v", outer+c.s, f, want)
			}
		}
	}
	if n := len(acceptedValues) + len(refusedValues); n < 150 {
		t.Errorf("only %d cases", n)
	}
}

func TestPrefixes(t *testing.T) {
	m := everything(t)
	for _, s := range acceptedValues {
		s = strings.TrimRight(s, " ")
		if !strings.HasPrefix(s, "{") && !strings.HasPrefix(s, "[") && !strings.HasPrefix(s, `"`) {
			continue
		}
		for n := range len(s) {
			if end, f := judgeBoth(t, m, s[:n]); f.Cause != Truncated || end != n {
				t.Errorf("%q: %d %v", s[:n], end, f)
			}
		}
	}
}

func TestBytesInStrings(t *testing.T) {
	m := everything(t)
	const size = 80
	for _, asKey := range []bool{false, true} {
		for at := range size {
			for b := range 256 {
				text := bytes.Repeat([]byte{'x'}, size)
				text[at] = byte(b)
				s, off := `"`+string(text)+`"`, at+1
				if asKey {
					s, off = `{`+s+`:"`+string(text)+`"}`, at+2
				}
				want := Fault{Off: off, InString: true}
				switch {
				case b < 0x20:
					want.Cause = Control
				case b >= 0x80:
					want.Cause = BadUTF8
				case b == '\\':
					want.Cause = Syntax
					want.Off++
					if at == size-1 {
						continue // escapes the quote
					}
				case b == '"':
					continue
				default:
					want = Fault{}
				}
				buf, from, to := paddedText(s, `"`)
				end, f := m.Value(buf, from, to)
				if f.Cause != OK {
					f.Off -= from
				} else if end != to {
					t.Fatalf("%q: end %d", s, end-from)
				}
				if f != want {
					t.Fatalf("%q: %v, want %v", s, f, want)
				}
			}
		}
	}
}

// TestUTF8 compares with the standard library over all two-byte strings and over the
// edges of three and four bytes.
func TestUTF8(t *testing.T) {
	m := everything(t)
	try := func(text string) {
		s := `"` + text + `"`
		buf, from, to := paddedText(s, "\x80")
		end, f := m.Value(buf, from, to)
		if utf8.ValidString(text) {
			if f.Cause != OK || end != to {
				t.Fatalf("%q refused: %v", text, f)
			}
		} else if f.Cause != BadUTF8 {
			t.Fatalf("%q: %v", text, f)
		}
	}
	edges := []byte{0x7F, 0x80, 0x81, 0x8F, 0x90, 0x91, 0x9F, 0xA0, 0xA1, 0xBF, 0xC0, 0xC2, 0xE0, 0xFF}
	for a := 0x80; a < 0x100; a++ {
		for b := 0x80; b < 0x100; b++ {
			try(string([]byte{byte(a), byte(b)}))
			for _, c := range edges {
				try(string([]byte{byte(a), byte(b), c}))
				for _, d := range edges {
					try(string([]byte{byte(a), byte(b), c, d}))
				}
			}
		}
	}
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if r >= 0x20 && r != '"' && r != '\\' {
			try(string(r))
		}
	}
}

func TestDeep(t *testing.T) {
	m := everything(t)
	for _, n := range []int{1, 62, 63, 64, 65, 127, 128, 129, 1000, 100_000} {
		for _, unit := range []string{"[]", `{"a":}`, `[{"a":}]`, `{"x":[]}`} {
			half := strings.IndexAny(unit, "]}")
			s := strings.Repeat(unit[:half], n) + "1" + strings.Repeat(unit[half:], n)
			if end, f := judgeBoth(t, m, s); f.Cause != OK || end != len(s) {
				t.Errorf("%d times %s: %d %v", n, unit, end, f)
			}
			// One wrong bracket in the middle of the way back.
			b := []byte(s)
			x := len(b) - n/2 - 1
			b[x] ^= '}' ^ ']'
			if _, f := judgeBoth(t, m, string(b)); f != (Fault{Cause: Syntax, Off: x}) {
				t.Errorf("%d times %s, wrong bracket at %d: %v", n, unit, x, f)
			}
		}
	}
	for _, open := range []string{"[", `{"a":`, `[{"a":`} {
		s := strings.Repeat(open, 5_000_000/len(open))
		buf, from, to := paddedText(s, "[")
		if end, f := m.Value(buf, from, to); f != (Fault{Cause: Truncated, Off: to}) || end != to {
			t.Errorf("unclosed: %d %v", end, f)
		}
	}
	if n := len(m.nest); n > 200_000 {
		t.Errorf("nesting took %d words", n)
	}
}

func TestLongLine(t *testing.T) {
	if testing.Short() {
		t.Skip("64 MiB")
	}
	m := everything(t)
	s := `{"a":{"b":["` + strings.Repeat(`0123456789abcde\n`, 4<<20) + `"]}}`
	buf, from, to := paddedText(s, `"`)
	if end, f := m.Value(buf, from, to); f.Cause != OK || end != to {
		t.Error(end, f)
	}
	if end, f := m.Value(buf, from, to-4); f.Cause != Truncated || end != to-4 {
		t.Error(end, f)
	}
}

func TestTolerant(t *testing.T) {
	type flaws []Flaw
	m := mustMachine(t, "a", "b")
	for _, c := range []struct {
		s    string
		want flaws
		f    Fault
	}{
		{`{"a":1}`, nil, Fault{}},
		{"{\"a\":\"x\ny\"}", flaws{{7, 1, Control}}, Fault{}},
		{"{\"a\":\"\x00\x00\"}", flaws{{6, 1, Control}, {7, 1, Control}}, Fault{}},
		{"{\"\x01\":1}", flaws{{2, 1, Control}}, Fault{}},
		{"\"\xff\"", flaws{{1, 1, BadUTF8}}, Fault{}},
		{"\"\xe2\x82\"", flaws{{1, 2, BadUTF8}}, Fault{}},
		{"\"\xe2\x82\xe2\x82\xac\"", flaws{{1, 2, BadUTF8}}, Fault{}},
		{"\"\xf0\x9f\x9aA\x80\"", flaws{{1, 3, BadUTF8}, {5, 1, BadUTF8}}, Fault{}},
		{"\"\xe0\x80\x80\"", flaws{{1, 1, BadUTF8}, {2, 1, BadUTF8}, {3, 1, BadUTF8}}, Fault{}},
		{"\"\xed\xa0\x80\"", flaws{{1, 1, BadUTF8}, {2, 1, BadUTF8}, {3, 1, BadUTF8}}, Fault{}},
		{"\"\xf4\x90\x80\x80\"", flaws{{1, 1, BadUTF8}, {2, 1, BadUTF8}, {3, 1, BadUTF8}, {4, 1, BadUTF8}}, Fault{}},
		{"\"\xc0\xaf\"", flaws{{1, 1, BadUTF8}, {2, 1, BadUTF8}}, Fault{}},
		{"\"\xe2\n\"", flaws{{1, 1, BadUTF8}, {2, 1, Control}}, Fault{}},
		// Outside strings nothing is passed over, nor is a broken escape.
		{"{\"a\":\x00}", nil, Fault{Syntax, 5, false}},
		{"{\"a\":\"\n\\\n\"}", flaws{{6, 1, Control}}, Fault{Syntax, 8, true}},
		{"{\"a\":\"\n\\u12\x0034\"}", flaws{{6, 1, Control}}, Fault{Syntax, 11, true}},
		{"{\"a\":\"\n", flaws{{6, 1, Control}}, Fault{Truncated, 7, true}},
		{"{\"a\":\"\xff\xe2\x82", flaws{{6, 1, BadUTF8}}, Fault{Truncated, 9, true}},
	} {
		for _, behind := range paddings {
			buf, from, to := paddedText(c.s, behind)
			end, f := m.Tolerant(buf, from, to)
			var got flaws
			for _, w := range m.Flaws {
				got = append(got, Flaw{w.Off - from, w.Len, w.Cause})
			}
			want := to
			if f.Cause != OK {
				want = f.Off
				f.Off -= from
			}
			if !reflect.DeepEqual(got, c.want) || f != c.f || end != want {
				t.Errorf("%q: %d %v %v, want %v %v", c.s, end-from, got, f, c.want, c.f)
			}
		}
	}
	if m.Value([]byte("1"+strings.Repeat("\x00", Pad)), 0, 1); len(m.Flaws) != 0 {
		t.Error("flaws outlive their call")
	}
}

// TestFlawsAsReplacements checks maximal subparts against a decoder written from the WHATWG text.
func TestFlawsAsReplacements(t *testing.T) {
	m := mustMachine(t, "a")
	rng := rand.New(rand.NewSource(1))
	pool := []byte{'a', 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xDF, 0xE0, 0xE2, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF}
	for range 200_000 {
		text := make([]byte, rng.Intn(10))
		for x := range text {
			text[x] = pool[rng.Intn(len(pool))]
		}
		buf, from, to := paddedText(`"`+string(text)+`"`, "\x80")
		if _, f := m.Tolerant(buf, from, to); f.Cause != OK {
			t.Fatalf("%q: %v", text, f)
		}
		var got, at = []byte{}, from + 1
		for _, w := range m.Flaws {
			got = append(append(got, buf[at:w.Off]...), "\uFFFD"...)
			at = w.Off + w.Len
		}
		got = append(got, buf[at:to-1]...)
		if want := whatwg(text); string(got) != want {
			t.Fatalf("%q: %q, want %q", text, got, want)
		}
	}
}

// whatwg decodes as the Encoding Standard says, step by step.
func whatwg(in []byte) string {
	var out strings.Builder
	var r rune
	needed, seen := 0, 0
	lower, upper := byte(0x80), byte(0xBF)
	for x := 0; ; x++ {
		if x == len(in) {
			if needed > 0 {
				out.WriteRune(0xFFFD)
			}
			return out.String()
		}
		b := in[x]
		if needed == 0 {
			switch {
			case b < 0x80:
				out.WriteByte(b)
			case 0xC2 <= b && b <= 0xDF:
				needed, r = 1, rune(b&0x1F)
			case 0xE0 <= b && b <= 0xEF:
				if b == 0xE0 {
					lower = 0xA0
				} else if b == 0xED {
					upper = 0x9F
				}
				needed, r = 2, rune(b&0xF)
			case 0xF0 <= b && b <= 0xF4:
				if b == 0xF0 {
					lower = 0x90
				} else if b == 0xF4 {
					upper = 0x8F
				}
				needed, r = 3, rune(b&7)
			default:
				out.WriteRune(0xFFFD)
			}
			continue
		}
		if b < lower || upper < b {
			needed, seen, lower, upper = 0, 0, 0x80, 0xBF
			out.WriteRune(0xFFFD)
			x--
			continue
		}
		lower, upper = 0x80, 0xBF
		r = r<<6 | rune(b&0x3F)
		if seen++; seen == needed {
			out.WriteRune(r)
			needed, seen = 0, 0
		}
	}
}

func TestBounds(t *testing.T) {
	m := mustMachine(t, "a")
	for _, c := range [][3]int{{Pad - 1, 0, 0}, {20, 3, 2}, {20, -1, 2}, {20, 0, 5}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error(c, "no panic")
				}
			}()
			m.Value(make([]byte, c[0]), c[1], c[2])
		}()
	}
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		``: ``, `abc`: `abc`, `a\nb`: "a\nb", `\"\\\/\b\f\n\r\t`: "\"\\/\b\f\n\r\t", `\u0041`: "A", `\u00e9x`: "éx",
		`\ud83d\ude00`: "😀", `\uD83D\uDE00!`: "😀!", `\ud83d`: "\uFFFD", `\ude00`: "\uFFFD", `\ud83d\ud83d\ude00`: "\uFFFD😀",
		`\ud83dx`: "\uFFFDx", `\ud83d\n`: "\uFFFD\n", `\ud83d\u0041`: "\uFFFDA", `\ude00\ud83d`: "\uFFFD\uFFFD", `\u0000`: "\x00",
		`\ufffd`: "\uFFFD", `é\té`: "é\té", `\\u0041`: `\u0041`, `\\\u0041`: `\A`,
		// Not JSON: copied.
		`\`: `\`, `\q`: `\q`, `\u12`: `\u12`, `\u12g4`: `\u12g4`, `a\`: `a\`, `\ud83d\u12`: "\uFFFD\\u12",
	} {
		if got := string(Unescape(nil, []byte(in))); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
		if got := string(Unescape([]byte("x"), []byte(in))); got != "x"+want {
			t.Errorf("%s: %q does not append", in, got)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	m := mustMachine(t, "type", "data", "data.dt", "data.dt[]", "data.texts", "*")
	for _, s := range []string{
		`{"type":"x","\u0064ata":{"turn":1,"dt":[1,2,3],"texts":["a","b\n","é"]},"y":[[[[]]]],"z":{}}`,
		`{"type":1,"type":2}`, `{"type":`, "{\"type\":\"\n\"}", "{\"data\":{\"dt\":[\"\xff\"]}}", strings.Repeat("[", 5000),
	} {
		buf, from, to := paddedText(s, "\n")
		if n := testing.AllocsPerRun(100, func() { m.Value(buf, from, to); m.Tolerant(buf, from, to) }); n != 0 {
			t.Errorf("%.60q: %v allocations", s, n)
		}
	}
}

func ExampleMachine() {
	m, _ := NewMachine([]string{"type", "data.turn"})
	line := []byte(`{"type":"turn/start","data":{"turn":1}}`)
	buf := append(line, make([]byte, Pad)...)
	end, f := m.Value(buf, 0, len(line))
	fmt.Println(end, f.Cause == OK)
	for _, c := range m.Caps {
		fmt.Println(c.Key, string(buf[c.Off:c.Off+c.Len]))
	}
	// Output:
	// 39 true
	// 0 "turn/start"
	// 1 1
}
