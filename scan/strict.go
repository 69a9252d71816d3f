package scan

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/sessfix/sessfix/session"
)

// Pad is how many readable bytes must stand behind the end of what is scanned.
const Pad = 64

// Cause says why a value is faulty.
type Cause uint8

const (
	// OK means no fault.
	OK Cause = iota
	// Truncated: the input ended inside the value.
	Truncated
	// Syntax: a byte that the grammar does not allow here.
	Syntax
	// Control: a raw byte below 0x20 in a string.
	Control
	// BadUTF8: invalid UTF-8 in a string.
	BadUTF8
)

// Fault is the first thing wrong with a value.
type Fault struct {
	Cause Cause
	// Off is the index of the first offending byte: the first byte of an ill-formed
	// UTF-8 sequence, the end of the input for Truncated.
	Off int
	// InString: the fault lies between the quotes of a string or key.
	InString bool
}

// Flaw is what Tolerant passed over inside a string: one raw control byte, or as many bytes
// of invalid UTF-8 as a WHATWG decoder turns into one U+FFFD.
type Flaw struct {
	Off, Len int
	Cause    Cause
}

// Machine validates JSON values and captures parts of them. It can be used again and again,
// but not by two goroutines at once.
type Machine struct {
	// Caps are the captures of the last value, offsets relative to where its scan began.
	// After a fault they are those met before it, and containers still open have no Len.
	Caps []session.Capture
	// Flaws are what the last call of Tolerant passed over.
	Flaws []Flaw
	// Dup: a key on the way to a capture was repeated in one object. The last one counts,
	// and nothing of the earlier ones is left in Caps. Keys that only a "*" takes are not compared.
	Dup bool

	root   *node
	outer  []enclosing // of the fast scan
	frames []container // of the careful scan
	nest   []uint64    // one bit a level: set for an object
	name   []byte      // a key without its escapes
	wide   bool        // there are bit maps
	stops  stops
}

// NewMachine makes a Machine that captures the values at the given paths; see
// session.Framing for their form. A bare "[]" may begin a path: the elements of a top-level array.
func NewMachine(keys []string) (*Machine, error) {
	root, err := compileKeys(keys)
	if err != nil {
		return nil, err
	}
	return &Machine{root: root, nest: make([]uint64, 16), wide: hasAVX2}, nil
}

// Value validates the one JSON value that starts at buf[from], or behind white space there,
// and ends before buf[to]. It returns the index just behind the value, and does not look at what
// follows. If there is a fault, the index is where it lies. buf must go on for Pad bytes
// behind to, whatever they are, and to-from must fit into 32 bits.
func (m *Machine) Value(buf []byte, from, to int) (end int, f Fault) {
	checkBounds(buf, from, to)
	m.Flaws, m.Dup = m.Flaws[:0], false
	if end = m.fast(buf[:to+Pad], from, to); end >= 0 {
		return end, Fault{}
	}
	return m.careful(buf, from, to, false)
}

// checkBounds panics if the caller broke a promise on which the speed rests.
func checkBounds(buf []byte, from, to int) {
	if from < 0 || from > to || to > len(buf)-Pad {
		panic("scan: bounds without padding")
	}
	if uint64(to-from) > math.MaxUint32 {
		panic("scan: value of 4 GiB or more")
	}
}

// enclosing is an open container that has a place in the tree of key paths.
type enclosing struct {
	node  *node
	depth int
	cap   int    // index of its capture, or -1
	n     uint32 // elements or members so far
}

// nonDigits marks the top bit of each byte of w that is no decimal digit.
func nonDigits(w uint64) uint64 {
	w ^= 0x30 * ones
	return (w&^highs + 0x76*ones | w) & highs
}

// zeroBytes marks the top bit of each byte of w that is 0.
func zeroBytes(w uint64) uint64 {
	return ^((w&^highs + 0x7F*ones) | w) & highs
}

// fast returns the index behind the value, or -1 if there is anything wrong with it or a key on the
// way to a capture is repeated: careful then does the work anew. It does not check each
// token against to, only where it could read behind the padding and where a token is followed.
func (m *Machine) fast(buf []byte, from, to int) int {
	var (
		i     = from
		caps  = m.Caps[:0]
		outer = m.outer[:0]
		nest  uint64 // the innermost 64 levels, one bit each: set for an object
		depth int
		nd    = m.root // the place of the value to come, nil if it has none
		top   enclosing
		c     byte
		base  = -1 // where the bits of stops begin
		size  uint // and how many there are
	)
	m.stops.reset()
value:
	if i >= to {
		goto fail
	}
	c = buf[i]
	switch c {
	case '"':
		captured := nd != nil && nd.key >= 0
		var esc bool
		n, off := long, uint(i+1-base)
		if off < size {
			n = m.stops.run(off)
		} else if !m.wide {
			n = shortRun(buf, i+1)
		}
		end := i + 1 + n
		if n < long && buf[end] == '"' {
			end++
			esc = captured && m.wide && m.stops.escapes(off, n)
		} else {
			if end = m.stringEnd(buf, i+1, to); end < 0 {
				goto fail
			}
			base, size = m.stops.base, m.stops.size
			esc = captured && bytes.IndexByte(buf[i+1:end], '\\') >= 0
		}
		if captured {
			caps = append(caps, session.Capture{Off: uint32(i - from), Len: uint32(end - i), Key: uint16(nd.key), Kind: '"', Esc: esc})
		}
		i = end
		goto after
	case '{', '[':
		if depth&63 == 0 {
			if depth>>6 == len(m.nest) {
				m.nest = append(m.nest, 0)
			}
			m.nest[depth>>6] = nest
		}
		depth++
		nest <<= 1
		if nd != nil {
			outer = append(outer, top)
			top = enclosing{node: nd, depth: depth, cap: -1}
			if nd.key >= 0 {
				top.cap = len(caps)
				caps = append(caps, session.Capture{Off: uint32(i - from), Key: uint16(nd.key), Kind: c})
			}
		}
		i++
		if buf[i] <= ' ' {
			i = skipSpace(buf, i, to)
		}
		if c == '{' {
			nest |= 1
			if nd != nil {
				nd.epoch++
			}
			if buf[i] == '}' {
				i++
				goto shut
			}
			goto key
		}
		if buf[i] == ']' {
			i++
			goto shut
		}
		if nd != nil {
			top.n = 1
			if nd = nd.elem; nd != nil {
				goto value
			}
		}
		goto plain
	case 't':
		if binary.LittleEndian.Uint32(buf[i:]) != 't'|'r'<<8|'u'<<16|'e'<<24 {
			goto fail
		}
		if nd != nil && nd.key >= 0 {
			caps = append(caps, session.Capture{Off: uint32(i - from), Len: 4, Key: uint16(nd.key), Kind: 't'})
		}
		i += 4
	case 'n':
		if binary.LittleEndian.Uint32(buf[i:]) != 'n'|'u'<<8|'l'<<16|'l'<<24 {
			goto fail
		}
		if nd != nil && nd.key >= 0 {
			caps = append(caps, session.Capture{Off: uint32(i - from), Len: 4, Key: uint16(nd.key), Kind: 'n'})
		}
		i += 4
	case 'f':
		if binary.LittleEndian.Uint32(buf[i+1:]) != 'a'|'l'<<8|'s'<<16|'e'<<24 {
			goto fail
		}
		if nd != nil && nd.key >= 0 {
			caps = append(caps, session.Capture{Off: uint32(i - from), Len: 5, Key: uint16(nd.key), Kind: 'f'})
		}
		i += 5
	case ' ', '\t', '\n', '\r':
		i = skipSpace(buf, i, to)
		goto value
	default:
		n := bits.TrailingZeros64(nonDigits(binary.LittleEndian.Uint64(buf[i:]))) >> 3
		end := i + n
		d := buf[end]
		if (d != ',' && d != '}' && d != ']') || c == '0' && n != 1 || n == 0 {
			var f Fault
			if end, f = skipNumber(buf, i, to); f.Cause != OK {
				goto fail
			}
		}
		if nd != nil && nd.key >= 0 {
			caps = append(caps, session.Capture{Off: uint32(i - from), Len: uint32(end - i), Key: uint16(nd.key), Kind: '0'})
		}
		i = end
	}

after:
	if depth == 0 {
		goto done
	}
	// Also catches a token that ran into the padding.
	if i >= to {
		goto fail
	}
	c = buf[i]
	if c == ',' {
		i++
		if nest&1 != 0 {
			goto key
		}
		nd = nil
		if depth == top.depth {
			top.n++
			if nd = top.node.elem; nd != nil {
				goto value
			}
		}
		goto plain
	}
	if c == '}' || c == ']' {
		// In ASCII bit 5 tells braces from brackets.
		if uint64(c>>5&1) != nest&1 {
			goto fail
		}
		i++
		goto shut
	}
	if c <= ' ' {
		if j := skipSpace(buf, i, to); j > i {
			i = j
			goto after
		}
	}
	goto fail

plain:
	if c = buf[i]; c != '[' && c != '{' {
		next, n := m.plainRun(buf, i, to)
		i = next
		if depth == top.depth {
			top.n += n
		}
	}
	goto value

shut:
	if depth == top.depth {
		if top.cap >= 0 {
			caps[top.cap].Len = uint32(i-from) - caps[top.cap].Off
			caps[top.cap].N = top.n
		}
		top = outer[len(outer)-1]
		outer = outer[:len(outer)-1]
	}
	depth--
	nest >>= 1
	if depth&63 == 0 {
		nest = m.nest[depth>>6]
	}
	goto after

key:
	if i >= to {
		goto fail
	}
	if buf[i] != '"' {
		j := skipSpace(buf, i, to)
		if j == i {
			goto fail
		}
		i = j
		goto key
	}
	{
		var esc bool
		n, off := long, uint(i+1-base)
		if off < size {
			n = m.stops.run(off)
		} else if !m.wide {
			n = shortRun(buf, i+1)
		}
		end := i + 1 + n
		if n < long && buf[end] == '"' {
			end++
			esc = depth == top.depth && m.wide && m.stops.escapes(off, n)
		} else {
			if end = m.stringEnd(buf, i+1, to); end < 0 {
				goto fail
			}
			base, size = m.stops.base, m.stops.size
			esc = depth == top.depth && bytes.IndexByte(buf[i+1:end], '\\') >= 0
		}
		if end >= to {
			goto fail
		}
		nd = nil
		if depth == top.depth {
			top.n++
			var s *slot
			if esc {
				s = m.lookup(top.node, buf, i+1, end-1, esc)
			} else {
				s = top.node.find(buf, i+1, end-1)
			}
			if s != nil {
				if s.epoch == top.node.epoch {
					goto fail
				}
				s.epoch = top.node.epoch
				nd = s.node
			} else if top.node.star >= 0 {
				caps = append(caps, session.Capture{Off: uint32(i - from), Len: uint32(end - i),
					Key: uint16(top.node.star), Kind: '*', Esc: esc})
			}
		}
		i = end
	}
	if buf[i] != ':' {
		i = skipSpace(buf, i, to)
		if i >= to || buf[i] != ':' {
			goto fail
		}
	}
	i++
	goto value

done:
	if i > to {
		goto fail
	}
	m.Caps, m.outer = caps, outer
	return i

fail:
	m.Caps, m.outer = caps, outer
	return -1
}

// plainRun passes over elements of an array, each with its comma, that are whole numbers or short
// strings. Packed records hold hundreds of them. It stops in front of whatever else comes, so it
// need not know what is wrong with that.
func (m *Machine) plainRun(buf []byte, i, to int) (next int, n uint32) {
	for i+8 <= to {
		// As many numbers as end, with their commas, inside one word.
		w := binary.LittleEndian.Uint64(buf[i:])
		comma := zeroBytes(w ^ 0x2C*ones)
		start := comma<<8 | 0x80
		other := nonDigits(w)
		if other != comma || comma == 0 || start&comma != 0 || start&zeroBytes(w^0x30*ones)&^(other>>8) != 0 {
			break
		}
		i += 8 - bits.LeadingZeros64(comma)>>3
		n += uint32(bits.OnesCount64(comma))
	}
	for i < to && buf[i] == '"' {
		n8 := long
		if off := uint(i + 1 - m.stops.base); off < m.stops.size {
			n8 = m.stops.run(off)
		} else if !m.wide {
			n8 = shortRun(buf, i+1)
		}
		end := i + 1 + n8
		if n8 == long || end+2 >= to || buf[end] != '"' || buf[end+1] != ',' {
			break
		}
		i = end + 2
		n++
	}
	return i, n
}

// stringEnd reads on in a string from i, where its plain part is not known to end soon, and returns the index
// behind its closing quote, or -1. That index may lie behind to.
func (m *Machine) stringEnd(buf []byte, i, to int) int {
	if m.wide {
		return m.stops.stringEnd(buf, i, to)
	}
	return stringEnd(buf, i, to)
}
