package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
)

// ReplaceOptions say how Replace publishes.
type ReplaceOptions struct {
	// Suffix is appended to the name of the file to get the name written beside it. The caller chooses one under
	// which the owner of the directory does not take the file for one of its own.
	Suffix string
	// KeepTime gives the new file the modification time of the old one.
	KeepTime bool
	// Like gives a file that is made the mode and owner of another one. Without it only the user may read it.
	Like fs.FileInfo
	// Check, if set, runs just before the rename, and its error stops it.
	Check func() error
}

// Replace publishes what write produces in place of target, which must exist. If target is a symlink, the file it
// leads to is replaced; another hard link to it keeps the old content. Mode and owner are kept. After a failure target is untouched and nothing is left beside it,
// unless the error is ErrUnsynced: then the new content is in place. A target that changes while the new content is
// written is left as it is, with ErrChanged.
func Replace(fsys FS, target string, o ReplaceOptions, write func(io.Writer) error) error {
	if err := replace(fsys, target, o, write); err != nil {
		return fmt.Errorf("replace %s: %w", target, err)
	}
	return nil
}

func replace(fsys FS, target string, o ReplaceOptions, write func(io.Writer) error) error {
	if o.Suffix == "" || strings.ContainsAny(o.Suffix, `/\`) {
		return fmt.Errorf("%q cannot be the suffix of a file beside it", o.Suffix)
	}
	file, old, err := resolve(fsys, target)
	if err != nil {
		return err
	}
	beside := file + o.Suffix
	if err := makeRoom(fsys, beside); err != nil {
		return err
	}
	if err := writeFile(fsys, beside, write); err != nil {
		return err
	}
	if err := dress(fsys, beside, old, o.KeepTime); err != nil {
		return withdraw(fsys, beside, err)
	}
	if o.Check != nil {
		if err := o.Check(); err != nil {
			return withdraw(fsys, beside, err)
		}
	}
	if err := unchanged(fsys, file, old); err != nil {
		return withdraw(fsys, beside, err)
	}
	if err := fsys.Rename(beside, file); err != nil {
		return withdraw(fsys, beside, err)
	}
	return syncParent(fsys, file)
}

// Create publishes what write produces under a name that must not exist, as Replace does under one that must.
func Create(fsys FS, target string, o ReplaceOptions, write func(io.Writer) error) error {
	if err := create(fsys, target, o, write); err != nil {
		return fmt.Errorf("create %s: %w", target, err)
	}
	return nil
}

func create(fsys FS, target string, o ReplaceOptions, write func(io.Writer) error) error {
	beside := target + o.Suffix
	if err := makeRoom(fsys, beside); err != nil {
		return err
	}
	if err := writeFile(fsys, beside, write); err != nil {
		return err
	}
	if o.Like != nil {
		if err := fsys.CopyMode(beside, o.Like); err != nil {
			return withdraw(fsys, beside, err)
		}
	}
	if o.Check != nil {
		if err := o.Check(); err != nil {
			return withdraw(fsys, beside, err)
		}
	}
	if _, err := fsys.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
		return withdraw(fsys, beside, errors.Join(ErrChanged, err))
	}
	if err := fsys.Rename(beside, target); err != nil {
		return withdraw(fsys, beside, err)
	}
	return syncParent(fsys, target)
}

// resolve follows target to the regular file that is to be replaced.
func resolve(fsys FS, target string) (string, fs.FileInfo, error) {
	fi, err := fsys.Lstat(target)
	if err != nil {
		return "", nil, err
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		// Only a link is resolved, because resolving fails on some Windows volumes where opening does not.
		if target, err = fsys.EvalSymlinks(target); err != nil {
			return "", nil, err
		}
		if fi, err = fsys.Lstat(target); err != nil {
			return "", nil, err
		}
	}
	return target, fi, regular(fi)
}

// dress gives the new file the looks of the old one. It comes after the file is closed, because Windows sets the time
// of the last write at the close.
func dress(fsys FS, name string, old fs.FileInfo, keepTime bool) error {
	if err := fsys.CopyMode(name, old); err != nil {
		return err
	}
	if !keepTime {
		return nil
	}
	return fsys.Chtimes(name, time.Time{}, old.ModTime())
}

func unchanged(fsys FS, name string, old fs.FileInfo) error {
	fi, err := fsys.Lstat(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return errors.Join(ErrChanged, err)
		}
		return err
	}
	if TokenOf(fi) != TokenOf(old) {
		return ErrChanged
	}
	return nil
}

// syncParent makes a name durable that has just been published or withdrawn.
func syncParent(fsys FS, name string) error {
	if err := fsys.SyncDir(filepath.Dir(name)); err != nil {
		return errors.Join(ErrUnsynced, err)
	}
	return nil
}
