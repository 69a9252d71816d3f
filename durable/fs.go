package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

var (
	// ErrChanged says that a file is no longer the one that was looked at: somebody else writes.
	ErrChanged = errors.New("changed by someone else in the meantime")
	// ErrNotRegular says that a name leads to a directory, a pipe, a device or the like.
	ErrNotRegular = errors.New("not a regular file")
	// ErrUnsynced says that the change is in place but may not survive a power failure.
	ErrUnsynced = errors.New("in place, but its directory could not be synced")
)

// FS is every operation by which this package changes or reads the disk.
type FS interface {
	// Open opens a file for reading.
	Open(name string) (File, error)
	// Create makes a file that must not exist yet and opens it for reading and writing.
	Create(name string, perm fs.FileMode) (File, error)
	// OpenAppend opens an existing file for reading and writing, positioned at its end.
	OpenAppend(name string) (File, error)
	MkdirAll(name string, perm fs.FileMode) error
	Rename(from, to string) error
	Remove(name string) error
	RemoveAll(name string) error
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	// EvalSymlinks returns the path without any symlink in it.
	EvalSymlinks(name string) (string, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	ReadFile(name string) ([]byte, error)
	// SyncDir makes the names in a directory durable. It does nothing on Windows, where Rename writes through.
	SyncDir(name string) error
	// Chtimes sets the times of a file; a zero time is left as it is.
	Chtimes(name string, atime, mtime time.Time) error
	// CopyMode gives a file the mode of another and, where the system permits it, the owner.
	CopyMode(name string, like fs.FileInfo) error
}

// File is an open file of an FS.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Closer
	Sync() error
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
	Name() string
}

// Disk is the real file system.
var Disk FS = disk{}

// disk hands out *os.File as it is, so that a copy between two of them can be done by the kernel.
type disk struct{}

func (disk) Open(name string) (File, error) { return opened(os.Open(name)) }

func (disk) Create(name string, perm fs.FileMode) (File, error) {
	return opened(os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm))
}

func (disk) OpenAppend(name string) (File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|appendFlag, 0)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekEnd); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// opened keeps a nil *os.File from becoming a File that is not nil.
func opened(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (disk) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(name, perm) }
func (disk) Rename(from, to string) error                 { return rename(from, to) }
func (disk) Remove(name string) error                     { return os.Remove(name) }
func (disk) RemoveAll(name string) error                  { return os.RemoveAll(name) }
func (disk) Stat(name string) (fs.FileInfo, error)        { return os.Stat(name) }
func (disk) Lstat(name string) (fs.FileInfo, error)       { return os.Lstat(name) }
func (disk) EvalSymlinks(name string) (string, error)     { return filepath.EvalSymlinks(name) }
func (disk) ReadDir(name string) ([]fs.DirEntry, error)   { return os.ReadDir(name) }
func (disk) ReadFile(name string) ([]byte, error)         { return os.ReadFile(name) }
func (disk) SyncDir(name string) error                    { return syncDir(name) }

func (disk) Chtimes(name string, atime, mtime time.Time) error { return os.Chtimes(name, atime, mtime) }

// modeBits is what a chmod can set.
const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

func (disk) CopyMode(name string, like fs.FileInfo) error {
	// The owner comes first, because a change of owner clears the set-id bits.
	if err := copyOwner(name, like); err != nil {
		return err
	}
	have, err := os.Lstat(name)
	if err != nil {
		return err
	}
	// Some file systems refuse any chmod, also one that would change nothing.
	if have.Mode()&modeBits == like.Mode()&modeBits {
		return nil
	}
	return os.Chmod(name, like.Mode()&modeBits)
}

// regular refuses what is not a regular file and says what it is instead.
func regular(fi fs.FileInfo) error {
	m := fi.Mode()
	what := "something else"
	switch {
	case m.IsRegular():
		return nil
	case m.IsDir():
		what = "a directory"
	case m&fs.ModeSymlink != 0:
		what = "a symbolic link"
	case m&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case m&fs.ModeSocket != 0:
		what = "a socket"
	case m&fs.ModeDevice != 0:
		what = "a device"
	}
	return fmt.Errorf("%s, %w", what, ErrNotRegular)
}
