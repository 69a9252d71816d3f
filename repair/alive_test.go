package repair_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/repair"
)

// Somebody counts as at work where a registry names the session, or cannot be read. The file is not watched: that
// takes seconds.
func TestLive(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "session.jsonl")
	for name, data := range map[string]string{path: "", filepath.Join(dir, "1.json"): "s"} {
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	registry := func(place, session string) format.Guard {
		return format.Guard{
			Kind: format.Registry, Path: place, Session: session, Entry: func(name string) bool { return name == "1.json" },
			Owner: func(name string, data []byte) (format.Owner, bool) {
				return format.Owner{PID: os.Getpid(), Session: string(data)}, true
			},
		}
	}
	for _, c := range []struct {
		name   string
		guards []format.Guard
		want   bool
	}{
		{"no guard", nil, false},
		{"a registry that names the session", []format.Guard{registry(dir, "s")}, true},
		{"a registry that does not", []format.Guard{registry(dir, "other"), {Kind: format.Quiet, Path: filepath.Join(dir, "none")}}, false}, // it would wait, and find nothing
		{"no registry", []format.Guard{registry(filepath.Join(dir, "none"), "s")}, false},
		{"a registry that is none", []format.Guard{registry(path, "s")}, true},
	} {
		if got := repair.Live(path, c.guards); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}
