package codex

import (
	"encoding/json"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/sessfix/sessfix/format"
)

// Upgrades are the two steps from the oldest rollouts to those that the newest client writes.
func (Format) Upgrades() []format.Upgrade {
	return []format.Upgrade{
		{
			From: bare, To: legacy,
			About:    "puts every item into an envelope, and adds what the client lists a thread by",
			Unproved: "the client has no step of its own from bare rollouts; that it takes the result was measured",
			Begin:    beginEnvelope,
		},
		{
			From: legacy, To: paginated,
			About:    "numbers the records, and makes items of the events that the display is made of",
			Optional: true,
			Begin:    beginPages,
		},
	}
}

// lone refuses a rollout that lies there plain and compressed: the client opens the plain one and leaves the other, and
// which of them is meant nobody can tell.
func lone(s format.Source) error {
	name := filepath.Base(s.Path)
	if s.Dir == nil || name == "." {
		return nil
	}
	twin := name + ".zst"
	if t, ok := strings.CutSuffix(name, ".zst"); ok {
		twin = t
	}
	if _, err := fs.Stat(s.Dir, twin); err == nil {
		return format.Refuse(-1, "%s lies beside it: the same rollout plain and compressed. Move one of them away", twin)
	}
	return nil
}

// whole takes a record apart that is on its way. It must be whole JSON, as a repair leaves it.
func whole(l format.Line) ([]part, error) {
	if !json.Valid(l.Raw) {
		return nil, format.Refuse(l.N, "the record is no whole JSON")
	}
	list, ok := parts(l.Raw, blank(l.Raw, 0))
	if !ok || l.Raw[blank(l.Raw, 0)] != '{' {
		return nil, format.Refuse(l.N, "the record is no JSON object")
	}
	return list, nil
}

// itemTypes are the types of items for the model that are known (measured with 0.171.0).
var itemTypes = map[string]bool{
	"message": true, "agent_message": true, "additional_tools": true, "reasoning": true, "function_call": true,
	"function_call_output": true, "local_shell_call": true, "custom_tool_call": true, "custom_tool_call_output": true,
	"tool_search_call": true, "tool_search_output": true, "web_search_call": true, "image_generation_call": true,
	"compaction": true, "compaction_summary": true, "context_compaction": true, "configuration_update": true,
	"compaction_trigger": true, "ghost_snapshot": true,
}
