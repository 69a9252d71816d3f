package migrate_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/durable/faultfs"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/claude"
	"github.com/sessfix/sessfix/format/codex"
	"github.com/sessfix/sessfix/format/dsh"
	"github.com/sessfix/sessfix/format/grok"
	"github.com/sessfix/sessfix/format/pi"
	"github.com/sessfix/sessfix/migrate"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

var formats = []format.Format{dsh.Format{}, claude.Format{}, codex.Format{}, pi.Format{}, grok.Format{}}

// olds are sessions of older generations, each as the files of a home, by what they show.
var olds = map[string]map[string]string{
	"beside": {
		"--w--/s-old/session.jsonl": `{"type":"session","version":0,"id":"s-old","createdAt":1700000000000,"cwd":"/w","delegationDepth":0}
{"type":"turn/start","seq":0,"time":1700000000001,"data":{"turn":1}}
{"type":"step/start","seq":1,"time":1700000000002,"data":{"turn":1,"step":1}}
{"type":"user/message","seq":2,"time":1700000000003,"data":{"id":"u1","role":"user","content":[{"type":"text","text":"hi"}],"source":{"kind":"user"}},"surfaceOp":"append"}
{"type":"request/header","seq":3,"time":1700000000004,"data":{"header":{"config":{"provider":"p","model":"m"}},"reason":"initial"}}
{"type":"assistant/message","seq":4,"time":1700000000005,"data":{"turn":1,"step":1,"message":{"id":"a1","role":"assistant","content":[{"type":"text","text":"hello"}],"source":{"kind":"model","provider":"p","model":"m"}}},"surfaceOp":"append"}
{"type":"step/end","seq":5,"time":1700000000006,"data":{"turn":1,"step":1}}
{"type":"turn/end","seq":6,"time":1700000000007,"data":{"turn":1,"reason":{"kind":"completed"}}}
`,
	},
	"in place": {
		"--w--/2025-12-01T10-00-00-000Z_0198a0b0-0000-7000-8000-00000000000a.jsonl": `{"type":"session","id":"0198a0b0-0000-7000-8000-00000000000a","timestamp":"2025-12-01T10:00:00.000Z","cwd":"/w"}
{"type":"message","timestamp":"2025-12-01T10:00:01.000Z","message":{"role":"user","content":"hi","timestamp":1764583201000}}
{"type":"message","timestamp":"2025-12-01T10:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"hello"}],"api":"a","provider":"p","model":"m","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1764583202000}}
`,
	},
	"several files": grokOld,
	"moved": {
		"-w/5a5a5a5a-1111-4222-8333-444455556666.jsonl": `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"hi"},"uuid":"00000001-0000-4000-8000-000000000001","timestamp":"2025-12-01T10:00:01.000Z","sessionId":"5a5a5a5a-1111-4222-8333-444455556666","cwd":"/w","version":"2.0.76"}
{"parentUuid":"00000001-0000-4000-8000-000000000001","isSidechain":false,"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Task","input":{"description":"look","prompt":"p","subagent_type":"general-purpose"}}]},"uuid":"00000002-0000-4000-8000-000000000002","timestamp":"2025-12-01T10:00:02.000Z","sessionId":"5a5a5a5a-1111-4222-8333-444455556666","cwd":"/w","version":"2.0.76"}
{"parentUuid":"00000002-0000-4000-8000-000000000002","isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"done"}]}]},"uuid":"00000003-0000-4000-8000-000000000003","timestamp":"2025-12-01T10:00:05.000Z","sessionId":"5a5a5a5a-1111-4222-8333-444455556666","cwd":"/w","version":"2.0.76","toolUseResult":{"status":"completed","agentId":"a1"}}
`,
		"-w/agent-a1.jsonl": `{"parentUuid":null,"isSidechain":true,"agentId":"a1","type":"user","message":{"role":"user","content":"p"},"uuid":"00000011-0000-4000-8000-000000000011","timestamp":"2025-12-01T10:00:03.000Z","sessionId":"5a5a5a5a-1111-4222-8333-444455556666","cwd":"/w","version":"2.0.76"}
{"parentUuid":"00000011-0000-4000-8000-000000000011","isSidechain":true,"agentId":"a1","type":"assistant","message":{"id":"m9","role":"assistant","content":[{"type":"text","text":"done"}]},"uuid":"00000012-0000-4000-8000-000000000012","timestamp":"2025-12-01T10:00:04.000Z","sessionId":"5a5a5a5a-1111-4222-8333-444455556666","cwd":"/w","version":"2.0.76"}
`,
	},
}

// grokOld is a folder of the first generation, of which three files change.
var grokOld = map[string]string{
	"%2Fw/0198a0b0-0000-7000-8000-00000000000b/summary.json": `{"info":{"id":"0198a0b0-0000-7000-8000-00000000000b","cwd":"/w"},"session_summary":"greeting","created_at":"2025-12-01T10:00:00Z","updated_at":"2025-12-01T10:00:05Z","num_messages":2,"current_model_id":"m"}` + "\n",
	"%2Fw/0198a0b0-0000-7000-8000-00000000000b/chat_history.jsonl": `{"role":"system","content":"be kind"}
{"role":"user","content":"hi"}
{"role":"assistant","content":"hello"}
`,
	"%2Fw/0198a0b0-0000-7000-8000-00000000000b/updates.jsonl": `{"sessionId":"0198a0b0-0000-7000-8000-00000000000b","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"hi"}},"_meta":{"eventId":"0198a0b0-0000-7000-8000-00000000000b-1","agentTimestampMs":1764583201000}}
{"sessionId":"0198a0b0-0000-7000-8000-00000000000b","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hello"}},"_meta":{"eventId":"0198a0b0-0000-7000-8000-00000000000b-2","agentTimestampMs":1764583202000}}
`,
}

// bed is a home with sessions in it, and a place for cases.
type bed struct {
	t           *testing.T
	home, cases string
	files       map[string]string
}

func lay(t *testing.T, files map[string]string) *bed {
	t.Helper()
	dir := t.TempDir()
	b := &bed{t, filepath.Join(dir, "sessions"), filepath.Join(dir, "cases"), files}
	for name, text := range files {
		path := filepath.Join(b.home, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// tree is what lies in the home, but for locks.
func (b *bed) tree() map[string]string {
	b.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(b.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(b.home, path)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

func (b *bed) same(got, want map[string]string, when string) {
	b.t.Helper()
	for name, text := range want {
		if got[name] != text {
			b.t.Errorf("%s: %s is\n%s\nwant\n%s", when, name, got[name], text)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			b.t.Errorf("%s: %s is there", when, name)
		}
	}
}

// settle makes all files old, so that nobody waits for them to be quiet.
func (b *bed) settle() {
	old := time.Date(2025, 12, 2, 0, 0, 0, 0, time.UTC)
	for name := range b.tree() {
		if err := os.Chtimes(filepath.Join(b.home, filepath.FromSlash(name)), old, old); err != nil {
			b.t.Fatal(err)
		}
	}
}

// run migrates all sessions of the home.
func (b *bed) run(o migrate.Options) ([]*migrate.Outcome, error) {
	b.t.Helper()
	b.settle()
	found, err := store.Open(context.Background(), []string{b.home}, store.Options{Formats: formats})
	if err != nil {
		b.t.Fatal(err)
	}
	defer found.Close()
	o.CaseDir, o.Store = b.cases, store.Options{Formats: formats}
	var all []*migrate.Outcome
	for _, g := range found.Groups() {
		outs, err := migrate.Session(context.Background(), g, o)
		all = append(all, outs...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

func (b *bed) clean(when string) {
	b.t.Helper()
	found, err := store.Open(context.Background(), []string{b.home}, store.Options{Formats: formats})
	if err != nil {
		b.t.Fatal(err)
	}
	defer found.Close()
	for _, s := range found.Sessions {
		res, err := verify.File(context.Background(), s)
		if err != nil || res.Verdict != verify.Clean {
			b.t.Errorf("%s: %s is not clean: %v", when, s.Path, err)
		}
	}
}

func (b *bed) undo(fsys durable.FS) error {
	b.settle()
	dirs, err := repair.FindCases(durable.Disk, b.cases, b.home)
	if err != nil {
		return err
	}
	_, errs := repair.UndoAll(context.Background(), dirs, repair.UndoOptions{CaseDir: b.cases, FS: fsys, Formats: formats})
	return errors.Join(errs...)
}

func done(outs []*migrate.Outcome) (n int) {
	for _, o := range outs {
		if o.Done {
			n++
		}
	}
	return n
}

// A session is brought over once, verifies clean, a second run finds nothing to do, a dry run writes nothing, and undo puts
// everything back.
func TestMigrate(t *testing.T) {
	for name, files := range olds {
		t.Run(name, func(t *testing.T) {
			b := lay(t, files)
			outs, err := b.run(migrate.Options{DryRun: true, Fates: true})
			if err != nil || done(outs) != 0 {
				t.Fatalf("dry run: %d written, %v", done(outs), err)
			}
			b.same(b.tree(), files, "after a dry run")
			if outs, err = b.run(migrate.Options{}); err != nil || done(outs) == 0 {
				t.Fatalf("%d written, %v", done(outs), err)
			}
			for _, o := range outs {
				if o.Done && o.Path == o.Session.Path && !o.Account.Balanced() {
					t.Errorf("%s: %+v does not account for every byte", o.Path, o.Account)
				}
			}
			after := b.tree()
			b.clean("migrated")
			if outs, err = b.run(migrate.Options{}); err != nil || done(outs) != 0 {
				t.Errorf("again: %d written, %v", done(outs), err)
			}
			b.same(b.tree(), after, "after a second run")
			other := lay(t, files)
			if _, err := other.run(migrate.Options{}); err != nil {
				t.Fatal(err)
			}
			b.same(other.tree(), after, "another run from the beginning")
			if err := b.undo(durable.Disk); err != nil {
				t.Fatal(err)
			}
			b.same(b.tree(), files, "undone")
		})
	}
}

// Whatever operation fails, or is the last one before a crash, each file is old or new; the next run comes to the end, and undo
// to the beginning.
func TestFaults(t *testing.T) {
	for name, files := range olds {
		t.Run(name, func(t *testing.T) {
			whole := lay(t, files)
			counting := faultfs.New(durable.Disk)
			if _, err := whole.run(migrate.Options{FS: counting}); err != nil {
				t.Fatal(err)
			}
			want := whole.tree()
			if counting.Ops() < 10 {
				t.Fatalf("only %d operations", counting.Ops())
			}
			for n := 1; n <= counting.Ops(); n++ {
				for _, stop := range []bool{false, true} {
					b := lay(t, files)
					fsys := faultfs.New(durable.Disk)
					if stop {
						fsys.Stop(n)
					} else {
						fsys.Fail(n, nil)
					}
					b.run(migrate.Options{FS: fsys})
					for file, text := range b.tree() {
						if text != files[file] && text != want[file] && !strings.HasSuffix(file, ".tmp") {
							t.Errorf("operation %d, stop %t: %s is neither old nor new", n, stop, file)
						}
					}
					if _, err := b.run(migrate.Options{}); err != nil {
						t.Errorf("operation %d, stop %t: the next run: %v", n, stop, err)
						continue
					}
					b.same(b.tree(), want, "the next run")
					b.clean("the next run")
					for name := range want {
						if dir, pending := repair.Pending(durable.Disk, b.cases, filepath.Join(b.home, filepath.FromSlash(name))); pending {
							t.Errorf("operation %d, stop %t: %s is pending", n, stop, dir)
						}
					}
				}
				if t.Failed() {
					t.Fatalf("operation %d of %d: %s", n, counting.Ops(), counting.Trace()[n-1])
				}
			}
		})
	}
}

// Of a new generation that was written to since, nothing is written over.
func TestBesideStays(t *testing.T) {
	b := lay(t, olds["beside"])
	if _, err := b.run(migrate.Options{}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(b.home, "--w--", "s-old", "session.v3.jsonl")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	longer := append(bytes.Clone(data), `{"type":"session/end-seed","seq":7,"time":1700000000008,"data":{}}`+"\n"...)
	if err := os.WriteFile(path, longer, 0o600); err != nil {
		t.Fatal(err)
	}
	outs, err := b.run(migrate.Options{})
	if err != nil || done(outs) != 0 {
		t.Errorf("%d written, %v", done(outs), err)
	}
	spelled := bytes.Replace(data, []byte(`{"type":"session","version":3,`), []byte(`{"version": 3, "type":"session",`), 1)
	if err := os.WriteFile(path, spelled, 0o600); err != nil || bytes.Equal(spelled, data) {
		t.Fatal(err)
	}
	if outs, err := b.run(migrate.Options{}); err != nil || done(outs) != 0 {
		t.Errorf("the client's own spelling: %d written, %v", done(outs), err)
	}
	other := bytes.Replace(data, []byte("hello"), []byte("howdy"), 1)
	if err := os.WriteFile(path, other, 0o600); err != nil {
		t.Fatal(err)
	}
	var no *migrate.RefusedError
	if _, err := b.run(migrate.Options{}); !errors.As(err, &no) || !strings.Contains(no.Why, "is there already") {
		t.Errorf("another one: %v", err)
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, other) {
		t.Error("it was written over")
	}
}

// What is not known, newer than all that is known, or damaged beyond repair is refused, and so is a way that no step leads.
func TestRefused(t *testing.T) {
	old := olds["in place"]
	for name, c := range map[string]struct {
		files map[string]string
		to    string
		want  string
	}{
		"newer": {map[string]string{"--w--/2025-12-01T10-00-00-000Z_n.jsonl": `{"type":"session","version":9,"id":"n","timestamp":"2025-12-01T10:00:00.000Z","cwd":"/w"}` + "\n"}, "", "newer"},
		"back":  {old, "0", "no step leads from generation 1 to 0"},
		"far":   {old, "77", "no step leads from generation 1 to 77"},
	} {
		b := lay(t, c.files)
		var no *migrate.RefusedError
		if _, err := b.run(migrate.Options{To: c.to}); !errors.As(err, &no) || !strings.Contains(no.Why, c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		b.same(b.tree(), c.files, name)
	}
}
