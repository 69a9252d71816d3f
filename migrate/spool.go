package migrate

import (
	"bufio"
	"io"
	"os"

	"github.com/sessfix/sessfix/scan"
)

// spool is a private file that holds what a chain wrote, until it is published.
type spool struct {
	f    *os.File
	size int64
}

func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", "sessfix-migrate-")
	if err != nil {
		return nil, err
	}
	return &spool{f: f}, nil
}

// Close takes the file away.
func (s *spool) Close() {
	s.f.Close()
	os.Remove(s.f.Name())
}

// Size is how many bytes it holds.
func (s *spool) Size() int64 { return s.size }

// ReadAt reads them.
func (s *spool) ReadAt(b []byte, off int64) (int, error) { return s.f.ReadAt(b, off) }

// fill writes the spool.
func (s *spool) fill(write func(w io.Writer) error) error {
	w := bufio.NewWriterSize(s.f, 256<<10)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fi, err := s.f.Stat()
	if err != nil {
		return err
	}
	s.size = fi.Size()
	return nil
}

// frameText is how much text goes into one frame.
const frameText = 1 << 20

// framed writes text as compressed frames that end with a line, the first line in one of its own where the format wants that.
func framed(w io.Writer, text io.Reader, headerFrame bool) error {
	in := bufio.NewReaderSize(text, 256<<10)
	var lines, packed []byte
	flush := func() error {
		if len(lines) == 0 {
			return nil
		}
		packed = scan.EncodeFrame(packed[:0], lines)
		lines = lines[:0]
		_, err := w.Write(packed)
		return err
	}
	for first := true; ; {
		part, err := in.ReadSlice('\n')
		lines = append(lines, part...)
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF:
			return flush()
		case err != nil:
			return err
		}
		if first && headerFrame || len(lines) >= frameText {
			if err := flush(); err != nil {
				return err
			}
		}
		first = false
	}
}
