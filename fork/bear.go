package fork

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/format"
)

// bear writes the child aside, proves it, and puts it in place.
func (p *parent) bear(ctx context.Context, c *Child, made format.Child, cut *format.Cut, o Options) error {
	root := made.Root
	if o.Output != "" {
		root = o.Output
	}
	for _, f := range made.Files {
		if !fs.ValidPath(f.Name) {
			return fmt.Errorf("%s: the child's file would be called %q", p.name, f.Name)
		}
		target := filepath.Join(root, filepath.FromSlash(f.Name))
		if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
			return &RefusedError{Path: p.name, Why: target + " is there already"}
		}
		c.Files = append(c.Files, target)
	}
	aside, err := os.MkdirTemp("", "sessfix-fork-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(aside)
	whole := filepath.Join(aside, "child")
	for _, f := range made.Files {
		if err := put(filepath.Join(whole, filepath.FromSlash(f.Name)), f.Write); err != nil {
			return p.refused(err)
		}
	}
	if cut.Open != "" {
		closed := filepath.Join(aside, "closed")
		if c.Closers, err = closeAt(ctx, whole, closed, o.Store); err != nil {
			return p.refused(err)
		}
		if len(c.Closers) > 0 {
			whole = closed
		}
	}
	if err := prove(ctx, c, whole, root, o.Store); err != nil {
		return p.refused(err)
	}
	if err := p.unmoved(); err != nil {
		return err
	}
	return p.publish(ctx, made, whole, root, o)
}

// put writes a file that is not there yet.
func put(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return durable.WriteNew(durable.Disk, path, write)
}

// publish copies the child's files to their place, the one that makes it known last. They may be read by whom the parent may be read.
func (p *parent) publish(ctx context.Context, made format.Child, from, root string, o Options) (err error) {
	like, err := p.f.Stat()
	if err != nil {
		return err
	}
	var done []string
	defer func() {
		if err == nil {
			return
		}
		for _, path := range done {
			o.FS.Remove(path)
		}
	}()
	for _, f := range made.Files {
		name := filepath.FromSlash(f.Name)
		target := filepath.Join(root, name)
		if err := durable.MkdirAllSync(o.FS, filepath.Dir(target)); err != nil {
			return err
		}
		check := func() error { return ctx.Err() }
		err := durable.Create(o.FS, target, durable.ReplaceOptions{Suffix: ".sessfix.tmp", Like: like, Check: check}, func(w io.Writer) error {
			f, err := os.Open(filepath.Join(from, name))
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = io.Copy(w, f)
			return err
		})
		if err != nil && !errors.Is(err, durable.ErrUnsynced) {
			return err
		}
		done = append(done, target)
	}
	return nil
}
