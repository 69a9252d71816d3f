package store_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/toy"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/store"
)

const log = `{"t":"head","v":1,"id":"s1","cwd":"/w"}` + "\n" + `{"t":"note","n":0,"at":1}` + "\n"

// tree makes files; a name that ends in "/" is a directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(p, 0o755))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(p), 0o755))
		must(t, os.WriteFile(p, []byte(content), 0o644))
	}
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, from string) {
	t.Helper()
	if err := os.Symlink(to, from); err != nil {
		if runtime.GOOS == "windows" {
			t.Skip(err)
		}
		t.Fatal(err)
	}
}

func open(t *testing.T, paths ...string) *store.Found {
	t.Helper()
	found, err := store.Open(context.Background(), paths, options(nil))
	must(t, err)
	return found
}

func options(env map[string]string) store.Options {
	return store.Options{Formats: []format.Format{toy.Format{}}, Env: func(k string) string { return env[k] }}
}

// summary is what was found, as paths below a directory.
func summary(dir string, f *store.Found) string {
	var out []string
	rel := func(p string) string {
		if r, err := filepath.Rel(dir, p); err == nil {
			return filepath.ToSlash(r)
		}
		return p
	}
	for _, s := range f.Sessions {
		out = append(out, rel(s.Path))
	}
	for _, t := range f.Troubles {
		out = append(out, "!"+rel(t.Path)+": "+t.Err.Error())
	}
	return strings.Join(out, " ")
}

func TestOpenTree(t *testing.T) {
	dir := tree(t, map[string]string{
		"b/two.jsonl": log, "a/one.jsonl": log, "a/notes.txt": log, "a/other.jsonl": "{\"x\":1}\n", "empty/": "",
		"a/packed.jsonl.zst": string(scan.EncodeFrame(nil, []byte(log))), "a/deep/er/three.jsonl": log,
	})
	found := open(t, dir)
	if got := summary(dir, found); got != "a/deep/er/three.jsonl a/one.jsonl a/packed.jsonl.zst b/two.jsonl" {
		t.Error(got)
	}
	for _, s := range found.Sessions {
		want := scan.Lines
		if strings.HasSuffix(s.Path, "zst") {
			want = scan.Frames
		}
		if s.ID != "s1" || s.CWD != "/w" || s.Medium != want || s.Dialect == nil || s.Dialect.Version() != "1" || filepath.Join(dir, s.Rel) != s.Path {
			t.Errorf("%+v", s)
		}
	}
	// Looking changes nothing.
	if names, _ := filepath.Glob(filepath.Join(dir, "*", "*")); len(names) != 6 {
		t.Errorf("%q", names)
	}
}

func TestOpenExplicit(t *testing.T) {
	dir := tree(t, map[string]string{
		"a.jsonl": log, "unknown.jsonl": "{\"x\":1}\n", "plain.txt": log, "empty.jsonl": "", "named.toy.jsonl": "", "torn.toy.jsonl": `{"t":"he`,
		"garbage": "\x00\x01\x02", "dir/": "", "lies.jsonl": string(scan.EncodeFrame(nil, []byte(log))),
	})
	for name, want := range map[string]string{
		"a.jsonl":         "a.jsonl",
		"plain.txt":       "plain.txt",       // a name given by the user need not look like a log
		"lies.jsonl":      "lies.jsonl",      // nor tell the truth about how it is packed
		"named.toy.jsonl": "named.toy.jsonl", // known by its name alone: its header is lost
		"torn.toy.jsonl":  "torn.toy.jsonl",
		"unknown.jsonl":   "!unknown.jsonl: " + store.ErrUnknown.Error(),
		"empty.jsonl":     "!empty.jsonl: " + store.ErrUnknown.Error(),
		"garbage":         "!garbage: " + store.ErrUnknown.Error(),
		"dir":             "!dir: " + store.ErrNoSession.Error(),
		"missing":         "!missing: " + syscall.ENOENT.Error(),
	} {
		if got := summary(dir, open(t, filepath.Join(dir, name))); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if s := open(t, filepath.Join(dir, "lies.jsonl")).Sessions[0]; s.Medium != scan.Frames {
		t.Errorf("%+v", s)
	}
	// One bad path does not hide the others.
	if got := summary(dir, open(t, filepath.Join(dir, "missing"), filepath.Join(dir, "a.jsonl"))); got != "a.jsonl !missing: "+syscall.ENOENT.Error() {
		t.Error(got)
	}
}

func TestOpenDuplicates(t *testing.T) {
	dir := tree(t, map[string]string{"a/one.jsonl": log, "b/": ""})
	link(t, filepath.Join(dir, "a", "one.jsonl"), filepath.Join(dir, "b", "same.jsonl"))
	link(t, filepath.Join(dir, "a"), filepath.Join(dir, "c"))
	one := filepath.Join(dir, "a", "one.jsonl")
	for name, paths := range map[string][]string{
		"a tree with links":      {dir},
		"a file twice":           {one, one},
		"a file and its tree":    {one, dir},
		"a tree twice":           {filepath.Join(dir, "a"), filepath.Join(dir, "c")},
		"a link and what it is":  {filepath.Join(dir, "b", "same.jsonl"), one},
		"the same, roundabout":   {one, filepath.Join(dir, "a", "..", "a", "one.jsonl")},
		"a tree and one of ours": {dir, filepath.Join(dir, "a")},
	} {
		found := open(t, paths...)
		if len(found.Sessions) != 1 {
			t.Errorf("%s: %s", name, summary(dir, found))
		}
		for _, tr := range found.Troubles {
			t.Errorf("%s: %v", name, tr)
		}
	}
}

func TestOpenLoop(t *testing.T) {
	dir := tree(t, map[string]string{"a/b/one.jsonl": log})
	link(t, filepath.Join(dir, "a"), filepath.Join(dir, "a", "b", "up"))
	link(t, "self.jsonl", filepath.Join(dir, "a", "self.jsonl"))
	link(t, "nowhere", filepath.Join(dir, "a", "broken.jsonl"))
	link(t, "nowhere", filepath.Join(dir, "a", "broken.txt"))
	found := open(t, dir)
	if len(found.Sessions) != 1 {
		t.Error(summary(dir, found))
	}
	loops, broken := 0, 0
	for _, tr := range found.Troubles {
		switch base := filepath.Base(tr.Path); {
		case errors.Is(tr.Err, store.ErrLoop) && base == "up":
			loops++
		case base == "self.jsonl" || base == "broken.jsonl":
			broken++
		default:
			t.Error(tr)
		}
	}
	if loops != 1 || broken != 2 {
		t.Error(found.Troubles)
	}
}

func TestOpenNoRegular(t *testing.T) {
	mkfifo, err := exec.LookPath("mkfifo")
	if err != nil {
		t.Skip("no named pipes here")
	}
	dir := tree(t, map[string]string{"one.jsonl": log})
	must(t, exec.Command(mkfifo, filepath.Join(dir, "pipe.jsonl"), filepath.Join(dir, "pipe")).Run())
	// Neither must wait for somebody at the other end.
	if got := summary(dir, open(t, dir)); got != "one.jsonl !pipe.jsonl: "+store.ErrNotRegular.Error() {
		t.Error(got)
	}
	if got := summary(dir, open(t, filepath.Join(dir, "pipe"))); got != "!pipe: "+store.ErrNotRegular.Error() {
		t.Error(got)
	}
	files, troubles := store.Files(context.Background(), []string{dir})
	if len(files) != 1 || len(troubles) != 1 {
		t.Errorf("%q %v", files, troubles)
	}
}

func TestOpenNoPermission(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("everything is permitted")
	}
	dir := tree(t, map[string]string{"one.jsonl": log, "secret.jsonl": log, "closed/two.jsonl": log})
	must(t, os.Chmod(filepath.Join(dir, "secret.jsonl"), 0))
	must(t, os.Chmod(filepath.Join(dir, "closed"), 0))
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "closed"), 0o700) })
	found := open(t, dir)
	if len(found.Sessions) != 1 || len(found.Troubles) != 2 {
		t.Fatal(summary(dir, found))
	}
	for _, tr := range found.Troubles {
		if !errors.Is(tr.Err, fs.ErrPermission) {
			t.Error(tr)
		}
	}
}

// A file in a tree that nobody knows is passed over; one that cannot be read is not.
func TestOpenHomes(t *testing.T) {
	dir := tree(t, map[string]string{"home/toys/a.toy.jsonl": log})
	for home, want := range map[string]string{filepath.Join(dir, "home"): "home/toys/a.toy.jsonl", filepath.Join(dir, "none"): "", "": ""} {
		found, err := store.Open(context.Background(), nil, options(map[string]string{"TOY_HOME": home}))
		must(t, err)
		if got := summary(dir, found); got != want {
			t.Errorf("%s: %s", home, got)
		}
	}
}

func TestSurvey(t *testing.T) {
	dir := tree(t, map[string]string{"x/toys/a.toy.jsonl": log, "x/other/a.toy.jsonl": log, "x/toys/a.toy.jsonl.next": "", "y/toys/a.toy.jsonl": log})
	found := open(t, dir)
	if len(found.Sessions) != 3 || len(found.Roots) != 1 {
		t.Fatalf("%s %+v", summary(dir, found), found.Roots)
	}
	r := found.Roots[0]
	if r.Path != filepath.Join(dir, "x") || len(r.Findings) != 1 || r.Findings[0].Code != finding.SessionIDDuplicate {
		t.Errorf("%+v", r)
	}
	beside := 0
	for _, s := range found.Sessions {
		for _, f := range s.Beside() {
			if f.Code == finding.GenerationBeside && s.Rel == filepath.Join("x", "toys", "a.toy.jsonl") {
				beside++
			}
		}
	}
	if beside != 1 {
		t.Errorf("%d findings beside", beside)
	}
}

func TestUnknownVersion(t *testing.T) {
	dir := tree(t, map[string]string{"a.jsonl": strings.Replace(log, `"v":1`, `"v":9`, 1)})
	found := open(t, dir)
	if len(found.Sessions) != 1 || found.Sessions[0].Unknown == nil || !found.Sessions[0].Unknown.Newer || found.Sessions[0].Dialect != nil {
		t.Fatalf("%+v", found)
	}
	s := open(t, tree(t, map[string]string{"a.jsonl": log})).Sessions[0]
	must(t, s.Aim("9"))
	if s.Dialect.Version() != "2" {
		t.Errorf("aimed at version %s", s.Dialect.Version())
	}
	if err := s.Aim("8"); err == nil {
		t.Error("a release that nobody knows can be aimed at")
	}
}

func TestOpenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := tree(t, map[string]string{"a.jsonl": log})
	for _, p := range []string{dir, filepath.Join(dir, "a.jsonl")} {
		if _, err := store.Open(ctx, []string{p}, options(nil)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// Whose a file is must not depend on how large its first record or frame is.
func TestRecogniseLarge(t *testing.T) {
	long := `{"t":"head","v":1,"id":"s1","cwd":"/` + strings.Repeat("w", 100<<10) + `"}` + "\n"
	tail := bytes.Repeat([]byte(`{"t":"note","n":0,"at":1}`+"\n"), 1000)
	for name, file := range map[string][]byte{
		"long header":       append([]byte(long), tail...),
		"packed with it":    scan.EncodeFrame(nil, slices.Concat([]byte(long), tail)),
		"behind a torn one": slices.Concat([]byte(`{"t":"he`+"\n"), tail),
	} {
		s, err := store.Recognise(context.Background(), "x.jsonl", bytes.NewReader(file), int64(len(file)), options(nil))
		if err != nil || s.Format == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
