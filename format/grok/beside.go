package grok

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
)

// states are the files that the client keeps its own state in. It does without one that it cannot read.
var states = map[string]string{
	"plan_mode.json":          "the session is no longer in the mode for plans",
	"signals.json":            "counters start anew",
	"announcement_state.json": "what was announced is announced again",
	"goal/state.json":         "the goal is forgotten",
}

// maxState bounds a side file that is looked into.
const maxState = 16 << 20

// Beside judges what lies around the log: side files, leftovers, sub-agents, and sessions of the same name.
func (Format) Beside(a format.Around) (out []finding.Finding) {
	if filepath.Base(a.Path) != updatesName {
		return nil // said once a session
	}
	for _, name := range []string{"plan_mode.json", "signals.json", "announcement_state.json", "goal/state.json"} {
		data, err := format.ReadSmall(a.Dir, name, maxState)
		if err == nil && !json.Valid(data) {
			out = append(out, note(finding.SidecarCorrupt, "state", fmt.Sprintf("%s (%d bytes) is no whole JSON: %s", name, len(data), states[name])))
		}
	}
	entries, _ := fs.ReadDir(a.Dir, ".")
	for _, e := range entries {
		switch name := e.Name(); {
		case !e.Type().IsRegular():
		case strings.HasSuffix(name, ".tmp"):
			out = append(out, note(finding.LeftoverTemp, "", name+" was left by a crash while its file was written anew"))
		case name == historyName+".corrupt":
			out = append(out, note(finding.ClientBackup, "", name+" is what the history was before the client took lines out of it for the first time"))
		}
	}
	out = append(out, subagents(a)...)
	return append(out, namesakes(a.Path)...)
}

func note(code finding.Code, where, message string) finding.Finding {
	f := finding.New(code)
	f.Where, f.Message = where, message
	return f
}

// subagents are those that the session left running.
func subagents(a format.Around) (out []finding.Finding) {
	entries, _ := fs.ReadDir(a.Dir, "subagents")
	for _, e := range entries {
		data, err := format.ReadSmall(a.Dir, path.Join("subagents", e.Name(), "meta.json"), maxState)
		var m struct{ Status string }
		switch {
		case err != nil:
		case json.Unmarshal(data, &m) != nil:
			out = append(out, note(finding.SidecarCorrupt, "state", fmt.Sprintf("subagents/%s/meta.json (%d bytes) is no whole JSON: the session does not know of that sub-agent; its own session may be whole", e.Name(), len(data))))
		case m.Status == "running" && (a.Live == nil || !a.Live()):
			out = append(out, note(finding.SubagentCutOff, "", "sub-agent "+e.Name()+" was running when the session ended"))
		}
	}
	return out
}

// namesakes are sessions of the same id in other groups: the client then lists none of them, unless it was moving the session.
func namesakes(at string) (out []finding.Finding) {
	abs, err := filepath.Abs(at)
	if err != nil {
		return nil
	}
	dir := filepath.Dir(abs)
	if !inHome(dir) || !exists(filepath.Join(dir, summaryName)) {
		return nil
	}
	id, root := filepath.Base(dir), filepath.Dir(filepath.Dir(dir))
	if exists(filepath.Join(filepath.Dir(root), "relocations", id+".json")) {
		return nil
	}
	groups, _ := os.ReadDir(root)
	for _, g := range groups {
		if g.Name() == filepath.Base(filepath.Dir(dir)) || !g.IsDir() || !exists(filepath.Join(root, g.Name(), id, summaryName)) {
			continue
		}
		f := note(finding.SessionIDDuplicate, "group", fmt.Sprintf("a session of the same id lies in %s: the client lists neither", g.Name()))
		f.Repair = "none is automatic: move one of the two folders out of the sessions, or give it a name that begins with a dot"
		out = append(out, f)
	}
	return out
}

var _ format.Neighbour = Format{}
