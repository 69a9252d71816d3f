package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/sessfix/sessfix/verify"
)

// JUnit XML, in the dialect that Jenkins' own schema describes and every other reader takes: a suite an agent, a case a session. A
// session that is damaged fails, a path that could not be looked at is an error, notes are output. Times are 0: nothing is
// measured, so that equal sessions give equal reports.

type junitSuites struct {
	XMLName  xml.Name      `xml:"testsuites"`
	Name     string        `xml:"name,attr"`
	Tests    int           `xml:"tests,attr"`
	Failures int           `xml:"failures,attr"`
	Errors   int           `xml:"errors,attr"`
	Time     string        `xml:"time,attr"`
	Suites   []*junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitProblem `xml:"failure"`
	Error   *junitProblem `xml:"error"`
	Out     *junitText    `xml:"system-out"`
}

type junitProblem struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	junitText
}

// junitText is text whose newlines stay: the encoder would write each as a reference.
type junitText struct {
	XML string `xml:",innerxml"`
}

func textOf(text string) junitText {
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(text))
	return junitText{strings.ReplaceAll(b.String(), "&#xA;", "\n")}
}

// unreadable is the type of an error: it is no finding.
const unreadable = "UNREADABLE"

// JUnit writes the document.
func (d *Document) JUnit(w io.Writer) error {
	all := junitSuites{Name: d.Tool.Name, Time: "0"}
	suites := map[string]*junitSuite{}
	add := func(agent string, c junitCase) {
		s := suites[agent]
		if s == nil {
			s = &junitSuite{Name: agent, Time: "0"}
			suites[agent] = s
			all.Suites = append(all.Suites, s)
		}
		c.Class, c.Time = agent, "0"
		s.Cases = append(s.Cases, c)
		s.Tests++
		all.Tests++
		if c.Failure != nil {
			s.Failures++
			all.Failures++
		}
		if c.Error != nil {
			s.Errors++
			all.Errors++
		}
	}
	for _, s := range d.subjects() {
		add(s.suite(), s.junit())
	}
	for _, e := range d.Errors {
		text := Safe(e.Error)
		add(d.Tool.Name, junitCase{Name: Safe(e.Path), Error: &junitProblem{unreadable, text, textOf(text)}})
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	e := xml.NewEncoder(&b)
	e.Indent("", " ")
	if err := e.Encode(all); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := w.Write(b.Bytes())
	return err
}

// suite is the agent; a byte map knows of none.
func (s *Session) suite() string {
	if s.Agent == "" {
		return "bytes"
	}
	return s.Agent
}

func (s *Session) junit() junitCase {
	c := junitCase{Name: Safe(s.Path)}
	if s.root {
		c.Name += " (the whole root)"
	}
	var out []string
	switch {
	case s.Repaired:
		out = append(out, "repaired: "+codes(s.Findings))
		if s.Output != "" {
			out = append(out, "written to "+Safe(s.Output))
		}
	case s.Verdict != verify.Clean.String():
		c.Failure = &junitProblem{Type: s.first(), Message: s.verdict() + ": " + codes(s.Findings), junitText: textOf("\n" + s.findings())}
	}
	for i := range s.Findings {
		if f := &s.Findings[i]; f.Severity == "note" {
			out = append(out, "note "+told{s: s, f: f}.at()+" "+f.Code+": "+Safe(f.Message))
		}
	}
	if len(out) > 0 {
		t := textOf(strings.Join(out, "\n"))
		c.Out = &t
	}
	return c
}

// outcome is the verdict, or what this run made of it.
func (s *Session) outcome() string {
	if s.Repaired {
		return "repaired"
	}
	return s.verdict()
}

// verdict is the session's verdict in words.
func (s *Session) verdict() string {
	if s.Verdict == verify.Refused.String() {
		return "refused"
	}
	return s.Verdict
}

// first is the code of the first finding that is no consequence and no note.
func (s *Session) first() string {
	for _, f := range causesFirst(s.Findings) {
		if f.Severity != "note" {
			return f.Code
		}
	}
	return s.verdict()
}

// findings are those that are no notes, with what to do.
func (s *Session) findings() string {
	var b strings.Builder
	list := causesFirst(s.Findings)
	for i := range list {
		f := &list[i]
		if f.Severity == "note" {
			continue
		}
		t := told{s: s, f: f}
		fmt.Fprintf(&b, "%s %s %s: %s\n", f.Severity, t.at(), f.Code, strings.ReplaceAll(t.advice(), "\n", "\n  "))
	}
	if s.Refusal != "" {
		fmt.Fprintf(&b, "not repaired: %s\n", Safe(s.Refusal))
	}
	return b.String()
}

// at names the place of a finding in a word or two.
func (t told) at() string {
	if t.s.root {
		return Safe(t.s.Path)
	}
	name, rows := t.file()
	at := fmt.Sprintf("%s:%d", Safe(filepath.Base(name)), t.f.Offset)
	if rows {
		at = fmt.Sprintf("%s, text offset %d", Safe(filepath.Base(name)), t.f.Offset)
	}
	return at + t.f.place()
}
