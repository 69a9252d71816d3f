package damage

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

var errFrame = errors.New("no whole zstd frame")

// frameLen measures the frame at the start of b by its headers (RFC 8878). It is written apart
// from package scan, which is what the recipes test.
func frameLen(b []byte) (int, error) {
	if len(b) < 6 || binary.LittleEndian.Uint32(b) != 0xFD2FB528 {
		return 0, errFrame
	}
	d := b[4]
	at := 5
	single := d&0x20 != 0
	if !single {
		at++ // window descriptor
	}
	at += []int{0, 1, 2, 4}[d&3] // dictionary id
	size := []int{0, 2, 4, 8}[d>>6]
	if d>>6 == 0 && single {
		size = 1
	}
	at += size
	for {
		if at+3 > len(b) {
			return 0, errFrame
		}
		h := uint32(b[at]) | uint32(b[at+1])<<8 | uint32(b[at+2])<<16
		n := int(h >> 3)
		switch h >> 1 & 3 {
		case 1:
			n = 1 // run-length block: one byte, repeated
		case 3:
			return 0, errFrame
		}
		at += 3 + n
		if h&1 != 0 {
			break
		}
	}
	if d&4 != 0 {
		at += 4
	}
	if at > len(b) {
		return 0, errFrame
	}
	return at, nil
}

// Frames divides a healthy compressed file into its frames.
func Frames(data []byte) ([][]byte, error) {
	var out [][]byte
	for len(data) > 0 {
		n, err := frameLen(data)
		if err != nil {
			return out, fmt.Errorf("frame %d: %w", len(out)+1, err)
		}
		out = append(out, data[:n:n])
		data = data[n:]
	}
	return out, nil
}

// Unpack decodes frames that lie one behind the other.
func Unpack(data []byte) ([]byte, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.DecodeAll(data, nil)
}
