package verify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// sought is the record that is asked for, as far as it is known.
type sought struct {
	by       string
	id       string
	quoted   []byte // the id as a string of JSON
	escapes  bool   // the id holds what may be written in more than one way without \u
	seq      int64
	numbered bool
	record   []byte
	values   []byte // of the record: see canonical
	own      string // of the record: its own id
	known    bool   // number and id of the record were looked for
	timed    bool   // of the record: it says when it was written

	files []*os.File // that are read from until the answer is there
}

func (s *sought) close() {
	for _, f := range s.files {
		f.Close()
	}
}

// seek makes sense of a question.
func seek(q Question) (*sought, error) {
	asked := 0
	for _, is := range []bool{q.ID != "", q.Numbered, q.Record != nil} {
		if is {
			asked++
		}
	}
	if asked != 1 {
		return nil, errors.New("ask for exactly one of an id, a number and a record")
	}
	s := &sought{id: q.ID, seq: q.Seq, numbered: q.Numbered}
	switch {
	case q.Numbered:
		s.by = "number"
	case q.ID != "":
		s.by = "id"
		s.quoted, _ = json.Marshal(q.ID)
		s.escapes = strings.ContainsFunc(q.ID, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == '/' || r > '~' })
	default:
		s.by = "bytes"
		s.record = trim(q.Record)
		if err := oneRecord(s.record); err != nil {
			return nil, err
		}
		s.values, _ = canonical(s.record)
	}
	return s, nil
}

// trim takes the newline off a record, and what blanks stand around it.
func trim(b []byte) []byte { return bytes.Trim(b, " \t\r\n") }

// ErrRecord says that what was given as a record is none.
var ErrRecord = errors.New("no record: it must be one JSON value on one line, as the agent writes it")

func oneRecord(b []byte) error {
	if len(b) == 0 || b[0] != '{' && b[0] != '[' || bytes.IndexByte(b, '\n') >= 0 {
		return ErrRecord
	}
	if end, cause := value(b); cause != scan.OK || end != len(b) {
		return ErrRecord
	}
	return nil
}

// value is where the JSON value ends that a text begins with, and what is wrong with it.
func value(b []byte) (end int, cause scan.Cause) {
	m, err := scan.NewMachine(nil)
	if err != nil {
		return 0, scan.Syntax
	}
	end, f := m.Value(append(bytes.Clone(b), make([]byte, scan.Pad)...), 0, len(b))
	return end, f.Cause
}

// know reads number and own id off the record, as the log's dialect has them.
func (s *sought) know(ctx context.Context, in *Input, ids *identifier) error {
	if s.record == nil || in.Dialect == nil {
		return nil
	}
	line := append(bytes.Clone(s.record), '\n')
	sc, err := scan.New(ctx, bytes.NewReader(line), int64(len(line)), scan.Options{Medium: scan.Lines, Framing: in.Dialect.Framing()})
	if err != nil {
		return err
	}
	if sc.Next() && !s.known {
		var b format.Batch
		b.Reset()
		r := sc.Record()
		r.N = 1 // it is no header, unless it says so
		in.Dialect.NewDecoder(format.Place{Path: in.Place, Medium: in.Medium}).Decode(r, &b)
		s.seq, s.numbered = b.Seq, b.Numbered
		s.timed = s.timed || b.Time != 0 || b.Linked && b.Link.Time != 0
		if own := ids.owns(s.record); own != "" {
			s.own = own
		}
		s.known = s.numbered || s.own != ""
	}
	return sc.Err()
}

// nameless tells a record that carries neither number nor id of its own.
func (s *sought) nameless() bool { return !s.numbered && s.own == "" }

// near tells lengths that one record may have in two spellings.
func (s *sought) near(n int) bool { return n <= 8*len(s.record)+64 && len(s.record) <= 8*n+64 }

// same tells whether another text says the same.
func (s *sought) same(raw []byte) bool {
	v, ok := canonical(trim(raw))
	return ok && s.values != nil && bytes.Equal(v, s.values)
}

// may tells whether the id may stand in a record, in whatever way it is written.
func (s *sought) may(raw []byte) bool {
	return bytes.Contains(raw, []byte(s.id)) || bytes.Contains(raw, []byte(`\u`)) || s.escapes && bytes.IndexByte(raw, '\\') >= 0
}

// mentions tells whether a string of a text is the id, whole.
func mentions(raw []byte, id string) bool {
	quoted := `"` + id + `"`
	for at := 0; ; {
		n := bytes.Index(raw[at:], []byte(quoted))
		if n < 0 {
			return false
		}
		if at += n; at == 0 || raw[at-1] != '\\' {
			return true
		}
		at++
	}
}

// identifier finds the ids of records.
type identifier struct {
	members []format.IDMember
	single  *scan.Single
}

func identifierOf(d format.Dialect) *identifier {
	i, ok := d.(format.Identified)
	if !ok {
		return nil
	}
	members := i.IDs()
	if len(members) == 0 {
		return nil
	}
	var paths []string
	for _, m := range members {
		paths = append(paths, m.Path)
	}
	return &identifier{members, scan.NewSingle(paths)}
}

// each gives the ids of a record.
func (i *identifier) each(raw []byte, f func(m format.IDMember, id string)) {
	if i == nil {
		return
	}
	rec, caps, _ := i.single.Take(raw)
	for _, c := range caps {
		if c.Kind == '"' {
			f(i.members[c.Key], text(inside(rec, c)))
		}
	}
}

func inside(raw []byte, c session.Capture) []byte { return raw[c.Off+1 : c.Off+c.Len-1] }

// of says what a record is by an id, in the words of its format.
func (i *identifier) of(raw []byte, id string) (what []string) {
	i.each(raw, func(m format.IDMember, have string) {
		if have == id {
			what = append(what, m.Of)
		}
	})
	return what
}

// owns is the id that no other record has, "" where there is none.
func (i *identifier) owns(raw []byte) (own string) {
	i.each(raw, func(m format.IDMember, id string) {
		if m.Own {
			own = id
		}
	})
	return own
}

// own tells whether a record has an id of its own that is this one.
func (i *identifier) own(raw []byte, id string) bool {
	return id != "" && (bytes.Contains(raw, []byte(id)) || bytes.IndexByte(raw, '\\') >= 0) && i.owns(raw) == id
}

// plural is a number of things.
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
