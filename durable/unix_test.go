//go:build unix

package durable_test

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/sessfix/sessfix/durable"
)

func TestFlockReplaced(t *testing.T) {
	dir := t.TempDir()
	path := join(dir, "session.lock")
	put(t, path, "")
	for _, c := range []struct {
		times int
		want  error
	}{{1, nil}, {2, nil}, {3, durable.ErrLocked}} {
		taken := 0
		undo := durable.SetLockTaken(func(path string) {
			if taken++; taken <= c.times {
				if err := errors.Join(os.WriteFile(path+"2", nil, 0o600), os.Rename(path+"2", path)); err != nil {
					t.Fatal(err)
				}
			}
		})
		l, err := durable.Flock(path, "")
		undo()
		if !errors.Is(err, c.want) || (l != nil) != (c.want == nil) {
			t.Errorf("replaced %d times: %v", c.times, err)
		}
		wantBusy(t, path, l != nil)
		l.Unlock()
	}
}

func TestFlockRemoved(t *testing.T) {
	path := join(t.TempDir(), "session.lock")
	first := true
	defer durable.SetLockTaken(func(path string) {
		if first {
			os.Remove(path)
		}
		first = false
	})()
	l, err := durable.Flock(path, "")
	if err != nil {
		t.Fatal(err)
	}
	wantBusy(t, path, true)
	l.Unlock()
}

func TestPipeRefused(t *testing.T) {
	dir := t.TempDir()
	pipe := join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	_, lock := durable.Flock(pipe, "")
	_, busy := durable.FlockBusy(pipe, "")
	for what, err := range map[string]error{
		"replace": durable.Replace(durable.Disk, pipe, durable.ReplaceOptions{Suffix: ".tmp"}, writes("new")),
		"append":  durable.Append(durable.Disk, pipe, 0, []byte("new"), nil),
		"cut":     durable.CutBack(durable.Disk, pipe, 0, nil),
		"state":   durable.WriteState(durable.Disk, pipe, nil),
		"lock":    lock,
		"busy":    busy,
	} {
		if !errors.Is(err, durable.ErrNotRegular) || !strings.Contains(err.Error(), pipe) || !strings.Contains(err.Error(), "a named pipe") {
			t.Errorf("%s: %v", what, err)
		}
	}
	wantList(t, dir, "pipe")
}

func TestReplaceKeepsOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can give files away")
	}
	file := join(t.TempDir(), "log")
	put(t, file, "old")
	if err := errors.Join(os.Chown(file, 12345, 54321), os.Chmod(file, 0o640|os.ModeSetgid)); err != nil {
		t.Skip(err)
	}
	if err := durable.Replace(durable.Disk, file, durable.ReplaceOptions{Suffix: ".tmp"}, writes("new")); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if st := fi.Sys().(*syscall.Stat_t); st.Uid != 12345 || st.Gid != 54321 || fi.Mode() != 0o640|os.ModeSetgid {
		t.Errorf("owner is %d:%d, mode %v", st.Uid, st.Gid, fi.Mode())
	}
}

// TestCopyOwnerRefused gives nothing to root, which is not allowed, and is content.
func TestCopyOwnerRefused(t *testing.T) {
	root, err := os.Stat("/")
	if err != nil || os.Geteuid() == 0 || root.Sys().(*syscall.Stat_t).Uid != 0 {
		t.Skip("needs a user who may not give files away")
	}
	file := join(t.TempDir(), "log")
	put(t, file, "old")
	if err := durable.Disk.CopyMode(file, root); err != nil {
		t.Error(err)
	}
	if fi, _ := os.Stat(file); fi.Mode().Perm() != root.Mode().Perm() {
		t.Errorf("mode is %v", fi.Mode())
	}
}

func TestTokenSeesReplacement(t *testing.T) {
	dir := t.TempDir()
	a, b := join(dir, "a"), join(dir, "b")
	put(t, a, "same")
	put(t, b, "same")
	fa, _ := os.Stat(a)
	if err := os.Chtimes(b, fa.ModTime(), fa.ModTime()); err != nil {
		t.Fatal(err)
	}
	fb, _ := os.Stat(b)
	if durable.TokenOf(fa) == durable.TokenOf(fb) {
		t.Error("two files of the same size and time have the same token")
	}
}
