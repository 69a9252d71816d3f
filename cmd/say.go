package cmd

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"github.com/sessfix/sessfix/report"
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

// flagError takes the words of the number parser out of an error about a flag.
func flagError(err error) error {
	text := err.Error()
	for _, parser := range []string{"strconv.ParseInt: ", "strconv.ParseBool: ", "strconv.ParseUint: "} {
		if i := strings.Index(text, parser); i >= 0 {
			return errors.New(text[:i] + "it is not of the right kind")
		}
	}
	return err
}

// shellWord quotes a path so that it can be pasted into a shell.
func shellWord(path string) string {
	if strings.HasPrefix(path, "-") && path != "-" {
		path = "./" + path
	}
	plain := path != ""
	for _, r := range path {
		plain = plain && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:,@%", r))
	}
	if plain {
		return path
	}
	if report.Safe(path) != path {
		return "$'" + strings.ReplaceAll(report.Safe(path), "'", `\'`) + "'"
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
