package repair

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/format"
)

// Errors of undo.
var (
	ErrNoCase  = errors.New("sessfix has repaired nothing here that could be undone")
	ErrWritten = errors.New("the file was written to since the repair; put the original elsewhere with --output")
)

// UndoOptions say how a repair is to be undone.
type UndoOptions struct {
	CaseDir string
	FS      durable.FS
	Output  string // file that gets the original instead
	Formats []format.Format
}

// Undone is one repair taken back.
type Undone struct {
	Path   string `json:"path"`
	Case   string `json:"receipt"`
	SHA256 string `json:"sha256"`
}

// FindCases lists the repairs that an argument of undo means: a receipt, a case folder, a
// session's file, or all sessions below a directory.
func FindCases(fsys durable.FS, caseDir, arg string) ([]string, error) {
	dir := arg
	if filepath.Base(dir) == "receipt.json" {
		dir = filepath.Dir(dir)
	}
	if _, err := fsys.Stat(filepath.Join(dir, "case.json")); err == nil {
		return []string{dir}, nil
	}
	path, err := realPath(arg)
	if err != nil {
		return nil, err
	}
	if fi, err := fsys.Stat(path); err != nil || !fi.IsDir() {
		dir, err := lastCase(fsys, caseHome(caseDir, path))
		if err != nil {
			return nil, err
		}
		return []string{dir}, nil
	}
	homes, err := fsys.ReadDir(caseDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []string
	for _, h := range homes {
		dir, err := lastCase(fsys, filepath.Join(caseDir, h.Name()))
		if err != nil {
			continue
		}
		if s, err := readCase(fsys, dir); err == nil && strings.HasPrefix(s.Path, path+string(filepath.Separator)) {
			out = append(out, dir)
		}
	}
	if len(out) == 0 {
		return nil, ErrNoCase
	}
	sort.Strings(out)
	return out, nil
}

// lastCase is the newest case of a file that was carried out and not undone.
func lastCase(fsys durable.FS, home string) (string, error) {
	list, err := cases(fsys, home)
	if err != nil {
		return "", err
	}
	for i := len(list) - 1; i >= 0; i-- {
		if !list[i].settled {
			return list[i].dir, nil
		}
	}
	return "", ErrNoCase
}

// Undo puts the original of a case back, byte for byte.
func Undo(ctx context.Context, dir string, o UndoOptions) (Undone, error) {
	if o.FS == nil {
		o.FS = durable.Disk
	}
	s, err := readCase(o.FS, dir)
	if err != nil {
		return Undone{}, err
	}
	u := Undone{Path: s.Path, Case: dir, SHA256: s.SHA256[0]}
	if s.settled {
		return u, fmt.Errorf("%s: %w", s.Path, ErrNoCase)
	}
	if o.Output != "" {
		return u, o.writeOriginal(s)
	}
	fi, err := o.FS.Stat(s.Path)
	if err != nil {
		return u, err
	}
	token := durable.TokenOf(fi)
	size, hash, err := fileHash(o.FS, s.Path)
	if err != nil {
		return u, err
	}
	if size == s.Size[0] && hash == s.SHA256[0] {
		return u, mark(o.FS, dir, "undone.json", s.Case)
	}
	if size != s.Size[1] || hash != s.SHA256[1] {
		return u, fmt.Errorf("%s: %w", s.Path, ErrWritten)
	}
	for _, f := range o.Formats {
		g, ok := f.(format.Guarder)
		if !ok || f.Name() != s.Agent {
			continue
		}
		release, err := guard(ctx, o.FS, s.Path, g.Guards(s.Path))
		if err != nil {
			return u, err
		}
		defer release()
	}
	check := func() error {
		now, err := o.FS.Stat(s.Path)
		if err == nil && durable.TokenOf(now) != token {
			err = durable.ErrChanged
		}
		return err
	}
	if s.Mode == ModeAppend {
		err = durable.CutBack(o.FS, s.Path, s.Size[0], check)
	} else {
		err = durable.Replace(o.FS, s.Path, durable.ReplaceOptions{Suffix: tempSuffix(s.SHA256[0]), KeepTime: s.KeepTime, Check: check}, func(w io.Writer) error {
			return copyFile(o.FS, filepath.Join(dir, "original"), w)
		})
	}
	if err != nil {
		return u, live(s.Path, err)
	}
	if _, hash, err = fileHash(o.FS, s.Path); err != nil {
		return u, err
	}
	if hash != s.SHA256[0] {
		return u, live(s.Path, durable.ErrChanged)
	}
	return u, mark(o.FS, dir, "undone.json", s.Case)
}

// writeOriginal puts the original elsewhere.
func (o UndoOptions) writeOriginal(s stored) error {
	return durable.WriteNew(o.FS, o.Output, func(w io.Writer) error {
		if s.Mode == ModeReplace {
			return copyFile(o.FS, filepath.Join(s.dir, "original"), w)
		}
		f, err := o.FS.Open(s.Path)
		if err != nil {
			return err
		}
		defer f.Close()
		if h, err := hashOf(f, s.Size[0]); err != nil || h != s.SHA256[0] {
			return fmt.Errorf("%s: its beginning is no longer the original", s.Path)
		}
		_, err = io.Copy(w, io.NewSectionReader(f, 0, s.Size[0]))
		return err
	})
}

func copyFile(fsys durable.FS, name string, w io.Writer) error {
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}
