package codex

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// member is one of a header's members.
type member struct {
	key  int
	name string
}

// required are the members without which the client does not read a header (measured with 0.171.0).
var required = []member{{kID, "id"}, {kCreated, "timestamp"}, {kCWD, "cwd"}, {kOriginator, "originator"}, {kWriter, "cli_version"}}

// meta reads a header. The first one rules; a later one is a forked parent's, or a fault.
func (d *decoder) meta(r *session.Record, b *format.Batch, first bool) {
	f := &d.f
	b.Events = append(b.Events, session.Event{Kind: session.Header})
	n, named := nameOf(d.place.Path)
	foreign := named && string(f.Str(kID)) != n.thread
	switch {
	case d.header && d.dialect.generation == paginated:
		b.Unnumbered = true
		t := finding.New(finding.HeaderMisplaced)
		t.Span, t.Record = r.Span, r.Ref()
		t.Message = "a second header: the client sends nothing that stands in front of it"
		b.Findings = append(b.Findings, t)
		return
	case d.header, foreign && r.Text != r.Logical-1: // something other than empty lines stands in front of it
		// A forked parent's; where it is the first record, the thread's own is lost.
		if first {
			d.lost = r.Ref()
		}
		return
	case !first:
		b.Unnumbered = true // it has no place among those that it stands behind
		d.late, d.lateRaw, d.lateSeq = r.Ref(), bytes.Clone(r.Raw), b.Seq
		d.lateNumber = f.At(kOrdinal)
	}
	d.header = true
	b.Header = &format.Header{ID: string(f.Str(kID)), CWD: string(f.Str(kCWD)), Parent: string(f.Str(kForkedFrom))}
	for _, q := range required {
		if f.Kind(q.key) != '"' || q.key == kID && !uuids.Match(f.Str(kID)) {
			d.lacks = append(d.lacks, q.key)
		}
	}
	if d.dialect.generation == paginated && string(f.Str(kMode)) != paginated {
		d.lacks = append(d.lacks, kMode)
	}
	if len(d.lacks) > 0 {
		d.meant, d.metaRaw = r.Ref(), bytes.Clone(r.Raw)
	}
	if foreign && !d.lacking(kID) {
		d.other, d.otherID = r.Ref(), f.At(kID)
		d.otherSession = session.Capture{}
		if f.Has(kSession) && string(f.Str(kSession)) == string(f.Str(kID)) {
			d.otherSession = f.At(kSession)
		}
		d.says = string(f.Str(kID))
	}
	d.based(r, b)
	if d.dialect.generation == paginated && d.dialect.rank < firstPaginated {
		t := finding.New(finding.HeaderInvalid)
		t.Span, t.Record, t.Where = r.Span, r.Ref(), "newer"
		t.Message = "this release knows no ordinals: what it appends has none, and newer releases then do not resume the session"
		t.Repair = "nothing: go on with a newer release"
		t.Never = "go on with this release"
		b.Findings = append(b.Findings, t)
	}
}

// firstPaginated is the first release measured that writes ordinals.
const firstPaginated = 150_001

func (d *decoder) lacking(key int) bool { return slices.Contains(d.lacks, key) }

// based reads where a rollout that begins in the middle has its beginning.
func (d *decoder) based(r *session.Record, b *format.Batch) {
	f := &d.f
	if !f.Has(kBase) || f.Kind(kBase) == 'n' {
		return
	}
	ordinal, ok := f.count(kBaseOrdinal)
	_, offset := f.count(kBaseOffset)
	if !ok || !offset || f.Kind(kBaseThread) != '"' {
		n := finding.New(finding.HeaderInvalid)
		n.Span, n.Record, n.Where = r.Span, r.Ref(), "base"
		n.Message = "history_base lacks a member: the client does not read the header"
		b.Findings = append(b.Findings, n)
		return
	}
	b.Rebased = true
	if b.Numbered && b.Seq != ordinal {
		n := finding.New(finding.LineageBroken)
		n.Span, n.Record, n.Where = r.Span, r.Ref(), "ordinal"
		n.Message = fmt.Sprintf("the header is record %d, and its base ends in front of record %d", b.Seq, ordinal)
		b.Findings = append(b.Findings, n)
	}
}
