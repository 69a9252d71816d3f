package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fatih/color"

	"github.com/sessfix/sessfix/edit"
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/repair"
)

const (
	// folded is how many characters of a line that comes are shown.
	folded = 120
	// hunks is how many edits are shown, where not all are asked for.
	hunks = 40
)

// Diff shows the edits of a plan in order: what leaves, as offsets, and what comes. Text of the conversation, which some records
// tell again, is shown only where the style asks for it.
func Diff(path string, o *repair.Outcome, st Style) string {
	d := differ{o: o, st: st}
	fmt.Fprintf(&d.b, "\n%s\n%s\n",
		st.paint(fmt.Sprintf("--- %s  %d bytes, sha256 %s", Safe(path), o.Result.Account.Size, o.SHA256[0]), color.Bold),
		st.paint(fmt.Sprintf("+++ planned  %d bytes, sha256 %s", o.Result.Size(), o.SHA256[1]), color.Bold))
	for _, r := range o.Result.Removed {
		if o.Plan.Framed && r.Data == nil {
			d.frame(r)
		}
	}
	for _, e := range o.Plan.Edits {
		d.edit(e)
	}
	if d.left > 0 {
		fmt.Fprintf(&d.b, "and %d more edits (-v shows all)\n", d.left)
	}
	a := o.Result.Account
	fmt.Fprintf(&d.b, "%d bytes = %d kept + %d quarantined + %d replaced; %d added\n", a.Size, a.Kept, a.Quarantined, a.Replaced, a.Added)
	return d.b.String()
}

type differ struct {
	o           *repair.Outcome
	st          Style
	b           strings.Builder
	shown, left int
}

// head begins a hunk, unless there were enough.
func (d *differ) head(place string, codes []finding.Code) bool {
	if d.shown >= hunks && !d.st.All {
		d.left++
		return false
	}
	d.shown++
	var names []string
	for _, c := range codes {
		names = append(names, d.st.Minus(string(c)))
	}
	fmt.Fprintf(&d.b, "%s %s %s\n", d.st.paint("@@ "+place+":", color.FgCyan), strings.Join(names, ", "), d.st.paint("@@", color.FgCyan))
	return true
}

// frame shows a stretch of a compressed file that leaves as it is stored.
func (d *differ) frame(r edit.Removed) {
	place := fmt.Sprintf("offset %d", r.Off)
	if r.Frame > 0 {
		place += fmt.Sprintf(", frame %d", r.Frame)
	}
	if !d.head(place, r.Codes) {
		return
	}
	fate := "to quarantine"
	switch {
	case r.Aside && r.Again:
		fate = "to quarantine; its whole lines are written again"
	case r.Again:
		fate = "its lines are written again"
	}
	d.minus("%s, %s", plural(int(r.Len), "byte"), fate)
}

func (d *differ) edit(e edit.Edit) {
	if !d.head(d.place(e), e.Cures) {
		return
	}
	if e.Del > 0 {
		what := "replaced"
		if e.Aside {
			what = "to quarantine"
		}
		d.minus("%s, %s", plural(int(e.Del), "byte"), what)
	}
	if e.Blank > 0 {
		d.plus("%s, so that nothing moves", plural(int(e.Blank), "space"))
	}
	for _, p := range puts(d.o.Plan, e) {
		switch {
		case string(p.text) == "\n":
			d.plus("a newline")
		case p.own || d.st.Content:
			d.plus("%s", d.fold(p))
		default:
			d.plus("%s of the session, told again%s (--show-content shows them)", plural(len(p.text), "byte"), about(p))
		}
	}
}

func (d *differ) minus(format string, args ...any) {
	fmt.Fprintln(&d.b, d.st.Minus("-"+fmt.Sprintf(format, args...)))
}

func (d *differ) plus(format string, args ...any) {
	fmt.Fprintln(&d.b, d.st.Plus("+"+fmt.Sprintf(format, args...)))
}

// fold shortens a long line, and says what it is.
func (d *differ) fold(p put) string {
	text := Safe(strings.TrimSuffix(string(p.text), "\n"))
	if d.st.Content || d.st.All || utf8.RuneCountInString(text) <= folded+20 {
		return text
	}
	return string([]rune(text)[:folded]) + fmt.Sprintf("… (%d bytes%s)", len(p.text), about(p))
}

func about(p put) string {
	if p.what == "" {
		return ""
	}
	return ": " + p.what
}

// place says where an edit is: its offset, and the line that a fault there stands in.
func (d *differ) place(e edit.Edit) string {
	place := fmt.Sprintf("offset %d", e.At)
	if d.o.Plan.Framed {
		place = "text " + place
	}
	if e.At >= d.o.Before.Text {
		return place + ", the end"
	}
	line, size := int64(0), int64(0)
	for i := range d.o.Before.Findings {
		f := &d.o.Before.Findings[i]
		if f.Logical > 0 && f.Text <= e.At && e.At < max(f.TextEnd(), f.Text+1) && (line == 0 || f.TextLen < size) {
			line, size = f.Logical, f.TextLen
		}
	}
	if line > 0 {
		place += fmt.Sprintf(", line %d", line)
	}
	return place
}

// Minus paints what goes.
func (s Style) Minus(text string) string { return s.paint(text, color.FgRed) }

// Plus paints what comes.
func (s Style) Plus(text string) string { return s.paint(text, color.FgGreen) }
