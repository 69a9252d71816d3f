package repair_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessfix/sessfix/cmd"
	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/durable/faultfs"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/claude"
	"github.com/sessfix/sessfix/format/codex"
	"github.com/sessfix/sessfix/format/dsh"
	"github.com/sessfix/sessfix/format/pi"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

var faultFormats = []format.Format{dsh.Format{}, claude.Format{}, codex.Format{}, pi.Format{}}

// faultLines are a small session that was killed while a tool ran.
var faultLines = []string{
	`{"type":"session","version":0,"id":"s-fault","createdAt":1700000000000,"cwd":"/w","delegationDepth":0}`,
	`{"type":"turn/start","seq":0,"time":1700000000001,"data":{"turn":1}}`,
	`{"type":"user/message","seq":1,"time":1700000000002,"data":{"id":"u1","role":"user","content":[{"type":"text","text":"hi"}],"source":{"kind":"user"}},"surfaceOp":"append"}`,
	`{"type":"step/start","seq":2,"time":1700000000003,"data":{"turn":1,"step":1}}`,
	`{"type":"assistant/message","seq":3,"time":1700000000004,"data":{"turn":1,"step":1,"message":{"id":"a1","role":"assistant","content":[{"type":"tool-call","id":"call_1","name":"bash","arguments":"{}"}],"source":{"kind":"model","provider":"p","model":"m"}}},"surfaceOp":"append"}`,
	`{"type":"tool/call","seq":4,"time":1700000000005,"data":{"turn":1,"step":1,"callId":"call_1","name":"bash","arguments":"{}"}}`,
}

func faultPlain() []byte { return []byte(strings.Join(faultLines, "\n") + "\n") }

func faultPacked() []byte {
	var z []byte
	for _, l := range faultLines {
		z = scan.EncodeFrame(z, []byte(l+"\n"))
	}
	return z
}

// faultCase is a damaged file and how its repair is published.
type faultCase struct {
	name, file, mode string
	old              []byte
}

var faultCases = []faultCase{
	{"append plain", "session.jsonl", repair.ModeAppend, faultPlain()},
	{"append packed", "session.jsonl.zstd", repair.ModeAppend, faultPacked()},
	{"replace plain", "session.jsonl", repair.ModeReplace, append(faultPlain(), `{"type":"user/mes`...)},
	{"replace packed", "session.jsonl.zstd", repair.ModeReplace, faultPacked()[:len(faultPacked())-7]},
	{"append to a tree", "5a5a5a5a-1111-4222-8333-444455556666.jsonl", repair.ModeAppend, faultTree()},
	{"append to a rollout", faultRollout, repair.ModeAppend, faultList("")},
	{"replace in a rollout", faultRollout, repair.ModeReplace, faultList(`{"timestamp":"2026-0` + "\n")},
	{"replace a tree", "5a5a5a5a-1111-4222-8333-444455556666.jsonl", repair.ModeReplace, append(faultTree(), `{"type":"assi`...)},
	{"append to a path", faultPi, repair.ModeAppend, faultPath("")},
	{"replace in a path", faultPi, repair.ModeReplace, faultPath(`{"type":"message","id":"c0` + "\n")},
	{"relink a path", faultPi, repair.ModeReplace, bytes.Replace(faultPath(""), []byte(`"parentId":"c0000001"`), []byte(`"parentId":"c0ffffff"`), 1)},
}

// appended tells whether the file itself is added to. A session of pi keeps its time, and so is always written beside.
func (c faultCase) appended() bool { return c.mode == repair.ModeAppend && c.file != faultPi }

const faultPi = "2026-01-02T03-04-05-000Z_01900000-0000-7000-8000-000000000002.jsonl"

// faultPath is a small session of pi that was killed while a tool ran, with something in its middle.
func faultPath(torn string) []byte {
	return []byte(`{"type":"session","version":3,"id":"01900000-0000-7000-8000-000000000002","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/w"}
{"type":"message","id":"c0000001","parentId":null,"timestamp":"2026-01-02T03:04:06.000Z","message":{"role":"user","content":"hi","timestamp":1767323046000}}
` + torn + `{"type":"message","id":"c0000002","parentId":"c0000001","timestamp":"2026-01-02T03:04:07.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"call_1","name":"bash","arguments":{}}],"api":"a","provider":"p","model":"m","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"toolUse","timestamp":1767323047000}}
`)
}

const faultRollout = "rollout-2026-01-02T03-04-05-01900000-0000-7000-8000-000000000001.jsonl"

// faultList is a small rollout that was killed while a tool ran, with something in its middle.
func faultList(torn string) []byte {
	return []byte(`{"timestamp":"2026-01-02T03:04:05.000Z","ordinal":0,"type":"session_meta","payload":{"id":"01900000-0000-7000-8000-000000000001","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/w","originator":"x","cli_version":"0.171.0","history_mode":"paginated"}}
{"timestamp":"2026-01-02T03:04:05.010Z","ordinal":1,"type":"event_msg","payload":{"type":"task_started","turn_id":"t1"}}
` + torn + `{"timestamp":"2026-01-02T03:04:05.020Z","ordinal":2,"type":"response_item","payload":{"type":"function_call","id":"fc_1","name":"sh","arguments":"{}","call_id":"call_1"}}
`)
}

// faultTree is a small transcript that was killed while a tool ran.
func faultTree() []byte {
	return []byte(`{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"hi"},"uuid":"u1","timestamp":"2026-01-02T03:04:05.000Z","sessionId":"s-fault"}
{"parentUuid":"u1","isSidechain":false,"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"Bash","input":{}}]},"uuid":"a1","timestamp":"2026-01-02T03:04:06.000Z","sessionId":"s-fault"}
`)
}

// lazyFS is the disk without its syncs: whether bytes outlive a power cut is not looked at here,
// and hundreds of runs need not wait for it.
type lazyFS struct{ durable.FS }

type lazyFile struct{ durable.File }

var lazy = lazyFS{durable.Disk}

func (lazyFile) Sync() error             { return nil }
func (lazyFS) SyncDir(name string) error { return nil }

func (l lazyFS) Create(name string, perm fs.FileMode) (durable.File, error) {
	f, err := l.FS.Create(name, perm)
	if err != nil {
		return nil, err
	}
	return lazyFile{f}, nil
}

func (l lazyFS) OpenAppend(name string) (durable.File, error) {
	f, err := l.FS.OpenAppend(name)
	if err != nil {
		return nil, err
	}
	return lazyFile{f}, nil
}

// faultBed is one session in a directory of its own, with a case directory elsewhere.
type faultBed struct {
	t          *testing.T
	home, path string
	cases      string
}

func newBed(t *testing.T, file string, content []byte) *faultBed {
	t.Helper()
	dir := t.TempDir()
	b := &faultBed{t, filepath.Join(dir, "agent"), filepath.Join(dir, "agent", file), filepath.Join(dir, "state", "cases")}
	b.must(os.Mkdir(b.home, 0o700))
	b.must(os.WriteFile(b.path, content, 0o600))
	b.settle()
	return b
}

// newHomeBed puts the session where its client would, so that its guards are looked at.
func newHomeBed(t *testing.T, content []byte) *faultBed {
	t.Helper()
	dir := t.TempDir()
	home := filepath.Join(dir, "home", "sessions", "--w--", "s-fault")
	b := &faultBed{t, home, filepath.Join(home, "session.jsonl"), filepath.Join(dir, "state", "cases")}
	b.must(os.MkdirAll(home, 0o700))
	b.must(os.WriteFile(b.path, content, 0o600))
	b.settle()
	return b
}

// settle makes the file old, so that nobody waits for it to be quiet.
func (b *faultBed) settle() {
	past := time.Now().Add(-time.Hour)
	b.must(os.Chtimes(b.path, past, past))
}

func (b *faultBed) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *faultBed) content() []byte {
	b.t.Helper()
	data, err := os.ReadFile(b.path)
	b.must(err)
	return data
}

func (b *faultBed) names() []string {
	b.t.Helper()
	entries, err := os.ReadDir(b.home)
	b.must(err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func (b *faultBed) session() store.Session {
	b.t.Helper()
	found, err := store.Open(context.Background(), []string{b.home}, store.Options{Formats: faultFormats})
	b.must(err)
	if len(found.Sessions) != 1 || len(found.Troubles) > 0 {
		b.t.Fatalf("%d sessions found beside %q: %+v", len(found.Sessions), b.names(), found)
	}
	return found.Sessions[0]
}

func (b *faultBed) repair(fsys durable.FS) (*repair.Outcome, error) {
	b.t.Helper()
	if fsys == nil {
		fsys = lazy
	}
	return repair.Session(context.Background(), b.session(), repair.Options{CaseDir: b.cases, FS: fsys})
}

func (b *faultBed) undo(fsys durable.FS) error {
	b.t.Helper()
	dirs, err := repair.FindCases(durable.Disk, b.cases, b.path)
	if err != nil {
		return err
	}
	if fsys == nil {
		fsys = lazy
	}
	_, err = repair.Undo(context.Background(), dirs[0], repair.UndoOptions{CaseDir: b.cases, FS: fsys, Formats: faultFormats})
	return err
}

// run is the whole program on this bed.
func (b *faultBed) run(args ...string) (code int, out string) {
	var o, e bytes.Buffer
	env := func(string) string { return "" }
	code = cmd.Main(context.Background(), append(args, "--case-dir", b.cases), cmd.IO{In: strings.NewReader(""), Out: &o, Err: &e, Env: env})
	return code, o.String() + e.String()
}

// wholeRepair repairs without disturbance and gives what the file then holds.
func (c faultCase) wholeRepair(t *testing.T) (fixed []byte, trace []string) {
	t.Helper()
	b := newBed(t, c.file, c.old)
	fsys := faultfs.New(lazy)
	out, err := b.repair(fsys)
	b.must(err)
	if !out.Changed || out.After.Verdict != verify.Clean {
		t.Fatalf("the sample is not repaired: %+v", out)
	}
	fixed = b.content()
	if appends := bytes.HasPrefix(fixed, c.old); appends != (c.mode == repair.ModeAppend) {
		t.Fatalf("the sample is not repaired by way of %s", c.mode)
	}
	return fixed, fsys.Trace()
}

// disturbances of the n-th operation of a run; only a write can be half done.
func disturbances(trace []string, n int) map[string]func() *faultfs.FS {
	mk := func(stop, half bool) func() *faultfs.FS {
		return func() *faultfs.FS {
			f := faultfs.New(lazy)
			if stop {
				f.Stop(n)
			} else {
				f.Fail(n, nil)
			}
			if half {
				f.HalfWrites()
			}
			return f
		}
	}
	out := map[string]func() *faultfs.FS{fmt.Sprintf("fail %d", n): mk(false, false), fmt.Sprintf("stop %d", n): mk(true, false)}
	if strings.HasPrefix(trace[n-1], "write") {
		out[fmt.Sprintf("fail %d half", n)] = mk(false, true)
		out[fmt.Sprintf("stop %d half", n)] = mk(true, true)
	}
	return out
}

// checkLeft looks at what a disturbed run left in the agent's directory.
func (b *faultBed) checkLeft(old, fixed []byte, partly, stopped bool) {
	b.t.Helper()
	got := b.content()
	whole := bytes.Equal(got, old) || bytes.Equal(got, fixed)
	part := partly && len(got) > len(old) && len(got) < len(fixed) && bytes.HasPrefix(fixed, got)
	if !whole && !part {
		b.t.Errorf("the file is neither old nor new: %d bytes, old %d, new %d", len(got), len(old), len(fixed))
	}
	tmp := 0
	for _, name := range b.names() {
		switch {
		case name == filepath.Base(b.path):
		case stopped && strings.HasSuffix(name, ".tmp"):
			tmp++
		default:
			b.t.Errorf("%s is left behind", name)
		}
	}
	if tmp > 1 {
		b.t.Errorf("%d temporary files are left behind", tmp)
	}
	b.session() // finds the log and nothing else
}

// pending tells whether a case without an end lies in the case directory, and holds Pending and
// the verify command against it.
func (b *faultBed) checkPending() bool {
	b.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(b.cases, "*", "*"))
	b.must(err)
	has := func(dir, name string) bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil }
	want := false
	for _, d := range dirs {
		want = want || has(d, "case.json") && !has(d, "receipt.json") && !has(d, "undone.json")
	}
	if _, got := repair.Pending(durable.Disk, b.cases, b.path); got != want {
		b.t.Errorf("Pending says %t, want %t", got, want)
	}
	if !want {
		return false // the command is as good for hundreds of clean cases as for a few
	}
	if code, out := b.run("verify", "--json", b.path); strings.Contains(out, "REPAIR_PENDING") != want || want && code != 1 {
		b.t.Errorf("verify ends with %d and says of a case without end (%t): %s", code, want, out)
	}
	return want
}

// checkNext repairs on a healthy disk and takes it back.
func (b *faultBed) checkNext(old, fixed []byte) {
	b.t.Helper()
	if _, err := b.repair(nil); err != nil {
		b.t.Errorf("the next repair: %v", err)
	}
	if !bytes.Equal(b.content(), fixed) {
		b.t.Errorf("the next repair gives %d other bytes", len(b.content()))
	}
	if b.checkPending() {
		b.t.Error("a case is left without end")
	}
	b.checkOnly()
	out, err := b.repair(nil)
	if err != nil || out.Changed || out.Before.Verdict != verify.Clean {
		b.t.Errorf("a repair of the repaired: %v, changed %t", err, out.Changed)
	}
	if err := b.undo(nil); err != nil {
		b.t.Errorf("undo: %v", err)
	}
	if !bytes.Equal(b.content(), old) {
		b.t.Error("undo does not give the original back")
	}
	b.checkOnly()
}

func (b *faultBed) checkOnly() {
	b.t.Helper()
	if names := b.names(); !slices.Equal(names, []string{filepath.Base(b.path)}) {
		b.t.Errorf("beside the log lie %q", names)
	}
}

func TestFaultsOfRepair(t *testing.T) {
	for _, c := range faultCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fixed, trace := c.wholeRepair(t)
			if len(trace) < 10 {
				t.Fatalf("only %d operations: the disk is not written through the given file system", len(trace))
			}
			for n := 1; n <= len(trace); n++ {
				for name, make := range disturbances(trace, n) {
					t.Run(name, func(t *testing.T) {
						b := newBed(t, c.file, c.old)
						fsys := make()
						_, err := b.repair(fsys)
						stopped := strings.HasPrefix(name, "stop")
						b.checkLeft(c.old, fixed, stopped && c.mode == repair.ModeAppend, stopped)
						if err == nil && !bytes.Equal(b.content(), fixed) {
							t.Error("no error, and the file is not repaired")
						}
						if pending := b.checkPending(); pending && err == nil {
							t.Error("no error, and the case has no end")
						}
						b.checkNext(c.old, fixed)
						if t.Failed() {
							t.Logf("error: %v\ntrace:\n%s", err, strings.Join(fsys.Trace(), "\n"))
						}
					})
				}
			}
		})
	}
}

func TestFaultsOfUndo(t *testing.T) {
	for _, c := range faultCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fixed, _ := c.wholeRepair(t)
			prepare := func(t *testing.T) *faultBed {
				b := newBed(t, c.file, c.old)
				_, err := b.repair(nil)
				b.must(err)
				return b
			}
			whole := faultfs.New(lazy)
			b := prepare(t)
			b.must(b.undo(whole))
			for n := 1; n <= whole.Ops(); n++ {
				for name, make := range disturbances(whole.Trace(), n) {
					t.Run(name, func(t *testing.T) {
						b := prepare(t)
						err := b.undo(make())
						stopped := strings.HasPrefix(name, "stop")
						b.checkLeft(c.old, fixed, false, stopped)
						if err == nil && !bytes.Equal(b.content(), c.old) {
							t.Error("no error, and the original is not back")
						}
						// Undo again ends it, and so does a repair.
						if again := b.undo(nil); again != nil && !errors.Is(again, repair.ErrNoCase) {
							t.Errorf("undo again: %v", again)
						}
						if !bytes.Equal(b.content(), c.old) {
							t.Error("undo again does not give the original back")
						}
						b.checkOnly()
						b.checkNext(c.old, fixed)
						if stopped {
							b = prepare(t)
							b.undo(make())
							b.checkNextAfterUndo(c.old, fixed)
						}
					})
				}
			}
		})
	}
}

// checkNextAfterUndo is checkNext, but a file that undo left beside the log may lie there until
// undo comes again.
func (b *faultBed) checkNextAfterUndo(old, fixed []byte) {
	b.t.Helper()
	_, err := b.repair(nil)
	if err != nil || !bytes.Equal(b.content(), fixed) {
		b.t.Errorf("repair behind an undo that was disturbed: %v", err)
	}
	if err := b.undo(nil); err != nil || !bytes.Equal(b.content(), old) {
		b.t.Errorf("undo behind that: %v", err)
	}
	b.checkOnly()
}

// The run that settles an interrupted repair may be interrupted itself.
func TestFaultsOfRecovery(t *testing.T) {
	for _, c := range faultCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fixed, trace := c.wholeRepair(t)
			// The states that a crash can leave: before publishing, within it, and behind it.
			for first := len(trace) / 2; first <= len(trace); first += 3 {
				prepare := func(t *testing.T) *faultBed {
					b := newBed(t, c.file, c.old)
					f := faultfs.New(lazy)
					f.Stop(first)
					f.HalfWrites()
					b.repair(f)
					return b
				}
				b := prepare(t)
				if _, pending := repair.Pending(durable.Disk, b.cases, b.path); !pending {
					continue
				}
				whole := faultfs.New(lazy)
				if _, err := b.repair(whole); err != nil {
					t.Fatal(err)
				}
				for n := 1; n <= whole.Ops(); n += 4 {
					for _, stop := range []bool{false, true} {
						b := prepare(t)
						f := faultfs.New(lazy)
						if f.HalfWrites(); stop {
							f.Stop(n)
						} else {
							f.Fail(n, nil)
						}
						_, err := b.repair(f)
						// Temporary files may stay: the first run was stopped.
						b.checkLeft(c.old, fixed, c.mode == repair.ModeAppend, true)
						b.checkNext(c.old, fixed)
						if t.Failed() {
							t.Fatalf("stopped at %d, then disturbed at %d (stop %t): %v\n%s", first, n, stop, err, strings.Join(f.Trace(), "\n"))
						}
					}
				}
			}
		})
	}
}

// Mode, and a link in place of the file, are what they were.
func TestModeAndLink(t *testing.T) {
	for _, c := range faultCases {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t, c.file, c.old)
			b.must(os.Chmod(b.path, 0o640))
			link := filepath.Join(filepath.Dir(b.home), "link-"+c.file)
			b.must(os.Symlink(b.path, link))
			check := func(want []byte) {
				t.Helper()
				fi, err := os.Lstat(link)
				b.must(err)
				if fi.Mode()&fs.ModeSymlink == 0 {
					t.Error("the link is a link no more")
				}
				fi, err = os.Lstat(b.path)
				b.must(err)
				if fi.Mode() != 0o640 || !bytes.Equal(b.content(), want) {
					t.Errorf("mode %v, %d bytes", fi.Mode(), fi.Size())
				}
				b.checkOnly()
			}
			fixed, _ := c.wholeRepair(t)
			if code, out := b.run("repair", link); code != 0 {
				t.Fatalf("repair: %d %s", code, out)
			}
			check(fixed)
			// Under its own name it is the same session.
			if code, out := b.run("undo", b.path); code != 0 {
				t.Fatalf("undo: %d %s", code, out)
			}
			check(c.old)
		})
	}
}

// Every byte of a case can be checked with other tools: originals and quarantined bytes are there.
func TestCaseFolder(t *testing.T) {
	for _, c := range faultCases {
		b := newBed(t, c.file, c.old)
		out, err := b.repair(nil)
		b.must(err)
		original, err := os.ReadFile(filepath.Join(out.Receipt, "original"))
		if !c.appended() {
			if err != nil || !bytes.Equal(original, c.old) {
				t.Errorf("%s: the original is not kept: %v", c.name, err)
			}
		} else if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", c.name, err)
		}
		files, _ := filepath.Glob(filepath.Join(out.Receipt, "quarantine", "*"))
		total := int64(0)
		for _, f := range files {
			fi, err := os.Stat(f)
			b.must(err)
			total += fi.Size()
		}
		want := out.Result.Account.Quarantined
		if c.file == faultPi {
			want += out.Result.Account.Replaced // parents that were replaced lie there as well
		}
		if total != want {
			t.Errorf("%s: %d bytes in quarantine, the account says %d", c.name, total, want)
		}
	}
}
