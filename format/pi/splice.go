package pi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/sessfix/sessfix/session"
)

// splice puts text in the place of some bytes of a record.
type splice struct {
	at, del uint32
	ins     string
}

// spliced is a copy of a record with other text in it. No two splices are about the same bytes.
func spliced(raw []byte, list ...splice) []byte {
	slices.SortStableFunc(list, func(a, b splice) int { return cmp.Compare(a.at, b.at) })
	var out []byte
	at := uint32(0)
	for _, s := range list {
		out = append(append(out, raw[at:s.at]...), s.ins...)
		at = s.at + s.del
	}
	return append(out, raw[at:]...)
}

// value puts another value, as JSON, in the place of one.
func value(c session.Capture, text string) splice { return splice{c.Off, c.Len, text} }

// added puts members, as JSON without the commas around them, into a record: behind its type, or in front of all others where it has none.
func (f *fields) added(members string) splice {
	if c := f.At(kType); c.Len > 0 {
		return splice{at: c.Off + c.Len, ins: "," + members}
	}
	at := uint32(bytes.IndexByte(f.Raw, '{') + 1)
	if rest := bytes.TrimLeft(f.Raw[at:], " \t\r\n"); len(rest) > 0 && rest[0] != '}' {
		members += ","
	}
	return splice{at: at, ins: members}
}

// stands gives a member this value: in the place of the one that it has, or as a member more.
func (f *fields) stands(key int, text string) splice {
	if c := f.At(key); c.Len > 0 {
		return value(c, text)
	}
	return f.added(`"` + keys[key] + `":` + text)
}

// nameOf is where the name of a member stands, quotes included, of which the value is captured.
func nameOf(raw []byte, c session.Capture) session.Sub {
	end := bytes.LastIndexByte(raw[:c.Off], '"') // behind it stand spaces and a colon
	begin := bytes.LastIndexByte(raw[:end], '"')
	for begin > 0 && raw[begin-1] == '\\' { // a quote inside of a name has a backslash in front of it
		begin = bytes.LastIndexByte(raw[:begin], '"')
	}
	return session.Sub{Off: uint32(begin), Len: uint32(end + 1 - begin)}
}

// quoted is a text as JSON, in the client's way: nothing is escaped that need not be.
func quoted(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil {
		return `""`
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

// plain is the text of a captured string, "" for anything else.
func plain(raw []byte) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
