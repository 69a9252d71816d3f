package scan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/klauspost/compress/zstd"
)

func (w *FrameWalker) rawStart(raw []byte, frame bool) int {
	starts := w.starts
	if len(starts) == 0 {
		starts = [][]byte{[]byte(`{"`)}
	}
	m, err := NewMachine(nil)
	if err != nil {
		return len(raw)
	}
	var buf []byte
	budget := 16*len(raw) + 1<<16
	for i := 1; i < len(raw) && budget > 0; i++ {
		at := len(raw)
		for _, st := range starts {
			if n := bytes.Index(raw[i:at], st); n >= 0 {
				at = i + n
			}
		}
		if at == len(raw) {
			break
		}
		i = at
		if buf == nil {
			buf = append(append(buf, raw...), make([]byte, Pad)...)
		}
		if plainText(m, buf, i, len(raw), frame, &budget) {
			return i
		}
	}
	return len(raw)
}

func plainText(m *Machine, buf []byte, i, to int, all bool, budget *int) bool {
	for first := true; i < to && *budget > 0; first = false {
		nl, stop := bytes.IndexByte(buf[i:to], '\n'), to
		if nl >= 0 {
			stop = i + nl
		}
		end, f := m.Value(buf, i, stop)
		*budget -= max(end, f.Off) - i + 16
		switch {
		case nl < 0 && !first:
			return f.Cause == OK || f.Cause == Truncated
		case f.Cause != OK:
			return false
		case nl < 0:
			return end == to
		case !blank(buf[end:stop]):
			return false
		case !all:
			return true
		}
		i = stop + 1
	}
	return i == to
}

func (w *FrameWalker) resync(off int64) (int64, error) {
	const step = 256 << 10
	for at := off; at < w.size; {
		raw, err := w.at(at, step)
		if err != nil {
			return 0, err
		}
		i := bytes.Index(raw, magicBytes)
		if i < 0 {
			if int64(len(raw)) < step {
				break
			}
			at += int64(len(raw) - 3)
			continue
		}
		c := at + int64(i)
		o, err := outlineAt(w, c, w.size)
		if err != nil {
			return 0, err
		}
		switch o.shape {
		case shapeWhole:
			g := Region{Off: c, Len: o.end - c}
			_, _, err := w.decode(w.scratch[:0], g, o)
			var trouble *readError
			if errors.As(err, &trouble) {
				return 0, trouble.err
			}
			if err == nil {
				return c, nil
			}
		case shapeTorn:
			if o.blocks > 0 {
				return c, nil
			}
		}
		at = c + 4
	}
	return w.size, nil
}

func (w *FrameWalker) damaged(g Region, dst []byte) (Region, []byte, error) {
	if g.Len > wholeText {
		// Too much to look at in memory: the first bytes decide, nothing is salvaged.
		head, err := w.at(g.Off, Window)
		if err != nil {
			return g, dst, err
		}
		g.Kind = w.kind(head)
		if g.Kind == RawText {
			g.Streamed = true
			return g, dst, nil
		}
		w.count(&g)
		return g, dst, nil
	}
	raw, err := w.at(g.Off, int(g.Len))
	if err != nil {
		return g, dst, err
	}
	raw = bytes.Clone(raw)
	g.Kind = w.kind(raw)
	switch g.Kind {
	case RawText:
		return g, append(dst, raw...), nil
	case NulBytes:
		return g, dst, nil
	}
	if g.Kind == Garbage {
		// A wrong bit in the magic hides a whole frame.
		text, ok := w.flipped(&g, raw)
		if !ok {
			g.Len = int64(w.rawStart(raw, false))
		}
		return g, append(dst, text...), nil
	}
	w.count(&g)
	o, err := outlineAt(inMemory(raw), 0, g.Len)
	if err != nil {
		return g, dst, err
	}
	g.Checksum = o.checksum
	if o.shape == shapeWhole {
		if text, ok := w.failing(&g, raw, o); ok {
			return g, append(dst, text...), nil
		}
	} else if text, ok := w.flipped(&g, raw); ok {
		return g, append(dst, text...), nil
	}
	n := w.rawStart(raw, true)
	switch {
	case o.shape == shapeWhole && int64(n) >= o.end, o.shape == shapeWhole && o.end == g.Len:
		g.Kind, g.Len = DamagedFrame, o.end
	case o.shape == shapeBroken:
		g.Kind, g.Len = DamagedFrame, int64(n)
	default:
		// Plain text that begins inside what the frame claims and goes on behind it: the frame
		// was torn, and its last block only seems to end.
		g.Len = int64(n)
		return g, append(dst, salvage(raw[:n])...), nil
	}
	return g, dst, nil
}

func (w *FrameWalker) failing(g *Region, raw []byte, o outline) ([]byte, bool) {
	frame := raw[:o.end]
	if text, ok := checksumOnly(frame, o); ok {
		g.Kind, g.Len = ChecksumFrame, o.end
		return text, true
	}
	if text, ok := reservedOnly(frame, o); ok {
		g.Kind, g.Len = ReservedFrame, o.end
		return text, true
	}
	if text, ok := w.flipped(g, raw); ok || len(frame) == len(raw) {
		return text, ok
	}
	return w.flipped(g, frame)
}

func (w *FrameWalker) flipped(g *Region, raw []byte) ([]byte, bool) {
	text, at, bit, ok := w.turnBack(raw)
	if !ok {
		return nil, false
	}
	if g.Frame == 0 {
		w.frame++
		g.Frame = w.frame
	}
	g.Kind, g.Len, g.Checksum, g.Bit, g.BitNo = FlippedFrame, int64(len(raw)), true, g.Off+int64(at), bit
	return text, true
}

func (w *FrameWalker) count(g *Region) {
	if g.Kind == TornFrame || g.Kind == DamagedFrame {
		w.frame++
		g.Frame = w.frame
	}
}

func (w *FrameWalker) kind(raw []byte) RegionKind {
	if n := min(len(raw), 4); n > 0 && bytes.Equal(raw[:n], magicBytes[:n]) {
		return TornFrame
	}
	if len(bytes.TrimLeft(raw, "\x00")) == 0 {
		return NulBytes
	}
	if raw[0] != '{' {
		return Garbage
	}
	for _, st := range w.starts {
		n := min(len(st), len(raw))
		if bytes.Equal(raw[:n], st[:n]) {
			return RawText
		}
	}
	if len(w.starts) == 0 && len(raw) > 1 && raw[1] == '"' {
		return RawText
	}
	return Garbage
}

func salvage(raw []byte) []byte {
	d, err := rareDecoder()
	if err != nil {
		return nil
	}
	defer d.Close()
	text, _ := d.DecodeAll(raw, nil)
	return text[:bytes.LastIndexByte(text, '\n')+1]
}

const (
	maxTurnBytes = 16 << 10
	// turnBudget is about how many bytes may be decoded for it, a second's worth.
	turnBudget = 1500 << 20
)

func (w *FrameWalker) turnBack(raw []byte) (text []byte, at int, bit uint, ok bool) {
	cost := int64(len(raw)) * 8 * int64(len(raw)) * 5
	if len(raw) < 12 || len(raw) > maxTurnBytes || w.turned+cost > turnBudget {
		return nil, 0, 0, false
	}
	w.turned += cost
	d, err := rareDecoder()
	if err != nil {
		return nil, 0, 0, false
	}
	defer d.Close()
	var buf []byte
	for i := range len(raw) * 8 {
		raw[i>>3] ^= 1 << (i & 7)
		if o, err := outlineAt(inMemory(raw), 0, int64(len(raw))); err == nil && o.shape == shapeWhole && o.end == int64(len(raw)) && o.checksum && !o.reserved {
			if out, err := d.DecodeAll(raw, buf[:0]); err == nil {
				if ok {
					raw[i>>3] ^= 1 << (i & 7)
					return nil, 0, 0, false
				}
				text, at, bit, ok = bytes.Clone(out), i>>3, uint(i&7), true
			} else {
				buf = out
			}
		}
		raw[i>>3] ^= 1 << (i & 7)
	}
	return text, at, bit, ok
}

type inMemory []byte

func (m inMemory) at(off int64, n int) ([]byte, error) {
	end := min(off+int64(n), int64(len(m)))
	if off >= end {
		return nil, nil
	}
	return m[off:end], nil
}

func rareDecoder(more ...zstd.DOption) (*zstd.Decoder, error) {
	o := append([]zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(8 * wholeText), zstd.WithDecoderMaxWindow(maxWindow)}, more...)
	return zstd.NewReader(nil, o...)
}

func checksumOnly(raw []byte, o outline) ([]byte, bool) {
	if !o.checksum {
		return nil, false
	}
	d, err := rareDecoder(zstd.IgnoreChecksum(true))
	if err != nil {
		return nil, false
	}
	defer d.Close()
	text, err := d.DecodeAll(raw, nil)
	if err != nil {
		return nil, false
	}
	fresh := EncodeFrame(nil, text)
	stored, right := binary.LittleEndian.Uint32(raw[len(raw)-4:]), binary.LittleEndian.Uint32(fresh[len(fresh)-4:])
	d4 := stored ^ right
	return text, (bits.Len32(d4)-1)>>3 == bits.TrailingZeros32(d4)>>3
}

func reservedOnly(raw []byte, o outline) ([]byte, bool) {
	if !o.reserved || !o.checksum {
		return nil, false
	}
	d, err := rareDecoder()
	if err != nil {
		return nil, false
	}
	defer d.Close()
	raw = bytes.Clone(raw)
	raw[4] &^= reservedBits
	text, err := d.DecodeAll(raw, nil)
	return text, err == nil
}
