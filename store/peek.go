package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

const (
	peekLine  = 64 << 10
	peekBytes = 4 << 20
)

var zstdMagic = []byte{0x28, 0xB5, 0x2F, 0xFD}

// medium tells how a file is stored: by its first bytes, else by its name.
func medium(path string, mark []byte) string {
	if len(mark) >= 4 && bytes.Equal(mark[:4], zstdMagic) {
		return scan.Frames
	}
	if strings.HasSuffix(path, ".zst") || strings.HasSuffix(path, ".zstd") {
		return scan.Frames
	}
	return scan.Lines
}

// peek reads the first line and the first whole record of a file.
func peek(ctx context.Context, path string, r io.ReaderAt, size int64) (format.Peek, string, error) {
	p := format.Peek{Path: path}
	mark := make([]byte, 4)
	n, err := r.ReadAt(mark, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return p, "", err
	}
	med := medium(path, mark[:n])
	near, text := min(size, peekBytes), []byte(nil)
	if med == scan.Frames {
		// Damage is judged by what follows it: the file must not seem to end where the peek does.
		near, text = size, firstText(r, size)
	} else {
		text = make([]byte, min(size, peekLine))
		n, err := r.ReadAt(text, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return p, med, err
		}
		text = text[:n]
	}
	p.Line = firstLine(text)
	if json.Valid(p.Line) && len(p.Line) < len(text) && bytes.HasPrefix(bytes.TrimLeft(p.Line, " \t"), []byte("{")) {
		p.First, p.FirstLine = p.Line, true
		return p, med, ctx.Err()
	}
	s, err := scan.New(ctx, r, near, scan.Options{Medium: med, Framing: session.Framing{Keys: []string{"type"}}})
	if err != nil {
		return p, med, err
	}
	if s.Next() {
		p.First, p.FirstLine = bytes.Clone(s.Record().Raw), s.Record().Logical == 1
	}
	if err := s.Err(); err != nil && ctx.Err() != nil {
		return p, med, err
	}
	return p, med, nil
}

// firstText is the text of the first frames, up to the first newline.
func firstText(r io.ReaderAt, size int64) []byte {
	w := scan.NewFrameWalker(r, size, nil)
	defer w.Close()
	var text []byte
	for len(text) < peekBytes && bytes.IndexByte(text, '\n') < 0 {
		g, out, err := w.Next(text)
		if err != nil || g.Streamed || !g.Sound() {
			break
		}
		text = out
	}
	return text
}

func firstLine(b []byte) []byte {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b = b[:i]
	}
	return bytes.Clone(b[:min(len(b), peekLine)])
}
