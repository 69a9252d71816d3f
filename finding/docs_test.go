package finding_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/all"
)

var update = flag.Bool("update", false, "write the generated parts of docs/ again")

// The pages that say what codes mean are made of the catalogue and of the reaction tables, so
// that they cannot say anything else. go test ./finding -update writes them.

func TestFindingsPage(t *testing.T) {
	page := filepath.Join("..", "docs", "findings.md")
	have, err := os.ReadFile(page)
	if err != nil && !*update {
		t.Fatal(err)
	}
	settle(t, page, have, findingsPage())
}

func TestReactionTables(t *testing.T) {
	for _, f := range all.Formats() {
		page := filepath.Join("..", "docs", "formats", f.Name()+".md")
		have, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		const begin, end = "<!-- reactions: begin -->\n", "<!-- reactions: end -->"
		front, rest, ok1 := bytes.Cut(have, []byte(begin))
		_, back, ok2 := bytes.Cut(rest, []byte(end))
		if !ok1 || !ok2 {
			t.Fatalf("%s lacks the marks that the table stands between", page)
		}
		table, err := format.ParseReactions(f.(format.Reactor).Reactions())
		if err != nil {
			t.Fatal(err)
		}
		want := bytes.Join([][]byte{front, []byte(begin), reactionTable(table), []byte(end), back}, nil)
		settle(t, page, have, want)
	}
}

func settle(t *testing.T, page string, have, want []byte) {
	t.Helper()
	if bytes.Equal(have, want) {
		return
	}
	if !*update {
		t.Fatalf("%s is behind the code: go test ./finding -update", page)
	}
	if err := os.WriteFile(page, want, 0o644); err != nil {
		t.Fatal(err)
	}
}

var stages = []struct {
	stage       finding.Stage
	title, says string
}{
	{finding.StageBytes, "Bytes", "Is every record whole? These are found without knowing whose log it is; `sessfix scan` finds them too."},
	{finding.StageHeader, "Header and single records", "Whose session is it, in which version, and does the client take each record by itself?"},
	{finding.StageNumbers, "Numbers", "Do the records stand in one line, each once?"},
	{finding.StageTree, "The tree", "Where records hang under each other: does the way up from where the client goes on reach everything that was said?"},
	{finding.StageCalls, "Calls", "Has every call one result, behind it?"},
	{finding.StageTurns, "Turns, and what stands open", "Do turns and steps nest, and what did the log end in?"},
	{finding.StageHome, "Homes and other processes", "What lies around the session, and who else is at work on it?"},
}

var cures = map[finding.Cure]string{
	finding.Auto:   "repair mends it",
	finding.Leave:  "repair leaves it",
	finding.Refuse: "repair refuses",
}

func findingsPage() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Findings

<!-- Made by: go test ./finding -update. Edit finding/entries.go instead. -->

A finding is one fault of a session. Its code never changes its meaning and is never renamed.
%s prints what stands here.

Severity and cure below are those of the catalogue. They hold where the agent's format has no row
of its own for the fault: what the next client does decides. The rows: [dsh](formats/dsh.md#damage-table),
[Claude Code](formats/claude-code.md#damage-table).

* **Severity.** A %s leaves a session clean. A %s and an %s do not.
* **Cure.** *Repair mends it*: there is one safe way. *Repair leaves it*: nothing need be done.
  *Repair refuses*: there is no safe way, and the entry names the way out.

`, "`sessfix explain CODE`", "`note`", "`warning`", "`error`")
	for _, s := range stages {
		fmt.Fprintf(&b, "* [%s](#%s):", s.title, anchor(s.title))
		sep := " "
		for _, e := range finding.All() {
			if e.Stage == s.stage {
				fmt.Fprintf(&b, "%s[`%s`](#%s)", sep, e.Code, strings.ToLower(string(e.Code)))
				sep = ", "
			}
		}
		b.WriteString("\n")
	}
	for _, s := range stages {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", s.title, s.says)
		for _, e := range finding.All() {
			if e.Stage != s.stage {
				continue
			}
			fmt.Fprintf(&b, "\n### %s\n\n%s. *%s; %s.*\n\n%s\n\n* Repair: %s.\n", e.Code, upper(e.Title), e.Severity, cures[e.Cure], e.Means, e.Repair)
			if e.Never != "" {
				fmt.Fprintf(&b, "* Never: %s.\n", e.Never)
			}
		}
	}
	fmt.Fprintf(&b, `
## What closers say

A closer is a record that repair adds to end what a crash left open. These codes stand in closers
of calls. They are no findings.

* %s: the log records starts, and holds none for this call. It may be run again if it is still wanted.
* %s: the call had started, or the log cannot tell. Look at its effects before repeating it.
* %s: the result is real. It was found in another record of the session.
`, "`"+finding.ToolNotStarted+"`", "`"+finding.ToolOutcomeUnknown+"`", "`"+finding.ResultRestored+"`")
	return b.Bytes()
}

func reactionTable(table format.Reactions) []byte {
	var b bytes.Buffer
	b.WriteString("| Finding | Where | Versions | What the client does next | Severity | sessfix |\n|---|---|---|---|---|---|\n")
	for _, r := range table {
		versions := "all"
		switch {
		case r.From >= 0 && r.From == r.To:
			versions = fmt.Sprint(r.From)
		case r.From >= 0:
			versions = fmt.Sprintf("%d to %d", r.From, r.To)
		}
		where := r.Where
		if where == "-" {
			where = "any"
		}
		fmt.Fprintf(&b, "| [`%s`](../findings.md#%s) | %s | %s | %s | %s | %s |\n",
			r.Code, strings.ToLower(string(r.Code)), where, versions, r.Sentence(), r.Severity, cures[r.Cure])
	}
	return b.Bytes()
}

// anchor is what a heading is called in links.
func anchor(title string) string {
	return strings.ReplaceAll(strings.ToLower(strings.ReplaceAll(title, ",", "")), " ", "-")
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
