package dsh

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
)

// Recoded is the name of a session's log plain, in frames, or in a database of its own. The client takes one medium for a whole root, so
// that a log in another one must not lie beside the first.
func (Format) Recoded(s format.Source, medium string) (string, error) {
	if medium == format.Database {
		return segment(s.ID) + ".db", nil
	}
	if strings.HasSuffix(s.Path, "#"+s.ID) { // a session in a database
		dir, err := folderOf(s)
		if err != nil {
			return "", err
		}
		return path.Join(dir, nameOf(databaseFormat, medium == scan.Frames)), nil
	}
	name := filepath.Base(s.Path)
	if version, _, ok := logName(name); ok {
		return nameOf(version, medium == scan.Frames), nil
	}
	name = strings.TrimSuffix(name, ".zstd")
	if medium == scan.Frames {
		name += ".zstd"
	}
	return name, nil
}

// folderOf is where the log of a stored session would lie below a root.
func folderOf(s format.Source) (string, error) {
	for l, err := range s.Records() {
		if err != nil {
			return "", err
		}
		h, ok := readHeader(l.Raw)
		if !ok {
			break
		}
		return path.Join(projectKey(h.text("cwd")), segment(h.text("id"))), nil
	}
	return "", format.Refuse(0, "the session has no readable header")
}
