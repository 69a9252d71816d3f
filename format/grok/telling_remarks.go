package grok

import (
	"cmp"
	"fmt"
	"strings"
)

// saidRemark is what an update says that is neither of a person nor of a model.
type saidRemark struct {
	Entries []struct {
		Content string `json:"content"`
		Status  string `json:"status"`
	} `json:"entries"`
	Stop        string   `json:"stop_reason"`
	Result      string   `json:"agent_result"`
	Target      int      `json:"target_prompt_index"`
	Border      int      `json:"prompt_index_at_compaction"`
	Preview     string   `json:"summary_preview"`
	Error       string   `json:"error"`
	Reason      string   `json:"reason"`
	Message     string   `json:"message"`
	Type        string   `json:"type"`
	ErrorType   string   `json:"error_type"`
	Attempt     int      `json:"attempt"`
	MaxRetries  int      `json:"max_retries"`
	Subagent    string   `json:"subagent_type"`
	Child       string   `json:"child_session_id"`
	Description string   `json:"description"`
	Command     string   `json:"command"`
	Model       string   `json:"model_id"`
	NewModel    string   `json:"new_model_id"`
	Summary     string   `json:"summary"`
	Event       string   `json:"event_text"`
	Prompt      string   `json:"prompt"`
	Notes       []string `json:"notes"`
	Task        struct {
		ID      string `json:"task_id"`
		Command string `json:"command"`
	} `json:"task_snapshot"`
}

// remark is what an update says, and what it is about; nothing where it is bookkeeping, as the end of a turn that came to its own.
func (u *saidUpdate) remark() (title, text string) {
	switch u.Kind {
	case "turn_completed":
		if u.Stop == endTurn {
			return "", ""
		}
		return "turn", join(": ", u.Stop, u.Result)
	case "rewind_marker":
		return "rewind", fmt.Sprintf("prompt %d and what follows it were taken back", u.Target)
	case "compaction_checkpoint":
		return "compaction", fmt.Sprintf("what stands in front of prompt %d is sent as a summary", u.Border)
	case "auto_compact_completed":
		return "compaction", u.Preview
	case "auto_compact_failed", "auto_compact_cancelled":
		return "compaction", join(": ", strings.TrimPrefix(u.Kind, "auto_compact_"), u.Error, u.Reason)
	case "retry_state", "auto_recovery_started", "auto_recovery_exhausted":
		text = join(": ", u.Type, u.ErrorType, u.Reason, u.Message, u.Error)
		if u.Attempt > 0 && text != "" {
			text += fmt.Sprintf(" (%d of %d)", u.Attempt, u.MaxRetries)
		}
		return "error", text
	case "plan":
		for _, e := range u.Entries {
			text += "- " + join(": ", e.Status, e.Content) + "\n"
		}
		return "plan", text
	case "subagent_spawned", "subagent_finished":
		return "sub-agent", join(", ", u.Subagent, u.Description, u.Status, u.Error, u.Child)
	case "task_backgrounded":
		return "background task", join(", ", u.Description, u.Command)
	case "task_completed":
		return "background task", join(", ", "ended", u.Task.ID, u.Task.Command)
	case "model_changed", "model_auto_switched":
		return "model", join(": ", cmp.Or(u.Model, u.NewModel), u.Reason)
	case "hook_annotation":
		return "hook", u.Message
	case "session_recap":
		return "recap", u.Summary
	case "monitor_event":
		return "monitor", join(": ", u.Description, u.Event)
	case "scheduled_task_fired":
		return "schedule", u.Prompt
	case "image_compressed":
		return "image", u.Message
	case "image_dropped":
		return "image", strings.Join(u.Notes, "\n")
	}
	return "", ""
}

// join joins the words that are there.
func join(between string, words ...string) string {
	var some []string
	for _, w := range words {
		if w != "" {
			some = append(some, w)
		}
	}
	return strings.Join(some, between)
}
