package durable_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/durable/faultfs"
)

// TestMain lets the test binary be the other process: with an argument in DURABLE_TEST_CHILD it holds something until its
// standard input ends.
func TestMain(m *testing.M) {
	what, path, _ := strings.Cut(os.Getenv("DURABLE_TEST_CHILD"), " ")
	if what == "" {
		os.Exit(m.Run())
	}
	if err := hold(what, path); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// held keeps what a child holds from being collected.
var held any

func hold(what, path string) (err error) {
	switch what {
	case "lock":
		held, err = durable.Flock(path, testPrefix)
	case "write":
		held, err = os.OpenFile(path, os.O_WRONLY, 0)
	case "read":
		held, err = os.Open(path)
	case "run":
	default:
		err = fmt.Errorf("unknown %q", what)
	}
	return err
}

const testPrefix = "durable-test-"

// child starts the test binary as another process and returns it and how to end it.
func child(t *testing.T, what, path string, edit ...func(*exec.Cmd)) (*exec.Cmd, func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "DURABLE_TEST_CHILD="+what+" "+path)
	for _, e := range edit {
		e(cmd)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	end := func() {
		if !ended {
			ended = true
			in.Close()
			cmd.Wait()
		}
	}
	t.Cleanup(end)
	line, _ := bufio.NewReader(out).ReadString('\n')
	if line != "ready\n" {
		t.Fatalf("child says %q", line)
	}
	return cmd, end
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// list returns the names in a directory.
func list(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func wantList(t *testing.T, dir string, want ...string) {
	t.Helper()
	if got := list(t, dir); !slices.Equal(got, want) {
		t.Errorf("directory has %q, want %q", got, want)
	}
}

func writes(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

// fault is one way in which one run of an operation goes wrong.
type fault struct {
	n    int
	stop bool // or else fail once
	half bool
}

func (f fault) String() string {
	return fmt.Sprintf("n=%d,stop=%t,half=%t", f.n, f.stop, f.half)
}

// everyFault runs an operation in a fresh directory once without a fault, and then with each possible fault at each
// of its steps; after looks at what is left. The number of steps of the faultless run is returned.
func everyFault(t *testing.T, prepare func(t *testing.T, dir string), op func(fsys durable.FS, dir string) error,
	after func(t *testing.T, dir string, f fault, err error)) []string {
	t.Helper()
	dir := t.TempDir()
	prepare(t, dir)
	whole := faultfs.New(durable.Disk)
	if err := op(whole, dir); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= whole.Ops(); n++ {
		for _, f := range []fault{{n, false, false}, {n, false, true}, {n, true, false}, {n, true, true}} {
			t.Run(f.String(), func(t *testing.T) {
				dir := t.TempDir()
				prepare(t, dir)
				fsys := faultfs.New(durable.Disk)
				if f.stop {
					fsys.Stop(n)
				} else {
					fsys.Fail(n, nil)
				}
				if f.half {
					fsys.HalfWrites()
				}
				err := op(fsys, dir)
				if err == nil {
					t.Error("no error")
				}
				after(t, dir, f, err)
				if t.Failed() {
					t.Logf("error: %v\ntrace:\n%s", err, strings.Join(fsys.Trace(), "\n"))
				}
			})
		}
	}
	return whole.Trace()
}

func wantTrace(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("trace is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func join(dir, name string) string { return filepath.Join(dir, name) }
