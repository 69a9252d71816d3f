package export

import (
	"strconv"

	"github.com/sessfix/sessfix/format"
)

// Limits on what the page holds of one text and of one image.
const (
	mostText  = 256 << 10
	mostImage = 4 << 20
)

// Flags of a message and of a block in the page.
const (
	toldStands = 1 << iota
	toldCopy
)

const (
	blockFailed = 1 << iota
	blockMadeUp
	blockSealed
	blockCut   // there is more of the text
	blockInner // it is a piece of the result in front of it
)

// shownImages are the images that the page shows.
var shownImages = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// told writes what the record says. A message is: role, audience, flags, title, model, and its blocks, in which a block is: kind,
// flags, bytes, text or the beginning of its hash, name of a tool, media type, data of an image.
func (w *pageRows) told(b []byte, e *Entry) []byte {
	if len(e.Messages) == 0 {
		return append(b, ",0"...)
	}
	b = append(b, ",["...)
	for i := range e.Messages {
		m := &e.Messages[i]
		if i > 0 {
			b = append(b, ',')
		}
		flags := int64(0)
		if m.Stands {
			flags |= toldStands
		}
		if m.Copy {
			flags |= toldCopy
		}
		b = append(b, '[')
		b = strconv.AppendInt(b, int64(m.Role), 10)
		b = strconv.AppendInt(append(b, ','), int64(m.For), 10)
		b = strconv.AppendInt(append(b, ','), flags, 10)
		b = appendID(b, m.Title)
		b = appendID(b, m.Model)
		for k := range m.Blocks {
			b = w.block(b, &m.Blocks[k], 0)
		}
		b = append(b, ']')
	}
	return append(b, ']')
}

// block writes a block, and behind it the pieces of which it is made.
func (w *pageRows) block(b []byte, x *format.Block, flags int64) []byte {
	text := x.Text
	switch {
	case len(x.Input) > 0:
		text = string(x.Input)
	case text == "" && x.Data != "":
		text = x.Data
	case text == "" && x.URL != "":
		text = x.URL
	}
	if x.Failed {
		flags |= blockFailed
	}
	if x.MadeUp {
		flags |= blockMadeUp
	}
	if x.Sealed {
		flags |= blockSealed
	}
	image := w.o.Content && shownImages[x.Media] && x.Data != "" && len(x.Data) <= mostImage
	said, bytes := "", int64(len(text))
	switch {
	case !w.o.Content:
		if text != "" {
			said = shortHash(text)
		}
	case x.Data != "" && text == x.Data:
	case len(text) > mostText:
		said = text[:mostText]
		flags |= blockCut
	default:
		said = text
	}
	b = append(b, ",["...)
	b = strconv.AppendInt(b, int64(x.Kind), 10)
	b = strconv.AppendInt(append(b, ','), flags, 10)
	b = strconv.AppendInt(append(b, ','), bytes, 10)
	b = appendID(b, said)
	b = appendID(b, x.Name)
	b = appendID(b, x.Media)
	if image {
		b = appendID(b, x.Data)
	}
	b = append(b, ']')
	for i := range x.Content {
		b = w.block(b, &x.Content[i], blockInner)
	}
	return b
}
