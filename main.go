// Command sessfix is the fsck of agent sessions.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/sessfix/sessfix/cmd"
)

func main() {
	cmd.SpareMemory()
	// A reader that went away is no reason to die: the write fails, and Main ends quietly.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second interrupt ends the program at once
	code := cmd.Main(ctx, os.Args[1:], cmd.System())
	stop()
	os.Exit(code)
}
