package durable

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// processes returns the ids of all processes, in order.
func processes() ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids, nil
}

func proc(pid int, name string) string { return fmt.Sprintf("/proc/%d/%s", pid, name) }

func whoHasOpen(path string) ([]Process, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("look who has %s open: %w", path, err)
	}
	pids, err := processes()
	if err != nil {
		return nil, err
	}
	var found []Process
	for _, pid := range pids {
		if pid == os.Getpid() {
			continue
		}
		if fd, ok := writesTo(pid, fi); ok {
			why := fmt.Sprintf("has %s open for writing (descriptor %s)", path, fd)
			found = append(found, Process{PID: pid, Name: nameOf(pid), Why: why})
		}
	}
	return found, nil
}

// writesTo finds a descriptor of a process through which it can write to a file. What cannot be read belongs to
// somebody else, or has ended since.
func writesTo(pid int, file os.FileInfo) (string, bool) {
	entries, err := os.ReadDir(proc(pid, "fd"))
	if err != nil {
		return "", false
	}
	for _, e := range entries {
		link := proc(pid, "fd/"+e.Name())
		// Pipes and sockets are most of the descriptors of some processes; their links are no paths.
		if to, err := os.Readlink(link); err != nil || !strings.HasPrefix(to, "/") {
			continue
		}
		if fi, err := os.Stat(link); err != nil || !os.SameFile(fi, file) {
			continue
		}
		if forWriting(proc(pid, "fdinfo/"+e.Name())) {
			return e.Name(), true
		}
	}
	return "", false
}

// forWriting reads the flags a descriptor was opened with, which are octal.
func forWriting(fdinfo string) bool {
	data, err := os.ReadFile(fdinfo)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(data)) {
		value, ok := strings.CutPrefix(line, "flags:")
		if !ok {
			continue
		}
		flags, err := strconv.ParseInt(strings.TrimSpace(value), 8, 64)
		return err == nil && flags&syscall.O_ACCMODE != syscall.O_RDONLY
	}
	return false
}

func whoRuns(names []string, match func(env func(string) string) bool) ([]Process, error) {
	pids, err := processes()
	if err != nil {
		return nil, err
	}
	own := ancestors(os.Getpid())
	var found []Process
	for _, pid := range pids {
		if slices.Contains(own, pid) || !sameUser(pid) {
			continue
		}
		name, ok := program(pid, names)
		if !ok {
			continue
		}
		why := "runs " + name
		environ, err := os.ReadFile(proc(pid, "environ"))
		switch {
		case os.IsPermission(err):
			// A process that hides its environment is taken for one that matches, to be on the safe side.
			why += ", and its environment cannot be read"
		case err != nil || !match(lookup(environ)):
			continue
		}
		dir, _ := os.Readlink(proc(pid, "cwd"))
		found = append(found, Process{PID: pid, Name: name, Why: why, Dir: dir})
	}
	return found, nil
}

// program returns which of the names a process runs under.
func program(pid int, names []string) (string, bool) {
	args := arguments(pid)
	for _, arg := range args[:min(3, len(args))] {
		if name := programName(arg); slices.Contains(names, name) {
			return name, true
		}
	}
	return "", false
}

func programName(arg string) string {
	base := filepath.Base(arg)
	switch ext := filepath.Ext(base); strings.ToLower(ext) {
	case ".js", ".mjs", ".exe":
		return strings.TrimSuffix(base, ext)
	}
	return base
}

// arguments returns none for a process that has ended, and for a thread of the kernel.
func arguments(pid int) []string {
	data, err := os.ReadFile(proc(pid, "cmdline"))
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(data), "\x00"), "\x00")
}

func nameOf(pid int) string {
	data, _ := os.ReadFile(proc(pid, "comm"))
	return strings.TrimSpace(string(data))
}

func lookup(environ []byte) func(string) string {
	vars := bytes.Split(environ, []byte{0})
	return func(name string) string {
		for _, v := range vars {
			if value, ok := bytes.CutPrefix(v, []byte(name+"=")); ok {
				return string(value)
			}
		}
		return ""
	}
}

// sameUser compares effective users. The owner of the directory in /proc does not tell, because it is the superuser
// for every process that hides itself.
func sameUser(pid int) bool {
	data, err := os.ReadFile(proc(pid, "status"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(line, "Uid:"); ok {
			uids := strings.Fields(value)
			return len(uids) > 1 && uids[1] == strconv.Itoa(os.Geteuid())
		}
	}
	return false
}

// ancestors returns a process and those it descends from.
func ancestors(pid int) []int {
	var line []int
	for pid > 0 && !slices.Contains(line, pid) {
		line = append(line, pid)
		pid = parent(pid)
	}
	return line
}

// parent reads the fourth field of stat. The second one is the name in brackets and may itself hold brackets and
// blanks, so that the count begins behind the last bracket.
func parent(pid int) int {
	data, err := os.ReadFile(proc(pid, "stat"))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	ppid, _ := strconv.Atoi(fields[1])
	return ppid
}

// alive tells whether a process runs that started then. Where the start is not known the process counts.
func alive(pid int, start string) bool {
	since, ok := started(pid)
	return ok && (since == "" || start == "" || since == start)
}

// started is when a process began, as the system counts it, "" where it does not say; ok is false where there is none.
func started(pid int) (since string, ok bool) {
	stat, err := os.ReadFile(proc(pid, "stat"))
	if err != nil {
		return "", false
	}
	// The name stands in brackets and may hold any character; the start is the 20th field behind it.
	_, rest, ok := bytes.Cut(stat[max(bytes.LastIndexByte(stat, ')'), 0):], []byte(" "))
	if fields := bytes.Fields(rest); ok && len(fields) >= 20 {
		return string(fields[19]), true
	}
	return "", true
}

// here tells whether a domain names this machine and this process namespace.
func here(domain string) bool {
	machine, err := os.ReadFile("/etc/machine-id")
	if err != nil {
		return false
	}
	ns, err := os.Readlink("/proc/self/ns/pid")
	id := strings.TrimSpace(string(machine))
	return err == nil && id != "" && strings.Contains(domain, id) && strings.Contains(domain, ns)
}
