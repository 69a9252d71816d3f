// Package all lists the formats: one line an agent.
package all

import (
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/claude"
	"github.com/sessfix/sessfix/format/codex"
	"github.com/sessfix/sessfix/format/dsh"
	"github.com/sessfix/sessfix/format/grok"
	"github.com/sessfix/sessfix/format/openclaw"
	"github.com/sessfix/sessfix/format/pi"
)

// Formats are all that sessfix knows.
func Formats() []format.Format {
	return []format.Format{
		dsh.Format{},
		claude.Format{},
		codex.Format{},
		openclaw.Format{}, // in front of pi, whose format it is: its places tell
		pi.Format{},
		grok.Format{},
	}
}
