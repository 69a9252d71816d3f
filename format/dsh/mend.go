package dsh

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/session"
)

// Mend writes one same id into a call, its start and its result that all carry an empty one.
// The id derives from the session and from where the call stands, so that every machine finds
// the same. Nothing else of the records changes.
func (d dialect) Mend(sessionID string, r *session.Record, f *finding.Finding) []finding.Patch {
	if f.Code != finding.EmptyCallID {
		return nil
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "sessfix empty call id\n%s\n%d\n", sessionID, f.Expected))
	id := []byte("call_" + hex.EncodeToString(sum[:12]))
	var out []finding.Patch
	for _, c := range r.Caps {
		switch c.Key {
		case kBlockID, kDataBlockID, kBlockCall, kDataCall, kMsgSourceCall, kMsgToolCal:
			if c.Kind == '"' && c.Len == 2 {
				out = append(out, finding.Patch{At: int64(c.Off) + 1, Ins: id})
			}
		}
	}
	return out
}
