package codex

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sessfix/sessfix/format"
)

// shown is an event for the display. Most of them repeat items.
type shown struct {
	Type      string      `json:"type"`
	Message   string      `json:"message"`
	Reason    string      `json:"reason"`
	Summary   string      `json:"summary"`
	Details   string      `json:"details"`
	TurnsBack json.Number `json:"num_turns"`
	Name      string      `json:"thread_name"`
	Goal      struct {
		Objective string `json:"objective"`
	} `json:"goal"`
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`
	Item ran `json:"item"`
	ran
}

// ran is a tool, or something like it, that ran to its end: an item, or the event of older releases with the same members.
type ran struct {
	Kind     string          `json:"type"`
	ID       string          `json:"id"`
	Call     string          `json:"call_id"`
	Command  json.RawMessage `json:"command"`
	Output   string          `json:"aggregated_output"`
	Stdout   string          `json:"stdout"`
	Stderr   string          `json:"stderr"`
	Exit     *int            `json:"exit_code"`
	Status   string          `json:"status"`
	Changes  json.RawMessage `json:"changes"`
	Server   string          `json:"server"`
	Tool     string          `json:"tool"`
	Text     string          `json:"text"`
	Hint     string          `json:"user_facing_hint"`
	Activity string          `json:"kind"`
	Agent    string          `json:"agent_path"`
	Asked    struct {
		Server string `json:"server"`
		Tool   string `json:"tool"`
	} `json:"invocation"`
}

// event tells what stands in no item: notes of the client, and what ran without being asked for by an item.
func (t *telling) event(payload json.RawMessage, out []format.Message) []format.Message {
	var e shown
	if !decoded(payload, &e) {
		return out
	}
	title, text := "", ""
	switch e.Type {
	case "error", "warning", "stream_error", "background_event", "guardian_warning":
		title, text = strings.ReplaceAll(e.Type, "_", " "), e.Message
	case "deprecation_notice":
		title, text = "warning", strings.TrimSpace(e.Summary+"\n"+e.Details)
	case "task_complete", "turn_complete":
		if e.Error != nil {
			title, text = "error", e.Error.Message
		}
	case "turn_aborted":
		title, text = "turn aborted", e.Reason
	case "thread_rolled_back":
		title, text = "rollback", "turns taken back: "+e.TurnsBack.String()
		if n, err := e.TurnsBack.Int64(); err == nil {
			t.heard.back(n)
		}
	case "undo_completed":
		title, text = "undo", e.Message
	case "thread_name_updated":
		title, text = "name", e.Name
	case "thread_goal_updated":
		title, text = "goal", e.Goal.Objective
	case "entered_review_mode", "exited_review_mode":
		title, text = "review", strings.TrimSuffix(reviews[e.Type]+": "+e.Hint, ": ")
	case "sub_agent_activity":
		title, text = "agent", strings.TrimSpace(e.Agent+" "+e.Activity)
	case "exec_command_end", "patch_apply_end", "mcp_tool_call_end":
		e.Kind, e.ID = olderEnds[e.Type], e.Call
		title, text = t.ended(&e.ran)
	case "item_completed":
		title, text = t.ended(&e.Item)
	}
	if title == "" || text == "" {
		return out
	}
	return append(out, format.Message{For: format.PeopleOnly, Title: title, Blocks: []format.Block{{Kind: format.Text, Text: text}}})
}

// reviews say what becomes of one, by the event or item.
var reviews = map[string]string{
	"entered_review_mode": "a review begins", "EnteredReviewMode": "a review begins",
	"exited_review_mode": "the review has ended", "ExitedReviewMode": "the review has ended",
}

// olderEnds are the items that older releases wrote as events of their own.
var olderEnds = map[string]string{"exec_command_end": "CommandExecution", "patch_apply_end": "FileChange", "mcp_tool_call_end": "McpToolCall"}

// ended says what ran, and what came of it, where no item asked for it; what one asked for has an output.
func (t *telling) ended(e *ran) (title, text string) {
	if t.calls.has(e.ID) {
		return "", ""
	}
	var b strings.Builder
	switch e.Kind {
	case "CommandExecution":
		title = "command"
		command := words(e.Command)
		if len(command) == 3 && strings.HasSuffix(command[1], "c") && strings.HasPrefix(command[1], "-") {
			command = command[2:] // of a shell
		}
		b.WriteString(strings.Join(command, " "))
	case "FileChange":
		title = "files"
		b.WriteString(strings.Join(paths(e.Changes), "\n"))
	case "McpToolCall", "DynamicToolCall":
		title = "tool"
		server, tool := e.Server+e.Asked.Server, e.Tool+e.Asked.Tool
		b.WriteString(strings.TrimPrefix(server+"."+tool, "."))
	case "SubAgentActivity":
		return "agent", strings.TrimSpace(e.Agent + " " + e.Activity)
	case "EnteredReviewMode", "ExitedReviewMode":
		return "review", strings.TrimSuffix(reviews[e.Kind]+": "+e.Hint, ": ")
	case "Error", "Warning":
		return strings.ToLower(e.Kind), e.Text
	default: // what people and models said, and thought, are items too
		return "", ""
	}
	if e.Exit != nil {
		fmt.Fprintf(&b, "\nexit code %d", *e.Exit)
	} else if e.Status != "" {
		fmt.Fprintf(&b, "\n%s", e.Status)
	}
	for _, output := range []string{e.Output, e.Stdout, e.Stderr} {
		if output != "" {
			fmt.Fprintf(&b, "\n%s", output)
		}
		if e.Output != "" {
			break // it holds the others
		}
	}
	return title, b.String()
}

// paths are the files that changed: the names of an object's members.
func paths(raw json.RawMessage) (out []string) {
	list, _ := parts(raw, 0)
	for _, p := range list[:min(len(list), manyElements)] {
		out = append(out, strings.ToValidUTF8(p.name, "\uFFFD"))
	}
	return out
}
