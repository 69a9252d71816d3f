package repair_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/repair"
)

// rolloutBed is a rollout that was killed while a tool ran, in a client's home.
type rolloutBed struct {
	*faultBed
	root, locks  string
	coordination string
	thread       string // its lock
}

func newRolloutBed(t *testing.T) *rolloutBed {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there are no lock files")
	}
	root := filepath.Join(t.TempDir(), "codex")
	home := filepath.Join(root, "sessions", "2026", "01", "02")
	locks := filepath.Join(root, "thread-writer-locks")
	b := &rolloutBed{
		faultBed: &faultBed{t, home, filepath.Join(home, faultRollout), filepath.Join(root, "..", "state", "cases")},
		root:     root, locks: locks, coordination: filepath.Join(locks, ".coordination.lock"),
		thread: filepath.Join(locks, "01900000-0000-7000-8000-000000000001.lock"),
	}
	b.must(os.MkdirAll(home, 0o700))
	b.must(os.WriteFile(b.path, faultList(""), 0o600))
	b.settle()
	return b
}

// makeLocks makes the folder of locks, as a client does, with the lock that all of them share.
func (b *rolloutBed) makeLocks() {
	b.t.Helper()
	b.must(os.MkdirAll(b.locks, 0o700))
	b.must(os.WriteFile(b.coordination, nil, 0o600))
}

// files are all below the client's root.
func (b *rolloutBed) files() []string {
	b.t.Helper()
	var out []string
	b.must(filepath.WalkDir(b.root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(b.root, path)
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	}))
	return out
}

// take takes a lock, as another of this process's files.
func (b *rolloutBed) take(path string) (give func()) {
	b.t.Helper()
	l, err := durable.Flock(path, "")
	b.must(err)
	give = sync.OnceFunc(func() { l.Unlock() }) // a timer may do it while the test ends
	b.t.Cleanup(give)
	return give
}

// refused tells that nothing is written, since somebody is at work.
func (b *rolloutBed) refused(who string) {
	b.t.Helper()
	files := b.files()
	_, err := b.repair(nil)
	var live *repair.LiveError
	if !errors.As(err, &live) || !strings.Contains(live.Who, who) {
		b.t.Errorf("%v, want %s", err, who)
	}
	if !bytes.Equal(b.content(), faultList("")) || !slices.Equal(b.files(), files) {
		b.t.Errorf("something was written: %q, before %q", b.files(), files)
	}
	if _, err := os.Stat(b.cases); !errors.Is(err, fs.ErrNotExist) {
		b.t.Errorf("a case was opened: %v", err)
	}
}

// repaired tells that the rollout is repaired, and that of the locks only the shared one is left.
func (b *rolloutBed) repaired() {
	b.t.Helper()
	out, err := b.repair(nil)
	if err != nil || !out.Changed {
		b.t.Fatalf("%+v %v", out, err)
	}
	if want := []string{"sessions/2026/01/02/" + faultRollout, "thread-writer-locks/.coordination.lock"}; !slices.Equal(b.files(), want) {
		b.t.Errorf("%q is left", b.files())
	}
	if busy, err := durable.FlockBusy(b.coordination, ""); busy || err != nil {
		b.t.Errorf("the shared lock is held: %t %v", busy, err)
	}
}

// A client has the thread loaded: nothing is written, until it is gone.
func TestRolloutLocked(t *testing.T) {
	for _, c := range []struct {
		name, who string
		hold      func(b *rolloutBed) (end func())
	}{
		{"by another process", "another process holds 01900000-0000-7000-8000-000000000001.lock", func(b *rolloutBed) func() { return faultChild(b.t, "lock", b.thread) }},
		{"by another file of this one", "another process holds 01900000-0000-7000-8000-000000000001.lock", func(b *rolloutBed) func() { return b.take(b.thread) }},
		{"for maintenance", "another process holds rollout-maintenance.lock", func(b *rolloutBed) func() {
			b.must(os.MkdirAll(filepath.Join(b.root, ".tmp"), 0o700))
			give := b.take(filepath.Join(b.root, ".tmp", "rollout-maintenance.lock"))
			return func() { give(); b.must(os.RemoveAll(filepath.Join(b.root, ".tmp"))) }
		}},
		{"by one without locks", "open", func(b *rolloutBed) func() { return faultChild(b.t, "write", b.path) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newRolloutBed(t)
			b.makeLocks()
			end := c.hold(b)
			if runtime.GOOS != "linux" && c.who == "open" {
				t.Skip("who has a file open is not told here")
			}
			b.refused(c.who)
			if code, out := b.run("repair", b.path); code != 3 || !strings.Contains(out, "LIVE_SESSION") {
				t.Errorf("repair ends with %d: %s", code, out)
			}
			end()
			b.repaired()
			// The same for undo.
			b.settle()
			end = c.hold(b)
			var live *repair.LiveError
			if err := b.undo(nil); !errors.As(err, &live) || bytes.Equal(b.content(), faultList("")) {
				t.Errorf("undo under a live owner: %v", err)
			}
			end()
			if err := b.undo(nil); err != nil || !bytes.Equal(b.content(), faultList("")) {
				t.Errorf("undo: %v", err)
			}
		})
	}
}

// A client that was killed leaves its lock file, which nobody holds; one that is too old for locks has no folder for
// them.
func TestRolloutStaleLock(t *testing.T) {
	t.Run("stale", func(t *testing.T) {
		b := newRolloutBed(t)
		b.makeLocks()
		b.must(os.WriteFile(b.thread, nil, 0o600))
		b.repaired()
	})
	t.Run("no folder", func(t *testing.T) { newRolloutBed(t).repaired() })
	t.Run("another thread's", func(t *testing.T) {
		b := newRolloutBed(t)
		b.makeLocks()
		other := filepath.Join(b.locks, "01900000-0000-7000-8000-000000000002.lock")
		b.take(other)
		if out, err := b.repair(nil); err != nil || !out.Changed {
			t.Errorf("%+v %v", out, err)
		}
		if _, err := os.Stat(other); err != nil {
			t.Error("the lock of another thread is gone")
		}
	})
	t.Run("a dry run takes none", func(t *testing.T) {
		b := newRolloutBed(t)
		if _, err := repair.Session(context.Background(), b.session(), repair.Options{CaseDir: b.cases, DryRun: true}); err != nil {
			t.Fatal(err)
		}
		if got := b.files(); len(got) != 1 {
			t.Errorf("%q", got)
		}
	})
}

// A client comes between the look and the lock: of those that were taken none is kept.
func TestRolloutLockedMeanwhile(t *testing.T) {
	b := newRolloutBed(t)
	b.makeLocks()
	give := func() {}
	fsys := statFS{lazy, func(name string) {
		if name == b.locks {
			give = b.take(b.thread)
		}
	}}
	out, err := repair.Session(context.Background(), b.session(), repair.Options{CaseDir: b.cases, FS: fsys})
	var live *repair.LiveError
	if !errors.As(err, &live) || out.Changed || !bytes.Equal(b.content(), faultList("")) {
		t.Errorf("%+v %v", out, err)
	}
	if busy, err := durable.FlockBusy(b.coordination, ""); busy || err != nil {
		t.Errorf("the shared lock is kept: %t %v", busy, err)
	}
	if _, err := os.Stat(b.thread); err != nil {
		t.Errorf("the client's lock file is gone: %v", err)
	}
	give()
	b.repaired()
}

// The lock that all clients share is held for moments only: it is waited for, but not for ever.
func TestRolloutSharedLock(t *testing.T) {
	t.Run("for a moment", func(t *testing.T) {
		b := newRolloutBed(t)
		b.makeLocks()
		timer := time.AfterFunc(50*time.Millisecond, b.take(b.coordination))
		defer timer.Stop()
		b.repaired()
	})
	t.Run("for ever", func(t *testing.T) {
		t.Parallel()
		b := newRolloutBed(t)
		b.makeLocks()
		give := b.take(b.coordination)
		b.refused("another process holds .coordination.lock")
		give()
		b.repaired()
	})
	t.Run("free while the rollout is written", func(t *testing.T) {
		b := newRolloutBed(t)
		b.makeLocks()
		held := 0
		fsys := statFS{lazy, func(name string) {
			if mine, err := durable.FlockBusy(b.thread, ""); name != b.path || err != nil || !mine {
				return
			}
			held++
			if shared, err := durable.FlockBusy(b.coordination, ""); shared || err != nil {
				t.Errorf("all clients wait for it: %v", err)
			}
		}}
		out, err := repair.Session(context.Background(), b.session(), repair.Options{CaseDir: b.cases, FS: fsys})
		if err != nil || !out.Changed || held == 0 {
			t.Errorf("%v, looked at %d times under the thread's lock", err, held)
		}
		if _, err := os.Stat(b.thread); err == nil {
			t.Error("the thread's lock is left behind")
		}
	})
	t.Run("until it is cancelled", func(t *testing.T) {
		b := newRolloutBed(t)
		b.makeLocks()
		b.take(b.coordination)
		ctx, cancel := context.WithCancel(context.Background())
		// The folder of locks is looked at right before the first try.
		fsys := statFS{lazy, func(name string) {
			if name == b.locks {
				cancel()
			}
		}}
		_, err := repair.Session(ctx, b.session(), repair.Options{CaseDir: b.cases, FS: fsys})
		if !errors.Is(err, context.Canceled) || !bytes.Equal(b.content(), faultList("")) || len(b.files()) != 2 {
			t.Errorf("%v, %q", err, b.files())
		}
	})
}

// statFS calls a function before a file is looked at.
type statFS struct {
	durable.FS
	hook func(name string)
}

func (s statFS) Stat(name string) (fs.FileInfo, error) {
	s.hook(name)
	return s.FS.Stat(name)
}

// The output that the record of a finished item holds is put back, and said to be so.
func TestRolloutResultRestored(t *testing.T) {
	for _, c := range []struct{ name, generation, behind, place string }{
		{"at the end", "paginated", "", "end"},
		{"at the end", "legacy", "", "end"},
		{"in the middle", "legacy", `{"timestamp":"2026-01-02T03:04:06.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[]}}` + "\n", "adjacent"},
	} {
		b := newRolloutBed(t)
		text := string(faultList("")) + `{"timestamp":"2026-01-02T03:04:05.500Z","ordinal":3,"type":"event_msg","payload":{"type":"item_completed","thread_id":"01900000-0000-7000-8000-000000000001","turn_id":"t1","item":{"type":"CommandExecution","id":"call_1","aggregated_output":"Gr\u00fc\u00dfe \"x\"\n","exit_code":0}}}` + "\n" + c.behind
		if c.generation == "legacy" {
			text = strings.ReplaceAll(text, `,"history_mode":"paginated"`, "")
			for _, n := range []string{"0", "1", "2", "3"} {
				text = strings.Replace(text, `"ordinal":`+n+`,`, "", 1)
			}
		}
		b.must(os.WriteFile(b.path, []byte(text), 0o600))
		b.settle()
		out, err := b.repair(nil)
		if err != nil || !out.Changed || len(out.Closers) == 0 {
			t.Fatalf("%s, %s: %+v %v", c.generation, c.name, out, err)
		}
		if got := out.Closers[slices.IndexFunc(out.Closers, func(c repair.Closer) bool { return c.CallID != "" })]; got != (repair.Closer{Code: "RESULT_RESTORED", CallID: "call_1", Kind: "function_call_output", Place: c.place}) {
			t.Errorf("%s, %s: %+v", c.generation, c.name, got)
		}
		want := `"call_id":"call_1","output":"(restored by sessfix from the record of the finished item)\nProcess exited with code 0\nOutput:\nGr\u00fc\u00dfe \"x\"\n"}}` + "\n"
		lines := strings.SplitAfter(string(b.content()), "\n")
		at := slices.IndexFunc(lines, func(l string) bool { return strings.HasSuffix(l, want) })
		call := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, `"type":"function_call"`) })
		if at < 0 || c.place == "adjacent" && at != call+1 {
			t.Errorf("%s, %s: line %d\n%s", c.generation, c.name, at, b.content())
		}
		again, err := b.repair(nil)
		if err != nil || again.Changed {
			t.Errorf("the second time: %+v %v", again, err)
		}
	}
}
