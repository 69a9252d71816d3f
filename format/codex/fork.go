package codex

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// NewID is a UUID, version 7, as the client gives them to threads.
func (Format) NewID(now time.Time, random io.Reader) (string, error) {
	var u [16]byte
	if _, err := io.ReadFull(random, u[6:]); err != nil {
		return "", err
	}
	ms := now.UnixMilli()
	for i := range 6 {
		u[i] = byte(ms >> (40 - 8*i))
	}
	u[6], u[8] = u[6]&0x0F|0x70, u[8]&0x3F|0x80
	s := hex.EncodeToString(u[:])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:], nil
}

// lower is an id as it stands in a file's name.
var lower = regexp.MustCompile(`^` + uuid + `$`)

// Fork copies all that the parent's client would send up to the cut into a rollout of its own: the beginnings of others
// that it begins with, and its own records. The header is the parent's with another identity. So the child can do without
// its parent; the client's own forks of paginated rollouts cannot.
func (Format) Fork(q format.ForkRequest) (format.Child, error) {
	if !lower.MatchString(q.ID) {
		return format.Child{}, format.Refuse(-1, "the id of a thread is a UUID in small letters, and %.60q is none", q.ID)
	}
	header, err := firstOf(own(q))
	if err != nil {
		return format.Child{}, err
	}
	from, err := bases(q.Path, q.Dialect.Framing(), header)
	if err != nil {
		return format.Child{}, err
	}
	c := format.Child{Root: filepath.Dir(q.Path)}
	name := "rollout-" + q.Now.Format("2006-01-02T15-04-05") + "-" + q.ID + ".jsonl"
	if root := rootOf(q.Path); root != "" {
		c.Root, name = filepath.Join(root, "sessions"), path.Join(q.Now.Format("2006/01/02"), name)
	}
	if q.Dialect.Version() == bare {
		c.Notes = append(c.Notes, "a rollout of the oldest kind cannot say whose child it is")
	}
	if f, err := read(header); err == nil && f.enveloped() {
		if f.Kind(kSource) == '{' {
			c.Notes = append(c.Notes, "the child says, as its parent does, that it is the thread of an agent's helper")
		}
		if f.Kind(kProvider) != '"' {
			c.Notes = append(c.Notes, "the parent names no model provider; the child names the client's own, without which the client does not resume it")
		}
	}
	c.Files = []format.NewFile{{Name: name, Write: func(w io.Writer) error {
		b := &branch{q: q, w: w}
		return b.write(from)
	}}}
	return c, nil
}

// branch writes a child.
type branch struct {
	q    format.ForkRequest
	w    io.Writer
	next int64 // ordinal
	f    fields
	cwd  [2]string // the parent's working directory and the child's, as JSON; empty where the child has its parent's
}

func (b *branch) write(from []piece) error {
	return b.q.Each(func(r *session.Record, taken bool) error {
		switch {
		case r.N == 0:
			if err := b.header(r.Raw); err != nil {
				return err
			}
			for _, p := range from {
				if err := p.each(b.record); err != nil {
					return err
				}
			}
			return nil
		case !taken:
			return nil
		}
		return b.record(r)
	})
}

// header writes the child's.
func (b *branch) header(raw []byte) error {
	quoted := func(s string) string {
		v, _ := json.Marshal(s)
		return string(v)
	}
	now, id := quoted(b.q.Now.UTC().Format("2006-01-02T15:04:05.000Z")), quoted(b.q.ID)
	if b.q.Dialect.Version() == bare {
		return b.line(with(with(raw, "", "id", id), "", "timestamp", now))
	}
	f, err := read(raw)
	if err != nil || !f.enveloped() || string(f.Str(kType)) != "session_meta" {
		return format.Refuse(0, "the first record is no header")
	}
	parent := `"` + string(f.Str(kID)) + `"`
	raw = with(raw, "", "timestamp", now)
	for _, m := range [][2]string{{"timestamp", now}, {"forked_from_id", parent}, {"id", id}, {"session_id", id}} {
		raw = with(raw, "payload", m[0], m[1])
	}
	if f.Kind(kProvider) != '"' {
		raw = with(raw, "payload", "model_provider", provider)
	}
	if b.q.CWD != "" {
		b.cwd = [2]string{string(f.Value(kCWD)), quoted(b.q.CWD)}
		raw = b.moved(raw, "payload")
	}
	for _, name := range []string{"history_base", "forked_from_ordinal_exclusive"} {
		raw = with(raw, "payload", name, "")
	}
	return b.line(b.numbered(raw))
}

// record writes a record that the child has of its parent.
func (b *branch) record(r *session.Record) error {
	b.f.set(r.Raw, r.Caps)
	raw := r.Raw
	switch string(b.f.Str(kType)) {
	case "session_meta":
		return nil
	case "event_msg":
		switch string(b.f.Str(kKind)) {
		case "item_completed", "thread_settings_applied":
			if b.f.Kind(kThread) == '"' {
				raw = with(raw, "payload", "thread_id", `"`+b.q.ID+`"`)
			}
			raw = b.moved(raw, "payload.thread_settings")
		}
	}
	return b.line(b.numbered(raw))
}

// moved gives the child's working directory to an object that says where the thread works: the header, and settings, which the
// client believes rather than the header (measured with 0.171.0).
func (b *branch) moved(raw []byte, of string) []byte {
	if b.cwd[1] == "" || !holds(raw, of, "cwd") {
		return raw
	}
	raw = with(raw, of, "cwd", b.cwd[1])
	list, _ := inner(raw, of)
	roots, _ := named(list, "runtime_workspace_roots")
	each, _ := parts(raw, roots.from)
	var patches []finding.Patch
	for _, r := range each {
		if roots.to > 0 && string(r.of(raw)) == b.cwd[0] {
			patches = append(patches, replaced(r, b.cwd[1]))
		}
	}
	return spliced(raw, patches...)
}

// numbered gives a record of a paginated rollout its number.
func (b *branch) numbered(raw []byte) []byte {
	if b.q.Dialect.Version() != paginated {
		return raw
	}
	raw = with(raw, "", "ordinal", num(b.next))
	b.next++
	return raw
}

func (b *branch) line(raw []byte) error {
	_, err := b.w.Write(append(slices.Clip(raw), '\n'))
	return err
}
