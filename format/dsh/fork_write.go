package dsh

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/sessfix/sessfix/scan"
)

// logWriter writes a new log, plain or in frames: the header line alone in the first, everything else in one more. Its
// memory does not grow with the log.
type logWriter struct {
	w      io.Writer
	framed bool
	begun  bool // the header is written
	frame  *zstd.Encoder
}

func newLogWriter(w io.Writer, framed bool) (*logWriter, error) {
	l := &logWriter{w: w, framed: framed}
	if !framed {
		return l, nil
	}
	var err error
	l.frame, err = zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
	return l, err
}

// line writes a record and its newline. The first one is the header.
func (l *logWriter) line(raw []byte) error {
	if l.framed && !l.begun {
		l.begun = true
		_, err := l.w.Write(scan.EncodeFrame(nil, append(bytes.Clone(raw), '\n')))
		return err
	}
	if _, err := l.Write(raw); err != nil {
		return err
	}
	_, err := l.Write([]byte{'\n'})
	return err
}

// Write writes text behind the header.
func (l *logWriter) Write(text []byte) (int, error) {
	if l.framed {
		return l.frame.Write(text)
	}
	return l.w.Write(text)
}

// close ends the last frame. The writer below stays open.
func (l *logWriter) close() error {
	if l.framed {
		return l.frame.Close()
	}
	return nil
}

// jsonString writes a string as the client does.
func jsonString(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s) // a string cannot fail
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
