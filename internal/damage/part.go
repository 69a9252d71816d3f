package damage

import (
	"bytes"
	"fmt"

	"github.com/sessfix/sessfix/scan"
)

// Part is a file that is being broken: one stretch of plain text, or frames.
type Part struct {
	Packed bool
	Base   [][]byte // lines of the healthy session, without newline
	Gone   bool     // the file was taken away
	chunks []chunk
}

// chunk is a frame, or bytes that are none. Text is nil for bytes that are none in a packed part.
type chunk struct {
	raw, text []byte
	frame     bool
}

// NewPart takes a healthy session.
func NewPart(data []byte) (*Part, error) {
	p := &Part{}
	text := data
	if bytes.HasPrefix(data, []byte{0x28, 0xB5, 0x2F, 0xFD}) {
		p.Packed = true
		frames, err := Frames(data)
		if err != nil {
			return nil, err
		}
		text = nil
		for _, f := range frames {
			t, err := Unpack(f)
			if err != nil {
				return nil, err
			}
			p.chunks = append(p.chunks, chunk{raw: bytes.Clone(f), text: t, frame: true})
			text = append(text, t...)
		}
	} else {
		p.chunks = []chunk{{raw: bytes.Clone(data), text: bytes.Clone(data)}}
	}
	p.Base = bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	return p, nil
}

// Bytes is the file as it lies on disk.
func (p *Part) Bytes() []byte {
	if p.Gone {
		return nil
	}
	var out []byte
	for _, c := range p.chunks {
		out = append(out, c.raw...)
	}
	return out
}

// Text is what the file says, as far as its steps left that known.
func (p *Part) Text() []byte {
	var out []byte
	for _, c := range p.chunks {
		out = append(out, c.text...)
	}
	return out
}

// Lines are the physical lines of the text, without newlines.
func (p *Part) Lines() [][]byte {
	text := p.Text()
	if len(text) == 0 {
		return nil
	}
	return bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
}

// lineAt is the offset of a line in the text, and its length without newline.
func (p *Part) lineAt(n int) (off, length int, err error) {
	lines := p.Lines()
	if n < 1 || n > len(lines) {
		return 0, 0, fmt.Errorf("no line %d among %d", n, len(lines))
	}
	for _, l := range lines[:n-1] {
		off += len(l) + 1
	}
	return off, len(lines[n-1]), nil
}

// FrameOffset is where a frame begins in the file, and its length.
func (p *Part) FrameOffset(n int) (off, length int, err error) {
	i, err := p.frameIndex(n)
	if err != nil {
		return 0, 0, err
	}
	for _, c := range p.chunks[:i] {
		off += len(c.raw)
	}
	return off, len(p.chunks[i].raw), nil
}

func (p *Part) frameIndex(n int) (int, error) {
	k := 0
	for i, c := range p.chunks {
		if c.frame {
			if k++; k == n {
				return i, nil
			}
		}
	}
	return 0, fmt.Errorf("no frame %d among %d", n, k)
}

// frames is the number of frames.
func (p *Part) frames() int {
	k := 0
	for _, c := range p.chunks {
		if c.frame {
			k++
		}
	}
	return k
}

// splice changes text. In a packed part the one frame that holds the place is written again, its
// neighbours keep their bytes.
func (p *Part) splice(at, del int, ins []byte) error {
	for i := range p.chunks {
		c := &p.chunks[i]
		if c.text == nil {
			continue
		}
		last := true
		for _, d := range p.chunks[i+1:] {
			last = last && d.text == nil
		}
		if at > len(c.text) || at == len(c.text) && !last {
			at -= len(c.text)
			continue
		}
		if at+del > len(c.text) {
			return fmt.Errorf("%d bytes at %d of a frame reach into the next", del, at)
		}
		c.text = bytes.Join([][]byte{c.text[:at], ins, c.text[at+del:]}, nil)
		c.raw = c.text
		if c.frame {
			c.raw = scan.EncodeFrame(nil, c.text)
		}
		return nil
	}
	return fmt.Errorf("no text at %d", at)
}

// store changes stored bytes. What a frame says is not known any more when it was changed inside.
func (p *Part) store(at, del int, ins []byte) error {
	for i := range p.chunks {
		c := &p.chunks[i]
		if at > len(c.raw) || at == len(c.raw) && i < len(p.chunks)-1 {
			at -= len(c.raw)
			continue
		}
		here := min(del, len(c.raw)-at)
		if here == 0 && len(ins) > 0 && at == len(c.raw) && p.Packed {
			p.chunks = append(p.chunks, chunk{raw: bytes.Clone(ins)})
			return nil
		}
		c.raw = bytes.Join([][]byte{c.raw[:at], ins, c.raw[at+here:]}, nil)
		if !p.Packed {
			c.text = c.raw
		} else {
			c.text = nil
		}
		if del > here {
			return p.cutFront(i+1, del-here)
		}
		return nil
	}
	return fmt.Errorf("no byte at %d", at)
}

// cutFront removes n bytes from chunk i on.
func (p *Part) cutFront(i, n int) error {
	for ; i < len(p.chunks) && n > 0; i++ {
		c := &p.chunks[i]
		k := min(n, len(c.raw))
		c.raw, c.text = c.raw[k:], nil
		n -= k
	}
	if n > 0 {
		return fmt.Errorf("%d bytes too few", n)
	}
	return nil
}

// cut ends the file at an offset. Frames that stay whole keep their text.
func (p *Part) cut(at int) {
	for i := range p.chunks {
		c := &p.chunks[i]
		if at >= len(c.raw) {
			at -= len(c.raw)
			continue
		}
		if at == 0 && p.Packed {
			p.chunks = p.chunks[:i]
			return
		}
		c.raw = c.raw[:at]
		c.text = nil
		if !p.Packed {
			c.text = c.raw
		}
		p.chunks = p.chunks[:i+1]
		return
	}
}
