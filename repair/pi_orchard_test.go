package repair_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Where copies might lie that are in nobody's home: the name of the one tells what its header would, the folder of the other
// whose it is.
const (
	orchardPath = "no-such-directory/2026-05-01T09-30-00-000Z_019e0001-1111-7222-8333-000000000001.jsonl"
	clawPath    = "no-such-directory/agents/main/sessions/019e000a-1111-7222-8333-00000000000a.jsonl"
)

// orchardLog is a session of pi, of AgentHarness or of OpenClaw, and the path at which it is looked at.
type orchardLog struct {
	name, path string
	data       []byte
	whole      bool // it is cut at each byte
}

func orchard(t testing.TB) []orchardLog {
	t.Helper()
	out := []orchardLog{{"openclaw", clawPath, read(t, "../testdata/sessions/openclaw/agents/main/sessions/"+filepath.Base(clawPath)), false}}
	for i, name := range []string{"crashed", "compacted", "harness", "linear", "tree", "every", "first", "second"} {
		out = append(out, orchardLog{name, orchardPath, read(t, "../testdata/sessions/pi/orchard/"+name+".jsonl"), i < 3})
	}
	return out
}

// Each session ends at its bytes, at all of them if SESSFIX_EVERY_CUT is set: what is left is repaired, and never refused once
// its header is whole.
func TestEveryCutOrchard(t *testing.T) {
	for _, log := range orchard(t) {
		t.Run(log.name, func(t *testing.T) {
			t.Parallel()
			data, step := log.data, 7
			if log.whole && !testing.Short() || os.Getenv("SESSFIX_EVERY_CUT") != "" {
				step = 1
			}
			first := bytes.IndexByte(data, '\n')
			repaired := 0
			for n := 0; n <= len(data); n += step {
				tr, err := once(t.Context(), log.path, data[:n:n], n%5 == 0)
				if err != nil {
					t.Fatalf("cut at %d of %d: %v", n, len(data), err)
				}
				if tr.Refused() && n > first {
					t.Fatalf("cut at %d of %d: refused: %v", n, len(data), codes(tr))
				}
				if tr.Repaired() {
					repaired++
				}
			}
			if repaired < len(data)/step/2 {
				t.Fatalf("only %d of %d cuts were repaired", repaired, len(data)/step)
			}
		})
	}
}

// Each line of each session is lost, torn, repeated or glued to the next in turn, with and without another one lost: what is
// left is repaired or refused, and nothing else. AgentHarness refuses whatever it is not sure of.
func TestEveryLineOrchard(t *testing.T) {
	for _, log := range orchard(t) {
		t.Run(log.name, func(t *testing.T) {
			t.Parallel()
			lines := bytes.SplitAfter(bytes.TrimSuffix(log.data, []byte("\n")), []byte("\n"))
			tried, refused := 0, 0
			for i := range lines {
				for kind := range 5 {
					for more := -1; more < len(lines); more++ {
						what := fmt.Sprintf("line %d, kind %d, and line %d lost", i+1, kind, more+1)
						tr, err := held(t.Context(), log.path, lineDamaged(lines, i, kind, more), kind == 0, false)
						if err != nil {
							t.Fatalf("%s: %v", what, err)
						}
						tried++
						if tr.Refused() {
							refused++
						}
					}
				}
			}
			if log.name != "harness" && refused*3 > tried {
				t.Fatalf("%d of %d refused", refused, tried)
			}
		})
	}
}
