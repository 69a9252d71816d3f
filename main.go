// Command sessfix is the fsck of agent sessions.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/sessfix/sessfix/cmd"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := cmd.Main(ctx, os.Args[1:], cmd.System())
	stop()
	os.Exit(code)
}
