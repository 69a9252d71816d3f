package scan

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/session"
)

// framed is the text of a compressed file.
type framed struct {
	w        *FrameWalker
	framing  session.Framing
	regions  []Region // those whose text may still be asked for
	at       int      // where the last span was found
	stream   io.Reader
	streamed Region
	found    []finding.Finding
	unsure   int // index+1 of the finding about frames without checksum
	header   bool
	done     bool
}

func newFramed(r io.ReaderAt, size int64, f session.Framing) *framed {
	return &framed{w: NewFrameWalker(r, size, f.Starts), framing: f}
}

func (f *framed) findings() []finding.Finding {
	out := f.found
	f.found = nil
	return out
}

// fill appends the text of the next frames, about half a window of it.
func (f *framed) fill(dst []byte) ([]byte, error) {
	begin := len(dst)
	f.forget(f.w.text - int64(begin))
	for len(dst)-begin < Window/4 {
		if f.stream != nil {
			return f.read(dst)
		}
		if f.done {
			break
		}
		g, out, err := f.w.Next(dst)
		if errors.Is(err, io.EOF) {
			f.done = true
			f.w.Close()
			break
		}
		if err != nil {
			return dst, err
		}
		f.judge(g, out[len(dst):])
		f.regions = append(f.regions, g)
		dst = out
		if g.Streamed {
			if f.stream, err = f.w.Stream(g); err != nil {
				return dst, err
			}
			f.streamed = g
		}
	}
	if len(dst) == begin {
		return dst, io.EOF
	}
	return dst, nil
}

// read appends a piece of a streamed region.
func (f *framed) read(dst []byte) ([]byte, error) {
	if cap(dst)-len(dst) < Window/2+Pad {
		dst = append(make([]byte, 0, 2*len(dst)+Window), dst...)
	}
	n, err := io.ReadFull(f.stream, dst[len(dst):len(dst)+Window/2])
	dst = dst[:len(dst)+n]
	g := &f.regions[len(f.regions)-1]
	g.TextLen += int64(n)
	f.w.Streamed(int64(n))
	if err == nil {
		return dst, nil
	}
	f.stream = nil
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if n == 0 {
			return f.fill(dst)
		}
		return dst, nil
	}
	return dst, fmt.Errorf("decompress frame %d at %d: %w", g.Frame, g.Off, err)
}

// forget drops the regions whose text lies in front of low: it is no longer in the window.
func (f *framed) forget(low int64) {
	n := 0
	for n+1 < len(f.regions) && f.regions[n].Text+f.regions[n].TextLen <= low {
		n++
	}
	if n > 64 {
		f.regions = append(f.regions[:0], f.regions[n:]...)
		f.at = max(f.at-n, 0)
	}
}

// place fills in the frame in which a span of text lies, and the stored bytes of all frames
// that it touches.
func (f *framed) place(sp *session.Span) {
	i := f.at
	for i > 0 && f.regions[i].Text > sp.Text {
		i--
	}
	for i+1 < len(f.regions) && f.regions[i].Text+f.regions[i].TextLen <= sp.Text {
		i++
	}
	f.at = i
	if i >= len(f.regions) {
		return
	}
	g := f.regions[i]
	sp.Line, sp.Frame, sp.Off = 0, g.Frame, g.Off
	end := g.Off + g.Len
	for i+1 < len(f.regions) && f.regions[i+1].Text < sp.TextEnd() {
		i++
		end = f.regions[i].Off + f.regions[i].Len
	}
	sp.Len = end - sp.Off
}

// judge reports what is wrong with a region.
func (f *framed) judge(g Region, text []byte) {
	add := func(code finding.Code, message string) *finding.Finding {
		n := finding.New(code)
		n.Span = g.span()
		n.Message = message
		n.Where = "mid"
		if g.Off+g.Len == f.w.size {
			n.Where = "tail"
		}
		f.found = append(f.found, n)
		return &f.found[len(f.found)-1]
	}
	if g.Kind == WholeFrame && g.Checksum && (f.header || !f.framing.HeaderFrame) {
		return
	}
	lines := int64(bytes.Count(text, []byte{'\n'}))
	switch g.Kind {
	case WholeFrame:
		if !g.Checksum && f.unsure == 0 {
			f.unsure = 1
			add(finding.FrameUnverifiable, "frames without checksum, from this one on: damage inside them may go unnoticed")
		}
	case ReservedFrame:
		n := add(finding.FrameHeader, "reserved bits are set in the frame's descriptor")
		n.Reframe, n.Recoverable, n.Where = true, lines, "turned"
	case TornFrame:
		n := add(finding.TornFrame, fmt.Sprintf("%d bytes of an incomplete frame, %d whole lines still decode", g.Len, lines))
		n.Reframe, n.Recoverable = true, lines
	case DamagedFrame:
		add(finding.FrameChecksum, fmt.Sprintf("the frame's %d bytes fail their check; what they decode to cannot be trusted", g.Len)).Reframe = true
	case ChecksumFrame:
		n := add(finding.FrameChecksum, fmt.Sprintf("a byte of the frame's checksum is wrong; its %d lines are sound", lines))
		n.Reframe, n.Recoverable, n.Where = true, lines, "turned"
		n.Off, n.Len = g.Off+g.Len-4, 4
	case FlippedFrame:
		n := add(finding.FrameChecksum, fmt.Sprintf("bit %d of the byte at %d is wrong: with it turned back the frame passes its check, and its %d lines are sound", g.BitNo, g.Bit, lines))
		n.Reframe, n.Recoverable, n.Where = true, lines, "turned"
	case SkippableFrame:
		n := add(finding.FrameSkippable, fmt.Sprintf("a skippable frame of %d bytes", g.Len))
		if !f.framing.Skippable {
			n.Severity, n.Cure, n.Reframe = finding.Error, finding.Auto, true
		}
	case RawText:
		n := add(finding.RawAfterFrame, fmt.Sprintf("%d bytes of plain text where a compressed frame belongs", g.Len))
		n.Reframe = true
		if g.Off == 0 {
			n.Where = "first"
		}
	case Garbage:
		add(finding.FrameGarbage, fmt.Sprintf("%d bytes that belong to no frame", g.Len)).Reframe = true
	case NulBytes:
		code := finding.FrameGarbage
		if g.Off+g.Len == f.w.size {
			code = finding.NulTail
		}
		n := add(code, fmt.Sprintf("%d NUL bytes where a frame belongs", g.Len))
		n.Reframe, n.Where = true, "framed"
	}
	if f.framing.HeaderFrame && !f.header && (g.Kind == WholeFrame || g.Kind == FlippedFrame || g.Kind == ChecksumFrame || g.Kind == ReservedFrame) && (len(text) > 0 || g.Streamed) {
		f.header = true
		if g.Streamed || lines != 1 || text[len(text)-1] != '\n' {
			n := add(finding.HeaderFrame, fmt.Sprintf("the first frame holds %d lines, not the header line alone", lines))
			if g.Streamed {
				n.Message = "the first frame holds more than the header line"
			}
			n.Reframe = true
		}
	}
}
