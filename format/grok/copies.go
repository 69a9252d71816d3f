package grok

import (
	"fmt"
	"hash/maphash"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// twins is how far back a copy of a record is looked for.
const twins = 1024

var seed = maphash.MakeSeed()

// repeated takes a record away that is, byte for byte, one of the last ones with an event's id: the client shows both.
func (d *updates) repeated(r *session.Record, b *format.Batch) bool {
	if !d.f.Has(kEvent) {
		return false
	}
	h := maphash.Bytes(seed, r.Raw)
	if d.seen[h] > 0 {
		f := finding.About(finding.IDRepeated, r.Ref(), "copy", "a copy of one of the records in front of it: the client shows both")
		f.Repair = "it goes to quarantine, the first one stays"
		f.Patches = []finding.Patch{{At: r.Text, Del: r.TextLen + 1}}
		b.Findings = append(b.Findings, f)
		return true
	}
	if d.seen == nil {
		d.seen = map[uint64]int{}
	}
	at := d.records % twins
	d.records++
	if old := d.ring[at]; d.records > twins {
		if d.seen[old]--; d.seen[old] == 0 {
			delete(d.seen, old)
		}
	}
	d.ring[at] = h
	d.seen[h]++
	return false
}

// bare notes a record as the log was written first.
func (d *updates) bare(r *session.Record) {
	if d.bares++; d.bares == 1 {
		d.firstBare = r.Ref()
	}
}

// old reports records that the client does not show.
func (d *updates) old(b *format.Batch) {
	if d.bares > 0 {
		f := finding.About(finding.VersionOld, d.firstBare, "log", fmt.Sprintf("%d records of the log are written as they were first, without an envelope: the client does not show them", d.bares))
		f.Repair = "nothing: the model's history does not need them"
		b.Findings = append(b.Findings, f)
	}
	if d.topmost.Len > 0 {
		f := finding.About(finding.EventInvalid, d.topmost, "counter", "the number of this event is so high that the client counts anew from 0: whoever takes events once by their number drops new ones")
		f.Repair = "nothing: a record of the log is never edited"
		b.Findings = append(b.Findings, f)
	}
}

// topmost is the end of an id behind which the client counts from 0 again.
var topmost = []byte("-18446744073709551615")
