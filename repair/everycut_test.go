package repair_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessfix/sessfix/internal/damage"
	"github.com/sessfix/sessfix/internal/damage/trial"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
)

const sessions = "../testdata/sessions/dsh"

// TestMain lets more garbage lie before it is collected. The tests here read a hundred thousand
// tiny files, and each read starts with a large window; at the usual threshold they would spend
// most of their time collecting those.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	fixRapid()
	os.Exit(m.Run())
}

// base reads a healthy or crashed session of the shipped ones.
func base(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(sessions, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// pathOf is where a session of that name would lie.
func pathOf(name string) string {
	if strings.HasSuffix(name, ".zstd") {
		return trial.PackedPath
	}
	return trial.Path
}

// reframed packs the text of a plain session anew, so that frames hold many records, one record or
// none, as clients under different load write them.
func reframed(t *testing.T, name string, lines ...string) []byte {
	t.Helper()
	p, err := damage.NewPart(base(t, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Do(damage.Step{Verb: "frame", Args: lines}); err != nil {
		t.Fatal(err)
	}
	return p.Bytes()
}

// cutLog is a log to be cut, at every step-th byte.
type cutLog struct {
	data []byte
	step int
}

// cutLogs are small logs that between them hold parallel calls, several turns, a compaction and
// packed rows, plain and compressed. The two that are cut at fewer places repeat what others have,
// in another version or at greater length.
func cutLogs(t *testing.T) map[string]cutLog {
	whole := func(name string) cutLog { return cutLog{base(t, name), 1} }
	return map[string]cutLog{
		"tiny.v0.jsonl":                  whole("tiny.v0.jsonl"),
		"tiny.v3.jsonl":                  whole("tiny.v3.jsonl"),
		"stop-compaction.v0.jsonl":       whole("stop-compaction.v0.jsonl"),
		"stop-chunks.v0.jsonl":           whole("stop-chunks.v0.jsonl"),     // two turns, packed rows
		"stop-one-result.v0.jsonl":       whole("stop-one-result.v0.jsonl"), // parallel calls
		"tiny.v0.jsonl.zstd":             whole("tiny.v0.jsonl.zstd"),
		"orchard.v0.jsonl.zstd":          whole("orchard.v0.jsonl.zstd"), // all of it, compaction too
		"stop-second-call.v0.jsonl.zstd": whole("stop-second-call.v0.jsonl.zstd"),
		"orchard-helper.v0.jsonl.zstd":   whole("orchard-helper.v0.jsonl.zstd"),
		"two-frames.v0.jsonl.zstd":       {reframed(t, "stop-compaction.v0.jsonl", "1", "2-13"), 1},
		"line-a-frame.v0.jsonl.zstd":     {reframed(t, "tiny.v0.jsonl", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"), 1},
		"orchard.v0.jsonl":               {base(t, "orchard.v0.jsonl"), 11},
		"stop-second-call.v2.jsonl":      {base(t, "stop-second-call.v2.jsonl"), 7},
	}
}

// cutStep is at how many bytes a log is cut: at each, where it is one of those that stand for all of their format.
// SESSFIX_EVERY_CUT cuts all of them at each.
func cutStep(name string, each ...string) int {
	whole := slices.ContainsFunc(each, func(part string) bool { return strings.Contains(name, part) })
	if os.Getenv("SESSFIX_EVERY_CUT") == "" && (testing.Short() || !whole) {
		return 7
	}
	return 1
}

// sessionsIn are the logs of a folder of sessions, by name; there are at least so many.
func sessionsIn(t testing.TB, folder string, least int) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("../testdata/sessions/" + folder + "/*.jsonl")
	if err != nil || len(paths) < least {
		t.Fatalf("%d sessions in %s, %v", len(paths), folder, err)
	}
	out := map[string][]byte{}
	for _, p := range paths {
		out[filepath.Base(p)] = read(t, p)
	}
	return out
}

// everyCut ends a log at its bytes, step by step: what is left is repaired, and not refused where at least whole bytes are. At least
// so many cuts are repaired.
func everyCut(t *testing.T, path string, data []byte, step, whole, least int) {
	t.Helper()
	repaired := 0
	for n := 0; n <= len(data); n += step {
		tr, err := once(t.Context(), path, data[:n:n], n%5 == 0)
		if err != nil {
			t.Fatalf("cut at %d of %d: %v", n, len(data), err)
		}
		if tr.Refused() && n >= whole {
			t.Fatalf("cut at %d of %d: refused: %v", n, len(data), codes(tr))
		}
		if tr.Repaired() {
			repaired++
		}
	}
	if repaired < least {
		t.Fatalf("only %d of %d cuts were repaired", repaired, len(data)/step)
	}
}

// headerEnd is the shortest cut that leaves the whole header readable: its line without the
// newline, or the first frame.
func headerEnd(t *testing.T, data []byte) int {
	t.Helper()
	if frames, err := damage.Frames(data); err == nil {
		return len(frames[0])
	}
	return bytes.IndexByte(data, '\n')
}

// TestEveryCut ends each log at every one of its bytes, which is what a crash does. Whatever the
// place, repair keeps every whole record, ends clean, does the same every time, and finds nothing
// to do the second time. Only where the header is gone may it refuse.
func TestEveryCut(t *testing.T) {
	for name, log := range cutLogs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, step := log.data, log.step
			if testing.Short() {
				step *= 7
			}
			header := headerEnd(t, data)
			refused, repaired := 0, 0
			for n := 0; n <= len(data); n += step {
				cut := data[:n:n]
				tr, err := once(t.Context(), pathOf(name), cut, n%5 == 0)
				if err != nil {
					t.Fatalf("cut at %d of %d: %v", n, len(data), err)
				}
				if tr.Refused() {
					refused++
					if n >= header {
						t.Fatalf("cut at %d of %d: refused, and the header is whole", n, len(data))
					}
					continue
				}
				if tr.Repaired() {
					repaired++
				}
			}
			if refused == 0 || repaired == 0 {
				t.Fatalf("%d refused, %d repaired: the cuts did not reach what they test", refused, repaired)
			}
		})
	}
}

// once repairs an input that was cut or flipped, and holds it against every promise that can be
// checked in memory; with twice also against the promise that another run gives the same bytes.
func once(ctx context.Context, path string, in []byte, twice bool) (*trial.Trial, error) {
	return held(ctx, path, in, twice, true)
}

// held is once, where not strict for inputs that hold copies of whole records, which may be set aside.
func held(ctx context.Context, path string, in []byte, twice, strict bool) (*trial.Trial, error) {
	before := bytes.Clone(in)
	tr, err := trial.Of(ctx, path, in)
	if err != nil {
		return tr, err
	}
	if err := tr.Check(strict); err != nil {
		return tr, err
	}
	return tr, again(ctx, path, before, tr, twice)
}

// again checks that a second run over the input does the same, and one over the output nothing.
func again(ctx context.Context, path string, before []byte, tr *trial.Trial, twice bool) error {
	if !bytes.Equal(before, tr.In) {
		return fmt.Errorf("the input was changed")
	}
	if !tr.Repaired() {
		return nil
	}
	if twice {
		twin, err := trial.Of(ctx, path, before)
		if err != nil {
			return fmt.Errorf("second run: %w", err)
		}
		if !bytes.Equal(twin.Out, tr.Out) {
			return fmt.Errorf("two runs over the same bytes give different results")
		}
	}
	idle, err := trial.Of(ctx, path, tr.Out)
	if err != nil {
		return fmt.Errorf("run over the result: %w", err)
	}
	if idle.Refused() || idle.Repaired() {
		return fmt.Errorf("a second repair finds %v", codes(idle))
	}
	return nil
}

func codes(tr *trial.Trial) []string {
	var out []string
	if tr.Before == nil {
		return nil
	}
	for _, f := range tr.Before.Findings {
		if f.Damage() {
			out = append(out, string(f.Code))
		}
	}
	return out
}

// TestCutUndo repairs real files that were cut, and takes that back. The places are spread over
// the log so that both ways of publishing, appending and replacing, are met.
func TestCutUndo(t *testing.T) {
	modes := map[string]bool{}
	for name, log := range cutLogs(t) {
		data := log.data
		header := headerEnd(t, data)
		places := []int{header + 1, len(data) - 1}
		for n := header + 3; n < len(data); n += len(data)/5 + 1 {
			places = append(places, n)
		}
		if i := bytes.LastIndexByte(data[:len(data)-1], '\n'); i > 0 && !strings.HasSuffix(name, ".zstd") {
			places = append(places, i+1) // in front of a whole last line: nothing to remove
		}
		for _, n := range places {
			undone(t, fmt.Sprintf("%s cut at %d", name, n), filepath.Base(pathOf(name)), data[:n], modes)
		}
	}
	if !modes[repair.ModeAppend] || !modes[repair.ModeReplace] {
		t.Fatalf("published only by %v", modes)
	}
}

// undone repairs bytes as a real file in place and undoes it. It notes how it was published.
func undone(t testing.TB, what, file string, in []byte, modes map[string]bool) {
	t.Helper()
	dir, cases := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, file)
	if err := os.WriteFile(path, in, 0o600); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Hour) // so that nobody waits for it to be quiet
	if err := os.Chtimes(path, past, past); err != nil {
		t.Fatal(err)
	}
	found, err := store.Open(t.Context(), []string{path}, trial.Options())
	if err != nil || len(found.Sessions) != 1 {
		t.Fatalf("%s: %d sessions, %v, %v", what, len(found.Sessions), found.Troubles, err)
	}
	memory, err := trial.Of(t.Context(), path, in)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	out, err := repair.Session(t.Context(), found.Sessions[0], repair.Options{CaseDir: cases})
	if err != nil {
		t.Fatalf("%s: repair: %v", what, err)
	}
	if have := read(t, path); !bytes.Equal(have, memory.Out) {
		t.Fatalf("%s: the file holds something else than what was planned", what)
	}
	if out.Changed != memory.Repaired() {
		t.Fatalf("%s: changed is %v", what, out.Changed)
	}
	if !out.Changed {
		return
	}
	if out.Plan != nil && modes != nil {
		if _, ok := out.Result.Appendix(); ok {
			modes[repair.ModeAppend] = true
		} else {
			modes[repair.ModeReplace] = true
		}
	}
	list, err := repair.FindCases(disk, cases, path)
	if err != nil || len(list) != 1 {
		t.Fatalf("%s: %d cases, %v", what, len(list), err)
	}
	if _, err := repair.Undo(t.Context(), list[0], repair.UndoOptions{FS: disk, Formats: trial.Options().Formats}); err != nil {
		t.Fatalf("%s: undo: %v", what, err)
	}
	if !bytes.Equal(read(t, path), in) {
		t.Fatalf("%s: undo does not give the original back", what)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Fatalf("%s: %d files are left beside the log, %v", what, len(entries)-1, err)
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
