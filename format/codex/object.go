package codex

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/scan"
)

// part is a piece of a record that is whole JSON: a member of an object, or an element of an array.
type part struct {
	name     string
	at       int // where the member begins, with its name
	from, to int // the value
}

func (p part) of(raw []byte) []byte { return raw[p.from:p.to] }

// inside is what stands between the quotes of a string, nil for anything else.
func (p part) inside(raw []byte) []byte { return unquoted(p.of(raw)) }

// unquoted is the inside of a string, nil for anything else.
func unquoted(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return nil
	}
	return value[1 : len(value)-1]
}

// parts are the members of the object, or the elements of the array, that begins at raw[at]; ok is false where none does.
// The record must be whole JSON: what it gives for another is of no use, but no harm either.
func parts(raw []byte, at int) (out []part, ok bool) {
	if at >= len(raw) || raw[at] != '{' && raw[at] != '[' {
		return nil, false
	}
	object := raw[at] == '{'
	for i := at + 1; ; {
		i = blank(raw, i)
		if i >= len(raw) {
			return out, false
		}
		switch raw[i] {
		case '}', ']':
			return out, true
		case ',':
			i++
			continue
		}
		p := part{at: i, from: i}
		if object {
			end := behind(raw, i)
			if raw[i] != '"' || end > len(raw) {
				return out, false
			}
			name := raw[i+1 : end-1]
			if bytes.IndexByte(name, '\\') >= 0 {
				name = scan.Unescape(nil, name)
			}
			p.name = string(name)
			if i = blank(raw, end); i >= len(raw) || raw[i] != ':' {
				return out, false
			}
			p.from = blank(raw, i+1)
		}
		if p.to = behind(raw, p.from); p.to <= p.from || p.to > len(raw) {
			return out, false
		}
		out, i = append(out, p), p.to
	}
}

// blank is the first place from i on where no blank stands.
func blank(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\n' || raw[i] == '\r') {
		i++
	}
	return i
}

// behind is the place behind the value that begins at i, behind the end of raw where it has no end.
func behind(raw []byte, i int) int {
	depth := 0
	for ; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; i < len(raw) && raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return i + 1 + min(depth, 0)
			}
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
	}
	if depth > 0 {
		return len(raw) + 1
	}
	return i
}

// named is the last member of a name, as a parser takes it.
func named(list []part, name string) (p part, ok bool) {
	for _, q := range slices.Backward(list) {
		if q.name == name {
			return q, true
		}
	}
	return part{}, false
}

// without is the patch that takes a member away, with the comma that goes with it.
func without(list []part, p part) finding.Patch {
	i := slices.Index(list, p)
	switch {
	case i+1 < len(list):
		return finding.Patch{At: int64(p.at), Del: int64(list[i+1].at - p.at)}
	case i > 0:
		return finding.Patch{At: int64(list[i-1].to), Del: int64(p.to - list[i-1].to)}
	}
	return finding.Patch{At: int64(p.at), Del: int64(p.to - p.at)}
}

// replaced is the patch that gives a member another value.
func replaced(p part, value string) finding.Patch {
	return finding.Patch{At: int64(p.from), Del: int64(p.to - p.from), Ins: []byte(value)}
}

// insert is the patch that puts something in.
func insert(at int, text string) finding.Patch {
	return finding.Patch{At: int64(at), Ins: []byte(text)}
}

// spliced is a copy of a record with patches that do not overlap.
func spliced(raw []byte, patches ...finding.Patch) []byte {
	slices.SortStableFunc(patches, func(a, b finding.Patch) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Del, b.Del)) })
	var out []byte
	at := int64(0)
	for _, p := range patches {
		out = append(append(out, raw[at:p.At]...), p.Ins...)
		at = p.At + p.Del
	}
	return append(out, raw[at:]...)
}

// inner takes the object apart that a path of members leads to, the record itself where that is empty.
func inner(raw []byte, of string) (list []part, at int) {
	at = blank(raw, 0)
	list, ok := parts(raw, at)
	for name := range strings.SplitSeq(of, ".") {
		if of == "" {
			break
		}
		p, in := named(list, name)
		if !in || !ok {
			return nil, -1
		}
		at = p.from
		list, ok = parts(raw, at)
	}
	if !ok || raw[at] != '{' {
		return nil, -1
	}
	return list, at
}

func holds(raw []byte, of, name string) bool {
	list, _ := inner(raw, of)
	_, ok := named(list, name)
	return ok
}

// with is a copy of a record in which a member of an object has a value, or is not there where that is empty. A path of
// members leads to the object. A new member comes first; an ordinal behind the timestamp.
func with(raw []byte, of, name, value string) []byte {
	list, at := inner(raw, of)
	if at < 0 {
		return raw
	}
	p, in := named(list, name)
	t, timed := named(list, "timestamp")
	comma := ","
	if len(list) == 0 {
		comma = ""
	}
	member := fmt.Sprintf("%q:%s", name, value)
	switch {
	case value == "" && !in:
		return raw
	case value == "":
		return with(spliced(raw, without(list, p)), of, name, "") // it may stand there twice
	case in:
		return spliced(raw, replaced(p, value))
	case name == "ordinal" && timed:
		return spliced(raw, insert(t.to, ","+member))
	}
	return spliced(raw, insert(at+1, member+comma))
}
