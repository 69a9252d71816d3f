package claude

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sessfix/sessfix/format"
)

// system is what the client tells the user. What a command of the client's own said is sent, as words of the user
// (measured with 2.1.328); nothing else is.
func (f *saying) system(m format.Message, out []format.Message) []format.Message {
	m.For = format.PeopleOnly
	text := words(f.Value(tContent))
	switch kind := words(f.Value(tSubtype)); kind {
	case "local_command":
		m.Role, m.For = format.User, format.Everyone
	case "compact_boundary":
		m.Title = "compaction"
	case "api_error":
		m.Title = "API error"
		if text == "" {
			text = faultOf(f.Value(tError))
		}
	case "stop_hook_summary":
		m.Title = "stop hook"
		if text == "" {
			text = f.stopped()
		}
	case "turn_duration":
		return out
	default:
		m.Title = strings.ReplaceAll(kind, "_", " ")
	}
	return said(m, textOf(text), out)
}

// stopped is what the user's hooks said at the end of a turn, where they had something to say.
func (f *saying) stopped() string {
	var faults []string
	for _, b := range listOf(f.Value(tHookErrors)) {
		if text := words(b); text != "" {
			faults = append(faults, text)
		}
	}
	if text := words(f.Value(tStopReason)); text != "" {
		faults = append(faults, text)
	}
	return strings.Join(faults, "\n")
}

// faultOf is what an error of the API says of itself: the words of the innermost.
func faultOf(raw []byte) string {
	text, status := "", 0
	for range 5 {
		if len(raw) > 0 && raw[0] == '"' {
			text = words(raw)
		}
		var e struct {
			Message string          `json:"message"`
			Status  int             `json:"status"`
			Error   json.RawMessage `json:"error"`
		}
		if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &e) != nil {
			break
		}
		if e.Message != "" {
			text = e.Message
		}
		if e.Status != 0 {
			status = e.Status
		}
		raw = e.Error
	}
	switch {
	case status != 0:
		return strings.TrimSpace(fmt.Sprintf("%d %s", status, text))
	case text != "":
		return text
	}
	return "no answer came"
}
