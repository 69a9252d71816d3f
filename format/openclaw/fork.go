package openclaw

import (
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/pi"
)

// NewID is a UUID of version 4, as the client has them.
func (Format) NewID(_ time.Time, random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", err
	}
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:], nil
}

// Fork makes of the way from the root to the cut a log of its own, as package pi does: entries that name the place to go on from and those
// that stand beside the way come along where they are on it. The index is not written: it is the gateway's, and may be written at any time.
func (Format) Fork(q format.ForkRequest) (format.Child, error) {
	if err := (Format{}).Forks(q.Dialect); err != nil {
		return format.Child{}, err
	}
	if stored(q.Path) {
		return format.Child{}, format.Refuse(-1, "the session lies in the client's database, which sessfix does not write: let the client fork it")
	}
	b, err := pi.NewBranch(q)
	if err != nil {
		return format.Child{}, err
	}
	if b.Kind == "leaf" {
		return format.Child{}, format.Refuse(q.Cut.N, "the entry only names the one to go on from: cut at that one")
	}
	path, err := filepath.Abs(q.Path)
	if err != nil {
		return format.Child{}, err
	}
	dir := filepath.Dir(path)
	name := q.ID + ".jsonl"
	key := fmt.Sprintf(`"agent:%s:forked:%s":{"sessionId":"%s","sessionFile":"%s","updatedAt":%d}`, agentOf(dir), q.ID, q.ID, name, q.Now.UnixMilli())
	return format.Child{
		Root: dir, Files: []format.NewFile{{Name: name, Write: b.Write}},
		Notes: append(b.Notes(), "the client knows the child once "+indexName+" has an entry for it, such as "+key),
	}, nil
}

// Forks tells what is not forked: the index, and logs of older versions, which are for the client to take over.
func (Format) Forks(d format.Dialect) error {
	if _, ok := d.(index); ok {
		return format.Refuse(-1, "it is the index of the sessions, and no session")
	}
	if v := d.Version(); v != "3" {
		return format.Refuse(-1, "the session is of version %s: let openclaw doctor take it over first", v)
	}
	return nil
}

// Inherits reads off the header whose child a session is.
func (Format) Inherits(p format.Peek) (format.Heritage, bool) {
	if isIndex(p.Path) {
		return format.Heritage{}, false
	}
	return pi.Inherits(p)
}

// Ancestor is the file that the header names, or the one of that name beside the child.
func (Format) Ancestor(path string, h format.Heritage) string { return pi.Ancestor(path, h) }

// Root is the folder that a log lies in, by which it is known that a parent should be there.
func (Format) Root(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil || !placed(abs) {
		return ""
	}
	return filepath.Dir(abs)
}

// Survey finds nothing: the index is judged as a file of its own.
func (Format) Survey(format.Survey) []finding.Finding { return nil }

// Alike tells whether a record of a child is the copy of its parent's.
func (Format) Alike(child, parent []byte) bool { return pi.Alike(child, parent) }

var (
	_ format.Forker    = Format{}
	_ format.Heir      = Format{}
	_ format.Selective = Format{}
	_ format.Surveyor  = Format{}
)
