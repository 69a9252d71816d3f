package provider

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"
)

// pngHead is the head of a PNG of any size, with nothing behind it.
func pngHead(w, h uint32) []byte {
	chunk := []byte("IHDR")
	chunk = binary.BigEndian.AppendUint32(chunk, w)
	chunk = binary.BigEndian.AppendUint32(chunk, h)
	chunk = append(chunk, 8, 2, 0, 0, 0)
	out := binary.BigEndian.AppendUint32([]byte("\x89PNG\r\n\x1a\n"), uint32(len(chunk)-4))
	return binary.BigEndian.AppendUint32(append(out, chunk...), crc32.ChecksumIEEE(chunk))
}

func TestLook(t *testing.T) {
	dot := image.NewGray(image.Rect(0, 0, 3, 2))
	var p, j, g bytes.Buffer
	for _, err := range []error{png.Encode(&p, dot), jpeg.Encode(&j, dot, nil), gif.Encode(&g, dot, nil)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	late := bytes.Clone(j.Bytes()[:2])
	for range 5 { // the size stands behind 300 KB of remarks
		late = append(late, 0xFF, 0xFE, 0xF0, 0x00)
		late = append(late, bytes.Repeat([]byte{' '}, 0xF000-2)...)
	}
	late = append(late, j.Bytes()[2:]...)
	for _, c := range []struct {
		name, media string
		data        []byte
		w, h        int
		fault       string
	}{
		{"png", "image/png", p.Bytes(), 3, 2, ""},
		{"jpeg", "image/jpeg", j.Bytes(), 3, 2, ""},
		{"gif", "image/gif", g.Bytes(), 3, 2, ""},
		{"no type", "", g.Bytes(), 3, 2, ""},
		{"wrong type", "image/jpeg", p.Bytes(), 3, 2, "is image/png"},
		{"cut behind the head", "image/png", p.Bytes()[:p.Len()-20], 3, 2, ""},
		{"cut in the head", "image/png", p.Bytes()[:20], 0, 0, "cut"},
		{"empty", "image/png", nil, 0, 0, "empty"},
		{"no image", "image/png", []byte("<html>"), 0, 0, "no image"},
		{"size far behind", "image/jpeg", late, 0, 0, ""},
		{"large", "image/png", pngHead(9000, 10), 9000, 10, ""},
	} {
		got := Look([]byte(base64.StdEncoding.EncodeToString(c.data)), []byte(c.media))
		if got.Width != c.w || got.Height != c.h || (c.fault == "") != (got.Fault == "") || !strings.Contains(got.Fault, c.fault) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	if got := Look([]byte(`iVBORw0K\/`), []byte("image/png")); got.Fault != "" {
		t.Errorf("escaped base64 is judged: %+v", got)
	}
}

func TestBreaks(t *testing.T) {
	for _, c := range []struct {
		p    Picture
		size int64
		want []Rule
	}{
		{Picture{Width: MaxPixels, Height: 1}, MaxImage, []Rule{ImageMany}},
		{Picture{Width: MaxOfMany, Height: 1}, 1, nil},
		{Picture{Width: 1, Height: MaxPixels + 1}, MaxImage + 1, []Rule{ImageSize, ImagePixels}},
		{Picture{Fault: "it is empty"}, 0, []Rule{ImageData}},
	} {
		rules, n := c.p.Breaks(c.size)
		if !slices.Equal(rules[:n], c.want) {
			t.Errorf("%+v: %v", c.p, rules[:n])
		}
		for _, r := range rules[:n] {
			if b := (Block{Kind: Image, Look: c.p, Size: c.size}); b.wrong(r) == "" {
				t.Errorf("%s says nothing", r)
			}
		}
	}
	if got := Check(nil, User, []Block{{Kind: Image, Inner: true, Look: Picture{Width: MaxPixels + 1}}, {Kind: Result}}); len(got) != 1 || got[0].Rule != ImagePixels {
		t.Errorf("an image inside a result stands in front of the next one: %v", got)
	}
}
