package repair_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/durable/faultfs"
	"github.com/sessfix/sessfix/repair"
)

// hookFS calls a function before a file is made or opened for appending.
type hookFS struct {
	durable.FS
	hook func(op, name string)
}

func (h hookFS) Create(name string, perm fs.FileMode) (durable.File, error) {
	h.hook("create", name)
	return h.FS.Create(name, perm)
}

func (h hookFS) OpenAppend(name string) (durable.File, error) {
	h.hook("append", name)
	return h.FS.OpenAppend(name)
}

func (h hookFS) CopyMode(name string, like fs.FileInfo) error {
	h.hook("copymode", name)
	return h.FS.CopyMode(name, like)
}

// Somebody else writes between the plan and its publication: their bytes stay, ours do not come.
func TestWrittenMeanwhile(t *testing.T) {
	line := `{"type":"tool/result","seq":5}` + "\n"
	appends := func(b *faultBed) {
		f, err := os.OpenFile(b.path, os.O_WRONLY|os.O_APPEND, 0)
		b.must(err)
		_, err = f.WriteString(line)
		b.must(err)
		b.must(f.Close())
	}
	sameSize := func(b *faultBed) {
		data := b.content()
		data[len(data)-3] ^= 1
		b.must(os.WriteFile(b.path, data, 0o600))
	}
	replaced := func(b *faultBed) {
		b.must(os.WriteFile(b.path+".other", b.content(), 0o600))
		b.must(os.Rename(b.path+".other", b.path))
	}
	for _, c := range faultCases {
		for kind, write := range map[string]func(*faultBed){"appended": appends, "changed in place": sameSize, "replaced": replaced} {
			for _, at := range []string{"create case.json.tmp", "create last", "append", "copymode"} {
				if (at == "append") != c.appended() && !strings.HasSuffix(at, "case.json.tmp") {
					continue
				}
				t.Run(c.name+", "+kind+" at "+at, func(t *testing.T) {
					b := newBed(t, c.file, c.old)
					b.settle()
					var after []byte
					fsys := hookFS{lazy, func(op, name string) {
						hit := op+" "+filepath.Base(name) == at || op == at
						if at == "create last" {
							hit = op == "create" && filepath.Dir(name) == filepath.Dir(b.path)
						}
						if hit && after == nil {
							write(b)
							after = b.content()
						}
					}}
					out, err := b.repair(fsys)
					var live *repair.LiveError
					if !errors.As(err, &live) || out.Changed {
						t.Errorf("changed %t, %v", out.Changed, err)
					}
					if after == nil {
						t.Fatal("the hook was never reached")
					}
					if !bytes.Equal(b.content(), after) {
						t.Error("what somebody else wrote is not there any more")
					}
					b.checkOnly()
				})
			}
		}
	}
}

// TestFaultChild is no test: as another process it holds something until its input ends.
func TestFaultChild(t *testing.T) {
	what, path, _ := strings.Cut(os.Getenv("SESSFIX_FAULT_CHILD"), " ")
	if what == "" {
		t.Skip("only for a child process")
	}
	var held any
	var err error
	switch what {
	case "lock":
		held, err = durable.Flock(path, "dsh-session-lock-")
	case "write":
		held, err = os.OpenFile(path, os.O_WRONLY, 0)
	case "read":
		held, err = os.Open(path)
	}
	fmt.Println("child:", err)
	bufio.NewReader(os.Stdin).ReadByte()
	_ = fmt.Sprint(held)
}

func faultChild(t *testing.T, what, path string) (end func()) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestFaultChild$", "-test.v")
	c.Env = append(os.Environ(), "SESSFIX_FAULT_CHILD="+what+" "+path)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	end = func() {
		if !ended {
			ended = true
			in.Close()
			c.Wait()
		}
	}
	t.Cleanup(end)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if s, ok := strings.CutPrefix(lines.Text(), "child: "); ok {
			if s != "<nil>" {
				t.Fatalf("child: %s", s)
			}
			return end
		}
	}
	t.Fatal("the child says nothing")
	return nil
}

// A live owner is found, whatever he holds, and nothing is written.
func TestLiveOwner(t *testing.T) {
	for _, c := range faultCases {
		if c.file != "session.jsonl" {
			continue
		}
		for _, what := range []string{"lock", "write"} {
			t.Run(c.name+", "+what, func(t *testing.T) {
				b := newHomeBed(t, c.old)
				at := b.path
				if what == "lock" {
					at = filepath.Join(b.home, "session.lock")
				}
				end := faultChild(t, what, at)
				before := b.names()
				_, err := b.repair(nil)
				var live *repair.LiveError
				if !errors.As(err, &live) || live.Who == "" {
					t.Errorf("%v", err)
				}
				code, out := b.run("repair", b.path)
				if code != 3 || !strings.Contains(out, "LIVE_SESSION") {
					t.Errorf("repair ends with %d: %s", code, out)
				}
				if !bytes.Equal(b.content(), c.old) || !slices.Equal(b.names(), before) {
					t.Errorf("something was written: %q", b.names())
				}
				if _, err := os.Stat(b.cases); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("a case was opened: %v", err)
				}
				end()
				if code, out := b.run("repair", b.path); code != 0 {
					t.Errorf("when the owner is gone repair ends with %d: %s", code, out)
				}
				// The same for undo.
				b.settle()
				end = faultChild(t, what, at)
				fixed := b.content()
				if err := b.undo(nil); !errors.As(err, &live) {
					t.Errorf("undo: %v", err)
				}
				if code, out := b.run("undo", b.path); code != 3 {
					t.Errorf("undo ends with %d: %s", code, out)
				}
				if !bytes.Equal(b.content(), fixed) {
					t.Error("undo wrote under a live owner")
				}
				end()
				if err := b.undo(nil); err != nil || !bytes.Equal(b.content(), c.old) {
					t.Errorf("undo: %v", err)
				}
			})
		}
	}
	t.Run("a reader is none", func(t *testing.T) {
		b := newHomeBed(t, faultCases[0].old)
		faultChild(t, "read", b.path)
		if _, err := b.repair(nil); err != nil {
			t.Error(err)
		}
	})
}

// An interrupted repair is not settled under a live owner either, and that is a refusal.
func TestLiveOwnerOfPending(t *testing.T) {
	c := faultCases[0]
	b := newHomeBed(t, c.old)
	f := faultfs.New(lazy)
	_, trace := c.wholeRepair(t)
	for n := 1; n <= len(trace) && len(b.content()) == len(c.old); n++ {
		b = newHomeBed(t, c.old)
		f = faultfs.New(lazy)
		f.Stop(n)
		f.HalfWrites()
		b.repair(f)
	}
	half := b.content()
	if len(half) == len(c.old) {
		t.Fatalf("no appendix is half written: %s", strings.Join(f.Trace(), "\n"))
	}
	b.settle()
	end := faultChild(t, "lock", filepath.Join(b.home, "session.lock"))
	_, err := b.repair(nil)
	var live *repair.LiveError
	if !errors.As(err, &live) || !bytes.Equal(b.content(), half) {
		t.Errorf("%v", err)
	}
	if code, out := b.run("repair", b.path); code != 3 {
		t.Errorf("repair ends with %d: %s", code, out)
	}
	end()
	if code, out := b.run("repair", b.path); code != 0 {
		t.Errorf("when the owner is gone repair ends with %d: %s", code, out)
	}
}

// A file that is written while repair waits for it to be quiet has an owner.
func TestLiveWriter(t *testing.T) {
	b := newHomeBed(t, faultCases[0].old)
	now := time.Now()
	b.must(os.Chtimes(b.path, now, now))
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(500 * time.Millisecond)
		f, err := os.OpenFile(b.path, os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			f.WriteString("x")
			f.Close()
		}
	}()
	_, err := b.repair(nil)
	<-done
	var live *repair.LiveError
	if !errors.As(err, &live) {
		t.Error(err)
	}
	if string(b.content()) != string(faultCases[0].old)+"x" {
		t.Error("the file was repaired")
	}
}
