package dsh

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sessfix/sessfix/format"
)

// Upgrades are the steps of the published session-format packages, and the one that is known from source alone. Each
// writes a new generation beside the old one, which clients keep for ever.
func (Format) Upgrades() []format.Upgrade {
	return []format.Upgrade{
		{
			From: "0", To: "1", Beside: beside(1), Begin: beginOne,
			About: "a version number, and the present form of what early builds wrote otherwise",
		},
		{
			From: "1", To: "2", Beside: beside(2), Begin: beginTwo,
			About: "streamed pieces move into the answer they belong to, and all records get new numbers",
		},
		{
			From: "2", To: "3", Beside: beside(3), Begin: beginThree,
			About: "system prompts move out of the requests and become messages of their own; records get new numbers",
		},
		{
			From: "3", To: "4", Beside: beside(4), Begin: beginFour, Optional: true,
			About:    "tool results become messages of their own role, and plugins are named by what they produce",
			Unproved: "no client of version 4 is published: the step follows its source",
		},
	}
}

var besideNames = regexp.MustCompile(`(?:\.v[0-9]+)?\.jsonl(\.zstd)?$`)

// beside names the file of a generation: session.v3.jsonl beside session.jsonl.
func beside(version int64) func(string) string {
	return func(path string) string {
		dir, name := filepath.Split(path)
		m := besideNames.FindStringSubmatchIndex(name)
		if m == nil {
			return dir + name + ".v" + num(version) + ".jsonl"
		}
		tail := ""
		if strings.HasSuffix(name, ".zstd") {
			tail = ".zstd"
		}
		return dir + name[:m[0]] + ".v" + num(version) + ".jsonl" + tail
	}
}

// logRecord is one record on its way into a newer generation.
type logRecord struct {
	rewrite
	n     int64 // of the source file
	why   string
	typ   string
	seq   int64 // in the generation that the step starts from
	count int64 // numbers that it takes
	time  string
	data  span
}

// put changes a number.
func (r *logRecord) put(v span, n int64) {
	if old, ok := r.whole(v); !ok || old != n {
		r.set(v, num(n))
	}
}

// retype gives a record another type.
func (r *logRecord) retype(typ string) { r.set(r.get(r.root(), "type"), `"`+typ+`"`) }

// line is the record as it now stands.
func (r *logRecord) line() format.Line { return format.Line{Raw: r.bytes(), N: r.n, Why: r.why} }

// keep copies a record that outlives the call in which it came.
func (r *logRecord) keep() *logRecord {
	c := *r
	c.raw = bytes.Clone(r.raw)
	c.edits = append([]change(nil), r.edits...)
	return &c
}

// reader reads the records of a log for one step.
type reader struct {
	headed bool
	next   int64 // number of the next record
	r      logRecord
}

// read gives a record, nil for the header. It refuses a log that repair has not made whole.
func (d *reader) read(l format.Line) (*logRecord, error) {
	r := &d.r
	r.reset(l.Raw)
	r.n, r.why = l.N, l.Why
	root := r.root()
	r.typ, _ = r.text(r.get(root, "type"))
	if !d.headed {
		if d.headed = true; r.kind(root) != '{' || r.typ != "session" {
			return nil, format.Refuse(l.N, "the first record is no session header")
		}
		return nil, nil
	}
	r.data = r.get(root, "data")
	from, when := "seq", "time"
	r.count = 1
	if strings.HasSuffix(r.typ, "-chunks") && !r.get(root, "seq0").none() {
		from, when = "seq0", "time0"
		r.count = int64(r.size(r.get(r.data, members(r.typ))))
	}
	var ok bool
	if r.seq, ok = r.whole(r.get(root, from)); !ok || r.seq != d.next || r.count < 1 {
		return nil, format.Refuse(l.N, "record number %d comes next, and this is not it", d.next)
	}
	t := r.get(root, when)
	if _, ok = r.whole(t); !ok {
		return nil, format.Refuse(l.N, "record %d has no time", r.seq)
	}
	r.time = string(r.of(t))
	if r.data.none() {
		return nil, format.Refuse(l.N, "record %d has no data", r.seq)
	}
	d.next += r.count
	return r, nil
}

// members is the list of a packed row that holds what was streamed.
func members(typ string) string {
	if typ == "tool-call-chunks" {
		return "args"
	}
	return "texts"
}

// header gives the header line another version, and other members where the step asks for it.
func (d *reader) header(version int64, out []string, add ...string) format.Line {
	r := &d.r
	r.set(r.get(r.root(), "version"), num(version))
	if len(out) > 0 || len(add) > 0 {
		r.reform(r.root(), out, add...)
	}
	return r.line()
}

// fill writes a record that is new.
func fill(typ string, seq int64, time, data, more string) []byte {
	return []byte(`{"type":"` + typ + `","seq":` + num(seq) + `,"time":` + time + `,"data":` + data + more + `}`)
}
