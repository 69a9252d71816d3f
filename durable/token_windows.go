package durable

import (
	"io/fs"
	"syscall"
)

// identify uses the time of creation, the only thing at hand that tells a replaced file from the old one.
func (t *Token) identify(fi fs.FileInfo) {
	if d, ok := fi.Sys().(*syscall.Win32FileAttributeData); ok {
		t.Ctime = d.CreationTime.Nanoseconds()
	}
}
