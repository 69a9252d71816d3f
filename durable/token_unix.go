//go:build unix

package durable

import (
	"io/fs"
	"syscall"
)

// identify adds what the system knows beyond fs.FileInfo. The types of the fields differ between systems, hence the
// conversions.
func (t *Token) identify(fi fs.FileInfo) {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		t.Dev, t.Ino, t.Ctime = uint64(st.Dev), uint64(st.Ino), changeTime(st)
	}
}
