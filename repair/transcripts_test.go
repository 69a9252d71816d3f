package repair_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/sessfix/sessfix/internal/damage/trial"
)

// transcripts are logs whose records make a tree, by name.
func transcripts(t testing.TB) map[string][]byte { return sessionsIn(t, "claude-code", 8) }

// transcriptPath is where a copy might lie that is in nobody's home.
const transcriptPath = "no-such-directory/0a0a0a0a-1111-4222-8333-444455556666.jsonl"

// Each transcript ends at every one of its bytes: what is left is repaired, and never refused once its first
// line is whole.
func TestEveryCutTranscripts(t *testing.T) {
	for name, data := range transcripts(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			step := cutStep(name, "orchard", "tiny", "stop-parallel", "compacted")
			everyCut(t, transcriptPath, data, step, bytes.IndexByte(data, '\n')+1, len(data)/step/2)
		})
	}
}

// Each line of each transcript is lost, torn, repeated or glued to the next in turn, with and without another one
// lost: what is left is repaired or refused, and nothing else.
func TestEveryLineTranscripts(t *testing.T) {
	for name, data := range transcripts(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
			tried, refused := 0, 0
			for i := range lines {
				for kind := range 5 {
					for more := -1; more < len(lines); more++ {
						in := lineDamaged(lines, i, kind, more)
						tr, err := once(t.Context(), transcriptPath, in, true)
						if err != nil {
							t.Fatalf("line %d, kind %d, and line %d lost: %v", i+1, kind, more+1, err)
						}
						if bytes.Contains(tr.Out, []byte("\n\n")) && !bytes.Contains(in, []byte("\n\n")) {
							t.Fatalf("line %d, kind %d, and line %d lost: repair makes an empty line", i+1, kind, more+1)
						}
						tried++
						if tr.Refused() {
							refused++
						}
					}
				}
			}
			if refused*2 > tried {
				t.Fatalf("%d of %d refused", refused, tried)
			}
		})
	}
}

// lineDamaged does something to line i, and loses line more.
func lineDamaged(lines [][]byte, i, kind, more int) []byte {
	var b bytes.Buffer
	for k, l := range lines {
		switch {
		case k == more && k != i:
			continue
		case k != i:
		case kind == 0:
			continue
		case kind == 1:
			l = append(bytes.Clone(l[:len(l)/2]), '\n')
		case kind == 2:
			l = l[:len(l)/2]
		case kind == 3:
			l = bytes.TrimSuffix(l, []byte("\n"))
		case kind == 4:
			l = append(bytes.Clone(l), l...)
			if l[len(l)-1] != '\n' {
				l = fmt.Appendf(nil, "%s\n%s", lines[k], lines[k])
			}
		}
		b.Write(l)
	}
	return b.Bytes()
}

// A repair is taken back byte for byte, whichever way it was published.
func TestUndoTranscripts(t *testing.T) {
	modes := map[string]bool{}
	for name, data := range transcripts(t) {
		lines := bytes.SplitAfter(data, []byte("\n"))
		for i := 1; i+2 < len(lines); i += 3 {
			for kind := range 4 {
				in := lineDamaged(lines, i, kind, -1)
				if tr, err := trial.Of(t.Context(), filepath.Base(transcriptPath), in); err != nil || tr.Refused() {
					continue // other tests look at these
				}
				undone(t, fmt.Sprintf("%s, line %d, kind %d", name, i+1, kind), filepath.Base(transcriptPath), in, modes)
			}
		}
	}
	if len(modes) != 2 {
		t.Fatalf("published only by %v", modes)
	}
}
