package scan

import "github.com/sessfix/sessfix/session"

// Tolerant does what Value does, but notes raw control bytes and invalid UTF-8 inside
// strings in m.Flaws and passes over them. It is several times slower.
func (m *Machine) Tolerant(buf []byte, from, to int) (end int, f Fault) {
	checkBounds(buf, from, to)
	return m.careful(buf, from, to, true)
}

// careful is the byte-by-byte scan. It finds the exact place of a fault and sorts out repeated
// keys, so that the fast scan needs to do neither.
func (m *Machine) careful(buf []byte, from, to int, tolerant bool) (int, Fault) {
	m.Caps, m.Flaws, m.frames, m.Dup = m.Caps[:0], m.Flaws[:0], m.frames[:0], false
	end, f := m.walk(buf, from, to, tolerant)
	if m.Dup {
		kept := m.Caps[:0]
		for _, c := range m.Caps {
			if c.Kind != 0 {
				kept = append(kept, c)
			}
		}
		m.Caps = kept
	}
	return end, f
}

// container is an enclosing one with the member that is being read.
type container struct {
	enclosing
	slot *slot
}

// walk appends to Caps and Flaws; of captures that a repeated key outdates it clears the Kind.
func (m *Machine) walk(buf []byte, from, to int, tolerant bool) (int, Fault) {
	i := from
	depth := 0
	nd := m.root // the place of the value to come, nil if it has none
	var top *container
	for {
		i = skipSpace(buf, i, to)
		if i == to {
			return cutOff(to)
		}
		c := buf[i]
		if top != nil && top.depth == depth && !m.inObject(depth) {
			top.n++
		}
		{
			var end int
			var f Fault
			esc := false
			kind := c
			switch c {
			case '{', '[':
				end = i + 1
			case '"':
				end, esc, f = m.str(buf, i+1, to, tolerant)
			case 't':
				end, f = skipLiteral(buf, i, to, "true")
			case 'f':
				end, f = skipLiteral(buf, i, to, "false")
			case 'n':
				end, f = skipLiteral(buf, i, to, "null")
			default:
				kind = '0'
				end, f = skipNumber(buf, i, to)
			}
			if f.Cause != OK {
				return f.Off, f
			}
			at := -1
			if nd != nil && nd.key >= 0 {
				at = len(m.Caps)
				c := session.Capture{Off: uint32(i - from), Key: uint16(nd.key), Kind: kind, Esc: esc}
				if kind != '{' && kind != '[' {
					c.Len = uint32(end - i)
				}
				m.Caps = append(m.Caps, c)
			}
			i = end
			if kind != '{' && kind != '[' {
				goto after
			}
			depth++
			m.push(depth, kind == '{')
			if nd != nil {
				nd.epoch++
				m.frames = append(m.frames, container{enclosing: enclosing{node: nd, depth: depth, cap: at}})
				top = &m.frames[len(m.frames)-1]
			}
		}
		i = skipSpace(buf, i, to)
		if i == to {
			return cutOff(to)
		}
		// In ASCII each closing bracket stands two behind its opening one.
		if buf[i] == c+2 {
			goto after
		}
		if c == '{' {
			goto key
		}
		if nd != nil {
			nd = nd.elem
		}
		continue
	after:
		// Behind a value, or at the bracket that closes an empty container.
		if depth == 0 {
			return i, Fault{}
		}
		if top != nil && top.depth == depth && top.slot != nil {
			top.slot.hi = int32(len(m.Caps))
		}
		i = skipSpace(buf, i, to)
		if i == to {
			return cutOff(to)
		}
		switch {
		case buf[i] == '}' && m.inObject(depth), buf[i] == ']' && !m.inObject(depth):
			i++
			if top != nil && top.depth == depth {
				if top.cap >= 0 {
					m.Caps[top.cap].Len = uint32(i-from) - m.Caps[top.cap].Off
					m.Caps[top.cap].N = top.n
				}
				m.frames = m.frames[:len(m.frames)-1]
				top = nil
				if len(m.frames) > 0 {
					top = &m.frames[len(m.frames)-1]
				}
			}
			depth--
			goto after
		case buf[i] != ',':
			return wrongByte(i, false)
		}
		i++
		if !m.inObject(depth) {
			nd = nil
			if top != nil && top.depth == depth {
				nd = top.node.elem
			}
			continue
		}
		i = skipSpace(buf, i, to)
		if i == to {
			return cutOff(to)
		}
	key:
		if buf[i] != '"' {
			return wrongByte(i, false)
		}
		end, esc, f := m.str(buf, i+1, to, tolerant)
		if f.Cause != OK {
			return f.Off, f
		}
		nd = nil
		if top != nil && top.depth == depth {
			top.n++
			nd = m.member(top, buf, from, i, end, esc)
		}
		i = skipSpace(buf, end, to)
		if i == to {
			return cutOff(to)
		}
		if buf[i] != ':' {
			return wrongByte(i, false)
		}
		i++
	}
}

// member finds the place of the member whose key is buf[i:end], quotes included, and drops what
// an earlier member of the same name left.
func (m *Machine) member(top *container, buf []byte, from, i, end int, esc bool) *node {
	nd := top.node
	top.slot = nil
	s := m.lookup(nd, buf, i+1, end-1, esc)
	if s == nil {
		if nd.star >= 0 {
			m.Caps = append(m.Caps, session.Capture{Off: uint32(i - from), Len: uint32(end - i),
				Key: uint16(nd.star), Kind: '*', Esc: esc})
		}
		return nil
	}
	if s.epoch == nd.epoch {
		m.Dup = true
		if int(s.hi) == len(m.Caps) {
			// Nothing stands behind the earlier value, as in a run of one key.
			m.Caps = m.Caps[:s.lo]
		}
		for x := int(s.lo); x < min(int(s.hi), len(m.Caps)); x++ {
			m.Caps[x].Kind = 0
		}
	}
	s.epoch = nd.epoch
	s.lo = int32(len(m.Caps))
	s.hi = s.lo
	top.slot = s
	return s.node
}

// lookup finds the slot of the key buf[p:q], which may hold escapes.
func (m *Machine) lookup(nd *node, buf []byte, p, q int, esc bool) *slot {
	if !esc {
		return nd.find(buf, p, q)
	}
	m.name = Unescape(m.name[:0], buf[p:q])
	n := len(m.name)
	m.name = append(m.name, 0, 0, 0, 0, 0, 0, 0, 0)
	return nd.find(m.name, 0, n)
}

// inObject tells whether the container at the given depth is an object.
func (m *Machine) inObject(depth int) bool {
	return m.nest[depth>>6]>>(depth&63)&1 != 0
}

func (m *Machine) push(depth int, object bool) {
	if depth>>6 == len(m.nest) {
		m.nest = append(m.nest, 0)
	}
	bit := uint64(1) << (depth & 63)
	m.nest[depth>>6] &^= bit
	if object {
		m.nest[depth>>6] |= bit
	}
}

func cutOff(to int) (int, Fault) { return to, Fault{Cause: Truncated, Off: to} }

func wrongByte(i int, inString bool) (int, Fault) {
	return i, Fault{Cause: Syntax, Off: i, InString: inString}
}

// skipSpace skips white space.
func skipSpace(buf []byte, i, to int) int {
	for i < to && (buf[i] == ' ' || buf[i] == '\t' || buf[i] == '\n' || buf[i] == '\r') {
		i++
	}
	return i
}

func skipLiteral(buf []byte, i, to int, word string) (int, Fault) {
	for x := range len(word) {
		if i+x == to {
			return cutOff(to)
		}
		if buf[i+x] != word[x] {
			return wrongByte(i+x, false)
		}
	}
	return i + len(word), Fault{}
}

func skipNumber(buf []byte, i, to int) (int, Fault) {
	digits := func() bool {
		start := i
		for i < to && '0' <= buf[i] && buf[i] <= '9' {
			i++
		}
		return i > start
	}
	wrong := func() (int, Fault) {
		if i == to {
			return cutOff(to)
		}
		return wrongByte(i, false)
	}
	if buf[i] == '-' {
		i++
	}
	if i < to && buf[i] == '0' {
		i++
	} else if !digits() {
		return wrong()
	}
	if i < to && buf[i] == '.' {
		i++
		if !digits() {
			return wrong()
		}
	}
	if i < to && (buf[i] == 'e' || buf[i] == 'E') {
		i++
		if i < to && (buf[i] == '+' || buf[i] == '-') {
			i++
		}
		if !digits() {
			return wrong()
		}
	}
	return i, Fault{}
}

// str reads the rest of a string from behind its first quote to behind its last.
func (m *Machine) str(buf []byte, i, to int, tolerant bool) (end int, esc bool, f Fault) {
	fault := func(c Cause, off int) (int, bool, Fault) {
		return off, esc, Fault{Cause: c, Off: off, InString: true}
	}
	for i < to {
		c := buf[i]
		switch {
		case c == '"':
			return i + 1, esc, Fault{}
		case c == '\\':
			esc = true
			n := 2
			if i+1 < to && buf[i+1] == 'u' {
				n = 6
			}
			for x := 1; x < n; x++ {
				if i+x >= to {
					return fault(Truncated, to)
				}
				c := buf[i+x]
				if x == 1 && escapes[c] != 0 || x > 1 && hexValue[c] >= 0 {
					continue
				}
				if c < 0x20 && !tolerant {
					return fault(Control, i+x)
				}
				// The escape itself is broken, which tolerance for raw bytes does not mend.
				return fault(Syntax, i+x)
			}
			i += n
		case c < 0x20:
			if !tolerant {
				return fault(Control, i)
			}
			m.Flaws = append(m.Flaws, Flaw{Off: i, Len: 1, Cause: Control})
			i++
		case c < 0x80:
			i++
		default:
			n, ok := runeLen(buf, i, to)
			if !ok {
				if i+n == to && n < announced(c) {
					return fault(Truncated, to)
				}
				if !tolerant {
					return fault(BadUTF8, i)
				}
				m.Flaws = append(m.Flaws, Flaw{Off: i, Len: n, Cause: BadUTF8})
			}
			i += n
		}
	}
	return fault(Truncated, to)
}

// announced is the length of the sequence that a first byte of UTF-8 announces, 0 if it is none.
func announced(c byte) int {
	switch {
	case 0xC2 <= c && c <= 0xDF:
		return 2
	case 0xE0 <= c && c <= 0xEF:
		return 3
	case 0xF0 <= c && c <= 0xF4:
		return 4
	}
	return 0
}

// runeLen measures the UTF-8 sequence at buf[i], which is not ASCII. If it is ill-formed or cut off by
// to, the length is that of its maximal subpart.
func runeLen(buf []byte, i, to int) (n int, ok bool) {
	lo, hi := byte(0x80), byte(0xBF)
	switch buf[i] {
	case 0xE0:
		lo = 0xA0 // else overlong
	case 0xED:
		hi = 0x9F // else a surrogate
	case 0xF0:
		lo = 0x90 // else overlong
	case 0xF4:
		hi = 0x8F // else above U+10FFFF
	}
	size := announced(buf[i])
	for n = 1; n < size; n++ {
		if i+n >= to || buf[i+n] < lo || hi < buf[i+n] {
			return n, false
		}
		lo, hi = 0x80, 0xBF
	}
	return n, size > 0
}
