package store

import (
	"context"
	"errors"
	"slices"

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

// Stored tells a session that lies in a database: it is read and never written.
func (s Session) Stored() bool { return s.rows != nil }

// ReadOnly says what is to be done instead of writing to where the session lies, "" where it may be written.
func (s Session) ReadOnly() string {
	if s.rows == nil {
		return ""
	}
	return s.rows.format.ReadOnly()
}

// Text is the log of a session that lies in a database.
func (s Session) Text(ctx context.Context) ([]byte, error) {
	return s.rows.format.Text(ctx, s.rows.copy, s.rows.id)
}

// Close gives back what was kept open of databases.
func (f *Found) Close() {
	for _, c := range f.copies {
		c.Close()
	}
	f.copies = nil
}

// stored is the format that keeps sessions in databases of this name, nil where none does.
func (w *opener) stored(name string) format.Stored {
	for _, f := range w.o.Formats {
		if s, ok := f.(format.Stored); ok && slices.Contains(s.Databases(), name) {
			return s
		}
	}
	return nil
}

// database finds the sessions in a database.
func (w *opener) database(ctx context.Context, f format.Stored, path, rel string) error {
	at := real(path)
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
	for _, l := range list {
		s := Session{
			Path: path + "#" + l.ID, Rel: rel + "#" + l.ID, Medium: scan.Lines, Format: f, ID: l.ID, families: w.o.families,
			rows: &rows{c, f, l.ID},
		}
		if s.Dialect, err = f.Dialect(format.Peek{Path: s.Path, Line: []byte(l.First), First: []byte(l.First), FirstLine: true}, w.o.Client); err != nil {
			w.trouble(s.Path, err)
			continue
		}
		w.out.Sessions = append(w.out.Sessions, s)
	}
	if len(list) == 0 {
		w.again++ // it was looked at
	}
	return ctx.Err()
}
