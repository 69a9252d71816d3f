//go:build unix

package durable

// SetLockTaken lets a test act between taking a lock and looking at its file; it returns how to undo that.
func SetLockTaken(f func(path string)) (undo func()) {
	old := lockTaken
	lockTaken = f
	return func() { lockTaken = old }
}
