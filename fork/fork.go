package fork

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/session"
	"github.com/sessfix/sessfix/store"
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
