package openclaw

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/pi"
	"github.com/sessfix/sessfix/session"
)

// Format is OpenClaw, as far as it keeps its sessions in files.
type Format struct{}

//go:embed reactions.txt
var reactions string

// Newest is the newest release that goes on in these files.
const Newest = "2026.7.1"

// Name is "openclaw".
func (Format) Name() string { return "openclaw" }

// Reactions is the damage table of the format.
func (Format) Reactions() string { return reactions }

// Detect knows a log of pi's format by its place, or by a name that is its session's id; and the index by its name.
func (Format) Detect(p format.Peek) format.Match {
	if isIndex(p.Path) {
		return format.ByName
	}
	m := pi.Shape(p)
	switch {
	case placed(p.Path):
		return max(m, format.ByName)
	case m == format.ByHeader && pi.Title(p).ID+".jsonl" == filepath.Base(p.Path):
		return m
	}
	return format.No
}

// Dialect is the session, or the index, as a release reads it, the newest one of the files where none is named.
func (Format) Dialect(p format.Peek, client string) (format.Dialect, error) {
	if client == "" {
		client = Newest
		if stored(p.Path) {
			client = firstStored
		}
	}
	rank, ok := format.RankOf(client)
	if !ok {
		return nil, fmt.Errorf("client version %q is not known", client)
	}
	if isIndex(p.Path) {
		return index{rank}, nil
	}
	return pi.Open(p, pi.Client{Rank: rank, Entry: entry, Tell: tell})
}

// stored tells a session of a database from a file.
func stored(path string) bool { return strings.Contains(path, databaseName+"#") }

// entry says what the client's own types of entries are for.
func entry(typ string, aside bool, l *session.Link) {
	switch typ {
	case "leaf":
		l.Kind = session.Goto
	case "reset":
		l.Kind = session.CompactionEnd
	}
	l.Side = aside
}

// Title reads id and working directory off the header.
func (Format) Title(p format.Peek) format.Header {
	if isIndex(p.Path) {
		return format.Header{}
	}
	return pi.Title(p)
}

// Documents are the names of the index.
func (Format) Documents() []string { return []string{indexName} }

// isIndex tells the index by its name and its folder.
func isIndex(path string) bool {
	abs, err := filepath.Abs(path)
	return err == nil && filepath.Base(abs) == indexName && filepath.Base(filepath.Dir(abs)) == "sessions"
}

// placed tells a log where this client keeps them.
func placed(path string) bool {
	abs, err := filepath.Abs(path)
	if err != nil || !strings.HasSuffix(abs, ".jsonl") {
		return false
	}
	dir := filepath.Dir(abs)
	agents := filepath.Dir(filepath.Dir(dir))
	return filepath.Base(dir) == "sessions" && filepath.Base(agents) == "agents"
}

// agentOf is the agent that a folder of sessions belongs to.
func agentOf(dir string) string {
	if up := filepath.Dir(dir); filepath.Base(filepath.Dir(up)) == "agents" {
		return filepath.Base(up)
	}
	return "main"
}

// Homes are the agents of $OPENCLAW_STATE_DIR, else of .openclaw in $OPENCLAW_HOME or in the user's home, and the folder that
// earlier releases had beside them.
func (Format) Homes(env func(string) string) []string {
	state := env("OPENCLAW_STATE_DIR")
	for _, name := range []string{"OPENCLAW_HOME", "HOME", "USERPROFILE"} {
		if h := env(name); state == "" && h != "" {
			state = filepath.Join(h, ".openclaw")
		}
	}
	if state == "" {
		return nil
	}
	return []string{filepath.Join(state, "agents"), filepath.Join(state, "sessions")}
}

var (
	_ format.Format     = Format{}
	_ format.Reactor    = Format{}
	_ format.Titler     = Format{}
	_ format.Documented = Format{}
)
