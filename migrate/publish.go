package migrate

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// proveAll reads the results as their client would, each beside the others.
func proveAll(ctx context.Context, parts []store.Session, outs []*Outcome, o Options) error {
	beside := repair.NewOverlay(os.DirFS(filepath.Dir(parts[0].Path)))
	for _, out := range outs {
		if out.content != nil && filepath.Dir(out.Path) == filepath.Dir(parts[0].Path) {
			beside.Put(filepath.Base(out.Path), out.content)
		}
	}
	for _, out := range outs {
		s := out.Session
		var r io.ReaderAt = bytes.NewReader(nil)
		size := int64(0)
		switch {
		case out.content != nil:
			r, size = out.content, out.content.Size()
		case len(outs) == 1 || s.Missing || s.Stored():
			continue
		default:
			f, err := os.Open(s.Path)
			if err != nil {
				return err
			}
			defer f.Close()
			fi, err := f.Stat()
			if err != nil {
				return err
			}
			r, size = f, fi.Size()
		}
		next, err := store.Recognise(ctx, out.Path, r, size, o.Store)
		if err != nil {
			return out.refuse("the result would not be known: %v", err)
		}
		if next.Unknown != nil {
			return out.refuse("the result would not be known: %s", next.Unknown.Error())
		}
		next.Rel = s.Rel
		vi := verify.InputOf(next, r, size)
		vi.Dir = beside
		res, err := verify.Session(ctx, vi)
		if err != nil {
			return err
		}
		if err := out.sound(res); err != nil {
			return err
		}
	}
	return nil
}

// publish puts the results in place.
func publish(ctx context.Context, todo []*Outcome, o Options) error {
	var changes []repair.Change
	add := func(out *Outcome, c repair.Change) {
		c.Session, c.Token = out.Session, out.in.token
		changes = append(changes, c)
	}
	of := map[int]*Outcome{}
	for _, out := range todo {
		for _, f := range out.also {
			c, err := contentOf(f)
			if err != nil {
				return out.named(err)
			}
			add(out, repair.Change{Path: filepath.Join(filepath.Dir(out.Session.Path), filepath.FromSlash(f.Name)), Content: c})
		}
		c := repair.Change{Path: out.Path, Content: out.content}
		if out.Path == out.Session.Path {
			c.Account, c.Removed = out.Account, out.Removed
		}
		of[len(changes)] = out
		add(out, c)
		if out.Steps[len(out.Steps)-1].Moves {
			gone := repair.Change{Path: out.Session.Path}
			gone.Account.Size, gone.Account.Replaced = out.in.res.Size, out.in.res.Size
			add(out, gone)
		}
	}
	done, err := repair.Publish(ctx, changes, repair.Options{CaseDir: o.CaseDir, FS: o.FS, Env: o.Env})
	for i, p := range done {
		if out, ok := of[i]; ok {
			out.Done, out.Receipt, out.SHA256 = true, p.Receipt, p.SHA256
		}
	}
	return err
}

// memory is a small new file.
type memory struct{ *bytes.Reader }

func (m memory) Size() int64 { return m.Reader.Size() }

func contentOf(f format.NewFile) (repair.Content, error) {
	var b bytes.Buffer
	err := f.Write(&b)
	return memory{bytes.NewReader(b.Bytes())}, err
}

// elsewhere writes the results below another directory. Of a session of several files all else comes along as it is.
func elsewhere(ctx context.Context, parts []store.Session, todo []*Outcome, o Options) error {
	to := func(s store.Session, path string) string {
		file, below := fileOf(s)
		rel, err := filepath.Rel(filepath.Dir(file), path)
		if err != nil {
			rel = filepath.Base(path)
		}
		return filepath.Join(o.Output, filepath.Dir(below), rel)
	}
	put := func(path string, c repair.Content) error {
		if err := durable.MkdirAllSync(o.FS, filepath.Dir(path)); err != nil {
			return err
		}
		return durable.WriteNew(o.FS, path, func(w io.Writer) error {
			_, err := io.Copy(w, io.NewSectionReader(c, 0, c.Size()))
			return err
		})
	}
	changed := map[string]bool{}
	for _, out := range todo {
		for _, f := range out.also {
			c, err := contentOf(f)
			if err != nil {
				return out.named(err)
			}
			if err := put(to(out.Session, filepath.Join(filepath.Dir(out.Session.Path), filepath.FromSlash(f.Name))), c); err != nil {
				return err
			}
		}
		at := to(out.Session, out.Path)
		if err := put(at, out.content); err != nil {
			return err
		}
		changed[out.Session.Path] = true
		out.Path, out.Done = at, true
	}
	if dir := parts[0].Folder(); dir != "" {
		return repair.CopyFolder(ctx, o.FS, dir, filepath.Dir(to(parts[0], parts[0].Path)), changed)
	}
	return nil
}
