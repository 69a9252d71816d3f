package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/sessfix/sessfix/database"
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
)

// Errors that callers act on.
var (
	ErrUnknown    = errors.New("not a session of a known agent")
	ErrNotRegular = errors.New("not a regular file")
	ErrNoSession  = errors.New("no session found")
	ErrLoop       = errors.New("directory loop, not followed")
)

// Options say what is looked for.
type Options struct {
	Formats []format.Format
	Client  string
	Env     func(string) string
	// Now is the time that the age of files is told by; where it is zero no age is told.
	Now time.Time
	// Live tells whether somebody may be at work on a session with these guards; where it is nil nobody can tell.
	Live func(path string, guards []format.Guard) bool

	families *families
}

// Session is a session's file, found and recognised but not yet read.
type Session struct {
	Path    string
	Rel     string // path below the tree it was found in
	Medium  string
	Format  format.Format
	Dialect format.Dialect
	Unknown *format.VersionError
	// ID and CWD are what the header says, where there is one.
	ID, CWD string
	// Missing: the file is a part of a session, and it is not there.
	Missing bool

	live     func(path string, guards []format.Guard) bool
	heritage *format.Heritage // whose child it says that it is
	cites    *format.Citation // where it begins, if that is in another file
	families *families
	rows     *rows // where it lies, if that is in a database
}

// Root is a directory of sessions with what is wrong with it as a whole.
type Root struct {
	Path     string
	Format   format.Format
	Findings []finding.Finding
}

// Trouble is a path that could not be looked at.
type Trouble struct {
	Path string
	Err  error
}

func (t Trouble) Error() string { return t.Path + ": " + t.Err.Error() }

func (t Trouble) Unwrap() error { return t.Err }

// Found is what lies under the given paths, in order of path.
type Found struct {
	Sessions []Session
	Roots    []Root
	Troubles []Trouble

	copies []*database.Copy
}

type opener struct {
	o       Options
	out     *Found
	visited map[string]bool // directories on the way down and seen before, by real path
	files   map[string]bool
	asked   []string          // the directories that were asked for, and the homes of agents where none was
	each    func(path string) // instead of recognising a file
	plain   []string
	again   int // files and directories met a second time
}

// Open finds the sessions at paths; without paths those in the agents' homes.
func Open(ctx context.Context, paths []string, o Options) (*Found, error) {
	o.families = &families{}
	w := &opener{o: o, out: &Found{}, visited: map[string]bool{}, files: map[string]bool{}}
	explicit := len(paths) > 0
	if !explicit {
		for _, f := range o.Formats {
			for _, h := range f.Homes(o.Env) {
				if _, err := os.Stat(h); err == nil {
					paths = append(paths, h)
				}
			}
		}
	}
	for _, p := range paths {
		before := len(w.out.Sessions) + len(w.out.Troubles) + w.again
		if err := w.path(ctx, p); err != nil {
			return nil, err
		}
		if explicit && len(w.out.Sessions)+len(w.out.Troubles)+w.again == before {
			w.trouble(p, ErrNoSession)
		}
	}
	w.lost()
	sort.SliceStable(w.out.Sessions, func(i, j int) bool { return w.out.Sessions[i].Path < w.out.Sessions[j].Path })
	w.survey(explicit)
	return w.out, nil
}

func (w *opener) trouble(path string, err error) {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	w.out.Troubles = append(w.out.Troubles, Trouble{path, err})
}

// path opens one path given by the user.
func (w *opener) path(ctx context.Context, p string) error {
	fi, err := os.Stat(p)
	switch {
	case err != nil:
		if ok, err := w.inside(ctx, p); ok || err != nil {
			return err
		}
		w.trouble(p, err)
	case fi.IsDir():
		w.asked = append(w.asked, p)
		return w.dir(ctx, p, p, nil)
	case !fi.Mode().IsRegular():
		w.trouble(p, ErrNotRegular)
	default:
		if f := w.stored(p, false); f != nil {
			return w.database(ctx, f, p, filepath.Base(p))
		}
		if err := w.file(ctx, p, filepath.Base(p), true); err != nil {
			return err
		}
		return w.siblings(ctx, p)
	}
	return ctx.Err()
}

// dir walks a tree. Links to directories are followed, but never in a circle.
func (w *opener) dir(ctx context.Context, root, dir string, above []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	at := Real(dir)
	for _, a := range above {
		if a == at {
			w.trouble(dir, ErrLoop)
			return nil
		}
	}
	if w.visited[at] {
		w.again++
		return nil
	}
	w.visited[at] = true
	entries, err := os.ReadDir(dir)
	if err != nil {
		w.trouble(dir, err)
	}
	above = append(above[:len(above):len(above)], at)
	for _, e := range entries {
		p := filepath.Join(dir, e.Name())
		mode := e.Type()
		if mode&fs.ModeSymlink != 0 {
			fi, err := os.Stat(p)
			if err != nil {
				if candidate(e.Name()) || w.document(e.Name()) {
					w.trouble(p, err)
				}
				continue
			}
			mode = fi.Mode().Type()
		}
		switch {
		case mode.IsDir():
			err = w.dir(ctx, root, p, above)
		case !candidate(e.Name()) && !w.document(e.Name()) && w.stored(p, true) == nil:
			continue
		case !mode.IsRegular():
			w.trouble(p, ErrNotRegular)
			continue
		default:
			rel, e := filepath.Rel(root, p)
			if e != nil {
				rel = filepath.Base(p)
			}
			if f := w.stored(p, true); f != nil {
				err = w.database(ctx, f, p, rel)
			} else {
				err = w.file(ctx, p, rel, false)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// candidate tells names that a session may have.
func candidate(name string) bool {
	for _, s := range []string{".jsonl", ".jsonl.zst", ".jsonl.zstd"} {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	return false
}

// document tells names of files beside sessions that an agent cannot do without.
func (w *opener) document(name string) bool {
	for _, f := range w.o.Formats {
		if d, ok := f.(format.Documented); ok && slices.Contains(d.Documents(), name) {
			return true
		}
	}
	return false
}

// Real is a path without links and from the root on, as far as that can be told.
func Real(p string) string {
	if r, err := filepath.EvalSymlinks(p); err == nil {
		p = r
	}
	if a, err := filepath.Abs(p); err == nil {
		p = a
	}
	return p
}

// file recognises one file.
func (w *opener) file(ctx context.Context, path, rel string, explicit bool) error {
	at := Real(path)
	if w.files[at] {
		w.again++
		return nil
	}
	w.files[at] = true
	if w.each != nil {
		w.each(path)
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		w.trouble(path, err)
		return nil
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		w.trouble(path, err)
		return nil
	}
	s, err := Recognise(ctx, path, f, fi.Size(), w.o)
	switch {
	case errors.Is(err, ErrUnknown) && !explicit:
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		w.trouble(path, err)
	default:
		s.Rel = rel
		w.out.Sessions = append(w.out.Sessions, s)
	}
	return nil
}

// Recognise tells whose session a file is.
func Recognise(ctx context.Context, path string, r io.ReaderAt, size int64, o Options) (Session, error) {
	p, med, err := peek(ctx, path, r, size)
	if err != nil {
		return Session{}, err
	}
	s := Session{Path: path, Medium: med, live: o.Live, families: o.families}
	best := format.No
	for _, f := range o.Formats {
		if m := f.Detect(p); m > best {
			best, s.Format = m, f
		}
	}
	if best == format.No {
		return s, ErrUnknown
	}
	s.Dialect, err = s.Format.Dialect(p, o.Client)
	if errors.As(err, &s.Unknown) {
		err = nil
	}
	if c, ok := s.Format.(format.Citer); ok && p.FirstLine {
		if at, ok := c.Cites(p.First); ok {
			s.cites = &at
		}
	}
	if h, ok := s.Format.(format.Heir); ok && p.First != nil {
		if from, ok := h.Inherits(p); ok {
			s.heritage = &from
		}
	}
	if t, ok := s.Format.(format.Titler); ok {
		h := t.Title(p)
		s.ID, s.CWD = h.ID, h.CWD
	}
	return s, err
}

// Aim makes verify also ask whether a release of the agent would upgrade the session.
func (s *Session) Aim(version string) error {
	t, ok := s.Dialect.(format.Targeter)
	if !ok {
		return fmt.Errorf("nothing is known of upgrades of %s", s.Format.Name())
	}
	d, err := t.Target(version)
	if err == nil {
		s.Dialect = d
	}
	return err
}

// Beside are findings about what lies around the session's file.
func (s Session) Beside() []finding.Finding {
	out := s.lineage()
	n, ok := s.Format.(format.Neighbour)
	if !ok {
		return out
	}
	a := format.Around{Path: s.Path, Dir: os.DirFS(filepath.Dir(s.Path))}
	if g, ok := s.Format.(format.Guarder); ok && s.live != nil {
		a.Live = func() bool { return s.live(s.Path, g.Guards(s.Path)) }
	}
	return append(out, n.Beside(a)...)
}

// Stat looks at a file that a session names by its full path. A path that may lead to another machine is not followed.
func (Session) Stat(path string) (fs.FileInfo, error) {
	if !filepath.IsAbs(path) || strings.HasPrefix(path, "//") || strings.HasPrefix(path, `\\`) {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
	}
	return os.Stat(path)
}

// Files lists the regular files that the paths mean, without asking whose they are.
func Files(ctx context.Context, paths []string) ([]string, []Trouble) {
	w := &opener{out: &Found{}, visited: map[string]bool{}, files: map[string]bool{}}
	w.each = func(path string) { w.plain = append(w.plain, path) }
	for _, p := range paths {
		if err := w.path(ctx, p); err != nil {
			break
		}
	}
	return w.plain, w.out.Troubles
}

// String names a root in messages.
func (r Root) String() string { return fmt.Sprintf("%s (%s)", r.Path, r.Format.Name()) }
