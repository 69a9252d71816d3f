package edit_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/edit"
	"github.com/sessfix/sessfix/finding"
)

// white makes bytes blank, and puts s behind the spaces.
func white(at, del, blank int64, s string, c ...finding.Code) edit.Edit {
	return edit.Edit{At: at, Del: del, Blank: blank, Ins: []byte(s), Cures: c, Aside: true}
}

// showBlanks is show, with the spaces.
func showBlanks(list []edit.Edit) string {
	var out []string
	for _, e := range list {
		out = append(out, fmt.Sprintf("%d-%d:%d%q%v", e.At, e.At+e.Del, e.Blank, e.Ins, e.Cures))
	}
	return strings.Join(out, " ")
}

func TestNormaliseBlanks(t *testing.T) {
	const a, b = finding.TornLine, finding.NulLine
	for _, c := range []struct {
		name  string
		edits []edit.Edit
		want  string // "" for a conflict
	}{
		{"alone", []edit.Edit{white(3, 4, 4, "", a)}, `3-7:4""[TORN_LINE]`},
		{"equal ones are merged", []edit.Edit{white(3, 4, 4, "", a), white(3, 4, 4, "", b)}, `3-7:4""[TORN_LINE NUL_LINE]`},
		{"with the same text behind", []edit.Edit{white(3, 4, 3, "\n", a), white(3, 4, 3, "\n", b)}, `3-7:3"\n"[TORN_LINE NUL_LINE]`},
		{"a splice inside goes", []edit.Edit{white(3, 9, 9, "", a), splice(5, 2, "xx", b)}, `3-12:9""[TORN_LINE NUL_LINE]`},
		{"a splice that begins with it goes", []edit.Edit{splice(3, 2, "xx", b), white(3, 9, 9, "", a)}, `3-12:9""[TORN_LINE NUL_LINE]`},
		{"a splice that ends with it goes", []edit.Edit{white(3, 9, 9, "", a), splice(10, 2, "xx", b)}, `3-12:9""[TORN_LINE NUL_LINE]`},
		{"with text behind, a splice inside goes", []edit.Edit{white(3, 9, 8, "\n", a), splice(5, 2, "xx", b)}, `3-12:8"\n"[TORN_LINE NUL_LINE]`},
		{"with text behind, a cut inside goes", []edit.Edit{white(3, 9, 8, "\n", a), cut(3, 2, b)}, `3-12:8"\n"[TORN_LINE NUL_LINE]`},
		{"a cut inside goes", []edit.Edit{white(3, 9, 9, "", a), cut(5, 2, b)}, `3-12:9""[TORN_LINE NUL_LINE]`},
		{"a blank inside goes", []edit.Edit{white(3, 9, 9, "", a), white(5, 2, 2, "", b)}, `3-12:9""[TORN_LINE NUL_LINE]`},
		{"a blank inside a cut goes", []edit.Edit{cut(3, 9, a), white(5, 2, 2, "", b)}, `3-12:0""[TORN_LINE NUL_LINE]`},
		{"an insertion inside goes", []edit.Edit{white(3, 9, 9, "", a), ins(5, "x", edit.RankMend, b)}, `3-12:9""[TORN_LINE NUL_LINE]`},
		{"an insertion in front stays", []edit.Edit{white(3, 9, 9, "", a), ins(3, "x", edit.RankMend, b)}, `3-3:0"x"[NUL_LINE] 3-12:9""[TORN_LINE]`},
		{"one behind stays", []edit.Edit{white(3, 9, 9, "", a), ins(12, "x", edit.RankCloser, b)}, `3-12:9""[TORN_LINE] 12-12:0"x"[NUL_LINE]`},
		{"neighbours", []edit.Edit{white(3, 4, 4, "", a), white(7, 4, 4, "", b), cut(11, 1, a)}, `3-7:4""[TORN_LINE] 7-11:4""[NUL_LINE] 11-12:0""[TORN_LINE]`},
		{"of other length", []edit.Edit{white(3, 4, 4, "", a), white(3, 4, 3, "\n", b)}, `3-7:4""[TORN_LINE NUL_LINE]`},

		{"two that overlap", []edit.Edit{white(3, 4, 4, "", a), white(5, 4, 4, "", b)}, ""},
		{"with text behind, a cut that overlaps", []edit.Edit{white(3, 4, 3, "\n", a), cut(5, 4, b)}, ""},
		{"a cut that overlaps", []edit.Edit{white(3, 4, 4, "", a), cut(5, 4, b)}, ""},
		{"a cut that begins first", []edit.Edit{cut(3, 4, a), white(5, 4, 4, "", b)}, ""},
		{"a splice that overlaps", []edit.Edit{white(3, 4, 4, "", a), splice(5, 4, "x", b)}, ""},
		{"inside a splice", []edit.Edit{splice(3, 9, "x", a), white(5, 2, 2, "", b)}, ""},
	} {
		for _, order := range []string{"", ", the other way round"} {
			edits := slices.Clone(c.edits)
			if order != "" {
				if slices.Reverse(edits); c.name == "of other length" || strings.HasPrefix(c.name, "equal") || strings.HasPrefix(c.name, "with the same") {
					continue // who came first is named first
				}
			}
			p := edit.Plan{Edits: edits}
			err := p.Normalise()
			switch {
			case c.want == "" && !errors.Is(err, edit.ErrConflict):
				t.Errorf("%s%s: no conflict but %v: %s", c.name, order, err, showBlanks(p.Edits))
			case c.want != "" && (err != nil || showBlanks(p.Edits) != c.want):
				t.Errorf("%s%s: %v: %s, want %s", c.name, order, err, showBlanks(p.Edits), c.want)
			}
		}
	}
}

// What goes into quarantine is told, and each byte of the result stands where it should.
func TestApplyBlanks(t *testing.T) {
	text := "one\ntwo\nthree\nfour\n"
	r := apply(t, edit.Plan{Edits: []edit.Edit{white(4, 3, 3, "", finding.SeqDup), white(8, 6, 5, "\n", finding.TornLine), ins(19, "end\n", edit.RankCloser)}}, text)
	if got := content(t, r); got != "one\n   \n     \nfour\nend\n" {
		t.Errorf("%q", got)
	}
	if want := (edit.Account{Size: 19, Kept: 10, Quarantined: 9, Added: 13}); r.Account != want || !r.Account.Balanced() {
		t.Errorf("%+v", r.Account)
	}
	if len(r.Removed) != 2 || r.Removed[0].Off != 4 || r.Removed[0].Len != 3 || !r.Removed[0].Aside || r.Removed[1].Len != 6 {
		t.Errorf("%+v", r.Removed)
	}
	for _, p := range []edit.Plan{
		{Edits: []edit.Edit{white(4, 3, 3, "", finding.SeqDup)}},
		{Edits: []edit.Edit{white(16, 3, 3, "", finding.SeqDup)}},
		{Edits: []edit.Edit{white(4, 3, 3, "", finding.SeqDup), ins(19, "end\n", edit.RankCloser)}},
	} {
		if a, ok := apply(t, p, text).Appendix(); ok {
			t.Errorf("a plan that makes something blank appends %q", a)
		}
	}
	outside := edit.Plan{Edits: []edit.Edit{white(17, 3, 3, "")}}
	if _, err := outside.Apply(strings.NewReader(text), int64(len(text))); !errors.Is(err, edit.ErrConflict) {
		t.Errorf("outside of the text: %v", err)
	}
}

// Whatever is asked for, at odd places and lengths, ReadAt gives what WriteTo writes.
func TestReadAtBlanks(t *testing.T) {
	text := strings.Repeat("0123456789abcdef\n", 40)
	r := apply(t, edit.Plan{Edits: []edit.Edit{white(7, 33, 33, ""), white(101, 55, 54, "\n"), ins(200, "NEW", edit.RankMend), white(301, 1, 1, ""), white(302, 201, 201, ""), white(679, 1, 1, "")}}, text)
	all := content(t, r)
	want := text[:7] + strings.Repeat(" ", 33) + text[40:101] + strings.Repeat(" ", 54) + "\n" + text[156:200] + "NEW" + text[200:301] + strings.Repeat(" ", 202) + text[503:679] + " "
	if all != want {
		t.Fatalf("%q\n%q", all, want)
	}
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 5000 {
		off, n := rnd.IntN(len(all)+10), rnd.IntN(300)
		b := bytes.Repeat([]byte{'#'}, n)
		got, err := r.ReadAt(b, int64(off))
		want := ""
		if off < len(all) {
			want = all[off:min(off+n, len(all))]
		}
		if string(b[:got]) != want || (err == nil) != (got == n) || err != nil && !errors.Is(err, io.EOF) || strings.Trim(string(b[got:]), "#") != "" {
			t.Fatalf("ReadAt(%d, %d): %q %v, want %q", off, n, b[:got], err, want)
		}
	}
}

// zeros is a text of which every byte is 0, however long.
type zeros struct{}

func (zeros) ReadAt(b []byte, off int64) (int, error) { clear(b); return len(b), nil }

// Blanks cost nothing before they are read, however long they are.
func TestLargeBlank(t *testing.T) {
	const size = 3 << 30
	p := edit.Plan{Edits: []edit.Edit{white(1, 1<<30, 1<<30, "", finding.TornLine), white(1<<31+3, 1<<30-9, 1<<30-10, "\n", finding.NulLine)}}
	if err := p.Normalise(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := p.Apply(zeros{}, size)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 100_000 {
		t.Errorf("%d bytes of memory", after.TotalAlloc-before.TotalAlloc)
	}
	if r.Size() != size || !r.Account.Balanced() || r.Account.Quarantined != 1<<31-9 {
		t.Errorf("%d bytes, %+v", r.Size(), r.Account)
	}
	for _, c := range []struct {
		off  int64
		want string
	}{
		{0, "\x00   "}, {1, "    "}, {1<<29 + 1, "    "}, {1<<30 - 1, "  \x00\x00"}, {1<<30 + 1, "\x00\x00\x00\x00"},
		{1<<31 + 1, "\x00\x00  "}, {size - 8, " \n\x00\x00"}, {size - 2, "\x00\x00"},
	} {
		b := make([]byte, 4)
		if n, _ := r.ReadAt(b, c.off); string(b[:n]) != c.want {
			t.Errorf("at %d: %q, want %q", c.off, b[:n], c.want)
		}
	}
}

// The text of a frame becomes blank as that of a plain part does; other frames stay as they are stored.
func TestFramedBlanks(t *testing.T) {
	texts := []string{"h\n", "a\nbb\n", "cc\n", "dd\nee\n", "f\n"}
	for _, c := range []struct {
		name string
		edit edit.Edit
		want []string
	}{
		{"inside a frame", white(4, 2, 2, "", finding.SeqDup), []string{"h\n", "a\n  \n", "cc\n", "dd\nee\n", "f\n"}},
		{"a whole frame", white(7, 3, 2, "\n", finding.SeqDup), []string{"h\n", "a\nbb\n", "  \n", "dd\nee\n", "f\n"}},
		{"across frames", white(4, 8, 8, "", finding.SeqDup), []string{"h\n", "a\n        \nee\n", "f\n"}},
		{"across frames, with a newline", white(5, 5, 4, "\n", finding.SeqDup), []string{"h\n", "a\nb    \n", "dd\nee\n", "f\n"}},
	} {
		z := frames(texts...)
		r := apply(t, edit.Plan{Framed: true, Edits: []edit.Edit{c.edit}}, z)
		out := content(t, r)
		if got := parts(t, out); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		plain := content(t, apply(t, edit.Plan{Edits: []edit.Edit{c.edit}}, strings.Join(texts, "")))
		if unpack(t, out) != plain {
			t.Errorf("%s: %q, plain %q", c.name, unpack(t, out), plain)
		}
		if !r.Account.Balanced() || r.Account.Kept+r.Account.Added != r.Size() {
			t.Errorf("%s: %+v, size %d", c.name, r.Account, r.Size())
		}
	}
}
