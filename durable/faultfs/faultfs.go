// Package faultfs breaks the disk on purpose. It wraps a durable.FS, counts every operation that changes something, and
// makes a chosen one fail, or be the last one as in a crash.
//
// A test runs once without faults to learn the number of operations from Ops, and then once for each of them:
//
//	for n := 1; n <= ops; n++ {
//		fsys := faultfs.New(durable.Disk)
//		fsys.Fail(n, nil)
//		...
//	}
package faultfs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/sessfix/sessfix/durable"
)

var (
	// ErrFault is the error of a failing operation, unless Fail is given another one.
	ErrFault = errors.New("injected fault")
	// ErrStopped is the error of every operation from the stop on.
	ErrStopped = errors.New("stopped")
)

// FS is a file system with at most one fault in it. Operations that change something are counted from 1; a close is not
// counted and never fails.
type FS struct {
	inner durable.FS

	mu      sync.Mutex
	ops     int
	at      int   // the operation that fails, or 0
	err     error // what it fails with
	stop    bool  // whether all later ones fail too
	half    bool  // whether a failing write leaves half its bytes
	stopped bool
	trace   []string
}

// New wraps a file system, which works as before until it is told to fail.
func New(inner durable.FS) *FS { return &FS{inner: inner} }

// Fail makes the n-th operation fail with err and have no effect; nil stands for ErrFault. Those after it work.
func (f *FS) Fail(n int, err error) {
	if err == nil {
		err = ErrFault
	}
	f.set(n, err, false)
}

// Stop makes the n-th operation and everything after it, reading included, fail with ErrStopped and have no effect.
func (f *FS) Stop(n int) { f.set(n, ErrStopped, true) }

func (f *FS) set(n int, err error, stop bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.err, f.stop = n, err, stop
}

// HalfWrites makes a write that is to fail write the first half of its bytes before it does.
func (f *FS) HalfWrites() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.half = true
}

// Ops returns how many operations were tried so far, those after a stop left out.
func (f *FS) Ops() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ops
}

// Trace returns the operations in order, one string each, with the base names of the files:
//
//	create a.tmp
//	write a.tmp 120
//	rename a.tmp a: injected fault
func (f *FS) Trace() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.trace)
}

// step counts an operation and returns the error it is to fail with.
func (f *FS) step(format string, args ...any) error {
	_, err := f.count(fmt.Sprintf(format, args...))
	return err
}

// count is step for a write: it also tells whether half of the bytes are to be written all the same.
func (f *FS) count(what string) (half bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return false, ErrStopped
	}
	f.ops++
	if f.ops != f.at {
		f.trace = append(f.trace, what)
		return false, nil
	}
	f.trace = append(f.trace, what+": "+f.err.Error())
	f.stopped = f.stop
	return f.half, f.err
}

// reading returns the error of an operation that changes nothing.
func (f *FS) reading() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return ErrStopped
	}
	return nil
}

func base(name string) string { return filepath.Base(name) }

func fail(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

func (f *FS) Open(name string) (durable.File, error) {
	if err := f.reading(); err != nil {
		return nil, fail("open", name, err)
	}
	return f.wrap(f.inner.Open(name))
}

func (f *FS) OpenAppend(name string) (durable.File, error) {
	if err := f.reading(); err != nil {
		return nil, fail("open", name, err)
	}
	return f.wrap(f.inner.OpenAppend(name))
}

func (f *FS) Create(name string, perm fs.FileMode) (durable.File, error) {
	if err := f.step("create %s", base(name)); err != nil {
		return nil, fail("create", name, err)
	}
	return f.wrap(f.inner.Create(name, perm))
}

func (f *FS) wrap(inner durable.File, err error) (durable.File, error) {
	if err != nil {
		return nil, err
	}
	return &file{inner, f}, nil
}

func (f *FS) MkdirAll(name string, perm fs.FileMode) error {
	if err := f.step("mkdir %s", base(name)); err != nil {
		return fail("mkdir", name, err)
	}
	return f.inner.MkdirAll(name, perm)
}

func (f *FS) Rename(from, to string) error {
	if err := f.step("rename %s %s", base(from), base(to)); err != nil {
		return fail("rename", from, err)
	}
	return f.inner.Rename(from, to)
}

func (f *FS) Remove(name string) error {
	if err := f.step("remove %s", base(name)); err != nil {
		return fail("remove", name, err)
	}
	return f.inner.Remove(name)
}

func (f *FS) RemoveAll(name string) error {
	if err := f.step("removeall %s", base(name)); err != nil {
		return fail("removeall", name, err)
	}
	return f.inner.RemoveAll(name)
}

func (f *FS) SyncDir(name string) error {
	if err := f.step("syncdir %s", base(name)); err != nil {
		return fail("syncdir", name, err)
	}
	return f.inner.SyncDir(name)
}

func (f *FS) Chtimes(name string, atime, mtime time.Time) error {
	if err := f.step("chtimes %s", base(name)); err != nil {
		return fail("chtimes", name, err)
	}
	return f.inner.Chtimes(name, atime, mtime)
}

func (f *FS) CopyMode(name string, like fs.FileInfo) error {
	if err := f.step("copymode %s", base(name)); err != nil {
		return fail("copymode", name, err)
	}
	return f.inner.CopyMode(name, like)
}

func (f *FS) Stat(name string) (fs.FileInfo, error) {
	if err := f.reading(); err != nil {
		return nil, fail("stat", name, err)
	}
	return f.inner.Stat(name)
}

func (f *FS) Lstat(name string) (fs.FileInfo, error) {
	if err := f.reading(); err != nil {
		return nil, fail("lstat", name, err)
	}
	return f.inner.Lstat(name)
}

func (f *FS) EvalSymlinks(name string) (string, error) {
	if err := f.reading(); err != nil {
		return "", fail("evalsymlinks", name, err)
	}
	return f.inner.EvalSymlinks(name)
}

func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.reading(); err != nil {
		return nil, fail("readdir", name, err)
	}
	return f.inner.ReadDir(name)
}

func (f *FS) ReadFile(name string) ([]byte, error) {
	if err := f.reading(); err != nil {
		return nil, fail("readfile", name, err)
	}
	return f.inner.ReadFile(name)
}
