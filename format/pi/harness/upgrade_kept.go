package harness

import (
	"crypto/sha256"
	"strings"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// hashed is a message, or a summary, in short.
func hashed(kind string, text []byte) [16]byte {
	h := sha256.New()
	h.Write([]byte(kind + "\x00"))
	h.Write(text)
	return [16]byte(h.Sum(nil))
}

// kept is the first entry that a compaction keeps. The harness repeats the messages that are kept, version 3 names the entry from which on it
// keeps all: the messages must be those of the entries on the way up.
func (t *leaving) kept(n int64, p place, record []byte, caps []session.Capture) (first string, over bool, err error) {
	type message struct{ all, role, summary session.Capture }
	var tail []message
	list := false
	for _, c := range caps {
		switch c.Key {
		case eTail:
			list = c.Kind == '['
		case eKept:
			tail = append(tail, message{all: c})
		case eKeptRole:
			tail[len(tail)-1].role = c
		case eKeptSummary:
			tail[len(tail)-1].summary = c
		}
	}
	if !list {
		return "", false, format.Refuse(n, "a compaction does not say what it keeps")
	}
	text := func(c session.Capture) []byte { return record[c.Off : c.Off+c.Len] }
	first = p.id
	at, ok := t.places[p.up]
	for i := len(tail) - 1; i >= 0; {
		if !ok {
			return "", false, foreign(n)
		}
		m := tail[i]
		want := hashed("message", text(m.all))
		switch string(text(m.role)) {
		case `"branchSummary"`, `"compactionSummary"`:
			want = hashed(strings.Trim(string(text(m.role)), `"`), text(m.summary))
		}
		switch {
		case at.said == want:
			first = at.id
			i--
		case at.border:
			over = true
		case at.silent:
		default:
			return "", false, foreign(n)
		}
		at, ok = t.places[at.up]
	}
	return first, over, nil
}

func foreign(n int64) error {
	return format.Refuse(n, "a compaction keeps messages that are not those of the entries in front of it: version 3 has no place for them")
}
