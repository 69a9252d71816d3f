package faultfs

import (
	"fmt"
	"io/fs"

	"github.com/sessfix/sessfix/durable"
)

type file struct {
	inner durable.File
	fs    *FS
}

func (f *file) Name() string { return f.inner.Name() }

// Close always closes, because a crash closes the files of a process too.
func (f *file) Close() error { return f.inner.Close() }

func (f *file) Read(p []byte) (int, error) {
	if err := f.fs.reading(); err != nil {
		return 0, fail("read", f.Name(), err)
	}
	return f.inner.Read(p)
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if err := f.fs.reading(); err != nil {
		return 0, fail("read", f.Name(), err)
	}
	return f.inner.ReadAt(p, off)
}

func (f *file) Stat() (fs.FileInfo, error) {
	if err := f.fs.reading(); err != nil {
		return nil, fail("stat", f.Name(), err)
	}
	return f.inner.Stat()
}

// Write leaves half of the bytes in the file if it is the one that fails and halves are asked for. A write after a stop
// leaves none.
func (f *file) Write(p []byte) (int, error) {
	half, err := f.fs.count(fmt.Sprintf("write %s %d", base(f.Name()), len(p)))
	if err == nil {
		return f.inner.Write(p)
	}
	n := 0
	if half {
		var short error
		if n, short = f.inner.Write(p[:len(p)/2]); short != nil {
			err = short
		}
	}
	return n, fail("write", f.Name(), err)
}

func (f *file) Sync() error {
	if err := f.fs.step("sync %s", base(f.Name())); err != nil {
		return fail("sync", f.Name(), err)
	}
	return f.inner.Sync()
}

func (f *file) Truncate(size int64) error {
	if err := f.fs.step("truncate %s %d", base(f.Name()), size); err != nil {
		return fail("truncate", f.Name(), err)
	}
	return f.inner.Truncate(size)
}
