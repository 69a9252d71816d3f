package openclaw

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/sessfix/sessfix/format"
)

// Guards take the lock that the client takes: a file beside the log, which names the process that made it.
func (Format) Guards(path string) []format.Guard {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	quiet := format.Guard{Kind: format.Quiet, Path: abs}
	if isIndex(path) {
		return []format.Guard{quiet}
	}
	return []format.Guard{{Kind: format.Claim, Path: abs + ".lock", Owner: owner, Say: say}, quiet}
}

// owner reads a lock: {"pid":…,"createdAt":…,"starttime":…}. The last is when the process started, as Linux counts it.
func owner(name string, data []byte) (format.Owner, bool) {
	var v struct {
		PID   int         `json:"pid"`
		Start json.Number `json:"starttime"`
	}
	if json.Unmarshal(data, &v) != nil || v.PID <= 0 {
		return format.Owner{}, false
	}
	return format.Owner{PID: v.PID, Start: v.Start.String()}, true
}

// say writes one.
func say(pid int, start string, now time.Time) []byte {
	out := fmt.Sprintf(`{"pid":%d,"createdAt":%q`, pid, now.UTC().Format("2006-01-02T15:04:05.000Z"))
	if start != "" {
		out += `,"starttime":` + start
	}
	return []byte(out + "}")
}

var _ format.Guarder = Format{}
