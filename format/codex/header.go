package codex

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

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
	foreign := named && string(f.str(kID)) != n.thread
	switch {
	case d.header && d.dialect.generation == paginated:
		b.Unnumbered = true
		t := finding.New(finding.HeaderMisplaced)
		t.Span, t.Record = r.Span, r.Ref()
		t.Message = "a second header: the client sends nothing that stands in front of it"
		b.Findings = append(b.Findings, t)
		return
	case d.header, foreign && r.Logical > 1:
		// A forked parent's; where it is the first record, the thread's own is lost.
		if first {
			d.lost = r.Ref()
		}
		return
	case !first:
		d.late, d.lateRaw, d.lateSeq = r.Ref(), bytes.Clone(r.Raw), b.Seq
		d.lateNumber = session.Capture{}
		if f.has(kOrdinal) {
			d.lateNumber = f.cap[kOrdinal]
		}
	}
	d.header = true
	b.Header = &format.Header{ID: string(f.str(kID)), CWD: string(f.str(kCWD)), Parent: string(f.str(kForkedFrom))}
	for _, q := range required {
		if f.kind(q.key) != '"' || q.key == kID && !uuids.Match(f.str(kID)) {
			d.lacks = append(d.lacks, q.key)
		}
	}
	if d.dialect.generation == paginated && string(f.str(kMode)) != paginated {
		d.lacks = append(d.lacks, kMode)
	}
	if len(d.lacks) > 0 {
		d.meant, d.metaRaw = r.Ref(), bytes.Clone(r.Raw)
	}
	if foreign && !d.lacking(kID) {
		d.other, d.otherID = r.Ref(), f.cap[kID]
		d.otherSession = session.Capture{}
		if f.has(kSession) && string(f.str(kSession)) == string(f.str(kID)) {
			d.otherSession = f.cap[kSession]
		}
		d.says = string(f.str(kID))
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

// End says of the header what only the whole rollout shows.
func (d *decoder) End(b *format.Batch) {
	add := func(code finding.Code, ref session.Ref, where, text string, args ...any) *finding.Finding {
		f := finding.New(code)
		f.Span, f.Record, f.Where, f.Message = ref.Span, ref, where, fmt.Sprintf(text, args...)
		b.Findings = append(b.Findings, f)
		return &b.Findings[len(b.Findings)-1]
	}
	switch {
	case d.late.Len > 0:
		f := add(finding.HeaderMisplaced, d.late, "late", "the header is not the first record: the client does not resume the session")
		f.Repair = "it is moved to the front"
		d.forward(f)
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
}

// forward moves a late header to the front. Where it is the second record and numbered so, the two change numbers.
func (d *decoder) forward(f *finding.Finding) {
	raw := bytes.Clone(d.lateRaw)
	f.Patches = []finding.Patch{{At: d.late.Text, Del: d.late.TextLen + 1, Line: true}}
	if d.dialect.generation == paginated && d.lateSeq >= d.firstOrdinal {
		c := d.lateNumber
		mine, theirs := num(d.lateSeq), num(d.firstOrdinal)
		if d.late.N != 1 || c.Len == 0 || d.firstNumber.Del == 0 || len(mine) != len(theirs) {
			f.Where, f.Patches = "numbered", nil
			f.Repair = "none is safe: the records in front of it have the numbers that would follow it"
			return
		}
		raw = slices.Concat(raw[:c.Off], []byte(theirs), raw[c.Off+c.Len:])
		f.Patches = append(f.Patches, finding.Patch{At: d.firstNumber.At, Del: d.firstNumber.Del, Ins: []byte(mine)})
	}
	f.Patches = append(f.Patches, finding.Patch{At: 0, Ins: append(raw, '\n')})
}

// names are those of the members that the header lacks.
func (d *decoder) names() []string {
	var out []string
	for _, q := range required {
		if d.lacking(q.key) {
			out = append(out, q.name)
		}
	}
	return out
}

// supply makes the members that the header lacks, nil where one of them is not known.
func (d *decoder) supply() []finding.Patch {
	f, err := read(d.metaRaw)
	if err != nil {
		return nil
	}
	n, named := nameOf(d.place.Path)
	var out []finding.Patch
	fresh := ""
	for _, q := range append(required[:len(required):len(required)], member{kMode, "history_mode"}) {
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
			if f.kind(kTime) != '"' {
				return nil
			}
			value = string(f.value(kTime))
		case kMode:
			value = `"paginated"`
		case kCWD:
			if d.cwd == nil {
				return nil
			}
			value = string(d.cwd)
		}
		if f.has(q.key) {
			c := f.cap[q.key]
			out = append(out, finding.Patch{At: d.meant.Text + int64(c.Off), Del: int64(c.Len), Ins: []byte(value)})
		} else {
			fresh += `"` + q.name + `":` + value + `,`
		}
	}
	if fresh != "" {
		c := f.cap[kPayload]
		if c.N == 0 {
			fresh = strings.TrimSuffix(fresh, ",")
		}
		out = append(out, finding.Patch{At: d.meant.Text + int64(c.Off) + 1, Ins: []byte(fresh)})
	}
	return out
}

// Reheader writes anew the header that is lost, of what remains of it and what the records and the file's name tell.
// It is nil where that does not suffice: a rollout that begins in another cannot do without knowing where.
func (d *decoder) Reheader(remains []byte) []byte {
	n, named := nameOf(d.place.Path)
	if d.lost.Len == 0 || d.dialect.generation == bare {
		return nil
	}
	m := membersOf(remains)
	if d.dialect.generation == paginated && m["history_base"] == nil && d.firstOrdinal > 1 {
		return nil
	}
	set := func(name string, value []byte) {
		if m[name] == nil {
			m[name] = value
		}
	}
	if named {
		m["id"] = []byte(`"` + n.thread + `"`)
		set("session_id", m["id"])
	}
	set("timestamp", d.firstTime)
	set("cwd", d.cwd)
	set("originator", []byte(`""`))
	set("cli_version", []byte(`""`))
	if m["id"] == nil || m["timestamp"] == nil || m["cwd"] == nil {
		return nil
	}
	if d.dialect.generation == paginated {
		m["history_mode"] = []byte(`"paginated"`)
	}
	out := append([]byte(`{"timestamp":`), m["timestamp"]...)
	if d.dialect.generation == paginated {
		first := "0"
		if m["ordinal"] != nil {
			first = string(m["ordinal"])
		} else if m["history_base"] != nil {
			first = num(max(d.firstOrdinal-1, 0))
		}
		out = append(out, `,"ordinal":`+first...)
	}
	out = append(out, `,"type":"session_meta","payload":{`...)
	comma := ""
	for _, name := range headerMembers {
		if v := m[name]; v != nil {
			out = append(append(out, comma+`"`+name+`":`...), v...)
			comma = ","
		}
	}
	return append(out, "}}"...)
}

// headerMembers are those of a header that are taken over from what remains of one, in the client's order.
var headerMembers = []string{
	"account_scoped", "session_id", "id", "forked_from_id", "forked_from_ordinal_exclusive", "parent_thread_id", "timestamp", "cwd",
	"runtime_workspace_roots", "originator", "cli_version", "source", "thread_source", "model_provider", "instructions",
	"base_instructions", "history_mode", "history_base", "multi_agent_version", "memory_mode", "context_window", "git",
}

// membersOf reads the whole members, as they are written, at the beginning of a header that breaks off. The record's
// ordinal is among them.
func membersOf(remains []byte) map[string][]byte {
	out := map[string][]byte{}
	dec := json.NewDecoder(bytes.NewReader(remains))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return out
	}
	inside := false
	for {
		t, err := dec.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return out
		}
		if name == "payload" && !inside {
			if t, err := dec.Token(); err != nil || t != json.Delim('{') {
				return out
			}
			inside = true
			continue
		}
		var v json.RawMessage
		if dec.Decode(&v) != nil {
			return out
		}
		if inside || name == "ordinal" {
			out[name] = v
		}
	}
}

// based reads where a rollout that begins in the middle has its beginning.
func (d *decoder) based(r *session.Record, b *format.Batch) {
	f := &d.f
	if !f.has(kBase) || f.kind(kBase) == 'n' {
		return
	}
	ordinal, ok := f.count(kBaseOrdinal)
	_, offset := f.count(kBaseOffset)
	if !ok || !offset || f.kind(kBaseThread) != '"' {
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
