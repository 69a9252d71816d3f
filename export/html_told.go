package export

import (
	"strconv"
	"unicode/utf8"

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
	blockCut    // there is more of the text
	blockInner  // it is a piece of the result in front of it
	blockHidden // a hash stands in the place of the text
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
	said, bytes := text, int64(len(text))
	content := w.o.Content
	if size := min(bytes, mostText); content && size > *w.said {
		content = false
		w.hid += bytes
	}
	image := content && shownImages[x.Media] && x.Data != "" && len(x.Data) <= mostImage && int64(len(x.Data)) <= *w.said
	switch {
	case text == "":
	case !content:
		said = shortHash(text)
		flags |= blockHidden
	case text == x.Data:
		said = ""
	case bytes > mostText:
		end := mostText
		for end > mostText-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		said = text[:end]
		flags |= blockCut
	}
	if content {
		*w.said -= int64(len(said))
	}
	if image {
		*w.said -= int64(len(x.Data))
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
