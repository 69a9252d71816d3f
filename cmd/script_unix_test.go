//go:build unix

package cmd

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// child prepares sessfix in the script's directory and environment.
func child(ts *testscript.TestScript, args []string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	path := ""
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(dir, "sessfix")); err == nil {
			path = filepath.Join(dir, "sessfix")
			break
		}
	}
	cmd = exec.Command(path, args...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"HOME", "TMPDIR", "PATH", "WORK"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd, stdout, stderr
}

// ended holds a child's end against the status wanted and its output against the rules, and
// shows the output to the script as stdout and stderr do.
func ended(ts *testscript.TestScript, args []string, status int, cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	fmt.Fprint(ts.Stdout(), stdout.String())
	fmt.Fprint(ts.Stderr(), stderr.String())
	ts.Logf("[stdout]\n%s[stderr]\n%s", stdout, stderr)
	if got := cmd.ProcessState.ExitCode(); got != status {
		ts.Fatalf("exit status %d, want %d", got, status)
	}
	judge(ts, args, stdout.String(), stderr.String())
}

// peak MB STATUS ARGS... runs sessfix and wants its resident memory to have stayed below MB. It
// looks at the process from outside: a limit from inside would only make it slow.
func peak(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 3, "peak MB STATUS ARGS...")
	limit, status := number(ts, args[0]), number(ts, args[1])
	cmd, stdout, stderr := child(ts, args[2:])
	_ = cmd.Run()
	ended(ts, args[2:], status, cmd, stdout, stderr)
	kb := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	if runtime.GOOS == "darwin" {
		kb /= 1024
	}
	ts.Logf("peak %d MB", kb/1024)
	if kb/1024 > int64(limit) {
		ts.Fatalf("%d MB of memory at its peak, want at most %d", kb/1024, limit)
	}
}

// interrupt DELAY ARGS... sends SIGINT after DELAY, wants exit status 130 soon after. Standard
// input stays open all the time, as a terminal does.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "interrupt DELAY ARGS...")
	delay, err := time.ParseDuration(args[0])
	ts.Check(err)
	cmd, stdout, stderr := child(ts, args[1:])
	r, w := io.Pipe()
	defer w.Close()
	in, err := cmd.StdinPipe()
	ts.Check(err)
	go io.Copy(in, r)
	ts.Check(cmd.Start())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	time.Sleep(delay)
	ts.Check(cmd.Process.Signal(os.Interrupt))
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		cmd.Process.Kill()
		<-done
		ts.Fatalf("still running 5 s after SIGINT")
	}
	ended(ts, args[1:], 130, cmd, stdout, stderr)
}

// nobody is the user id that stands for somebody without rights.
const nobody = 65534

// as STATUS ARGS... runs sessfix as a user whom permissions hold back. Who is not root already
// is such a user.
func asOther(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "as STATUS ARGS...")
	cmd, stdout, stderr := child(ts, args[1:])
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: true}}
		passable(ts, cmd.Path)
		passable(ts, ts.MkAbs("."))
	}
	_ = cmd.Run()
	if cmd.ProcessState == nil {
		ts.Fatalf("cannot run as another user here")
	}
	ended(ts, args[1:], number(ts, args[0]), cmd, stdout, stderr)
}

var passing sync.Mutex

// passable lets others through the scratch directories above p, which are made for their owner
// alone.
func passable(ts *testscript.TestScript, p string) {
	passing.Lock()
	defer passing.Unlock()
	for p = filepath.Dir(p); strings.HasPrefix(p, os.TempDir()+"/"); p = filepath.Dir(p) {
		fi, err := os.Stat(p)
		ts.Check(err)
		if fi.Mode().Perm()&1 == 0 {
			ts.Check(os.Chmod(p, fi.Mode().Perm()|0o111))
		}
	}
}

// fifo FILE makes a named pipe.
func fifo(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, "fifo FILE")
	ts.Check(syscall.Mkfifo(ts.MkAbs(args[0]), 0o666))
}

// grow FILE STATUS... ARGS... runs sessfix while another writer appends to FILE, one record a
// millisecond, and wants one of the statuses, written as 0|1|3.
func grow(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 3, "grow FILE STATUS|STATUS ARGS...")
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_WRONLY, 0)
	ts.Check(err)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		defer f.Close()
		for seq := 6; ; seq++ {
			select {
			case <-stop:
				return
			case <-time.After(200 * time.Microsecond):
				fmt.Fprintf(f, `{"type":"plugin/tick","seq":%d,"time":1700000000007,"data":{},"ignorable":true}`+"\n", seq)
			}
		}
	}()
	time.Sleep(20 * time.Millisecond)
	cmd, stdout, stderr := child(ts, args[2:])
	_ = cmd.Run()
	close(stop)
	<-stopped
	got := cmd.ProcessState.ExitCode()
	if !slices.Contains(strings.Split(args[1], "|"), fmt.Sprint(got)) {
		ts.Logf("[stdout]\n%s[stderr]\n%s", stdout, stderr)
		ts.Fatalf("exit status %d, want %s", got, args[1])
	}
	ended(ts, args[2:], got, cmd, stdout, stderr)
}

// held FILE STATUS ARGS... runs sessfix while this process holds the lock on FILE, which is made where it is missing.
func held(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 3, "held FILE STATUS ARGS...")
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_CREATE|os.O_RDWR, 0o666)
	ts.Check(err)
	defer f.Close()
	ts.Check(syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	run(ts, false, args[1:])
}
