package pi

import (
	"path/filepath"
	"slices"
	"strconv"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// Branch is the way from the root of a session to one of its entries, as a session of its own.
type Branch struct {
	q    format.ForkRequest
	path string // of the parent, absolute
	head []byte
	// kept are the entries of the way but for labels, in its order.
	kept   []kept
	labels []label
	// Kind is the type of the entry that the cut stands behind.
	Kind  string
	left  int64 // entries that the child lacks
	taken map[session.ID]bool
}

// kept is an entry on its way into the child.
type kept struct {
	n  int64  // its record
	id string // as JSON
	// moved are the ids of the labels in front of it, which a compaction may name.
	moved []session.ID
}

// label is an entry that names one of the child's.
type label struct {
	n     int64
	taken bool
}

// node is an entry of the parent.
type node struct {
	n     int64
	up    session.ID
	own   string
	label bool
}

// passes is how often a log is gone through whose entries stand in another order than they hang: once for each time that one stands
// in front of its parent.
const passes = 200

// NewBranch finds what belongs to the child.
func NewBranch(q format.ForkRequest) (*Branch, error) {
	if err := Forks(q.Dialect); err != nil {
		return nil, err
	}
	if !ids.MatchString(q.ID) {
		return nil, format.Refuse(-1, "%q is no id of a session: it may have letters, digits, and . _ - between them", q.ID)
	}
	path, err := filepath.Abs(q.Path)
	if err != nil {
		return nil, err
	}
	b := &Branch{q: q, path: path, taken: map[session.ID]bool{}}
	nodes := map[session.ID]node{}
	var cut session.ID
	names := map[session.ID]label{}
	err = q.Each(func(r *session.Record, taken bool) error {
		f, err := read(r.Raw)
		if err != nil {
			return format.Refuse(r.N, "the record cannot be read")
		}
		if string(f.Str(kType)) == "session" {
			if b.head == nil {
				b.head = append([]byte(nil), r.Raw...)
			}
			return nil
		}
		own := idOf(f, kID)
		if own == (session.ID{}) {
			return nil
		}
		b.taken[own] = true
		isLabel := string(f.Str(kType)) == "label"
		if isLabel {
			if target := idOf(f, kTarget); says(r.Raw) {
				names[target] = label{r.N, taken}
			} else {
				delete(names, target)
			}
		}
		if r.N == q.Cut.N {
			cut, b.Kind = own, string(f.Str(kType))
		}
		if taken {
			nodes[own] = node{r.N, idOf(f, kParent), string(f.Value(kID)), isLabel}
		} else {
			b.left++
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case b.head == nil:
		return nil, format.Refuse(-1, "the session has no header")
	case nodes[cut].own == "":
		return nil, format.Refuse(q.Cut.N, "no entry stands there")
	}
	b.walk(nodes, cut)
	here := map[session.ID]bool{}
	for _, k := range b.kept {
		here[session.MakeID([]byte(k.id))] = true
	}
	for target, l := range names {
		if here[target] {
			b.labels = append(b.labels, l)
			if !l.taken {
				b.left--
			}
		}
	}
	slices.SortFunc(b.labels, func(x, y label) int { return int(x.n - y.n) })
	return b, nil
}

// walk goes up from the cut.
func (b *Branch) walk(nodes map[session.ID]node, cut session.ID) {
	var way []session.ID
	seen := map[session.ID]bool{}
	for at, ok := nodes[cut]; ok && !seen[cut]; at, ok = nodes[cut] {
		way = append(way, cut)
		seen[cut] = true
		cut = at.up
	}
	var labels []session.ID
	for _, id := range slices.Backward(way) {
		x := nodes[id]
		if x.label {
			labels = append(labels, id)
			continue
		}
		b.kept = append(b.kept, kept{n: x.n, id: x.own, moved: labels})
		labels = nil
	}
}

// Notes say what the child lacks.
func (b *Branch) Notes() []string {
	if b.left == 0 {
		return nil
	}
	return []string{"entries behind the cut or on other branches, which stay with the parent alone: " + strconv.FormatInt(b.left, 10)}
}

// idOf is a reference to an entry.
func idOf(f *fields, key int) session.ID { return refOf(f.Value(key)) }

// refOf reads a reference, as JSON. Null and "" are none.
func refOf(text []byte) session.ID {
	if s := string(text); s == "" || s == "null" || s == `""` {
		return session.ID{}
	}
	return session.MakeID(text)
}

var labelText = scan.NewSingle([]string{"label"})

// says tells a label from the end of one, which has no text.
func says(raw []byte) bool {
	_, caps, _ := labelText.Take(raw)
	return len(caps) > 0 && caps[len(caps)-1].Kind == '"' && caps[len(caps)-1].Len > 2
}
