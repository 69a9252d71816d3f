package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Append adds data at the end of target, whose size must be exactly size, in one write, and syncs. If that fails, it
// cuts the file back to size; if that fails too, both errors are returned. A target that is not the file it was, also
// according to check, which runs just before the write and may be nil, is left as it is. Should another writer append in
// the very moment of the write, nothing is cut off and the error is ErrChanged.
func Append(fsys FS, target string, size int64, data []byte, check func() error) error {
	err := change(fsys, target, check, func(f File, now int64) error {
		if now != size {
			return fmt.Errorf("it has %d bytes: %w", now, ErrChanged)
		}
		return appendTo(f, size, data)
	})
	if err != nil {
		return fmt.Errorf("append to %s at %d: %w", target, size, err)
	}
	return nil
}

func appendTo(f File, size int64, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	n, err := f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		return alone(f, size+int64(n))
	}
	// Bytes of another writer must not be cut off together with the own ones.
	if other := alone(f, size+int64(n)); other != nil {
		return errors.Join(err, fmt.Errorf("not cut back: %w", other))
	}
	if cut := truncate(f, size); cut != nil {
		return errors.Join(err, fmt.Errorf("cut back to %d: %w", size, cut))
	}
	return err
}

// alone finds a writer that appended at the same moment, which no check before the write can exclude.
func alone(f File, size int64) error {
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	if fi.Size() > size {
		return fmt.Errorf("it has %d bytes instead of %d: %w", fi.Size(), size, ErrChanged)
	}
	return nil
}

// CutBack truncates target to size and syncs; it is the undo of an append. A file that is shorter already is not the
// one that was appended to.
func CutBack(fsys FS, target string, size int64, check func() error) error {
	err := change(fsys, target, check, func(f File, now int64) error {
		if now < size {
			return fmt.Errorf("it has only %d bytes: %w", now, ErrChanged)
		}
		return truncate(f, size)
	})
	if err != nil {
		return fmt.Errorf("cut %s back to %d: %w", target, size, err)
	}
	return nil
}

func truncate(f File, size int64) error {
	if err := f.Truncate(size); err != nil {
		return err
	}
	return f.Sync()
}

// change opens target, runs check, and then do with the size the file has at that moment.
func change(fsys FS, target string, check func() error, do func(f File, size int64) error) (err error) {
	fi, err := fsys.Stat(target)
	if err != nil {
		return err
	}
	// Opening a pipe would wait for whoever is at its other end.
	if err := regular(fi); err != nil {
		return err
	}
	f, err := fsys.OpenAppend(target)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if check != nil {
		if err := check(); err != nil {
			return err
		}
	}
	now, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := fsys.Stat(target)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Bytes written to a file that has just been replaced would be lost.
	if err != nil || !os.SameFile(now, named) {
		return fmt.Errorf("the name leads to another file: %w", ErrChanged)
	}
	return do(f, now.Size())
}
