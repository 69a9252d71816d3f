//go:build !unix

package cmd

import "github.com/rogpeppe/go-internal/testscript"

// These need pipes, signals and user ids; the scripts that use them skip elsewhere.
func elsewhere(ts *testscript.TestScript, neg bool, args []string) {
	ts.Fatalf("not on this system: begin the script with [!unix] skip")
}

var peak, interrupt, asOther, fifo, grow, held = elsewhere, elsewhere, elsewhere, elsewhere, elsewhere, elsewhere
