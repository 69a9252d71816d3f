package fork

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// parent is a session that is to be forked.
type parent struct {
	parts  []store.Session
	log    store.Session
	name   string // the session's path
	forker format.Forker
	f      *os.File
	token  durable.Token
	src    *source
	req    format.ForkRequest
}

// open looks at the session that some parts are.
func open(ctx context.Context, parts []store.Session) (*parent, error) {
	p := &parent{parts: parts, log: parts[0], name: parts[0].Path}
	for _, s := range parts {
		if s.Part().Role == format.Primary && !s.Missing {
			p.log = s
			break
		}
	}
	if dir := p.log.Folder(); dir != "" {
		p.name = dir
	}
	refuse := func(text string, args ...any) error {
		return &RefusedError{Path: p.name, Why: fmt.Sprintf(text, args...)}
	}
	ok := false
	if p.forker, ok = p.log.Format.(format.Forker); !ok {
		return nil, refuse("nothing is known of forks of %s", p.log.Format.Name())
	}
	switch {
	case p.log.Stored():
		return nil, refuse("it lies in a database: its own client forks it")
	case p.log.Unknown != nil:
		return nil, refuse("%s", p.log.Unknown.Error())
	case p.log.Missing:
		return nil, refuse("its log is not there")
	}
	if _, document := p.log.Dialect.(format.Document); document {
		return nil, refuse("it is no log of a session")
	}
	if sel, ok := p.forker.(format.Selective); ok {
		if err := sel.Forks(p.log.Dialect); err != nil {
			return nil, p.refused(err)
		}
	}
	f, err := os.Open(p.log.Path)
	if err != nil {
		return nil, err
	}
	p.f = f
	fi, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	p.token = durable.TokenOf(fi)
	p.src = &source{ctx: ctx, in: verify.InputOf(p.log, f, fi.Size())}
	p.req = format.ForkRequest{Path: p.log.Path, Dir: p.src.in.Dir, Medium: p.log.Medium, Dialect: p.log.Dialect}
	if p.log.Folder() != "" {
		p.req.Path = p.name
	}
	return p, nil
}

// idle is an error where somebody is at work on a session of several files, which do not fit each other then. Of a single file the
// beginning stays as it is, whoever appends to it.
func (p *parent) idle() error {
	g, ok := p.log.Format.(format.Guarder)
	if ok && p.log.Folder() != "" && repair.Live(p.log.Path, g.Guards(p.log.Path)) {
		return &repair.LiveError{Path: p.name, Who: "somebody is at work on it, and its files do not fit each other meanwhile"}
	}
	return nil
}

// refused gives a format's refusal the session's name.
func (p *parent) refused(err error) error {
	var no *format.RefusedError
	if errors.As(err, &no) {
		return &RefusedError{Path: p.name, Why: no.Why}
	}
	return fmt.Errorf("%s: %w", p.name, err)
}

// sound makes sure that what stands in front of the cut is whole; all of it where cut is nil.
func (p *parent) sound(ctx context.Context, cut *format.Cut) error {
	for _, s := range p.parts {
		res, err := verify.File(ctx, s)
		if err != nil {
			return err
		}
		for i := range res.Findings {
			f := &res.Findings[i]
			e, _ := finding.Lookup(f.Code)
			inFront := cut == nil || s.Path != p.log.Path || f.Text < cut.TextEnd()
			if f.Damage() && inFront && (e.Stage == finding.StageBytes || e.Stage == finding.StageNumbers) {
				no := &RefusedError{Path: p.name, Mendable: res.Verdict == verify.Repairable}
				no.Why = fmt.Sprintf("%s at %d of %s stands in front of the place", f.Code, f.Off, filepath.Base(s.Path))
				if cut == nil {
					no.Why = fmt.Sprintf("it has %s at %d of %s", f.Code, f.Off, filepath.Base(s.Path))
				}
				if no.Mendable {
					no.Why += ": repair the session first"
				}
				return no
			}
		}
	}
	return nil
}

// unmoved is an error where somebody wrote to the parent's log since it was opened.
func (p *parent) unmoved() error {
	fi, err := os.Stat(p.log.Path)
	if err != nil {
		return err
	}
	if durable.TokenOf(fi) != p.token {
		return &repair.LiveError{Path: p.name, Who: "the log changed while it was read", Err: durable.ErrChanged}
	}
	return nil
}
