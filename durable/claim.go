package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Claim makes a lock that is a file: who makes it has the lock. ErrLocked says that the file is there. What a killed process left
// in it goes with it.
func Claim(fsys FS, path string, content []byte) error {
	f, err := fsys.Create(path, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return ErrLocked
	}
	if err != nil {
		return fmt.Errorf("make the lock %s: %w", path, err)
	}
	_, err = f.Write(content)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return withdraw(fsys, path, fmt.Errorf("write the lock %s: %w", path, err))
	}
	return nil
}

// Alive tells whether a process lives that began at a time, as the system counts it; "" = not known.
func Alive(pid int, start string) bool { return alive(pid, start) }

// Self is this process, and when it began as the system counts it, "" where it does not say.
func Self() (pid int, start string) {
	pid = os.Getpid()
	start, _ = started(pid)
	return pid, start
}
