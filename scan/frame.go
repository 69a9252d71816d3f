package scan

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/sessfix/sessfix/session"
)

const (
	// wholeFrame is the largest frame, stored, that is decoded in one piece.
	wholeFrame = 4 << 20
	// wholeText is the largest text of a frame that is held in memory; above it the frame is
	// decoded as a stream, after a first pass that checks it.
	wholeText = 8 << 20
	// maxWindow bounds what a frame header may ask for.
	maxWindow = 128 << 20
)

// RegionKind says what a stretch of a compressed file is.
type RegionKind uint8

// The kinds of region. Whole frames are decoded and verified; the others are damage.
const (
	WholeFrame RegionKind = iota
	ReservedFrame
	TornFrame
	DamagedFrame
	ChecksumFrame // only the stored checksum is damaged
	FlippedFrame  // one bit is wrong, and known
	SkippableFrame
	RawText
	Garbage
	NulBytes
)

// Region is a stretch of a compressed file: the regions follow each other without holes.
type Region struct {
	Kind     RegionKind
	Frame    int64 // number among the frames, from 1; 0 for what is none
	Off, Len int64
	Text     int64 // offset of its text in the part's text
	TextLen  int64 // known once its text was read
	Checksum bool
	Streamed bool  // the text is not in memory; read it with Stream
	Bit      int64 // FlippedFrame: the stored offset of the wrong byte, and which bit of it
	BitNo    uint
}

// Sound tells whether the client can read the region as it is.
func (g Region) Sound() bool { return g.Kind == WholeFrame }

// FrameWalker divides a compressed file into regions and decodes them.
type FrameWalker struct {
	r       io.ReaderAt
	size    int64
	off     int64
	frame   int64
	text    int64
	starts  [][]byte
	raw     []byte // raw[0] is the byte at rawOff
	rawOff  int64
	ahead   int // how many bytes were read at once last
	dec     *zstd.Decoder
	stream  *zstd.Decoder
	scratch []byte
	turned  int64 // spent of turnBudget
}

// NewFrameWalker walks the first size bytes of r. The starts tell raw records from garbage.
func NewFrameWalker(r io.ReaderAt, size int64, starts [][]byte) *FrameWalker {
	return &FrameWalker{r: r, size: size, starts: starts}
}

// Close ends the decoders.
func (w *FrameWalker) Close() {
	if w.dec != nil {
		w.dec.Close()
	}
	if w.stream != nil {
		w.stream.Close()
	}
}

// at returns n bytes at off, fewer at the end of the file; valid until the next call.
func (w *FrameWalker) at(off int64, n int) ([]byte, error) {
	n = int(min(int64(n), w.size-off))
	if n <= 0 {
		return nil, nil
	}
	lo := off - w.rawOff
	if lo >= 0 && lo+int64(n) <= int64(len(w.raw)) {
		return w.raw[lo : lo+int64(n)], nil
	}
	// The first frames may be all that is asked for, so it begins small.
	w.ahead = min(max(2*w.ahead, Window/16), Window/4)
	want := int(min(int64(max(n, w.ahead)), w.size-off))
	if cap(w.raw) < want {
		w.raw = make([]byte, want, want+want/4)
	}
	w.raw = w.raw[:want]
	got, err := w.r.ReadAt(w.raw, off)
	w.rawOff = off
	if got < want {
		w.raw = w.raw[:0]
		if err == nil || errors.Is(err, io.EOF) {
			err = ErrShrunk
		}
		return nil, fmt.Errorf("read at %d: %w", off+int64(got), err)
	}
	return w.raw[:n], nil
}

// Next appends the text of the next region to dst, unless it is Streamed. io.EOF ends the file.
func (w *FrameWalker) Next(dst []byte) (Region, []byte, error) {
	g, out, err := w.next(dst)
	if err != nil {
		return g, dst, err
	}
	if !g.Streamed {
		g.TextLen = int64(len(out) - len(dst))
		w.text += g.TextLen
	}
	w.off = g.Off + g.Len
	return g, out, nil
}

func (w *FrameWalker) next(dst []byte) (Region, []byte, error) {
	g := Region{Off: w.off, Text: w.text}
	if w.off == w.size {
		return g, dst, io.EOF
	}
	o, err := outlineAt(w, w.off, w.size)
	if err != nil {
		return g, dst, err
	}
	if o.shape == shapeWhole {
		g.Len, g.Checksum = o.end-w.off, o.checksum
		out, streamed, err := w.decode(dst, g, o)
		if err == nil {
			w.frame++
			g.Frame, g.Streamed = w.frame, streamed
			if o.reserved {
				g.Kind = ReservedFrame
			}
			return g, out, nil
		}
		var io *readError
		if errors.As(err, &io) {
			return g, dst, io.err
		}
	}
	if n, err := w.skippable(w.off); n > 0 || err != nil {
		g.Kind, g.Len = SkippableFrame, n
		return g, dst, err
	}
	to, err := w.resync(w.off + 1)
	if err != nil {
		return g, dst, err
	}
	g.Len = to - w.off
	return w.damaged(g, dst)
}

// decode appends the verified text of a whole frame, or only verifies it where that text is large.
func (w *FrameWalker) decode(dst []byte, g Region, o outline) (out []byte, streamed bool, err error) {
	if g.Len <= wholeFrame && o.content <= wholeText {
		raw, err := w.at(g.Off, int(g.Len))
		if err != nil {
			return dst, false, &readError{err}
		}
		if w.dec == nil {
			w.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(wholeText), zstd.WithDecoderMaxWindow(maxWindow))
			if err != nil {
				return dst, false, err
			}
		}
		keep := len(dst)
		if need := keep + int(o.content) + Pad; cap(dst) < need {
			dst = append(make([]byte, 0, need+need/2), dst...)
		}
		// One decode must not see the text in front of it as its own.
		text, err := w.dec.DecodeAll(raw, dst)
		if err == nil {
			return text, false, nil
		}
		if !errors.Is(err, zstd.ErrDecoderSizeExceeded) && !errors.Is(err, zstd.ErrWindowSizeExceeded) {
			return dst[:keep], false, err
		}
	}
	sr, err := w.Stream(g)
	if err != nil {
		return dst, false, err
	}
	_, err = io.Copy(io.Discard, sr)
	return dst, true, err
}

// Stream reads the text of a region that is Streamed.
func (w *FrameWalker) Stream(g Region) (io.Reader, error) {
	if g.Kind == RawText {
		return io.NewSectionReader(w.r, g.Off, g.Len), nil
	}
	if w.stream == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		w.stream = d
	}
	src := &sectionReader{io.NewSectionReader(w.r, g.Off, g.Len)}
	if err := w.stream.Reset(src); err != nil {
		return nil, err
	}
	return w.stream, nil
}

// Streamed is told how long the text of the last region was, which Next could not know.
func (w *FrameWalker) Streamed(n int64) { w.text += n }

// readError is trouble with the file, not with what stands in it.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }
func (e *readError) Unwrap() error { return e.err }

type sectionReader struct{ r *io.SectionReader }

func (s *sectionReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &readError{err}
	}
	return n, err
}

// skippable is the length of the skippable frame at off, 0 if there is none.
func (w *FrameWalker) skippable(off int64) (int64, error) {
	h, err := w.at(off, 8)
	if err != nil || len(h) < 8 || binary.LittleEndian.Uint32(h)&^0xF != skippableMagic {
		return 0, err
	}
	n := 8 + int64(binary.LittleEndian.Uint32(h[4:]))
	if off+n > w.size {
		return 0, nil
	}
	return n, nil
}

// EncodeFrame appends text as one frame with a checksum.
func EncodeFrame(dst, text []byte) []byte {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
	if err != nil {
		panic(err) // the options are constants
	}
	defer e.Close()
	return e.EncodeAll(text, dst)
}

// span is the place of a region in the file.
func (g Region) span() session.Span {
	return session.Span{Off: g.Off, Len: g.Len, Text: g.Text, TextLen: g.TextLen, Frame: g.Frame}
}
