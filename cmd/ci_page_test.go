package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs/ci.md says what its commands print. They are run as a CI runs them, and what they print is held against the page; go test
// ./cmd -run Page -update writes it there.

// ciSteps are the shell steps of the page's jobs, by name, and the statuses that the page says they end with.
var ciSteps = []struct {
	name   string
	status int
}{{"install", -1}, {"report", 0}, {"verdict", 3}, {"script", 3}}

func TestCIPage(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	page := filepath.Join("..", "docs", "ci.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	samples, err := filepath.Abs(filepath.Join("..", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(samples, filepath.Join(dir, "testdata")); err != nil {
		t.Skip("no symbolic links")
	}
	sh := func(script string) (string, int) {
		c := exec.Command(bash, "-e", "-c", script)
		c.Dir = dir
		c.Env = append(os.Environ(), "HOME="+dir, "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "step.md"), "GITHUB_WORKSPACE="+dir)
		out, err := c.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(bytes.ReplaceAll(out, []byte(version()), []byte("VERSION"))), c.ProcessState.ExitCode()
	}

	steps := shellSteps(t, string(text))
	for i, want := range ciSteps {
		if i >= len(steps) || steps[i].name != want.name {
			t.Fatalf("the page's steps are %q", steps)
		}
		if want.status < 0 {
			continue // needs a network
		}
		if out, got := sh(steps[i].script); got != want.status {
			t.Errorf("step %s ends with %d, want %d:\n%s", want.name, got, want.status, out)
		}
	}
	if len(steps) != len(ciSteps) {
		t.Errorf("the page has %d steps", len(steps))
	}
	for name, fits := range map[string]func([]byte) error{"sessfix.sarif": fitsSARIF, "sessfix.xml": fitsJUnit} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		} else if err := fits(data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "step.md")); err != nil || len(data) > 1<<20 {
		t.Errorf("a summary of %d bytes, %v", len(data), err)
	}

	blocks := 0
	got := console.ReplaceAllFunc(text, func(block []byte) []byte {
		var b strings.Builder
		b.WriteString("```console\n")
		for _, line := range strings.Split(string(block), "\n") {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				blocks++
				out, _ := sh("set +e; " + command)
				fmt.Fprintf(&b, "$ %s\n%s", command, out)
				if !strings.HasSuffix(out, "\n") && out != "" {
					b.WriteByte('\n')
				}
			}
		}
		b.WriteString("```")
		return []byte(b.String())
	})
	if blocks < 8 {
		t.Fatalf("only %d commands", blocks)
	}
	if bytes.Equal(got, text) {
		return
	}
	if *update {
		if err := os.WriteFile(page, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	is, was := strings.Split(string(got), "\n"), strings.Split(string(text), "\n")
	for i := range min(len(is), len(was)) {
		if is[i] != was[i] {
			t.Fatalf("docs/ci.md is behind the program (go test ./cmd -run Page -update): line %d is\n%s\nand should be\n%s", i+1, was[i], is[i])
		}
	}
	t.Fatal("docs/ci.md is behind the program: go test ./cmd -run Page -update")
}

var console = regexp.MustCompile("(?s)```console\n.*?```")

type shellStep struct{ name, script string }

// shellSteps are the values of run, and the lists of script, in the jobs that are marked to be run.
func shellSteps(t *testing.T, page string) []shellStep {
	t.Helper()
	var out []shellStep
	for _, part := range strings.Split(page, "<!-- run -->\n```yaml\n")[1:] {
		job, _, ok := strings.Cut(part, "```")
		if !ok {
			t.Fatal("a job without end")
		}
		lines, name := strings.Split(job, "\n"), ""
		for i := 0; i < len(lines); i++ {
			indent := len(lines[i]) - len(strings.TrimLeft(lines[i], " "))
			key, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(lines[i]), "- "), ":")
			value = strings.TrimSpace(value)
			switch key {
			case "name":
				name = value
			case "run", "script":
				if value != "" && value != "|" {
					out = append(out, shellStep{name, value})
					continue
				}
				var script []string
				for i+1 < len(lines) && len(lines[i+1])-len(strings.TrimLeft(lines[i+1], " ")) > indent {
					i++
					script = append(script, strings.TrimPrefix(strings.TrimSpace(lines[i]), "- "))
				}
				if key == "script" {
					name = key
				}
				out = append(out, shellStep{name, strings.Join(script, "\n")})
			}
		}
	}
	return slices.Clip(out)
}
