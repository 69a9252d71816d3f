package durable_test

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"github.com/sessfix/sessfix/durable"
)

func wantBusy(t *testing.T, path string, want bool) {
	t.Helper()
	if busy, err := durable.FlockBusy(path, testPrefix); err != nil || busy != want {
		t.Errorf("busy is %t, want %t; error %v", busy, want, err)
	}
}

func TestFlock(t *testing.T) {
	dir := t.TempDir()
	path := join(dir, "session.lock")
	wantBusy(t, path, false)
	wantList(t, dir)
	l, err := durable.Flock(path, testPrefix)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		if fi, err := os.Stat(path); err != nil || fi.Mode() != 0o600 {
			t.Errorf("%v, %v", fi, err)
		}
	}
	wantBusy(t, path, true)
	if _, err := durable.Flock(path, testPrefix); !errors.Is(err, durable.ErrLocked) {
		t.Errorf("the second lock: %v", err)
	}
	for range 2 {
		if err := l.Unlock(); err != nil {
			t.Error(err)
		}
	}
	wantBusy(t, path, false)
	if l, err = durable.Flock(path, testPrefix); err != nil {
		t.Fatal(err)
	}
	l.Unlock()
	l = nil
	if err := l.Unlock(); err != nil {
		t.Error(err)
	}
}

func TestFlockOtherProcess(t *testing.T) {
	path := join(t.TempDir(), "session.lock")
	_, end := child(t, "lock", path)
	wantBusy(t, path, true)
	if _, err := durable.Flock(path, testPrefix); !errors.Is(err, durable.ErrLocked) {
		t.Errorf("error is %v", err)
	}
	end()
	wantBusy(t, path, false)
	l, err := durable.Flock(path, testPrefix)
	if err != nil {
		t.Fatal(err)
	}
	l.Unlock()
}

func TestFlockKilled(t *testing.T) {
	path := join(t.TempDir(), "session.lock")
	cmd, end := child(t, "lock", path)
	cmd.Process.Kill()
	end()
	wantBusy(t, path, false)
}
