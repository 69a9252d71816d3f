package edit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/scan"
)

// lowering turns edits of text into stored pieces: regions that nothing touches are copied as
// they are, a touched one is written again, and all that is inserted behind the text shares one
// frame.
type lowering struct {
	plan    *Plan
	r       *Result
	edits   []Edit
	reframe []Reframe
	fresh   []byte // text waiting for a frame
}

func (p *Plan) applyFramed(src io.ReaderAt, size int64) (*Result, error) {
	l := &lowering{plan: p, r: &Result{src: src, Account: Account{Size: size}}, edits: slices.Clone(p.Edits), reframe: p.Reframe}
	w := scan.NewFrameWalker(src, size, p.Starts)
	defer w.Close()
	var text []byte
	for {
		g, out, err := w.Next(text[:0])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if g.Streamed {
			err = l.streamed(w, &g)
		} else {
			text = out
			l.region(g, text)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, e := range l.edits {
		if e.Del > 0 {
			return nil, fmt.Errorf("edit at %d outside of the text: %w", e.At, ErrConflict)
		}
		l.fresh = append(l.fresh, e.Ins...)
	}
	l.flush()
	return l.r, nil
}

// region copies one region or writes it again.
func (l *lowering) region(g scan.Region, text []byte) {
	codes, again := l.marked(g)
	if !again && !l.touches(g) && !l.shortHeader(g, text) {
		l.flush()
		l.r.keep(g.Off, g.Len)
		return
	}
	before := len(l.fresh)
	var removed []Removed
	l.fresh, removed, codes = l.edited(l.fresh, g, text, codes)
	kept := len(l.fresh) > before
	r := Removed{Off: g.Off, Len: g.Len, Frame: g.Frame, Codes: codes}
	// A frame that cannot be read as it is, or of which nothing stays, goes whole.
	r.Aside, r.Again = !g.Sound() && g.Kind != scan.RawText || !kept, kept
	l.r.take(g.Len, r.Aside)
	l.r.Removed = append(l.r.Removed, r)
	if kept {
		l.r.Removed = append(l.r.Removed, removed...)
	}
}

// marked tells whether the region is to be written again whatever happens to its text.
func (l *lowering) marked(g scan.Region) (codes []finding.Code, again bool) {
	for len(l.reframe) > 0 && l.reframe[0].Off < g.Off+g.Len {
		if l.reframe[0].Off >= g.Off {
			again, codes = true, merge(codes, l.reframe[0].Cures)
		}
		l.reframe = l.reframe[1:]
	}
	return codes, again
}

// touches tells whether an edit changes the region's text. What is inserted exactly between
// two regions belongs to the later one.
func (l *lowering) touches(g scan.Region) bool {
	return g.TextLen > 0 && len(l.edits) > 0 && l.edits[0].At < g.Text+g.TextLen
}

// shortHeader tells whether the header line is still incomplete in front of this region.
func (l *lowering) shortHeader(g scan.Region, text []byte) bool {
	return l.plan.HeaderFrame && len(l.fresh) > 0 && l.r.size == 0 && !bytes.Contains(l.fresh, []byte{'\n'})
}

// edited appends the region's text after its edits to dst.
func (l *lowering) edited(dst []byte, g scan.Region, text []byte, codes []finding.Code) ([]byte, []Removed, []finding.Code) {
	var removed []Removed
	at, end := g.Text, g.Text+int64(len(text))
	for len(l.edits) > 0 && l.edits[0].At < end {
		e := &l.edits[0]
		if e.At > at {
			dst = append(dst, text[at-g.Text:e.At-g.Text]...)
			at = e.At
		}
		codes = merge(codes, e.Cures)
		stop := min(e.end(), end)
		if stop > at {
			removed = append(removed, Removed{
				Off: g.Off, Len: 0, Frame: g.Frame, Text: at, Codes: e.Cures, Aside: e.Aside,
				Data: bytes.Clone(text[at-g.Text : stop-g.Text]),
			})
		}
		at = max(at, stop)
		dst = append(dst, e.Text()...)
		if e.end() > end {
			// The rest of a cut lies in the next region.
			*e = Edit{At: end, Del: e.end() - end, Rank: e.Rank, Cures: e.Cures, Aside: e.Aside}
			break
		}
		l.edits = l.edits[1:]
	}
	if at < end {
		dst = append(dst, text[at-g.Text:]...)
	}
	return dst, removed, codes
}

// flush writes the waiting text as one frame, the header line in one of its own.
func (l *lowering) flush() {
	if len(l.fresh) == 0 {
		return
	}
	if l.plan.HeaderFrame && l.r.size == 0 {
		if i := bytes.IndexByte(l.fresh, '\n'); i >= 0 && i+1 < len(l.fresh) {
			l.r.put(scan.EncodeFrame(nil, l.fresh[:i+1]))
			l.fresh = l.fresh[i+1:]
		}
	}
	l.r.put(scan.EncodeFrame(nil, l.fresh))
	l.fresh = nil
}

// streamed handles a region whose text does not fit into memory.
func (l *lowering) streamed(w *scan.FrameWalker, g *scan.Region) error {
	codes, again := l.marked(*g)
	in, err := w.Stream(*g)
	if err != nil {
		return err
	}
	n, err := io.Copy(io.Discard, in)
	if err != nil {
		return fmt.Errorf("decompress frame %d at %d: %w", g.Frame, g.Off, err)
	}
	g.TextLen = n
	w.Streamed(n)
	if !again && !l.touches(*g) {
		l.flush()
		l.r.keep(g.Off, g.Len)
		return nil
	}
	if in, err = w.Stream(*g); err != nil {
		return err
	}
	l.flush()
	var packed bytes.Buffer
	enc, err := zstd.NewWriter(&packed, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
	if err != nil {
		return err
	}
	defer enc.Close()
	r := Removed{Off: g.Off, Len: g.Len, Frame: g.Frame, Codes: codes, Again: true}
	var inside []Removed
	buf := make([]byte, scan.Window)
	part := *g
	for {
		k, err := io.ReadFull(in, buf)
		part.TextLen = int64(k)
		var out []byte
		var rem []Removed
		out, rem, r.Codes = l.edited(nil, part, buf[:k], r.Codes)
		inside = append(inside, rem...)
		if l.plan.HeaderFrame && l.r.size == 0 {
			if i := bytes.IndexByte(out, '\n'); i >= 0 {
				l.r.put(scan.EncodeFrame(nil, out[:i+1]))
				out = out[i+1:]
			}
		}
		if _, err := enc.Write(out); err != nil {
			return err
		}
		part.Text += int64(k)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("decompress frame %d at %d: %w", g.Frame, g.Off, err)
		}
	}
	if err := enc.Close(); err != nil {
		return err
	}
	l.r.put(packed.Bytes())
	l.r.take(g.Len, false)
	l.r.Removed = append(append(l.r.Removed, r), inside...)
	return nil
}
