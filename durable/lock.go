package durable

import "errors"

// ErrLocked says that somebody else holds a lock.
var ErrLocked = errors.New("held by another process")

// Flock takes the lock that is known by a side file, without waiting; ErrLocked says that somebody has it. On unix it
// is the kernel's lock on that file, which is created with mode 0600 if it is not there and is never removed: a lock
// file that goes away lets two processes hold the lock. On Windows it is a semaphore named after the path, and there
// is no file.
func Flock(path, semaphorePrefix string) (*Lock, error) { return flock(path, semaphorePrefix) }

// FlockBusy reports whether somebody, this process included, holds the lock now. It creates nothing.
func FlockBusy(path, semaphorePrefix string) (bool, error) { return flockBusy(path, semaphorePrefix) }
