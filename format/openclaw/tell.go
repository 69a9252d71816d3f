package openclaw

import (
	"bytes"
	"encoding/json"

	"github.com/sessfix/sessfix/format"
)

// The client says the same words as pi around summaries and commands (read in 2026.9.7).

// unsent are the models that the client names in answers of its own: what it delivered by other ways, and what was put in. It shows
// them and never sends them (read in 2026.6.1).
var unsent = map[string]bool{"delivery-mirror": true, "gateway-injected": true}

// tell is what the client's own entries say, and which answers it sends.
func tell(typ string, raw []byte, told []format.Message) []format.Message {
	var e struct {
		Reason  any `json:"reason"`
		Message struct {
			Provider any `json:"provider"`
			Excluded any `json:"excludeFromContext"`
		} `json:"message"`
	}
	switch {
	case typ == "reset":
		words := "the talk begins anew"
		if json.Unmarshal(raw, &e) == nil {
			if why, ok := e.Reason.(string); ok && why != "" {
				words += ": " + why
			}
		}
		return append(told, format.Message{For: format.PeopleOnly, Stands: true, Title: "reset", Blocks: []format.Block{{Kind: format.Text, Text: words}}})
	case len(told) == 0, !unsent[told[0].Model] && !bytes.Contains(raw, []byte("excludeFromContext")), json.Unmarshal(raw, &e) != nil:
	case unsent[told[0].Model] && e.Message.Provider == "openclaw", e.Message.Excluded == true: // whoever says it
		for i := range told {
			told[i].For = format.PeopleOnly
		}
	}
	return told
}
