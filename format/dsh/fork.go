package dsh

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strconv"
	"time"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// maxName is how long a directory's name may be on common systems.
const maxName = 255

// NewID is session- and a random UUID, as the client names a branch that is made by hand.
func (Format) NewID(_ time.Time, random io.Reader) (string, error) {
	var u [16]byte
	if _, err := io.ReadFull(random, u[:]); err != nil {
		return "", err
	}
	u[6], u[8] = u[6]&0x0f|0x40, u[8]&0x3f|0x80
	x := hex.EncodeToString(u[:])
	return "session-" + x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:], nil
}

// Fork makes a child that begins with the records up to the cut, byte for byte and under their own numbers, and then marks
// the end of what it inherits (packages/core/session/src/index.ts, fork). What the cut leaves open is ended behind that mark:
// by the branch itself where the version has a word for it, else by whoever closes it.
func (Format) Fork(q format.ForkRequest) (format.Child, error) {
	h, err := parentHeader(q)
	if err != nil {
		return format.Child{}, err
	}
	version, err := strconv.Atoi(q.Dialect.Version())
	if err != nil || version < 0 || version > Newest {
		return format.Child{}, format.Refuse(-1, "sessions of version %s cannot be branched", q.Dialect.Version())
	}
	switch {
	case q.ID == "":
		return format.Child{}, format.Refuse(-1, "the branch needs an id")
	case q.ID == h.text("id"):
		return format.Child{}, format.Refuse(-1, "the branch cannot have the id of the session that it is made of")
	case len(segment(q.ID)) > maxName:
		return format.Child{}, format.Refuse(-1, "the id makes a directory name of more than %d bytes", maxName)
	case q.CWD != "" && !absolute(q.CWD):
		return format.Child{}, format.Refuse(-1, "the working directory %q is no absolute path", q.CWD)
	}
	b := &branch{q: q, dialect: dialect{version: version}, parent: h, framed: q.Medium == scan.Frames}
	cwd := q.CWD
	if cwd == "" {
		cwd = h.text("cwd")
	}
	root := Format{}.Root(q.Path)
	if root == "" {
		root = filepath.Dir(q.Path)
	}
	name := path.Join(projectKey(cwd), segment(q.ID), nameOf(version, b.framed))
	return format.Child{Root: root, Files: []format.NewFile{{Name: name, Write: b.write}}, Notes: b.notes()}, nil
}

// errEnough ends a walk over records early.
var errEnough = errors.New("enough")

// parentHeader reads the header of the session that is cut.
func parentHeader(q format.ForkRequest) (h headerLine, err error) {
	ok := false
	err = q.Each(func(r *session.Record, _ bool) error {
		h, ok = readHeader(r.Raw)
		return errEnough
	})
	switch {
	case err != nil && !errors.Is(err, errEnough):
		return nil, err
	case !ok || h.text("id") == "":
		return nil, format.Refuse(0, "the session has no readable header, and a branch must name it")
	}
	return h, nil
}

// nameOf is the name of a log in its directory; logName reads it.
func nameOf(version int, framed bool) string {
	name := "session"
	if version > 0 {
		name += ".v" + strconv.Itoa(version)
	}
	name += ".jsonl"
	if framed {
		name += ".zstd"
	}
	return name
}

// branch is a child that is being made.
type branch struct {
	q       format.ForkRequest
	dialect dialect
	parent  headerLine
	framed  bool
}

// notes say what of its parent the child does not have.
func (b *branch) notes() (out []string) {
	if q := b.q.Cut; b.dialect.version >= 4 && q.Closable {
		out = append(out, q.Open+": the branch ends that with records of its own")
	}
	if b.parent.has("origin") {
		out = append(out, "the branch is a session of its own and no sub-agent of the other session's parent")
	}
	for name := range b.parent {
		if !headerMembers[name] && name != "seedLength" && name != "isSeeded" {
			out = append(out, fmt.Sprintf("members of the header that the client does not know, such as %q, are not taken over", name))
			break
		}
	}
	return out
}

// header is the child's. The preset is the parent's, as in a branch that the client's user makes; where the parent came from
// and how deep it was delegated are not.
func (b *branch) header(inherited int64) []byte {
	out := []byte(`{"type":"session","version":` + strconv.Itoa(b.dialect.version) + `,"id":`)
	out = append(out, jsonString(b.q.ID)...)
	out = append(out, `,"createdAt":`+num(b.q.Now.UnixMilli())...)
	switch {
	case b.q.CWD != "":
		out = append(append(out, `,"cwd":`...), jsonString(b.q.CWD)...)
	case b.parent.has("cwd"):
		out = append(append(out, `,"cwd":`...), b.parent.raw("cwd")...)
	}
	out = append(append(out, `,"parentSession":`...), b.parent.raw("id")...)
	if b.dialect.version >= 2 {
		out = append(out, `,"isSeeded":true`...)
	} else {
		out = append(out, `,"seedLength":`+num(inherited)...)
	}
	out = append(out, `,"delegationDepth":0`...)
	if b.parent.has("agentPreset") {
		out = append(append(out, `,"agentPreset":`...), b.parent.raw("agentPreset")...)
	}
	return append(out, '}')
}

// write writes the child's log.
func (b *branch) write(w io.Writer) error {
	out, err := newLogWriter(w, b.framed)
	if err != nil {
		return err
	}
	inherited := b.q.Cut.Seq + 1
	if err := out.line(b.header(inherited)); err != nil {
		return err
	}
	e := newBorder(b.dialect)
	err = b.q.Each(func(r *session.Record, taken bool) error {
		switch {
		case r.N > b.q.Cut.N:
			return errEnough
		case r.N == 0 || !taken:
			return nil
		}
		if err := e.add(r); err != nil {
			return err
		}
		return out.line(r.Raw)
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	if e.next != inherited {
		return format.Refuse(b.q.Cut.N, "the records in front of the cut end with number %d, and not with %d", e.next-1, b.q.Cut.Seq)
	}
	if line := b.mark(e); line != nil {
		if err := out.line(line); err != nil {
			return err
		}
	}
	for _, c := range b.closers(e) {
		if _, err := out.Write(c.Line); err != nil {
			return err
		}
	}
	return out.close()
}

// mark is the record that ends the inherited part. Up to version 1 an old one at the cut will do; later ones count the
// inherited records by the last mark that says so, which therefore always stands behind them.
func (b *branch) mark(e *border) []byte {
	time, data := b.q.Now.UnixMilli(), `{}`
	if b.dialect.version >= 2 {
		data = `{"inherited":true}`
		if e.next > 0 {
			time = e.time
		}
	} else if e.kind == "session/end-seed" {
		return nil
	}
	line := `{"type":"session/end-seed","seq":` + num(e.next) + `,"time":` + num(time) + `,"data":` + data + `}`
	e.next++
	e.time = time
	return []byte(line)
}
