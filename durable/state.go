package durable

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
)

// WriteNew writes a new file of mode 0600 and makes it and its name durable. An existing file is refused and left
// alone. The file appears under its name before it is complete: a kill may leave a part of it.
func WriteNew(fsys FS, name string, write func(io.Writer) error) error {
	if err := writeFile(fsys, name, write); err != nil {
		return fmt.Errorf("write new file %s: %w", name, err)
	}
	if err := fsys.SyncDir(filepath.Dir(name)); err != nil {
		// Nobody relies on the file yet, so that it can still be taken back.
		return fmt.Errorf("write new file %s: %w", name, withdraw(fsys, name, err))
	}
	return nil
}

// WriteState replaces or creates a small file of mode 0600, which is the old one or the new one at any instant. It is
// for files of one's own that only one process writes: the name written beside is always name.tmp.
func WriteState(fsys FS, name string, data []byte) error {
	if err := writeState(fsys, name, data); err != nil {
		return fmt.Errorf("write state %s: %w", name, err)
	}
	return nil
}

func writeState(fsys FS, name string, data []byte) error {
	fi, err := fsys.Lstat(name)
	if err == nil {
		err = regular(fi)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	beside := name + ".tmp"
	if err := makeRoom(fsys, beside); err != nil {
		return err
	}
	err = writeFile(fsys, beside, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(data))
		return err
	})
	if err != nil {
		return err
	}
	if err := fsys.Rename(beside, name); err != nil {
		return withdraw(fsys, beside, err)
	}
	return syncParent(fsys, name)
}

// MkdirAllSync makes a directory of mode 0700 and whatever is missing above it, and makes each new name durable.
func MkdirAllSync(fsys FS, name string) error {
	var missing []string
	for dir := filepath.Clean(name); ; dir = filepath.Dir(dir) {
		fi, err := fsys.Stat(dir)
		if err == nil {
			if !fi.IsDir() {
				return fmt.Errorf("make directory %s: %s is not a directory", name, dir)
			}
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return fmt.Errorf("make directory %s: %w", name, err)
		}
		missing = append(missing, dir)
	}
	for i := len(missing) - 1; i >= 0; i-- {
		if err := fsys.MkdirAll(missing[i], 0o700); err != nil {
			return fmt.Errorf("make directory %s: %w", name, err)
		}
		if err := syncParent(fsys, missing[i]); err != nil {
			return fmt.Errorf("make directory %s: %w", missing[i], err)
		}
	}
	return nil
}
