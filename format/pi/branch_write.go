package pi

import (
	"io"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

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
