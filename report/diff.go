package report

import (
	"fmt"
	"strings"

	"github.com/fatih/color"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/repair"
)

// Diff shows the edits of a plan in order: what leaves, as offsets, and what comes. The text of
// the conversation is not shown; what comes is of sessfix's own making.
func Diff(path string, o *repair.Outcome, st Style) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n--- %s  %d bytes, sha256 %s\n+++ planned  %d bytes, sha256 %s\n",
		Safe(path), o.Result.Account.Size, o.SHA256[0], o.Result.Size(), o.SHA256[1])
	for _, r := range o.Result.Removed {
		if !o.Plan.Framed || r.Data != nil {
			continue
		}
		fate := "to quarantine"
		switch {
		case r.Aside && r.Again:
			fate = "to quarantine, its whole lines are written again"
		case r.Again:
			fate = "its lines are written again"
		}
		fmt.Fprintf(&b, "@@ %s at %d, %s: %s @@\n", plural(int(r.Len), "byte"), r.Off, list(r.Codes), fate)
	}
	for _, e := range o.Plan.Edits {
		fmt.Fprintf(&b, "@@ %s %d, %s @@\n", where(o), e.At, list(e.Cures))
		if e.Del > 0 {
			what := "replaced"
			if e.Aside {
				what = "to quarantine"
			}
			fmt.Fprintln(&b, st.paint(fmt.Sprintf("-%s, %s", plural(int(e.Del), "byte"), what), color.FgRed))
		}
		if e.Blank > 0 {
			fmt.Fprintln(&b, st.paint(fmt.Sprintf("+%s, so that nothing moves", plural(int(e.Blank), "space")), color.FgGreen))
		}
		for _, line := range strings.SplitAfter(string(e.Ins), "\n") {
			if line == "" {
				continue
			}
			if line == "\n" {
				line = "a newline"
			}
			fmt.Fprintln(&b, st.paint("+"+Safe(strings.TrimSuffix(line, "\n")), color.FgGreen))
		}
	}
	a := o.Result.Account
	fmt.Fprintf(&b, "%d bytes = %d kept + %d quarantined + %d replaced; %d added\n", a.Size, a.Kept, a.Quarantined, a.Replaced, a.Added)
	return b.String()
}

func where(o *repair.Outcome) string {
	if o.Plan.Framed {
		return "text offset"
	}
	return "offset"
}

func list(codes []finding.Code) string {
	var out []string
	for _, c := range codes {
		out = append(out, string(c))
	}
	return strings.Join(out, ", ")
}

// Minus paints what goes.
func (s Style) Minus(text string) string { return s.paint(text, color.FgRed) }

// Plus paints what comes.
func (s Style) Plus(text string) string { return s.paint(text, color.FgGreen) }
