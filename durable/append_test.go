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

const oldLog, appendix = "one\ntwo\n", "three\nfour\n"

func TestAppendFaults(t *testing.T) {
	prepare := func(t *testing.T, dir string) { put(t, join(dir, "log"), oldLog) }
	op := func(fsys durable.FS, dir string) error {
		return durable.Append(fsys, join(dir, "log"), int64(len(oldLog)), []byte(appendix), nil)
	}
	trace := everyFault(t, prepare, op, func(t *testing.T, dir string, f fault, err error) {
		got := get(t, join(dir, "log"))
		rest, ok := strings.CutPrefix(got, oldLog)
		if !ok || !strings.HasPrefix(appendix, rest) {
			t.Errorf("file has %q", got)
		}
		if !f.stop && got != oldLog {
			t.Errorf("not cut back: %q", got)
		}
		if f.stop && f.n == 1 && f.half != (len(rest) == len(appendix)/2) {
			t.Errorf("the half write left %q", rest)
		}
		if f.stop && !(errors.Is(err, faultfs.ErrStopped) && strings.Contains(err.Error(), "cut back")) {
			t.Errorf("the failed cut is not reported: %v", err)
		}
		wantList(t, dir, "log")
	})
	wantTrace(t, trace, "write log 11", "sync log")
}

func TestAppendChecks(t *testing.T) {
	dir := t.TempDir()
	file := join(dir, "log")
	size := int64(len(oldLog))
	for _, c := range []struct {
		name  string
		size  int64
		check func() error
		want  error
		left  string
	}{
		{"wrong size", size - 1, nil, durable.ErrChanged, oldLog},
		{"refused", size, func() error { return os.ErrInvalid }, os.ErrInvalid, oldLog},
		{"grown", size, func() error { return appendTheirs(file) }, durable.ErrChanged, oldLog + "theirs"},
		{"replaced", size, func() error {
			return errors.Join(os.WriteFile(file+"2", []byte("87654321"), 0o600), os.Rename(file+"2", file))
		}, durable.ErrChanged, "87654321"},
		{"removed", size, func() error { return os.Remove(file) }, durable.ErrChanged, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && (c.name == "replaced" || c.name == "removed") {
				t.Skip("an open file keeps its name on Windows")
			}
			put(t, file, oldLog)
			err := durable.Append(durable.Disk, file, c.size, []byte(appendix), c.check)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), file) {
				t.Errorf("error is %v", err)
			}
			if c.left == "" {
				return
			}
			if got := get(t, file); got != c.left {
				t.Errorf("file has %q", got)
			}
		})
	}
}

func appendTheirs(file string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("theirs")
	return errors.Join(err, f.Close())
}

// racing appends for somebody else right before each write.
type racing struct{ durable.FS }

func (r racing) OpenAppend(name string) (durable.File, error) {
	f, err := r.FS.OpenAppend(name)
	return racingFile{f}, err
}

type racingFile struct{ durable.File }

func (r racingFile) Write(p []byte) (int, error) {
	if err := appendTheirs(r.Name()); err != nil {
		return 0, err
	}
	return r.File.Write(p)
}

func TestAppendRace(t *testing.T) {
	file := join(t.TempDir(), "log")
	put(t, file, oldLog)
	err := durable.Append(racing{durable.Disk}, file, int64(len(oldLog)), []byte(appendix), nil)
	if appendHere := oldLog + "theirs" + appendix; !errors.Is(err, durable.ErrChanged) || get(t, file) != appendHere {
		t.Errorf("%v; file has %q", err, get(t, file))
	}

	put(t, file, oldLog)
	failing := faultfs.New(durable.Disk)
	failing.Fail(1, nil)
	err = durable.Append(racing{failing}, file, int64(len(oldLog)), []byte(appendix), nil)
	if !errors.Is(err, faultfs.ErrFault) || !errors.Is(err, durable.ErrChanged) || get(t, file) != oldLog+"theirs" {
		t.Errorf("%v; file has %q", err, get(t, file))
	}
}

func TestAppendNothing(t *testing.T) {
	file := join(t.TempDir(), "log")
	put(t, file, oldLog)
	fsys := faultfs.New(durable.Disk)
	if err := durable.Append(fsys, file, int64(len(oldLog)), nil, nil); err != nil {
		t.Error(err)
	}
	wantTrace(t, fsys.Trace())
}

func TestCutBackFaults(t *testing.T) {
	prepare := func(t *testing.T, dir string) { put(t, join(dir, "log"), oldLog+appendix) }
	op := func(fsys durable.FS, dir string) error {
		return durable.CutBack(fsys, join(dir, "log"), int64(len(oldLog)), nil)
	}
	trace := everyFault(t, prepare, op, func(t *testing.T, dir string, f fault, err error) {
		if got := get(t, join(dir, "log")); got != oldLog && got != oldLog+appendix {
			t.Errorf("file has %q", got)
		}
		if err := op(durable.Disk, dir); err != nil || get(t, join(dir, "log")) != oldLog {
			t.Errorf("the next run: %v; file has %q", err, get(t, join(dir, "log")))
		}
	})
	wantTrace(t, trace, "truncate log 8", "sync log")
}

func TestCutBackRefuses(t *testing.T) {
	dir := t.TempDir()
	file := join(dir, "log")
	put(t, file, oldLog)
	if err := durable.CutBack(durable.Disk, file, 100, nil); !errors.Is(err, durable.ErrChanged) {
		t.Errorf("short file: %v", err)
	}
	if err := durable.CutBack(durable.Disk, file, 1, func() error { return os.ErrInvalid }); !errors.Is(err, os.ErrInvalid) {
		t.Errorf("check: %v", err)
	}
	if err := durable.CutBack(durable.Disk, join(dir, "none"), 0, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if err := durable.CutBack(durable.Disk, dir, 0, nil); !errors.Is(err, durable.ErrNotRegular) || !strings.Contains(err.Error(), dir) {
		t.Errorf("directory: %v", err)
	}
	if got := get(t, file); got != oldLog {
		t.Errorf("file has %q", got)
	}
}

func TestAppendThroughLink(t *testing.T) {
	dir := t.TempDir()
	put(t, join(dir, "log"), oldLog)
	if err := os.Symlink("log", join(dir, "link")); err != nil {
		t.Skip(err)
	}
	if err := durable.Append(durable.Disk, join(dir, "link"), int64(len(oldLog)), []byte(appendix), nil); err != nil {
		t.Fatal(err)
	}
	if got := get(t, join(dir, "log")); got != oldLog+appendix {
		t.Errorf("file has %q", got)
	}
}
