package grok

import (
	"bytes"
	"encoding/json"
)

// object is a JSON object of which single members are changed. All other bytes stay as they are written: numbers, escapes, blanks,
// the order of members and those that stand there twice.
type object struct {
	raw   []byte
	parts []part
	more  []string // members to be added behind the last one
}

// part is a member of an object.
type part struct {
	key                  string
	from, named, at, end int    // its name, and its value, as written
	name, value          []byte // that take their place, nil where they stay
	text                 []byte // that takes the place of both
	gone                 bool
}

// openObject takes an object apart; ok is false for anything else.
func openObject(raw []byte) (o *object, ok bool) {
	if !json.Valid(raw) {
		return nil, false
	}
	i := skipBlanks(raw, 0)
	if raw[i] != '{' {
		return nil, false
	}
	o = &object{raw: raw}
	for i = skipBlanks(raw, i+1); raw[i] != '}'; i = skipBlanks(raw, i) {
		if raw[i] == ',' {
			i = skipBlanks(raw, i+1)
		}
		p := part{from: i, named: skipValue(raw, i)}
		json.Unmarshal(raw[p.from:p.named], &p.key)
		p.at = skipBlanks(raw, skipBlanks(raw, p.named)+1) // behind the colon
		p.end = skipValue(raw, p.at)
		o.parts = append(o.parts, p)
		i = p.end
	}
	return o, true
}

// elements are those of a JSON array as written, nil for anything else.
func elements(raw []byte) (list [][]byte) {
	if kindOf(raw) != '[' || !json.Valid(raw) {
		return nil
	}
	list = [][]byte{}
	for i := skipBlanks(raw, skipBlanks(raw, 0)+1); raw[i] != ']'; i = skipBlanks(raw, i) {
		if raw[i] == ',' {
			i = skipBlanks(raw, i+1)
		}
		end := skipValue(raw, i)
		list = append(list, raw[i:end:end])
		i = end
	}
	return list
}

// skipBlanks is the place behind blanks. The bytes are known to be JSON.
func skipBlanks(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\n' || raw[i] == '\r') {
		i++
	}
	return i
}

// skipValue is the place behind a value.
func skipValue(raw []byte, i int) int {
	depth := 0
	for ; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth == 0 {
				return i // of what it stands in
			}
			depth--
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return i
}

// kindOf is the first byte of a value, 0 where there is none.
func kindOf(value []byte) byte {
	if i := skipBlanks(value, 0); i < len(value) {
		return value[i]
	}
	return 0
}

// last is the member of a name, of several the last, as the client reads it; nil where there is none.
func (o *object) last(key string) *part {
	for i := len(o.parts) - 1; i >= 0; i-- {
		if p := &o.parts[i]; p.key == key && !p.gone {
			return p
		}
	}
	return nil
}

// get is the value of a member as written, nil where there is none.
func (o *object) get(key string) []byte {
	if p := o.last(key); p != nil {
		return o.raw[p.at:p.end]
	}
	return nil
}

// str is the text of a member that is a string, "" where it is none.
func (o *object) str(key string) (s string) {
	if v := o.get(key); kindOf(v) == '"' {
		json.Unmarshal(v, &s)
	}
	return s
}

// put gives a member a value, or adds it.
func (o *object) put(key, value string) {
	if p := o.last(key); p != nil {
		p.value = []byte(value)
		return
	}
	o.more = append(o.more, quoted(key)+o.colon()+value)
}

// take takes all members of a name away.
func (o *object) take(key string) {
	for i := range o.parts {
		if o.parts[i].key == key {
			o.parts[i].gone = true
		}
	}
}

// colon is what stands between a name and its value.
func (o *object) colon() string {
	if len(o.parts) == 0 {
		return ":"
	}
	return string(o.raw[o.parts[0].named:o.parts[0].at])
}

// bytes is the object as changed.
func (o *object) bytes() []byte {
	n := len(o.parts)
	if n == 0 {
		at := bytes.IndexByte(o.raw, '{') + 1
		return append(append(bytes.Clone(o.raw[:at]), o.inside()...), o.raw[at:]...)
	}
	out := append(bytes.Clone(o.raw[:o.parts[0].from]), o.inside()...)
	return append(out, o.raw[o.parts[n-1].end:]...)
}

// inside is what stands between its braces, without the blanks at both ends.
func (o *object) inside() (out []byte) {
	some := false
	for i, p := range o.parts {
		if p.gone {
			continue
		}
		if some {
			out = append(out, o.raw[o.parts[i-1].end:p.from]...)
		}
		some = true
		if p.text != nil {
			out = append(out, p.text...)
			continue
		}
		out = append(out, either(p.name, o.raw[p.from:p.named])...)
		out = append(out, o.raw[p.named:p.at]...)
		out = append(out, either(p.value, o.raw[p.at:p.end])...)
	}
	between := []byte(",")
	if n := len(o.parts); n > 1 {
		between = o.raw[o.parts[n-2].end:o.parts[n-1].from]
	}
	for _, m := range o.more {
		if some {
			out = append(out, between...)
		}
		some = true
		out = append(out, m...)
	}
	return out
}

func either(a, b []byte) []byte {
	if a != nil {
		return a
	}
	return b
}
