package dsh

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// headerLine is a header by its members, values as written.
type headerLine map[string]json.RawMessage

// readHeader parses a line that may be a header. It is read once a session.
func readHeader(line []byte) (headerLine, bool) {
	if len(line) == 0 {
		return nil, false
	}
	var h headerLine
	if json.Unmarshal(line, &h) != nil || h.text("type") != "session" || h.has("seq") {
		return nil, false
	}
	return h, true
}

// own tells this format's header from those of other agents, which begin alike.
func (h headerLine) own() bool {
	return h.has("createdAt") && (h.has("delegationDepth") || !h.has("timestamp"))
}

func (h headerLine) has(name string) bool { _, ok := h[name]; return ok }

func (h headerLine) raw(name string) []byte { return bytes.TrimSpace(h[name]) }

func (h headerLine) text(name string) string {
	var s string
	if json.Unmarshal(h[name], &s) != nil {
		return ""
	}
	return s
}

// retiredHeader members make the client fail to list the whole root.
var retiredHeader = []string{"sandboxMode", "approvalPolicy"}

var headerMembers = map[string]bool{
	"type": true, "version": true, "id": true, "createdAt": true, "cwd": true, "parentSession": true,
	"origin": true, "delegationDepth": true, "agentPreset": true,
}

// decodeHeader judges the first record; it returns false when that is no header.
func (d *decoder) decodeHeader(r *session.Record, b *format.Batch) bool {
	h, ok := readHeader(r.Raw)
	if !ok {
		code := finding.HeaderMissing
		message := "the first record is no session header"
		if string(d.f.str(kType)) == "session" {
			code, message = finding.HeaderCorrupt, "the first line is no readable header"
		}
		bad(r, b, code, "%s", message)
		return false
	}
	d.header = true
	d.first = bytes.Clone(r.Raw)
	b.Unnumbered = true
	b.Header = &format.Header{ID: h.text("id"), CWD: h.text("cwd"), Parent: h.text("parentSession")}
	b.Events = append(b.Events, session.Event{Kind: session.Header})
	d.seed = -1
	if v, ok := integer(h.raw("seedLength")); ok {
		d.seed, b.Header.Seed = v, v
	}
	d.seeded = string(h.raw("isSeeded")) == "true"
	d.headerFields(r, b, h)
	d.encoding(r, b)
	d.headerPlace(r, b, h)
	return true
}

// headerFields judges the header's members.
func (d *decoder) headerFields(r *session.Record, b *format.Batch, h headerLine) {
	invalid := func(where, text string, args ...any) {
		f := finding.New(finding.HeaderInvalid)
		f.Span, f.Record, f.Where = r.Span, r.Ref(), where
		f.Message = fmt.Sprintf(text, args...)
		b.Findings = append(b.Findings, f)
	}
	for _, name := range retiredHeader {
		if h.has(name) {
			invalid("retired", "the header member %q is retired", name)
		}
	}
	if _, ok := integer(h.raw("version")); !ok {
		invalid("missing", "the header has no version")
	}
	if h.text("id") == "" {
		invalid("missing", "the header has no id")
	}
	if v, ok := integer(h.raw("createdAt")); !ok || v < 0 {
		invalid("missing", "the header has no createdAt")
	}
	if v, ok := integer(h.raw("delegationDepth")); !ok || v < 0 {
		invalid("missing", "the header has no delegationDepth")
	}
	if h.has("cwd") && !absolute(h.text("cwd")) {
		invalid("missing", "the header's cwd is no absolute path")
	}
	if h.has("parentSession") && h.text("parentSession") == "" {
		invalid("missing", "parentSession is no id")
	}
	if h.has("agentPreset") && (len(h.raw("agentPreset")) == 0 || h.raw("agentPreset")[0] != '"') {
		invalid("missing", "agentPreset is no name")
	}
	if h.has("origin") && h.text("origin") != "subagent" {
		invalid("extra", "origin is something else than subagent")
	}
	seed := "seedLength"
	if d.dialect.version >= 2 {
		seed = "isSeeded"
		if s := string(h.raw(seed)); s != "true" && s != "false" {
			invalid("missing", "the header lacks isSeeded")
		}
	} else if h.has(seed) && d.seed < 0 {
		invalid("missing", "seedLength is no length")
	}
	for name := range h {
		if !headerMembers[name] && name != seed && name != retiredHeader[0] && name != retiredHeader[1] {
			invalid("extra", "the header member %q is not known to version %d", name, d.dialect.version)
			break
		}
	}
}

func absolute(path string) bool {
	return strings.HasPrefix(path, "/") || strings.HasPrefix(path, `\\`) ||
		len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
}

// encoding holds how the file is stored against its name. Plain text in a compressed log is
// found where frames are read; compressed text under a plain name is found here.
func (d *decoder) encoding(r *session.Record, b *format.Batch) {
	_, packed, ok := logName(base(d.place.Path))
	if ok && !packed && d.place.Medium == scan.Frames {
		bad(r, b, finding.HeaderCorrupt, "the log is compressed, and its name %s is that of a plain one: the client cannot read its header", base(d.place.Path))
		b.Findings[len(b.Findings)-1].Repair = "none is automatic: rename the file to " + base(d.place.Path) + ".zstd"
	}
}

// headerPlace holds the header against the directories it lies in, which the client recomputes.
func (d *decoder) headerPlace(r *session.Record, b *format.Batch, h headerLine) {
	project, dir, version, placed := placeOf(d.place.Path)
	if !placed {
		return
	}
	mismatch := func(text string, args ...any) {
		f := finding.New(finding.SessionIDMismatch)
		f.Span, f.Record = r.Span, r.Ref()
		f.Message = fmt.Sprintf(text, args...)
		b.Findings = append(b.Findings, f)
	}
	if v, ok := integer(h.raw("version")); ok && int(v) != version {
		mismatch("the file name stands for version %d, the header says %d", version, v)
	}
	if want := segment(h.text("id")); want != dir {
		mismatch("the header's id belongs into a directory %q, the log lies in %q", want, dir)
	}
	if want := projectKey(h.text("cwd")); want != project {
		mismatch("the header's cwd belongs under a directory %q, the log lies under %q", want, project)
	}
}

// secondHeader judges a header inside the log: a fault, but one whose removal loses nothing
// where it repeats the first.
func (d *decoder) secondHeader(r *session.Record, b *format.Batch) {
	b.Unnumbered = true
	f := finding.New(finding.HeaderMisplaced)
	f.Span, f.Record = r.Span, r.Ref()
	f.Message = "a second session header, the same as the first"
	if !bytes.Equal(r.Raw, d.first) {
		f.Message = "a second session header, other than the first"
	}
	b.Findings = append(b.Findings, f)
}

// End judges what only the whole log shows.
func (d *decoder) End(b *format.Batch) {
	d.shapes.end(b)
	lineage := func(text string, args ...any) {
		f := finding.New(finding.LineageBroken)
		f.Message = fmt.Sprintf(text, args...)
		b.Findings = append(b.Findings, f)
	}
	if d.seed > d.count {
		lineage("the header promises %d inherited records, the log holds %d", d.seed, d.count)
	}
	if d.seeded && !d.marked && d.dialect.version >= 2 {
		lineage("the header promises an inherited part, and no session/end-seed marks its end")
	}
}

// segment is the directory name of a session id.
func segment(id string) string {
	if id == "." || id == ".." {
		return strings.ReplaceAll(id, ".", "~002E")
	}
	var out strings.Builder
	for _, u := range utf16Of(id) {
		escapeUnit(&out, u)
	}
	return out.String()
}

// projectKey is the directory name of a working directory.
func projectKey(cwd string) string {
	if cwd == "" {
		return "_no-cwd"
	}
	var out strings.Builder
	run := false
	for _, u := range utf16Of(cwd) {
		if u == '/' || u == '\\' || u == ':' {
			if !run {
				out.WriteByte('-')
			}
			run = true
			continue
		}
		run = false
		escapeUnit(&out, u)
	}
	slug := strings.TrimLeft(out.String(), "-")
	if slug == "" {
		slug = "root"
	}
	return "--" + slug[:min(len(slug), 251)] + "--"
}

func escapeUnit(out *strings.Builder, u uint16) {
	c := byte(u)
	if u < 0x80 && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-') {
		out.WriteByte(c)
		return
	}
	fmt.Fprintf(out, "~%04X", u)
}

func base(path string) string { return filepath.Base(path) }
