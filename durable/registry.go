package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Owner is what an agent's registry of running processes says of one of them.
type Owner struct {
	PID     int
	Session string // the session it works on
	Start   string // when it started, as the system counts it; "" = not said
	Domain  string // names the machine and the process namespace that PID counts in; "" = not said
}

// maxRegistered bounds a file of a registry.
const maxRegistered = 64 << 10

// WhoIsRegistered lists the processes of a registry, a directory with one file a process, that live or may live,
// and whose session is wanted. Files that the parser does not take for an entry, because of their name, are not opened.
// An entry that cannot be read counts as one that may live, and so does one of another machine.
func WhoIsRegistered(dir string, parse func(name string, data []byte) (Owner, bool), mine func(name string) bool, session string) ([]Process, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the agent's registry of processes: %w", err)
	}
	var out []Process
	for _, e := range entries {
		if !mine(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		data, err := readAtMost(filepath.Join(dir, e.Name()), maxRegistered)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		o, ok := parse(e.Name(), data)
		switch {
		case !ok:
			out = append(out, Process{Name: e.Name(), Why: "is an entry of the agent's registry that cannot be read"})
		case o.Session != session:
		case o.Domain != "" && !here(o.Domain):
			out = append(out, Process{PID: o.PID, Name: e.Name(), Why: "is registered by another machine or container"})
		case alive(o.PID, o.Start):
			out = append(out, Process{PID: o.PID, Name: e.Name(), Why: "is registered at work on the session"})
		}
	}
	return out, nil
}

func readAtMost(name string, n int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, n))
}
