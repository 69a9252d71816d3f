package durable

import (
	"fmt"
	"io/fs"
)

// Token tells whether a file is still the one that was looked at, without reading it. The zero Token stands for a
// file that does not exist. Tokens can be compared with ==.
//
// On Windows device, inode and the time of change are not part of what a look returns: there a Token is the size, the
// time of the last write and the time of creation.
type Token struct {
	Dev, Ino     uint64
	Size         int64
	Mtime, Ctime int64 // nanoseconds since 1970
}

// TokenOf returns the token of the file a Stat looked at. The token of nil is the zero Token.
func TokenOf(fi fs.FileInfo) Token {
	if fi == nil {
		return Token{}
	}
	t := Token{Size: fi.Size(), Mtime: fi.ModTime().UnixNano()}
	t.identify(fi)
	return t
}

// Equal reports whether both tokens are of the same unchanged file.
func (t Token) Equal(u Token) bool { return t == u }

// String returns device:inode:size:mtime:ctime.
func (t Token) String() string {
	return fmt.Sprintf("%d:%d:%d:%d:%d", t.Dev, t.Ino, t.Size, t.Mtime, t.Ctime)
}
