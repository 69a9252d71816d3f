package grok

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// Names are none: items have neither ids nor parents.
func (d dialect) Names() (id, parent string) { return "", "" }

// NewID is for calls that have none: items have no ids.
func (d dialect) NewID(seed string, taken func(id []byte) bool) []byte {
	h := sha256.Sum256([]byte("sessfix\x00" + seed))
	return []byte(`"` + hex.EncodeToString(h[:6]) + `"`)
}

// StandIn is never asked for.
func (d dialect) StandIn(id, parent []byte, time int64) []byte { return nil }

// Leaf is the last item.
func (d dialect) Leaf(t *session.Tree) int32 { return int32(len(t.Nodes)) - 1 }

// Replay is all of it, in its order.
func (d dialect) Replay(t *session.Tree, path []int32) []int32 {
	out := slices.Clone(path)
	slices.Reverse(out)
	return out
}

var _ format.Chained = dialect{}
