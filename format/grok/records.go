package grok

import (
	"bytes"
	"context"
	"io"
	"io/fs"

	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// background is for short looks at files beside.
var background = context.Background()

// beside reads the records of another file of the session.
func beside(dir fs.FS, name string, each func(f *fields)) bool {
	return besideAt(dir, name, func(f *fields, _, _ int64) { each(f) })
}

// besideAt tells where they stand as well.
func besideAt(dir fs.FS, name string, each func(f *fields, at, end int64)) bool {
	f := &fields{}
	return records(dir, name, 0, -1, keys[:], func(r *session.Record) {
		f.set(r.Raw, r.Caps)
		each(f, r.Text, r.TextEnd())
	})
}

// recordsIn reads, whole, those that stand in a range.
func recordsIn(dir fs.FS, name string, from, to int64, each func(raw []byte)) bool {
	return records(dir, name, from, to, keys[:1], func(r *session.Record) { each(r.Raw) })
}

// open opens another file of the session, where there is one. What is no regular file is not opened: that could take for ever.
func open(dir fs.FS, name string) (r io.ReaderAt, size int64, done func() error, ok bool) {
	if dir == nil {
		return nil, 0, nil, false
	}
	fi, err := fs.Stat(dir, name)
	if err != nil || !fi.Mode().IsRegular() {
		return nil, 0, nil, false
	}
	file, err := dir.Open(name)
	if err != nil {
		return nil, 0, nil, false
	}
	if r, ok = file.(io.ReaderAt); !ok {
		file.Close()
	}
	return r, fi.Size(), file.Close, ok
}

// records reads another file of the session, up to a place, or its end where that is -1.
func records(dir fs.FS, name string, from, to int64, keys []string, each func(r *session.Record)) bool {
	r, size, done, ok := open(dir, name)
	if !ok {
		return false
	}
	defer done()
	if to < 0 {
		to = size
	}
	s, err := scan.New(background, io.NewSectionReader(r, from, to-from), to-from, scan.Options{Medium: scan.Lines, Framing: session.Framing{Keys: keys}})
	if err != nil {
		return false
	}
	for s.Next() {
		each(s.Record())
	}
	return s.Err() == nil
}

// maxDamaged bounds damaged bytes that are looked into.
const maxDamaged = 1 << 20

// bytesAt reads the bytes of a file, or the first of them.
func bytesAt(dir fs.FS, name string, at session.Span) []byte {
	r, _, done, ok := open(dir, name)
	if !ok {
		return nil
	}
	defer done()
	data := make([]byte, min(at.TextLen, maxDamaged))
	n, _ := r.ReadAt(data, at.Text)
	return data[:n]
}

// recordAt takes apart the one that stands at a place.
func recordAt(dir fs.FS, name string, at session.Span) (f *fields, ok bool) {
	f = &fields{}
	records(dir, name, at.Text, at.TextEnd(), keys[:], func(r *session.Record) {
		f.set(bytes.Clone(r.Raw), r.Caps)
		ok = true
	})
	return f, ok
}
