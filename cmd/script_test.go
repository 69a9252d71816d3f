package cmd

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write the golden output of the scripts again")

// TestMain lets the test binary be sessfix itself, so that the scripts run what users run: the
// only difference is that main.go's dozen lines stand here once more.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"sessfix": func() {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
			code := Main(ctx, os.Args[1:], System())
			stop()
			os.Exit(code)
		},
	})
}

func TestScript(t *testing.T) {
	t.Parallel() // beside the tests that work in-process
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: *update,
		// One run of a script tells all that is wrong with it.
		ContinueOnError: true,
		Setup: func(e *testscript.Env) error {
			// The scratch home is empty, so that "left nothing behind" can be seen in it.
			home := filepath.Join(e.WorkDir, "home")
			for _, name := range []string{"HOME", "USERPROFILE", "LOCALAPPDATA"} {
				e.Setenv(name, home)
			}
			return os.MkdirAll(home, 0o777)
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: commands,
	})
}

// run N ARGS... runs sessfix, wants the exit status N, and holds every run against what no
// output may ever hold. A command that only reads must leave the whole work directory, home
// included, as it was. JSON reports must fit the schema.
func run(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: run STATUS ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	args = args[1:]
	before := tree(ts)
	err = ts.Exec("sessfix", args...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
	judge(ts, args, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	if reads(args) {
		same(ts, before, tree(ts))
	}
}

// judge holds output against the rules for all output.
func judge(ts *testscript.TestScript, args []string, stdout, stderr string) {
	for _, out := range []string{stdout, stderr} {
		if complaint := unfit(out, slices.Contains(args, "always")); complaint != "" {
			ts.Fatalf("output is not fit for users: %s", complaint)
		}
	}
	if stdout == "" || !slices.Contains(reporters, commandOf(args)) {
		return
	}
	scans := commandOf(args) == "scan"
	switch format := formatOf(args); {
	case format == "sarif":
		ts.Check(fitsSARIF([]byte(stdout)))
	case format == "junit":
		ts.Check(fitsJUnit([]byte(stdout)))
	case scans && (format == "json" || format == "jsonl"):
		ts.Check(fitsScan([]byte(stdout), format == "jsonl"))
	case format == "json":
		ts.Check(fitsDocument([]byte(stdout)))
	case format == "jsonl":
		ts.Check(fitsLines([]byte(stdout)))
	}
}

// runtimeWords are what the runtime says to programmers and no user should have to read.
var runtimeWords = regexp.MustCompile(`(?m)panic:|goroutine \d|runtime error|strconv\.|\*[a-z]+\.[A-Z]\w+|%!|<nil>|\.go:\d|(^|: )(unexpected )?EOF$|context canceled|arg\(s\)`)

// unfit says what is wrong with output, "" if nothing is.
func unfit(out string, colour bool) string {
	if w := runtimeWords.FindString(out); w != "" {
		return fmt.Sprintf("words of the runtime: %q", w)
	}
	if !utf8.ValidString(out) {
		return "bytes that are no UTF-8"
	}
	for _, r := range out {
		// A name may not move the cursor, ring, or turn the line around.
		if r == '\n' || r == '\t' || r == '\x1b' && colour {
			continue
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return fmt.Sprintf("control character %U", r)
		}
	}
	return ""
}

// commandOf is the subcommand that the arguments mean.
func commandOf(args []string) string {
	known := []string{"verify", "scan", "committed", "repair", "undo", "migrate", "fork", "export", "explain", "list", "help", "completion"}
	for _, a := range args {
		if slices.Contains(known, a) {
			return a
		}
	}
	return "verify"
}

func formatOf(args []string) string {
	for i, a := range args {
		if name, ok := strings.CutPrefix(a, "--format="); ok {
			return name
		}
		switch {
		case a == "--json":
			return "json"
		case a == "--format" && i+1 < len(args):
			return args[i+1]
		}
	}
	return "table"
}

// reads tells commands that may not write anything.
func reads(args []string) bool {
	switch commandOf(args) {
	case "undo":
		return false
	case "repair":
		return slices.Contains(args, "--dry-run") || slices.Contains(args, "-n")
	case "migrate":
		return slices.Contains(args, "--dry-run") || slices.Contains(args, "-n") || slices.Contains(args, "--list")
	case "fork":
		return slices.Contains(args, "--list")
	case "export":
		return !slices.Contains(args, "-o") && !slices.Contains(args, "--output")
	}
	return true
}

// tree describes everything below the work directory. Times are part of it: a file that was
// made and taken away again shows in its directory's.
func tree(ts *testscript.TestScript) map[string]string {
	root := ts.Getenv("WORK")
	temp := filepath.Join(root, ".tmp")
	out := map[string]string{}
	ts.Check(filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, os.ErrPermission) {
				return nil
			}
			return err
		}
		if p == ts.Getenv("GITHUB_STEP_SUMMARY") {
			return nil // meant to be written to
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		line := fi.Mode().String()
		if p != temp { // standard input may pass through here
			line += " " + fi.ModTime().String()
		}
		if fi.Mode().IsRegular() {
			line += " " + strconv.FormatInt(fi.Size(), 10)
			if fi.Size() < 1<<20 {
				data, _ := os.ReadFile(p)
				line += " " + string(data)
			}
		}
		out[p] = line
		return nil
	}))
	return out
}

func same(ts *testscript.TestScript, before, after map[string]string) {
	for p, was := range before {
		if is, ok := after[p]; !ok {
			ts.Fatalf("%s is gone after a command that only reads", p)
		} else if is != was {
			ts.Fatalf("%s changed under a command that only reads", p)
		}
	}
	for p := range after {
		if _, ok := before[p]; !ok {
			ts.Fatalf("%s was left behind by a command that only reads", p)
		}
	}
}

// inProcess runs Main without a process of its own.
func inProcess(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, err bytes.Buffer
	code = Main(t.Context(), args, IO{In: strings.NewReader(stdin), Out: &out, Err: &err, Env: func(string) string { return "" }})
	return out.String(), err.String(), code
}
