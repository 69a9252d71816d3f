package damage

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Folder tells that the session is a folder: from names one, with a slash at its end.
func (r *Recipe) Folder() bool { return strings.HasSuffix(r.Steps[0].Args[0], "/") }

// MakeFolder follows the steps for a session that is a folder: its files by their names in it. In says which of them the steps
// behind it are about, remove takes one away.
func (r *Recipe) MakeFolder(fsys fs.FS) (files map[string]*Part, err error) {
	var p *Part
	for _, s := range r.Steps {
		switch {
		case s.Verb == "from":
			files, err = readFolder(fsys, path.Clean(s.Args[0]))
		case s.Verb == "in" || s.Verb == "remove":
			if p = files[s.Args[0]]; p == nil {
				err = fs.ErrNotExist
			} else {
				p.Gone = s.Verb == "remove"
			}
		case p == nil:
			err = errors.New("in FILE comes first")
		default:
			err = p.Do(s)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %s: %w", r.Name, s.line, s, err)
		}
	}
	return files, nil
}

func readFolder(fsys fs.FS, dir string) (map[string]*Part, error) {
	out := map[string]*Part{}
	return out, fs.WalkDir(fsys, dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		out[strings.TrimPrefix(name, dir+"/")], err = NewPart(data)
		return err
	})
}
