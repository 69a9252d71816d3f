package repair_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/edit"
	"github.com/sessfix/sessfix/internal/damage/trial"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// The files of a session of grok-build that a repair looks at.
const (
	grokLog     = "updates.jsonl"
	grokHistory = "chat_history.jsonl"
	grokEvents  = "events.jsonl"
	grokPoints  = "rewind_points.jsonl"
	grokSummary = "summary.json"
)

// grokFiles are the files of a session's folder, by their names in it.
type grokFiles map[string][]byte

// grokSession reads a session of the shipped ones: "orchard", or "../../corrupt/grok-dup-result".
func grokSession(t testing.TB, name string) grokFiles {
	t.Helper()
	out := grokFiles{}
	root := os.DirFS(filepath.Join("../testdata/sessions/grok", name))
	err := fs.WalkDir(root, ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			out[path], err = fs.ReadFile(root, path)
		}
		return err
	})
	if err != nil || len(out) < 3 {
		t.Fatalf("%s: %d files, %v", name, len(out), err)
	}
	return out
}

// with is the same folder, with a file that is another; without it where data is nil.
func (f grokFiles) with(name string, data []byte) grokFiles {
	out := maps.Clone(f)
	if out[name] = data; data == nil {
		delete(out, name)
	}
	return out
}

// id is the session's, as the log says.
func (f grokFiles) id(t testing.TB) string {
	t.Helper()
	var s struct{ Info struct{ ID string } }
	if json.Unmarshal(f[grokSummary], &s) == nil && s.Info.ID != "" {
		return s.Info.ID
	}
	_, rest, _ := bytes.Cut(f[grokLog], []byte(`"sessionId":"`))
	id, _, ok := bytes.Cut(rest, []byte(`"`))
	if !ok {
		t.Fatal("no file says what the session is called")
	}
	return string(id)
}

// grokBed is a session's folder where its client looks for it, and a place for cases elsewhere.
type grokBed struct {
	t     testing.TB
	home  string // the client's
	dir   string // the session's
	cases string
	now   grokFiles // what was put there
}

// grokRoot is a folder in memory where the system has such.
func grokRoot(t testing.TB) string {
	t.Helper()
	for _, root := range []string{"/dev/shm", ""} {
		if dir, err := os.MkdirTemp(root, "sessfix-grok-"); err == nil {
			t.Cleanup(func() { os.RemoveAll(dir) })
			return dir
		}
	}
	return t.TempDir()
}

func newGrokBed(t testing.TB, files grokFiles) *grokBed {
	t.Helper()
	root := grokRoot(t)
	home := filepath.Join(root, "home")
	b := &grokBed{t, home, filepath.Join(home, "sessions", "%2Fhome%2Fdev%2Fproject", files.id(t)), filepath.Join(root, "state", "cases"), nil}
	b.must(os.MkdirAll(b.dir, 0o700))
	b.put(files)
	return b
}

func (b *grokBed) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *grokBed) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

// put makes the folder hold these files and no other, all of them old, so that nobody waits for them to be quiet. It trusts
// that nobody else wrote there.
func (b *grokBed) put(files grokFiles) {
	b.t.Helper()
	for name := range b.now {
		if _, ok := files[name]; !ok {
			b.must(os.Remove(b.path(name)))
		}
	}
	for name, data := range files {
		if have, ok := b.now[name]; ok && bytes.Equal(have, data) {
			continue
		}
		b.must(os.MkdirAll(filepath.Dir(b.path(name)), 0o700))
		b.must(os.WriteFile(b.path(name), data, 0o600))
		b.age(name)
	}
	b.now = files
}

func (b *grokBed) age(name string) {
	b.t.Helper()
	past := time.Now().Add(-time.Hour)
	b.must(os.Chtimes(b.path(name), past, past))
}

// settle makes all files old.
func (b *grokBed) settle() {
	b.t.Helper()
	for name := range b.all() {
		b.age(name)
	}
}

// files are those that lie there, without locks: of a run that was killed they stay, as those of the client do.
func (b *grokBed) files() grokFiles {
	b.t.Helper()
	out := b.all()
	for _, name := range b.locks() {
		delete(out, name)
	}
	return out
}

// locks are the files of locks that lie there.
func (b *grokBed) locks() (names []string) {
	for name, data := range b.all() {
		if strings.HasSuffix(name, ".lock") && len(data) == 0 {
			names = append(names, name)
		}
	}
	return names
}

func (b *grokBed) all() grokFiles {
	b.t.Helper()
	out := grokFiles{}
	b.must(filepath.WalkDir(b.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(b.dir, path)
		if err == nil {
			out[filepath.ToSlash(rel)], err = os.ReadFile(path)
		}
		return err
	}))
	return out
}

// grokDiff names the files in which two folders differ.
func grokDiff(a, b grokFiles) (out []string) {
	for name, data := range a {
		if other, ok := b[name]; !ok {
			out = append(out, "-"+name)
		} else if !bytes.Equal(data, other) {
			out = append(out, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			out = append(out, "+"+name)
		}
	}
	slices.Sort(out)
	return out
}

// group finds the session.
func (b *grokBed) group(ctx context.Context) ([]store.Session, error) {
	found, err := store.Open(ctx, []string{filepath.Join(b.home, "sessions")}, trial.Options())
	if err != nil {
		return nil, err
	}
	groups := found.Groups()
	if len(groups) != 1 || len(found.Troubles) > 0 {
		return nil, fmt.Errorf("%d sessions, and troubles %v", len(groups), found.Troubles)
	}
	return groups[0], nil
}

// repair repairs the session; without a file system on the disk, without its syncs.
func (b *grokBed) repair(fsys durable.FS) ([]*repair.Outcome, error) {
	b.t.Helper()
	b.settle()
	group, err := b.group(b.t.Context())
	b.must(err)
	if fsys == nil {
		fsys = lazy
	}
	return repair.Parts(b.t.Context(), group, repair.Options{CaseDir: b.cases, FS: fsys})
}

// undo takes the last repair back, as the program does: all of it or nothing.
func (b *grokBed) undo(fsys durable.FS) error {
	b.settle()
	if fsys == nil {
		fsys = lazy
	}
	o := repair.UndoOptions{CaseDir: b.cases, FS: fsys, Formats: trial.Options().Formats}
	dirs, err := repair.FindCases(durable.Disk, b.cases, b.dir)
	if err == nil {
		err = repair.Untouched(dirs, o)
	}
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		b.settle() // the summary does not keep its time
		if _, err := repair.Undo(context.Background(), dir, o); err != nil {
			return err
		}
	}
	return nil
}

// grokFate is what becomes of a folder, without a byte of it being written.
type grokFate struct {
	parts   []*trial.Trial
	after   grokFiles
	refused bool
}

func (f *grokFate) codes() (out []string) {
	for _, tr := range f.parts {
		for _, c := range codes(tr) {
			out = append(out, filepath.Base(tr.Before.Path)+" "+c)
		}
	}
	return out
}

func (f *grokFate) repaired() bool { return slices.ContainsFunc(f.parts, (*trial.Trial).Repaired) }

// fate plans the repair of what lies there.
func (b *grokBed) fate(ctx context.Context) (*grokFate, error) {
	group, err := b.group(ctx)
	if err != nil {
		return nil, err
	}
	outs, err := repair.Parts(ctx, group, repair.Options{CaseDir: b.cases, DryRun: true})
	f := &grokFate{after: b.now}
	why := err
	for i, o := range outs {
		name := filepath.Base(group[i].Path)
		in := b.now[name]
		out := in
		if o.Result != nil {
			if out, err = grokApply(o, in); err != nil {
				return nil, err
			}
			if f.after = f.after.with(name, out); out == nil {
				f.after[name] = []byte{}
			}
		}
		f.parts = append(f.parts, trial.Part(in, out, strings.HasSuffix(name, ".json"), o))
		f.refused = f.refused || o.Before != nil && o.Before.Verdict == verify.Refused
	}
	if why != nil {
		return f, fmt.Errorf("%w, of %v", why, f.codes())
	}
	return f, nil
}

// grokApply is the result of a plan; the files that it was made of are closed by now.
func grokApply(o *repair.Outcome, in []byte) ([]byte, error) {
	r, err := o.Plan.Apply(bytes.NewReader(in), int64(len(in)))
	if err != nil {
		return nil, err
	}
	var w bytes.Buffer
	_, err = r.WriteTo(&w)
	return w.Bytes(), err
}

var errGrokRefused = errors.New("refused")

// promise puts files there and holds what becomes of them against what is promised of every session: the result is clean, every
// whole record is kept (where not strict, kept or set aside), a second repair has nothing to do, and with twice, the same input
// gives the same bytes, also where a first run was killed after some of the files. That it is refused is an error as well.
func (b *grokBed) promise(ctx context.Context, files grokFiles, twice, strict bool) (*grokFate, error) {
	b.put(files)
	f, err := b.fate(ctx)
	if err != nil {
		return f, err
	}
	if f.refused {
		return f, fmt.Errorf("%w: %v", errGrokRefused, f.codes())
	}
	for _, tr := range f.parts {
		if len(tr.Out) == 0 && len(trial.Whole(tr.In)) == 0 {
			continue // nothing was left of it, and nothing can be told anew
		}
		if err := tr.Check(strict); err != nil && (strict || grokKept(tr) != nil) {
			return f, fmt.Errorf("%s: %w, of %v", filepath.Base(tr.Before.Path), err, f.codes())
		}
	}
	if twice {
		twin, err := b.fate(ctx)
		if err != nil {
			return f, fmt.Errorf("second run: %w", err)
		}
		if d := grokDiff(f.after, twin.after); len(d) > 0 {
			return f, fmt.Errorf("two runs over the same bytes give different results in %v", d)
		}
	}
	if !f.repaired() {
		return f, nil
	}
	if twice {
		if err := b.inOrder(ctx, files, f); err != nil {
			return f, fmt.Errorf("%w, of %v", err, f.codes())
		}
	}
	b.put(f.after)
	idle, err := b.fate(ctx)
	if err != nil {
		return f, fmt.Errorf("run over the result of %v: %w", f.codes(), err)
	}
	for _, tr := range idle.parts {
		if tr.Before.Verdict != verify.Clean || tr.Repaired() {
			return f, fmt.Errorf("a second repair finds %v, of %v", idle.codes(), f.codes())
		}
	}
	return f, nil
}

// grokKept looks for whole lines by themselves, for a file in which copies of a line stand in another order: each is kept, set aside
// or patched.
func grokKept(tr *trial.Trial) error {
	out, aside := map[string]bool{}, bytes.Join(tr.Aside(), []byte("\n"))
	for _, l := range bytes.Split(tr.Out, []byte("\n")) {
		out[string(l)] = true
	}
	at := int64(0)
	for _, l := range bytes.SplitAfter(tr.In, []byte("\n")) {
		end := at + int64(len(l))
		patched := slices.ContainsFunc(tr.Plan.Edits, func(e edit.Edit) bool { return e.At > at && e.At < end && e.Del < end-at })
		l = bytes.TrimSuffix(l, []byte("\n"))
		if len(trial.Whole(l)) > 0 && !patched && !out[string(l)] && !bytes.Contains(aside, l) {
			return fmt.Errorf("a whole record is lost: %.80s", l)
		}
		at = end
	}
	if tr.Document || tr.After.Verdict != verify.Clean {
		return errors.New("not judged here")
	}
	return nil
}

// inOrder writes the files of a plan one after the other, and each time holds what is planned of the rest against it.
func (b *grokBed) inOrder(ctx context.Context, in grokFiles, whole *grokFate) error {
	for k, tr := range whole.parts {
		if !tr.Repaired() {
			continue
		}
		b.put(in)
		rest, err := b.fate(ctx)
		if err != nil {
			return fmt.Errorf("%d parts are written: %w", k, err)
		}
		if d := grokDiff(whole.after, rest.after); len(d) > 0 {
			return fmt.Errorf("%d parts are written, and of the rest %v differ: %s", k, d, grokFirstDiff(whole.after, rest.after, d))
		}
		in = in.with(filepath.Base(tr.Before.Path), tr.Out)
	}
	if d := grokDiff(in, whole.after); len(d) > 0 {
		return fmt.Errorf("the files are written one by one, and %v differ", d)
	}
	return nil
}

// grokFirstDiff shows two texts from where they differ.
func grokFirstDiff(a, b grokFiles, names []string) string {
	one, two := a[names[0]], b[names[0]]
	n := 0
	for n < len(one) && n < len(two) && one[n] == two[n] {
		n++
	}
	return fmt.Sprintf("at %d %q and %q", n, one[n:min(n+200, len(one))], two[n:min(n+200, len(two))])
}

// replaceAll replaces texts in bytes, pair by pair.
func replaceAll(data []byte, pairs ...string) []byte {
	return []byte(strings.NewReplacer(pairs...).Replace(string(data)))
}
