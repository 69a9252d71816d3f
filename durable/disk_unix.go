//go:build unix

package durable

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// appendFlag lets the kernel find the end anew at each write, so that bytes another writer added since the file was
// opened are never overwritten.
const appendFlag = os.O_APPEND

func rename(from, to string) error { return os.Rename(from, to) }

func syncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Sync()
	// Some network and user-space file systems have no sync for directories; nothing can be done about it there.
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}

// copyOwner gives a file the owner and group of another. Only the superuser may give a file away, and a group can
// only be one's own: what is refused is left, because the content is more important than the owner.
func copyOwner(name string, like fs.FileInfo) error {
	want, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	fi, err := os.Lstat(name)
	if err != nil {
		return err
	}
	have, ok := fi.Sys().(*syscall.Stat_t)
	if !ok || have.Uid == want.Uid && have.Gid == want.Gid {
		return nil
	}
	err = os.Lchown(name, int(want.Uid), int(want.Gid))
	if refused(err) && have.Gid != want.Gid {
		err = os.Lchown(name, -1, int(want.Gid))
	}
	if refused(err) {
		return nil
	}
	return err
}

// refused covers EPERM and what file systems without owners, or a namespace that does not know the id, say instead.
func refused(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP)
}
