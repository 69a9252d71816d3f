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
	name := filepath.Base(s.Path)
	file, _, stored := strings.Cut(name, "#")
	version, _, ok := logName(file)
	switch {
	case stored && databaseName(s.Path):
		dir, err := folderOf(s)
		if err != nil {
			return "", err
		}
		return path.Join(dir, nameOf(databaseFormat, medium == scan.Frames)), nil
	case ok:
		return nameOf(version, medium == scan.Frames), nil
	}
	name = strings.TrimSuffix(name, ".zstd")
	if medium == scan.Frames {
		name += ".zstd"
	}
	return name, nil
}

// databaseName tells the path of a session that lies in a database: its file, and its id.
func databaseName(path string) bool { return strings.Contains(filepath.Base(path), "#") }

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
