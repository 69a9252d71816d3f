package verify

import (
	"errors"
	"fmt"
	"io"

	"github.com/sessfix/sessfix/format"
)

// maxDocument bounds a file that is looked at as a whole.
const maxDocument = 64 << 20

// ErrTooLarge is returned for a document that is not looked at for its size.
var ErrTooLarge = errors.New("too large for a file of its kind")

// document judges a file that is one JSON document and no log.
func document(in Input, res *Result, d format.Document) error {
	if in.Size > maxDocument {
		return fmt.Errorf("%s: %d bytes: %w", in.Path, in.Size, ErrTooLarge)
	}
	data := make([]byte, in.Size)
	if n, err := in.R.ReadAt(data, 0); err != nil && (err != io.EOF || n < len(data)) {
		return fmt.Errorf("%s: at %d: %w", in.Path, n, err)
	}
	res.Text = in.Size
	res.Findings = d.Judge(data, format.Around{Path: in.Place, Dir: in.Dir, Missing: in.Missing})
	res.Findings = append(res.Findings, in.Around...)
	settle(in, res)
	return nil
}
