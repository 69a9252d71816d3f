package session

import (
	"crypto/sha256"
	"encoding/binary"
)

// ID is an agent's id in 16 bytes: the bits of a UUID, else a hash of its text. The zero ID
// means that there is none. Reports read the text again from the record.
type ID struct{ Hi, Lo uint64 }

// MakeID makes an ID of an id's text.
func MakeID(text []byte) ID {
	if len(text) == 0 {
		return ID{}
	}
	if id, ok := uuid(text); ok {
		return id
	}
	h := sha256.Sum256(text)
	return ID{binary.BigEndian.Uint64(h[:]) | 1, binary.BigEndian.Uint64(h[8:])}
}

// uuid reads the usual form, in lower case.
func uuid(text []byte) (ID, bool) {
	if len(text) != 36 {
		return ID{}, false
	}
	var v [2]uint64
	n := 0
	for i, c := range text {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return ID{}, false
			}
			continue
		}
		var d byte
		switch {
		case '0' <= c && c <= '9':
			d = c - '0'
		case 'a' <= c && c <= 'f':
			d = c - 'a' + 10
		default:
			return ID{}, false
		}
		v[n/16] = v[n/16]<<4 | uint64(d)
		n++
	}
	return ID{v[0], v[1]}, v != [2]uint64{}
}
