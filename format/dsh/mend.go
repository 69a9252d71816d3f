package dsh

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/session"
)

// Mend cures empty call ids and lost numbers.
func (d dialect) Mend(sessionID string, r *session.Record, f *finding.Finding) []finding.Patch {
	switch f.Code {
	case finding.EmptyCallID:
		return fillID(sessionID, r, f)
	case finding.SeqMissing:
		return fillNumber(r, f.Expected)
	}
	return nil
}

// fillNumber writes the number that the neighbours leave in place of one that is none, or in
// front of all members where there is none at all.
func fillNumber(r *session.Record, number int64) []finding.Patch {
	for _, c := range r.Caps {
		if c.Key == kSeq {
			return []finding.Patch{{At: int64(c.Off), Del: int64(c.Len), Ins: []byte(num(number))}}
		}
	}
	at := int64(bytes.IndexByte(r.Raw, '{')) + 1
	return []finding.Patch{{At: at, Ins: []byte(`"seq":` + num(number) + `,`)}}
}

// fillID writes one same id into a call, its start and its result that all carry an empty one.
// The id derives from the session and from where the call stands, so that every machine finds
// the same. Nothing else of the records changes.
func fillID(sessionID string, r *session.Record, f *finding.Finding) []finding.Patch {
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
