package scan

import (
	"encoding/binary"
	"math/bits"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks the top bit of each byte of w that is a quote, a backslash, a control character or
// no ASCII. Only the lowest mark is sure to be right.
func special(w uint64) uint64 {
	// Flipping bit 1 puts the quote right behind the controls, so that one comparison does for both.
	return (((w ^ 0x02*ones) - 0x21*ones) | ((w ^ 0x5C*ones) - ones) | w) & highs
}

// shortRun counts the plain bytes of a string from i on, fewer than 16, or long. It has no branch, because
// the lengths of short strings cannot be predicted.
func shortRun(buf []byte, i int) int {
	a := special(binary.LittleEndian.Uint64(buf[i:]))
	b := special(binary.LittleEndian.Uint64(buf[i+8:]))
	n := bits.TrailingZeros64(a)
	if a == 0 {
		n = 64 + bits.TrailingZeros64(b)
	}
	return (n + n&128*3) >> 3
}

// stringEnd reads on in a string from i, a word at a time, and returns the index behind its closing
// quote, or -1. That index may lie behind to.
func stringEnd(buf []byte, i, to int) int {
	for i < to {
		s := special(binary.LittleEndian.Uint64(buf[i:]))
		if s == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(s) >> 3
		c := buf[i]
		switch {
		case c == '"':
			return i + 1
		case c == '\\':
			switch escapes[buf[i+1]] {
			case 0:
				return -1
			case 'u':
				if hexValue[buf[i+2]]|hexValue[buf[i+3]]|hexValue[buf[i+4]]|hexValue[buf[i+5]] < 0 {
					return -1
				}
				i += 6
			default:
				i += 2
			}
		case c < 0x20:
			return -1
		default:
			for i < to && buf[i] >= 0x80 {
				n := wellFormed(binary.LittleEndian.Uint32(buf[i:]))
				if n == 0 {
					return -1
				}
				i += n
			}
		}
	}
	return -1
}

// wellFormed is the length of the non-ASCII character whose bytes w begins with, lowest first, or 0.
func wellFormed(w uint32) int {
	switch {
	case w&0xC0C0F0 == 0x8080E0 && w&0x200F != 0 && w&0x200F != 0x200D:
		return 3
	case w&0xC0E0 == 0x80C0 && w&0x1E != 0:
		return 2
	case w&0xC0C0C0F8 == 0x808080F0 && (w&7 != 0 && w&7 < 4 || w&7 == 0 && w&0x3000 != 0 || w&7 == 4 && w&0x3000 == 0):
		return 4
	}
	return 0
}
