package jsonout

import (
	"fmt"

	"github.com/sessfix/sessfix/finding"
)

// Finding is one fault.
type Finding struct {
	Code        string   `json:"code"`
	Severity    string   `json:"severity"`
	File        string   `json:"file"`
	Offset      int64    `json:"offset"`
	Length      int64    `json:"length"`
	Line        int64    `json:"line,omitempty"`
	Frame       int64    `json:"frame,omitempty"`
	LogicalLine int64    `json:"logicalLine,omitempty"`
	CallID      *string  `json:"callId,omitempty"`
	Expected    *int64   `json:"expected,omitempty"`
	Got         *int64   `json:"got,omitempty"`
	Missing     string   `json:"missing,omitempty"`
	Recoverable *int64   `json:"recoverableLines,omitempty"`
	Lines       []int64  `json:"lines,omitempty"`
	Because     string   `json:"because,omitempty"`
	Client      string   `json:"client,omitempty"`
	Message     string   `json:"message"`
	Repair      string   `json:"repair,omitempty"`
	Never       string   `json:"never,omitempty"`
	Branches    []Branch `json:"branches,omitempty"`
}

// Branch is one of two competing histories, ends included.
type Branch struct {
	Lines  [2]int64 `json:"lines"`
	Seqs   [2]int64 `json:"seqs"`
	Offset int64    `json:"offset"`
	Length int64    `json:"length"`
}

// String names a branch by its lines and numbers.
func (b Branch) String() string {
	text := fmt.Sprintf("lines %d to %d", b.Lines[0], b.Lines[1])
	if b.Seqs[0] >= 0 {
		text += fmt.Sprintf(", numbers %d to %d", b.Seqs[0], b.Seqs[1])
	}
	return text
}

// Findings converts findings about a file.
func Findings(file string, list []finding.Finding) []Finding {
	out := make([]Finding, 0, len(list))
	for i := range list {
		f := &list[i]
		j := Finding{
			Code: string(f.Code), Severity: string(f.Severity), File: file, Offset: f.Off, Length: f.Len, Line: f.Line, Frame: f.Frame,
			Missing: f.Missing, Lines: f.Lines, Because: string(f.Because), Client: f.Client, Message: f.Message,
			Repair: f.Repair, Never: f.Never, Branches: Branches(f.Branches),
		}
		if f.Line == 0 {
			j.LogicalLine = f.Logical
		}
		if f.CallID != "" || f.Code == finding.EmptyCallID {
			j.CallID = &f.CallID
		}
		if f.Numbered {
			j.Expected, j.Got = &f.Expected, &f.Got
		}
		if f.Code == finding.TornFrame {
			j.Recoverable = &f.Recoverable
		}
		out = append(out, j)
	}
	return out
}

// Branches converts competing histories.
func Branches(list []finding.Branch) []Branch {
	var out []Branch
	for _, b := range list {
		out = append(out, Branch{[2]int64{b.FirstLine, b.LastLine}, [2]int64{b.FirstSeq, b.LastSeq}, b.Offset, b.Length})
	}
	return out
}
