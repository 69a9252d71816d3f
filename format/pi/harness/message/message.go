package message

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/sessfix/sessfix/format"
)

// said is a message as it is written.
type said struct {
	Role    Word    `json:"role"`
	Content Content `json:"content"`
	Time    Number  `json:"timestamp"`
	// Of an answer.
	API   Word `json:"api"`
	Model Word `json:"model"`
	Stop  Word `json:"stopReason"`
	Error Word `json:"errorMessage"`
	// Of a result.
	Call    Word    `json:"toolCallId"`
	Tool    Word    `json:"toolName"`
	Failed  Flag    `json:"isError"`
	Details details `json:"details"`
	// Of a command that the user ran.
	Command   Word   `json:"command"`
	Output    Word   `json:"output"`
	Exit      Number `json:"exitCode"`
	Cancelled Flag   `json:"cancelled"`
	Truncated Flag   `json:"truncated"`
	Whole     Word   `json:"fullOutputPath"`
	Excluded  Flag   `json:"excludeFromContext"`
	// Of an extension, of the system, of summaries.
	Type     Word     `json:"customType"`
	Display  Flag     `json:"display"`
	Sections sections `json:"sections"`
	Summary  Word     `json:"summary"`
}

// Tell appends what a message says, given as JSON.
func Tell(raw []byte, out []format.Message) []format.Message {
	var s said
	if json.Unmarshal(raw, &s) != nil {
		return out
	}
	m := format.Message{Time: int64(s.Time.Value), Blocks: s.Content.Blocks}
	switch s.Role {
	case "user":
		m.Role = format.User
	case "assistant":
		return s.answer(m, out)
	case "toolResult":
		m.Role, m.Blocks = format.Tool, []format.Block{s.result()}
	case "bashExecution":
		m.Role, m.Title, m.Fixed, m.Blocks = format.User, "command", true, text(s.ran())
		if s.Excluded {
			m.For = format.PeopleOnly
		}
	case "custom", "hookMessage":
		m = extension(m, s.Type, s.Display)
	case "system":
		m.Role, m.For, m.Blocks = format.System, format.ModelOnly, text(s.instructions())
	case "branchSummary":
		m = Branch(m, string(s.Summary))
	case "compactionSummary":
		m = Compaction(m, string(s.Summary))
	default:
		m.For, m.Title = format.PeopleOnly, string(s.Role)
	}
	return put(m, out)
}

// Extension is what one has put into the talk: content, as JSON.
func Extension(m format.Message, kind Word, content Content, display Flag) format.Message {
	m.Blocks = content.Blocks
	return extension(m, kind, display)
}

func extension(m format.Message, kind Word, display Flag) format.Message {
	m.Role, m.Title = format.User, string(kind)
	if !display {
		m.For = format.ModelOnly
	}
	return m
}

// Branch is a summary of a branch that was left, as the client sends it; an empty one is not sent.
func Branch(m format.Message, summary string) format.Message {
	m.Role, m.Title, m.Fixed = format.User, "branch summary", true
	if summary != "" {
		m.Blocks = text("The following is a summary of a branch that this conversation came back from:\n\n<summary>\n" + summary + "</summary>")
	}
	return m
}

// Compaction is the summary of what the model gets no more, as the client sends it.
func Compaction(m format.Message, summary string) format.Message {
	m.Role, m.Title, m.Fixed = format.User, "compaction", true
	m.Blocks = text("The conversation history before this point was compacted into the following summary:\n\n<summary>\n" + summary + "\n</summary>")
	return m
}

// Note is what people may see of a setting or a mark.
func Note(m format.Message, title, words string) format.Message {
	m.For, m.Title, m.Blocks = format.PeopleOnly, title, text(words)
	return m
}

// put leaves out what says nothing: services refuse empty messages.
func put(m format.Message, out []format.Message) []format.Message {
	if len(m.Blocks) == 0 {
		return out
	}
	return append(out, m)
}

func text(words string) []format.Block {
	if words == "" {
		return nil
	}
	return []format.Block{{Kind: format.Text, Text: words}}
}

// answer tells an answer. One that failed or was given up is for people alone, and so is why.
func (s *said) answer(m format.Message, out []format.Message) []format.Message {
	m.Role, m.Model = format.Assistant, string(s.Model)
	if strings.Contains(string(s.API), "openai") {
		// What stands there is a whole item of that service, or where its thinking stood.
		for i := range m.Blocks {
			m.Blocks[i].Signature = ""
		}
	}
	broken := s.Stop == "error" || s.Stop == "aborted"
	if broken {
		m.For = format.PeopleOnly
	}
	out = put(m, out)
	why := string(s.Error)
	if broken && why == "" {
		why = string(s.Stop)
	}
	title := "error"
	if broken {
		title = string(s.Stop)
	}
	return put(Note(format.Message{Time: m.Time}, title, why), out)
}

// interrupted begins what AgentHarness says of a call that a crash cut off.
const interrupted = "[Tool execution was interrupted."

// madeUp begin the texts of results that a recovery wrote in place of a real one.
var madeUp = []string{"TOOL_OUTCOME_UNKNOWN:", "TOOL_NOT_STARTED:", "[openclaw] missing tool result", interrupted}

func (s *said) result() format.Block {
	b := format.Block{Kind: format.Result, ID: string(s.Call), Name: string(s.Tool), Failed: bool(s.Failed)}
	b.MadeUp = s.Details.Ours.Here || bool(s.Details.Theirs)
	blocks := s.Content.Blocks
	// What a call had shown by then stands in front of what says that it was cut off.
	for i, k := range blocks {
		for _, words := range madeUp {
			if k.Kind == format.Text && strings.HasPrefix(k.Text, words) && (i == 0 || words == interrupted && i == len(blocks)-1) {
				b.MadeUp = true
			}
		}
	}
	switch {
	case len(blocks) == 1 && blocks[0].Kind == format.Text:
		b.Text = blocks[0].Text
	case len(blocks) > 0:
		b.Content = blocks
	}
	return b
}

// ran is a command that the user ran himself, as the client sends it.
func (s *said) ran() string {
	words := "Ran `" + string(s.Command) + "`\n"
	if s.Output != "" {
		words += "```\n" + string(s.Output) + "\n```"
	} else {
		words += "(no output)"
	}
	switch {
	case bool(s.Cancelled):
		words += "\n\n(command cancelled)"
	case s.Exit.Value != 0:
		words += "\n\nCommand exited with code " + strconv.FormatFloat(s.Exit.Value, 'f', -1, 64)
	}
	if s.Truncated && s.Whole != "" {
		words += "\n\n[Output truncated. Full output: " + string(s.Whole) + "]"
	}
	return words
}

// instructions are a message of the system: its text, and the sections that it sets or takes away.
func (s *said) instructions() string {
	var parts []string
	for _, b := range s.Content.Blocks {
		if b.Kind == format.Text {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(append(parts, s.Sections...), "\n\n")
}
