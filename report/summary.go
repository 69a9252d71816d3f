package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/sessfix/sessfix/verify"
)

// SummaryLimit is how many bytes GitHub takes of the summary of a step; of a larger one it shows nothing.
const SummaryLimit = 1 << 20

// Markdown writes the document as Markdown for the summary of a step: the sessions that are not clean, then their findings. It
// takes at most limit bytes, whole rows only, and says what is left out.
func (d *Document) Markdown(w io.Writer, limit int) error {
	const last = 200 // bytes for the last sentence
	if limit < last {
		return nil
	}
	m := markdown{left: limit - last}
	m.add("## sessfix: %s\n", d.Summary.line(Style{}, d.Faulty()))
	var faulty []*Session
	for _, s := range d.subjects() {
		if s.Verdict != verify.Clean.String() {
			faulty = append(faulty, s)
		}
	}
	if len(faulty) > 0 {
		m.add("\n| Session | Agent | Verdict | Findings |\n|---|---|---|---|\n")
	}
	for _, s := range faulty {
		m.add("| %s | %s | %s | %s |\n", code(s.name()), text(agent(s)), s.outcome(), codes(s.Findings))
	}
	if len(d.Errors) > 0 {
		m.add("\n### Could not be looked at\n\n| Path | Why |\n|---|---|\n")
	}
	for _, e := range d.Errors {
		m.add("| %s | %s |\n", code(e.Path), text(e.Error))
	}
	for _, s := range faulty {
		if !s.Repaired {
			s.markdown(&m)
		}
	}
	if m.omitted > 0 {
		m.b.WriteString("\n" + plural(m.omitted, "row") + " left out here: a summary holds 1 MiB. The report of verify has all of them.\n")
	}
	_, err := io.WriteString(w, m.b.String())
	return err
}

// markdown writes as long as there is room.
type markdown struct {
	b       strings.Builder
	left    int
	omitted int
}

// add writes a block whole or not at all. Once one did not fit, none behind it does: what is shown has no holes.
func (m *markdown) add(format string, args ...any) {
	block := fmt.Sprintf(format, args...)
	if m.omitted > 0 || len(block) > m.left {
		m.omitted++
		return
	}
	m.left -= len(block)
	m.b.WriteString(block)
}

func (s *Session) name() string {
	if s.root {
		return s.Path + " (the whole root)"
	}
	return s.Path
}

// markdown tells the findings of one session.
func (s *Session) markdown(m *markdown) {
	head := "\n### " + code(s.name()) + "\n"
	if s.Refusal != "" {
		head += "\nNot repaired: " + text(s.Refusal) + "\n"
	}
	head += "\n| Finding | Where | What | Next | Repair | Never |\n|---|---|---|---|---|---|\n"
	for _, f := range causesFirst(s.Findings) {
		if f.Severity == "note" {
			continue
		}
		t := told{s: s, f: &f}
		m.add("%s| %s [`%s`](%s#%s) | %s | %s | %s | %s | %s |\n", head,
			f.Severity, f.Code, findingPage, strings.ToLower(f.Code), code(t.at()), text(f.Message), text(f.Client), text(f.Repair), text(f.Never))
		head = ""
	}
}

// code is text in the type of code. It is written as an element: between backticks nothing could be escaped.
func code(s string) string { return "<code>" + text(s) + "</code>" }

// text is text of others in Markdown: every character that could be markup, a link, a mention or the end of a cell is written by
// its number.
func text(s string) string {
	var b strings.Builder
	s = Safe(s)
	for i, r := range s {
		switch {
		case strings.ContainsRune("&<>|\\`*_[](){}:@#!~$^\"'=+", r), r == '.' && i >= 3 && strings.EqualFold(s[i-3:i], "www"):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
