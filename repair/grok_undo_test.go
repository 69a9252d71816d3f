package repair_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/repair"
)

// Undo gives each byte of the folder back, and takes away what a repair made.
func TestUndoGrok(t *testing.T) {
	for name, files := range grokDamaged(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newGrokBed(t, files)
			want, err := b.fate(t.Context())
			b.must(err)
			_, err = b.repair(nil)
			b.must(err)
			if d := grokDiff(b.all(), want.after); len(d) > 0 {
				t.Errorf("the repair gives other bytes than planned in %v", d)
			}
			if err := b.undo(nil); err != nil {
				t.Error(err)
			}
			if d := grokDiff(b.all(), files); len(d) > 0 {
				t.Errorf("%v are not back", d)
			}
			if err := b.undo(nil); !errors.Is(err, repair.ErrNoCase) {
				t.Errorf("undo again: %v", err)
			}
			// What was undone can be repaired again.
			_, err = b.repair(nil)
			if d := grokDiff(b.all(), want.after); err != nil || len(d) > 0 {
				t.Errorf("the repair behind an undo: %v, %v", d, err)
			}
		})
	}
}

// grokCases are the cases of the session, and how often each run stands in them.
func (b *grokBed) grokCases() (runs map[int]int) {
	b.t.Helper()
	runs = map[int]int{}
	all, err := filepath.Glob(filepath.Join(b.cases, "*", "*", "case.json"))
	b.must(err)
	for _, path := range all {
		data, err := os.ReadFile(path)
		b.must(err)
		var c repair.Case
		b.must(json.Unmarshal(data, &c))
		if dir, err := filepath.EvalSymlinks(b.dir); err != nil || c.Folder != dir || filepath.Dir(c.Path) != dir {
			b.t.Errorf("the case of %s is one of %q", c.Path, c.Folder)
		}
		runs[c.Run]++
	}
	return runs
}

// Two repairs in a row are taken back one by one, whichever file of the session is named.
func TestUndoTwiceGrok(t *testing.T) {
	orchard := grokSession(t, "orchard")
	first := grokSession(t, "stop-call")
	first[grokPoints] = orchard[grokPoints]
	b := newGrokBed(t, first)
	_, err := b.repair(nil)
	b.must(err)
	if runs := b.grokCases(); runs[1] != 4 || len(runs) != 1 {
		t.Errorf("runs %v", runs)
	}
	// What is damaged next is no file of the first repair.
	once := b.all()
	torn := once.with(grokPoints, first[grokPoints][:200])
	b.now = once
	b.put(torn)
	_, err = b.repair(nil)
	b.must(err)
	if runs := b.grokCases(); runs[1] != 4 || runs[2] != 1 || len(runs) != 2 {
		t.Errorf("runs %v", runs)
	}
	for _, arg := range []string{b.dir, b.path(grokPoints), b.path(grokLog), filepath.Dir(b.dir)} {
		dirs, err := repair.FindCases(durable.Disk, b.cases, arg)
		if err != nil || len(dirs) != 1 || filepath.Base(filepath.Dir(dirs[0]))[:len(grokPoints)] != grokPoints {
			t.Errorf("%s: the last repair is %v, %v", arg, dirs, err)
		}
	}
	b.must(b.undo(nil))
	if d := grokDiff(b.all(), torn); len(d) > 0 {
		t.Errorf("undone once: %v", d)
	}
	for _, arg := range []string{b.dir, b.path(grokHistory), b.path(grokSummary)} {
		if dirs, err := repair.FindCases(durable.Disk, b.cases, arg); err != nil || len(dirs) != 4 {
			t.Errorf("%s: the repair in front of it is %v, %v", arg, dirs, err)
		}
	}
	b.must(b.undo(nil))
	if d := grokDiff(b.all(), first.with(grokPoints, torn[grokPoints])); len(d) > 0 {
		t.Errorf("undone twice: %v", d)
	}
	if err := b.undo(nil); !errors.Is(err, repair.ErrNoCase) {
		t.Errorf("undone three times: %v", err)
	}
}

// A file that was written to since keeps all of them from being undone; one that the repair made as well.
func TestUndoWrittenGrok(t *testing.T) {
	for _, name := range []string{grokLog, grokHistory, grokEvents, grokSummary} {
		t.Run(name, func(t *testing.T) {
			b := newGrokBed(t, grokSession(t, "stop-call").with(grokSummary, nil))
			_, err := b.repair(nil)
			b.must(err)
			after := b.all()
			b.must(os.WriteFile(b.path(name), append(slices.Clip(after[name]), '\n'), 0o600))
			written := b.all()
			if err := b.undo(nil); !errors.Is(err, repair.ErrWritten) {
				t.Errorf("%v", err)
			}
			if d := grokDiff(b.all(), written); len(d) > 0 {
				t.Errorf("%v changed", d)
			}
			b.must(os.WriteFile(b.path(name), after[name], 0o600))
			if err := b.undo(nil); err != nil {
				t.Errorf("as it was: %v", err)
			}
		})
	}
}

// A summary that the repair made, and somebody took away since, is no reason to leave the others.
func TestUndoGoneGrok(t *testing.T) {
	files := grokSession(t, "stop-call").with(grokSummary, nil)
	b := newGrokBed(t, files)
	_, err := b.repair(nil)
	b.must(err)
	b.must(os.Remove(b.path(grokSummary)))
	if err := b.undo(nil); err != nil {
		t.Error(err)
	}
	if d := grokDiff(b.all(), files); len(d) > 0 {
		t.Errorf("%v are not back", d)
	}
}

// Elsewhere the folder comes whole: what is mended, and all else as it is, without locks and leftovers.
func TestElsewhereGrok(t *testing.T) {
	files := grokSession(t, "stop-call").with(grokSummary, nil)
	files["updates.jsonl.lock"], files["chat_history.jsonl.0190.tmp"] = []byte{}, []byte("x")
	b := newGrokBed(t, files)
	want, err := b.fate(t.Context())
	b.must(err)
	group, err := b.group(t.Context())
	b.must(err)
	to := filepath.Join(grokRoot(t), "mended")
	_, err = repair.Parts(t.Context(), group, repair.Options{CaseDir: b.cases, FS: lazy, Output: to})
	b.must(err)
	if d := grokDiff(b.all(), files); len(d) > 0 {
		t.Errorf("%v changed", d)
	}
	out := &grokBed{t: t, dir: to}
	if d := grokDiff(out.all(), want.after.with("updates.jsonl.lock", nil).with("chat_history.jsonl.0190.tmp", nil)); len(d) > 0 {
		t.Errorf("elsewhere %v differ", d)
	}
}
