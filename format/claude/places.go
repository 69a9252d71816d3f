package claude

import (
	"path/filepath"
	"regexp"
	"strings"
)

var (
	sessionNames = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.jsonl$`)
	agentNames   = regexp.MustCompile(`^agent-[0-9a-zA-Z_-]+\.jsonl$`)
)

// placed tells a path where this client keeps transcripts.
func placed(path string) bool {
	root, _ := placeOf(path)
	return root != ""
}

// placeOf is the root that a transcript lies in and the id of its session; empty for a copy elsewhere.
func placeOf(path string) (root, id string) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", ""
	}
	dir, name := filepath.Split(abs)
	dir = filepath.Clean(dir)
	switch {
	case agentNames.MatchString(name):
		if of := spawner(dir); of != "" {
			dir, id = filepath.Split(of)
			dir = filepath.Clean(dir)
		}
	case sessionNames.MatchString(name):
		id = strings.TrimSuffix(name, ".jsonl")
	default:
		return "", ""
	}
	if projects := filepath.Dir(dir); filepath.Base(projects) == "projects" {
		return filepath.Dir(projects), id
	}
	return "", ""
}

// spawner is the directory of the session to whose sub-agents a directory belongs: <session>/subagents, or
// <session>/subagents/workflows/<run>.
func spawner(dir string) string {
	if up := filepath.Dir(dir); filepath.Base(up) == "workflows" {
		dir = filepath.Dir(up)
	}
	if filepath.Base(dir) == "subagents" {
		return filepath.Dir(dir)
	}
	return ""
}

// Homes are the projects of $CLAUDE_CONFIG_DIR, else of .claude in the user's home.
func (Format) Homes(env func(string) string) []string {
	if h := env("CLAUDE_CONFIG_DIR"); h != "" {
		return []string{filepath.Join(h, "projects")}
	}
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if h := env(name); h != "" {
			return []string{filepath.Join(h, ".claude", "projects")}
		}
	}
	return nil
}
