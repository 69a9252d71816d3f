package repair_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"
)

// grokCuts says at how many bytes the files of a session are cut.
var grokCuts = []struct {
	session, file string
	step          int
}{
	{"orchard", grokLog, 83}, {"orchard", grokHistory, 13}, {"orchard", grokEvents, 151}, {"orchard", grokPoints, 17}, {"orchard", grokSummary, 19},
	{"stop-parallel", grokLog, 43}, {"stop-parallel", grokHistory, 7}, {"stop-parallel", grokEvents, 101}, {"stop-parallel", grokSummary, 19},
	{"compacted", grokLog, 101}, {"compacted", grokHistory, 19}, {"compacted", "plan.json", 5},
	{"rewound", grokLog, 101}, {"rewound", grokHistory, 19},
}

// grokStep is a step, or 1 where all places are asked for.
func grokStep(step int) int {
	switch {
	case os.Getenv("SESSFIX_EVERY_CUT") != "":
		return 1
	case testing.Short():
		return 7 * step
	}
	return step
}

// Each file of a session ends at its bytes, which is what a crash does: what is left is repaired, and never refused.
func TestEveryCutGrok(t *testing.T) {
	for _, c := range grokCuts {
		t.Run(c.session+"/"+c.file, func(t *testing.T) {
			t.Parallel()
			files := grokSession(t, c.session)
			data, step, repaired := files[c.file], grokStep(c.step), 0
			b := newGrokBed(t, files)
			// Cuts at the ends of lines are made in any case: a record is whole there, with or without its newline.
			near := func(n int) bool { return n == len(data) || n > 0 && data[n-1] == '\n' || data[n] == '\n' }
			faults := 0
			for n := 0; n <= len(data); n++ {
				if n%step > 0 && !near(n) {
					continue
				}
				f, err := b.promise(t.Context(), files.with(c.file, data[:n:n]), n%11 == 0, true)
				if err != nil {
					t.Errorf("cut at %d of %d: %v", n, len(data), err)
					if faults++; faults > 5 {
						t.FailNow()
					}
					continue
				}
				if f.repaired() {
					repaired++
				}
			}
			if lines := bytes.Count(data, []byte("\n")); repaired < lines {
				t.Errorf("only %d cuts were repaired", repaired)
			}
		})
	}
}

// Log and history are cut both, at every pair of the places where a line ends, and in the middle of lines.
func TestEveryTwoCutsGrok(t *testing.T) {
	for _, name := range []string{"stop-parallel", "stop-call", "rewound"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := grokSession(t, name)
			b := newGrokBed(t, files)
			for _, i := range grokEnds(files[grokLog]) {
				for _, k := range grokEnds(files[grokHistory]) {
					in := files.with(grokLog, files[grokLog][:i:i]).with(grokHistory, files[grokHistory][:k:k])
					if _, err := b.promise(t.Context(), in, false, true); err != nil {
						t.Fatal(fmt.Errorf("log cut at %d, history at %d: %w", i, k, err))
					}
				}
			}
		})
	}
}

// grokEnds are the places where lines begin, and their middles.
func grokEnds(data []byte) []int {
	out := []int{0}
	for at := 0; at < len(data); {
		n := bytes.IndexByte(data[at:], '\n') + 1
		if n == 0 {
			n = len(data) - at
		}
		out = append(out, at+n/2, at+n)
		at += n
	}
	return out
}
