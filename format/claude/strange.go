package claude

import (
	"fmt"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// maxTypes bounds how many unknown types are told.
const maxTypes = 100

// strange notes each type of node that is not known, once.
func (d *decoder) strange(r *session.Record, b *format.Batch) {
	typ := d.f.Str(kType)
	if nodeTypes[string(typ)] || d.types[string(typ)] || len(d.types) == maxTypes {
		return
	}
	if d.types == nil {
		d.types = map[string]bool{}
	}
	d.types[string(typ)] = true
	n := finding.New(finding.EventUnknown)
	n.Span, n.Record, n.Where = r.Span, r.Ref(), "node"
	n.Message = fmt.Sprintf("records of type %.60q are not known here", typ)
	n.Repair = "nothing: they are kept as they are"
	n.Never = "drop the record: others may hang under it"
	b.Findings = append(b.Findings, n)
}

// Some releases list no session whose first record is one of these (public reports; not measured).
const firstHiding, lastHiding = 2_000_076, 2_001_019

// sideFirst notes a log that begins with a side record which keeps it out of a client's list.
func (d *decoder) sideFirst(r *session.Record, b *format.Batch) {
	if d.dialect.rank < firstHiding || d.dialect.rank > lastHiding {
		return
	}
	switch typ := string(d.f.Str(kType)); typ {
	case "file-history-snapshot", "pr-link":
		n := finding.New(finding.EventInvalid)
		n.Span, n.Record, n.Where = r.Span, r.Ref(), "side-first"
		n.Message = fmt.Sprintf("the first record is a %s, for which this client may leave the session out of its list", typ)
		n.Repair = "nothing: resume it by its id"
		n.Never = "drop the record"
		b.Findings = append(b.Findings, n)
	}
}
