package cmd

import (
	"io"
	"os"

	"golang.org/x/term"
)

// IO is the world outside of the program.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	// OutTTY and ErrTTY tell whether they are terminals, Width how wide the first is.
	OutTTY, ErrTTY bool
	Width          int
	Env            func(string) string
}

// System is the process's own.
func System() IO {
	o := IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv}
	o.OutTTY = term.IsTerminal(int(os.Stdout.Fd()))
	o.ErrTTY = term.IsTerminal(int(os.Stderr.Fd()))
	if w, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
		o.Width = w
	}
	return o
}
