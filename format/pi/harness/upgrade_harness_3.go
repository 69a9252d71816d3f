package harness

import (
	"bytes"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// leaving is the step from a harness log to a session of pi: entries become lines, and what was set besides them becomes entries behind the last.
type leaving struct {
	source   format.Source
	header   bool
	end      int64 // Unix ms of the newest entry
	places   map[session.ID]place
	last     string // the entry that was written last
	standing standing
}

// place is what is kept of an entry.
type place struct {
	up session.ID
	id string
	// said is a hash of the message that the entry is; silent tells one that is never sent, which a compaction may leave out.
	said   [16]byte
	silent bool
	border bool // of a compaction
}

func beginLeave(s format.Source) (format.Stage, error) {
	return &leaving{source: s, places: map[session.ID]place{}, standing: newStanding()}, nil
}

// What is looked at of an entry.
const (
	eMessage = iota
	eRole
	eSummary
	eFrom
	eTail
	eKept
	eKeptRole
	eKeptSummary
)

var entryParts = scan.NewSingle([]string{
	eMessage: "message", eRole: "message.role", eSummary: "summary", eFrom: "fromId", eTail: "retainedTail", eKept: "retainedTail[]",
	eKeptRole: "retainedTail[].role", eKeptSummary: "retainedTail[].summary",
})

// Record takes a header, or a transaction.
func (t *leaving) Record(l format.Line, out format.Out) error {
	r, err := read(l.Raw)
	switch {
	case err != nil:
		return format.Refuse(l.N, "the record cannot be read")
	case !t.header:
		if !r.header() || r.lacks(current) != "" {
			return format.Refuse(l.N, "the log does not begin with a header that the harness takes")
		}
		t.header = true
		return t.head(l, r, out)
	case r.header():
		out.Drop(l.N, "a second header, which the harness does not take")
		return nil
	}
	put := false
	for i, raw := range writesOf(l.Raw, r) {
		w := &r.writes[i]
		if string(w.str(wKind)) == "entry" {
			line, err := t.entry(l.N, raw, w, out)
			if err != nil {
				return err
			}
			if err := out.Put(format.Line{Raw: line, N: l.N}); err != nil {
				return err
			}
			put = true
			continue
		}
		if err := t.standing.take(l.N, w); err != nil {
			return err
		}
	}
	if !put {
		out.Drop(l.N, "it holds no entry: what still counts of it becomes entries at the end, and what ran is over")
	}
	return nil
}

var elements = scan.NewSingle([]string{"[]"})

// writesOf are the writes of a transaction, as they stand in it.
func writesOf(raw []byte, r *line) [][]byte {
	if !r.array {
		return [][]byte{raw}
	}
	_, caps, _ := elements.Take(raw)
	out := make([][]byte, 0, len(caps))
	for _, c := range caps {
		out = append(out, raw[c.Off:c.Off+c.Len])
	}
	return out[:min(len(out), len(r.writes))]
}

// head writes the header of version 3. Its parent is a path; the harness has an id, of a file that lies beside the child's in most cases.
func (t *leaving) head(l format.Line, r *line, out format.Out) error {
	created, _ := safe(r.Value(hCreated))
	at, err := stamp(l.N, created)
	if err != nil {
		return err
	}
	t.end = created
	parent := string(r.Value(hLegacyParent))
	if id := string(r.Str(hParent)); id != "" {
		if name := t.beside(id); name != "" {
			parent = `"` + escaped(filepath.Join(filepath.Dir(t.source.Path), name)) + `"`
		} else if parent == "" {
			out.Note(l.N, "the session's parent is known by its id alone, and no file beside it has that in its name")
		}
	}
	var b bytes.Buffer
	b.WriteString(`{"type":"session","version":3,"id":` + string(r.Value(wID)) + `,"timestamp":"` + at + `","cwd":` + string(r.Value(hCWD)))
	if parent != "" {
		b.WriteString(`,"parentSession":` + parent)
	}
	rest(&b, l.Raw, "v", "kind", "id", "storageVersion", "createdAt", "cwd", "nextSeq", "type", "version", "timestamp", "parentSession")
	return out.Put(format.Line{Raw: append(b.Bytes(), '}'), N: l.N})
}

// beside is the name of the file in the same folder that a session's id stands in.
func (t *leaving) beside(id string) string {
	if t.source.Dir == nil {
		return ""
	}
	names, err := fs.Glob(t.source.Dir, "*_*.jsonl")
	if err != nil {
		return ""
	}
	for _, n := range names {
		if strings.HasSuffix(path.Base(n), "_"+id+".jsonl") {
			return n
		}
	}
	return ""
}

// entry is an entry of version 3: the same members, but for the place of its write, and its time as a text.
func (t *leaving) entry(n int64, raw []byte, w *write, out format.Out) ([]byte, error) {
	if w.kind(wID) != '"' || w.kind(wParent) != '"' && w.kind(wParent) != 'n' {
		return nil, format.Refuse(n, "an entry has no id or no parent")
	}
	ms, ok := safe(w.value(wTime))
	at, err := stamp(n, ms)
	if err != nil || !ok {
		return nil, format.Refuse(n, "an entry has no time that version 3 can have")
	}
	t.end = max(t.end, ms)
	id := session.MakeID(w.str(wID))
	p := place{up: session.MakeID(w.str(wParent)), id: string(w.str(wID)), silent: true}
	if _, again := t.places[id]; again {
		return nil, format.Refuse(n, "the id %q is used a second time", short(w.str(wID)))
	}
	typ := string(w.str(wType))
	record, caps, _ := entryParts.Take(raw)
	var parts [eKept]session.Capture
	for _, c := range caps {
		if c.Key < eKept {
			parts[c.Key] = c
		}
	}
	text := func(key int) []byte { return record[parts[key].Off : parts[key].Off+parts[key].Len] }
	more, without := "", []string{"kind", "seq", "type", "id", "parentId", "timestamp"}
	switch typ {
	case "message":
		stop := string(w.str(wStop))
		p.said, p.silent = hashed("message", text(eMessage)), stop == "error" || stop == "aborted"
	case "branch_summary":
		p.said, p.silent = hashed("branchSummary", text(eSummary)), len(text(eSummary)) <= 2
		if parts[eFrom].Kind == 'n' {
			more, without = `,"fromId":"root"`, append(without, "fromId")
		}
	case "compaction":
		p.said, p.border = hashed("compactionSummary", text(eSummary)), true
		first, over, err := t.kept(n, p, record, caps)
		if err != nil {
			return nil, err
		}
		if over {
			out.Note(n, "what the compaction keeps begins in front of an earlier one: version 3 sends the summary of that one as well")
		}
		more, without = `,"firstKeptEntryId":"`+first+`"`, append(without, "retainedTail", "firstKeptEntryId")
	case "custom":
	default:
		return nil, format.Refuse(n, "an entry of type %q, which version 3 does not know", short(w.str(wType)))
	}
	t.places[id] = p
	t.last = p.id
	var b bytes.Buffer
	b.WriteString(`{"type":"` + typ + `","id":` + string(w.value(wID)) + `,"parentId":` + string(w.value(wParent)) + `,"timestamp":"` + at + `"` + more)
	rest(&b, raw, without...)
	return append(b.Bytes(), '}'), nil
}

// rest writes the other members of an object, as they stand there.
func rest(b *bytes.Buffer, raw []byte, without ...string) {
	_, names, _ := members.Take(raw)
	for i, c := range names {
		end := bytes.LastIndexByte(raw, '}')
		if i+1 < len(names) {
			end = bytes.LastIndexByte(raw[:names[i+1].Off], ',')
		}
		if name := raw[c.Off+1 : c.Off+c.Len-1]; !slices.Contains(without, string(name)) {
			b.WriteByte(',')
			b.Write(bytes.TrimSpace(raw[c.Off:end]))
		}
	}
}

// members are captured by their names.
var members = scan.NewSingle([]string{"*"})

// stamp is a time as version 3 has it.
func stamp(n, ms int64) (string, error) {
	t := time.UnixMilli(ms).UTC()
	if ms < 0 || t.Year() > 9999 {
		return "", format.Refuse(n, "the time %s is none that version 3 can have", strconv.FormatInt(ms, 10))
	}
	return t.Format("2006-01-02T15:04:05.000Z"), nil
}
