package pi

import (
	"path/filepath"
	"regexp"
	"strings"
)

// names are what the client calls its files: the time of the start, and the id of the session.
var names = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\.jsonl$`)

// named is the session's id in a path, "" where it is not one that the client gives.
func named(path string) string {
	if m := names.FindStringSubmatch(filepath.Base(path)); m != nil {
		return m[1]
	}
	return ""
}

// placed tells a path where this client keeps sessions: by its name, or in the folder of a working directory.
func placed(path string) bool {
	if named(path) != "" {
		return true
	}
	abs, err := filepath.Abs(path)
	if err != nil || !strings.HasSuffix(abs, ".jsonl") {
		return false
	}
	dir := filepath.Dir(abs)
	base := filepath.Base(dir)
	return len(base) > 4 && strings.HasPrefix(base, "--") && strings.HasSuffix(base, "--") && filepath.Base(filepath.Dir(dir)) == "sessions"
}

// folderOf is the folder of the sessions that belong to a working directory.
func folderOf(dir string) string {
	if dir != "" && (dir[0] == '/' || dir[0] == '\\') {
		dir = dir[1:]
	}
	return "--" + strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(dir) + "--"
}

// Homes are the sessions of $PI_CODING_AGENT_SESSION_DIR, and those of $PI_CODING_AGENT_DIR, else of .pi/agent in the
// user's home.
func (Format) Homes(env func(string) string) []string {
	var out []string
	if d := env("PI_CODING_AGENT_SESSION_DIR"); d != "" {
		out = append(out, d)
	}
	if d := agentDir(env); d != "" {
		out = append(out, filepath.Join(d, "sessions"))
	}
	return out
}

// agentDir is where the client keeps what is its own.
func agentDir(env func(string) string) string {
	if d := env("PI_CODING_AGENT_DIR"); d != "" {
		return d
	}
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if h := env(name); h != "" {
			return filepath.Join(h, ".pi", "agent")
		}
	}
	return ""
}
