package harness

import (
	"encoding/json"
	"strings"

	"github.com/sessfix/sessfix/finding"
)

// What results say of calls that have none.
const (
	notStartedText = finding.ToolNotStarted + ": the session ended before this call was started (closed by sessfix). It did not run. Make it again if it is still wanted."
	unknownText    = finding.ToolOutcomeUnknown + ": the session ended after this call was recorded as started, and before a result of it was recorded (closed by sessfix). " +
		finding.LookFirst
	shownText = " What stands in front of this is what it had put out by then; more may have followed."
)

// brokenText is what an answer says that was still being given.
const brokenText = "The session ended while this answer was being given (closed by sessfix). What is in the log of it stands here; more may have been said."

// made is the message of a call's result, and the usage that it counts. What the call had shown by then stands in front of
// the text, and what it told of it beside the mark.
func made(c call, code, text string, shown *cell, ms int64) (message, usage string) {
	var v struct {
		Content json.RawMessage `json:"content"`
		Details json.RawMessage `json:"details"`
		Usage   json.RawMessage `json:"usage"`
	}
	content, details := "", ""
	if shown != nil && json.Unmarshal(shown.value, &v) == nil {
		if in, ok := within(v.Content, '['); ok && in != "" {
			content = in + ","
			text += shownText
		}
		if in, ok := within(v.Details, '{'); ok && in != "" && !strings.Contains(in, `"sessfix"`) {
			details = "," + in
		}
		usage = usageText(v.Usage)
	}
	message = `{"role":"toolResult","toolCallId":"` + c.id + `","toolName":"` + c.name + `","content":[` + content + `{"type":"text","text":"` + text + `"}]` +
		`,"details":{"sessfix":{"code":"` + code + `","v":1}` + details + `}`
	if usage != "" {
		message += `,"usage":` + usage
	}
	return message + `,"isError":true,"timestamp":` + num(min(ms, safest)) + `}`, usage
}

// within is what stands between the brackets of a list or an object.
func within(raw json.RawMessage, bracket byte) (string, bool) {
	if len(raw) < 2 || raw[0] != bracket {
		return "", false
	}
	return strings.TrimSpace(string(raw[1 : len(raw)-1])), true
}

// usageOf is the usage that a result counts, empty where it counts none.
func usageOf(message json.RawMessage) string {
	var v struct {
		Usage json.RawMessage `json:"usage"`
	}
	if message == nil || json.Unmarshal(message, &v) != nil {
		return ""
	}
	return usageText(v.Usage)
}

func usageText(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] != '{' {
		return ""
	}
	return string(raw)
}
