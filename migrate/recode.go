package migrate

import (
	"context"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// Media are those that a session can be brought into.
var Media = []string{scan.Lines, scan.Frames, format.Database}

// Recode writes a session below o.Output in another medium. Its text stays as it is, byte for byte, where it lies in a file; what is damaged
// is mended first. The session is left alone.
func Recode(ctx context.Context, s store.Session, medium string, o Options) (*Outcome, error) {
	if o.FS == nil {
		o.FS = durable.Disk
	}
	out := &Outcome{Session: s, Path: s.Path}
	defer out.close()
	r, ok := s.Format.(format.Recoder)
	switch {
	case !ok:
		return out, out.refuse("sessions of %s lie in one medium only", s.Format.Name())
	case s.Unknown != nil:
		return out, out.refuse("%s", s.Unknown.Error())
	}
	in, err := open(ctx, s)
	if err != nil {
		return out, err
	}
	out.in, out.Before, out.From, out.To = in, in.res, s.Dialect.Version(), s.Dialect.Version()
	if in.res.Verdict == verify.Refused {
		return out, out.refuse("its damage has no safe repair: sessfix verify says which")
	}
	out.mended()
	name, err := r.Recoded(in.source(), medium)
	if err != nil {
		return out, out.named(err)
	}
	_, rel := fileOf(s)
	out.Path = filepath.Join(o.Output, filepath.Dir(rel), filepath.FromSlash(name))
	if _, err := os.Lstat(out.Path); err == nil {
		return out, out.refuse("%s is there already", out.Path)
	}
	if err := durable.MkdirAllSync(o.FS, filepath.Dir(out.Path)); err != nil {
		return out, err
	}
	if medium == format.Database {
		err = out.intoDatabase(ctx, o)
	} else {
		err = out.intoFile(ctx, medium, o)
	}
	if err != nil {
		return out, err
	}
	out.Done, out.Records = true, in.res.Records
	return out, nil
}

// intoFile writes the text, plain or in frames.
func (o *Outcome) intoFile(ctx context.Context, medium string, opt Options) error {
	var text io.Reader = io.NewSectionReader(o.in.r, 0, o.in.size)
	if o.in.medium == scan.Frames {
		d, err := zstd.NewReader(text, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return err
		}
		defer d.Close()
		text = d
	}
	content, err := newSpool()
	if err != nil {
		return err
	}
	o.content = content
	err = content.fill(func(w io.Writer) error {
		if medium == scan.Frames {
			return framed(w, text, o.Session.Dialect.Framing().HeaderFrame)
		}
		_, err := io.Copy(w, text)
		return err
	})
	if err != nil {
		return o.named(err)
	}
	o.Size = content.Size()
	next, err := store.Recognise(ctx, o.Path, content, content.Size(), opt.Store)
	if err != nil {
		return o.refuse("the result would not be known: %v", err)
	}
	res, err := verify.Session(ctx, verify.InputOf(next, content, content.Size()))
	if err != nil {
		return err
	}
	if err := o.sound(res); err != nil {
		return err
	}
	return durable.WriteNew(opt.FS, o.Path, func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(content, 0, content.Size()))
		return err
	})
}

// intoDatabase writes the records into a database of their own, which is made and read back aside.
func (o *Outcome) intoDatabase(ctx context.Context, opt Options) error {
	db, ok := o.Session.Format.(format.Rewritable)
	if !ok {
		return o.refuse("sessions of %s are not written into databases", o.Session.Format.Name())
	}
	var header []byte
	records := o.in.source().Records
	for l, err := range records() {
		if err != nil {
			return err
		}
		header = append(header, l.Raw...)
		break
	}
	rest := iter.Seq2[[]byte, error](func(yield func([]byte, error) bool) {
		for l, err := range records() {
			if l.N == 0 && err == nil {
				continue
			}
			if !yield(l.Raw, err) || err != nil {
				return
			}
		}
	})
	aside, err := os.MkdirTemp("", "sessfix-migrate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(aside)
	made := filepath.Join(aside, filepath.Base(o.Path))
	if err := db.NewDatabase(ctx, made, header, rest); err != nil {
		return o.named(err)
	}
	found, err := store.Open(ctx, []string{made}, opt.Store)
	if err != nil {
		return err
	}
	defer found.Close()
	if len(found.Sessions) != 1 {
		return o.refuse("the result would not be known")
	}
	res, err := verify.File(ctx, found.Sessions[0])
	if err != nil {
		return err
	}
	if err := o.sound(res); err != nil {
		return err
	}
	return durable.WriteNew(opt.FS, o.Path, func(w io.Writer) error {
		f, err := os.Open(made)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(w, f)
		return err
	})
}
