package repair_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format/all"
	"github.com/sessfix/sessfix/internal/damage"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// spoil does to a file what crashes and disks do, and says what.
func spoil(r *rand.Rand, data []byte) ([]byte, string) {
	out := bytes.Clone(data)
	var steps []string
	for range 1 + r.IntN(2) {
		at, n := r.IntN(len(out)), r.IntN(300)
		switch r.IntN(4) {
		case 0:
			at = max(at, 1)
			out = out[:at]
			steps = append(steps, fmt.Sprintf("cut at %d", at))
		case 1:
			out[at] ^= 1 << r.IntN(8)
			steps = append(steps, fmt.Sprintf("flip a bit at %d", at))
		case 2:
			clear(out[at:min(at+n, len(out))])
			steps = append(steps, fmt.Sprintf("zero %d at %d", n, at))
		default:
			out = append(append(out[:at:at], make([]byte, n)...), out[at:]...)
			steps = append(steps, fmt.Sprintf("put %d NUL bytes at %d", n, at))
		}
	}
	return out, strings.Join(steps, ", ")
}

// Whatever happened to a file: what is called committed stands there, and what is called not committed does not. Where the end of
// the file is torn that must be mended first.
func TestCommittedRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var files []string
	for _, p := range []string{"*/*.jsonl", "dsh/*.zstd", "codex/*/*.jsonl"} {
		list, err := filepath.Glob("../testdata/sessions/" + p)
		if err != nil || len(list) == 0 {
			t.Fatalf("no sessions: %v", err)
		}
		files = append(files, list...)
	}
	runs := 300
	if testing.Short() {
		runs = 60
	}
	seen := map[verify.Outcome]int{}
	for range runs {
		file := files[r.IntN(len(files))]
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := damage.NewPart(data)
		if err != nil {
			t.Fatal(err)
		}
		n := 1 + r.IntN(len(p.Base)-1)
		record := p.Base[n]
		bad, steps := spoil(r, data)
		path := filepath.Join(t.TempDir(), filepath.Base(file))
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := store.Open(t.Context(), []string{path}, store.Options{Formats: all.Formats()})
		if err != nil {
			t.Fatal(err)
		}
		groups := found.Groups()
		if len(groups) != 1 {
			found.Close()
			continue // it is nobody's any more
		}
		got, err := repair.Committed(t.Context(), groups[0], verify.Question{Record: record, Owner: nobody, Roots: found.Roots}, "")
		found.Close()
		if err != nil {
			t.Fatalf("%s, %s: %v", file, steps, err)
		}
		seen[got.Outcome]++
		line, anyhow := holds(texts(t, filepath.Dir(path)), record)
		switch {
		case got.Outcome == verify.Stored && !line && got.Where[0].Match == "bytes":
			t.Errorf("%s, %s: line %d is called committed, and does not stand there", file, steps, n+1)
		case got.Outcome == verify.Absent && anyhow:
			t.Errorf("%s, %s: line %d is called not committed, and stands there", file, steps, n+1)
		case got.Outcome == verify.Absent && !p.Packed && (bad[len(bad)-1] != '\n') != strings.HasPrefix(got.Advice, "mend the log"):
			t.Errorf("%s, %s: line %d is called not committed, and of the end of the file it says %q", file, steps, n+1, got.Advice)
		}
	}
	if seen[verify.Stored] == 0 || seen[verify.Unsure] == 0 || seen[verify.Absent] == 0 {
		t.Errorf("not all outcomes were seen: %v", seen)
	}
}
