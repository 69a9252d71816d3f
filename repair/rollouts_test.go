package repair_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/internal/damage/trial"
)

// rollouts are logs of which other files may count the bytes, and older kinds of them, by path.
func rollouts(t testing.TB) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, pattern := range []string{"*/rollout-*.jsonl", "packed/*.zst"} {
		paths, err := filepath.Glob("../testdata/sessions/codex/" + pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("no rollouts: %v", err)
		}
		for _, p := range paths {
			data, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			out["no-such-directory/"+filepath.Base(p)] = data
		}
	}
	if len(out) < 15 {
		t.Fatalf("only %d rollouts", len(out))
	}
	return out
}

// Rollouts end at each of their bytes: what is left is repaired, and never refused once its header is whole.
// Nothing but the end changes.
func TestEveryCutRollouts(t *testing.T) {
	for path, data := range rollouts(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			step := cutStep(path, "019d0001", "019d0002", "019d0009") // one of each kind
			packed := strings.HasSuffix(path, ".zst")
			first := bytes.IndexByte(data, '\n')
			repaired := 0
			for n := 0; n <= len(data); n += step {
				in := data[:n:n]
				tr, err := once(t.Context(), path, in, n%5 == 0)
				if err != nil {
					t.Fatalf("cut at %d of %d: %v", n, len(data), err)
				}
				if tr.Refused() && n > first && !packed {
					t.Fatalf("cut at %d of %d: refused: %v", n, len(data), codes(tr))
				}
				if !tr.Repaired() {
					continue
				}
				repaired++
				if whole := in[:bytes.LastIndexByte(in, '\n')+1]; !packed && !bytes.HasPrefix(tr.Out, whole) {
					t.Fatalf("cut at %d of %d: more than the end changes", n, len(data))
				}
			}
			if repaired < len(data)/step/2 && !packed {
				t.Fatalf("only %d of %d cuts were repaired", repaired, len(data)/step)
			}
		})
	}
}

// Each line of each rollout is lost, torn, repeated or glued to the next in turn, with and without another one lost.
// Where records have numbers nothing moves: the lines that are whole stand where they stood.
func TestEveryLineRollouts(t *testing.T) {
	for path, data := range rollouts(t) {
		if strings.HasSuffix(path, ".zst") {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			lines := bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
			numbered := bytes.Contains(lines[0], []byte(`"paginated"`))
			tried, refused, glued := 0, 0, 0
			for i := range lines {
				for kind := range 5 {
					for more := -1; more < len(lines); more += 5 {
						in := lineDamaged(lines, i, kind, more)
						what := fmt.Sprintf("line %d, kind %d, and line %d lost", i+1, kind, more+1)
						tr, err := held(t.Context(), path, in, kind == 0, kind < 4)
						if err != nil {
							t.Fatalf("%s: %v", what, err)
						}
						tried++
						switch {
						case tr.Refused() && kind == 3:
							glued++
						case tr.Refused():
							refused++
						case numbered && tr.Repaired() && i > 0 && more != 0:
							stay(t, what, in, tr.Out)
						}
					}
				}
			}
			if refused*5 > tried || numbered && glued == 0 {
				t.Fatalf("%d of %d refused, and %d glued ones", refused, tried, glued)
			}
		})
	}
}

// stay checks that whole lines stand in the result where they stood, but for the last one, which may be cut or closed.
func stay(t *testing.T, what string, in, out []byte) {
	t.Helper()
	at := 0
	for l := range bytes.SplitAfterSeq(in, []byte("\n")) {
		if end := at + len(l); end < len(in) && (len(out) < end || out[end-1] != '\n') {
			t.Fatalf("%s: the line that ends at %d ends there no more", what, end)
		}
		at += len(l)
	}
}

// A repair of a rollout is taken back byte for byte, whichever way it was published.
func TestUndoRollouts(t *testing.T) {
	modes := map[string]bool{}
	for path, data := range rollouts(t) {
		if strings.HasSuffix(path, ".zst") {
			continue
		}
		lines := bytes.SplitAfter(data, []byte("\n"))
		for i := 1; i+2 < len(lines); i += 5 {
			for kind := range 4 {
				in := lineDamaged(lines, i, kind, -1)
				if tr, err := trial.Of(t.Context(), path, in); err != nil || tr.Refused() {
					continue // other tests look at these
				}
				undone(t, fmt.Sprintf("%s, line %d, kind %d", path, i+1, kind), filepath.Base(path), in, modes)
			}
		}
	}
	if len(modes) != 2 {
		t.Fatalf("published only by %v", modes)
	}
}
