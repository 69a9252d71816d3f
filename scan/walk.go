package scan

import "encoding/binary"

// The layout of a zstd frame (RFC 8878):
//
//	magic 4 │ descriptor 1 │ window 0/1 │ dictionary 0/1/2/4 │ size 0/1/2/4/8 │ blocks │ checksum 0/4
//	block: header 3 (bit 0 last, bits 1-2 type, rest size) │ size bytes, or 1 for a repeated byte
const (
	frameMagic     = 0xFD2FB528
	skippableMagic = 0x184D2A50 // the low four bits are free
	reservedBits   = 0x18
	checksumBit    = 0x04
	singleBit      = 0x20
)

var magicBytes = []byte{0x28, 0xB5, 0x2F, 0xFD}

// shape is what the structure of a frame tells without decompressing it.
type shape uint8

const (
	shapeNone   shape = iota // no frame begins here
	shapeWhole               // complete
	shapeTorn                // the bytes end inside it
	shapeBroken              // a block type or header that cannot be
)

// outline is a frame's structure.
type outline struct {
	shape    shape
	end      int64 // behind the frame, where it is whole
	checksum bool
	reserved bool // reserved descriptor bits are set
	content  int64
	blocks   int // whole ones
}

// bytesAt gives pieces of a file.
type bytesAt interface {
	// at returns n bytes of the file at off, fewer at its end.
	at(off int64, n int) ([]byte, error)
}

// outlineAt walks the frame at off. Bytes at or behind to are not looked at.
func outlineAt(w bytesAt, off, to int64) (outline, error) {
	o := outline{content: -1}
	head, err := w.at(off, int(min(18, to-off)))
	if err != nil || len(head) < 4 || binary.LittleEndian.Uint32(head) != frameMagic {
		return o, err
	}
	o.shape = shapeTorn
	if len(head) < 5 {
		return o, nil
	}
	d := head[4]
	o.checksum, o.reserved = d&checksumBit != 0, d&reservedBits != 0
	single := d&singleBit != 0
	n := 5
	if !single {
		n++
	}
	n += [4]int{0, 1, 2, 4}[d&3]
	size := [4]int{0, 2, 4, 8}[d>>6]
	if size == 0 && single {
		size = 1
	}
	if n+size > len(head) {
		return o, nil
	}
	var raw [8]byte
	copy(raw[:], head[n:n+size])
	if size > 0 {
		o.content = int64(binary.LittleEndian.Uint64(raw[:]))
		if size == 2 {
			o.content += 256
		}
	}
	at := off + int64(n+size)
	for {
		h, err := w.at(at, int(min(3, to-at)))
		if err != nil {
			return o, err
		}
		if len(h) < 3 {
			return o, nil
		}
		v := uint32(h[0]) | uint32(h[1])<<8 | uint32(h[2])<<16
		length := int64(v >> 3)
		switch v >> 1 & 3 {
		case 1:
			length = 1
		case 3:
			o.shape = shapeBroken
			return o, nil
		}
		at += 3 + length
		if at > to {
			return o, nil
		}
		o.blocks++
		if v&1 == 1 {
			break
		}
	}
	if o.checksum {
		at += 4
	}
	if at > to {
		return o, nil
	}
	o.shape, o.end = shapeWhole, at
	return o, nil
}
