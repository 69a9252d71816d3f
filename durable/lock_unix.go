//go:build unix

package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Lock is a lock that is held until Unlock or until the process ends, in whatever way.
type Lock struct{ f *os.File }

// Unlock gives the lock back. A second Unlock does nothing.
func (l *Lock) Unlock() error {
	if l == nil || l.f == nil {
		return nil
	}
	f := l.f
	l.f = nil
	if err := f.Close(); err != nil {
		return fmt.Errorf("unlock %s: %w", f.Name(), err)
	}
	return nil
}

// flockTries is how often a lock is taken anew when its file turns out to have been replaced.
const flockTries = 3

// lockTaken is called between taking the lock and looking whether its file is still in place.
var lockTaken = func(path string) {}

func flock(path, _ string) (*Lock, error) {
	for range flockTries {
		f, err := openLock(path)
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if err := flockFile(f, syscall.LOCK_EX); err != nil {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		lockTaken(path)
		same, err := inPlace(f, path)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if same {
			return &Lock{f}, nil
		}
		f.Close()
	}
	return nil, fmt.Errorf("lock %s: replaced again and again: %w", path, ErrLocked)
}

func openLock(path string) (*os.File, error) {
	fi, err := os.Stat(path)
	if err == nil {
		err = regular(fi)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}

// inPlace reports whether the locked file is still the one others will find under its name.
func inPlace(f *os.File, path string) (bool, error) {
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	theirs, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, theirs), err
}

func flockFile(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch err {
		case syscall.EINTR:
		case syscall.EWOULDBLOCK:
			return ErrLocked
		default:
			return err
		}
	}
}

// flockBusy asks for a shared lock, so that two who only look do not take each other for an owner. It gives the lock
// back at once, but somebody who wants it in that very moment is told that it is taken.
func flockBusy(path, _ string) (bool, error) {
	fi, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = regular(fi)
	}
	if err != nil {
		return false, fmt.Errorf("look at lock %s: %w", path, err)
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at lock %s: %w", path, err)
	}
	defer f.Close()
	switch err := flockFile(f, syscall.LOCK_SH); {
	case errors.Is(err, ErrLocked):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("look at lock %s: %w", path, err)
	}
	return false, nil
}
