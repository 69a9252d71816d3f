package repair_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/repair"
)

// take takes a lock, as another of this process's files.
func (b *grokBed) take(path string) (give func()) {
	b.t.Helper()
	l, err := durable.Flock(path, "")
	b.must(err)
	b.t.Cleanup(func() { l.Unlock() })
	return func() { l.Unlock() }
}

// register writes the list of open sessions, each with its process.
func (b *grokBed) register(entries ...any) {
	b.t.Helper()
	text := fmt.Sprintf(`[{"session_id":"another","pid":%d,"cwd":"/x","opened_at":"2026-01-01T00:00:00Z"}`, os.Getpid())
	for i := 0; i < len(entries); i += 2 {
		text += fmt.Sprintf(`,{"session_id":%q,"pid":%d,"cwd":"/home/dev/project","opened_at":"2026-01-01T00:00:00Z"}`, entries[i], entries[i+1])
	}
	b.must(os.WriteFile(filepath.Join(b.home, "active_sessions.json"), []byte(text+"]"), 0o600))
}

// deadPID is the id of a process that has ended.
func deadPID(t testing.TB) int {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^$")
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	return c.Process.Pid
}

// refused tells that nothing is written, since somebody is at work.
func (b *grokBed) refused(what, who string, do func() error) {
	b.t.Helper()
	before := b.all()
	err := do()
	var live *repair.LiveError
	if !errors.As(err, &live) || !strings.Contains(live.Who, who) {
		b.t.Errorf("%s: %v, want %q", what, err, who)
	}
	if d := grokDiff(b.all(), before); len(d) > 0 {
		b.t.Errorf("%s: %v were written", what, d)
	}
}

// Whoever has the session open, nothing is written until he is gone.
func TestLiveGrok(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("locks and open files are told otherwise")
	}
	lock := func(name string) func(b *grokBed) func() {
		return func(b *grokBed) func() {
			b.must(os.MkdirAll(filepath.Dir(b.path(name)), 0o700))
			return b.take(b.path(name))
		}
	}
	for _, c := range []struct {
		name, who string
		hold      func(b *grokBed) (end func())
	}{
		{"another process has the events open", "events.jsonl", func(b *grokBed) func() { return faultChild(b.t.(*testing.T), "write", b.path(grokEvents)) }},
		{"another process appends to the log", "another process holds updates.jsonl.lock", func(b *grokBed) func() { return faultChild(b.t.(*testing.T), "lock", b.path("updates.jsonl.lock")) }},
		{"the log is locked", "another process holds updates.jsonl.lock", lock("updates.jsonl.lock")},
		{"the history is locked", "another process holds chat_history.jsonl.lock", lock("chat_history.jsonl.lock")},
		{"the points are locked", "another process holds rewind_points.jsonl.lock", lock("rewind_points.jsonl.lock")},
		{"the summary is locked", "another process holds summary.json.lock", lock("summary.json.lock")},
		{"it is in the registry", fmt.Sprint("process ", os.Getpid()), func(b *grokBed) func() {
			b.register(filepath.Base(b.dir), os.Getpid())
			return func() { b.register("none", os.Getpid()) }
		}},
		{"it is in the registry, behind itself", fmt.Sprint("process ", os.Getpid()), func(b *grokBed) func() {
			b.register(filepath.Base(b.dir), os.Getpid(), filepath.Base(b.dir), deadPID(b.t))
			return func() { b.register("none", os.Getpid()) }
		}},
		{"it is being moved", ".lock", func(b *grokBed) func() {
			return lock(filepath.Join("../../../relocations", filepath.Base(b.dir)+".lock"))(b)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if runtime.GOOS != "linux" && !strings.Contains(c.who, ".lock") {
				t.Skip("who has a file open is not told here")
			}
			old := grokSession(t, "stop-call")
			b := newGrokBed(t, old)
			repaired := func() error { _, err := b.repair(nil); return err }
			end := c.hold(b)
			b.refused("repair", c.who, repaired)
			if _, err := os.Stat(b.cases); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a case was opened: %v", err)
			}
			if _, err := b.fate(t.Context()); err != nil {
				t.Errorf("a dry run: %v", err)
			}
			end()
			if err := repaired(); err != nil {
				t.Fatalf("when he is gone: %v", err)
			}
			fixed := b.files()
			end = c.hold(b)
			b.refused("undo", c.who, func() error { return b.undo(nil) })
			end()
			if d := grokDiff(b.files(), fixed); len(d) > 0 {
				t.Errorf("undo wrote to %v under a live owner", d)
			}
			if err := b.undo(nil); err != nil {
				t.Errorf("undo when he is gone: %v", err)
			}
			if d := grokDiff(b.files(), old); len(d) > 0 {
				t.Errorf("%v are not back", d)
			}
		})
	}
}

// What a client leaves that is no more keeps nobody from a repair, nor what another one holds.
func TestNotLiveGrok(t *testing.T) {
	for name, leave := range map[string]func(b *grokBed){
		"locks that nobody holds": func(b *grokBed) {
			for _, name := range []string{grokLog, grokHistory, grokPoints, grokSummary} {
				b.must(os.WriteFile(b.path(name+".lock"), nil, 0o600))
			}
		},
		"a process that is gone":          func(b *grokBed) { b.register(filepath.Base(b.dir), deadPID(t)) },
		"another session in the registry": func(b *grokBed) { b.register("none", os.Getpid()) },
		"a registry that is torn": func(b *grokBed) {
			b.must(os.WriteFile(filepath.Join(b.home, "active_sessions.json"), []byte(`[{"session_id":"`), 0o600))
		},
		"a reader": func(b *grokBed) { faultChild(b.t.(*testing.T), "read", b.path(grokEvents)) },
		"another session that is moved": func(b *grokBed) {
			b.must(os.MkdirAll(filepath.Join(b.home, "relocations"), 0o700))
			if runtime.GOOS != "windows" {
				b.take(filepath.Join(b.home, "relocations", "another.lock"))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			old := grokSession(t, "stop-call")
			b := newGrokBed(t, old)
			leave(b)
			locks := b.locks()
			if outs, err := b.repair(nil); err != nil || !outs[0].Changed {
				t.Fatal(err)
			}
			if now := b.locks(); len(now) != len(locks) {
				t.Errorf("of the locks %v are left %v", locks, now)
			}
		})
	}
}

// A file that is written to while repair waits for all of them to be quiet has an owner, and a copy elsewhere has none: only that
// nobody writes to it is looked at.
func TestLiveWriterGrok(t *testing.T) {
	t.Run("at home", func(t *testing.T) {
		t.Parallel()
		b := newGrokBed(t, grokSession(t, "stop-call"))
		group, err := b.group(t.Context())
		b.must(err)
		now := time.Now()
		b.must(os.Chtimes(b.path(grokHistory), now, now))
		timer := time.AfterFunc(300*time.Millisecond, func() { os.WriteFile(b.path(grokHistory), append(b.now[grokHistory], '\n'), 0o600) })
		defer timer.Stop()
		b.refused("repair", "", func() error {
			outs, err := repair.Parts(t.Context(), group, repair.Options{CaseDir: b.cases, FS: lazy})
			for _, o := range outs {
				if o.Changed {
					t.Error("a part was written")
				}
			}
			b.now[grokHistory] = nil
			b.must(os.WriteFile(b.path(grokHistory), grokSession(t, "stop-call")[grokHistory], 0o600))
			return err
		})
	})
	t.Run("a copy", func(t *testing.T) {
		b := newGrokBed(t, grokSession(t, "stop-call"))
		at := filepath.Join(b.home, "sessions", "copy") // not where a client looks
		b.must(os.Rename(b.dir, at))
		b.dir = at
		if runtime.GOOS != "windows" {
			b.take(b.path("updates.jsonl.lock"))
		}
		if outs, err := b.repair(nil); err != nil || !outs[0].Changed {
			t.Error(err)
		}
	})
}
