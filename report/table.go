package report

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fatih/color"
	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// Style says how text is written.
type Style struct {
	Color   bool
	Details bool // findings of each session below the table
	All     bool // every one of them
	Content bool // text of the session as well, where a plan tells it again
	brief   bool // say what was wrong, not what to do about it
}

func (s Style) paint(text string, attrs ...color.Attribute) string {
	if !s.Color {
		return text
	}
	c := color.New(attrs...)
	c.EnableColor()
	return c.Sprint(text)
}

func (s Style) verdict(v string) string {
	switch v {
	case "clean", "repaired":
		return s.paint(v, color.FgGreen)
	case "repairable":
		return s.paint(v, color.FgYellow)
	}
	return s.paint(v, color.FgRed)
}

// Table writes the document for people: one line a session, then the details.
func (d *Document) Table(w io.Writer, st Style) error {
	if len(d.Sessions) > 0 {
		if err := d.sessions(w, st); err != nil {
			return err
		}
	}
	for i := range d.Homes {
		h := &d.Homes[i]
		fmt.Fprintf(w, "\n%s  %s\n", Safe(h.Path), st.paint("the whole root", color.Bold))
		details(w, st, h.Findings, h.Path)
	}
	if st.Details {
		for i := range d.Sessions {
			d.Sessions[i].details(w, st)
		}
	}
	if len(d.Sessions)+len(d.Homes) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "\n%s\n", d.Summary.line(st, d.Faulty()))
	return err
}

func (d *Document) sessions(out io.Writer, st Style) error {
	var w bytes.Buffer
	t := tablewriter.NewTable(&w,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone,
			Settings: tw.Settings{
				Separators: tw.Separators{BetweenColumns: tw.Off, BetweenRows: tw.Off, ShowHeader: tw.Off},
				Lines:      tw.Lines{ShowHeaderLine: tw.Off, ShowFooterLine: tw.Off, ShowTop: tw.Off, ShowBottom: tw.Off},
			},
		})),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAlignment(tw.AlignLeft),
		tablewriter.WithRowAlignmentConfig(tw.CellAlignment{PerColumn: []tw.Align{tw.AlignLeft, tw.AlignLeft, tw.AlignLeft, tw.AlignRight, tw.AlignRight, tw.AlignLeft}}),
		tablewriter.WithPadding(tw.Padding{Left: "", Right: "  ", Overwrite: true}),
		tablewriter.WithTrimSpace(tw.Off),
	)
	t.Header("SESSION", "AGENT", "VERDICT", "RECORDS", "TURNS", "FINDINGS")
	for i := range d.Sessions {
		s := &d.Sessions[i]
		verdict := s.Verdict
		switch {
		case s.Repaired:
			verdict = "repaired"
		case verdict == "refuse":
			verdict = "refused"
		}
		row := []string{Safe(s.Path), agent(s), st.verdict(verdict), strconv.FormatInt(s.Records, 10), strconv.FormatInt(s.Turns, 10), codes(s.Findings)}
		if err := t.Append(row); err != nil {
			return err
		}
	}
	if err := t.Render(); err != nil {
		return err
	}
	for _, line := range strings.SplitAfter(w.String(), "\n") {
		if _, err := io.WriteString(out, trimEnd(line)); err != nil {
			return err
		}
	}
	return nil
}

// trimEnd takes the blanks off the end of a line.
func trimEnd(line string) string {
	if body, ok := strings.CutSuffix(line, "\n"); ok {
		return strings.TrimRight(body, " ") + "\n"
	}
	return line
}

// agent names the agent, and the version where there is one.
func agent(s *Session) string {
	if s.FormatVersion == "" {
		return s.Agent
	}
	if !IsVersion(s.FormatVersion) {
		return s.Agent + " " + Safe(s.FormatVersion)
	}
	return s.Agent + " v" + Safe(s.FormatVersion)
}

// codes sums up findings that are no notes, in order of their first appearance.
func codes(list []Finding) string {
	var order []string
	count := map[string]int{}
	for _, f := range list {
		if f.Severity == "note" || f.Because != "" {
			continue
		}
		if count[f.Code] == 0 {
			order = append(order, f.Code)
		}
		count[f.Code]++
	}
	for i, c := range order {
		if count[c] > 1 {
			order[i] = fmt.Sprintf("%s ×%d", c, count[c])
		}
	}
	return strings.Join(order, ", ")
}

func (s *Session) details(w io.Writer, st Style) {
	if len(s.Findings) == 0 && s.Refusal == "" && len(s.Closers) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s", st.paint(Safe(s.Path), color.Bold))
	if s.ID != "" {
		fmt.Fprintf(w, "  session %s", Safe(s.ID))
	}
	fmt.Fprintln(w)
	if s.Tail != nil {
		verb := "ends"
		if s.Repaired {
			verb = "ended"
		}
		where := "in the middle of an answer"
		if s.Tail.Turn > 0 {
			where = fmt.Sprintf("inside turn %d", s.Tail.Turn)
		}
		fmt.Fprintf(w, "  %s %s", verb, where)
		if s.Tail.Step > 0 {
			fmt.Fprintf(w, ", step %d", s.Tail.Step)
		}
		if n := len(s.Tail.Calls); n > 0 {
			fmt.Fprintf(w, ", %s without result", plural(n, "call"))
		}
		fmt.Fprintln(w)
	}
	st.brief = s.Repaired
	details(w, st, s.Findings, "")
	if !s.Repaired {
		for _, o := range s.Offers {
			fmt.Fprintf(w, "  %s %s\n", st.paint("offer", color.FgMagenta), o.Message)
		}
	}
	s.repairDetails(w, st)
}

func (s *Session) repairDetails(w io.Writer, st Style) {
	added, quarantined := "added", "quarantined"
	if !s.Repaired {
		added, quarantined = "would add", "would quarantine"
	}
	if s.Refusal != "" {
		fmt.Fprintf(w, "  %s %s\n", st.paint("not repaired:", color.FgRed), Safe(s.Refusal))
	}
	for _, c := range s.Closers {
		fmt.Fprintf(w, "  %s %s\n", st.paint(added, color.FgGreen), closer(c.Kind, c.CallID, c.Code))
	}
	for _, q := range s.Quarantined {
		at := fmt.Sprintf("%s:%d", Safe(q.File), q.Offset)
		if q.Text != nil {
			at = fmt.Sprintf("%s frame %d, text offset %d", Safe(q.File), q.Frame, *q.Text)
		}
		fmt.Fprintf(w, "  %s %s from %s\n", st.paint(quarantined, color.FgYellow), plural(int(q.Length), "byte"), at)
	}
	if s.Output != "" {
		fmt.Fprintf(w, "  written to %s\n", Safe(s.Output))
	}
	if s.diff != "" {
		fmt.Fprint(w, s.diff)
	}
	if s.Receipt != "" {
		fmt.Fprintf(w, "  receipt %s\n", Safe(s.Receipt))
	}
	for _, p := range s.Parts {
		if p.Receipt != "" {
			fmt.Fprintf(w, "  receipt %s (%s)\n", Safe(p.Receipt), Safe(p.File))
		}
	}
}

// closer says what a record is that ends something.
func closer(kind, call, code string) string {
	if code == "" {
		return kind
	}
	return fmt.Sprintf("%s for call %s: %s", kind, Safe(call), code)
}

// alike is how many findings of one code are told one by one, where not all are asked for.
const alike = 10

func details(w io.Writer, st Style, list []Finding, root string) {
	told := map[string]int{}
	for _, f := range causesFirst(list) {
		if told[f.Code]++; told[f.Code] > alike && !st.All {
			continue
		}
		indent := "  "
		if f.Because != "" {
			indent = "      "
		}
		level := st.paint(f.Severity, color.FgYellow)
		switch f.Severity {
		case "error":
			level = st.paint(f.Severity, color.FgRed)
		case "note":
			level = st.paint(f.Severity, color.FgCyan)
		}
		at := ""
		if root == "" {
			at = Safe(path.Base(f.File)) + ":" + strconv.FormatInt(f.Offset, 10) + " "
		}
		fmt.Fprintf(w, "%s%s %s%s: %s%s\n", indent, level, at, f.Code, Safe(f.Message), f.place())
		if f.Severity == "note" || st.brief {
			continue
		}
		if f.Client != "" {
			fmt.Fprintf(w, "%s  next: %s\n", indent, f.Client)
		}
		if f.Repair != "" {
			fmt.Fprintf(w, "%s  repair: %s\n", indent, Safe(f.Repair))
		}
		if f.Never != "" {
			fmt.Fprintf(w, "%s  never: %s\n", indent, f.Never)
		}
	}
	for _, f := range list {
		if n := told[f.Code] - alike; n > 0 && !st.All {
			told[f.Code] = 0
			fmt.Fprintf(w, "  and %d more %s (-v shows all)\n", n, f.Code)
		}
	}
}

// causesFirst puts consequences behind what they follow from.
func causesFirst(list []Finding) []Finding {
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b Finding) int {
		switch {
		case a.Because == "" && b.Because != "":
			return -1
		case a.Because != "" && b.Because == "":
			return 1
		}
		return 0
	})
	return out
}

// place names line and frame of a finding.
func (f *Finding) place() string {
	switch {
	case f.Line > 0:
		return fmt.Sprintf(" (line %d, %s)", f.Line, plural(int(f.Length), "byte"))
	case f.Frame > 0 && f.LogicalLine > 0:
		return fmt.Sprintf(" (frame %d, line %d of the text)", f.Frame, f.LogicalLine)
	case f.Frame > 0:
		return fmt.Sprintf(" (frame %d)", f.Frame)
	}
	return ""
}

func (s Summary) line(st Style, roots int) string {
	parts := []string{plural(s.Sessions, "session")}
	add := func(n int, word string, attr color.Attribute) {
		if n > 0 {
			parts = append(parts, st.paint(fmt.Sprintf("%d %s", n, word), attr))
		}
	}
	add(s.Clean, "clean", color.FgGreen)
	add(s.Repaired, "repaired", color.FgGreen)
	add(s.Repairable, "repairable", color.FgYellow)
	add(s.Refused, "refused", color.FgRed)
	add(s.Failed, "could not be looked at", color.FgRed)
	line := parts[0]
	if len(parts) > 1 {
		line += ": " + strings.Join(parts[1:], ", ")
	}
	if roots > 0 {
		line += "; " + st.paint(plural(roots, "root")+" with faults of its own", color.FgRed)
	}
	return line
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// Safe makes text fit for a terminal: what does not print is escaped.
func Safe(s string) string {
	plain := true
	for _, r := range s {
		if r == utf8.RuneError || !strconv.IsPrint(r) {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case strconv.IsPrint(r):
			b.WriteString(s[i : i+n])
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
		i += n
	}
	return b.String()
}

// Details writes findings one below the other.
func Details(w io.Writer, st Style, list []Finding) { details(w, st, list, "") }
