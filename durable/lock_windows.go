package durable

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"
)

var (
	procCreateSemaphore  = kernel32.NewProc("CreateSemaphoreW")
	procOpenSemaphore    = kernel32.NewProc("OpenSemaphoreW")
	procReleaseSemaphore = kernel32.NewProc("ReleaseSemaphore")
)

const semaphoreModifyState = 0x2

// Lock is a lock that is held until Unlock or until the process ends, in whatever way.
type Lock struct {
	h    syscall.Handle
	path string
}

// Unlock gives the lock back. A second Unlock does nothing.
func (l *Lock) Unlock() error {
	if l == nil || l.h == 0 {
		return nil
	}
	h := l.h
	l.h = 0
	if err := errors.Join(release(h), syscall.CloseHandle(h)); err != nil {
		return fmt.Errorf("unlock %s: %w", l.path, err)
	}
	return nil
}

func flock(path, prefix string) (*Lock, error) {
	name, err := semaphoreName(path, prefix)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	// The semaphore goes away with its last handle, so that a killed owner leaves no lock behind.
	h, _, err := procCreateSemaphore.Call(0, 1, 1, uintptr(unsafe.Pointer(name)))
	if h == 0 {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := acquire(syscall.Handle(h)); err != nil {
		syscall.CloseHandle(syscall.Handle(h))
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &Lock{syscall.Handle(h), path}, nil
}

func flockBusy(path, prefix string) (bool, error) {
	name, err := semaphoreName(path, prefix)
	if err != nil {
		return false, fmt.Errorf("look at lock %s: %w", path, err)
	}
	h, _, err := procOpenSemaphore.Call(syscall.SYNCHRONIZE|semaphoreModifyState, 0, uintptr(unsafe.Pointer(name)))
	if h == 0 {
		if errors.Is(err, syscall.ERROR_FILE_NOT_FOUND) {
			return false, nil
		}
		return false, fmt.Errorf("look at lock %s: %w", path, err)
	}
	defer syscall.CloseHandle(syscall.Handle(h))
	err = acquire(syscall.Handle(h))
	if errors.Is(err, ErrLocked) {
		return true, nil
	}
	if err == nil {
		err = release(syscall.Handle(h))
	}
	if err != nil {
		return false, fmt.Errorf("look at lock %s: %w", path, err)
	}
	return false, nil
}

// semaphoreName hashes the path, because a name may hold no backslash and only 260 characters.
func semaphoreName(path, prefix string) (*uint16, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(strings.ToLower(abs)))
	return syscall.UTF16PtrFromString(`Local\` + prefix + hex.EncodeToString(sum[:]))
}

func acquire(h syscall.Handle) error {
	event, err := syscall.WaitForSingleObject(h, 0)
	switch event {
	case syscall.WAIT_OBJECT_0:
		return nil
	case syscall.WAIT_TIMEOUT:
		return ErrLocked
	}
	return err
}

func release(h syscall.Handle) error {
	ok, _, err := procReleaseSemaphore.Call(uintptr(h), 1, 0)
	if ok == 0 {
		return err
	}
	return nil
}
