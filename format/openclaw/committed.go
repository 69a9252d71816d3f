package openclaw

import (
	"os"
	"path/filepath"

	"github.com/sessfix/sessfix/format"
)

// Witnesses is the database that later releases take the logs over into: where it is there, the session may have gone on in it.
func (Format) Witnesses(path, id string) []format.Testimony {
	if !placed(path) {
		return nil
	}
	name := filepath.Join(filepath.Dir(filepath.Dir(path)), "agent", databaseName)
	if fi, err := os.Stat(name); err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	return []format.Testimony{{Path: name, Says: "is there: later releases go on in it, and not in this file"}}
}

var _ format.Witness = Format{}
