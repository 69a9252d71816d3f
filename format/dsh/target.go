package dsh

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// releases are the client's releases with the format that each writes, and that its migration
// therefore leads to. A name stands for itself and for its pre-releases, one with a star for
// all names that go on behind it.
var releases = []struct {
	name   string
	format int
}{
	{"0.1.0", 0}, {"0.1.1", 0}, {"0.1.2", 0}, {"0.1.3*", 2}, {"0.1.5*", 3}, {"0.1.7*", 4}, {"0.2*", 4},
}

// Target aims at a release, or at a format version as "v3" or "3": decoding then also tells what
// the migrations up to there refuse. A log that is as new already is judged by its own rules alone.
func (d dialect) Target(version string) (format.Dialect, error) {
	v, ok := targetOf(version)
	if !ok {
		var known []string
		for _, r := range releases {
			known = append(known, r.name)
		}
		return nil, fmt.Errorf("target version %q is not known; known are the releases %s and the formats v0 to v%d",
			short([]byte(version)), strings.Join(known, ", "), Newest)
	}
	d.target = v
	return d, nil
}

func targetOf(version string) (int, bool) {
	v := strings.TrimPrefix(strings.TrimPrefix(version, "dsh-"), "v")
	if len(v) == 1 && v[0] >= '0' && v[0] <= '0'+Newest {
		return int(v[0] - '0'), true
	}
	for _, r := range releases {
		name, open := strings.CutSuffix(r.name, "*")
		rest, ok := strings.CutPrefix(v, name)
		if ok && (rest == "" || rest[0] == '-' || open && rest[0] == '.') {
			return r.format, true
		}
	}
	return 0, false
}

// maxRefusals bounds how many findings about one migration are worth reading.
const maxRefusals = 1000

// target judges records as the migrations from the log's version to another would. Its state
// is the open turn, the open step and the open attempt, and beyond that the numbers and ids that
// a later record may name.
type target struct {
	from, to int
	b        *format.Batch // of the record at hand
	count    int           // of findings
	next     int64         // the number that must come
	lost     bool          // another came, or one that the client rejects
	torn     string        // what is wrong with a packed row
	tornRef  session.Ref

	id     string
	parent bool
	legacy legacy
	turns  turns
	chunks chunks
	named  named
	head   head
	marker foreignMarker
}

// foreignMarker is a delivery marker of the log's own version that names another session. It may
// stand in the inherited part alone, whose end versions 2 and 3 mark only later.
type foreignMarker struct {
	ref session.Ref
	seq int64
	any bool
}

// judging is a decoder that also asks the migrations. It stands around the plain one, so that
// decoding without a target does nothing for it.
type judging struct {
	*decoder
	target target
}

// judged puts the judge around a decoder where there is a migration to ask.
func (d dialect) judged(dec *decoder) format.Decoder {
	if d.target <= d.version {
		return dec
	}
	j := &judging{decoder: dec, target: target{from: d.version, to: d.target}}
	j.target.turns.reset()
	j.target.chunks.cut = -1
	return j
}

// Decode tells what a record means, and what a migration refuses in it.
func (j *judging) Decode(r *session.Record, b *format.Batch) {
	j.decoder.Decode(r, b)
	j.target.record(j.decoder, r, b)
}

// End judges what only the whole log shows.
func (j *judging) End(b *format.Batch) {
	j.decoder.End(b)
	j.target.end(j.decoder, b)
}

// goes tells whether the way of the log leads over the edge to a version.
func (t *target) goes(to int) bool { return t.from < to && to <= t.to }

// edge is the migration's name: from one version to the next.
func edge(to int) string { return "v" + strconv.Itoa(to-1) + "→v" + strconv.Itoa(to) }

// refuse reports that a migration refuses the record at ref.
func (t *target) refuse(ref session.Ref, to int, text string, args ...any) *finding.Finding {
	t.count++
	f := finding.New(finding.WontMigrate)
	f.Span, f.Record, f.Where = ref.Span, ref, "v"+strconv.Itoa(to)
	f.Message = edge(to) + " refuses the session: " + fmt.Sprintf(text, args...)
	if t.count > maxRefusals {
		return &f
	}
	t.b.Findings = append(t.b.Findings, f)
	return &t.b.Findings[len(t.b.Findings)-1]
}

// record takes a record that the decoder has decoded.
func (t *target) record(d *decoder, r *session.Record, b *format.Batch) {
	t.b = b
	if b.Header != nil {
		t.header(d, r)
		return
	}
	if b.Unnumbered {
		return
	}
	// The client rejects this record itself: it cuts the log there or refuses it, and nothing
	// behind is worth asking a migration about.
	t.lost = t.lost || !b.Numbered || b.Seq != t.next || len(b.Findings) > 0
	if t.lost {
		t.committed(d)
		return
	}
	t.next += max(b.Count, 1)
	e := entry{ref: r.Ref(), seq: b.Seq}
	env, ok := parseRecord(r.Raw)
	if !ok {
		return // a finding about its bytes says so
	}
	e.typ, _ = env["type"].(string)
	e.data = env["data"]
	e.op, e.sources = env["surfaceOp"], env["sourceEventSeqs"]
	if d.f.has(kSeq0) && t.from < 2 {
		e.count = max(b.Count, 1)
		if t.torn = (payload{source: t.from, edge: 1, seq: e.seq}).problem(e.typ, e.data); t.torn != "" {
			t.lost, t.tornRef = true, e.ref
			return
		}
		t.packed(&e)
		return
	}
	if !t.payload(&e) {
		// What the migration cannot read does not exist for what follows, but it still counts.
		e.bad = true
	}
	t.structure(d, &e)
}

// committed refuses a packed row that is wrong inside, once a turn/end comes behind it. In the
// tail such a row is cut off.
func (t *target) committed(d *decoder) {
	if t.torn != "" && string(d.f.str(kType)) == "turn/end" {
		t.refuse(t.tornRef, t.from+1, "a packed row in which %s", t.torn)
		t.torn = ""
	}
}

// entry is one event as the checks see it: its payload in the form that v0→v1 gives it.
type entry struct {
	ref     session.Ref
	typ     string
	seq     int64
	count   int64 // members of a packed row
	data    any
	op      any // surfaceOp
	sources any
	bad     bool
}

func (e *entry) obj() object   { o, _ := e.data.(object); return o }
func (e *entry) appends() bool { return e.op == "append" }

// num reads a number of the payload, -1 where there is none.
func (e *entry) num(name string) int64 {
	if n, ok := whole(e.obj()[name]); ok {
		return n
	}
	return -1
}

func (e *entry) text(name string) string { s, _ := e.obj()[name].(string); return s }

// parseRecord reads a record. Control characters, which the scanner lets pass inside of strings
// with a finding of their own, make way for spaces.
func parseRecord(raw []byte) (object, bool) {
	v, err := parseJSON(raw)
	if err != nil {
		raw = bytes.Map(func(r rune) rune {
			if r < ' ' || r == 0xfeff {
				return ' '
			}
			return r
		}, raw)
		v, err = parseJSON(raw)
	}
	o, ok := v.(object)
	return o, ok && err == nil
}

// header: version 0 ignores members that it does not know, every codec behind it refuses them.
func (t *target) header(d *decoder, r *session.Record) {
	h, _ := readHeader(r.Raw)
	t.id, t.parent = h.text("id"), h.has("parentSession")
	t.legacy.session = t.id
	if t.from < 2 {
		t.chunks.cut = d.seed
	}
	for _, name := range []string{"agentPreset", "parentSession", "cwd"} {
		if h.has(name) && !bytes.HasPrefix(h.raw(name), []byte(`"`)) {
			t.refuse(r.Ref(), t.from+1, "the header's %s is no text", name)
			return
		}
	}
	if t.from > 0 {
		return
	}
	extra := ""
	for name := range h {
		if !headerMembers[name] && name != "seedLength" && (extra == "" || name < extra) {
			extra = name
		}
	}
	switch {
	case extra != "":
		t.refuse(r.Ref(), 1, "the header holds the unlisted member %q", short([]byte(extra)))
	case h.has("origin") && h.text("origin") != "subagent":
		t.refuse(r.Ref(), 1, "the header's origin is not subagent")
	}
}

// payload holds an event's type and payload against what each edge admits; false where one
// refuses it.
func (t *target) payload(e *entry) bool {
	if t.from == 0 {
		was := e.typ
		var problem string
		if e.typ, e.data, problem = t.legacy.normalise(e.typ, e.data, e.seq); problem != "" {
			t.refuse(e.ref, 1, "%s %s", short([]byte(was)), problem)
			return false
		}
	}
	if t.from >= 3 {
		return t.newest(e)
	}
	rec := frozenTable()[e.typ]
	if rec == nil || e.typ[0] == '@' || !rec.versions.hold(t.from) {
		t.refuse(e.ref, t.from+1, "event type %q is not one that it can transform, ignorable or not", short([]byte(e.typ)))
		return false
	}
	for to := t.from + 1; to <= min(t.to, 3); to++ {
		switch {
		case e.typ == "assistant/chunk" && to < 3:
			// Carried along unread, and then taken into the message's stream as it is.
			if o := e.obj(); o == nil || to == 2 && o["chunk"] == nil {
				t.refuse(e.ref, to, "assistant/chunk holds no chunk")
				return false
			}
			continue
		case to == 2 && t.from == 0: // it takes over what v0→v1 has checked
			continue
		}
		if op, ok := e.op.(object); ok && to == 3 && t.from == 2 && len(op) != 3 {
			t.refuse(e.ref, to, "surfaceOp of %s holds an unlisted member", e.typ)
			return false
		}
		if problem := (payload{source: t.from, edge: to, seq: e.seq}).problem(e.typ, e.data); problem != "" {
			if !strings.HasPrefix(problem, "is ") && !strings.HasPrefix(problem, "holds ") && !strings.HasPrefix(problem, "carries ") {
				problem = "has a payload in which " + problem
			}
			t.refuse(e.ref, to, "%s %s", e.typ, problem)
			return false
		}
	}
	return t.delivery(e)
}

// newest are the payload rules of v3→v4, which are known from source alone.
func (t *target) newest(e *entry) bool {
	if e.typ == "request/header" {
		header, _ := e.obj()["header"].(object)
		tools, _ := header["tools"].([]any)
		for _, tool := range tools {
			if o, _ := tool.(object); hasAny(o, "deferLoading") {
				t.refuse(e.ref, 4, "request/header defines a tool with a deferLoading of its own")
				return false
			}
		}
	}
	return t.delivery(e)
}

// delivery: a marker says which records of which session a service has. One of the version that
// is written would be taken for the migration's own.
func (t *target) delivery(e *entry) bool {
	if e.typ != "session-log-deepseek/delivery-accepted" {
		return true
	}
	version := e.num("sessionFormatVersion")
	if _, has := e.obj()["sessionFormatVersion"]; !has {
		version = 0
	}
	foreign := e.text("sessionId") != t.id
	for to := t.from + 1; to <= t.to; to++ {
		inherited := t.parent && e.seq < t.chunks.cut
		switch {
		case to >= 3 && version == int64(to):
			t.refuse(e.ref, to, "a delivery marker claims version %d, which is only now written", to)
			return false
		case to <= 2 && foreign && !inherited && version == int64(to-1),
			to == 2 && t.from < 2 && foreign && !inherited && version == 2:
			t.refuse(e.ref, to, "a delivery marker of version %d names another session", version)
			return false
		case to == 3 && t.from == 2 && foreign && version == 2:
			t.marker = foreignMarker{e.ref, e.seq, true}
		}
	}
	return true
}

// end judges what only the whole log shows.
func (t *target) end(d *decoder, b *format.Batch) {
	t.b = b
	if t.from < 2 {
		t.finishAttempt()
		if t.chunks.cut >= 0 && !t.turns.marked {
			t.turns.endSeed()
		}
	}
	if t.from < 2 && d.seed > d.count {
		t.refuse(session.Ref{}, t.from+1, "the header promises %d inherited records, the log holds %d", d.seed, d.count)
	}
	if t.from == 2 && d.header && !d.seeded && d.marked {
		t.refuse(session.Ref{}, 3, "a session/end-seed marks an inherited part, which the header denies")
	}
	if t.marker.any && (!t.parent || t.marker.seq >= t.named.inherited) {
		t.refuse(t.marker.ref, 3, "a delivery marker of version 2 names another session")
	}
	t.turns.finish(t)
}
