package claude

import (
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// beginPointer appends a record that names the leaf, as releases from about 2.1.145 on write it (public reports; 2.1.328 was
// measured). Those up to 2.1.81 take no notice of it.
func beginPointer(s format.Source) (format.Stage, error) {
	var t session.Tree
	var last []byte // the last record of the old form
	for l, err := range s.Records() {
		if err != nil {
			return nil, err
		}
		f, err := read(l.Raw)
		if err != nil {
			return nil, format.Refuse(l.N, "the record cannot be read")
		}
		if err := linked(l.N, f); err != nil {
			return nil, err
		}
		switch {
		case string(f.Str(kType)) == "last-prompt":
			last = append(last[:0], l.Raw...)
		case f.Kind(kUUID) == '"' && len(f.Str(kUUID)) > 0:
			d, b := decoder{dialect: dialect{rank: firstUnwritten}, f: *f}, format.Batch{}
			d.link(&b)
			t.Add(b.Link, session.Ref{N: l.N}, nil)
		}
	}
	t.Grow()
	leaf, err := onlyLeaf(&t)
	if err != nil {
		return nil, err
	}
	for l, err := range s.Records() {
		if err != nil {
			return nil, err
		}
		if l.N == t.Nodes[leaf].At.Ref().N {
			f, err := peel(l.Raw)
			if err != nil {
				return nil, format.Refuse(l.N, "the record cannot be read")
			}
			old, err := peel(last)
			if err != nil {
				return nil, format.Refuse(-1, "no record of the last prompt can be read")
			}
			return pointing{line: pointer(f.Value(cUUID), old.Value(cPrompt), text(old, cSession))}, nil
		}
	}
	return nil, format.Refuse(-1, "the record to go on from is gone")
}

// linked refuses a record that has a place in the talk and says so in a way that is not known.
func linked(n int64, f *fields) error {
	if typ := string(f.Str(kType)); f.Kind(kUUID) != '"' && f.Has(kParent) && !nodeTypes[typ] && !sideTypes[typ] {
		return format.Refuse(n, "the record of type %.60q hangs under another one and has no id: this way to link records is not known", typ)
	}
	return nil
}

// onlyLeaf is the record on which the releases that choose by time and those that choose by place agree, where no second history
// went on beside that of the leaf.
func onlyLeaf(t *session.Tree) (int32, error) {
	leaf, other := dialect{rank: firstUnwritten}.Leaf(t), dialect{rank: lastTimed}.Leaf(t)
	switch {
	case leaf < 0:
		return 0, format.Refuse(-1, "nothing was said that a client could go on from")
	case leaf != other:
		return 0, format.Refuse(t.Nodes[leaf].At.Ref().N, "the last record of the file is not the newest one, and clients go on from one or the other: go on with the session once, so that it is clear which is meant")
	}
	root := make([]int32, len(t.Nodes)) // plus one, of those that are known
	for i := range t.Nodes {
		var way []int32
		n := int32(i)
		for root[n] == 0 {
			root[n] = n + 1
			way = append(way, n)
			up := t.Nodes[n].Up
			if up < 0 && t.Nodes[n].Kind == session.CompactionEnd {
				up = t.Find(t.Borders[n].Prior)
			}
			if up < 0 {
				break
			}
			n = up
		}
		for _, k := range way {
			root[k] = root[n]
		}
	}
	began := false
	for i := range t.Nodes {
		switch {
		case root[i] == root[leaf]:
			began = true
		case began && spoken(&t.Nodes[i]):
			return 0, format.Refuse(t.Nodes[i].At.Ref().N, "the session holds two histories that went on side by side")
		}
	}
	return leaf, nil
}

// pointing appends a pointer.
type pointing struct {
	copying
	line []byte
}

// End appends it.
func (p pointing) End(out format.Out) error {
	return out.Put(format.Line{Raw: p.line, N: -1, Why: "it names the record to go on from"})
}
