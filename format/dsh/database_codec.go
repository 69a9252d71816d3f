package dsh

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// Bounds of a row (compression.ts and codec.ts of the SQLite backend), and of what is read here.
const (
	squeezeFrom  = 4096    // bytes of data from which on it is compressed, where that makes it shorter
	packedLeast  = 3       // members of a packed row
	packedMost   = 1024    //
	packedBytes  = 1 << 20 // of its data
	varintGroups = 9       // of one number in a list of sources
	maxRow       = 64 << 20
)

// errTooLong is returned where a row is longer than is read here. That is no damage.
var errTooLong = errors.New("longer than is read here")

// squeezer compresses and decompresses the data of rows.
type squeezer struct {
	dec *zstd.Decoder
	enc *zstd.Encoder
}

func newSqueezer() (*squeezer, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxRow), zstd.WithDecoderMaxWindow(maxRow))
	if err != nil {
		return nil, err
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	return &squeezer{dec, enc}, nil
}

func (s *squeezer) close() {
	s.dec.Close()
	s.enc.Close()
}

// open decompresses data. Text that is no UTF-8 makes the client refuse the row.
func (s *squeezer) open(blob []byte) ([]byte, error) {
	text, err := s.dec.DecodeAll(blob, nil)
	switch {
	case errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeExceeded):
		return nil, fmt.Errorf("its data is, decompressed, %w: %d bytes", errTooLong, maxRow)
	case err != nil:
		return nil, errors.New("its data cannot be decompressed")
	case !utf8.Valid(text):
		return nil, errors.New("its data is no UTF-8")
	}
	return text, nil
}

// stored is data as it goes into a row.
func (s *squeezer) stored(data []byte) any {
	if len(data) >= squeezeFrom {
		if b := s.enc.EncodeAll(data, nil); len(b) < len(data) {
			return b
		}
	}
	return string(data)
}

// packSources writes a list of sources: the first as it is, then the differences, the sign in the lowest bit, seven bits
// a byte, the lowest first.
func packSources(list []int64) []byte {
	out := []byte{}
	var last int64
	for i, v := range list {
		n := uint64(v)
		if i > 0 {
			if d := v - last; d >= 0 {
				n = uint64(d) << 1
			} else {
				n = uint64(-d)<<1 - 1
			}
		}
		for ; n >= 0x80; n >>= 7 {
			out = append(out, byte(n)|0x80)
		}
		out, last = append(out, byte(n)), v
	}
	return out
}

var errSources = errors.New("its source_event_seqs is no list of numbers")

// unpackSources reads a list of sources.
func unpackSources(b []byte) ([]int64, error) {
	var out []int64
	var last int64
	for len(b) > 0 {
		var n uint64
		i := 0
		for ; ; i++ {
			if i == len(b) || i == varintGroups {
				return nil, errSources
			}
			n |= uint64(b[i]&0x7f) << (7 * i)
			if b[i] < 0x80 {
				break
			}
		}
		if i > 0 && b[i] == 0 || len(out) == 0 && n > maxSafe || n > 2*maxSafe {
			return nil, errSources // not the shortest form, or no number that the client holds
		}
		v := int64(n)
		if len(out) > 0 {
			if v = last + int64(n>>1); n&1 == 1 {
				v = last - int64(n>>1) - 1
			}
		}
		if v < 0 || v > maxSafe {
			return nil, errSources
		}
		out, last = append(out, v), v
		b = b[i+1:]
	}
	return out, nil
}
