package export

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/jsonout"
	"github.com/sessfix/sessfix/session"
	"github.com/sessfix/sessfix/verify"
)

// WriteMarkdown writes a transcript: what was said on the way to where the talk goes on, with calls and results folded. The session
// is read as a repair would leave it. What somebody said stands in quotes, in which no text can pass for the transcript's own; links to
// images are broken, so that whoever shows the page loads nothing.
func WriteMarkdown(ctx context.Context, w io.Writer, s *Session, o Options) error {
	m := newMarkdown(w)
	m.head(s)
	t, err := s.Follow(ctx, true)
	if err != nil {
		return err
	}
	err = t.Say(ctx, false, func(said *Said) error {
		if !o.Content {
			Redact(&said.Message)
		}
		m.said(said)
		return m.err
	})
	if err != nil {
		return err
	}
	m.foot(t)
	if m.err != nil {
		return m.err
	}
	return m.w.Flush()
}

type markdown struct {
	w     *bufio.Writer
	err   error
	role  string
	turn  int
	names map[string]string // of the tools of the last calls, by id
}

func newMarkdown(w io.Writer) *markdown {
	return &markdown{w: bufio.NewWriterSize(w, 1<<16), names: map[string]string{}}
}

func (m *markdown) print(format string, args ...any) {
	if m.err == nil {
		_, m.err = fmt.Fprintf(m.w, format, args...)
	}
}

// head says whose talk it is, and what is wrong with the log.
func (m *markdown) head(s *Session) {
	title, cwd := s.Names()
	version, file := "", s.Parts[0].File
	var records, turns int64
	for _, p := range s.Parts {
		if p == s.Talk {
			file = p.File
			version, records, turns = p.Found.Version, p.Found.Records, p.Found.Turns
		}
	}
	if title == "" {
		title = s.Parts[0].File
	}
	m.print("# Session %s\n\n", code(title))
	m.print("- Agent: %s", escaped(s.Parts[0].Format.Name()))
	if version != "" {
		m.print(", format %s", escaped(version))
	}
	m.print("\n")
	if cwd != "" {
		m.print("- Directory: %s\n", code(cwd))
	}
	m.print("- Log: %s, %s, %s\n", code(file), plural(records, "record"), plural(turns, "turn"))
	m.print("- Verdict: %s\n", s.Verdict())
	for _, p := range s.Bases {
		m.print("- Begins in: %s, the first %d bytes of its text\n", code(p.File), p.Until)
	}
	if s.BaseError != nil {
		m.print("- Its beginning stands in another file, which is not told here: %s\n", escaped(s.BaseError.Error()))
	}
	m.findings(s)
	m.print("\n---\n")
}

// findings are those that are more than notes.
func (m *markdown) findings(s *Session) {
	told := 0
	for _, p := range s.Parts {
		for _, f := range jsonout.Findings(p.File, p.Found.Findings) {
			if f.Severity == "note" {
				continue
			}
			if told++; told == 1 {
				m.print("\n## Findings\n\n")
				if s.Verdict() == verify.Repairable {
					m.print("The transcript shows the session as a repair would leave it.\n\n")
				} else {
					m.print("None of these can be mended safely: the transcript shows what can be read.\n\n")
				}
			}
			if told > 50 {
				continue
			}
			m.print("- **%s** at %s offset %d: %s\n", f.Code, code(f.File), f.Offset, escaped(f.Message))
		}
	}
	if told > 50 {
		m.print("- and %d more\n", told-50)
	}
}

func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// said writes a message.
func (m *markdown) said(s *Said) {
	var calls, rest []*format.Block
	for i := range s.Blocks {
		switch b := &s.Blocks[i]; b.Kind {
		case format.Result:
			calls = append(calls, b)
		default:
			rest = append(rest, b)
		}
	}
	for _, b := range calls {
		m.result(b)
	}
	if len(rest) == 0 {
		return
	}
	m.heading(s)
	for _, b := range rest {
		m.block(s, b)
	}
}

// heading names who speaks, where that is somebody else than before.
func (m *markdown) heading(s *Said) {
	word := map[format.Role]string{format.Note: "Note", format.System: "Instructions", format.User: "User", format.Assistant: "Assistant", format.Tool: "Tool"}[s.Role]
	gone := s.State == Compacted && s.For != format.PeopleOnly
	key := fmt.Sprint(word, s.For, s.Stands, s.Title, gone)
	if key == m.role && s.Role == format.Assistant {
		return
	}
	m.role = key
	switch {
	case s.Stands:
		word = "Summary"
	case s.Role == format.User && s.For == format.ModelOnly:
		word = "Context"
	case s.Role == format.User:
		m.turn++
		word = fmt.Sprintf("User %d", m.turn)
	}
	m.print("\n## %s", word)
	if s.Title != "" {
		m.print(": %s", escaped(s.Title))
	}
	if s.Model != "" && s.Role == format.Assistant {
		m.print(" (%s)", escaped(s.Model))
	}
	if s.Time > 0 {
		m.print(" · %s", time.UnixMilli(s.Time).UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	if gone {
		m.print(" · no longer sent")
	}
	m.print("\n")
}

func (m *markdown) block(s *Said, b *format.Block) {
	switch b.Kind {
	case format.Text:
		if strings.TrimSpace(b.Text) == "" {
			return
		}
		if s.For == format.ModelOnly {
			m.fold(fmt.Sprintf("for the model alone, %d bytes", len(b.Text)), b.Text, "")
			return
		}
		m.print("\n%s\n", quoted(b.Text))
	case format.Thinking:
		switch {
		case b.Text == "":
			m.print("\n*Thinking that cannot be read.*\n")
		default:
			m.fold("thinking", b.Text, "")
		}
	case format.Call:
		if len(m.names) > 4096 {
			clear(m.names)
		}
		m.names[b.ID] = b.Name
		text, kind := b.Text, ""
		if len(b.Input) > 0 {
			text, kind = string(b.Input), "json"
		}
		m.fold("call "+code(b.Name)+" "+code(b.ID), text, kind)
	case format.Image, format.File:
		m.print("\n*%s*\n", escaped(stands(*b)))
	default:
		if b.Text != "" {
			m.print("\n*%s*\n", escaped(b.Text))
		}
	}
}

// result writes what a call gave.
func (m *markdown) result(b *format.Block) {
	title := "result"
	if name := m.names[b.ID]; name != "" {
		title += " of " + code(name)
	}
	title += " " + code(b.ID)
	switch {
	case b.MadeUp:
		title += ": made up by a recovery"
	case b.Failed:
		title += ": failed"
	}
	text := b.Text
	for _, x := range b.Content {
		switch {
		case x.Kind == format.Text && text == "":
			text = x.Text
		case x.Kind == format.Text:
			text += "\n" + x.Text
		case x.Kind == format.Image, x.Kind == format.File:
			text += "\n" + stands(x)
		}
	}
	m.fold(title, text, "")
}

// fold hides a text below its title.
func (m *markdown) fold(title, text, kind string) {
	text = strings.TrimRight(visible(text), "\n")
	if text == "" {
		m.print("\n<details><summary>%s</summary></details>\n", title)
		return
	}
	fence := strings.Repeat("`", max(longest(text, '`')+1, 3))
	m.print("\n<details><summary>%s</summary>\n\n%s%s\n%s\n%s\n\n</details>\n", title, fence, kind, text, fence)
}

// foot says what is not told.
func (m *markdown) foot(t *Talk) {
	branches, back := t.untold()
	if branches+back == 0 {
		return
	}
	m.print("\n---\n\n")
	if branches > 0 {
		m.print("*On other branches, and not told here: %s of talk.*\n", plural(branches, "record"))
	}
	if back > 0 {
		m.print("*Taken back, and not told here: %s.*\n", plural(back, "record"))
	}
}

// untold counts records that Say leaves out.
func (t *Talk) untold() (branches, back int64) {
	if t.tree != nil {
		for n, s := range t.tree.state {
			if k := t.tree.Nodes[n].Kind; s == Branch && (k == session.UserMessage || k == session.AssistantMessage || k == session.CallResult) {
				branches++
			}
		}
	}
	if t.line != nil {
		for _, s := range t.line.back {
			back += s.behind - s.first
		}
	}
	return branches, back
}

// longest is the longest run of a byte.
func longest(text string, c byte) (most int) {
	run := 0
	for i := range len(text) {
		if text[i] != c {
			run = 0
			continue
		}
		run++
		most = max(most, run)
	}
	return most
}

// code is a name as HTML code, which also stands in titles.
func code(name string) string {
	if name == "" {
		return ""
	}
	return "<code>" + escaped(name) + "</code>"
}

// escaped is a short text of which no sign means anything.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range visible(strings.Join(strings.Fields(text), " ")) {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case strings.ContainsRune("\\`*_[]!#|~", r):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
