package verify

import (
	"sync"

	"github.com/sessfix/sessfix/format"
)

var (
	tablesMu sync.Mutex
	tables   = map[string]format.Reactions{}
)

// reactionsOf parses a format's table once. A table that does not parse is a fault of the
// program, which a test of each format finds.
func reactionsOf(f format.Format) format.Reactions {
	r, ok := f.(format.Reactor)
	if !ok {
		return nil
	}
	tablesMu.Lock()
	defer tablesMu.Unlock()
	if t, ok := tables[f.Name()]; ok {
		return t
	}
	t, err := format.ParseReactions(r.Reactions())
	if err != nil {
		panic("reactions of " + f.Name() + ": " + err.Error())
	}
	tables[f.Name()] = t
	return t
}
