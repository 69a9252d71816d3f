package codex

import (
	"path/filepath"
	"regexp"
)

// name is what a rollout's file name says.
type name struct {
	thread  string
	segment string // of a segment behind a revert
	packed  bool
}

const uuid = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`

var names = regexp.MustCompile(`^rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(` + uuid + `)(?:_(` + uuid + `))?\.jsonl(\.zst)?$`)

// uuids are ids as the client takes them.
var uuids = regexp.MustCompile(`^(?i)` + uuid + `$`)

// nameOf reads a file's name; ok is false for one that is no rollout's.
func nameOf(path string) (n name, ok bool) {
	m := names.FindStringSubmatch(filepath.Base(path))
	if m == nil {
		return name{}, false
	}
	return name{thread: m[1], segment: m[2], packed: m[3] != ""}, true
}

// id is what other rollouts call this one's file.
func (n name) id() string {
	if n.segment != "" {
		return n.segment
	}
	return n.thread
}

// rootOf is the client's home that a rollout lies in, empty for a copy elsewhere.
func rootOf(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	dir := filepath.Dir(abs)
	if filepath.Base(dir) == "archived_sessions" {
		return filepath.Dir(dir)
	}
	for range 3 {
		dir = filepath.Dir(dir)
	}
	if filepath.Base(dir) == "sessions" {
		return filepath.Dir(dir)
	}
	return ""
}

// homeOf is the client's home, as it finds it; empty where the environment does not tell.
func homeOf(env func(string) string) string {
	if h := env("CODEX_HOME"); h != "" {
		return h
	}
	for _, v := range []string{"HOME", "USERPROFILE"} {
		if h := env(v); h != "" {
			return filepath.Join(h, ".codex")
		}
	}
	return ""
}

// Homes are the folders of active and archived rollouts.
func (Format) Homes(env func(string) string) []string {
	h := homeOf(env)
	if h == "" {
		return nil
	}
	return []string{filepath.Join(h, "sessions"), filepath.Join(h, "archived_sessions")}
}
