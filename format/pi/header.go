package pi

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// header is what is kept of the first header.
type header struct {
	first   session.Ref // the header, Len 0 = none yet
	version session.Capture
	value   string // the version as written
	typ     session.Capture
	cwd     string // as the model was told, escapes left as they are
	late    bool   // entries stand in front of it
	raw     []byte
	patches []finding.Patch // of one that moves, from its beginning
	orphan  session.Ref     // the first record, where that is an entry
}

// header reads a header. The client takes the first one, and only where it is the first record that can be read.
func (d *decoder) header(r *session.Record, b *format.Batch) {
	f := &d.f
	if d.head.first.Len > 0 {
		add(b, finding.HeaderMisplaced, r.Ref(), "second", "a second header: the client passes over it").Repair = "nothing"
		return
	}
	h := &d.head
	h.first, h.version, h.typ = r.Ref(), f.At(kVersion), f.At(kType)
	h.value = string(f.Value(kVersion))
	d.generation = generationOf(f)
	h.late = r.N > 0
	if h.late {
		h.raw = bytes.Clone(r.Raw)
	}
	b.Events = append(b.Events, session.Event{Kind: session.Header})
	b.Header = &format.Header{ID: string(f.Str(kID)), CWD: string(f.Str(kCWD)), Parent: string(f.Str(kParentSession))}
	switch c := f.At(kID); {
	case c.Kind == '"':
	case c.Kind == '0':
		n := add(b, finding.HeaderInvalid, r.Ref(), "id", "the session's id is a number: the client does not take the file for a session")
		n.Repair = "the number becomes a string"
		h.patch(n, finding.Patch{At: int64(c.Off), Ins: []byte{'"'}}, finding.Patch{At: int64(c.Off + c.Len), Ins: []byte{'"'}})
		b.Header.ID = string(f.Of(c))
	default:
		n := add(b, finding.HeaderInvalid, r.Ref(), "no-id", "the header has no id: the client does not take the file for a session")
		if id := named(d.place.Path); id != "" {
			n.Where = "id"
			n.Repair = "it gets the id in the file's name"
			b.Header.ID = id
			if c.Len > 0 {
				h.patch(n, finding.Patch{At: int64(c.Off), Del: int64(c.Len), Ins: []byte(`"` + id + `"`)})
			} else {
				h.patch(n, finding.Patch{At: int64(h.typ.Off + h.typ.Len), Ins: []byte(`,"id":"` + id + `"`)})
			}
		}
	}
	if f.Kind(kCWD) != '"' {
		n := add(b, finding.HeaderInvalid, r.Ref(), "cwd", "the header names no working directory: the client takes the one that it is started in")
		n.Repair = "nothing: start the client where the session belongs"
	}
}

// patch changes bytes of the header, counted from its beginning: where it stands, or in the copy that goes to the front.
func (h *header) patch(n *finding.Finding, list ...finding.Patch) {
	if h.late {
		h.patches = append(h.patches, list...)
		return
	}
	for _, p := range list {
		p.At += h.first.Text
		n.Patches = append(n.Patches, p)
	}
}

// mended is the header that goes to the front.
func (h *header) mended() []byte {
	slices.SortStableFunc(h.patches, func(a, b finding.Patch) int { return cmp.Compare(a.At, b.At) })
	var out []byte
	at := int64(0)
	for _, p := range h.patches {
		out = append(append(out, h.raw[at:p.At]...), p.Ins...)
		at = p.At + p.Del
	}
	return append(append(out, h.raw[at:]...), '\n')
}

func add(b *format.Batch, code finding.Code, ref session.Ref, where, message string) *finding.Finding {
	b.Findings = append(b.Findings, finding.About(code, ref, where, message))
	return &b.Findings[len(b.Findings)-1]
}

// toldCWD reads the working directory out of what the client tells the model (1.6.0).
func (d *decoder) toldCWD() {
	text := d.f.Str(kCWDSection)
	_, text, ok1 := bytes.Cut(text, []byte(`<cwd>\n`))
	text, _, ok2 := bytes.Cut(text, []byte(`\n</cwd>`))
	if ok1 && ok2 {
		d.head.cwd = string(text)
	}
}

// Reheader makes a header of what is known where it is lost: the id and the time are in the file's name, the working
// directory in what remains of the old one, or in what the model was told.
func (d *decoder) Reheader(remains []byte) []byte {
	id := named(d.place.Path)
	if id == "" || d.entries == 0 {
		return nil
	}
	version := ""
	switch {
	case d.named == 0:
	case d.hooks > 0:
		version = fmt.Sprintf(`"version":%d,`, hooked)
	default:
		version = fmt.Sprintf(`"version":%d,`, newest)
	}
	cwd := ""
	if m := remainsCWD.Find(remains); m != nil {
		cwd = "," + string(m)
	} else if d.head.cwd != "" {
		cwd = `,"cwd":"` + d.head.cwd + `"`
	}
	name := filepath.Base(d.place.Path)
	stamp := name[:10] + "T" + strings.ReplaceAll(name[11:19], "-", ":") + "." + name[20:24]
	return []byte(`{"type":"session",` + version + `"id":"` + id + `","timestamp":"` + stamp + `"` + cwd + `}`)
}

// remainsCWD finds the working directory in a torn header.
var remainsCWD = regexp.MustCompile(`"cwd":"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt])*"`)

// End says what only the whole session shows: of its header, and whether that fits the entries.
func (d *decoder) End(b *format.Batch) {
	h := &d.head
	switch {
	case h.first.Len == 0 && d.entries > 0:
		n := finding.New(finding.HeaderMissing)
		n.Line, n.Logical, n.Record = 1, 1, h.orphan
		n.Message = "the first record is no header: the client does not take the file for a session; releases up to 0.80.2 write over it"
		b.Findings = append(b.Findings, n)
		return
	case h.first.Len == 0:
		return
	}
	d.version(b)
	if h.late {
		n := add(b, finding.HeaderMisplaced, h.first, "late", "the header is not the first record: the client does not take the file for a session; releases up to 0.80.2 write over it")
		n.Repair = "it is moved to the front"
		n.Patches = []finding.Patch{{At: 0, Ins: h.mended()}, {At: h.first.Text, Del: h.first.TextLen + 1}}
	}
}

// version judges whether the version in the header fits the entries.
func (d *decoder) version(b *format.Batch) {
	h := &d.head
	tell := func(where, message, repair, value string) {
		n := add(b, finding.HeaderInvalid, h.first, where, message)
		n.Repair = repair
		n.Never = "open the session before it is mended"
		switch {
		case value == "":
			n.Where = "mixed"
		case h.version.Len > 0:
			h.patch(n, finding.Patch{At: int64(h.version.Off), Del: int64(h.version.Len), Ins: []byte(value)})
		default:
			h.patch(n, finding.Patch{At: int64(h.typ.Off + h.typ.Len), Ins: []byte(`,"version":` + value)})
		}
	}
	right := strconv.Itoa(newest)
	if d.hooks > 0 {
		right = strconv.Itoa(hooked)
	}
	old := d.generation == linear
	switch {
	case d.entries == 0:
	case old && d.named == d.entries:
		tell("version", "the header has no version, and the entries have ids: the client gives all of them new ones and makes one line of the tree", "it gets version "+right, right)
	case (old || d.linear) && d.named > 0:
		tell("mixed", fmt.Sprintf("%d of %d entries have ids, from the first on or from a later one", d.named, d.entries), "none is safe: whether the entries are a tree or a line cannot be said", "")
	case d.linear && !old:
		tell("unmigrated", "the entries have no ids, and the header has a version that does: the client sends the last one alone", "the version is taken out, so that the client gives them ids when it opens the session", "1")
	case d.generation == newest && d.hooks > 0:
		tell("hooks", fmt.Sprintf("%d messages of hooks are in the form of version 2, and the header says another: the client does not send them", d.hooks), "the version becomes 2, so that the client changes them when it opens the session", right)
	case !old && h.version.Kind != '0' && !numeric(h.value):
		tell("version", "the header's version is no number: the client writes the file again each time, without what it cannot read", "it becomes "+right, right)
	}
}

// numeric tells a version that the client compares as a number: also one in quotes.
func numeric(value string) bool {
	_, err := strconv.ParseFloat(string(bytes.Trim([]byte(value), `"`)), 64)
	return err == nil
}
