package repair_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sessfix/sessfix/internal/damage/trial"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
)

// piPath is where a copy might lie that is in nobody's home.
const piPath = "no-such-directory/2026-05-01T08-00-00-000Z_019d0001-2222-7333-8444-000000000001.jsonl"

// piSessions are logs of which the way from the last entry up is sent, by name.
func piSessions(t testing.TB) map[string][]byte { return sessionsIn(t, "pi", 11) }

// Each session ends at every one of its bytes: what is left is repaired, and never refused once its first line is whole.
func TestEveryCutPi(t *testing.T) {
	for name, data := range piSessions(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			step := cutStep(name, "everything", "compacted", "parallel", "first")
			first := bytes.IndexByte(data, '\n')
			everyCut(t, piPath, data, step, first, (len(data)-first)/step*9/10)
		})
	}
}

// Each line of each session is lost, torn, repeated or glued to the next in turn, with and without another one lost: what is
// left is repaired, and refused only where the header is gone.
func TestEveryLinePi(t *testing.T) {
	for name, data := range piSessions(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
			for i := range lines {
				for kind := range 5 {
					for more := -1; more < len(lines); more++ {
						in := lineDamaged(lines, i, kind, more)
						what := fmt.Sprintf("line %d, kind %d, and line %d lost", i+1, kind, more+1)
						tr, err := held(t.Context(), piPath, in, kind == 0, false)
						if err != nil {
							t.Fatalf("%s: %v", what, err)
						}
						if bytes.Contains(tr.Out, []byte("\n\n")) && !bytes.Contains(in, []byte("\n\n")) {
							t.Fatalf("%s: repair makes an empty line", what)
						}
						if tr.Refused() && i > 0 && more != 0 {
							t.Fatalf("%s: refused: %v", what, codes(tr))
						}
					}
				}
			}
		})
	}
}

// A repair is taken back byte for byte, whichever way it was published.
func TestUndoPi(t *testing.T) {
	modes := map[string]bool{}
	for name, data := range piSessions(t) {
		lines := bytes.SplitAfter(data, []byte("\n"))
		for i := 1; i+2 < len(lines); i += 3 {
			for kind := range 4 {
				in := lineDamaged(lines, i, kind, -1)
				if tr, err := trial.Of(t.Context(), filepath.Base(piPath), in); err != nil || tr.Refused() {
					continue // other tests look at these
				}
				undone(t, fmt.Sprintf("%s, line %d, kind %d", name, i+1, kind), filepath.Base(piPath), in, modes)
			}
		}
		undone(t, name, filepath.Base(piPath), data, modes)
	}
	if len(modes) != 2 {
		t.Fatalf("published only by %v", modes)
	}
}

// The client goes on with the session whose file was written last: a repair does not make one newer, and neither does undo.
func TestTimePi(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"appended": func(data []byte) []byte { return data },
		"replaced": func(data []byte) []byte { return data[:len(data)-9] },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), filepath.Base(piPath))
			past := time.Date(2026, 5, 8, 9, 0, 0, 123456789, time.UTC)
			data := damage(piSessions(t)["stop-parallel.jsonl"])
			if err := os.WriteFile(path, data, 0o640); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, past, past); err != nil {
				t.Fatal(err)
			}
			kept := func() {
				t.Helper()
				fi, err := os.Stat(path)
				if err != nil || !fi.ModTime().Equal(past) || fi.Mode() != 0o640 {
					t.Errorf("%v, %v, %v", fi.ModTime(), fi.Mode(), err)
				}
			}
			cases := t.TempDir()
			found, err := store.Open(t.Context(), []string{path}, trial.Options())
			if err != nil || len(found.Sessions) != 1 {
				t.Fatalf("%+v, %v", found, err)
			}
			out, err := repair.Session(t.Context(), found.Sessions[0], repair.Options{CaseDir: cases})
			if err != nil || !out.Changed {
				t.Fatalf("%+v, %v", out, err)
			}
			kept()
			list, err := repair.FindCases(disk, cases, path)
			if err != nil || len(list) != 1 {
				t.Fatalf("%d cases, %v", len(list), err)
			}
			if _, err := repair.Undo(t.Context(), list[0], repair.UndoOptions{FS: disk, Formats: trial.Options().Formats}); err != nil {
				t.Fatal(err)
			}
			kept()
			if !bytes.Equal(read(t, path), data) {
				t.Error("undo does not give the original back")
			}
		})
	}
}
