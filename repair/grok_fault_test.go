package repair_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/durable/faultfs"
	"github.com/sessfix/sessfix/repair"
)

// grokFaults are folders of which several files are written, one of them made, or all in a row.
func grokFaults(t testing.TB) map[string]grokFiles {
	call := grokSession(t, "stop-call")
	tiny := grokSession(t, "tiny")
	return map[string]grokFiles{
		"killed in a call":                call,
		"killed, and the summary is lost": call.with(grokSummary, nil),
		"no history":                      tiny.with(grokHistory, nil),
		"no summary, no history, torn":    tiny.with(grokHistory, nil).with(grokSummary, nil).with(grokLog, tiny[grokLog][:1200]),
	}
}

// wholeRepair repairs without disturbance and gives what the folder then holds.
func (f grokFiles) wholeRepair(t *testing.T) (fixed grokFiles, trace []string) {
	t.Helper()
	b := newGrokBed(t, f)
	fsys := faultfs.New(lazy)
	outs, err := b.repair(fsys)
	b.must(err)
	fixed = b.files()
	changed := 0
	for _, o := range outs {
		if o.Changed {
			changed++
		}
	}
	if d := grokDiff(f, fixed); len(d) != changed || changed == 0 {
		t.Fatalf("%d parts changed, and of the files %v", changed, d)
	}
	if locks := b.locks(); len(locks) > 0 {
		t.Errorf("%v are left behind", locks)
	}
	return fixed, fsys.Trace()
}

// checkLeft looks at what a disturbed run left: each file is old or new, and nothing lies beside but, of a run that was killed, one
// file that was being written. It tells whether all are new.
func (b *grokBed) checkLeft(old, fixed grokFiles, stopped bool) (done bool) {
	b.t.Helper()
	tmp, now := 0, b.files()
	for name, data := range now {
		was, before := old[name]
		will, after := fixed[name]
		switch {
		case before && string(was) == string(data), after && string(will) == string(data):
		case before || after:
			b.t.Errorf("%s is neither old nor new: %d bytes, old %d, new %d", name, len(data), len(was), len(will))
		case stopped && strings.HasSuffix(name, ".tmp"):
			tmp++
		default:
			b.t.Errorf("%s is left behind", name)
		}
	}
	for name := range old {
		if _, ok := now[name]; !ok {
			b.t.Errorf("%s is gone", name)
		}
	}
	if tmp > 1 {
		b.t.Errorf("%d temporary files are left behind", tmp)
	}
	return len(grokDiff(now, fixed)) == tmp
}

// checkNext repairs on a healthy disk and takes it all back.
func (b *grokBed) checkNext(old, fixed grokFiles) {
	b.t.Helper()
	if _, err := b.repair(nil); err != nil {
		b.t.Errorf("the next repair: %v", err)
	}
	if d := grokDiff(b.files(), fixed); len(d) > 0 {
		b.t.Errorf("the next repair: other bytes in %v", d)
	}
	b.checkPending(false)
	outs, err := b.repair(nil)
	if err != nil {
		b.t.Errorf("a repair of the repaired: %v", err)
	}
	for _, o := range outs {
		if o.Changed {
			b.t.Errorf("a repair of the repaired changes %s", o.Before.Path)
		}
	}
	b.undoAll()
	if d := grokDiff(b.files(), old); len(d) > 0 {
		b.t.Errorf("undo: other bytes in %v", d)
	}
}

// undoAll takes repairs back until there is none.
func (b *grokBed) undoAll() {
	b.t.Helper()
	for n := 0; ; n++ {
		err := b.undo(nil)
		if errors.Is(err, repair.ErrNoCase) {
			return
		}
		if err != nil || n > 3 {
			b.t.Errorf("undo %d: %v", n+1, err)
			return
		}
	}
}

// checkPending tells whether a case without an end is there, of each part.
func (b *grokBed) checkPending(want bool) {
	b.t.Helper()
	got := false
	for _, name := range []string{grokLog, grokHistory, grokEvents, grokPoints, grokSummary} {
		_, pending := repair.Pending(durable.Disk, b.cases, b.path(name))
		got = got || pending
	}
	dirs, err := filepath.Glob(filepath.Join(b.cases, "*", "*"))
	b.must(err)
	has := func(dir, name string) bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil }
	there := false
	for _, d := range dirs {
		there = there || has(d, "case.json") && !has(d, "receipt.json") && !has(d, "undone.json")
	}
	if got != there || there && !want {
		b.t.Errorf("Pending says %t, and a case without end is there: %t", got, there)
	}
}

// Each operation of a repair fails once, or is the last one: all of the session is old or new, file by file, and the next run brings
// it to the same end.
func TestFaultsOfRepairGrok(t *testing.T) {
	for name, old := range grokFaults(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fixed, trace := old.wholeRepair(t)
			if len(trace) < 20 {
				t.Fatalf("only %d operations: the disk is not written through the given file system", len(trace))
			}
			for n := 1; n <= len(trace); n += grokStep(len(trace)/15 + 1) {
				for what, make := range disturbances(trace, n) {
					t.Run(what, func(t *testing.T) {
						b := newGrokBed(t, old)
						fsys := make()
						_, err := b.repair(fsys)
						stopped := strings.HasPrefix(what, "stop")
						if done := b.checkLeft(old, fixed, stopped); err == nil && !done {
							t.Error("no error, and not all is repaired")
						}
						if locks := b.locks(); !stopped && !strings.HasSuffix(trace[n-1], ".lock") && len(locks) > 0 {
							t.Errorf("%v are left behind", locks)
						}
						b.checkPending(err != nil)
						b.checkNext(old, fixed)
						if t.Failed() {
							t.Logf("error: %v\ntrace:\n%s", err, strings.Join(fsys.Trace(), "\n"))
						}
					})
				}
			}
		})
	}
}

// So is each operation of an undo, of each of the files: undo again brings it to its end, and so the session back.
func TestFaultsOfUndoGrok(t *testing.T) {
	for name, old := range grokFaults(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fixed, _ := old.wholeRepair(t)
			prepare := func(t *testing.T) *grokBed {
				b := newGrokBed(t, old)
				_, err := b.repair(nil)
				b.must(err)
				return b
			}
			whole := faultfs.New(lazy)
			b := prepare(t)
			b.must(b.undo(whole))
			for n := 1; n <= whole.Ops(); n += grokStep(whole.Ops()/12 + 1) {
				for what, make := range disturbances(whole.Trace(), n) {
					t.Run(what, func(t *testing.T) {
						b := prepare(t)
						fsys := make()
						err := b.undo(fsys)
						stopped := strings.HasPrefix(what, "stop")
						b.checkLeft(old, fixed, stopped)
						if now := b.files(); err == nil && len(grokDiff(now, old)) > 0 {
							t.Errorf("no error, and %v are not back", grokDiff(now, old))
						}
						b.undoAll()
						if d := grokDiff(b.files(), old); len(d) > 0 {
							t.Errorf("undo again: other bytes in %v", d)
						}
						b.checkNext(old, fixed)
						if t.Failed() {
							t.Logf("error: %v\ntrace:\n%s", err, strings.Join(fsys.Trace(), "\n"))
						}
					})
				}
			}
		})
	}
}
