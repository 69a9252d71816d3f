package durable_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/durable"
)

func onlyLinux(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes can be looked at on Linux only")
	}
}

func pids(ps []durable.Process) (out []int) {
	for _, p := range ps {
		out = append(out, p.PID)
	}
	return out
}

func TestWhoHasOpen(t *testing.T) {
	onlyLinux(t)
	file := join(t.TempDir(), "log")
	put(t, file, oldLog)
	own, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	child(t, "read", file)
	found, err := durable.WhoHasOpen(file)
	if err != nil || len(found) != 0 {
		t.Errorf("found %v, %v", found, err)
	}
	cmd, end := child(t, "write", file)
	found, err = durable.WhoHasOpen(file)
	if err != nil || len(found) != 1 || found[0].PID != cmd.Process.Pid || found[0].Name == "" || !strings.Contains(found[0].Why, file) {
		t.Errorf("found %+v, %v", found, err)
	}
	end()
	if found, err = durable.WhoHasOpen(file); err != nil || len(found) != 0 {
		t.Errorf("after its end found %v, %v", found, err)
	}
	if _, err := durable.WhoHasOpen(file + "2"); err == nil {
		t.Error("a missing file was looked at")
	}
}

func TestWhoRuns(t *testing.T) {
	onlyLinux(t)
	home := t.TempDir()
	here := func(env func(string) string) bool { return env("DURABLE_TEST_HOME") == home }
	as := func(args ...string) func(*exec.Cmd) {
		return func(cmd *exec.Cmd) {
			cmd.Args = args
			cmd.Env = append(cmd.Env, "DURABLE_TEST_HOME="+home)
		}
	}
	names := []string{"agent-one", "agent-two"}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"/opt/bin/agent-one", "--resume"}, "agent-one"},
		{[]string{"node", "--no-warnings", "/opt/lib/agent-two.mjs"}, "agent-two"},
		{[]string{"node", "/opt/lib/agent-two.js", "x"}, "agent-two"},
		{[]string{"agent-one.exe"}, "agent-one"},
		{[]string{"node", "--flag", "--flag", "agent-one"}, ""},
		{[]string{"agent-three"}, ""},
	} {
		cmd, end := child(t, "run", "", as(c.args...))
		found, err := durable.WhoRuns(names, here)
		switch {
		case err != nil:
			t.Error(err)
		case c.want == "" && len(found) != 0:
			t.Errorf("%q: found %+v", c.args, found)
		case c.want != "" && (len(found) != 1 || found[0].PID != cmd.Process.Pid || found[0].Name != c.want):
			t.Errorf("%q: found %+v", c.args, found)
		}
		elsewhere := func(env func(string) string) bool { return env("DURABLE_TEST_HOME") == home+"2" }
		if found, err := durable.WhoRuns(names, elsewhere); err != nil || len(found) != 0 {
			t.Errorf("%q: found in another home: %+v, %v", c.args, found, err)
		}
		end()
	}
	self := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	cmd, _ := child(t, "run", "")
	found, err := durable.WhoRuns([]string{self}, func(func(string) string) bool { return true })
	if err != nil || len(found) != 1 || found[0].PID != cmd.Process.Pid {
		t.Errorf("among those like oneself found %v, want %d; %v", pids(found), cmd.Process.Pid, err)
	}
}
