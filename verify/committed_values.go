package verify

import (
	"bytes"
	"math/big"
	"sort"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxNesting is how deep values are compared; deeper ones are told apart by their bytes.
const maxNesting = 10_000

// canonical gives the same bytes for all spellings of one JSON value: members in any order, of two with one name the last,
// characters escaped or not, numbers by their exact value. Lone halves of surrogate pairs stay what they are. It is not ok for what is no
// JSON, and for what nests too deep.
func canonical(raw []byte) (out []byte, ok bool) {
	c := &canon{in: raw}
	out, ok = c.value(nil, 0)
	c.blanks()
	return out, ok && c.at == len(raw)
}

type canon struct {
	in []byte
	at int
}

func (c *canon) blanks() {
	for c.at < len(c.in) && (c.in[c.at] == ' ' || c.in[c.at] == '\t' || c.in[c.at] == '\r' || c.in[c.at] == '\n') {
		c.at++
	}
}

// next is the next byte that is no blank, 0 at the end.
func (c *canon) next() byte {
	c.blanks()
	if c.at == len(c.in) {
		return 0
	}
	return c.in[c.at]
}

// take reads one byte.
func (c *canon) take(b byte) bool {
	if c.next() != b {
		return false
	}
	c.at++
	return true
}

func (c *canon) value(out []byte, depth int) ([]byte, bool) {
	switch b := c.next(); {
	case depth > maxNesting:
		return out, false
	case b == '{':
		return c.object(out, depth)
	case b == '[':
		return c.array(out, depth)
	case b == '"':
		s, ok := c.str()
		return sized(out, 's', s), ok
	case b == '-' || b >= '0' && b <= '9':
		return c.number(out)
	}
	for _, word := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(c.in[c.at:], []byte(word)) {
			c.at += len(word)
			return append(out, word[0]), true
		}
	}
	return out, false
}

// sized appends a text with its kind and length in front, so that no two lists of texts look the same.
func sized(out []byte, kind byte, text []byte) []byte {
	out = append(out, kind)
	out = strconv.AppendInt(out, int64(len(text)), 10)
	return append(append(out, ':'), text...)
}

func (c *canon) array(out []byte, depth int) ([]byte, bool) {
	c.at++
	out = append(out, '[')
	if c.take(']') {
		return append(out, ']'), true
	}
	for {
		var ok bool
		if out, ok = c.value(out, depth+1); !ok {
			return out, false
		}
		if c.take(']') {
			return append(out, ']'), true
		}
		if !c.take(',') {
			return out, false
		}
	}
}

func (c *canon) object(out []byte, depth int) ([]byte, bool) {
	c.at++
	members := map[string][]byte{}
	var names []string
	for first := true; ; first = false {
		if c.take('}') && (first || len(names) > 0) {
			break
		}
		if !first && !c.take(',') || c.next() != '"' {
			return out, false
		}
		name, ok := c.str()
		if !ok || !c.take(':') {
			return out, false
		}
		v, ok := c.value(nil, depth+1)
		if !ok {
			return out, false
		}
		if _, twice := members[string(name)]; !twice {
			names = append(names, string(name))
		}
		members[string(name)] = v
	}
	sort.Strings(names)
	out = append(out, '{')
	for _, n := range names {
		out = append(sized(out, 'k', []byte(n)), members[n]...)
	}
	return append(out, '}'), true
}

// str reads a string. The half of a surrogate pair becomes the three bytes that UTF-8 would give it.
func (c *canon) str() (out []byte, ok bool) {
	for c.at++; c.at < len(c.in); {
		switch b := c.in[c.at]; {
		case b == '"':
			c.at++
			return out, true
		case b != '\\':
			out = append(out, b)
			c.at++
		default:
			if c.at+1 == len(c.in) {
				return out, false
			}
			c.at += 2
			switch e := c.in[c.at-1]; e {
			case '"', '\\', '/':
				out = append(out, e)
			case 'b':
				out = append(out, '\b')
			case 'f':
				out = append(out, '\f')
			case 'n':
				out = append(out, '\n')
			case 'r':
				out = append(out, '\r')
			case 't':
				out = append(out, '\t')
			case 'u':
				r, ok := c.hex()
				if !ok {
					return out, false
				}
				if utf16.IsSurrogate(r) {
					at := c.at
					if at+1 < len(c.in) && c.in[at] == '\\' && c.in[at+1] == 'u' {
						c.at += 2
						if low, ok := c.hex(); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
							out = utf8.AppendRune(out, utf16.DecodeRune(r, low))
							continue
						}
					}
					c.at = at
					out = append(out, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
					continue
				}
				out = utf8.AppendRune(out, r)
			default:
				return out, false
			}
		}
	}
	return out, false
}

// hex reads four digits.
func (c *canon) hex() (rune, bool) {
	if c.at+4 > len(c.in) {
		return 0, false
	}
	v, err := strconv.ParseUint(string(c.in[c.at:c.at+4]), 16, 16)
	if err != nil {
		return 0, false
	}
	c.at += 4
	return rune(v), true
}

// number reads a number: its digits without zeros at either end, and the power of ten that they stand for.
func (c *canon) number(out []byte) ([]byte, bool) {
	from := c.at
	for c.at < len(c.in) && bytes.IndexByte([]byte("+-.0123456789eE"), c.in[c.at]) >= 0 {
		c.at++
	}
	text, minus := bytes.CutPrefix(c.in[from:c.at], []byte("-"))
	mantissa, power := text, new(big.Int)
	if i := bytes.IndexAny(text, "eE"); i >= 0 {
		mantissa = text[:i]
		if len(text)-i > 40 {
			return sized(out, 'n', c.in[from:c.at]), true // by its letters: nobody writes such a one in two ways
		}
		if _, ok := power.SetString(string(text[i+1:]), 10); !ok {
			return out, false
		}
	}
	whole, part, dotted := bytes.Cut(mantissa, []byte("."))
	if len(whole) == 0 || dotted && len(part) == 0 {
		return out, false
	}
	digits := append(bytes.Clone(whole), part...)
	for _, d := range digits {
		if d < '0' || d > '9' {
			return out, false
		}
	}
	power.Sub(power, big.NewInt(int64(len(part))))
	digits = bytes.TrimLeft(digits, "0")
	short := bytes.TrimRight(digits, "0")
	power.Add(power, big.NewInt(int64(len(digits)-len(short))))
	if len(short) == 0 {
		return append(out, 'n', '0'), true // -0 and 0 are one: clients that write again write 0
	}
	sign := ""
	if minus {
		sign = "-"
	}
	return sized(out, 'n', []byte(sign+string(short)+"e"+power.String())), true
}
