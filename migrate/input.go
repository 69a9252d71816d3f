package migrate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// input is a file that is to be brought over, as a repair would leave it.
type input struct {
	ctx    context.Context
	s      store.Session
	f      *os.File
	token  durable.Token
	r      io.ReaderAt
	size   int64
	medium string
	res    *verify.Result
	plan   *repair.Plan // what was mended on the way, nil where nothing was
}

// open reads a session's file and judges it. One that can be mended is read as if it were.
func open(ctx context.Context, s store.Session) (*input, error) {
	in := &input{ctx: ctx, s: s, medium: s.Medium}
	var err error
	if !s.Stored() {
		in.f, err = os.Open(s.Path)
	} else if in.f, err = s.Log(ctx); err != nil {
		err = fmt.Errorf("%s: %w", s.Path, err)
	}
	if err != nil {
		return nil, err
	}
	in.r = in.f
	fi, err := in.f.Stat()
	if err != nil {
		in.close()
		return nil, err
	}
	in.size, in.token = fi.Size(), durable.TokenOf(fi)
	vi := verify.InputOf(s, in.r, in.size)
	vi.ReadOnly = "" // nothing is written to where it lies
	if in.res, err = verify.Session(ctx, vi); err != nil {
		in.close()
		return nil, err
	}
	if in.res.Verdict != verify.Repairable {
		return in, nil
	}
	if in.plan, err = repair.MakePlan(ctx, vi, in.res); err == nil {
		var mended repair.Content
		if mended, err = in.plan.Apply(in.r, in.size); err == nil {
			in.r, in.size = mended, mended.Size()
		}
	}
	if err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

func (in *input) close() { in.f.Close() }

// each goes over the records.
func (in *input) each(yield func(r *session.Record) error) error {
	sc, err := scan.New(in.ctx, in.r, in.size, scan.Options{Medium: in.medium, Framing: in.s.Dialect.Framing()})
	if err != nil {
		return err
	}
	for sc.Next() {
		if err := yield(sc.Record()); err != nil {
			return err
		}
	}
	if err := sc.Err(); err != nil {
		return fmt.Errorf("%s: %w", in.s.Path, err)
	}
	return nil
}

// source is the input as stages see it.
func (in *input) source() format.Source {
	id := in.res.ID
	if id == "" {
		id = in.s.ID
	}
	s := format.Source{Path: in.s.Path, Medium: in.s.Medium, ID: id, Dir: os.DirFS(filepath.Dir(in.s.Path))}
	s.Records = func() iter.Seq2[format.Line, error] {
		return func(yield func(format.Line, error) bool) {
			enough := errors.New("enough")
			err := in.each(func(r *session.Record) error {
				if !yield(format.Line{Raw: r.Raw, N: r.N}, nil) {
					return enough
				}
				return nil
			})
			if err != nil && err != enough {
				yield(format.Line{}, err)
			}
		}
	}
	return s
}

// fileOf is the file that a session lies in, which may be a database, and the same below the tree that was asked for.
func fileOf(s store.Session) (path, rel string) {
	if !s.Stored() {
		return s.Path, s.Rel
	}
	path, id := s.Database()
	return path, strings.TrimSuffix(s.Rel, "#"+id)
}
