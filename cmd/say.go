package cmd

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"syscall"
)

// sayError makes an error fit for users: no bare words of the runtime.
func sayError(err error) string {
	text := err.Error()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		text = strings.ReplaceAll(text, "no such file or directory", "no such file")
	case errors.Is(err, io.ErrUnexpectedEOF):
		text = strings.ReplaceAll(text, "unexpected EOF", "the file ends too early")
	case errors.Is(err, syscall.EISDIR):
		text = strings.ReplaceAll(text, "is a directory", "is a directory, not a file")
	}
	return text
}
