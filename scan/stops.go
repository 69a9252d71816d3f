package scan

import (
	"encoding/binary"
	"math/bits"
)

// chunk is how many bytes of a value are looked at in one go, a power of two. Its bit maps
// stay in the nearest cache.
const chunk = 4096

// stops knows where the plain parts of strings end. It takes no notice of where strings begin:
// the grammar lets nothing pass outside of them that would lead it astray.
//
// The assembly knows the places of its fields.
type stops struct {
	// ends has a bit for each byte of the chunk, set for a quote that ends a string, a control
	// character, and what stands behind a backslash unless it makes an escape of two bytes. Behind
	// the text all are set, up to a multiple of 64; the 64 behind those are not.
	ends [chunk/8 + 8]byte
	// slashes has a bit for each backslash.
	slashes [chunk/8 + 8]byte
	escaped uint64 // 1: the next byte stands behind a backslash that escapes it
	carry   uint64 // what the check of UTF-8 must know of the bytes in front
	bad     uint64 // not 0: some UTF-8 was wrong
	base    int    // where the chunk begins
	size    uint   // how many bits are valid, a multiple of 64
}

// reset forgets what was read. It must come before the first fill of a value.
func (s *stops) reset() { s.base, s.size, s.bad = -1, 0, 0 }

// fill makes ready the chunk from i on. If that is where the last one ended, it goes on, else
// a string has just begun there. It tells whether all UTF-8 was right so far.
func (s *stops) fill(buf []byte, i, to int) bool {
	if s.base+int(s.size) != i {
		s.escaped, s.carry = 0, 0
	}
	n := min(chunk, to-i)
	s.base, s.size = i, (uint(n)+63)&^63
	stopsAVX2(&buf[i], n, s)
	return s.bad == 0
}

// long is what run and shortRun give where no end of the plain bytes is near.
const long = 64

// run counts the plain bytes from bit off of the chunk on; long if no end is near.
func (s *stops) run(off uint) int {
	return bits.TrailingZeros64(binary.LittleEndian.Uint64(s.ends[off>>3&(chunk/8-1):]) >> (off & 7))
}

// escapes tells whether there is a backslash among the n bytes, fewer than 57, from bit off on.
func (s *stops) escapes(off uint, n int) bool {
	return binary.LittleEndian.Uint64(s.slashes[off>>3&(chunk/8-1):])>>(off&7)&(1<<uint(n)-1) != 0
}

// stringEnd reads on in a string from i and returns the index behind its closing quote, or -1.
func (s *stops) stringEnd(buf []byte, i, to int) int {
	for i < to {
		off := uint(i - s.base)
		if off >= s.size {
			if !s.fill(buf, i, to) {
				return -1
			}
			off = 0
		}
		w := binary.LittleEndian.Uint64(s.ends[off>>6<<3:]) >> (off & 63)
		if w == 0 {
			i += 64 - int(off&63)
			continue
		}
		i += bits.TrailingZeros64(w)
		if i >= to {
			break
		}
		switch buf[i] {
		case '"':
			return i + 1
		case 'u':
			if hexValue[buf[i+1]]|hexValue[buf[i+2]]|hexValue[buf[i+3]]|hexValue[buf[i+4]] < 0 {
				return -1
			}
			i += 5
		default:
			return -1
		}
	}
	return -1
}
