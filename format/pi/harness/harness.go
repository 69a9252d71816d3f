package harness

import (
	_ "embed"
	"strconv"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// Reactions is what the client does with each fault. Its rows are for these generations only.
//
//go:embed reactions.txt
var Reactions string

// The generations of the format.
const (
	current = "harness"
	draft   = "harness-draft"
)

// Version and storage version of the files that are known.
const (
	version        = 4
	storageVersion = 1
)

// Own tells whether a session's first record is a header of the format, of whatever version.
func Own(first []byte) bool {
	l, err := read(first)
	return err == nil && l.header()
}

// Shaped tells whether a record is a transaction of the format, where the header is lost.
func Shaped(record []byte) bool {
	l, err := read(record)
	return err == nil && l.generation() != ""
}

// Title reads what the header says of the session.
func Title(first []byte) format.Header {
	l, err := read(first)
	if err != nil || !l.header() {
		return format.Header{}
	}
	return l.title()
}

// Dialect is the generation of a session with this first record. It returns a *format.VersionError for one that is not
// known.
func Dialect(first []byte) (format.Dialect, error) {
	l, err := read(first)
	if err != nil {
		return dialect{current}, nil
	}
	if !l.header() {
		if l.generation() == draft {
			return dialect{draft}, nil
		}
		return dialect{current}, nil
	}
	generation, key := current, hV
	if !l.Has(hV) && l.Has(hVersion) {
		generation, key = draft, hVersion
	}
	if n, ok := safe(l.Value(key)); !ok || n != version {
		return nil, &format.VersionError{Version: string(l.Value(key)), Newer: n > version}
	}
	if n, ok := safe(l.Value(hStorage)); generation == current && ok && n > storageVersion {
		return nil, &format.VersionError{Version: strconv.Itoa(version) + " with storage version " + strconv.FormatInt(n, 10), Newer: true}
	}
	return dialect{generation}, nil
}

// dialect is one generation.
type dialect struct{ generation string }

func (d dialect) Version() string { return d.generation }

// Rules: the draft's client lists sessions by when they were written last.
func (d dialect) Rules() format.Rules {
	return format.Rules{Starts: true, KeepTime: d.generation == draft}
}

func (d dialect) Framing() session.Framing {
	f := session.Framing{
		Keys:   keys[:],
		Starts: [][]byte{[]byte(`{"kind":"`), []byte(`{"v":4,"kind":"header"`)},
		Needs:  [][]string{{"kind", "seq"}, {"kind", "createdAt"}},
	}
	if d.generation == current {
		f.Arrays = true
		f.Starts = append([][]byte{[]byte(`[{"kind":"`)}, f.Starts...) // in front: the other begins inside of it
		f.Needs = append(f.Needs, []string{"[].kind", "[].seq"})
	}
	return f
}

func (d dialect) NewDecoder(format.Place) format.Decoder {
	if d.generation == draft {
		return newDraft()
	}
	return newDecoder()
}
