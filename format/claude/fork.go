package claude

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// NewID is a random UUID, as the client's own are.
func (Format) NewID(_ time.Time, random io.Reader) (string, error) {
	var u [16]byte
	if _, err := io.ReadFull(random, u[:]); err != nil {
		return "", err
	}
	u[6], u[8] = u[6]&0x0F|0x40, u[8]&0x3F|0x80
	return uuid(u[:]), nil
}

// Fork makes a child as the client's own /branch does, of which releases 2.1.81 and 2.1.328 were measured: the nodes with their
// ids and times, each saying whose copy it is, then the side records that say something of the session as a whole.
func (Format) Fork(q format.ForkRequest) (format.Child, error) {
	root, name, err := childPlace(q)
	if err != nil {
		return format.Child{}, err
	}
	k := &fork{q: q, parent: parentOf(q.Path), taken: map[session.ID]copyAt{}, sides: map[string]int64{}, carried: map[int64]bool{}}
	if err := k.each(k.look); err != nil {
		return format.Child{}, err
	}
	if k.side {
		return format.Child{}, format.Refuse(q.Cut.N, "the record belongs to the talk of a sub-agent, which cannot be resumed on its own")
	}
	if k.last == (session.ID{}) {
		return format.Child{}, format.Refuse(q.Cut.N, "the child would be empty: nothing is said in front of this place")
	}
	return format.Child{Root: root, Files: []format.NewFile{{Name: name, Write: k.write}}, Notes: k.notes()}, nil
}

// childPlace is where the child's transcript goes: to its parent's directory, or to that of its own working directory.
func childPlace(q format.ForkRequest) (root, name string, err error) {
	if !sessionNames.MatchString(q.ID + ".jsonl") {
		return "", "", format.Refuse(-1, "the client takes a UUID in lower case for a session's id, and %.80q is none", q.ID)
	}
	abs, err := filepath.Abs(q.Path)
	if err != nil {
		return "", "", err
	}
	if agentNames.MatchString(filepath.Base(abs)) {
		return "", "", format.Refuse(-1, "this is the log of a sub-agent, which cannot be resumed on its own: fork its session")
	}
	dir, name := filepath.Dir(abs), q.ID+".jsonl"
	home, _ := placeOf(abs)
	if home == "" {
		return dir, name, nil
	}
	slug := filepath.Base(dir)
	if q.CWD != "" {
		if slug = slugOf(q.CWD); len(slug) > maxSlug {
			return "", "", format.Refuse(-1, "the path %.80q is so long that the client shortens the name of its directory in a way that differs between its builds: use a shorter one", q.CWD)
		}
	}
	return filepath.Dir(dir), path.Join(slug, name), nil
}

// parentOf is the id of the session in a file, as JSON, nil where the file has another name.
func parentOf(name string) []byte {
	base := filepath.Base(name)
	if !sessionNames.MatchString(base) {
		return nil
	}
	return []byte(`"` + strings.TrimSuffix(base, ".jsonl") + `"`)
}

// fork is a child in the making.
type fork struct {
	q       format.ForkRequest
	parent  []byte // the parent's id, as JSON; nil where it says none
	side    bool   // the cut stands in the talk of a sub-agent
	cut     session.ID
	last    session.ID // the last record of the child that speaks, the zero one where none does
	taken   map[session.ID]copyAt
	points  bool // the parent has records that point to the leaf
	sides   map[string]int64
	carried map[int64]bool // side records that the child gets, by number
	spills  int
	history bool
}

// copyAt is the place of a record of the child.
type copyAt struct {
	up     session.ID
	speaks bool
}

// look takes note of a record, of ids and numbers alone.
func (k *fork) look(r *session.Record, taken bool, f *fields) {
	if k.parent == nil && f.Kind(cSession) == '"' {
		k.parent = append(k.parent, f.Value(cSession)...)
	}
	switch {
	case !isNode(f):
		k.bookkeeping(r.N, f)
	case taken:
		k.node(r.N, session.MakeID(f.Str(cUUID)), f)
	case r.N == k.q.Cut.N:
		k.side = f.True(cSide)
	}
}

// node takes note of a record that the child gets. The last one of an id counts, at the place of the first.
func (k *fork) node(n int64, id session.ID, f *fields) {
	if n == k.q.Cut.N {
		k.cut, k.side = id, f.True(cSide)
	}
	if f.Has(cSpill) {
		k.spills++
	}
	up := f.Str(cParent)
	if len(up) == 0 {
		up = f.Str(cLogical)
	}
	typ := string(f.Str(cType))
	p := copyAt{session.MakeID(up), !f.True(cSide) && (typ == "user" || typ == "assistant")}
	if _, again := k.taken[id]; !again && p.speaks {
		k.last = id
	}
	k.taken[id] = p
}

// leaf is where the child goes on: the cut, or what speaks above it.
func (k *fork) leaf() session.ID {
	n := k.cut
	for range k.taken {
		p := k.taken[n]
		if p.speaks {
			return n
		}
		n = p.up
	}
	return k.last
}

// lone are the side records of which the last counts, and which the client gives to a child.
var lone = map[string]bool{
	"custom-title": true, "ai-title": true, "tag": true, "agent-name": true, "agent-setting": true, "mode": true,
	"permission-mode": true, "atis-latch": true, "tools-used": true, "pr-link": true,
}

// bookkeeping takes note of a side record.
func (k *fork) bookkeeping(n int64, f *fields) {
	switch typ := string(f.Str(cType)); {
	case typ == "content-replacement":
		k.carried[n] = true
	case lone[typ]:
		if old, ok := k.sides[typ]; ok {
			delete(k.carried, old)
		}
		k.sides[typ], k.carried[n] = n, true
	case typ == "last-prompt":
		k.points = true
	case strings.HasPrefix(typ, "file-history-"):
		k.history = true
	}
}

// write writes the child.
func (k *fork) write(w io.Writer) error {
	out := bufio.NewWriter(w)
	var prompt, leaf []byte
	leafID := k.leaf()
	err := k.each(func(r *session.Record, taken bool, f *fields) {
		id := f.Str(cLeaf)
		switch {
		case isNode(f):
			if !taken {
				return
			}
			out.Write(k.copied(f))
			if session.MakeID(f.Str(cUUID)) == leafID {
				leaf = append(leaf[:0], f.Value(cUUID)...)
			}
		case string(f.Str(cType)) == "last-prompt" && f.Has(cPrompt):
			// Older releases do not say which record the prompt leads to.
			if id != nil && k.has(id) || id == nil && k.q.Whole {
				prompt = append(prompt[:0], f.Value(cPrompt)...)
			}
		}
	})
	if err != nil {
		return err
	}
	err = k.each(func(r *session.Record, _ bool, f *fields) {
		if k.carried[r.N] || !isNode(f) && string(f.Str(cType)) == "summary" && k.has(f.Str(cLeaf)) {
			out.Write(k.carry(f))
		}
	})
	if err != nil {
		return err
	}
	// Without a pointer the client goes on from the last message of the file.
	if k.points || k.last != leafID {
		out.Write(append(pointer(leaf, prompt, []byte(`"`+k.q.ID+`"`)), '\n'))
	}
	return out.Flush()
}

// has tells whether the child has a node.
func (k *fork) has(id []byte) bool {
	_, ok := k.taken[session.MakeID(id)]
	return ok
}

// each goes over the parent.
func (k *fork) each(yield func(r *session.Record, taken bool, f *fields)) error {
	return k.q.Each(func(r *session.Record, taken bool) error {
		f, err := peel(r.Raw)
		if err != nil {
			return format.Refuse(r.N, "the record cannot be read")
		}
		yield(r, taken, f)
		return nil
	})
}

// notes say what stays with the parent.
func (k *fork) notes() []string {
	var out []string
	if k.spills > 0 {
		are := "texts of results are"
		if k.spills == 1 {
			are = "text of a result is"
		}
		out = append(out, fmt.Sprintf("%d full %s kept in files beside the parent, which the child goes on naming", k.spills, are))
	}
	id := strings.TrimSuffix(filepath.Base(k.q.Path), ".jsonl")
	if k.q.Dir != nil {
		if logs, _ := fs.Glob(k.q.Dir, id+"/subagents/agent-*.jsonl"); len(logs) > 0 {
			out = append(out, "the logs of sub-agents stay with the parent: the child has their results")
		}
	}
	if k.history {
		out = append(out, "the copies of files from before each edit stay with the parent: the child cannot take back edits that are older than it is")
	}
	return out
}
