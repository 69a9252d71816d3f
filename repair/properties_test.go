package repair_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessfix/sessfix/edit"
	"github.com/sessfix/sessfix/internal/damage"
	"github.com/sessfix/sessfix/internal/damage/trial"
	"github.com/sessfix/sessfix/repair"
)

// fixRapid makes the random tests the same on every run. Flags on the command line win:
// go test ./repair -run Propert -rapid.seed=7 -rapid.checks=20000 looks further.
func fixRapid() {
	flag.Parse()
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for name, value := range map[string]string{"rapid.seed": "1", "rapid.checks": "400", "rapid.nofailfile": "true"} {
		if !given[name] {
			if err := flag.Set(name, value); err != nil {
				panic(err)
			}
		}
	}
}

// propertyBases are what random damage is done to: plain and compressed, healthy and crashed,
// of three versions.
var propertyBases = []string{
	"tiny.v0.jsonl", "tiny.v3.jsonl", "stop-chunks.v0.jsonl", "stop-one-result.v0.jsonl", "stop-second-call.v2.jsonl",
	"resumed.v0.jsonl", "orchard.v0.jsonl", "overtaken.v0.jsonl",
	"tiny.v0.jsonl.zstd", "stop-second-call.v0.jsonl.zstd", "orchard.v0.jsonl.zstd", "overtaken.v0.jsonl.zstd",
}

// scraps are bytes that turn up where they do not belong.
var scraps = []string{
	"\n", "\r\n", "{", "}", "null", "[1,2]\n", `"text"`, "\x00", "\xff\xfe", "\xEF\xBB\xBF", "12", `{"type":"`,
	`{"type":"turn/start","seq":`, `{"a":1}`, `{"type":"session","version":0,"id":"x","createdAt":1,"delegationDepth":0}`,
	"\x28\xB5\x2F\xFD", "\x28\xB5\x2F\xFD\x04\x58", "\x50\x2A\x4D\x18\x02\x00\x00\x00ab",
}

// randomStep makes up a step that fits the part; some come out impossible and are left out.
func randomStep(t *rapid.T, p *damage.Part) damage.Step {
	size, lines := len(p.Bytes()), len(p.Lines())
	num := func(lo, hi int, what string) string {
		return strconv.Itoa(rapid.IntRange(lo, max(lo, hi)).Draw(t, what))
	}
	line := func() string { return num(1, lines, "line") }
	frame := func() string { return num(1, 8, "frame") }
	scrap := func() string { return rapid.SampledFrom(scraps).Draw(t, "scrap") }
	step := func(verb string, args ...string) damage.Step { return damage.Step{Verb: verb, Args: args} }
	verbs := []func() damage.Step{
		func() damage.Step { return step("cut", num(0, size, "size")) },
		func() damage.Step { return step("cut", "-"+num(1, 60, "bytes")) },
		func() damage.Step { return step("nul", num(1, 600, "bytes"), "end") },
		func() damage.Step { return step("nul", num(1, 40, "bytes"), "at", num(0, size, "offset")) },
		func() damage.Step { return step("append-raw", scrap()) },
	}
	if p.Packed {
		verbs = append(verbs,
			func() damage.Step {
				return step("flip", "frame", frame(), "byte", num(0, 120, "byte"), "bit", num(0, 7, "bit"))
			},
			func() damage.Step { return step("torn-frame", frame(), "-"+num(1, 60, "bytes")) },
			func() damage.Step { return step("drop-frame", frame()) },
			func() damage.Step { return step("repeat-frame", frame()) },
			func() damage.Step { return step("swap-frames", frame(), frame()) },
			func() damage.Step { return step("raw-frame", frame(), scrap()) },
			func() damage.Step { return step("skippable", frame(), "x") },
			func() damage.Step { return step("empty-frame", frame()) },
			func() damage.Step { return step("unchecked", frame()) },
		)
	} else {
		verbs = append(verbs,
			func() damage.Step { return step("bom") },
			func() damage.Step { return step("zero", num(1, 200, "bytes"), "at", num(0, size-200, "offset")) },
			func() damage.Step {
				return step("flip", "line", line(), "byte", num(0, 200, "byte"), "bit", num(0, 7, "bit"))
			},
		)
	}
	if lines > 0 {
		verbs = append(verbs,
			func() damage.Step { return step("insert-line", line(), scrap()) },
			func() damage.Step { return step("blank-line", line()) },
			func() damage.Step { return step("nul-line", line(), num(1, 40, "bytes")) },
			func() damage.Step { return step("nul-pad", line(), num(1, 40, "bytes")) },
			func() damage.Step { return step("drop-line", line()) },
			func() damage.Step { return step("drop-newline", "end") },
			func() damage.Step { return step("repeat-line", line()) },
			func() damage.Step { return step("copy-line", line(), "to", line()) },
			func() damage.Step { return step("glue", line()) },
			func() damage.Step { return step("glue-torn", line(), "at", num(0, 150, "byte")) },
			func() damage.Step { return step("torn-line", line(), "at", num(0, 150, "byte")) },
			func() damage.Step { return step("torn-head", line(), "at", num(1, 150, "byte")) },
			func() damage.Step { return step("split-line", line(), "behind", `":`) },
			func() damage.Step { return step("split-line", line(), "behind", " ") },
			func() damage.Step { return step("crlf") },
		)
	}
	return rapid.SampledFrom(verbs).Draw(t, "step")()
}

// damaged is a session after random steps, and the recipe that makes it again.
func damaged(t *rapid.T, sources map[string][]byte) (name string, data []byte, recipe string) {
	name = rapid.SampledFrom(propertyBases).Draw(t, "base")
	p, err := damage.NewPart(sources[name])
	if err != nil {
		t.Fatal(err)
	}
	text := []string{"from sessions/dsh/" + name}
	for range rapid.IntRange(1, 4).Draw(t, "steps") {
		s := randomStep(t, p)
		if p.Do(s) == nil {
			text = append(text, s.String())
		}
	}
	return name, p.Bytes(), strings.Join(text, "\n")
}

func sources(t *testing.T) map[string][]byte {
	out := map[string][]byte{}
	for _, name := range propertyBases {
		out[name] = base(t, name)
	}
	return out
}

// TestProperties holds random damage against what is promised for every input: the result is clean
// or nothing is done, every byte is accounted for, every whole record is kept or set aside, the
// same input gives the same result, and a second repair has nothing to do. A failure prints a
// recipe.
func TestProperties(t *testing.T) {
	src := sources(t)
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		name, data, recipe := damaged(t, src)
		before := bytes.Clone(data)
		tr, err := trial.Of(t.Context(), pathOf(name), data)
		if err != nil {
			t.Fatalf("%v\n%s", err, recipe)
		}
		if err := tr.Check(false); err != nil {
			t.Fatalf("%v\n%s", err, recipe)
		}
		if err := again(t.Context(), pathOf(name), before, tr, true); err != nil {
			t.Fatalf("%v\n%s", err, recipe)
		}
		switch {
		case tr.Refused():
			seen["refused"]++
		case tr.Repaired():
			seen["repaired"]++
			if err := balanced(tr); err != nil {
				t.Fatalf("%v\n%s", err, recipe)
			}
		default:
			seen["clean"]++
		}
	})
	t.Logf("%v", seen)
	if seen["repaired"] == 0 || seen["refused"] == 0 {
		t.Error("the damage did not reach what it tests")
	}
}

// balanced puts the input together again from what was kept and what was set aside or replaced:
// the second copy of the books, which needs nothing but the offsets of a receipt.
func balanced(tr *trial.Trial) error {
	var removed []span
	for _, r := range tr.Result.Removed {
		if r.Len > 0 {
			removed = append(removed, span{r.Off, r.Off + r.Len})
		}
	}
	slices.SortFunc(removed, func(a, b span) int { return int(a.from - b.from) })
	at, kept, gone := int64(0), int64(0), int64(0)
	for _, s := range removed {
		if s.from < at || s.to > int64(len(tr.In)) {
			return fmt.Errorf("bytes %d to %d are removed twice or are none", s.from, s.to)
		}
		kept, gone, at = kept+s.from-at, gone+s.to-s.from, s.to
	}
	kept += int64(len(tr.In)) - at
	a := tr.Result.Account
	if kept != a.Kept || gone != a.Quarantined+a.Replaced {
		return fmt.Errorf("%d bytes kept and %d gone, the account says %+v", kept, gone, a)
	}
	return nil
}

type span struct{ from, to int64 }

// TestUndoProperty repairs random damage in a real file and takes that back.
func TestUndoProperty(t *testing.T) {
	src := sources(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		name, data, recipe := damaged(rt, src)
		// A file system is slow beside memory: every eighth is enough here.
		if n++; n%8 != 0 {
			return
		}
		if tr, err := trial.Of(rt.Context(), pathOf(name), data); err != nil || tr.Unknown {
			return // judged above
		}
		undone(t, recipe, "session.jsonl"+strings.TrimPrefix(pathOf(name), trial.Path), data, nil)
	})
}

// TestDropBesideOtherBytes lists what random damage found and repair cannot do yet: a record that
// leaves the log takes the byte behind it along, which is its newline only when the record fills its
// line. The proof catches that, so nothing is lost, but what could be repaired is refused. A case
// that passes is no longer skipped.
func TestDropBesideOtherBytes(t *testing.T) {
	for _, c := range []struct{ base, steps string }{
		{"tiny.v0.jsonl", "repeat-line 12; nul-pad 13 4"},
		{"tiny.v0.jsonl", "repeat-line 3; glue 4"},
		{"tiny.v0.jsonl", "copy-line 1 to 6; nul-pad 6 4"},
		{"tiny.v0.jsonl", "copy-line 1 to 6; glue 6"},
		{"tiny.v0.jsonl", "repeat-line 12; drop-newline end; nul 8 end"},
		{"overtaken.v0.jsonl", "glue 33"},
		{"overtaken.v0.jsonl.zstd", "nul-pad 33 29"},
	} {
		t.Run(c.base+"; "+c.steps, func(t *testing.T) {
			p, err := damage.NewPart(base(t, c.base))
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.SplitSeq(c.steps, ";") {
				s, err := damage.ParseStep(line)
				if err != nil {
					t.Fatal(err)
				}
				if err := p.Do(s); err != nil {
					t.Fatal(err)
				}
			}
			tr, err := trial.Of(t.Context(), pathOf(c.base), p.Bytes())
			if errors.Is(err, repair.ErrUnproved) || errors.Is(err, edit.ErrConflict) {
				t.Fatal(err)
			}
			if err != nil || !tr.Repaired() {
				t.Fatalf("not repaired: %v", err)
			}
			if err := tr.Check(false); err != nil {
				t.Fatal(err)
			}
		})
	}
}
