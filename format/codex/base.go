package codex

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// maxBases bounds how far back the beginning of a rollout is followed.
const maxBases = 100

// bases are the pieces of others that a rollout begins with, in the order in which they are read; none where it
// begins in itself.
func bases(path string, framing session.Framing, header []byte) ([]piece, error) {
	var out []piece
	seen := map[string]bool{Format{}.Named(path): true}
	for {
		c, ok := Format{}.Cites(header)
		if !ok {
			slices.Reverse(out)
			return out, nil
		}
		if seen[c.Named] || len(out) == maxBases {
			return nil, format.Refuse(-1, "it begins in %.80s, which leads back to it", c.Named)
		}
		seen[c.Named] = true
		at := findNamed(path, c.Named)
		if at == "" {
			return nil, format.Refuse(-1, "it begins in %.80s, which is not here", c.Named)
		}
		out = append(out, piece{path: at, framing: framing, base: true, bytes: c.Bytes})
		var err error
		if header, err = firstOf(piece{path: at, framing: framing}); err != nil {
			return nil, err
		}
	}
}

// findNamed is the rollout that others call by a name, "" where none is among the kin of the one at path; of two the plain
// one, which the client opens.
func findNamed(path, name string) (found string) {
	dirs, _ := Format{}.Kin(path)
	for _, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || (Format{}).Named(at) != name {
				return nil
			}
			if fi, err := os.Stat(at); err == nil && fi.Mode().IsRegular() {
				if n, _ := nameOf(at); found == "" || !n.packed {
					found = at
				}
			}
			return nil
		})
	}
	return found
}

// piece is a rollout, or its beginning, that is read.
type piece struct {
	path    string
	dir     fs.FS // that it lies in; nil = the disk
	framing session.Framing
	// bytes of its text count, where it is a base; else all do.
	base  bool
	bytes int64
}

// firstOf is the first record of a rollout, nil where it has none.
func firstOf(p piece) (first []byte, err error) {
	err = p.each(func(r *session.Record) error {
		first = bytes.Clone(r.Raw)
		return errEnough
	})
	return first, err
}

var errEnough = errors.New("enough")

func (p piece) open() (fs.File, error) {
	if p.dir != nil {
		return p.dir.Open(filepath.Base(p.path))
	}
	return os.Open(p.path)
}

// each goes over the records. It refuses a base that is shorter than what counts of it, or damaged there.
func (p piece) each(yield func(r *session.Record) error) error {
	f, err := p.open()
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	at, ok := f.(io.ReaderAt)
	if !ok || !fi.Mode().IsRegular() {
		return &fs.PathError{Op: "read", Path: p.path, Err: fs.ErrInvalid}
	}
	medium := scan.Lines
	mark := make([]byte, 4)
	if n, _ := at.ReadAt(mark, 0); string(mark[:n]) == "\x28\xB5\x2F\xFD" {
		medium = scan.Frames
	}
	s, err := scan.New(context.Background(), at, fi.Size(), scan.Options{Medium: medium, Framing: p.framing})
	if err != nil {
		return err
	}
	refuse := func(text string) error {
		return format.Refuse(-1, "%s, in which it begins, %s", filepath.Base(p.path), text)
	}
	damaged := func() bool {
		return slices.ContainsFunc(s.Findings(), func(n finding.Finding) bool { return p.base && n.Damage() && n.Text < p.bytes })
	}
	for s.Next() {
		r := s.Record()
		if damaged() {
			return refuse("is damaged there: repair it first")
		}
		if p.base && r.TextEnd() > p.bytes {
			return nil
		}
		if err := yield(r); errors.Is(err, errEnough) {
			return nil
		} else if err != nil {
			return err
		}
	}
	if err := s.Err(); err != nil {
		return err
	}
	if damaged() {
		return refuse("is damaged there: repair it first")
	}
	if p.base && s.Text() < p.bytes {
		return refuse("is shorter than that")
	}
	return nil
}

// own is the log of a session that is to be forked.
func own(q format.ForkRequest) piece {
	return piece{path: q.Path, dir: q.Dir, framing: q.Dialect.Framing()}
}

// history are the pieces that a session's history is in, its own log last.
func history(q format.ForkRequest) ([]piece, error) {
	header, err := firstOf(own(q))
	if err != nil {
		return nil, err
	}
	from, err := bases(q.Path, q.Dialect.Framing(), header)
	return append(from, own(q)), err
}

// Bases are the beginnings of other rollouts that one begins with.
func (Format) Bases(path string, d format.Dialect, first []byte) ([]format.Base, error) {
	from, err := bases(path, d.Framing(), first)
	if err != nil {
		return nil, err
	}
	var out []format.Base
	for _, p := range from {
		out = append(out, format.Base{Path: p.path, Bytes: p.bytes})
	}
	return out, nil
}

var _ format.Based = Format{}
