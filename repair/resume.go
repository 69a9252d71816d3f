package repair

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/store"
)

// settlePending brings an interrupted repair of the session to an end: a file that was
// published gets its receipt, a half-written appendix is cut back, a file that was not touched
// or that somebody wrote to since is left as it is. The session is then judged afresh.
func settlePending(ctx context.Context, o Options, s store.Session) (bool, error) {
	path, err := realPath(s.Path)
	if err != nil {
		return false, err
	}
	list, err := cases(o.FS, caseHome(o.CaseDir, path))
	if err != nil {
		return false, fmt.Errorf("%s: read its earlier repairs: %w", s.Path, err)
	}
	if len(list) == 0 {
		return false, nil
	}
	c := list[len(list)-1]
	for _, hash := range c.SHA256 {
		if hash == "" {
			continue // there was no file, or is none any more
		}
		if err := removeTemp(o.FS, path+tempSuffix(hash)); err != nil {
			return false, err
		}
	}
	if c.done || c.settled {
		return false, nil
	}
	size, hash, err := fileHash(o.FS, path)
	if c.Mode == ModeCreate && errors.Is(err, fs.ErrNotExist) {
		return true, mark(o.FS, c.dir, "undone.json", c.Case)
	}
	if c.Mode == ModeRemove && errors.Is(err, fs.ErrNotExist) {
		return true, mark(o.FS, c.dir, "receipt.json", c.Case)
	}
	if err != nil {
		return false, err
	}
	switch {
	case size == c.Size[1] && hash == c.SHA256[1]:
		return true, mark(o.FS, c.dir, "receipt.json", c.Case)
	case c.Mode == ModeAppend && size > c.Size[0] && size < c.Size[1]:
		if err := cutAppendix(ctx, o, s, path, c, size); err != nil {
			return false, err
		}
	}
	return true, mark(o.FS, c.dir, "undone.json", c.Case)
}

// removeTemp takes away what a killed repair or undo left beside the log.
func removeTemp(fsys durable.FS, name string) error {
	fi, err := fsys.Lstat(name)
	if err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	return fsys.Remove(name)
}

// cutAppendix takes back part of an appendix, after making sure that it is one of ours.
func cutAppendix(ctx context.Context, o Options, s store.Session, path string, c stored, size int64) error {
	f, err := o.FS.Open(path)
	if err != nil {
		return err
	}
	fi, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	token := durable.TokenOf(fi)
	before, err := hashOf(f, c.Size[0])
	f.Close()
	if err != nil {
		return err
	}
	if before != c.SHA256[0] {
		return nil // somebody wrote: judged afresh
	}
	want, err := o.FS.ReadFile(filepath.Join(c.dir, "appendix"))
	if err != nil {
		return err
	}
	have, err := readTail(o.FS, path, c.Size[0], size)
	if err != nil {
		return err
	}
	if len(have) > len(want) || string(want[:len(have)]) != string(have) {
		return nil
	}
	if g, ok := s.Format.(format.Guarder); ok {
		release, err := guard(ctx, o.FS, path, g.Guards(path))
		if err != nil {
			return err
		}
		defer release()
	}
	return durable.CutBack(o.FS, path, c.Size[0], func() error {
		now, err := o.FS.Stat(path)
		if err == nil && durable.TokenOf(now) != token {
			err = durable.ErrChanged
		}
		return err
	})
}

func readTail(fsys durable.FS, path string, from, to int64) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, to-from)
	if n, err := f.ReadAt(b, from); n < len(b) && err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b, nil
}
