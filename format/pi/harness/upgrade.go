package harness

import "github.com/sessfix/sessfix/format"

// Upgrades is the way out of the format: pi itself reads version 3 and no harness. The client's own way leads here and not back, so nothing of
// it can be held against one of its own but by going in again. The draft of 0.84 has no way out.
func Upgrades() []format.Upgrade {
	return []format.Upgrade{{
		From: current, To: "3", Begin: beginLeave, Optional: true,
		About: "entries, names, labels and settings of an AgentHarness session become a session of pi; what the harness keeps to run is left behind",
	}}
}
