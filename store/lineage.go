package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
)

// maxLineage bounds how far back a session's beginning is followed.
const maxLineage = 100

// back goes over what a session begins in, the nearest first, with the path of that file, empty where it is not there.
func (m *family) back(c format.Citation) iter.Seq2[format.Citation, string] {
	return func(yield func(format.Citation, string) bool) {
		for ok := true; ok; {
			path := m.find(c.Named)
			if !yield(c, path) || path == "" {
				return
			}
			c, ok, _ = m.cites(path)
		}
	}
}

// Depth is how many files lie between a session and the one that its beginning begins in: what is to be mended first
// has the smaller one.
func (s Session) Depth() (n int) {
	m, _, _ := s.family()
	if s.cites == nil || m == nil {
		return 0
	}
	for range m.back(*s.cites) {
		if n++; n == maxLineage {
			break
		}
	}
	return n
}

// lineage judges the files in which a session begins.
func (s Session) lineage() []finding.Finding {
	if s.cites == nil {
		return nil
	}
	m, f, home := s.family()
	if m == nil {
		return nil
	}
	broken := func(where, text string, args ...any) []finding.Finding {
		n := finding.New(finding.LineageBroken)
		n.Where, n.Message = where, fmt.Sprintf(text, args...)
		n.Repair = "none is safe: bring back that file as it was, from a backup or from the trash"
		n.Never = "make the numbers fit what is there"
		return []finding.Finding{n}
	}
	seen := map[string]bool{f.Named(s.Path): true}
	var child format.Citation
	for c, path := range m.back(*s.cites) {
		switch {
		case len(seen) > 1 && c.Records >= child.Records:
			return broken("order", "the session counts %d records of %s, which itself begins with %d", child.Records, child.Named, c.Records)
		case seen[c.Named]:
			return broken("cycle", "the session begins in %s, which leads back to it", c.Named)
		case path == "" && !home:
			return nil // it may lie elsewhere
		case path == "":
			return broken("missing", "the session begins in %s, which is not there", c.Named)
		case len(seen) > maxLineage:
			return broken("cycle", "the session's beginning lies more than %d files back", maxLineage)
		}
		seen[c.Named], child = true, c
		size, atLine, err := lineEnd(path, c.Bytes)
		switch {
		case err != nil:
			return broken("unreadable", "the session begins in %s, which cannot be read: %v", c.Named, plain(err))
		case size < c.Bytes:
			return broken("short", "the session counts %d bytes of %s, which holds %d", c.Bytes, c.Named, size)
		case !atLine:
			return broken("inside", "the session counts %d bytes of %s, and there no record ends", c.Bytes, c.Named)
		}
	}
	return nil
}

// plain is an error without the path, which may be long.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// lineEnd tells whether a line of a file's text ends behind n bytes, and how long the text is: at least n, where it is.
func lineEnd(path string, n int64) (size int64, atLine bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return 0, false, err
	}
	mark := make([]byte, 4)
	k, _ := f.ReadAt(mark, 0)
	if medium(path, mark[:k]) != scan.Frames {
		last := make([]byte, 1)
		if n > 0 && n <= fi.Size() {
			if _, err := f.ReadAt(last, n-1); err != nil {
				return 0, false, err
			}
		}
		return fi.Size(), n == 0 || last[0] == '\n', nil
	}
	if n == 0 {
		return 0, true, nil
	}
	w := scan.NewFrameWalker(f, fi.Size(), nil)
	defer w.Close()
	var text []byte
	for size < n {
		g, out, err := w.Next(text[:0])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return size, false, err
		}
		if g.Streamed {
			in, err := w.Stream(g)
			if err != nil {
				return size, false, err
			}
			got, last, err := copyTo(in, n-size)
			if err != nil {
				return size, false, err
			}
			size += got
			return size, last == '\n', nil
		}
		text = out
		if size+int64(len(text)) >= n {
			atLine = bytes.HasSuffix(text[:n-size], []byte{'\n'})
		}
		size += int64(len(text))
	}
	return size, atLine, nil
}

// copyTo reads up to n bytes and gives the last of them.
func copyTo(r io.Reader, n int64) (got int64, last byte, err error) {
	buf := make([]byte, 64<<10)
	for got < n {
		k, err := r.Read(buf[:min(int64(len(buf)), n-got)])
		if k > 0 {
			got += int64(k)
			last = buf[k-1]
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return got, last, err
		}
	}
	return got, last, nil
}
