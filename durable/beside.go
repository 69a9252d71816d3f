package durable

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// bufferSize keeps many small writes from becoming many system calls.
const bufferSize = 256 << 10

// writeFile creates a file of mode 0600, fills it and syncs it. Whatever goes wrong, a panic of write included, it
// takes the file away again. A file that was there before is left alone.
func writeFile(fsys FS, name string, write func(io.Writer) error) (err error) {
	f, err := fsys.Create(name, 0o600)
	if err != nil {
		return err
	}
	closed, done := false, false
	defer func() {
		if done {
			return
		}
		if !closed {
			f.Close()
		}
		err = withdraw(fsys, name, err)
	}()
	w := bufio.NewWriterSize(f, bufferSize)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	closed = true
	if err := f.Close(); err != nil {
		return err
	}
	done = true
	return nil
}

// withdraw removes a file that will not be published and returns err, joined by what kept it from being removed.
func withdraw(fsys FS, name string, err error) error {
	if rm := fsys.Remove(name); rm != nil && !errors.Is(rm, fs.ErrNotExist) {
		return errors.Join(err, fmt.Errorf("%s is left behind: %w", name, rm))
	}
	return err
}

// makeRoom removes what a killed run left under a name that is about to be written. Only a regular file can be such a
// leftover.
func makeRoom(fsys FS, name string) error {
	fi, err := fsys.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := regular(fi); err != nil {
		return fmt.Errorf("%s is in the way: %w", name, err)
	}
	return fsys.Remove(name)
}
