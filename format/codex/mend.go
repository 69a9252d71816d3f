package codex

import (
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/session"
)

// Mend gives a record the ordinal that it lacks, behind its timestamp.
func (d dialect) Mend(_ string, r *session.Record, f *finding.Finding) []finding.Patch {
	if f.Code != finding.SeqMissing {
		return nil
	}
	var have fields
	have.set(r.Raw, r.Caps)
	if have.Has(kOrdinal) {
		c := have.At(kOrdinal)
		return []finding.Patch{{At: int64(c.Off), Del: int64(c.Len), Ins: []byte(num(f.Expected))}}
	}
	if have.Has(kTime) {
		c := have.At(kTime)
		return []finding.Patch{{At: int64(c.Off + c.Len), Ins: []byte(`,"ordinal":` + num(f.Expected))}}
	}
	at := int64(0)
	for r.Raw[at] != '{' {
		at++
	}
	return []finding.Patch{{At: at + 1, Ins: []byte(`"ordinal":` + num(f.Expected) + `,`)}}
}
