package edit_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sessfix/sessfix/edit"
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/scan"
)

func cures(c ...finding.Code) []finding.Code { return c }

func cut(at, del int64, c ...finding.Code) edit.Edit {
	return edit.Edit{At: at, Del: del, Cures: c, Aside: true}
}

func ins(at int64, s string, rank int, c ...finding.Code) edit.Edit {
	return edit.Edit{At: at, Ins: []byte(s), Rank: rank, Cures: c}
}

func splice(at, del int64, s string, c ...finding.Code) edit.Edit {
	return edit.Edit{At: at, Del: del, Ins: []byte(s), Cures: c}
}

func show(list []edit.Edit) string {
	var out []string
	for _, e := range list {
		out = append(out, fmt.Sprintf("%d-%d%q%v", e.At, e.At+e.Del, e.Ins, e.Cures))
	}
	return strings.Join(out, " ")
}

func TestNormalise(t *testing.T) {
	const a, b = finding.TornLine, finding.NulLine
	for _, c := range []struct {
		name  string
		edits []edit.Edit
		want  string // "" for a conflict
	}{
		{"nothing", nil, " "},
		{"sorted", []edit.Edit{cut(5, 2, a), ins(1, "x", 0, b)}, `1-1"x"[NUL_LINE] 5-7""[TORN_LINE]`},
		{"equal ones are merged", []edit.Edit{ins(1, "x", 0, a), ins(1, "x", 0, b)}, `1-1"x"[TORN_LINE NUL_LINE]`},
		{"equal splices are merged", []edit.Edit{splice(1, 2, "x", a), splice(1, 2, "x", b)}, `1-3"x"[TORN_LINE NUL_LINE]`},
		{"a code is named once", []edit.Edit{ins(1, "x", 0, a), ins(1, "x", 0, a)}, `1-1"x"[TORN_LINE]`},
		{"a cut swallows a cut", []edit.Edit{cut(2, 2, b), cut(0, 9, a)}, `0-9""[TORN_LINE NUL_LINE]`},
		{"cuts that overlap", []edit.Edit{cut(0, 5, a), cut(3, 5, b)}, `0-8""[TORN_LINE NUL_LINE]`},
		{"a cut swallows an insertion", []edit.Edit{cut(0, 5, a), ins(3, "x", 2, b)}, `0-5""[TORN_LINE NUL_LINE]`},
		{"a cut swallows a splice", []edit.Edit{cut(0, 5, a), splice(3, 2, "x", b)}, `0-5""[TORN_LINE NUL_LINE]`},
		{"a cut swallows the newline behind it", []edit.Edit{cut(0, 5, a), ins(5, "\n", edit.RankNewline, b)}, `0-5""[TORN_LINE NUL_LINE]`},
		{"but no other insertion there", []edit.Edit{ins(5, "x", edit.RankCloser, b), cut(0, 5, a)}, `0-5""[TORN_LINE] 5-5"x"[NUL_LINE]`},
		{"an insertion in front of a cut stays", []edit.Edit{cut(2, 5, a), ins(2, "x", 0, b)}, `2-2"x"[NUL_LINE] 2-7""[TORN_LINE]`},
		{"ranks order insertions", []edit.Edit{ins(1, "c", edit.RankCloser, a), ins(1, "m", edit.RankMend, a), ins(1, "\n", edit.RankNewline, a)},
			`1-1"\n"[TORN_LINE] 1-1"m"[TORN_LINE] 1-1"c"[TORN_LINE]`},
		{"an insertion inside a splice", []edit.Edit{splice(1, 5, "x", a), ins(3, "y", 0, b)}, ""},
		{"splices that overlap", []edit.Edit{splice(1, 5, "x", a), splice(3, 5, "y", b)}, ""},
		{"splices of the same bytes", []edit.Edit{splice(1, 5, "x", a), splice(1, 5, "y", b)}, ""},
		{"a cut of half a splice", []edit.Edit{cut(0, 3, a), splice(2, 3, "y", b)}, ""},
		{"a cut inside a splice", []edit.Edit{splice(1, 5, "x", a), cut(2, 2, b)}, ""},
		{"neighbours do not disturb each other", []edit.Edit{splice(1, 2, "x", a), splice(3, 2, "y", b), cut(5, 1, a)}, `1-3"x"[TORN_LINE] 3-5"y"[NUL_LINE] 5-6""[TORN_LINE]`},
	} {
		p := edit.Plan{Edits: c.edits}
		err := p.Normalise()
		switch {
		case c.want == "" && !errors.Is(err, edit.ErrConflict):
			t.Errorf("%s: no conflict but %v: %s", c.name, err, show(p.Edits))
		case c.want != "" && (err != nil || show(p.Edits) != strings.TrimSpace(c.want)):
			t.Errorf("%s: %v: %s, want %s", c.name, err, show(p.Edits), c.want)
		}
	}
}

// Which cure was found first must not decide.
func TestOrderDoesNotDecide(t *testing.T) {
	one := edit.Plan{Edits: []edit.Edit{cut(0, 5), splice(0, 5, "x")}}
	two := edit.Plan{Edits: []edit.Edit{splice(0, 5, "x"), cut(0, 5)}}
	e1, e2 := one.Normalise(), two.Normalise()
	if (e1 == nil) != (e2 == nil) {
		t.Errorf("a cut and a splice of the same bytes: %v, the other way round: %v", e1, e2)
	}
}

func apply(t testing.TB, p edit.Plan, text string) *edit.Result {
	t.Helper()
	if err := p.Normalise(); err != nil {
		t.Fatal(err)
	}
	r, err := p.Apply(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func content(t testing.TB, r *edit.Result) string {
	t.Helper()
	var b bytes.Buffer
	n, err := r.WriteTo(&b)
	if err != nil || n != r.Size() || int64(b.Len()) != n {
		t.Fatalf("wrote %d bytes, size is %d: %v", b.Len(), r.Size(), err)
	}
	return b.String()
}

func TestApplyPlain(t *testing.T) {
	text := "one\ntwo\nx5\nsix\n"
	r := apply(t, edit.Plan{Edits: []edit.Edit{cut(4, 4, finding.TornLine), splice(9, 1, "(five)", finding.BadUTF8), ins(15, "end\n", edit.RankCloser)}}, text)
	if got := content(t, r); got != "one\nx(five)\nsix\nend\n" {
		t.Errorf("%q", got)
	}
	want := edit.Account{Size: 15, Kept: 10, Replaced: 1, Quarantined: 4, Added: 10}
	if r.Account != want || !r.Account.Balanced() {
		t.Errorf("%+v", r.Account)
	}
	if len(r.Removed) != 2 || r.Removed[0].Off != 4 || r.Removed[0].Len != 4 || !r.Removed[0].Aside || r.Removed[1].Aside || r.Removed[1].Codes[0] != finding.BadUTF8 {
		t.Errorf("%+v", r.Removed)
	}
	if _, ok := r.Appendix(); ok {
		t.Error("a plan that cuts has an appendix")
	}
}

func TestApplyOutside(t *testing.T) {
	for _, e := range []edit.Edit{cut(3, 2), cut(5, 1), ins(5, "x", 0), cut(-1, 1)} {
		p := edit.Plan{Edits: []edit.Edit{e}}
		if err := p.Normalise(); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Apply(strings.NewReader("abcd"), 4); !errors.Is(err, edit.ErrConflict) {
			t.Errorf("%+v: %v", e, err)
		}
	}
	p := edit.Plan{Framed: true, Edits: []edit.Edit{cut(4, 3)}}
	z := scan.EncodeFrame(nil, []byte("abcd"))
	if _, err := p.Apply(bytes.NewReader(z), int64(len(z))); !errors.Is(err, edit.ErrConflict) {
		t.Errorf("framed: %v", err)
	}
}

func TestAppendix(t *testing.T) {
	r := apply(t, edit.Plan{Edits: []edit.Edit{ins(4, "b\n", edit.RankCloser), ins(4, "\n", edit.RankNewline)}}, "aaaa")
	if a, ok := r.Appendix(); !ok || string(a) != "\nb\n" {
		t.Errorf("%q %v", a, ok)
	}
	for name, p := range map[string]edit.Plan{
		"insertion in front": {Edits: []edit.Edit{ins(0, "x", 0)}},
		"in the middle":      {Edits: []edit.Edit{ins(2, "x", 0), ins(4, "x", 0)}},
		"cut at the end":     {Edits: []edit.Edit{cut(3, 1), ins(4, "x", edit.RankCloser)}},
	} {
		if _, ok := apply(t, p, "aaaa").Appendix(); ok {
			t.Errorf("%s: an appendix", name)
		}
	}
	z := string(scan.EncodeFrame(nil, []byte("aaaa\n")))
	r = apply(t, edit.Plan{Framed: true, Edits: []edit.Edit{ins(5, "b\n", edit.RankCloser)}}, z)
	if a, ok := r.Appendix(); !ok || unpack(t, string(a)) != "b\n" {
		t.Errorf("%q %v", a, ok)
	}
	// Into an empty file everything is appended.
	if a, ok := apply(t, edit.Plan{Edits: []edit.Edit{ins(0, "x", 0)}}, "").Appendix(); !ok || string(a) != "x" {
		t.Errorf("%q %v", a, ok)
	}
}

func unpack(t testing.TB, z string) string {
	t.Helper()
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	text, err := d.DecodeAll([]byte(z), nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// frames packs each text into a frame of its own.
func frames(texts ...string) string {
	var z []byte
	for _, s := range texts {
		z = scan.EncodeFrame(z, []byte(s))
	}
	return string(z)
}

// parts are the texts of a file's frames.
func parts(t testing.TB, z string) []string {
	t.Helper()
	w := scan.NewFrameWalker(strings.NewReader(z), int64(len(z)), nil)
	defer w.Close()
	var out []string
	for {
		g, text, err := w.Next(nil)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil || !g.Sound() || g.Streamed {
			t.Fatalf("%+v %v", g, err)
		}
		out = append(out, string(text))
	}
}

func TestFramed(t *testing.T) {
	for _, c := range []struct {
		name  string
		plan  edit.Plan
		texts []string
		want  []string
		same  []int // frames that must be copied as stored, by index before
	}{
		{"nothing", edit.Plan{}, []string{"h\n", "a\n"}, []string{"h\n", "a\n"}, []int{0, 1}},
		{"a cut inside a frame", edit.Plan{Edits: []edit.Edit{cut(2, 2)}}, []string{"h\n", "a\nb\n", "c\n"}, []string{"h\n", "b\n", "c\n"}, []int{0, 2}},
		{"a whole frame", edit.Plan{Edits: []edit.Edit{cut(2, 4)}}, []string{"h\n", "a\nb\n", "c\n"}, []string{"h\n", "c\n"}, []int{0, 2}},
		{"a cut across frames", edit.Plan{Edits: []edit.Edit{cut(4, 6)}}, []string{"h\n", "a\nb\n", "c\n", "d\ne\n", "f\n"}, []string{"h\n", "a\ne\n", "f\n"}, []int{0, 4}},
		{"an insertion between frames goes with the later one", edit.Plan{Edits: []edit.Edit{ins(4, "x\n", 0)}}, []string{"h\n", "a\n", "b\n"}, []string{"h\n", "a\n", "x\nb\n"}, []int{0, 1}},
		{"behind the end all share a frame", edit.Plan{Edits: []edit.Edit{ins(4, "\n", 0), ins(4, "x\n", 1), ins(4, "y\n", 2)}}, []string{"h\n", "a\n"}, []string{"h\n", "a\n", "\nx\ny\n"}, []int{0, 1}},
		{"header frame split", edit.Plan{HeaderFrame: true, Reframe: []edit.Reframe{{Off: 0}}}, []string{"h\na\n", "b\n"}, []string{"h\n", "a\n", "b\n"}, []int{1}},
		{"header split over frames", edit.Plan{HeaderFrame: true, Reframe: []edit.Reframe{{Off: 0}}}, []string{"he", "ad\na\n", "b\n"}, []string{"head\n", "a\n", "b\n"}, []int{2}},
		{"header split over three", edit.Plan{HeaderFrame: true, Reframe: []edit.Reframe{{Off: 0}}}, []string{"he", "a", "d\na\n", "b\n"}, []string{"head\n", "a\n", "b\n"}, []int{3}},
		{"a new header frame after a cut", edit.Plan{HeaderFrame: true, Edits: []edit.Edit{cut(0, 1)}}, []string{"?h\na\n", "b\n"}, []string{"h\n", "a\n", "b\n"}, []int{1}},
		{"an empty frame stays", edit.Plan{Edits: []edit.Edit{cut(2, 2)}}, []string{"h\n", "", "a\nb\n"}, []string{"h\n", "", "b\n"}, []int{0, 1}},
		{"neighbours rewritten share a frame", edit.Plan{Edits: []edit.Edit{cut(2, 2), cut(6, 2)}}, []string{"h\n", "a\nb\n", "c\nd\n"}, []string{"h\n", "b\nd\n"}, []int{0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.plan.Framed = true
			z := frames(c.texts...)
			r := apply(t, c.plan, z)
			out := content(t, r)
			if got := parts(t, out); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if !r.Account.Balanced() || r.Account.Kept+r.Account.Added != r.Size() {
				t.Errorf("%+v, size %d", r.Account, r.Size())
			}
			kept := int64(0)
			for _, i := range c.same {
				f := frames(c.texts[i])
				kept += int64(len(f))
				if !strings.Contains(out, f) {
					t.Errorf("frame %d was written again", i)
				}
			}
			if r.Account.Kept != kept {
				t.Errorf("%d bytes kept, want %d", r.Account.Kept, kept)
			}
		})
	}
}

// Of a frame that is written again the receipt names the stored bytes, and the text that went.
func TestFramedRemoved(t *testing.T) {
	z := frames("h\n", "a\nb\nc\n", "d\n")
	off := int64(len(frames("h\n")))
	r := apply(t, edit.Plan{Framed: true, Edits: []edit.Edit{cut(4, 2, finding.TornLine)}}, z)
	if len(r.Removed) != 2 {
		t.Fatalf("%+v", r.Removed)
	}
	whole, piece := r.Removed[0], r.Removed[1]
	if whole.Off != off || whole.Len != int64(len(frames("a\nb\nc\n"))) || whole.Aside || whole.Frame != 2 {
		t.Errorf("%+v", whole)
	}
	if piece.Text != 4 || string(piece.Data) != "b\n" || !piece.Aside || piece.Codes[0] != finding.TornLine {
		t.Errorf("%+v", piece)
	}
	r = apply(t, edit.Plan{Framed: true, Edits: []edit.Edit{cut(2, 6, finding.TornLine)}}, z)
	if len(r.Removed) != 1 || !r.Removed[0].Aside || r.Account.Quarantined != whole.Len {
		t.Errorf("%+v %+v", r.Removed, r.Account)
	}
}

// Damaged regions that are named are written again, with what can still be read of them.
func TestReframe(t *testing.T) {
	torn := frames(strings.Repeat("line of text\n", 2000))
	torn = torn[:len(torn)-9]
	z := frames("h\n") + "\x00\x00\x00" + frames("a\n") + torn
	w := scan.NewFrameWalker(strings.NewReader(z), int64(len(z)), nil)
	defer w.Close()
	p := edit.Plan{Framed: true}
	text := ""
	for {
		g, out, err := w.Next(nil)
		if err != nil {
			break
		}
		text += string(out)
		if !g.Sound() {
			p.Reframe = append(p.Reframe, edit.Reframe{Off: g.Off, Cures: cures(finding.TornFrame)})
		}
	}
	slices.Reverse(p.Reframe)
	r := apply(t, p, z)
	if got := unpack(t, content(t, r)); got != text {
		t.Errorf("%d bytes of text, want %d", len(got), len(text))
	}
	if r.Account.Quarantined != int64(len(torn)+3) || r.Account.Replaced != 0 || !r.Account.Balanced() {
		t.Errorf("%+v", r.Account)
	}
}

// big is more text than a frame may hold in memory.
func big() string {
	var b strings.Builder
	for i := 0; b.Len() < 9<<20; i++ {
		fmt.Fprintf(&b, `{"n":%d,"x":"some text that packs well"}`+"\n", i)
	}
	return b.String()
}

func TestStreamed(t *testing.T) {
	text := big()
	z := frames("h\n", text, "z\n")
	for name, p := range map[string]edit.Plan{
		"untouched": {},
		"cut":       {Edits: []edit.Edit{cut(5<<20, 100)}},
		"at a window's end": {Edits: []edit.Edit{
			splice(2+1<<20-3, 6, "SPLICED"), ins(2+3<<20, "HERE", 1), cut(2+2<<20-100, 200)}},
		"up to the next frame": {Edits: []edit.Edit{cut(2+8<<20, int64(len(text)-8<<20)), ins(int64(len(text)+2), "NEW\n", 1)}},
		"all of it":            {Edits: []edit.Edit{cut(2, int64(len(text)))}},
	} {
		t.Run(name, func(t *testing.T) {
			p.Framed, p.HeaderFrame = true, true
			r := apply(t, p, z)
			want := content(t, apply(t, edit.Plan{Edits: p.Edits}, "h\n"+text+"z\n"))
			if got := unpack(t, content(t, r)); got != want {
				t.Errorf("%d bytes of text, want %d", len(got), len(want))
			}
			if !r.Account.Balanced() || r.Account.Kept+r.Account.Added != r.Size() {
				t.Errorf("%+v, size %d", r.Account, r.Size())
			}
			if name == "untouched" && r.Account.Kept != int64(len(z)) {
				t.Errorf("%+v", r.Account)
			}
		})
	}
	// A header at the front of a large frame gets its own.
	r := apply(t, edit.Plan{Framed: true, HeaderFrame: true, Reframe: []edit.Reframe{{Off: 0}}}, frames("h\n"+text))
	out := content(t, r)
	if !strings.HasPrefix(out, frames("h\n")) || unpack(t, out) != "h\n"+text {
		t.Error("the header of a large frame is not split off")
	}
}

// A plan is data: applying it leaves it as it is.
func TestApplyLeavesPlan(t *testing.T) {
	p := edit.Plan{Framed: true, Edits: []edit.Edit{cut(4, 6)}}
	z := frames("h\n", "a\nb\n", "c\n", "d\ne\n")
	var out [2]string
	for i := range out {
		r, err := p.Apply(strings.NewReader(z), int64(len(z)))
		if err != nil {
			t.Fatal(err)
		}
		out[i] = content(t, r)
		if got := show(p.Edits); got != show([]edit.Edit{cut(4, 6)}) {
			t.Fatalf("the plan is %s afterwards", got)
		}
	}
	if out[0] != out[1] {
		t.Errorf("the second time it gives %q, the first time %q", parts(t, out[1]), parts(t, out[0]))
	}
}

// Whatever is asked for, ReadAt gives what WriteTo writes.
func TestReadAt(t *testing.T) {
	text := strings.Repeat("0123456789abcdef\n", 40)
	r := apply(t, edit.Plan{Edits: []edit.Edit{cut(5, 30), ins(100, "NEW BYTES", 1), splice(200, 1, "S"), ins(200, "x", 0), cut(300, 200), ins(680, "END", 2)}}, text)
	all := content(t, r)
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		off, n := rnd.IntN(len(all)+10), rnd.IntN(80)
		b := make([]byte, n)
		got, err := r.ReadAt(b, int64(off))
		want := ""
		if off < len(all) {
			want = all[off:min(off+n, len(all))]
		}
		if string(b[:got]) != want || (err == nil) != (got == n) || err != nil && !errors.Is(err, io.EOF) {
			t.Fatalf("ReadAt(%d, %d): %q %v, want %q", off, n, b[:got], err, want)
		}
	}
	// A file that became shorter is no end of the result.
	p := edit.Plan{Edits: []edit.Edit{cut(0, 1)}}
	if err := p.Normalise(); err != nil {
		t.Fatal(err)
	}
	short, err := p.Apply(strings.NewReader("abc"), 10)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := short.ReadAt(make([]byte, 9), 0); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("reading what is gone: %v", err)
	}
}

// naive applies edits in the plainest way: it marks each byte, then reads the marks off. It
// returns false for a conflict.
func naive(text []byte, edits []edit.Edit) (out []byte, aside int64, ok bool) {
	for _, e := range edits {
		if e.At < 0 || e.At+e.Del > int64(len(text)) {
			return nil, 0, false
		}
	}
	within := func(e, c edit.Edit) bool { return c.At <= e.At && e.At+e.Del <= c.At+c.Del }
	// Runs of cuts that overlap, with whether any of them puts its bytes aside.
	type run struct {
		from, to int64
		aside    bool
	}
	var runs []run
	cuts := slices.DeleteFunc(slices.Clone(edits), func(e edit.Edit) bool { return e.Del == 0 || len(e.Ins) > 0 })
	slices.SortFunc(cuts, func(a, b edit.Edit) int { return int(a.At - b.At) })
	for _, c := range cuts {
		if k := len(runs); k > 0 && c.At < runs[k-1].to {
			runs[k-1].to, runs[k-1].aside = max(runs[k-1].to, c.At+c.Del), runs[k-1].aside || c.Aside
			continue
		}
		runs = append(runs, run{c.At, c.At + c.Del, c.Aside})
	}
	gone := make([]bool, len(text))
	for _, r := range runs {
		for i := r.from; i < r.to; i++ {
			gone[i] = true
		}
		if r.aside {
			aside += r.to - r.from
		}
	}
	type put struct {
		rank, nth int
		b         []byte
		splice    bool
	}
	puts := map[int64][]put{}
	var done []edit.Edit
	inCut := func(e edit.Edit) bool {
		return slices.ContainsFunc(cuts, func(c edit.Edit) bool { return within(e, c) })
	}
	for nth, e := range edits {
		if e.Del > 0 && len(e.Ins) == 0 || slices.ContainsFunc(done, func(f edit.Edit) bool { return equal(e, f) }) {
			continue
		}
		done = append(done, e)
		if e.Del == 0 {
			swallowed := false
			for _, r := range runs {
				swallowed = swallowed || r.from < e.At && e.At < r.to || e.At == r.to && e.Rank == edit.RankNewline
			}
			for _, f := range edits {
				if f.Del > 0 && len(f.Ins) > 0 && f.At < e.At && e.At < f.At+f.Del && !swallowed && !inCut(f) {
					return nil, 0, false
				}
			}
			if !swallowed {
				puts[e.At] = append(puts[e.At], put{e.Rank, nth, e.Ins, false})
			}
			continue
		}
		if inCut(e) {
			continue
		}
		for _, f := range edits {
			if f.Del > 0 && len(f.Ins) > 0 && e.At < f.At+f.Del && f.At < e.At+e.Del && !equal(e, f) && !inCut(f) {
				return nil, 0, false
			}
		}
		for _, c := range cuts {
			if e.At < c.At+c.Del && c.At < e.At+e.Del {
				return nil, 0, false
			}
		}
		for i := e.At; i < e.At+e.Del; i++ {
			gone[i] = true
		}
		if e.Aside {
			aside += e.Del
		}
		puts[e.At] = append(puts[e.At], put{e.Rank, nth, e.Ins, true})
	}
	for i := int64(0); i <= int64(len(text)); i++ {
		at := puts[i]
		slices.SortFunc(at, func(a, b put) int {
			if a.splice != b.splice {
				if a.splice {
					return 1
				}
				return -1
			}
			if a.rank != b.rank {
				return a.rank - b.rank
			}
			return a.nth - b.nth
		})
		for _, p := range at {
			out = append(out, p.b...)
		}
		if i < int64(len(text)) && !gone[i] {
			out = append(out, text[i])
		}
	}
	return out, aside, true
}

func equal(a, b edit.Edit) bool {
	return a.At == b.At && a.Del == b.Del && a.Rank == b.Rank && bytes.Equal(a.Ins, b.Ins)
}

// randomPlan reads edits, a text and its division into frames off a seed.
func randomPlan(rnd *rand.Rand) (texts []string, edits []edit.Edit) {
	n := 0
	for range rnd.IntN(5) + 1 {
		var b strings.Builder
		for range rnd.IntN(6) {
			fmt.Fprintf(&b, "%s\n", strings.Repeat(string(rune('a'+n%26)), rnd.IntN(5)))
			n++
		}
		texts = append(texts, b.String())
	}
	size := len(strings.Join(texts, ""))
	for range rnd.IntN(7) {
		e := edit.Edit{At: int64(rnd.IntN(size + 1)), Rank: rnd.IntN(3)}
		e.Aside = e.At%2 == 0 // equal edits agree on it
		switch rnd.IntN(3) {
		case 0:
			e.Del = int64(rnd.IntN(12))
		case 1:
			// At one point and of one rank all insertions are the same: the order in which others
			// are given is theirs to choose.
			e.Ins = fmt.Appendf(nil, "<%d>", e.Rank)
		default:
			e.Del, e.Ins = int64(rnd.IntN(4)), []byte("\n")
		}
		if e.Del > 0 {
			e.Rank = 0 // as repair gives them
			if rnd.IntN(20) > 0 {
				e.Del = min(e.Del, int64(size)-e.At)
			}
		}
		if e.Del == 0 && len(e.Ins) < 3 {
			continue
		}
		edits = append(edits, e)
	}
	return texts, edits
}

func checkPlan(t *testing.T, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 7))
	texts, edits := randomPlan(rnd)
	text := strings.Join(texts, "")
	want, aside, ok := naive([]byte(text), edits)
	p := edit.Plan{Edits: slices.Clone(edits)}
	err := p.Normalise()
	var r *edit.Result
	if err == nil {
		r, err = p.Apply(strings.NewReader(text), int64(len(text)))
	}
	if err != nil {
		if !errors.Is(err, edit.ErrConflict) {
			t.Fatal(err)
		}
		// A cut and a splice that begin together are the one case in which the code gives up
		// although the cut would swallow the splice.
		if ok && !begins(edits) {
			t.Fatalf("seed %d: %q %s: %v, but no two edits want the same bytes: %q", seed, text, show(edits), err, want)
		}
		return
	}
	if !ok {
		t.Fatalf("seed %d: %q %s: a conflict was resolved: %q", seed, text, show(edits), content(t, r))
	}
	got := content(t, r)
	a := r.Account
	if got != string(want) || !a.Balanced() || a.Kept+a.Added != r.Size() || a.Quarantined != aside || a.Size != int64(len(text)) {
		t.Fatalf("seed %d: %q %s\n got %q %+v\nwant %q, %d aside", seed, text, show(edits), got, a, want, aside)
	}
	removed := int64(0)
	for _, m := range r.Removed {
		removed += m.Len
	}
	if removed != a.Quarantined+a.Replaced {
		t.Fatalf("seed %d: %d bytes removed, %+v", seed, removed, a)
	}

	p = edit.Plan{Framed: true, Edits: slices.Clone(edits)}
	if err := p.Normalise(); err != nil {
		t.Fatal(err)
	}
	plan := slices.Clone(p.Edits)
	z := frames(texts...)
	zr, err := p.Apply(strings.NewReader(z), int64(len(z)))
	if err != nil {
		t.Fatalf("seed %d: framed %q %s: %v", seed, texts, show(edits), err)
	}
	out := content(t, zr)
	za := zr.Account
	if text := unpack(t, out); text != string(want) || !za.Balanced() || za.Kept+za.Added != zr.Size() {
		t.Fatalf("seed %d: framed %q %s\n got %q %+v\nwant %q", seed, texts, show(edits), text, za, want)
	}
	for i := int64(0); i < zr.Size(); i += 7 {
		var b [7]byte
		n, _ := zr.ReadAt(b[:], i)
		if string(b[:n]) != out[i:min(i+7, zr.Size())] {
			t.Fatalf("seed %d: ReadAt(%d) is not what WriteTo writes", seed, i)
		}
	}
	// A frame that no edit is in keeps its stored bytes.
	at := int64(0)
	for _, s := range texts {
		touched := false
		for _, e := range plan {
			touched = touched || e.At < at+int64(len(s)) && (e.At >= at || e.At+e.Del > at)
		}
		if !touched && !strings.Contains(out, frames(s)) {
			t.Fatalf("seed %d: %q %s: frame %q, which nothing touches, was written again", seed, texts, show(plan), s)
		}
		at += int64(len(s))
	}
}

// begins tells whether a cut and a splice begin at one place.
func begins(edits []edit.Edit) bool {
	for _, e := range edits {
		for _, f := range edits {
			if e.At == f.At && e.Del > 0 && f.Del > 0 && len(e.Ins) > 0 && len(f.Ins) == 0 {
				return true
			}
		}
	}
	return false
}

func TestRandomPlans(t *testing.T) {
	for seed := range uint64(150) {
		checkPlan(t, seed)
	}
}

// FuzzPlan compares plans with the naive way of applying edits, plain and framed.
func FuzzPlan(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(checkPlan)
}
