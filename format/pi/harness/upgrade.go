package harness

import "github.com/sessfix/sessfix/format"

// Upgrades is the way out of the format.
func Upgrades() []format.Upgrade { return nil }
