package dsh

import (
	"strconv"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// notStartedText is a constant of the format: validators of versions 2 to 4 accept a result
// without a start with exactly this text only.
const notStartedText = "The tool call was interrupted before the Harness recorded it as started. Retry it if it is still needed."

// unknownText is free. It must not claim anything about what the call did.
const unknownText = "No result of this tool call is in the session log, which ends after the call was recorded as started (closed by sessfix). " +
	finding.LookFirst

// cause is what left a turn open: the word for it in ids and reasons, and what the results say.
type cause struct{ word, notStarted, unknown string }

var interrupted = cause{"interrupted", notStartedText, unknownText}

// Close ends what a crash left open, as the client's own recovery would: a result for each
// unanswered call in call order, then step/end, then turn/end (packages/core/session/src/repair.ts).
func (d dialect) Close(q format.CloseRequest) ([]format.Closing, error) {
	return d.close(q, interrupted), nil
}

func (d dialect) close(q format.CloseRequest, by cause) []format.Closing {
	var out []format.Closing
	seq := q.NextSeq
	for _, c := range q.Calls {
		out = append(out, d.closeCall(c, q, seq, by))
		seq++
	}
	tail := func(kind, data string) {
		line := `{"type":"` + kind + `","seq":` + num(seq) + `,"time":` + num(q.Time) + `,"data":{"turn":` + num(int64(q.Turn)) + data + "}}\n"
		out = append(out, format.Closing{Line: []byte(line), Kind: kind})
		seq++
	}
	if q.Step > 0 {
		tail("step/end", `,"step":`+num(int64(q.Step)))
	}
	if q.Turn > 0 {
		tail("turn/end", `,"reason":{"kind":"`+by.word+`"}`)
	}
	return out
}

// closeCall makes the result of one unanswered call. The id of the call is written as the log
// writes it, escapes and all.
func (d dialect) closeCall(c session.Call, q format.CloseRequest, seq int64, by cause) format.Closing {
	code, name, text, sources := finding.ToolNotStarted, "ToolNotStartedError", by.notStarted, ""
	if c.State() == session.CallRunning {
		code, name, text = finding.ToolOutcomeUnknown, "ToolOutcomeUnknownError", by.unknown
		sources = `,"sourceEventSeqs":[` + num(c.StartSeq) + `]`
	}
	id := `"` + c.ID + `"`
	body := `"content":[{"type":"text","text":"` + text + `"}]`
	message := `{"id":"` + by.word + `-tool-result-` + c.ID + "-" + num(seq) + `","role":`
	if d.version >= 4 {
		message += `"tool","toolCallId":` + id + `,"isError":true,"source":{"kind":"tool","callId":` + id + `},` + body + `}`
	} else {
		message += `"user","source":{"kind":"tool","callId":` + id + `},"content":[{"type":"tool-result","toolCallId":` + id + `,"isError":true,` + body + `}]}`
	}
	line := `{"type":"tool/result","seq":` + num(seq) + `,"time":` + num(q.Time) +
		`,"data":{"turn":` + num(int64(c.Turn)) + `,"step":` + num(int64(c.Step)) + `,"message":` + message +
		`,"error":{"name":"` + name + `","code":"` + code + `"}},"surfaceOp":"append"` + sources + "}\n"
	return format.Closing{Line: []byte(line), Code: code, Kind: "tool/result", CallID: c.ID}
}

func num(v int64) string { return strconv.FormatInt(v, 10) }
