package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
)

// family is what files in some folders say of each other. It is looked for when it is first needed.
type family struct {
	f      format.Citer
	dirs   []string
	walk   sync.Once
	read   sync.Once
	paths  map[string]string  // by the name that others call a file; the plain one where there are two
	blind  bool               // a file cannot be read: whom it counts is not known
	needed map[string][]int64 // how many bytes of a file others count, by that name
}

// families are those of one run, by their folders.
type families struct {
	mu   sync.Mutex
	list map[string]*family
}

func (c *families) of(f format.Citer, dirs []string) *family {
	if c == nil {
		return &family{f: f, dirs: dirs}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.list == nil {
		c.list = map[string]*family{}
	}
	k := strings.Join(dirs, "\x00")
	if c.list[k] == nil {
		c.list[k] = &family{f: f, dirs: dirs}
	}
	return c.list[k]
}

// find is the file that others call by a name, empty where there is none.
func (m *family) find(name string) string {
	m.walk.Do(func() {
		m.paths = map[string]string{}
		for _, dir := range m.dirs {
			if real, err := filepath.EvalSymlinks(dir); err == nil {
				dir = real
			}
			filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return nil
				}
				if n := m.f.Named(path); n != "" && regular(path) {
					if have, ok := m.paths[n]; !ok || medium(have, nil) == scan.Frames && medium(path, nil) != scan.Frames {
						m.paths[n] = path
					}
				}
				return nil
			})
		}
	})
	return m.paths[name]
}

// regular tells a file that can be opened without waiting for somebody at the other end.
func regular(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular()
}

// counted are the numbers of bytes of a file that others count.
func (m *family) counted(name string) []int64 {
	m.read.Do(func() {
		m.find("")
		m.needed = map[string][]int64{}
		for _, path := range m.paths {
			if c, ok := m.cites(path); ok && c.Bytes > 0 {
				m.needed[c.Named] = append(m.needed[c.Named], c.Bytes)
			}
		}
	})
	return m.needed[name]
}

// cites reads where a file begins.
func (m *family) cites(path string) (format.Citation, bool) {
	f, err := os.Open(path)
	if err != nil {
		m.blind = m.blind || errors.Is(err, fs.ErrPermission)
		return format.Citation{}, false
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() {
		return format.Citation{}, false
	}
	p, _, err := peek(context.Background(), path, f, fi.Size())
	if err != nil || !p.FirstLine {
		return format.Citation{}, false
	}
	return m.f.Cites(p.First)
}

// family is the one that a session's file belongs to; home tells that no file elsewhere cites it.
func (s Session) family() (m *family, f format.Citer, home bool) {
	f, ok := s.Format.(format.Citer)
	if !ok {
		return nil, nil, false
	}
	dirs, home := f.Kin(s.Path)
	if len(dirs) == 0 {
		return nil, f, false
	}
	return s.families.of(f, dirs), f, home
}

// Pin is how many bytes of the session's text other files count: 0 where nothing is known of them, -1 where none does.
func (s Session) Pin() int64 {
	m, f, home := s.family()
	if m == nil || !home {
		return 0
	}
	switch n := m.counted(f.Named(s.Path)); {
	case m.blind:
		return 0
	case len(n) > 0:
		return slices.Max(n)
	}
	return -1
}

// Places are the places in the session's text that other files count to, where they are known.
func (s Session) Places() []int64 {
	m, f, home := s.family()
	if m == nil || !home {
		return nil
	}
	return m.counted(f.Named(s.Path))
}

// Depth is how many files lie between a session and the one that its beginning begins in: what is to be mended first
// has the smaller one.
func (s Session) Depth() int {
	if s.cites == nil {
		return 0
	}
	m, _, _ := s.family()
	if m == nil {
		return 0
	}
	c := *s.cites
	for n := 1; n < maxLineage; n++ {
		path := m.find(c.Named)
		next, ok := m.cites(path)
		if path == "" || !ok {
			return n
		}
		c = next
	}
	return maxLineage
}

// maxLineage bounds how far back a session's beginning is followed.
const maxLineage = 100

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
	c := *s.cites
	seen := map[string]bool{f.Named(s.Path): true}
	for range maxLineage {
		if seen[c.Named] {
			return broken("cycle", "the session begins in %s, which leads back to it", c.Named)
		}
		seen[c.Named] = true
		path := m.find(c.Named)
		if path == "" {
			if !home {
				return nil // it may lie elsewhere
			}
			return broken("missing", "the session begins in %s, which is not there", c.Named)
		}
		size, atLine, err := lineEnd(path, c.Bytes)
		switch {
		case err != nil:
			return broken("unreadable", "the session begins in %s, which cannot be read: %v", c.Named, plain(err))
		case size < c.Bytes:
			return broken("short", "the session counts %d bytes of %s, which holds %d", c.Bytes, c.Named, size)
		case !atLine:
			return broken("inside", "the session counts %d bytes of %s, and there no record ends", c.Bytes, c.Named)
		}
		next, ok := m.cites(path)
		if !ok {
			return nil
		}
		if next.Records >= c.Records {
			return broken("order", "the session counts %d records of %s, which itself begins with %d", c.Records, c.Named, next.Records)
		}
		c = next
	}
	return broken("cycle", "the session's beginning lies more than %d files back", maxLineage)
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
