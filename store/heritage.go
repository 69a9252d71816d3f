package store

import (
	"context"
	"os"

	"github.com/sessfix/sessfix/format"
)

// Heritage is whose child the session says that it is, and the path of that one's log, "" where it cannot be found; ok is false
// for a session that is nobody's child.
func (s Session) Heritage() (h format.Heritage, parent string, ok bool) {
	heir, knows := s.Format.(format.Heir)
	if s.heritage == nil || !knows {
		return h, "", false
	}
	return *s.heritage, heir.Ancestor(s.Path, *s.heritage), true
}

// Placed tells whether the session lies where its agent looks for it, so that one that it names should be there as well.
func (s Session) Placed() bool {
	r, ok := s.Format.(interface{ Root(path string) string })
	return ok && r.Root(s.Path) != ""
}

// Kin recognises another file as one of the same format. It is read, and its client is the same.
func (s Session) Kin(ctx context.Context, path string) (Session, error) {
	fi, err := os.Stat(path) // to open a pipe could take for ever
	if err != nil {
		return Session{}, err
	}
	if !fi.Mode().IsRegular() {
		return Session{}, ErrNotRegular
	}
	f, err := os.Open(path)
	if err != nil {
		return Session{}, err
	}
	defer f.Close()
	return Recognise(ctx, path, f, fi.Size(), Options{Formats: []format.Format{s.Format}, families: s.families})
}
