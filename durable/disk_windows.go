package durable

import (
	"io/fs"
	"os"
	"syscall"
	"unsafe"
)

// appendFlag is empty, because a file opened with O_APPEND cannot be truncated on Windows, and an append that fails
// must be cut back.
const appendFlag = 0

const (
	moveReplaceExisting = 0x1
	moveWriteThrough    = 0x8
)

var (
	kernel32       = syscall.NewLazyDLL("kernel32.dll")
	procMoveFileEx = kernel32.NewProc("MoveFileExW")
)

// rename is os.Rename, except that it returns only after the move is on the disk: directories cannot be synced here.
func rename(from, to string) error {
	failed := func(err error) error { return &os.LinkError{Op: "rename", Old: from, New: to, Err: err} }
	old, err := syscall.UTF16PtrFromString(from)
	if err != nil {
		return failed(err)
	}
	new, err := syscall.UTF16PtrFromString(to)
	if err != nil {
		return failed(err)
	}
	ok, _, err := procMoveFileEx.Call(uintptr(unsafe.Pointer(old)), uintptr(unsafe.Pointer(new)),
		moveReplaceExisting|moveWriteThrough)
	if ok == 0 {
		return failed(err)
	}
	return nil
}

func syncDir(string) error { return nil }

// copyOwner does nothing: a new file inherits its access list from the directory it shares with the old one.
func copyOwner(string, fs.FileInfo) error { return nil }
