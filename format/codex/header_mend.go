package codex

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// End says of the header what only the whole rollout shows.
func (d *decoder) End(b *format.Batch) {
	add := func(code finding.Code, ref session.Ref, where, text string, args ...any) *finding.Finding {
		f := finding.New(code)
		f.Span, f.Record, f.Where, f.Message = ref.Span, ref, where, fmt.Sprintf(text, args...)
		b.Findings = append(b.Findings, f)
		return &b.Findings[len(b.Findings)-1]
	}
	late := -1
	switch {
	case d.late.Len > 0:
		f := add(finding.HeaderMisplaced, d.late, "late", "the header is not the first record: the client does not resume the session")
		f.Repair = "it is moved to the front"
		late = len(b.Findings) - 1
	case d.lost.Len > 0:
		add(finding.HeaderMissing, d.lost, "", "the first record is no header: the client does not read the file")
	}
	if len(d.lacks) > 0 {
		f := add(finding.HeaderInvalid, d.meant, "missing", "the header has no usable %s: the client does not read it", strings.Join(d.names(), ", "))
		f.Repair = "what is missing is put in: the id from the file's name, the rest from the records"
		if len(d.lacks) == 1 && d.lacking(kMode) {
			f.Where, f.Message = "mode", "the header's history_mode is not paginated, and the records have ordinals: the client takes the rollout for a legacy one"
		}
		if f.Patches = d.supply(); f.Patches == nil {
			f.Where, f.Repair = "lost", "none is safe: neither the file's name nor a record tells it"
		}
	}
	if d.other.Len > 0 {
		n, _ := nameOf(d.place.Path)
		f := add(finding.SessionIDMismatch, d.other, "", "the header says %.80q, the file's name %s", d.says, n.thread)
		f.Repair = "nothing: the session goes by the header's id. If the file was renamed, give it its name back"
		if d.thread == n.thread {
			f.Where = "header"
			f.Repair = "the header gets the id that the file's name and its records bear"
			for _, c := range []session.Capture{d.otherID, d.otherSession} {
				if c.Len > 0 {
					f.Patches = append(f.Patches, finding.Patch{At: d.other.Text + int64(c.Off) + 1, Del: int64(c.Len) - 2, Ins: []byte(n.thread)})
				}
			}
		}
	}
	if late >= 0 {
		var inside []finding.Patch
		for i := range b.Findings[late+1:] {
			f := &b.Findings[late+1+i]
			inside, f.Patches = append(inside, f.Patches...), nil // done while it is moved
		}
		d.forward(&b.Findings[late], inside)
	}
}

// forward moves a late header to the front, with what is to change inside of it done. Where it is the second record and
// numbered so, the two change numbers.
func (d *decoder) forward(f *finding.Finding, inside []finding.Patch) {
	cut := finding.Patch{At: d.late.Text, Del: d.late.TextLen}
	if d.late.Marks&(session.Followed|session.Unterminated) == 0 {
		cut.Del, cut.Line = cut.Del+1, true
	}
	f.Patches = []finding.Patch{cut}
	if d.dialect.generation == paginated && d.lateSeq >= d.firstOrdinal {
		c := d.lateNumber
		mine, theirs := num(d.lateSeq), num(d.firstOrdinal)
		if d.late.N != 1 || c.Len == 0 || d.firstNumber.Del == 0 || len(mine) != len(theirs) {
			f.Where, f.Patches = "numbered", nil
			f.Repair = "none is safe: the records in front of it have the numbers that would follow it"
			return
		}
		inside = append(inside, finding.Patch{At: d.late.Text + int64(c.Off), Del: int64(c.Len), Ins: []byte(theirs)})
		f.Patches = append(f.Patches, finding.Patch{At: d.firstNumber.At, Del: d.firstNumber.Del, Ins: []byte(mine)})
	}
	raw := d.lateRaw
	slices.SortFunc(inside, func(a, b finding.Patch) int { return cmp.Compare(b.At, a.At) })
	for _, p := range inside {
		at := p.At - d.late.Text
		raw = slices.Concat(raw[:at], p.Ins, raw[at+p.Del:])
	}
	if d.late.Marks&session.Salvaged != 0 {
		raw = scan.MendRecord(raw)
	}
	f.Patches = append(f.Patches, finding.Patch{At: 0, Ins: append(raw, '\n')})
}

// names are those of the members that the header lacks.
func (d *decoder) names() []string {
	var out []string
	for _, q := range supplied {
		if d.lacking(q.key) {
			out = append(out, q.name)
		}
	}
	return out
}

// supplied are the members that can be put in.
var supplied = append(required[:len(required):len(required)], member{kMode, "history_mode"}, member{kType, "type"})

// supply makes the members that the header lacks, nil where one of them is not known.
func (d *decoder) supply() []finding.Patch {
	f, err := read(d.metaRaw)
	if err != nil {
		return nil
	}
	n, named := nameOf(d.place.Path)
	var out []finding.Patch
	fresh := ""
	for _, q := range supplied {
		if !d.lacking(q.key) {
			continue
		}
		value := `""`
		switch q.key {
		case kID:
			if !named {
				return nil
			}
			value = `"` + n.thread + `"`
		case kCreated:
			if f.Kind(kTime) != '"' {
				return nil
			}
			value = string(scan.MendRecord(f.Value(kTime)))
		case kMode:
			value = `"paginated"`
		case kType:
			value = `"session_meta"`
		case kCWD:
			if d.cwd == nil {
				return nil
			}
			value = string(d.cwd)
		}
		if f.Has(q.key) {
			c := f.At(q.key)
			out = append(out, finding.Patch{At: d.meant.Text + int64(c.Off), Del: int64(c.Len), Ins: []byte(value)})
		} else {
			fresh += `"` + q.name + `":` + value + `,`
		}
	}
	if fresh != "" {
		if f.Kind(kPayload) != '{' {
			return nil
		}
		c := f.At(kPayload)
		if c.N == 0 {
			fresh = strings.TrimSuffix(fresh, ",")
		}
		out = append(out, finding.Patch{At: d.meant.Text + int64(c.Off) + 1, Ins: []byte(fresh)})
	}
	return out
}
