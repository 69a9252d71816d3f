package export

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sessfix/sessfix/edit"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/session"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// Session is a session that is looked at. It must be closed.
type Session struct {
	// Path is that of its file, or of its folder.
	Path  string
	Parts []*Part
	// Talk is the part that the model gets, nil where none is known.
	Talk *Part
	// Bases are the beginnings of other files that the talk begins with.
	Bases []*Part
	// BaseError says why they could not be had.
	BaseError error
}

// Part is a file of a session.
type Part struct {
	store.Session
	// File is its name, Role what it is in a session of several.
	File, Role string
	// Input is the file as it lies on disk. Its R is never nil.
	Input verify.Input
	// Found is what verify says of it; nil of a base.
	Found *verify.Result
	// Plan is what would be done to it; nil where nothing is to be done, or nothing can be.
	Plan *repair.Outcome
	// Mended is the file as that would leave it, nil where there is no plan.
	Mended *edit.Result
	// Told tells that what its records say is known.
	Told bool
	// Until is where a base ends, in bytes of its text; 0 = all of it counts.
	Until int64

	f         *os.File
	mendedDir fs.FS
}

// Look is the part as it lies on disk, or as a repair would leave it, where one would change it.
func (p *Part) Look(mended bool) verify.Input {
	in := p.Input
	if !mended {
		return in
	}
	if p.mendedDir != nil {
		in.Dir = p.mendedDir
	}
	if p.Mended != nil {
		in.R, in.Size, in.Missing = p.Mended, p.Mended.Size(), false
	}
	return in
}

// Open looks at the session that some parts are.
func Open(ctx context.Context, parts []store.Session, o repair.Options) (*Session, error) {
	o.DryRun, o.Output = true, ""
	outs, err := repair.All(ctx, parts, o)
	var live *repair.LiveError
	if err != nil && !errors.Is(err, edit.ErrConflict) && !errors.Is(err, repair.ErrUnproved) && !errors.As(err, &live) {
		return nil, err
	}
	s := &Session{Path: parts[0].Path}
	if dir := parts[0].Folder(); dir != "" {
		s.Path = dir
	}
	for i, p := range parts {
		if outs[i] == nil || outs[i].Before == nil {
			s.Close()
			return nil, fmt.Errorf("%s: %w", p.Path, err)
		}
		x := &Part{Session: p, File: filepath.Base(p.Path), Role: p.Part().Role, Found: outs[i].Before}
		s.Parts = append(s.Parts, x)
		if e := x.open(ctx); e != nil {
			s.Close()
			return nil, e
		}
		if err == nil && outs[i].Plan != nil && outs[i].Result != nil {
			if e := x.mend(outs[i]); e != nil {
				s.Close()
				return nil, e
			}
		}
	}
	s.overlay()
	s.choose()
	if s.Talk != nil {
		s.BaseError = s.bases(ctx)
	}
	return s, nil
}

// Close lets go of the files.
func (s *Session) Close() {
	for _, list := range [][]*Part{s.Parts, s.Bases} {
		for _, p := range list {
			if p.f != nil {
				p.f.Close()
			}
		}
	}
}

// Names are the session's id and its working directory, as far as they are known.
func (s *Session) Names() (id, cwd string) {
	for _, p := range s.Parts {
		id, cwd = cmp.Or(id, p.ID, p.Found.ID), cmp.Or(cwd, p.CWD, p.Found.CWD)
	}
	return id, cwd
}

// Verdict is the worst of the parts'.
func (s *Session) Verdict() verify.Verdict {
	v := verify.Clean
	for _, p := range s.Parts {
		v = max(v, p.Found.Verdict)
	}
	return v
}

// open opens the part's file, or what its rows say.
func (p *Part) open(ctx context.Context) (err error) {
	p.Input = verify.InputOf(p.Session, bytes.NewReader(nil), 0)
	if p.Dialect != nil {
		_, p.Told = p.Dialect.(format.Teller)
	}
	if p.Missing {
		return nil
	}
	if p.Stored() {
		p.f, err = p.Log(ctx)
	} else {
		p.f, err = os.Open(p.Path)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.Path, err)
	}
	fi, err := p.f.Stat()
	if err != nil {
		return fmt.Errorf("%s: %w", p.Path, err)
	}
	p.Input = verify.InputOf(p.Session, p.f, fi.Size())
	if p.Found != nil { // what was appended since is not looked at
		p.Input.Size = min(p.Input.Size, p.Found.Size)
	}
	return nil
}

// mend takes a plan over, with a reader of this part's own.
func (p *Part) mend(out *repair.Outcome) (err error) {
	p.Plan = out
	if p.Mended, err = out.Plan.Apply(p.Input.R, p.Input.Size); err != nil {
		return fmt.Errorf("%s: %w", p.Path, err)
	}
	return nil
}

// overlay lets the parts see each other as they would be mended, where they are read mended.
func (s *Session) overlay() {
	if s.Parts[0].Folder() == "" {
		return
	}
	var over *repair.Overlay
	for _, p := range s.Parts {
		if p.Mended != nil {
			if over == nil {
				over = repair.NewOverlay(p.Input.Dir)
			}
			over.Put(p.File, p.Mended)
		}
	}
	if over == nil {
		return
	}
	for _, p := range s.Parts {
		p.mendedDir = over
	}
}

// choose finds the part with the talk: the one of which the rules say how it is sent, else the first that tells anything. One that is
// not there counts where a repair would make it anew.
func (s *Session) choose() {
	for _, p := range s.Parts {
		if !p.Told || p.Missing && p.Mended == nil {
			continue
		}
		if r := p.Dialect.Rules(); r.Tree || r.Path || r.List || r.Turns || r.Dense {
			s.Talk = p
			return
		}
		if s.Talk == nil {
			s.Talk = p
		}
	}
}

// bases opens what the talk begins with.
func (s *Session) bases(ctx context.Context) error {
	b, ok := s.Talk.Format.(format.Based)
	if !ok || s.Talk.Missing {
		return nil
	}
	var first []byte
	enough := errors.New("enough")
	err := verify.Each(ctx, s.Talk.Input, func(r *session.Record, _ *format.Batch) error {
		first = bytes.Clone(r.Raw)
		return enough
	})
	if err != nil && err != enough {
		return err
	}
	list, err := b.Bases(s.Talk.Path, s.Talk.Dialect, first)
	if err != nil {
		return err
	}
	for _, base := range list {
		kin, err := s.Talk.Kin(ctx, base.Path)
		if err != nil {
			return err
		}
		if kin.Dialect == nil {
			return fmt.Errorf("%s: its version is not known", base.Path)
		}
		p := &Part{Session: kin, File: filepath.Base(base.Path), Role: format.Primary, Until: base.Bytes}
		if err := p.open(ctx); err != nil {
			return err
		}
		s.Bases = append(s.Bases, p)
	}
	return nil
}
