package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/jsonout"
	"github.com/sessfix/sessfix/report"
)

// hostile are names that try to become something else in a report.
var hostile = []string{
	"a\n::error file=x::owned", "::add-mask::secret", "##[add-path]/tmp", "a%0A::debug::b", "x,line=9,title=owned::y",
	"<img src=x onerror=alert(1)>", "a|b|c", "`code` **bold** _it_ ~~no~~", "[click](https://evil.example)", "https://evil.example/x", "www.evil.example", "@team #12 :smile: $x$",
	"]]><failure/>", "\x00\x01\x1b[31mred\x07", "\xff\xfe", "\ufffe\uffff", "a\u2028b\u0085c\u202ed", "{0} {1}", `\[x\](y)`, "a\rb", "&lt;b&gt;", "-->",
}

// hostileReport has each name everywhere where the bytes of a session or a path may come through.
func hostileReport() *report.Document {
	d := &report.Document{Version: 1, Tool: jsonout.Tool{Name: "sessfix", Version: "x"}}
	for _, h := range hostile {
		call := h
		f := report.Finding{Finding: jsonout.Finding{Code: "DANGLING_CALL", Severity: "error", File: h, Offset: 1, Length: 2, Line: 3, CallID: &call, Missing: h, Message: "call " + h, Client: h, Repair: h, Never: h}}
		note := f
		note.Code, note.Severity = "UNREACHABLE_WORK", "note"
		d.Sessions = append(d.Sessions, report.Session{Path: h, Agent: "toy", FormatVersion: h, ID: h, Verdict: "refuse", Findings: []report.Finding{f, note}, Refusal: h})
		d.Homes = append(d.Homes, report.Home{Path: h, Agent: "toy", Verdict: "refuse", Findings: []report.Finding{f}})
		d.Errors = append(d.Errors, report.Error{Path: h, Error: h})
		d.Summary.Sessions++
		d.Summary.Refused++
		d.Summary.Failed++
	}
	return d
}

func text(t *testing.T, write func(w *bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The runner reads a line as a command where it begins with "::", or holds "##[".
func TestHostileNamesAreNoCommands(t *testing.T) {
	out := text(t, func(w *bytes.Buffer) error { return hostileReport().GitHub(w, "") })
	command := regexp.MustCompile(`^::(error|warning|notice) file=[^:,\x00-\x1f]*(,line=3)?,title=[A-Za-z_ ]+::[^\x00-\x1f]*$`)
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	for i, line := range lines {
		if i == len(lines)-1 {
			if strings.Contains(line, "::") || strings.Contains(line, "##[") {
				t.Errorf("the last line is a command: %q", line)
			}
		} else if !command.MatchString(line) {
			t.Errorf("no command of ours: %q", line)
		}
	}
}

func TestHostileNamesAreNoMarkup(t *testing.T) {
	out := text(t, func(w *bytes.Buffer) error { return hostileReport().Markdown(w, report.SummaryLimit) })
	// What is ours: headings, tables, elements for code, links to the page of findings.
	for _, own := range []*regexp.Regexp{
		regexp.MustCompile("\\[`[A-Z_]+`\\]\\(https://github\\.com/sessfix/sessfix/blob/main/docs/findings\\.md#[a-z_]+\\)"),
		regexp.MustCompile(`</?code>`), regexp.MustCompile(`(?m)^\|[-|]+\|$`), regexp.MustCompile(`(?m)^###? `), regexp.MustCompile(`&#[0-9]+;`), regexp.MustCompile(`DANGLING_CALL|sessfix: |Not repaired: `), regexp.MustCompile(`(\d+ sessions|roots with faults of its own): `),
	} {
		out = own.ReplaceAllString(out, "")
	}
	for i, line := range strings.Split(out, "\n") {
		line = strings.Trim(line, "| ")
		if bad := regexp.MustCompile("[<>`*_\\[\\](){}:@#!~$&\\\\]|(?i)www\\.").FindString(line); bad != "" {
			t.Errorf("line %d holds %q: %q", i+1, bad, line)
		}
	}
}

func TestHostileNamesInXML(t *testing.T) {
	out := text(t, func(w *bytes.Buffer) error { return hostileReport().JUnit(w) })
	d := xml.NewDecoder(strings.NewReader(out))
	count := map[string]int{}
	for {
		token, err := d.Token()
		if token == nil {
			if err.Error() != "EOF" {
				t.Fatal(err)
			}
			break
		}
		if s, ok := token.(xml.StartElement); ok {
			count[s.Name.Local]++
		}
	}
	n := len(hostile)
	want := map[string]int{"testsuites": 1, "testsuite": 2, "testcase": 3 * n, "failure": 2 * n, "error": n, "system-out": n}
	if fmt.Sprint(count) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", count, want)
	}
	if strings.ContainsRune(out, '\ufffd') {
		t.Error("a character was lost that should be escaped")
	}
}

func TestHostileNamesInSARIF(t *testing.T) {
	out := text(t, func(w *bytes.Buffer) error { return hostileReport().SARIF(w, "") })
	var v any
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatal(err)
	}
	link, placeholder := regexp.MustCompile(`[^\\]\]\(`), regexp.MustCompile(`(^|[^{]){\d`)
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if m, ok := v["message"].(map[string]any); ok {
				if s := m["text"].(string); link.MatchString(s) || placeholder.MatchString(s) || strings.ContainsAny(s, "\x00\x1b\x07\r") {
					t.Errorf("message %q", s)
				}
			}
			if s, ok := v["uri"].(string); ok && strings.ContainsAny(s, " <>\"{}|\\^`\x00\x1b#?:") {
				t.Errorf("uri %q", s)
			}
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(v)
}
