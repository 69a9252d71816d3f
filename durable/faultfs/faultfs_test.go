package faultfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/durable/faultfs"
)

// all does each operation that changes something once, goes on whatever happens, and returns how each ended.
func all(fsys *faultfs.FS, dir string) []error {
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	var errs []error
	did := func(err error) { errs = append(errs, err) }
	did(fsys.MkdirAll(filepath.Join(dir, "d"), 0o700))
	f, err := fsys.Create(a, 0o600)
	did(err)
	if err == nil {
		_, err = f.Write([]byte("12345678"))
		did(err)
		did(f.Sync())
		did(f.Truncate(2))
		f.Close()
		fi, err := os.Stat(a)
		if err != nil {
			panic(err)
		}
		did(fsys.CopyMode(a, fi))
	}
	did(fsys.Chtimes(a, time.Time{}, time.Now()))
	did(fsys.Rename(a, b))
	did(fsys.SyncDir(dir))
	did(fsys.Remove(b))
	did(fsys.RemoveAll(filepath.Join(dir, "d")))
	return errs
}

func TestTrace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	fsys := faultfs.New(durable.Disk)
	for _, err := range all(fsys, dir) {
		if err != nil {
			t.Error(err)
		}
	}
	want := []string{"mkdir d", "create a", "write a 8", "sync a", "truncate a 2", "copymode a", "chtimes a",
		"rename a b", "syncdir home", "remove b", "removeall d"}
	if !slices.Equal(fsys.Trace(), want) || fsys.Ops() != len(want) {
		t.Errorf("trace is %q", fsys.Trace())
	}
}

func TestStop(t *testing.T) {
	for n := 1; n <= 11; n++ {
		fsys := faultfs.New(durable.Disk)
		fsys.Stop(n)
		for i, err := range all(fsys, filepath.Join(t.TempDir(), "home")) {
			if errors.Is(err, faultfs.ErrStopped) != (i+1 >= n) {
				t.Errorf("stop at %d: operation %d: %v", n, i+1, err)
			}
		}
		if fsys.Ops() != n {
			t.Errorf("stop at %d: counted %d", n, fsys.Ops())
		}
		if _, err := fsys.ReadFile("a"); !errors.Is(err, faultfs.ErrStopped) {
			t.Errorf("reading goes on: %v", err)
		}
	}
}

func TestFailOnce(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	fsys := faultfs.New(durable.Disk)
	fsys.Fail(2, fs.ErrPermission)
	fsys.HalfWrites()
	f, err := fsys.Create(name, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n, err := f.Write([]byte("12345678")); n != 4 || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("wrote %d, %v", n, err)
	}
	if n, err := f.Write([]byte("abcd")); n != 4 || err != nil {
		t.Errorf("wrote %d, %v", n, err)
	}
	if data, err := fsys.ReadFile(name); string(data) != "1234abcd" || err != nil {
		t.Errorf("read %q, %v", data, err)
	}
}
