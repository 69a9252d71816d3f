package fork

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/session"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// Options say what is to be forked, and how.
type Options struct {
	Place Place
	// Close ends with records of its own what is open at the place, where that can be.
	Close bool
	// ID is the child's identity; where it is empty one is made of Now and Random.
	ID     string
	Now    time.Time
	Random io.Reader
	// CWD is the child's working directory, "" for that of its parent.
	CWD string
	// Output is the directory that gets the child, in place of its agent's.
	Output string
	FS     durable.FS    // nil = the disk
	Store  store.Options // for reading the child as its client would
}

// Child is a session that was made.
type Child struct {
	ID      string
	Path    string   // of the session: its file, or its folder
	Files   []string // all of them
	Cut     format.Cut
	Records int64 // in its log
	Closers []repair.Closer
	Notes   []string
}

// RefusedError says why a session is not forked.
type RefusedError struct {
	Path string
	Why  string
	// Mendable: a repair of the parent comes first.
	Mendable bool
}

func (e *RefusedError) Error() string { return e.Path + ": not forked: " + e.Why }

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
	dir := os.DirFS(filepath.Dir(p.log.Path))
	p.src = &source{
		ctx: ctx, path: p.log.Path, r: f, size: fi.Size(), medium: p.log.Medium, dialect: p.log.Dialect,
		place: format.Place{Path: p.log.Path, Medium: p.log.Medium, Stat: p.log.Stat, Dir: dir},
	}
	p.req = format.ForkRequest{Path: p.log.Path, Dir: dir, Medium: p.log.Medium, Dialect: p.log.Dialect}
	if p.log.Folder() != "" {
		p.req.Path = p.name
	}
	return p, nil
}

// List finds the places where a session may be cut, and where it may not.
func List(ctx context.Context, parts []store.Session) ([]format.Cut, error) {
	p, err := open(ctx, parts)
	if err != nil {
		return nil, err
	}
	defer p.f.Close()
	w, err := look(p.src, p.req, p.forker)
	if err != nil {
		return nil, err
	}
	return w.cuts, nil
}

// Make makes a child of a session, given with all its parts. A *RefusedError says why there is none.
func Make(ctx context.Context, parts []store.Session, o Options) (*Child, error) {
	if o.FS == nil {
		o.FS = durable.Disk
	}
	p, err := open(ctx, parts)
	if err != nil {
		return nil, err
	}
	defer p.f.Close()
	if err := p.idle(); err != nil {
		return nil, err
	}
	w, err := look(p.src, p.req, p.forker)
	if err != nil {
		return nil, err
	}
	cut, err := w.choose(p.name, o.Place, o.Close)
	if err != nil {
		if damaged := p.sound(ctx, nil); damaged != nil {
			return nil, damaged // which may be why the place is not found
		}
		return nil, err
	}
	if err := p.sound(ctx, cut); err != nil {
		return nil, err
	}
	if o.ID == "" {
		if o.ID, err = p.forker.NewID(o.Now, o.Random); err != nil {
			return nil, fmt.Errorf("make an id: %w", err)
		}
	}
	take := w.take(cut)
	q := p.req
	q.Cut, q.ID, q.Now, q.CWD = *cut, o.ID, o.Now, o.CWD
	q.Whole = len(w.cuts) > 0 && cut.N == w.cuts[len(w.cuts)-1].N
	q.Each = func(yield func(r *session.Record, taken bool) error) error {
		return p.src.each(func(r *session.Record, _ *format.Batch) error { return yield(r, take(r.N)) })
	}
	made, err := p.forker.Fork(q)
	if err != nil {
		return nil, p.refused(err)
	}
	c := &Child{ID: o.ID, Cut: *cut, Notes: made.Notes}
	return c, p.bear(ctx, c, made, cut, o)
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
