package codex

import (
	"bytes"
	"encoding/json"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// Inherits reads forked_from_id off a header. A fork that begins in another file by history_base has copied nothing: where
// it begins is a citation. Others hold copies, and do not say how many.
func (Format) Inherits(p format.Peek) (format.Heritage, bool) {
	f, err := read(p.First)
	if err != nil || !f.enveloped() || string(f.Str(kType)) != "session_meta" || f.Kind(kBase) == '{' {
		return format.Heritage{}, false
	}
	parent := string(f.Str(kForkedFrom))
	return format.Heritage{Parent: parent, Records: -1}, parent != ""
}

// Ancestor is the first rollout of a thread.
func (Format) Ancestor(path string, h format.Heritage) string {
	return findNamed(path, h.Parent)
}

// Known is what a copy of an item for the model is known by, the zero ID where it has nothing of the kind: its own id, else that
// of its call. Clients write a copy with another time and number, and a newer one may write its members in another way.
func (Format) Known(record []byte) session.ID {
	f, err := read(record)
	if err != nil || !f.enveloped() || string(f.Str(kType)) != "response_item" {
		return session.ID{}
	}
	id := f.Str(kID)
	if len(id) == 0 {
		id = f.Str(kCall)
	}
	if len(id) == 0 {
		return session.ID{}
	}
	return session.MakeID(append(append([]byte{}, f.Str(kKind)...), id...))
}

// Alike tells whether an item for the model says the same in both: every member that both have is equal. Of other records, which
// are for the display, none is held against the parent's.
func (Format) Alike(child, parent []byte) bool {
	var c, p struct {
		Type    string
		Payload json.RawMessage
	}
	if json.Unmarshal(child, &c) != nil || json.Unmarshal(parent, &p) != nil || c.Type != p.Type {
		return false
	}
	return c.Type != "response_item" || agree(plain(c.Payload), plain(p.Payload))
}

func plain(raw []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// agree compares what two values both have.
func agree(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return false
		}
		for name, v := range a {
			if w, in := b[name]; in && v != nil && w != nil && !agree(v, w) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !agree(a[i], b[i]) {
				return false
			}
		}
		return true
	}
	return a == b
}

var _ format.Heir = Format{}
