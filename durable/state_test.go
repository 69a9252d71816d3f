package durable_test

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/durable/faultfs"
)

func TestWriteStateFaults(t *testing.T) {
	const before, after = `{"state":"prepared"}`, `{"state":"published"}`
	op := func(fsys durable.FS, dir string) error {
		return durable.WriteState(fsys, join(dir, "case.json"), []byte(after))
	}
	check := func(t *testing.T, dir string, f fault, err error) {
		names := list(t, dir)
		got := ""
		if len(names) > 0 && names[0] == "case.json" {
			got = get(t, join(dir, "case.json"))
		}
		if got != before && got != after && got != "" {
			t.Errorf("file has %q", got)
		}
		if (got == after) != errors.Is(err, durable.ErrUnsynced) {
			t.Errorf("file has %q, but the error is %v", got, err)
		}
		if !f.stop && strings.Contains(strings.Join(names, " "), ".tmp") {
			t.Errorf("left behind: %q", names)
		}
		if err := op(durable.Disk, dir); err != nil {
			t.Error(err)
		}
		wantList(t, dir, "case.json")
	}
	t.Run("replaced", func(t *testing.T) {
		trace := everyFault(t, func(t *testing.T, dir string) { put(t, join(dir, "case.json"), before) }, op, check)
		wantTrace(t, trace[:4], "create case.json.tmp", "write case.json.tmp 21", "sync case.json.tmp", "rename case.json.tmp case.json")
	})
	t.Run("created", func(t *testing.T) {
		everyFault(t, func(*testing.T, string) {}, op, check)
	})
}

func TestWriteStateRefuses(t *testing.T) {
	dir := t.TempDir()
	err := durable.WriteState(durable.Disk, dir, []byte("{}"))
	if !errors.Is(err, durable.ErrNotRegular) || !strings.Contains(err.Error(), dir) {
		t.Errorf("directory: %v", err)
	}
}

func TestWriteNewFaults(t *testing.T) {
	const content = "quarantined bytes"
	op := func(fsys durable.FS, dir string) error {
		return durable.WriteNew(fsys, join(dir, "bytes"), writes(content))
	}
	everyFault(t, func(*testing.T, string) {}, op, func(t *testing.T, dir string, f fault, err error) {
		if !f.stop {
			wantList(t, dir)
			return
		}
		for _, name := range list(t, dir) {
			if got := get(t, join(dir, name)); name != "bytes" || !strings.HasPrefix(content, got) {
				t.Errorf("%s has %q", name, got)
			}
		}
	})
}

func TestWriteNew(t *testing.T) {
	dir := t.TempDir()
	file := join(dir, "bytes")
	if err := durable.WriteNew(durable.Disk, file, writes("first")); err != nil {
		t.Fatal(err)
	}
	if fi, _ := os.Stat(file); runtime.GOOS != "windows" && fi.Mode() != 0o600 {
		t.Errorf("mode is %v", fi.Mode())
	}
	err := durable.WriteNew(durable.Disk, file, writes("second"))
	if !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), file) || get(t, file) != "first" {
		t.Errorf("%v; file has %q", err, get(t, file))
	}
}

func TestMkdirAllSync(t *testing.T) {
	dir := t.TempDir()
	deep := join(join(join(dir, "a"), "b"), "c")
	fsys := faultfs.New(durable.Disk)
	if err := durable.MkdirAllSync(fsys, deep); err != nil {
		t.Fatal(err)
	}
	trace := fsys.Trace()
	wantTrace(t, trace[2:], "mkdir b", "syncdir a", "mkdir c", "syncdir b")
	if fi, err := os.Stat(deep); err != nil || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", fi, err)
	}
	if err := durable.MkdirAllSync(fsys, deep); err != nil || fsys.Ops() != 6 {
		t.Errorf("the second time: %v, %q", err, fsys.Trace())
	}
	put(t, join(dir, "file"), "")
	if err := durable.MkdirAllSync(durable.Disk, join(dir, "file")); err == nil {
		t.Error("a file was taken for a directory")
	}
	if err := durable.MkdirAllSync(durable.Disk, join(join(dir, "file"), "sub")); err == nil {
		t.Error("a directory was made in a file")
	}
	for n := 1; n <= 6; n++ {
		broken := faultfs.New(durable.Disk)
		broken.Fail(n, nil)
		other := join(join(join(t.TempDir(), "a"), "b"), "c")
		if err := durable.MkdirAllSync(broken, other); !errors.Is(err, faultfs.ErrFault) {
			t.Errorf("fault %d: %v", n, err)
		}
	}
}
