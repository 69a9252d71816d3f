package dsh

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
)

var logNames = regexp.MustCompile(`^session(?:\.v([1-9][0-9]*))?\.jsonl(\.zstd)?$`)

// logName reads the name of a log: its generation and whether it is compressed.
func logName(name string) (version int, packed, ok bool) {
	m := logNames.FindStringSubmatch(name)
	if m == nil {
		return 0, false, false
	}
	if m[1] != "" {
		v, err := strconv.Atoi(m[1])
		if err != nil {
			return 0, false, false
		}
		version = v
	}
	return version, m[2] != "", true
}

// placeOf reads <project>/<session>/session.vN.jsonl off the end of a path. It is false for a
// copy that lies elsewhere.
func placeOf(path string) (project, session string, version int, ok bool) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", "", 0, false
	}
	version, _, ok = logName(filepath.Base(abs))
	session = filepath.Base(filepath.Dir(abs))
	project = filepath.Base(filepath.Dir(filepath.Dir(abs)))
	return project, session, version, ok && isProject(project)
}

func isProject(name string) bool {
	return name == "_no-cwd" || len(name) > 4 && strings.HasPrefix(name, "--") && strings.HasSuffix(name, "--")
}

// Homes are the sessions of $DSH_HOME, else of .dsh in the user's home.
func (Format) Homes(env func(string) string) []string {
	if h := homeOf(env); h != "" {
		return []string{filepath.Join(h, "sessions")}
	}
	return nil
}

// homeOf is the home that a process with this environment works in.
func homeOf(env func(string) string) string {
	user := userHome(env)
	if h := strings.TrimSpace(env("DSH_HOME")); h != "" {
		if h == "~" {
			return user
		}
		if strings.HasPrefix(h, "~/") || strings.HasPrefix(h, `~\`) {
			return filepath.Join(user, h[2:])
		}
		return h
	}
	if user == "" {
		return ""
	}
	return filepath.Join(user, ".dsh")
}

func userHome(env func(string) string) string {
	if h := env("HOME"); h != "" {
		return h
	}
	return env("USERPROFILE")
}

func utf16Of(s string) []uint16 { return utf16.Encode([]rune(s)) }
