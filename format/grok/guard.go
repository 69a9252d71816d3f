package grok

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/sessfix/sessfix/format"
)

// locked are the files that the client appends to under a lock of their own, in the order in which the locks are taken.
var locked = []string{updatesName, historyName, pointsName, summaryName}

// Guards find a live owner. No lock is for the session as a whole: two clients may have it open. What shows one is that it
// keeps the events open, or, of those that draw on a terminal, an entry in the registry. The locks of the single files only keep a
// client from appending while they are held; what it keeps in memory it would write over the repair. A process that serves others
// (leader.lock) counts where it has the events open.
func (Format) Guards(path string) []format.Guard {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	dir := filepath.Dir(abs)
	var out []format.Guard
	if name := filepath.Join(dir, eventsName); exists(name) {
		out = append(out, format.Guard{Kind: format.OpenFile, Path: name})
	}
	for _, p := range parts {
		if name := filepath.Join(dir, p.name); exists(name) {
			out = append(out, format.Guard{Kind: format.Quiet, Path: name})
		}
	}
	if !inHome(dir) {
		return out // a copy: no client writes there
	}
	id, home := filepath.Base(dir), filepath.Dir(filepath.Dir(filepath.Dir(dir)))
	data, _ := os.ReadFile(filepath.Join(home, registryName))
	for n := range max(1, len(owners(data, id))) { // several may have it open
		out = append(out, format.Guard{Kind: format.Registry, Path: home, Session: id, Entry: isRegistry, Owner: ownerOf(id, n)})
	}
	if name := filepath.Join(home, "relocations", id+".lock"); exists(name) {
		out = append(out, format.Guard{Kind: format.FileLock, Path: name})
	}
	for _, name := range locked {
		lock := filepath.Join(dir, name+".lock")
		out = append(out, format.Guard{Kind: format.FileLock, Path: lock, Sweep: !exists(lock)})
	}
	return out
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// registryName is the list of open sessions; only clients that draw on a terminal are in it.
const registryName = "active_sessions.json"

func isRegistry(name string) bool { return name == registryName }

// maxRegistry is how much of a registry is read.
const maxRegistry = 64 << 10

// ownerOf reads the registry for the n-th owner of a session.
func ownerOf(id string, n int) func(name string, data []byte) (format.Owner, bool) {
	return func(_ string, data []byte) (format.Owner, bool) {
		if len(data) >= maxRegistry && !json.Valid(data) {
			return format.Owner{}, false // only its beginning was read
		}
		if list := owners(data, id); n < len(list) {
			return list[n], true
		}
		return format.Owner{}, true
	}
}

// owners are the processes that have a session open. A registry that cannot be read says nothing: the client does without it, too.
func owners(data []byte, id string) (out []format.Owner) {
	var list []struct {
		Session string `json:"session_id"`
		PID     int    `json:"pid"`
	}
	if json.Unmarshal(data, &list) != nil {
		return nil
	}
	for _, x := range list {
		if x.Session == id && x.PID > 0 {
			out = append(out, format.Owner{PID: x.PID, Session: x.Session})
		}
	}
	return out
}

var _ format.Guarder = Format{}
