package cmd

import (
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// IO is the world outside of the program.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	// OutTTY and ErrTTY tell whether they are terminals.
	OutTTY, ErrTTY bool
	Env            func(string) string
	// Now is the clock that the age of files is told by; where it is nil no age is told.
	Now func() time.Time
	// Random is where the ids of new sessions come from; where it is nil, from the system.
	Random io.Reader
}

// System is the process's own.
func System() IO {
	o := IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv, Now: time.Now}
	o.OutTTY = term.IsTerminal(int(os.Stdout.Fd()))
	o.ErrTTY = term.IsTerminal(int(os.Stderr.Fd()))
	return o
}
