package store

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessfix/sessfix/database"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
)

// rows is where a session comes from that lies in a database.
type rows struct {
	copy   *database.Copy
	format format.Stored
	id     string
}

// Stored tells a session that lies in a database.
func (s Session) Stored() bool { return s.rows != nil }

// ReadOnly says what is to be done instead of writing to where the session lies, "" where it may be written.
func (s Session) ReadOnly() string {
	if s.rows == nil {
		return ""
	}
	return s.rows.format.ReadOnly()
}

// Database is the database that a stored session lies in, with its id there.
func (s Session) Database() (path, id string) {
	return strings.TrimSuffix(s.Path, "#"+s.rows.id), s.rows.id
}

// Copy is the private copy of that database.
func (s Session) Copy() *database.Copy { return s.rows.copy }

// Text is the log of a session that lies in a database.
func (s Session) Text(ctx context.Context) ([]byte, error) {
	return s.rows.format.Text(ctx, s.rows.copy, s.rows.id)
}

// Log is the log of a session that lies in a database, as a file of its own that is gone once it is closed.
func (s Session) Log(ctx context.Context) (*os.File, error) {
	return s.rows.copy.Spool(func(w io.Writer) error {
		if f, ok := s.rows.format.(format.Rewritable); ok {
			return f.Lines(ctx, s.rows.copy, s.rows.id, w)
		}
		text, err := s.Text(ctx)
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	})
}

// Close gives back what was kept open of databases.
func (f *Found) Close() {
	for _, c := range f.copies {
		c.Close()
	}
	f.copies = nil
}

// stored is the format that keeps sessions in such a database, nil where none does. Of a walk only files are looked into
// that are called like databases.
func (w *opener) stored(path string, walk bool) format.Stored {
	name := filepath.Base(path)
	var holders []format.Holder
	for _, f := range w.o.Formats {
		s, ok := f.(format.Stored)
		if ok && slices.Contains(s.Databases(), name) {
			return s
		}
		if h, ok := s.(format.Holder); ok {
			holders = append(holders, h)
		}
	}
	if len(holders) == 0 || candidate(name) || walk && !slices.Contains([]string{".db", ".sqlite", ".sqlite3"}, filepath.Ext(name)) {
		return nil
	}
	head := database.Head(path)
	for _, h := range holders {
		if h.Holds(head) {
			return h
		}
	}
	return nil
}

// inside opens one session of a database, named as its path in reports: the database's, "#" and the id.
func (w *opener) inside(ctx context.Context, p string) (bool, error) {
	for at := range p {
		if p[at] != '#' {
			continue
		}
		fi, err := os.Stat(p[:at])
		if err != nil || !fi.Mode().IsRegular() {
			continue
		}
		if f := w.stored(p[:at], false); f != nil {
			return true, w.database(ctx, f, p[:at], filepath.Base(p[:at]), p[at+1:])
		}
	}
	return false, nil
}

// database finds the sessions in a database, or the one that is named.
func (w *opener) database(ctx context.Context, f format.Stored, path, rel string, only ...string) error {
	at := Real(path)
	if len(only) > 0 {
		at += "#" + only[0]
	}
	if w.files[at] || w.each != nil {
		w.again++
		return nil
	}
	w.files[at] = true
	c, err := database.Open(ctx, path)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		w.trouble(path, errors.Unwrap(err)) // it names the path already
		return nil
	}
	w.out.copies = append(w.out.copies, c)
	list, err := f.List(ctx, c)
	if err != nil {
		w.trouble(path, err)
		return ctx.Err()
	}
	found := 0
	for _, l := range list {
		if len(only) > 0 && l.ID != only[0] {
			continue
		}
		found++
		s := Session{
			Path: path + "#" + l.ID, Rel: rel + "#" + l.ID, Medium: scan.Lines, Format: f, ID: l.ID, families: w.o.families,
			rows: &rows{c, f, l.ID}, Unknown: l.Unknown,
		}
		peek := format.Peek{Path: s.Path, Line: []byte(l.First), First: []byte(l.First), FirstLine: true}
		if s.Dialect, err = f.Dialect(peek, w.o.Client); err != nil && l.Unknown == nil && !errors.As(err, &s.Unknown) {
			w.trouble(s.Path, err)
			continue
		}
		if t, ok := f.(format.Titler); ok {
			s.CWD = t.Title(peek).CWD
		}
		w.out.Sessions = append(w.out.Sessions, s)
	}
	if found == 0 && len(only) == 0 {
		w.again++ // it was looked at
	}
	return ctx.Err()
}
