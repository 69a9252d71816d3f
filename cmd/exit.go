package cmd

import (
	"context"
	"errors"

	"github.com/sessfix/sessfix/report"
)

// Exit statuses. Every help page prints them.
const (
	exitClean       = 0
	exitDamage      = 1
	exitTrouble     = 2
	exitRefused     = 3
	exitInterrupted = 130
)

const exitHelp = `Exit status:
  0    clean, or fully repaired, or done
  1    damage found that repair can mend (for repair --dry-run likewise)
  2    trouble: bad usage, a file that cannot be read; the answer is incomplete
  3    refused: damage without a safe repair, an unknown version, a live session
  130  interrupted
With several sessions 2 beats 3 beats 1 beats 0.
For committed: 0 committed, 1 not committed, 3 unknown.`

// trouble is an error that was already told to the user.
type trouble struct{ error }

// status is the one place where the exit status is decided.
func status(err error, d *report.Document) int {
	switch {
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case err != nil:
		return exitTrouble
	case d == nil:
		return exitClean
	case d.Summary.Failed > 0:
		return exitTrouble
	case d.Summary.Refused > 0 || d.Faulty() > 0:
		return exitRefused
	case d.Summary.Repairable > 0:
		return exitDamage
	}
	return exitClean
}
