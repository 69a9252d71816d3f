package codex

import (
	"path/filepath"

	"github.com/sessfix/sessfix/format"
)

// Named is what other rollouts call a file: its segment's id, else its thread's.
func (Format) Named(path string) string {
	n, ok := nameOf(path)
	if !ok {
		return ""
	}
	return n.id()
}

// Cites reads history_base off a header: paginated forks and the segments behind a revert begin in another file.
func (Format) Cites(first []byte) (format.Citation, bool) {
	f, err := read(first)
	if err != nil || !f.enveloped() || string(f.Str(kType)) != "session_meta" {
		return format.Citation{}, false
	}
	c := format.Citation{Named: string(f.Str(kBaseThread))}
	var bytes, records bool
	c.Bytes, bytes = f.count(kBaseOffset)
	c.Records, records = f.count(kBaseOrdinal)
	return c, c.Named != "" && bytes && records
}

// Kin are the folders of active and archived rollouts of the home that a file lies in, else its own folder.
func (Format) Kin(path string) (dirs []string, home bool) {
	if root := rootOf(path); root != "" {
		return []string{filepath.Join(root, "sessions"), filepath.Join(root, "archived_sessions")}, true
	}
	return []string{filepath.Dir(path)}, false
}
