package cmd

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// The reports of shipped samples of each agent, in every format, stand in testdata/reports. go test ./cmd -update writes them;
// they are read like code.

var goldenReports = []string{
	"torn-tail", "torn-frame", "two-writers", "claude-glued-torn", "claude-dangling-parallel", "codex-restored", "codex-call-twice", "pi-orphan-result", "pi-harness-torn",
	"grok-answer-torn", "clean-u2028",
}

// goldenViews are the commands that are shown, by the name of their file.
var goldenViews = []struct {
	name string
	args []string
}{
	{"verify.txt", []string{"verify", "-v"}},
	{"verify.json", []string{"verify", "--json"}},
	{"verify.jsonl", []string{"verify", "--format", "jsonl"}},
	{"verify.sarif", []string{"verify", "--format", "sarif"}},
	{"verify.xml", []string{"verify", "--format", "junit"}},
	{"verify.github", []string{"verify", "--format", "github"}},
	{"scan.sarif", []string{"scan", "--format", "sarif"}},
	{"repair.txt", []string{"repair", "-n"}},
	{"repair.sarif", []string{"repair", "-n", "--format", "sarif"}},
	{"repair.xml", []string{"repair", "-n", "--format", "junit"}},
}

func TestReportsOfTheSamples(t *testing.T) {
	golden, err := filepath.Abs(filepath.Join("testdata", "reports"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("..") // so that paths are those of the repository
	for _, name := range goldenReports {
		path := filepath.Join("testdata", "corrupt", name)
		got := &txtar.Archive{Comment: []byte("sessfix " + "VIEW " + filepath.ToSlash(path) + "\n\n")}
		for _, v := range goldenViews {
			out, summary := runReport(t, append(v.args, path)...)
			got.Files = append(got.Files, txtar.File{Name: v.name, Data: []byte(out)})
			if v.name == "verify.github" {
				got.Files = append(got.Files, txtar.File{Name: "summary.md", Data: []byte(summary)})
			}
			switch {
			case strings.HasSuffix(v.name, ".sarif"):
				if err := fitsSARIF([]byte(out)); err != nil {
					t.Errorf("%s: %s: %v", name, v.name, err)
				}
			case strings.HasSuffix(v.name, ".xml"):
				if err := fitsJUnit([]byte(out)); err != nil {
					t.Errorf("%s: %s: %v", name, v.name, err)
				}
			}
		}
		file := filepath.Join(golden, name+".txtar")
		if *update {
			if err := os.WriteFile(file, txtar.Format(got), 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range got.Files {
			if i >= len(want.Files) || want.Files[i].Name != f.Name {
				t.Fatalf("%s does not hold %s (go test ./cmd -run Reports -update)", file, f.Name)
			}
			if at, is, was := firstDifference(f.Data, want.Files[i].Data); at > 0 {
				t.Errorf("%s of %s is another than in %s (go test ./cmd -run Reports -update): line %d is\n%s\nand was\n%s", f.Name, name, file, at, is, was)
			}
		}
	}
}

// firstDifference is the first line in which two texts differ, 0 if there is none.
func firstDifference(is, was []byte) (line int, a, b string) {
	x, y := strings.Split(string(is), "\n"), strings.Split(string(was), "\n")
	for i := range max(len(x), len(y)) {
		if i >= len(x) || i >= len(y) || x[i] != y[i] {
			return i + 1, strings.Join(x[min(i, len(x)):min(i+1, len(x))], ""), strings.Join(y[min(i, len(y)):min(i+1, len(y))], "")
		}
	}
	return 0, "", ""
}

// runReport runs a command as a step of GitHub Actions, and takes the version out of what it says.
func runReport(t *testing.T, args ...string) (out, summary string) {
	t.Helper()
	step := filepath.Join(t.TempDir(), "summary.md")
	var stdout, stderr bytes.Buffer
	Main(context.Background(), args, IO{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Env: func(name string) string {
		return map[string]string{"GITHUB_STEP_SUMMARY": step}[name]
	}})
	if s := stderr.String(); strings.Contains(s, "error:") {
		t.Fatalf("%q: %s", args, s)
	}
	data, err := os.ReadFile(step)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, v := range []string{`"version": "`, `"version":"`} {
		stdoutText := strings.ReplaceAll(stdout.String(), v+version()+`"`, v+`VERSION"`)
		stdout.Reset()
		stdout.WriteString(stdoutText)
	}
	return stdout.String(), string(data)
}
