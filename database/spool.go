package database

import (
	"bufio"
	"errors"
	"io"
	"os"
)

// Head is the first 100 bytes of a regular file, where a database says what it is; it is shorter where there are fewer.
func Head(path string) []byte {
	fi, err := os.Stat(path)
	if err != nil || !fi.Mode().IsRegular() { // to open a pipe could take for ever
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, 100))
	return head
}

// Spool is a file in the copy's folder with what write gives. It is gone once it is closed, at the latest with the copy.
func (c *Copy) Spool(write func(w io.Writer) error) (*os.File, error) {
	f, err := os.CreateTemp(c.dir, "log-")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name()) // where the system takes away what is open
	b := bufio.NewWriterSize(&bounded{f, maxCopy}, 1<<16)
	err = write(b)
	if err == nil {
		err = b.Flush()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// bounded ends a text that is longer than a database may be.
type bounded struct {
	w    io.Writer
	left int64
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, errors.New("the session is longer than is read of one")
	}
	return b.w.Write(p)
}
