package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

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
			c, ok, err := m.cites(path)
			m.blind = m.blind || errors.Is(err, fs.ErrPermission)
			if ok && c.Bytes > 0 {
				m.needed[c.Named] = append(m.needed[c.Named], c.Bytes)
			}
		}
	})
	return m.needed[name]
}

// cites reads where a file begins; ok is false where it begins in itself, or that cannot be told.
func (m *family) cites(path string) (c format.Citation, ok bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return c, false, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return c, false, err
	}
	p, _, err := peek(context.Background(), path, f, fi.Size())
	if err != nil || !p.FirstLine {
		return c, false, err
	}
	c, ok = m.f.Cites(p.First)
	return c, ok, nil
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
