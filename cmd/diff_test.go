package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Of a plan with many edits the first are shown, where not all are asked for; none of them holds what it takes out.
func TestDiffIsShort(t *testing.T) {
	lines := strings.SplitAfter(sessionText("id-a", "/srv/app", "Bump.", "Bumped."), "\n")
	var b strings.Builder
	for i, line := range lines[:len(lines)-1] {
		b.WriteString(line)
		if i > 0 {
			b.WriteString(strings.Repeat(line[:20]+marker+"\n", 10))
		}
	}
	file := filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args  []string
		hunks int
		rest  string
	}{
		{[]string{"repair", "-n"}, 40, "and 20 more edits (-v shows all)\n"},
		{[]string{"repair", "-n", "-v"}, 60, ""},
	} {
		out, _, code := inProcess(t, "", append(c.args, file)...)
		if n := strings.Count(out, "\n@@ offset "); n != c.hunks || code != 1 {
			t.Errorf("%q: %d hunks, status %d", c.args, n, code)
		}
		if strings.Contains(out, "more edits") != (c.rest != "") || !strings.Contains(out, c.rest) {
			t.Errorf("%q: not %q in\n%s", c.args, c.rest, out)
		}
		if strings.Contains(out, marker) {
			t.Errorf("%q shows what it takes out", c.args)
		}
		if !strings.Contains(out, "@@ offset 175, line 3: TORN_LINE @@\n-29 bytes, to quarantine\n") {
			t.Errorf("%q: the first hunk is not there:\n%s", c.args, out)
		}
	}
}
