package format

import (
	"io"
	"io/fs"
	"time"
)

// Around is what lies around a session's file.
type Around struct {
	Path string
	Dir  fs.FS // the directory that the file lies in
	// Missing: the file is not there, and should be.
	Missing bool
	// Live tells whether somebody may be at work on the session; where it is nil nobody can tell.
	Live func() bool
}

// Survey is a look at a root of sessions.
type Survey struct {
	Root fs.FS
	Path string // of the root
	Env  func(string) string
	// Whole: all of the root was asked for, not some sessions in it.
	Whole bool
	// Now is the time that the age of files is told by; where it is zero no age is told.
	Now time.Time
}

// ReadSmall reads a regular file, of a longer one than limit only the beginning.
func ReadSmall(fsys fs.FS, name string, limit int64) ([]byte, error) {
	fi, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() { // to open a pipe could take for ever
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}
