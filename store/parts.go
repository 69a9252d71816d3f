package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessfix/sessfix/format"
)

// Folder is the folder that holds all parts of the session, "" where its file is all of it.
func (s Session) Folder() string {
	if p, ok := s.parted(); ok {
		if _, ok := p.Part(s.Path); ok {
			return filepath.Dir(s.Path)
		}
	}
	return ""
}

// Part tells what the file is in its session: the whole of it where it is no part.
func (s Session) Part() format.Part {
	if p, ok := s.parted(); ok {
		if part, ok := p.Part(s.Path); ok {
			return part
		}
	}
	return format.Part{Role: format.Primary}
}

func (s Session) parted() (format.Parted, bool) {
	p, ok := s.Format.(format.Parted)
	return p, ok
}

// Groups are the sessions found, each with its parts in the order in which a repair takes them.
func (f *Found) Groups() [][]Session {
	var out [][]Session
	at := map[string]int{}
	for _, s := range f.Sessions {
		dir := s.Folder()
		if dir == "" {
			out = append(out, []Session{s})
			continue
		}
		key := s.Format.Name() + " " + dir
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key], out = i, append(out, nil)
		}
		out[i] = append(out[i], s)
	}
	for _, g := range out {
		slices.SortStableFunc(g, func(a, b Session) int { return a.Part().Order - b.Part().Order })
	}
	return out
}

// siblings adds the parts of a session of which a single one was named.
func (w *opener) siblings(ctx context.Context, path string) error {
	if len(w.out.Sessions) == 0 {
		return nil
	}
	s := w.out.Sessions[len(w.out.Sessions)-1]
	p, ok := s.parted()
	if !ok || s.Path != path || s.Folder() == "" {
		return nil
	}
	for _, name := range p.Parts() {
		at := filepath.Join(filepath.Dir(path), name)
		fi, err := os.Stat(at)
		if err != nil || !fi.Mode().IsRegular() {
			continue
		}
		if err := w.file(ctx, at, name, false); err != nil {
			return err
		}
	}
	return nil
}

// lost adds the parts that are not there and should be.
func (w *opener) lost() {
	seen := map[string]bool{}
	for _, s := range slices.Clone(w.out.Sessions) {
		p, ok := s.parted()
		dir := s.Folder()
		if !ok || dir == "" || seen[dir] {
			continue
		}
		seen[dir] = true
		for _, name := range p.Lost(s.Path, os.DirFS(dir)) {
			path := filepath.Join(dir, name)
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				continue // a link that leads nowhere
			}
			d, err := s.Format.Dialect(format.Peek{Path: path}, w.o.Client)
			if err != nil {
				continue
			}
			m := s
			m.Path, m.Rel, m.Dialect, m.Unknown, m.Missing = path, strings.TrimSuffix(s.Rel, filepath.Base(s.Path))+name, d, nil, true
			w.out.Sessions = append(w.out.Sessions, m)
		}
	}
}
