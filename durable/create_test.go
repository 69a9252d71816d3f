package durable_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/durable"
)

func TestCreateFaults(t *testing.T) {
	const content = "the content of a file that was lost\n"
	op := func(fsys durable.FS, dir string) error {
		return durable.Create(fsys, join(dir, "log"), durable.ReplaceOptions{Suffix: ".0f3a.tmp"}, writes(content))
	}
	trace := everyFault(t, func(*testing.T, string) {}, op, func(t *testing.T, dir string, f fault, err error) {
		there := false
		if _, e := os.Lstat(join(dir, "log")); e == nil {
			if there = true; get(t, join(dir, "log")) != content {
				t.Errorf("file has %q", get(t, join(dir, "log")))
			}
		}
		if there != errors.Is(err, durable.ErrUnsynced) {
			t.Errorf("the file is there: %t, but the error is %v", there, err)
		}
		if !f.stop {
			if there {
				wantList(t, dir, "log")
			} else {
				wantList(t, dir)
			}
			return
		}
		// The next run clears away what the killed one left.
		switch err := op(durable.Disk, dir); {
		case there && !errors.Is(err, durable.ErrChanged):
			t.Errorf("over a file that is there: %v", err)
		case !there && err != nil:
			t.Error(err)
		}
		wantList(t, dir, "log")
		if got := get(t, join(dir, "log")); got != content {
			t.Errorf("after the next run the file has %q", got)
		}
	})
	wantTrace(t, trace, "create log.0f3a.tmp", "write log.0f3a.tmp 36", "sync log.0f3a.tmp", "rename log.0f3a.tmp log", trace[len(trace)-1])
	if !strings.HasPrefix(trace[len(trace)-1], "syncdir ") {
		t.Errorf("at last: %s", trace[len(trace)-1])
	}
}

// Nothing is written over, and nothing is left behind.
func TestCreateStops(t *testing.T) {
	refusal := errors.New("refused")
	theirs := func(file string) error { return os.WriteFile(file, []byte("theirs"), 0o600) }
	for _, c := range []struct {
		name    string
		prepare func(file string) error
		check   func(file string) error
		write   func(io.Writer) error
		want    error
		left    []string
	}{
		{"by a file that is there", theirs, nil, writes("new"), durable.ErrChanged, []string{"log"}},
		{"by one that comes meanwhile", nil, theirs, writes("new"), durable.ErrChanged, []string{"log"}},
		{"by a folder", func(file string) error { return os.Mkdir(file, 0o700) }, nil, writes("new"), durable.ErrChanged, []string{"log"}},
		{"by a link that leads nowhere", func(file string) error { return os.Symlink("nowhere", file) }, nil, writes("new"), durable.ErrChanged, []string{"log"}},
		{"by the check", nil, func(string) error { return refusal }, writes("new"), refusal, nil},
		{"by the writer", nil, nil, func(w io.Writer) error { io.WriteString(w, "ne"); return refusal }, refusal, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file := join(dir, "log")
			if c.prepare != nil {
				if err := c.prepare(file); err != nil {
					t.Skip(err)
				}
			}
			o := durable.ReplaceOptions{Suffix: ".tmp"}
			if c.check != nil {
				o.Check = func() error { return c.check(file) }
			}
			if err := durable.Create(durable.Disk, file, o, c.write); !errors.Is(err, c.want) || !strings.Contains(err.Error(), file) {
				t.Errorf("error is %v", err)
			}
			if fi, err := os.Stat(file); err == nil && fi.Mode().IsRegular() && get(t, file) != "theirs" {
				t.Errorf("file has %q", get(t, file))
			}
			wantList(t, dir, c.left...)
		})
	}
}

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	file := join(dir, "log")
	put(t, file+".tmp", "a longer leftover of a killed run")
	checked := false
	o := durable.ReplaceOptions{Suffix: ".tmp", Check: func() error {
		checked = true
		if got := get(t, file+".tmp"); got != "new" {
			t.Errorf("check sees %q beside", got)
		}
		return nil
	}}
	if err := durable.Create(durable.Disk, file, o, writes("new")); err != nil || get(t, file) != "new" || !checked {
		t.Errorf("%v; checked %t, file has %q", err, checked, get(t, file))
	}
	wantList(t, dir, "log")
	if err := durable.Create(durable.Disk, join(join(dir, "none"), "log"), durable.ReplaceOptions{Suffix: ".tmp"}, writes("new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that is not there: %v", err)
	}
}
