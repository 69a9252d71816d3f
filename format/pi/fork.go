package pi

import (
	"encoding/binary"
	"encoding/hex"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// NewID is a UUID of version 7, as the client has them since 0.67.1: 48 bits of time in Unix ms, then chance.
func (Format) NewID(now time.Time, random io.Reader) (string, error) { return NewID(now, random) }

// NewID is the identity of a new session, of this client and of those built on it.
func NewID(now time.Time, random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[6:]); err != nil {
		return "", err
	}
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(now.UnixMilli()))
	copy(b[:6], ms[2:])
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:], nil
}

// Fork makes of the way from the root to the cut a session, as the client's own fork and clone do (1.6.0): beside the parent, or where the
// sessions of another working directory lie.
func (Format) Fork(q format.ForkRequest) (format.Child, error) {
	b, err := NewBranch(q)
	if err != nil {
		return format.Child{}, err
	}
	name := strings.NewReplacer(":", "-", ".", "-").Replace(stamp(q.Now)) + "_" + q.ID + ".jsonl"
	c := format.Child{Root: filepath.Dir(b.path), Notes: b.Notes()}
	if dir := filepath.Dir(b.path); filepath.Base(filepath.Dir(dir)) == "sessions" && strings.HasPrefix(filepath.Base(dir), "--") {
		folder := filepath.Base(dir)
		if q.CWD != "" {
			folder = folderOf(q.CWD)
		}
		c.Root, name = filepath.Dir(dir), folder+"/"+name
	}
	c.Files = []format.NewFile{{Name: name, Write: b.Write}}
	return c, nil
}

// stamp is a time as the client writes it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// ids are those that the client takes for a session (--session-id).
var ids = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)

// Branch is the way from the root of a session to one of its entries, as a session of its own.
type Branch struct {
	q    format.ForkRequest
	path string // of the parent, absolute
	head []byte
	// kept are the entries of the way but for labels, in its order; under is the id of the one in front, and first what a compaction keeps first.
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

// Forks tells what is not forked.
func (Format) Forks(d format.Dialect) error { return Forks(d) }

// Forks is for this client, and for those built on it: of older versions, and of AgentHarness, a session of the newest version is to be
// made first.
func Forks(d format.Dialect) error {
	if _, ok := d.(dialect); !ok {
		return format.Refuse(-1, "a session of AgentHarness, which the library that wrote it forks; or make a session of pi of it first: sessfix migrate --to %d", newest)
	}
	if v := d.Version(); v != strconv.Itoa(newest) {
		return format.Refuse(-1, "the session is of version %s: bring it to version %d first, with sessfix migrate", v, newest)
	}
	return nil
}

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
	return []string{strconv.FormatInt(b.left, 10) + " entries behind the cut or on other branches stay with the parent alone"}
}

// Write writes the child: a header, the way, and the labels that entries on it have now, as the client puts them.
func (b *Branch) Write(w io.Writer) error {
	put := func(line []byte) error {
		_, err := w.Write(append(line, '\n'))
		return err
	}
	head, err := b.header()
	if err != nil {
		return err
	}
	if err := put(head); err != nil {
		return err
	}
	up, i := "null", 0
	moved := map[session.ID]string{}
	for pass := 0; i < len(b.kept); pass++ {
		if pass == passes {
			return format.Refuse(b.kept[i].n, "the entries stand in another order than they hang under each other, too often to put them in order")
		}
		err := b.q.Each(func(r *session.Record, _ bool) error {
			if i == len(b.kept) || r.N != b.kept[i].n {
				return nil
			}
			k := b.kept[i]
			for _, l := range k.moved {
				moved[l] = k.id
			}
			i++
			line, err := hung(r.Raw, up, moved)
			if err != nil {
				return err
			}
			up = k.id
			return put(line)
		})
		if err != nil {
			return err
		}
	}
	return b.label(up, put)
}

// header is the parent's, with the child's identity and place in it.
func (b *Branch) header() ([]byte, error) {
	f, err := read(b.head)
	if err != nil {
		return nil, err
	}
	list := []splice{f.stands(kID, quoted(b.q.ID)), f.stands(kTime, quoted(stamp(b.q.Now))), f.child(quoted(b.path))}
	if b.q.CWD != "" {
		list = append(list, f.stands(kCWD, quoted(b.q.CWD)))
	}
	return spliced(b.head, list...), nil
}

// keeps are the types of entries that name the first one that they keep; the second is OpenClaw's.
var keeps = map[string]bool{"compaction": true, "reset": true}

// hung is an entry under another one, where it hangs under that not yet. None names a label as the first that it keeps.
func hung(raw []byte, up string, moved map[session.ID]string) ([]byte, error) {
	f, err := read(raw)
	if err != nil {
		return nil, err
	}
	var list []splice
	if idOf(f, kParent) != refOf([]byte(up)) || !f.Has(kParent) {
		list = append(list, f.stands(kParent, up))
	}
	if keeps[string(f.Str(kType))] {
		if to := moved[idOf(f, kFirstKept)]; to != "" {
			list = append(list, value(f.At(kFirstKept), to))
		}
	}
	return spliced(raw, list...), nil
}

// label writes the labels, one under the other, under ids that no entry of the parent has.
func (b *Branch) label(up string, put func([]byte) error) error {
	if len(b.labels) == 0 {
		return nil
	}
	i := 0
	return b.q.Each(func(r *session.Record, _ bool) error {
		if i == len(b.labels) || r.N != b.labels[i].n {
			return nil
		}
		i++
		f, err := read(r.Raw)
		if err != nil {
			return err
		}
		own := dialect{}.NewID(b.q.ID+"\x00label\x00"+string(f.Value(kID)), func(id []byte) bool { return b.taken[session.MakeID(id)] })
		b.taken[session.MakeID(own)] = true
		line := spliced(r.Raw, value(f.At(kID), string(own)), f.stands(kParent, up))
		up = string(own)
		return put(line)
	})
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
