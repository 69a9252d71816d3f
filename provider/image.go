package provider

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // the four kinds of image that the provider takes
	_ "image/jpeg" //
	_ "image/png"  //
	"io"
	"strings"

	_ "golang.org/x/image/webp"
)

// Limits of an image, as the documentation of the Messages API gives them.
const (
	MaxImage    = 5 << 20 // bytes of base64
	MaxPixels   = 8000    // of a side
	MaxOfMany   = 2000    // of a side, in a request with more than ManyImages
	ManyImages  = 20
	sniffedHead = 256 << 10 // bytes of base64 that are looked at for an image's size
)

// Picture is what the head of an image says of it.
type Picture struct {
	Width, Height int    // in pixels, 0 where it does not say
	Fault         string // why the provider cannot read it, empty where it can
}

// Look reads the head of an image: its base64 as it stands in the record, and the type that the record gives it.
func Look(data, media []byte) Picture {
	if len(data) == 0 {
		return Picture{Fault: "it is empty"}
	}
	head := data[:min(len(data), sniffedHead)]
	conf, kind, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(head)))
	switch {
	case errors.Is(err, image.ErrFormat) && bytes.IndexByte(head, '\\') < 0:
		return Picture{Fault: "its bytes are no image"}
	case errors.Is(err, io.ErrUnexpectedEOF) && len(head) == len(data):
		return Picture{Fault: "its head is cut"}
	case err != nil:
		return Picture{} // what says its size stands further on, or it is of a rare kind
	}
	p := Picture{Width: conf.Width, Height: conf.Height}
	if said, ok := strings.CutPrefix(string(media), "image/"); ok && said != kind {
		p.Fault = fmt.Sprintf("it is called image/%.20s and is image/%s", said, kind)
	}
	return p
}

// Breaks are the rules that an image breaks: ImageSize, ImagePixels, ImageData, and ImageMany, which counts only
// in a request with more than ManyImages.
func (p Picture) Breaks(size int64) (rules [4]Rule, n int) {
	add := func(rule Rule, broken bool) {
		if broken {
			rules[n] = rule
			n++
		}
	}
	side := max(p.Width, p.Height)
	add(ImageSize, size > MaxImage)
	add(ImageData, p.Fault != "")
	add(ImagePixels, side > MaxPixels)
	add(ImageMany, side > MaxOfMany && side <= MaxPixels)
	return rules, n
}
