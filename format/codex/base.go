package codex

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// maxBases bounds how far back the beginning of a rollout is followed.
const maxBases = 100

// base is a piece of another rollout's beginning that a rollout begins with.
type base struct {
	path  string
	bytes int64 // of its text
}

// bases are the pieces of others that a rollout begins with, in the order in which they are read; none where it
// begins in itself.
func bases(path string, framing session.Framing) ([]base, error) {
	header, err := firstOf(path, framing)
	if err != nil {
		return nil, err
	}
	var out []base
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
		out = append(out, base{at, c.Bytes})
		if header, err = firstOf(at, framing); err != nil {
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

// firstOf is the first record of a rollout.
func firstOf(path string, framing session.Framing) (first []byte, err error) {
	err = eachOf(path, framing, -1, func(r *session.Record) error {
		first = bytes.Clone(r.Raw)
		return errEnough
	})
	return first, err
}

var errEnough = errors.New("enough")

// eachOf goes over the records in the first bytes of a rollout's text, all of them where that is negative. It refuses a
// text that is shorter, or in which what stands there cannot be read.
func eachOf(path string, framing session.Framing, bytes int64, yield func(r *session.Record) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	medium := scan.Lines
	if mark, _ := bufio.NewReader(f).Peek(4); string(mark) == "\x28\xB5\x2F\xFD" {
		medium = scan.Frames
	}
	s, err := scan.New(context.Background(), f, fi.Size(), scan.Options{Medium: medium, Framing: framing})
	if err != nil {
		return err
	}
	refuse := func(text string) error {
		return format.Refuse(-1, "%s, in which it begins, %s", filepath.Base(path), text)
	}
	for s.Next() {
		r := s.Record()
		if bytes >= 0 && r.TextEnd() > bytes {
			return nil
		}
		for _, n := range s.Findings() {
			if n.Damage() && bytes >= 0 {
				return refuse("is damaged there: repair it first")
			}
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
	if s.Text() < bytes {
		return refuse("is shorter than that")
	}
	return nil
}
