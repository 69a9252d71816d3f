package durable_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sessfix/sessfix/durable"
)

func TestReplaceFaults(t *testing.T) {
	const before, after = "the old content\n", "the new content, which is longer\n"
	prepare := func(t *testing.T, dir string) { put(t, join(dir, "log"), before) }
	op := func(fsys durable.FS, dir string) error {
		return durable.Replace(fsys, join(dir, "log"), durable.ReplaceOptions{Suffix: ".0f3a.tmp", KeepTime: true}, writes(after))
	}
	trace := everyFault(t, prepare, op, func(t *testing.T, dir string, f fault, err error) {
		got := get(t, join(dir, "log"))
		if got != before && got != after {
			t.Errorf("file has %q", got)
		}
		if (got == after) != errors.Is(err, durable.ErrUnsynced) {
			t.Errorf("file has %q, but the error is %v", got, err)
		}
		if !f.stop {
			wantList(t, dir, "log")
			return
		}
		// The next run clears away what the killed one left.
		if err := op(durable.Disk, dir); err != nil {
			t.Error(err)
		}
		wantList(t, dir, "log")
		if got := get(t, join(dir, "log")); got != after {
			t.Errorf("after the next run the file has %q", got)
		}
	})
	if len(trace) != 7 || trace[5] != "rename log.0f3a.tmp log" {
		t.Errorf("trace is %q", trace)
	}
}

func TestReplaceKeeps(t *testing.T) {
	dir := t.TempDir()
	file, link := join(dir, "real.log"), join(dir, "sub")
	put(t, file, "old")
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	then := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.Chtimes(file, then, then); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(link, 0o700); err != nil {
		t.Fatal(err)
	}
	link = join(link, "link.log")
	if err := os.Symlink(filepath.Join("..", "real.log"), link); err != nil {
		t.Skip(err)
	}
	checked := false
	check := func() error {
		checked = true
		if got := get(t, file+".tmp"); got != "new" {
			t.Errorf("check sees %q beside", got)
		}
		return nil
	}
	o := durable.ReplaceOptions{Suffix: ".tmp", KeepTime: true, Check: check}
	if err := durable.Replace(durable.Disk, link, o, writes("new")); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Lstat(link); err != nil || fi.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("link is now %v, %v", fi, err)
	}
	fi, err := os.Lstat(file)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && fi.Mode() != 0o640 {
		t.Errorf("mode is %v", fi.Mode())
	}
	if !fi.ModTime().Equal(then) {
		t.Errorf("time is %v", fi.ModTime())
	}
	if !checked || get(t, file) != "new" {
		t.Errorf("checked %t, file has %q", checked, get(t, file))
	}
	wantList(t, dir, "real.log", "sub")
	if err := durable.Replace(durable.Disk, file, durable.ReplaceOptions{Suffix: ".tmp"}, writes("newer")); err != nil {
		t.Fatal(err)
	}
	if fi, _ := os.Stat(file); fi.ModTime().Equal(then) {
		t.Error("time was kept without being asked for")
	}
}

func TestReplaceStops(t *testing.T) {
	refusal := errors.New("refused")
	for _, c := range []struct {
		name  string
		check func(file string) error
		write func(io.Writer) error
		want  error
		left  string
	}{
		{"by the check", func(string) error { return refusal }, writes("new"), refusal, "old"},
		{"by the writer", nil, func(w io.Writer) error { io.WriteString(w, "ne"); return refusal }, refusal, "old"},
		{"by a change", func(f string) error { return os.WriteFile(f, []byte("theirs"), 0o600) }, writes("new"), durable.ErrChanged, "theirs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file := join(dir, "log")
			put(t, file, "old")
			o := durable.ReplaceOptions{Suffix: ".tmp"}
			if c.check != nil {
				o.Check = func() error { return c.check(file) }
			}
			err := durable.Replace(durable.Disk, file, o, c.write)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), file) {
				t.Errorf("error is %v", err)
			}
			if got := get(t, file); got != c.left {
				t.Errorf("file has %q", got)
			}
			wantList(t, dir, "log")
		})
	}
}

func TestReplacePanic(t *testing.T) {
	dir := t.TempDir()
	put(t, join(dir, "log"), "old")
	func() {
		defer func() { recover() }()
		durable.Replace(durable.Disk, join(dir, "log"), durable.ReplaceOptions{Suffix: ".tmp"}, func(io.Writer) error { panic("bug") })
	}()
	wantList(t, dir, "log")
}

func TestReplaceLeftover(t *testing.T) {
	dir := t.TempDir()
	file := join(dir, "log")
	put(t, file, "old")
	put(t, file+".tmp", "a longer leftover of a killed run")
	o := durable.ReplaceOptions{Suffix: ".tmp"}
	if err := durable.Replace(durable.Disk, file, o, writes("new")); err != nil || get(t, file) != "new" {
		t.Errorf("%v; file has %q", err, get(t, file))
	}
	wantList(t, dir, "log")

	if err := os.Mkdir(file+".tmp", 0o700); err != nil {
		t.Fatal(err)
	}
	err := durable.Replace(durable.Disk, file, o, writes("newer"))
	if !errors.Is(err, durable.ErrNotRegular) || !strings.Contains(err.Error(), file+".tmp") {
		t.Errorf("error is %v", err)
	}
	wantList(t, dir, "log", "log.tmp")
}

func TestReplaceRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, suffix := range []string{"", "/x", `\x`} {
		put(t, join(dir, "log"), "old")
		if err := durable.Replace(durable.Disk, join(dir, "log"), durable.ReplaceOptions{Suffix: suffix}, writes("new")); err == nil {
			t.Errorf("suffix %q was taken", suffix)
		}
	}
	err := durable.Replace(durable.Disk, dir, durable.ReplaceOptions{Suffix: ".tmp"}, writes("new"))
	if !errors.Is(err, durable.ErrNotRegular) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "a directory") {
		t.Errorf("directory: %v", err)
	}
	err = durable.Replace(durable.Disk, join(dir, "none"), durable.ReplaceOptions{Suffix: ".tmp"}, writes("new"))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	wantList(t, dir, "log")
}
