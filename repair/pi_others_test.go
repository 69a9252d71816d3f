package repair_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
)

// Where copies might lie that are in nobody's home: the name of the one tells what its header would, the folder of the other
// whose it is.
const (
	harnessPath = "no-such-directory/2026-05-01T09-30-00-000Z_019e0001-1111-7222-8333-000000000001.jsonl"
	clawPath    = "no-such-directory/agents/main/sessions/019e000a-1111-7222-8333-00000000000a.jsonl"
)

// otherLog is a session of AgentHarness or of OpenClaw, and the path at which it is looked at.
type otherLog struct {
	name, path string
	data       []byte
}

func others(t testing.TB) []otherLog {
	t.Helper()
	return []otherLog{
		{"openclaw", clawPath, read(t, "../testdata/sessions/openclaw/agents/main/sessions/"+filepath.Base(clawPath))},
		{"harness", harnessPath, read(t, "../testdata/sessions/pi/orchard/harness.jsonl")},
	}
}

// Each session ends at every one of its bytes: what is left is repaired, and never refused once its header is whole.
func TestEveryCutOthers(t *testing.T) {
	for _, log := range others(t) {
		t.Run(log.name, func(t *testing.T) {
			t.Parallel()
			data, step := log.data, cutStep(log.name, "openclaw")
			everyCut(t, log.path, data, step, bytes.IndexByte(data, '\n')+1, len(data)/step/2)
		})
	}
}

// Each line of each session is lost, torn, repeated or glued to the next in turn, with and without another one lost: what is
// left is repaired or refused, and nothing else. AgentHarness refuses whatever it is not sure of.
func TestEveryLineOthers(t *testing.T) {
	for _, log := range others(t) {
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
