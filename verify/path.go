package verify

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// path checks a log whose records hang under each other and of which the way from the last one up is sent. Each record
// is a node of its own, also where two have one id. It keeps some 220 bytes a record, and 40 and the id's text for each
// end of a call.
type path struct {
	session.Tree
	in       Input
	chained  format.Chained
	grader   format.Grader    // knows more of calls without result
	spared   map[string]int32 // results whose calls are put back, by call
	recaller format.Recaller  // brings back answers that are lost
	findings []finding.Finding
	entries  []entry // beside Tree.Nodes
	text     []byte  // ids, as JSON
	seed     maphash.Seed
	legs     []session.Leg
	framed   []session.Ref // of the nodes, where the part is compressed
	torn     []session.Span
	remains  []remains // of the torn, once they were looked at

	// meaning is what an id stands for by now, where several records have it.
	meaning map[session.ID]session.ID
	repeats []repeat
	strays  []session.Ref // records that are no entries

	kids    [][]int32 // made when the first record is hung elsewhere
	place   []int32   // of each node on the way to the leaf, from 1 at the root; 0 = not on it
	owner   []int32   // of each node the nearest one above that speaks, -1 = none
	request           // what is sent
	refs    map[int32]reference
	leaf    int32
	husks   []int32
	moved   map[int32]bool   // records that are hung behind their call
	fixed   map[int32]int32  // results without id, and the legs that they answer
	blanks  map[int32]uint32 // where an id is empty that a record's call or result has
}

// entry is what is kept of a record beside its node.
type entry struct {
	own, up session.Sub // where the values stand in the record
	put     uint32      // where a missing member may be put in
	prior   session.Sub // where a reference to another record stands
	id      session.Sub // its id, as JSON, in path.text
	written session.ID  // the id that is written, zero where there is none
	named   session.ID  // likewise the parent's
	was     int32       // the parent before anything was mended
	why     int32       // the finding that asks for another parent, -1 = none
	spared  bool        // an orphan whose call is put back
	dropped bool
	changed bool // its record is to be patched
	added   bool // it is no record yet: a line that says nothing is put in where at says
	at      int64
	hung    bool // its parent was mended
	twin    bool // it has the id of an earlier record
	bare    bool // it lacks the member for its parent, or that is empty
}

// reference is what a record names beside its parent: what a compaction keeps from, what an edit or a label is about.
type reference struct {
	written session.ID // the id, zero where a place is written
	place   int64      // the number of a record
	to      session.ID // of the node that is meant
	why     int32      // the finding that asks for another node, -1 = none
}

// repeat is a record that stood here before, byte for byte.
type repeat struct {
	ref  session.Ref
	node int32
}

func newPath(in Input) *path {
	chained, _ := in.Dialect.(format.Chained)
	return &path{in: in, chained: chained, seed: maphash.MakeSeed(), meaning: map[session.ID]session.ID{}, blanks: map[int32]uint32{}, refs: map[int32]reference{}, moved: map[int32]bool{}, fixed: map[int32]int32{}, leaf: -1}
}

// lineID is the id of a record that has none of its own.
func lineID(n int64) session.ID {
	return session.MakeID(binary.BigEndian.AppendUint64([]byte("\x00line"), uint64(n)))
}

// record takes what the next record means.
func (p *path) record(r *session.Record, b *format.Batch) {
	if b.Stray {
		p.strays = append(p.strays, r.Ref())
		return
	}
	if !b.Linked {
		return
	}
	l := b.Link
	e := entry{own: l.OwnAt, up: l.UpAt, put: l.PutAt, prior: l.PriorAt, written: l.ID, named: l.Parent, why: -1, bare: b.Bare}
	hash := maphash.Bytes(p.seed, r.Raw)
	now := p.now(l.ID)
	if n := p.Find(now); l.ID == (session.ID{}) {
		l.ID = lineID(r.N)
	} else if n >= 0 {
		if p.Nodes[n].Hash == hash {
			p.repeats = append(p.repeats, repeat{r.Ref(), n})
			return
		}
		e.twin = true
		p.meaning[l.ID] = lineID(r.N)
		l.ID = lineID(r.N)
	}
	if l.Named && l.Parent != e.written {
		l.Parent = p.now(l.Parent)
	}
	prior := l.Prior
	if l.Prior != (session.ID{}) {
		l.Prior = p.now(l.Prior)
	}
	p.legs = p.legs[:0]
	blank := uint32(0)
	for i := range b.Events {
		v := &b.Events[i]
		if v.Kind == session.CallAsked || v.Kind == session.CallResult {
			p.legs = append(p.legs, p.Leg(v, callID(r, v), v.Name.Of(r.Raw)))
			if v.Call.Len == 0 && v.Call.Off > 0 {
				blank = v.Call.Off
			}
		}
	}
	n, _ := p.Add(l, r.Ref(), p.legs)
	p.Nodes[n].Hash = hash
	if e.own.Len > 0 {
		e.id = p.keep(e.own.Of(r.Raw))
	}
	p.entries = append(p.entries, e)
	if p.in.Medium == scan.Frames {
		p.framed = append(p.framed, r.Ref())
	}
	if l.PriorAt.Len > 0 && (l.Prior != (session.ID{}) || l.PriorN > 0) {
		p.refs[n] = reference{written: prior, place: l.PriorN, to: l.Prior, why: -1}
	}
	if blank > 0 {
		p.blanks[n] = blank
	}
	if b.Husk {
		p.husks = append(p.husks, n)
	}
}

// now is the id under which the record is kept that an id stands for at this place of the log.
func (p *path) now(id session.ID) session.ID {
	if m, ok := p.meaning[id]; ok {
		return m
	}
	return id
}

// keep keeps the text of an id.
func (p *path) keep(id []byte) session.Sub {
	at := uint32(len(p.text))
	p.text = append(p.text, id...)
	return session.Sub{Off: at, Len: uint32(len(id))}
}

// id is the id of a node, as JSON; nil where records have none.
func (p *path) id(n int32) []byte {
	if s := p.entries[n].id; s.Len > 0 {
		return s.Of(p.text)
	}
	return nil
}

// ref finds a node's record again.
func (p *path) ref(n int32) session.Ref {
	if int(n) < len(p.framed) {
		return p.framed[n]
	}
	return p.Nodes[n].At.Ref()
}

func (p *path) add(code finding.Code, ref session.Ref, where, message string) *finding.Finding {
	p.findings = append(p.findings, finding.About(code, ref, where, message))
	return &p.findings[len(p.findings)-1]
}

// newest is the index of the last finding.
func (p *path) newest() int32 { return int32(len(p.findings) - 1) }
