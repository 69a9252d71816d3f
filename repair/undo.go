package repair

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
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
	Gone   bool   `json:"gone,omitempty"` // there was no file before
}

// FindCases lists the repairs that an argument of undo means: a receipt, a case folder, a
// session's file, or all sessions below a directory.
func FindCases(fsys durable.FS, caseDir, arg string) ([]string, error) {
	dir := arg
	if filepath.Base(dir) == "receipt.json" {
		dir = filepath.Dir(dir)
	}
	path, err := casePath(arg)
	if err != nil {
		return nil, err
	}
	below := path + string(filepath.Separator)
	together := "" // what was changed with the file that was named
	if _, err := fsys.Stat(filepath.Join(dir, "case.json")); err == nil {
		s, err := readCase(fsys, dir)
		if err != nil || s.Folder == "" || s.settled {
			return []string{dir}, err
		}
		path, together = s.Folder, s.Folder
	}
	if fi, err := fsys.Stat(path); together == "" && (err != nil || !fi.IsDir()) {
		dir, noCase := lastCase(fsys, caseHome(caseDir, path))
		if noCase != nil && (err != nil || !errors.Is(noCase, ErrNoCase)) {
			return nil, noCase
		}
		if below = path + "#"; noCase == nil { // else it may be a database
			s, err := readCase(fsys, dir)
			if err != nil || s.Folder == "" {
				return []string{dir}, err
			}
			together = s.Folder
		}
	}
	homes, err := fsys.ReadDir(caseDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []string
	runs := map[string]int{} // by folder
	for _, h := range homes {
		dir, err := lastCase(fsys, filepath.Join(caseDir, h.Name()))
		if err != nil {
			continue
		}
		s, err := readCase(fsys, dir)
		if err == nil && (together != "" && s.Folder == together || together == "" && strings.HasPrefix(s.Path, below)) {
			out = append(out, dir)
			runs[s.Folder] = max(runs[s.Folder], s.Run)
		}
	}
	out = slices.DeleteFunc(out, func(dir string) bool { // what an earlier repair of the session did stays
		s, err := readCase(fsys, dir)
		return err == nil && s.Run < runs[s.Folder]
	})
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

// UndoAll undoes cases, as FindCases lists them, or writes their originals to Output: of several files to that folder. Those of a
// session of several files are undone together or not at all. Each is told with its own error.
func UndoAll(ctx context.Context, dirs []string, o UndoOptions) (done []Undone, errs []error) {
	if o.FS == nil {
		o.FS = durable.Disk
	}
	if err := Untouched(dirs, o); err != nil {
		return nil, []error{err}
	}
	folder := ""
	if o.Output != "" && len(dirs) > 1 {
		folder = o.Output
		if err := durable.MkdirAllSync(o.FS, folder); err != nil {
			return nil, []error{err}
		}
	}
	for _, dir := range dirs {
		if folder != "" {
			s, err := readCase(o.FS, dir)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			o.Output = filepath.Join(folder, filepath.Base(s.Path))
		}
		u, err := Undo(ctx, dir, o)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if o.Output != "" {
			u.Path, _ = filepath.Abs(o.Output)
		}
		done = append(done, u)
	}
	return done, errs
}

// Untouched checks that nobody wrote, since its repair, to the files of a session of several, so that all can be undone or none. Of
// other cases it says nothing: each is undone by itself.
func Untouched(dirs []string, o UndoOptions) error {
	if o.FS == nil {
		o.FS = durable.Disk
	}
	for _, dir := range dirs {
		s, err := readCase(o.FS, dir)
		if err != nil || s.Folder == "" || s.settled || o.Output != "" {
			continue
		}
		size, hash, err := fileHash(o.FS, s.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && (s.Mode == ModeCreate || s.Mode == ModeRemove):
		case err != nil:
			return err
		case size == s.Size[0] && hash == s.SHA256[0], size == s.Size[1] && hash == s.SHA256[1]:
		default:
			return fmt.Errorf("%s: %w", s.Path, ErrWritten)
		}
	}
	return nil
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
	u := Undone{Path: s.Path, Case: dir, SHA256: s.SHA256[0], Gone: s.Mode == ModeCreate}
	if s.settled {
		return u, fmt.Errorf("%s: %w", s.Path, ErrNoCase)
	}
	if o.Output != "" {
		return u, o.writeOriginal(s)
	}
	if s.Mode == ModeRows {
		return u, undoRows(ctx, s, o)
	}
	fi, err := o.FS.Stat(s.Path)
	if s.Mode == ModeCreate && errors.Is(err, fs.ErrNotExist) {
		return u, mark(o.FS, dir, "undone.json", s.Case)
	}
	if s.Mode == ModeRemove && errors.Is(err, fs.ErrNotExist) {
		return u, o.bringBack(s)
	}
	if err != nil {
		return u, err
	}
	token := durable.TokenOf(fi)
	size, hash, err := fileHash(o.FS, s.Path)
	if err != nil {
		return u, err
	}
	if s.Mode != ModeCreate && size == s.Size[0] && hash == s.SHA256[0] {
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
	switch s.Mode {
	case ModeAppend:
		err = durable.CutBack(o.FS, s.Path, s.Size[0], check)
	case ModeCreate:
		if err = check(); err == nil {
			err = o.FS.Remove(s.Path)
		}
		if err == nil {
			err = o.FS.SyncDir(filepath.Dir(s.Path))
		}
		if err == nil {
			return u, mark(o.FS, dir, "undone.json", s.Case)
		}
	default:
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

// bringBack makes the file again that went away.
func (o UndoOptions) bringBack(s stored) error {
	if err := durable.MkdirAllSync(o.FS, filepath.Dir(s.Path)); err != nil {
		return err
	}
	err := durable.Create(o.FS, s.Path, durable.ReplaceOptions{Suffix: tempSuffix(s.SHA256[0])}, func(w io.Writer) error {
		return copyFile(o.FS, filepath.Join(s.dir, "original"), w)
	})
	if err != nil && !errors.Is(err, durable.ErrUnsynced) {
		return err
	}
	return mark(o.FS, s.dir, "undone.json", s.Case)
}

// writeOriginal puts the original elsewhere.
func (o UndoOptions) writeOriginal(s stored) error {
	return durable.WriteNew(o.FS, o.Output, func(w io.Writer) error {
		switch s.Mode {
		case ModeCreate:
			return nil
		case ModeReplace, ModeRemove, ModeRows:
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
