package scan_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// bare is a framing that knows records by how they begin and by what they must hold.
var bare = session.Framing{
	Keys:   []string{"t", "n"},
	Starts: [][]byte{[]byte(`{"t":"`)},
	Needs:  [][]string{{"t", "n"}},
}

// seen is what a scan gives.
type seen struct {
	records  []session.Record
	findings []finding.Finding
	text     int64
}

func look(t testing.TB, medium string, f session.Framing, file []byte) seen {
	t.Helper()
	s, err := scan.New(context.Background(), bytes.NewReader(file), int64(len(file)), scan.Options{Medium: medium, Framing: f})
	if err != nil {
		t.Fatal(err)
	}
	var out seen
	for s.Next() {
		r := *s.Record()
		r.Raw, r.Caps = bytes.Clone(r.Raw), nil
		out.records = append(out.records, r)
	}
	if s.Err() != nil {
		t.Fatalf("%q: %v", short(file), s.Err())
	}
	out.findings, out.text = s.Findings(), s.Text()
	if int64(len(out.records)) != s.Count() {
		t.Fatalf("%q: %d records, Count says %d", short(file), len(out.records), s.Count())
	}
	return out
}

func short(b []byte) string { return string(b[:min(len(b), 600)]) }

// String names findings by code, place and length, and records by their bytes.
func (s seen) String() string {
	var out []string
	for _, f := range s.findings {
		x := fmt.Sprintf("%s@%d+%d", f.Code, f.Text, f.TextLen)
		if f.Missing != "" {
			x += "/" + f.Missing
		}
		if f.Because != "" {
			x += "<" + string(f.Because)
		}
		out = append(out, x)
	}
	return strings.Join(out, " ")
}

// mend applies all patches of all findings to a text. Patches must not overlap.
func mend(t testing.TB, text []byte, found []finding.Finding) []byte {
	t.Helper()
	var all []finding.Patch
	for _, f := range found {
		all = append(all, f.Patches...)
	}
	slices.SortStableFunc(all, func(a, b finding.Patch) int {
		if a.At != b.At {
			return int(a.At - b.At)
		}
		return int(a.Del - b.Del)
	})
	var out []byte
	at := int64(0)
	for _, p := range all {
		if p.At < at || p.At+p.Del > int64(len(text)) {
			t.Fatalf("%q: the patch of %d bytes at %d overlaps another or lies outside", short(text), p.Del, p.At)
		}
		out = append(append(out, text[at:p.At]...), p.Ins...)
		at = p.At + p.Del
	}
	return append(out, text[at:]...)
}

// checkSeen holds what a scan gives of a text against what may be expected of any text.
func checkSeen(t testing.TB, f session.Framing, text []byte, got seen) {
	t.Helper()
	at := int64(0)
	for i, r := range got.records {
		switch {
		case r.N != int64(i):
			t.Fatalf("%q: record %d is numbered %d", short(text), i, r.N)
		case r.Text < at || r.TextLen < 2 || r.TextEnd() > int64(len(text)):
			t.Fatalf("%q: record %d stands at %d, %d bytes, behind %d", short(text), i, r.Text, r.TextLen, at)
		case !bytes.Equal(r.Raw, text[r.Text:r.TextEnd()]):
			t.Fatalf("%q: record %d is not what stands at %d", short(text), i, r.Text)
		case r.Logical != 1+int64(bytes.Count(text[:r.Text], []byte("\n"))):
			t.Fatalf("%q: record %d at %d is said to be on line %d", short(text), i, r.Text, r.Logical)
		}
		at = r.TextEnd()
	}
	if got.text != int64(len(text)) {
		t.Fatalf("%q: %d bytes of text, %d read", short(text), len(text), got.text)
	}
	for _, n := range got.findings {
		if n.Text < 0 || n.TextLen < 0 || n.TextEnd() > int64(len(text)) {
			t.Fatalf("%q: %s stands at %d, %d bytes", short(text), n.Code, n.Text, n.TextLen)
		}
		if _, ok := finding.Lookup(n.Code); !ok || n.Message == "" {
			t.Fatalf("%q: %+v", short(text), n)
		}
		// Without a patch it could not be mended, unless another finding does it.
		if len(n.Patches) == 0 && n.Because == "" && !n.Reframe && n.Code != finding.NulPad && n.Code != finding.NulTail &&
			n.Code != finding.TornLine && n.Code != finding.TornTail && n.Code != finding.GluedTorn && n.Code != finding.FrameUnverifiable {
			t.Fatalf("%q: %s at %d has no patch", short(text), n.Code, n.Text)
		}
	}
	mended := mend(t, text, got.findings)
	lines := bytes.SplitAfter(mended, []byte("\n"))
	if last := lines[len(lines)-1]; len(last) > 0 {
		t.Fatalf("%q is mended to %q, which lacks its newline", short(text), short(mended))
	}
	lines = lines[:len(lines)-1]
	if len(lines) != len(got.records) {
		t.Fatalf("%q has %d records and is mended to %d lines: %q\n%s", short(text), len(got.records), len(lines), short(mended), got)
	}
	for i, line := range lines {
		r := got.records[i]
		var inside []finding.Finding
		for _, n := range got.findings {
			for _, p := range n.Patches {
				if p.At >= r.Text && p.At+p.Del <= r.TextEnd() && p.Del > 0 {
					p.At -= r.Text
					inside = append(inside, finding.Finding{Patches: []finding.Patch{p}})
				}
			}
		}
		want := mend(t, r.Raw, inside)
		if string(bytes.TrimSpace(line)) != string(bytes.TrimSpace(want)) {
			t.Fatalf("%q: record %d is mended to %q, want %q", short(text), i, short(line), short(want))
		}
		if !json.Valid(line) || !utf8.Valid(line) || bytes.TrimSpace(line)[0] != '{' {
			t.Fatalf("%q: record %d is mended to %q, which is no object", short(text), i, short(line))
		}
	}
	again := look(t, scan.Lines, f, mended)
	for _, n := range again.findings {
		t.Fatalf("%q is mended to %q, in which %s stands at %d", short(text), short(mended), n.Code, n.Text)
	}
	if len(again.records) != len(got.records) {
		t.Fatalf("%q has %d records, mended %d", short(text), len(got.records), len(again.records))
	}
}

const (
	recA = `{"t":"a","n":0}`
	recB = `{"t":"b","n":1,"s":"two words"}`
	recC = `{"t":"c","n":2}`
)

func TestSalvage(t *testing.T) {
	const nl = "\n"
	la, lb := len(recA), len(recB)
	for _, c := range []struct {
		name, text string
		records    []string
		found      string
	}{
		{"clean", recA + nl + recB + nl, []string{recA, recB}, ""},
		{"empty", "", nil, ""},
		{"white space around", "  " + recA + " \r" + nl, []string{"  " + recA + " \r"}, ""},
		{"CRLF", recA + "\r\n" + recB + "\r\n", []string{recA + "\r", recB + "\r"}, ""},
		{"line separators are no newlines", `{"t":"a","n":0,"s":"x` + "\u2028\u2029\u0085" + `y"}` + nl, []string{`{"t":"a","n":0,"s":"x` + "\u2028\u2029\u0085" + `y"}`}, ""},
		{"no final newline", recA + nl + recB, []string{recA, recB}, fmt.Sprintf("NO_FINAL_NEWLINE@%d+%d", la+1, lb)},
		{"torn tail", recA + nl + recB[:12], []string{recA}, fmt.Sprintf("TORN_TAIL@%d+12/tail", la+1)},
		{"torn tail of one byte", recA + nl + "{", []string{recA}, fmt.Sprintf("TORN_TAIL@%d+1/tail", la+1)},
		{"torn inside a character", recA + nl + `{"t":"b","n":1,"s":"é`[:21], []string{recA}, fmt.Sprintf("BAD_UTF8@%d+21<TORN_TAIL TORN_TAIL@%d+21/tail", la+1, la+1)},
		{"nothing but a torn record", recB[:12], nil, "TORN_TAIL@0+12/tail"},
		{"torn line", recA + nl + recB[:12] + nl + recC + nl, []string{recA, recC}, fmt.Sprintf("TORN_LINE@%d+12/tail", la+1)},
		{"torn line without head", recA + nl + recB[12:] + nl + recC + nl, []string{recA, recC}, fmt.Sprintf("TORN_LINE@%d+%d/head", la+1, lb-12)},
		{"glued torn", recA + nl + recB[:12] + recC + nl, []string{recA, recC}, fmt.Sprintf("GLUED_TORN@%d+12/tail", la+1)},
		{"glued torn, its head is missing", recB[12:] + recC + nl, []string{recC}, fmt.Sprintf("GLUED_TORN@0+%d/head", lb-12)},
		{"torn behind a record", recA + recB[:12] + nl + recC + nl, []string{recA, recC}, fmt.Sprintf("TORN_LINE@%d+12/tail", la)},
		{"torn between records", recA + recB[:12] + recC + nl, []string{recA, recC}, fmt.Sprintf("GLUED_TORN@%d+12/tail", la)},
		{"torn twice", recB[:9] + recB[:12] + recC + nl, []string{recC}, "GLUED_TORN@0+21/tail"},
		{"torn behind the last record", recA + recB[:12], []string{recA}, fmt.Sprintf("TORN_TAIL@%d+12/tail", la)},
		{"glued whole", recA + recB + nl, []string{recA, recB}, fmt.Sprintf("GLUED_WHOLE@%d+0", la)},
		{"glued whole with space", recA + " \t" + recB + nl, []string{recA, recB}, fmt.Sprintf("GLUED_WHOLE@%d+0", la+2)},
		{"three on a line, without newline", recA + recB + recC, []string{recA, recB, recC},
			fmt.Sprintf("GLUED_WHOLE@%d+0 GLUED_WHOLE@%d+0 NO_FINAL_NEWLINE@%d+%d", la, la+lb, la+lb, len(recC))},
		{"an object inside is no record", recA + nl + `{"t":"b","n":1,"s":{"t":"x"},"u` + nl + recC + nl, []string{recA, recC}, fmt.Sprintf("TORN_LINE@%d+31/tail", la+1)},
		{"split in a string", recA + nl + strings.Replace(recB, " ", nl, 1) + nl + recC + nl, []string{recA, strings.Replace(recB, " ", nl, 1), recC}, fmt.Sprintf("SPLIT_RECORD@%d+%d", la+1, lb)},
		{"split between members", recA + nl + strings.ReplaceAll(recB, ",", ",\n") + nl, []string{recA, strings.ReplaceAll(recB, ",", ",\n")}, fmt.Sprintf("SPLIT_RECORD@%d+%d", la+1, lb+2)},
		{"split at the end", recA + nl + strings.Replace(recB, " ", nl, 1), []string{recA, strings.Replace(recB, " ", nl, 1)},
			fmt.Sprintf("SPLIT_RECORD@%d+%d NO_FINAL_NEWLINE@%d+%d", la+1, lb, la+1, lb)},
		{"NUL tail", recA + nl + "\x00\x00\x00", []string{recA}, fmt.Sprintf("NUL_TAIL@%d+3", la+1)},
		{"NUL tail behind a torn record", recA + nl + recB[:12] + "\x00\x00", []string{recA}, fmt.Sprintf("TORN_TAIL@%d+12/tail NUL_TAIL@%d+2", la+1, la+13)},
		{"NUL tail behind a record", recA + "\x00\x00", []string{recA}, fmt.Sprintf("NUL_TAIL@%d+2", la)},
		{"NUL line", recA + nl + "\x00\x00\n" + recC + nl, []string{recA, recC}, fmt.Sprintf("NUL_LINE@%d+2", la+1)},
		{"NUL pad in front", recA + nl + "\x00\x00" + recC + nl, []string{recA, recC}, fmt.Sprintf("NUL_PAD@%d+2", la+1)},
		{"NUL pad behind", recA + "\x00\x00\n" + recC + nl, []string{recA, recC}, fmt.Sprintf("NUL_PAD@%d+2", la)},
		{"NUL pad between", recA + "\x00\x00" + recC + nl, []string{recA, recC}, fmt.Sprintf("NUL_PAD@%d+2", la)},
		{"torn, NUL, record", recB[:12] + "\x00\x00" + recC + nl, []string{recC}, "GLUED_TORN@0+12/tail NUL_PAD@12+2"},
		{"NUL inside a record", `{"t":"a","n":0,"s":"` + "\x00" + `"}` + nl, []string{`{"t":"a","n":0,"s":"` + "\x00" + `"}`}, "CONTROL_CHAR@20+1"},
		{"no UTF-8", `{"t":"a","n":0,"s":"` + "\xff\xc3" + `x"}` + nl, []string{`{"t":"a","n":0,"s":"` + "\xff\xc3" + `x"}`}, "BAD_UTF8@20+2"},
		{"control characters", `{"t":"a","n":0,"s":"` + "\tx\x01" + `"}` + nl, []string{`{"t":"a","n":0,"s":"` + "\tx\x01" + `"}`}, "CONTROL_CHAR@20+3"},
		{"both", `{"t":"a","n":0,"s":"` + "\t\xff" + `"}` + nl, []string{`{"t":"a","n":0,"s":"` + "\t\xff" + `"}`}, "BAD_UTF8@21+1 CONTROL_CHAR@20+1"},
		{"no UTF-8 and no newline", `{"t":"a","n":0,"s":"` + "\xff" + `"}`, []string{`{"t":"a","n":0,"s":"` + "\xff" + `"}`}, "BAD_UTF8@20+1 NO_FINAL_NEWLINE@0+23"},
		{"byte order mark", "\uFEFF" + recA + nl, []string{recA}, "BOM@0+3"},
		{"byte order mark in front of a torn record", "\uFEFF" + recB[:12] + nl + recC + nl, []string{recC}, "BOM@0+3 TORN_LINE@3+12/tail"},
		{"byte order mark alone", "\uFEFF", nil, "BOM@0+3 BLANK_LINE@3+0"},
		{"blank line", recA + nl + nl + recC + nl, []string{recA, recC}, fmt.Sprintf("BLANK_LINE@%d+0", la+1)},
		{"blank line at the end", recA + nl + " \r\n", []string{recA}, fmt.Sprintf("BLANK_LINE@%d+2", la+1)},
		{"blanks without newline", recA + nl + "  ", []string{recA}, fmt.Sprintf("BLANK_LINE@%d+2", la+1)},
		{"no object", recA + nl + "[1]\n" + `"x"` + nl + "12\n", []string{recA}, fmt.Sprintf("NOT_OBJECT@%d+3 NOT_OBJECT@%d+3 NOT_OBJECT@%d+2", la+1, la+5, la+9)},
		{"a number at the end may go on", recA + nl + "12", []string{recA}, fmt.Sprintf("TORN_TAIL@%d+2/head", la+1)},
		{"words", recA + nl + "Killed\n" + recC + nl, []string{recA, recC}, fmt.Sprintf("TORN_LINE@%d+6/head", la+1)},
		{"another writer inside a record", recB[:20] + recC + recB[20:] + nl, []string{recC}, fmt.Sprintf("GLUED_TORN@0+20/tail TORN_LINE@%d+%d/head", 20+len(recC), lb-20)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := look(t, scan.Lines, bare, []byte(c.text))
			var records []string
			for _, r := range got.records {
				records = append(records, string(r.Raw))
				if r.Off != r.Text || r.Len != r.TextLen || r.Line != r.Logical || r.Frame != 0 {
					t.Errorf("%+v", r.Span)
				}
			}
			if !slices.Equal(records, c.records) {
				t.Errorf("records are %q, want %q", records, c.records)
			}
			if got.String() != c.found {
				t.Errorf("found %s\nwant  %s", got, c.found)
			}
			checkSeen(t, bare, []byte(c.text), got)
		})
	}
}

// A raw control character keeps its value when it becomes an escape.
func TestEscapes(t *testing.T) {
	value := "a\tb\rc\bd\fe\x01f\x1f"
	text := []byte(`{"t":"a","n":0,"s":"` + value + `"}` + "\n")
	var got struct{ S string }
	if err := json.Unmarshal(mend(t, text, look(t, scan.Lines, bare, text).findings), &got); err != nil || got.S != value {
		t.Errorf("%q, %v", got.S, err)
	}
	text = []byte("{\"t\":\"a\",\n\"n\":0,\"s\":\"x\ny\"\n}\n")
	if err := json.Unmarshal(mend(t, text, look(t, scan.Lines, bare, text).findings), &got); err != nil || got.S != "x\ny" {
		t.Errorf("%q, %v", got.S, err)
	}
}

// The place of a fault tells the end of a log from its middle, and how a record was found.
func TestMarks(t *testing.T) {
	got := look(t, scan.Lines, bare, []byte(recA+"\n"+recA+recB+"\n"+recC))
	want := []session.Marks{0, session.Salvaged | session.Followed, session.Salvaged, session.Unterminated}
	for i, r := range got.records {
		if r.Marks != want[i] {
			t.Errorf("record %d: marks %b, want %b", i, r.Marks, want[i])
		}
	}
	for text, where := range map[string]string{recA + "\n\n": "tail", recA + "\n\n" + recC + "\n": "mid"} {
		if f := look(t, scan.Lines, bare, []byte(text)).findings[0]; f.Where != where {
			t.Errorf("an empty line is said to stand in the %s of %q", f.Where, text)
		}
	}
}

// Without knowing the format, the first record teaches how records begin.
func TestLearned(t *testing.T) {
	text := `{"kind":"a","v":{"x":1}}` + "\n" + `{"kind":"b","v":{"x"` + `{"kind":"c"}` + "\n"
	got := look(t, scan.Lines, session.Framing{}, []byte(text))
	if len(got.records) != 2 || string(got.records[1].Raw) != `{"kind":"c"}` || got.String() != "GLUED_TORN@25+20/tail" {
		t.Errorf("%v %s", got.records, got)
	}
	checkSeen(t, session.Framing{}, []byte(text), got)
}

// A line that is longer than the window, and damage around the window's end.
func TestWindow(t *testing.T) {
	long := `{"t":"l","n":9,"s":"` + strings.Repeat("long ", scan.Window/2) + `"}`
	for _, text := range []string{
		long + "\n" + recA + "\n",
		recA + "\n" + long,
		long[:len(long)-7] + recA + "\n" + long + "\n",
		recA + "\n" + strings.Replace(long, "long long", "long\nlong", 3) + "\n" + recB + "\n",
		strings.Repeat(recB+"\n", scan.Window/(len(recB)+1)) + recB[:9] + "\n" + recA + "\n",
		strings.Repeat(recB+"\n", scan.Window/(len(recB)+1)) + strings.Replace(recB, " ", "\n", 1) + "\n" + recA + "\n",
		recA + "\n" + strings.Repeat("\x00", 2*scan.Window) + recB + "\n" + strings.Repeat("\x00", scan.Window),
	} {
		checkSeen(t, bare, []byte(text), look(t, scan.Lines, bare, []byte(text)))
	}
}

// Time must not grow with the square of a line, whatever stands in it: a log that some editor
// saved as UTF-16 is such a line. Lines that take a second where it grows with their length would take hours.
func TestHostileLines(t *testing.T) {
	for _, piece := range []string{`{"t":"`, `{"t":"x","n":1,`, `{"t":"x","n":1,"s":{`, `{`, "\x00 ", "\x00x", recA[:14] + "\x00", `{"t":"x","n":1,"a":[`, recA} {
		text := []byte(recA + "\n" + strings.Repeat(piece, 1<<16/len(piece)) + "\n" + recB + "\n")
		got := look(t, scan.Lines, bare, text)
		if n := len(got.records); n < 2 || string(got.records[n-1].Raw) != recB {
			t.Errorf("%q again and again: the record behind it is lost", piece)
		}
	}
}

// A line of more faults than a log can have ends the scan before it is taken apart.
func TestFaultyLine(t *testing.T) {
	text := recA + "\n" + strings.Repeat("\x00x", 1<<20) + "\n" + recB + "\n"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, err := scan.New(t.Context(), strings.NewReader(text), int64(len(text)), scan.Options{Medium: scan.Lines, Framing: bare})
	if err != nil {
		t.Fatal(err)
	}
	for s.Next() {
	}
	runtime.ReadMemStats(&after)
	if !errors.Is(s.Err(), scan.ErrNotLines) || s.Count() != 1 {
		t.Errorf("%d records, %v", s.Count(), s.Err())
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
		t.Errorf("it takes %d bytes to find that out", n)
	}
}

// palette are pieces that random texts are made of.
var palette = []string{recA, recB, recC, recA, recB, "\n", "\n", "\n", recB[:7], recB[:25], recB[9:], "\x00", "\x00\x00\x00", " ", "\r", "{", "}", `"`, `\`,
	"\xff", "\uFEFF", "é", "[1]", "12", "x", `{"t":"s","n":3,"s":"a` + "\n" + `b"}`, `{"t":"u","n":4,"s":"` + "\xc3" + `"}`, `{"t":"k","n":5,"s":"` + "\x07" + `"}`, `{"t":"o"}`}

func randomText(rnd *rand.Rand) []byte {
	var b []byte
	for range rnd.IntN(14) {
		b = append(b, palette[rnd.IntN(len(palette))]...)
		if rnd.IntN(3) == 0 {
			b = append(b, '\n')
		}
	}
	return b
}

func TestRandomTexts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 600 {
		text := randomText(rnd)
		checkSeen(t, bare, text, look(t, scan.Lines, bare, text))
	}
}

// FuzzScanner reads any bytes as a plain log.
func FuzzScanner(f *testing.F) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		f.Add(randomText(rnd))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := look(t, scan.Lines, bare, data)
		checkSeen(t, bare, data, got)
		// What stands on whole lines in front of it stays as it is.
		prefix := []byte(recA + "\n" + recB + "\n")
		behind := look(t, scan.Lines, bare, slices.Concat(prefix, data))
		if len(behind.records) < 2 || string(behind.records[0].Raw) != recA || string(behind.records[1].Raw) != recB {
			t.Fatalf("%q behind two clean records disturbs them", data)
		}
		for _, n := range behind.findings {
			if n.Text < int64(len(prefix)) {
				t.Fatalf("%q behind two clean records: %s at %d", data, n.Code, n.Text)
			}
		}
		// A reader that knows nothing of the format must not fail either.
		look(t, scan.Lines, session.Framing{}, data)
	})
}

// tornArray is a line that holds the beginning of an array of n objects, and a whole array behind it.
func tornArray(n int) string {
	element := `{"kind":"value","seq":5,"value":"` + strings.Repeat("v", 60) + `"}`
	return "[" + strings.Repeat(element+",", n) + `{"kind":"val` + "[" + element + "]\n"
}

var arrays = session.Framing{
	Keys: []string{"kind", "seq", "[].kind", "[].seq"}, Arrays: true,
	Starts: [][]byte{[]byte(`[{"kind":"`), []byte(`{"kind":"`)}, Needs: [][]string{{"kind", "seq"}, {"[].kind", "[].seq"}},
}

// Of a torn array no element is a record, however many there are, and the one behind it is found.
func TestTornArray(t *testing.T) {
	text := tornArray(5000)
	whole := text[strings.LastIndex(text, "[") : len(text)-1]
	s, err := scan.New(t.Context(), strings.NewReader(text), int64(len(text)), scan.Options{Medium: scan.Lines, Framing: arrays})
	if err != nil {
		t.Fatal(err)
	}
	if !s.Next() || string(s.Record().Raw) != whole || s.Next() {
		t.Errorf("it is not found")
	}
	f := s.Findings()
	if len(f) != 1 || f[0].Code != finding.GluedTorn || f[0].Missing != "tail" || f[0].TextLen != int64(len(text)-len(whole)-1) {
		t.Errorf("%+v", f)
	}
}

// BenchmarkTornLine takes as long for each byte of a long line as for each of a short one.
func BenchmarkTornLine(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		text := tornArray(n)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s, err := scan.New(b.Context(), strings.NewReader(text), int64(len(text)), scan.Options{Medium: scan.Lines, Framing: arrays})
				if err != nil {
					b.Fatal(err)
				}
				for s.Next() {
				}
			}
		})
	}
}

// BenchmarkSplit takes as long for each byte of a file in which every record is spread over two lines, however many they are.
func BenchmarkSplit(b *testing.B) {
	for _, n := range []int{1000, 10_000, 50_000} {
		text := strings.Repeat(`{"t":"a","v":"`+strings.Repeat("v", 400)+"\n"+strings.Repeat("v", 400)+"\"}\n", n)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s, err := scan.New(b.Context(), strings.NewReader(text), int64(len(text)), scan.Options{Medium: scan.Lines, Framing: session.Framing{Keys: []string{"t"}}})
				if err != nil {
					b.Fatal(err)
				}
				records := 0
				for s.Next() {
					s.Findings()
					records++
				}
				if records != n {
					b.Fatalf("%d records", records)
				}
			}
		})
	}
}

// What is sought for records on several lines is bounded: lines that each begin what goes on for ever are torn, and the records
// behind them are found.
func TestSplitBound(t *testing.T) {
	text := strings.Repeat("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\n", 40_000) + `{"t":"a"}` + "\n"
	s, err := scan.New(t.Context(), strings.NewReader(text), int64(len(text)), scan.Options{Medium: scan.Lines, Framing: session.Framing{Keys: []string{"t"}, Arrays: true}})
	if err != nil {
		t.Fatal(err)
	}
	if !s.Next() || string(s.Record().Raw) != `{"t":"a"}` || s.Next() || len(s.Findings()) != 40_000 {
		t.Errorf("the record behind them is not found: %v", s.Err())
	}
}
