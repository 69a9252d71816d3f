package export

import "github.com/sessfix/sessfix/session"

// Word is a kind of event as exports name it.
func Word(k session.Kind) string {
	if int(k) < len(words) {
		return words[k]
	}
	return "unknown"
}

var words = [...]string{
	session.Unknown:          "unknown",
	session.Header:           "header",
	session.SeedEnd:          "seed-end",
	session.TurnStart:        "turn-start",
	session.TurnEnd:          "turn-end",
	session.StepStart:        "step-start",
	session.StepEnd:          "step-end",
	session.SystemMessage:    "system-message",
	session.UserMessage:      "user-message",
	session.Delta:            "delta",
	session.AssistantMessage: "assistant-message",
	session.AttemptEnd:       "attempt-end",
	session.CallAsked:        "call-asked",
	session.CallStarted:      "call-started",
	session.CallResult:       "call-result",
	session.CallFinished:     "call-finished",
	session.ApprovalAsked:    "approval-asked",
	session.ApprovalDecided:  "approval-decided",
	session.CompactionStart:  "compaction-start",
	session.Summary:          "summary",
	session.CompactionEnd:    "compaction-end",
	session.Prompt:           "prompt",
	session.Rollback:         "rollback",
	session.Goto:             "goto",
	session.Edit:             "edit",
	session.Setting:          "setting",
	session.Note:             "note",
}
