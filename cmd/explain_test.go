package cmd

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/sessfix/sessfix/finding"
)

// Every code that a report can show is explained, in the same few forms.
func TestEveryCodeIsExplained(t *testing.T) {
	listed, _, code := inProcess(t, "", "explain")
	if code != exitClean {
		t.Fatalf("explain ends with %d", code)
	}
	for _, e := range finding.All() {
		if !regexp.MustCompile(`(?m)^` + string(e.Code) + ` +` + regexp.QuoteMeta(e.Title) + `$`).MatchString(listed) {
			t.Errorf("explain does not list %s", e.Code)
		}
		out, complaint, code := inProcess(t, "", "explain", string(e.Code))
		if code != exitClean || complaint != "" {
			t.Errorf("explain %s ends with %d: %s", e.Code, code, complaint)
		}
		for _, want := range []string{string(e.Code) + ": " + e.Title, e.Means, e.Repair, e.Never} {
			if !strings.Contains(out, want) {
				t.Errorf("explain %s does not say %q", e.Code, want)
			}
		}
		if e.Means == "" || e.Repair == "" {
			t.Errorf("%s: what it means and what repair does must be said", e.Code)
		}
		title(t, e)
		for _, text := range []string{e.Title, e.Means, e.Repair, e.Never} {
			if complaint := unfit(text, false); complaint != "" || strings.ContainsAny(text, "\n\t") {
				t.Errorf("%s: %q: %s", e.Code, text, complaint)
			}
		}
	}
}

// title wants one line in lower case: only what is always in capitals, as NUL or JSON, may stand
// so.
func title(t *testing.T, e finding.Entry) {
	t.Helper()
	if e.Title == "" || strings.HasSuffix(e.Title, ".") || len(e.Title) > 80 {
		t.Errorf("%s: the title is no short line without full stop: %q", e.Code, e.Title)
	}
	for _, word := range strings.FieldsFunc(e.Title, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if word != strings.ToLower(word) && word != strings.ToUpper(word) {
			t.Errorf("%s: %q in the title is neither lower case nor all capitals: %q", e.Code, word, e.Title)
		}
	}
}

// Every command's help shows how it is used and what its exit status means.
func TestEveryHelpIsComplete(t *testing.T) {
	root := (&app{io: IO{Env: func(string) string { return "" }}}).root()
	commands := [][]string{{}}
	for _, c := range root.Commands() {
		commands = append(commands, []string{c.Name()})
	}
	if len(commands) < 7 {
		t.Fatalf("only %d commands", len(commands))
	}
	for _, args := range commands {
		name := "sessfix " + strings.Join(args, " ")
		out, complaint, code := inProcess(t, "", append(args, "--help")...)
		if code != exitClean || complaint != "" {
			t.Errorf("%s --help ends with %d: %s", name, code, complaint)
		}
		for _, want := range []string{"Usage:", "Examples:\n  sessfix", exitHelp, "-h, --help"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s --help lacks %q", name, want)
			}
		}
		if complaint := unfit(out, false); complaint != "" {
			t.Errorf("%s --help: %s", name, complaint)
		}
		for line := range strings.Lines(out) {
			// 80 columns would be better; flag descriptions do not fit.
			if len(line) > 121 {
				t.Errorf("%s --help: a line of %d bytes: %s", name, len(line), line)
			}
		}
		// The examples that are no trees of the user's are commands that exist with flags that exist.
		for _, m := range regexp.MustCompile(`(?m)^  sessfix ([a-z]+)`).FindAllStringSubmatch(out, -1) {
			if c, _, err := root.Find([]string{m[1]}); err != nil || c == root && m[1] != "help" && m[1] != "completion" {
				t.Errorf("%s --help: the example names no command: %s", name, m[0])
			}
		}
	}
}
