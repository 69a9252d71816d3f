package claude

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sessfix/sessfix/format"
)

// Guards find a live owner of a transcript that lies in a root. There is no lock to take: the client keeps a
// registry of its processes, one file each, and opens the transcript anew for each batch of records.
func (Format) Guards(path string) []format.Guard {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	root, id := placeOf(abs)
	if root == "" {
		return nil
	}
	return []format.Guard{
		{Kind: format.Registry, Path: filepath.Join(root, "sessions"), Session: id, Entry: entryName, Owner: owner},
		{Kind: format.Quiet, Path: abs},
	}
}

// entryName tells the entries, <pid>.json, from the keys beside them, which are never read.
func entryName(name string) bool {
	pid, ok := strings.CutSuffix(name, ".json")
	_, err := strconv.Atoi(pid)
	return ok && err == nil
}

// owner reads an entry. The client writes it in place, so that it may be torn.
func owner(name string, data []byte) (format.Owner, bool) {
	var v struct {
		PID       int    `json:"pid"`
		SessionID string `json:"sessionId"`
		ProcStart string `json:"procStart"`
		PIDDomain string `json:"pidDomain"`
	}
	if json.Unmarshal(data, &v) != nil || v.PID <= 0 {
		return format.Owner{}, false
	}
	return format.Owner{PID: v.PID, Session: v.SessionID, Start: v.ProcStart, Domain: v.PIDDomain}, true
}
