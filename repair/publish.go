package repair

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/edit"
	"github.com/sessfix/sessfix/store"
)

// Content is what a file is going to hold.
type Content interface {
	io.ReaderAt
	Size() int64
}

// Change is one file of a session that gets other content, or is made, or goes away.
type Change struct {
	// Session is the file that the change was made of; its locks are taken.
	Session store.Session
	// Path is the file that is written. Where it is not the session's own it must not exist.
	Path string
	// Content is nil where the file goes away.
	Content Content
	// Account says what became of the bytes of the session's file, and Removed what of them is in no file any more. Both are
	// empty for a file that is made.
	Account edit.Account
	Removed []edit.Removed
	// Token is what the session's file was when it was read.
	Token durable.Token
}

// Published is a file that was changed.
type Published struct {
	Path    string
	Receipt string
	SHA256  [2]string
}

// Publish carries out the changes of one session, in their order, so that a kill leaves each file old or new, and undo takes
// back all of them. A *LiveError says that somebody is at work on the session.
func Publish(ctx context.Context, changes []Change, o Options) ([]Published, error) {
	if o.FS == nil {
		o.FS = durable.Disk
	}
	works := make([]*work, len(changes))
	for i, c := range changes {
		works[i] = newWork(c.Session, o)
		works[i].token = c.Token
		defer works[i].close()
	}
	release, err := guardAll(ctx, works)
	if err != nil {
		return nil, err
	}
	defer release()
	for _, w := range works { // a lock may have been waited for
		if err := w.unmoved(); err != nil {
			return nil, err
		}
	}
	folder, run := "", 0
	if len(changes) > 1 {
		if folder, err = realPath(changes[0].Session.Path); err != nil {
			return nil, err
		}
		if dir := changes[0].Session.Folder(); dir != "" {
			folder = filepath.Dir(folder)
		}
		var paths []string
		for _, c := range changes {
			paths = append(paths, c.Path)
		}
		if run, err = lastRun(o.FS, o.CaseDir, paths); err != nil {
			return nil, err
		}
		run++
	}
	var out []Published
	for i, c := range changes {
		p, err := works[i].change(ctx, c, folder, run)
		if err != nil {
			return out, err
		}
		out = append(out, p)
	}
	return out, nil
}

// Settle brings what was interrupted at a path to its end: a file that was published gets its receipt.
func Settle(ctx context.Context, path string, s store.Session, o Options) error {
	if o.FS == nil {
		o.FS = durable.Disk
	}
	s.Path = path
	_, err := settlePending(ctx, o, s)
	return err
}

// change carries out one change.
func (w *work) change(ctx context.Context, ch Change, folder string, run int) (p Published, err error) {
	fsys := w.o.FS
	own, err := realPath(w.s.Path)
	if err != nil {
		return p, err
	}
	path, err := realPath(ch.Path)
	if err != nil {
		return p, err
	}
	p.Path = path
	c := Case{
		Version: caseVersion, Agent: w.s.Format.Name(), Session: w.s.ID, Path: path, Mode: ModeReplace, Account: ch.Account, Removed: ch.Removed,
		Folder: folder, Run: run,
	}
	var src io.ReaderAt
	switch {
	case path != own:
		c.Mode = ModeCreate
	case ch.Content == nil:
		c.Mode = ModeRemove
	}
	if c.Mode != ModeCreate {
		f, err := os.Open(own)
		if err != nil {
			return p, err
		}
		defer f.Close()
		src = f
		fi, err := f.Stat()
		if err != nil {
			return p, err
		}
		c.Size[0], c.KeepTime = fi.Size(), w.s.Dialect.Rules().KeepTime
		if c.SHA256[0], err = hashOf(f, c.Size[0]); err != nil {
			return p, err
		}
	}
	if ch.Content != nil {
		c.Size[1] = ch.Content.Size()
		if c.SHA256[1], err = hashOf(ch.Content, c.Size[1]); err != nil {
			return p, err
		}
	}
	p.SHA256 = c.SHA256
	there := false
	if c.Mode == ModeCreate {
		if there, err = w.made(path, c); err != nil {
			return p, err
		}
	}
	if p.Receipt, err = openCase(fsys, w.o.CaseDir, c, src, nil); err != nil {
		return p, fmt.Errorf("%s: write the case folder: %w", path, err)
	}
	check := func() error { return ctx.Err() }
	if c.Mode != ModeCreate {
		check = func() error {
			if err := w.same(own); err != nil {
				return err
			}
			return ctx.Err()
		}
		if err := check(); err != nil {
			return p, live(path, err)
		}
		if err := forget(ctx, w.s, path, w.o, 0); err != nil {
			return p, err
		}
	}
	if !there {
		if _, err := w.put(c, ch.Content, nil, check); err != nil {
			return p, err
		}
	}
	return p, mark(fsys, p.Receipt, "receipt.json", c)
}

// put does to a file what its case says, and checks that it was done. It tells whether anything was written.
func (w *work) put(c Case, content Content, appendix []byte, check func() error) (written bool, err error) {
	fsys, o := w.o.FS, durable.ReplaceOptions{KeepTime: c.KeepTime, Check: check}
	if c.Mode != ModeRemove {
		o.Suffix = tempSuffix(c.SHA256[1])
	}
	write := func(to io.Writer) error {
		_, err := io.Copy(to, io.NewSectionReader(content, 0, c.Size[1]))
		return err
	}
	switch c.Mode {
	case ModeAppend:
		err = durable.Append(fsys, c.Path, c.Size[0], appendix, check)
	case ModeRemove:
		if err = fsys.Remove(c.Path); err == nil {
			err = fsys.SyncDir(filepath.Dir(c.Path))
		}
	case ModeCreate:
		o.Like, _ = fsys.Stat(w.s.Path)
		if err = durable.MkdirAllSync(fsys, filepath.Dir(c.Path)); err == nil {
			err = durable.Create(fsys, c.Path, o, write)
		}
	default:
		err = durable.Replace(fsys, c.Path, o, write)
	}
	if err != nil && !errors.Is(err, durable.ErrUnsynced) {
		return false, live(c.Path, fmt.Errorf("publish the result: %w", err))
	}
	if c.Mode == ModeRemove {
		return true, nil
	}
	size, hash, err := fileHash(fsys, c.Path)
	switch {
	case err != nil:
		return true, err
	case size != c.Size[1] || hash != c.SHA256[1]:
		return true, live(c.Path, durable.ErrChanged)
	}
	return true, nil
}

// made tells whether a file that is to be made is there, as an earlier run that was interrupted left it. One of another kind is in the way.
func (w *work) made(path string, c Case) (bool, error) {
	if _, err := w.o.FS.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	list, err := cases(w.o.FS, caseHome(w.o.CaseDir, path))
	if err != nil {
		return false, err
	}
	size, hash, err := fileHash(w.o.FS, path)
	if err != nil {
		return false, err
	}
	if n := len(list); n == 0 || list[n-1].settled || list[n-1].SHA256 != c.SHA256 || hash != c.SHA256[1] || size != c.Size[1] {
		return false, fmt.Errorf("%s is there already", path)
	}
	return true, nil
}
