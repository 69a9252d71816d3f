package grok

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// Inherits reads in the summary beside the log that the session is a fork, or one for a worktree. A sub-agent names its parent as well, and
// has nothing of it. How many records are the parent's none says, and not all of the parent's need be there: a fork leaves out what
// was taken back.
func (Format) Inherits(p format.Peek) (format.Heritage, bool) {
	if filepath.Base(p.Path) != updatesName {
		return format.Heritage{}, false
	}
	data, err := format.ReadSmall(os.DirFS(filepath.Dir(p.Path)), summaryName, maxSummary)
	var s struct {
		Parent string `json:"parent_session_id"`
		Kind   string `json:"session_kind"`
	}
	if err != nil || json.Unmarshal(data, &s) != nil {
		return format.Heritage{}, false
	}
	return format.Heritage{Parent: s.Parent, Records: -1}, s.Parent != "" && (s.Kind == "fork" || s.Kind == "worktree")
}

// Ancestor is the log of the parent: in the group of its child, or in another one of the same sessions. A child elsewhere looks
// beside itself.
func (Format) Ancestor(path string, h format.Heritage) string {
	abs, err := filepath.Abs(path)
	if err != nil || h.Parent == "" || h.Parent[0] == '.' || strings.ContainsAny(h.Parent, `/\`) {
		return ""
	}
	dir := filepath.Dir(abs)
	group := filepath.Dir(dir)
	if at := filepath.Join(group, h.Parent, updatesName); exists(at) {
		return at
	}
	if !inHome(dir) {
		return ""
	}
	root := filepath.Dir(group)
	groups, _ := os.ReadDir(root)
	for _, g := range groups {
		if at := filepath.Join(root, g.Name(), h.Parent, updatesName); g.IsDir() && exists(at) {
			return at
		}
	}
	return ""
}

// Alike tells whether an update of a child is the copy of its parent's: it tells the same, under the same event. The session and the time
// of writing are the child's, and members that the client does not know are lost when it copies.
func (Format) Alike(child, parent []byte) bool {
	if bytes.Equal(child, parent) {
		return true
	}
	c, ok := updateOf(child)
	p, ok2 := updateOf(parent)
	return ok && ok2 && holdsNoMore(c, p)
}

// updateOf is what an update says, and under which event.
func updateOf(raw []byte) (any, bool) {
	var r struct {
		Params struct {
			Update map[string]any `json:"update"`
			Meta   struct {
				Event any `json:"eventId"`
			} `json:"_meta"`
		} `json:"params"`
	}
	if json.Unmarshal(raw, &r) != nil || r.Params.Update == nil {
		return nil, false
	}
	return map[string]any{"update": r.Params.Update, "event": r.Params.Meta.Event}, true
}

// holdsNoMore tells whether a value holds nothing that another does not.
func holdsNoMore(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		for key, v := range a {
			w, there := b[key]
			ok = ok && (there && holdsNoMore(v, w) || !there && v == nil)
		}
		return ok
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !holdsNoMore(a[i], b[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

// eventOf names a record by its event and its kind, as far as it bears one. Several bear number 0.
func (f *fields) eventOf() session.ID {
	event := f.Str(kEvent)
	if n, ok := counter(event); !ok || n == 0 {
		return session.ID{}
	}
	f.named = append(append(append(f.named[:0], event...), 0), f.Str(kUpdate)...)
	return session.MakeID(f.named)
}

var _ format.Heir = Format{}
