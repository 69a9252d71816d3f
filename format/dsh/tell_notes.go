package dsh

import (
	"fmt"
	"strings"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// noted is what notes are made of: the members of many types of record.
type noted struct {
	ID           string `json:"id"`
	CompactionID string `json:"compactionId"`
	CommandID    string `json:"commandId"`
	Name         string `json:"name"`
	Args         string `json:"args"`
	Text         string `json:"text"`
	Kind         string `json:"kind"`
	Operation    string `json:"operation"`
	ToolName     string `json:"toolName"`
	Outcome      string `json:"outcome"`
	Reason       string `json:"reason"`
	Error        string `json:"error"`
	Title        string `json:"title"`
	Label        string `json:"label"`
	Provider     string `json:"provider"`
	Point        string `json:"point"`
	Decision     string `json:"decision"`
	Stderr       string `json:"stderrSummary"`

	Summary []saidBlock `json:"summary"`
	Content []saidBlock `json:"content"`
	IsError bool        `json:"isError"`

	Failure saidFailure `json:"failure"`
	Todos   []struct {
		Content string `json:"content"`
		Status  string `json:"status"`
	} `json:"todos"`
	Goal struct {
		Objective string `json:"objective"`
	} `json:"goal"`
	Schedule struct {
		Prompt string `json:"prompt"`
	} `json:"schedule"`
	Message struct {
		SenderName string      `json:"senderName"`
		Content    []saidBlock `json:"content"`
	} `json:"message"`
	Task struct {
		Subject string `json:"subject"`
		Status  string `json:"status"`
	} `json:"task"`
}

type saidFailure struct {
	Message string `json:"message"`
	Code    string `json:"code"`
}

func (f saidFailure) String() string {
	switch {
	case f.Message == "":
		return f.Code
	case f.Code == "":
		return f.Message
	}
	return f.Message + " (" + f.Code + ")"
}

// note tells what is logged and not sent. What is said again by a message, or is a setting, is not told.
func (t *telling) note(s *saying, ev event) {
	if ev.kind == session.TurnEnd || s.Type == "llm/retry" || s.Type == "llm/retry-started" {
		t.lost(s.Time)
	}
	if ev.kind == session.TurnEnd {
		t.turnEnd(s)
		return
	}
	var d noted
	if !unmarshal(s.Data, &d) {
		return
	}
	say := func(title, id, text string) { t.say(title, id, s.Time, text) }
	switch s.Type {
	case "approval/asked":
		say("approval", d.ID, labelled("asked for "+d.ToolName, d.Reason))
	case "approval/decided":
		say("approval", d.ID, d.Outcome)
	case "compaction/summary", "compact/summary":
		if blocks := tell(d.Summary, nil); len(blocks) > 0 {
			t.out = append(t.out, format.Message{For: format.PeopleOnly, Title: "compaction", ID: d.CompactionID, Time: s.Time, Blocks: blocks})
		}
	case "compaction/end", "compact/end":
		if d.Error != "" {
			say("compaction", d.CompactionID, labelled("failed", d.Error))
		}
	case "llm/retry":
		say("retry", "", d.Failure.String())
	case "todo/write":
		var text strings.Builder
		for _, x := range d.Todos {
			fmt.Fprintf(&text, "%s: %s\n", x.Status, x.Content)
		}
		say("todo", "", strings.TrimSuffix(text.String(), "\n"))
	case "command/run":
		if d.Name != "" {
			say("command", d.CommandID, strings.TrimSpace("/"+d.Name+" "+d.Args))
		}
	case "command/done":
		say("command", d.CommandID, d.Text)
	case "session/title":
		say("title", "", d.Title)
	case "goal/change":
		say("goal", "", labelled(d.Operation, d.Goal.Objective))
	case "schedule/change":
		say("schedule", "", labelled(d.Operation, d.Schedule.Prompt))
	case "feedback/record":
		say("feedback", "", d.Text)
	case "hook/result":
		if d.Stderr != "" || d.Decision != "" && d.Decision != "pass" {
			say("hook", "", labelled(strings.TrimSpace(d.Point+" "+d.Decision), d.Stderr))
		}
	case "team/task":
		say("team", "", labelled(d.Task.Status, d.Task.Subject))
	case "team/message/queued":
		if blocks := tell(d.Message.Content, nil); len(blocks) > 0 {
			from := format.Block{Kind: format.Text, Text: labelled("a message to a member of the team, from", d.Message.SenderName)}
			t.out = append(t.out, format.Message{For: format.PeopleOnly, Title: "team", Time: s.Time, Blocks: append([]format.Block{from}, blocks...)})
		}
	case "subagent/descriptor":
		say("sub-agent", "", labelled(d.Provider, d.Label))
	case "tool-workflow/run-start":
		say("workflow", "", labelled("start", d.Name))
	case "tool-workflow/agent-start":
		say("workflow", "", labelled("agent", d.Label))
	case "tool/code-dispatch", "tool/ptc-dispatch":
		t.dispatch(s, &d)
	}
}

// labelled is a text with a word in front of it.
func labelled(word, text string) string {
	if word == "" || text == "" {
		return word + text
	}
	return word + ": " + text
}

// turnEnd tells why a turn ended, where it did not end by itself.
func (t *telling) turnEnd(s *saying) {
	var d struct {
		Reason struct {
			Kind    string      `json:"kind"`
			Message string      `json:"message"` // of logs from before errors had a member of their own
			Code    string      `json:"code"`
			Error   saidFailure `json:"error"`
			Failure saidFailure `json:"failure"`
			Reason  struct {
				Kind   string `json:"kind"`
				Reason string `json:"reason"`
			} `json:"reason"`
		} `json:"reason"`
	}
	if !unmarshal(s.Data, &d) || d.Reason.Kind == "" || d.Reason.Kind == "completed" {
		return
	}
	r := &d.Reason
	text := ""
	for _, why := range []string{r.Error.String(), r.Failure.String(), saidFailure{r.Message, r.Code}.String(), labelled(r.Reason.Kind, r.Reason.Reason)} {
		if text == "" {
			text = why
		}
	}
	t.say("turn end", "", s.Time, labelled(r.Kind, text))
}

// dispatch tells a call that a program which the model wrote made in turn.
func (t *telling) dispatch(s *saying, d *noted) {
	word := "ran " + d.Name
	if d.IsError {
		word += ", which failed"
	}
	blocks := append([]format.Block{{Kind: format.Text, Text: word}}, tell(d.Content, nil)...)
	t.out = append(t.out, format.Message{For: format.PeopleOnly, Title: "inner call", Time: s.Time, Blocks: blocks})
}
