package store

import (
	"bytes"
	"context"
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
	near := min(size, peekBytes)
	if med == scan.Frames {
		w := scan.NewFrameWalker(r, near, nil)
		g, text, err := w.Next(nil)
		w.Close()
		if err == nil && !g.Streamed {
			p.Line = firstLine(text)
		}
	} else {
		head := make([]byte, min(size, peekLine))
		if n, err := r.ReadAt(head, 0); err == nil || errors.Is(err, io.EOF) {
			p.Line = firstLine(head[:n])
		}
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

func firstLine(b []byte) []byte {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b = b[:i]
	}
	return bytes.Clone(b[:min(len(b), peekLine)])
}
