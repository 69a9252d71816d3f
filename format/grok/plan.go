package grok

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// planName is the list of what is to be done. The client writes it in place, so that it may be torn, and does without one that it
// cannot read.
const planName = "plan.json"

// plan is the dialect of that file.
type plan struct{ rank int }

func (plan) Version() string                        { return "plan" }
func (p plan) Rank() int                            { return p.rank }
func (plan) Rules() format.Rules                    { return format.Rules{} }
func (plan) Framing() session.Framing               { return session.Framing{} }
func (plan) NewDecoder(format.Place) format.Decoder { return nil }

// Judge tells whether the client can read it.
func (plan) Judge(data []byte, a format.Around) []finding.Finding {
	if json.Valid(data) {
		return nil
	}
	code := finding.SidecarCorrupt
	if len(bytes.Trim(data, " \t\r\n\x00")) == 0 {
		code = finding.SidecarEmpty
	}
	text, n := replan(a.Dir)
	f := finding.New(code)
	f.Span = session.Span{Len: int64(len(data)), TextLen: int64(len(data)), Line: 1, Logical: 1}
	f.Where, f.Message = "plan", "the list of what is to be done is no whole JSON"
	f.Repair = fmt.Sprintf("it is written anew, of the last plan that the log shows: %d entries", n)
	f.Never = "fill it in by guessing"
	f.Patches = []finding.Patch{{Del: int64(len(data)), Ins: text}}
	return []finding.Finding{f}
}

// replan is the last plan that the user was shown. The ids of its entries are lost.
func replan(dir fs.FS) (text []byte, n int) {
	var entries []struct {
		Content  json.RawMessage `json:"content"`
		Priority json.RawMessage `json:"priority"`
		Status   json.RawMessage `json:"status"`
	}
	beside(dir, updatesName, func(f *fields) {
		if string(f.Str(kUpdate)) == "plan" && f.Has(kEntries) {
			entries = entries[:0]
			if json.Unmarshal(f.Value(kEntries), &entries) != nil {
				entries = nil
			}
		}
	})
	todos := `{"todos":{`
	for _, e := range entries {
		if e.Content == nil || e.Status == nil {
			continue
		}
		if n++; n > 1 {
			todos += ","
		}
		todos += quoted(strconv.Itoa(n)) + `:{"content":` + string(e.Content)
		if e.Priority != nil {
			todos += `,"priority":` + string(e.Priority)
		}
		todos += `,"status":` + string(e.Status) + "}"
	}
	var out bytes.Buffer
	if json.Indent(&out, []byte(todos+"}}"), "", "  ") != nil {
		return []byte(`{"todos":{}}`), 0
	}
	return out.Bytes(), n
}

var _ format.Document = plan{}
