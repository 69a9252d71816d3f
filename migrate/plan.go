package migrate

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/verify"
)

// plan works out what becomes of one file. It tells whether the generation that is wanted is one that the file has, or can have.
func (o *Outcome) plan(ctx context.Context, opt Options, several bool) (bool, error) {
	s := o.Session
	if s.Unknown != nil {
		var err error
		if o.Before, err = verify.File(ctx, s); err != nil {
			return false, err
		}
		return false, o.refuse("%s", s.Unknown.Error())
	}
	all := steps(s)
	if len(all) == 0 {
		return false, nil
	}
	in, err := open(ctx, s)
	if err != nil {
		return false, err
	}
	o.in, o.Before, o.From = in, in.res, s.Dialect.Version()
	src := in.source()
	if a, ok := s.Format.(format.Aged); ok {
		if o.From, err = a.Age(src); err != nil {
			return false, o.named(err)
		}
	}
	o.To = o.From
	o.Steps, err = way(all, o.From, opt.To)
	switch {
	case errors.Is(err, format.ErrNoWay):
		return false, nil
	case len(o.Steps) == 0:
		return true, nil
	}
	o.To = o.Steps[len(o.Steps)-1].To
	if o.Before.Verdict == verify.Refused && !o.prepares() {
		return true, o.refuse("its damage has no safe repair: sessfix verify says which")
	}
	if s.Stored() && opt.Output == "" {
		return true, o.refuse("it lies in a database: --output DIR writes the result as a file")
	}
	if o.rewrites(opt) && s.Dialect.Rules().Pinned && s.Pin() > 0 {
		return true, o.refuse("other sessions begin in this file and count its bytes: --output writes the result elsewhere")
	}
	if several && o.Before.Verdict != verify.Clean {
		return true, &RefusedError{Path: s.Path, Why: "it is damaged: repair it first", Mendable: true}
	}
	o.mended()
	path := s.Path
	if r, ok := s.Format.(format.Recoder); ok && s.Stored() {
		name, err := r.Recoded(src, scan.Lines)
		if err != nil {
			return true, o.named(err)
		}
		file, _ := fileOf(s)
		path = filepath.Join(filepath.Dir(file), filepath.FromSlash(name))
		o.Path = path
	}
	for _, x := range o.Steps {
		if x.Beside != nil {
			o.Path = x.Beside(path)
		}
	}
	return true, o.chain(ctx, src, opt)
}

// prepares tells whether all that repair refuses is mended on the way.
func (o *Outcome) prepares() bool {
	p, ok := o.Session.Format.(format.Preparer)
	return ok && !slices.ContainsFunc(o.Before.Findings, func(f finding.Finding) bool {
		return f.Damage() && f.Cure == finding.Refuse && !p.Prepares(&f)
	})
}

// rewrites tells whether the session's own file would be written.
func (o *Outcome) rewrites(opt Options) bool {
	return opt.Output == "" && !slices.ContainsFunc(o.Steps, func(x format.Upgrade) bool { return x.Beside != nil })
}

// chain runs the steps into a spool.
func (o *Outcome) chain(ctx context.Context, src format.Source, opt Options) error {
	if err := o.accepted(ctx, src); err != nil {
		return err
	}
	stages, err := o.prepare(ctx, src)
	if err != nil {
		return err
	}
	for _, x := range o.Steps {
		st, err := x.Begin(src)
		if err != nil {
			return o.named(err)
		}
		stages = append(stages, st)
		if x.Also != nil {
			files, err := x.Also(src)
			if err != nil {
				return o.named(err)
			}
			o.also = append(o.also, files...)
		}
	}
	text, out, err := o.through(src, stages)
	if err != nil {
		return err
	}
	o.content = text
	o.Notes, o.Whys, o.Records = out.notes, out.reasons(), int64(len(out.pieces))
	if err := o.fates(o.in, out, text, opt.Fates); err != nil {
		return err
	}
	if o.in.medium == scan.Frames {
		if err := o.pack(); err != nil {
			return err
		}
	}
	o.Size = o.content.Size()
	if o.Path != o.Session.Path && opt.Output == "" {
		if err := o.already(ctx); err != nil {
			return err
		}
		// Killed between the two: the old file is still to go.
		o.There = o.There && !o.Steps[len(o.Steps)-1].Moves
	}
	return nil
}

// pack makes frames of the text.
func (o *Outcome) pack() error {
	packed, err := newSpool()
	if err != nil {
		return err
	}
	text := o.content
	o.content = packed
	defer text.Close()
	return packed.fill(func(w io.Writer) error {
		return framed(w, io.NewSectionReader(text, 0, text.Size()), o.Session.Dialect.Framing().HeaderFrame)
	})
}

// prepare is what puts right in front of the steps what they would refuse, nothing where that is not needed. A stage is used once.
func (o *Outcome) prepare(ctx context.Context, src format.Source) ([]format.Stage, error) {
	p, ok := o.Session.Format.(format.Preparer)
	if !ok {
		return nil, nil
	}
	st, err := p.Prepare(ctx, src, o.From, o.To)
	switch {
	case err != nil:
		return nil, o.named(err)
	case st == nil:
		return nil, nil
	}
	return []format.Stage{st}, nil
}

// through sends the source through stages into a spool.
func (o *Outcome) through(src format.Source, stages []format.Stage) (*spool, *writer, error) {
	text, err := newSpool()
	if err != nil {
		return nil, nil, err
	}
	out := &writer{}
	err = text.fill(func(w io.Writer) error {
		out.w = w
		return run(src, stages, out)
	})
	if err != nil {
		text.Close()
		return nil, nil, o.named(err)
	}
	return text, out, nil
}

// accepted asks, of formats that know what a migration refuses, whether this one would be.
func (o *Outcome) accepted(ctx context.Context, src format.Source) error {
	t, ok := o.Session.Dialect.(format.Targeter)
	if !ok {
		return nil
	}
	d, err := t.Target(o.To)
	if err != nil {
		return o.refuse("%v", err)
	}
	vi := verify.InputOf(o.Session, o.in.r, o.in.size)
	vi.Dialect, vi.ReadOnly, vi.Around = d, "", nil
	stages, err := o.prepare(ctx, src)
	if err != nil {
		return err
	}
	if len(stages) > 0 {
		text, _, err := o.through(src, stages)
		if err != nil {
			return err
		}
		defer text.Close()
		vi.R, vi.Size, vi.Medium = text, text.Size(), scan.Lines
	}
	res, err := verify.Session(ctx, vi)
	if err != nil {
		return err
	}
	for i := range res.Findings {
		if f := &res.Findings[i]; f.Damage() && f.Code == finding.WontMigrate {
			return &RefusedError{Path: o.Session.Path, Line: f.Logical, Why: f.Message}
		}
	}
	return nil
}
