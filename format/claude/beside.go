package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
)

// firstHeaded is the first release known to give each sub-agent's log a header, <log>.meta.json.
const firstHeaded = 2_001_328

// askedLogs are the logs of sub-agents that a call asked for. Others have longer names, and may have no header.
var askedLogs = regexp.MustCompile(`^agent-[0-9a-zA-Z]+\.jsonl$`)

const (
	headerEnd = ".meta.json"
	maxHeader = 64 << 10
)

// Beside judges the logs of a session's sub-agents by their headers. Of a copy outside of a home nothing is said,
// and nothing while somebody is at work.
func (Format) Beside(a format.Around) []finding.Finding {
	root, id := placeOf(a.Path)
	if root == "" || filepath.Base(a.Path) != id+".jsonl" {
		return nil
	}
	s := subagents{fsys: a.Dir, dir: id + "/subagents"}
	entries, err := fs.ReadDir(a.Dir, s.dir)
	if err != nil || len(entries) == 0 {
		return nil
	}
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = e.Type().IsRegular()
	}
	for _, e := range entries {
		agent, isHeader := strings.CutSuffix(e.Name(), headerEnd)
		switch {
		case isHeader && strings.HasPrefix(agent, "agent-"):
			s.header(agent, names[agent+".jsonl"])
		case askedLogs.MatchString(e.Name()) && !names[strings.TrimSuffix(e.Name(), ".jsonl")+headerEnd] && s.headed(e.Name()):
			s.headless = append(s.headless, e.Name())
		}
	}
	if s.quiet() || a.Live != nil && a.Live() {
		return nil
	}
	return s.findings(a.Live != nil)
}

// subagents is what is wrong with a session's sub-agents, by file names.
type subagents struct {
	fsys                    fs.FS
	dir                     string
	headless, logless, torn []string
	open                    []header
}

// header is what <log>.meta.json says, as far as it is of interest here.
type header struct {
	agent    string
	ToolUse  string `json:"toolUseId"`
	Finished *bool  `json:"finished"`
}

// header reads one.
func (s *subagents) header(agent string, log bool) {
	name := agent + headerEnd
	data, err := format.ReadSmall(s.fsys, path.Join(s.dir, name), maxHeader)
	if err != nil {
		return
	}
	h := header{agent: agent}
	if json.Unmarshal(data, &h) != nil {
		s.torn = append(s.torn, name)
		return
	}
	if !log {
		s.logless = append(s.logless, name)
	}
	if h.Finished != nil && !*h.Finished {
		s.open = append(s.open, h)
	}
}

// headed tells whether a log was written by a release that gives it a header.
func (s *subagents) headed(name string) bool {
	data, err := format.ReadSmall(s.fsys, path.Join(s.dir, name), maxHeader)
	if err != nil {
		return false
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	f, err := read(line)
	if err != nil {
		return false
	}
	rank, ok := format.RankOf(string(f.Str(kVersion)))
	return ok && rank >= firstHeaded
}

func (s *subagents) quiet() bool {
	return len(s.headless)+len(s.logless)+len(s.torn)+len(s.open) == 0
}

// findings tells it. That one was cut off is told only where it is known that nobody is at work.
func (s *subagents) findings(dead bool) []finding.Finding {
	var out []finding.Finding
	for _, h := range s.open {
		if !dead {
			break
		}
		f := finding.New(finding.SubagentCutOff)
		f.CallID = h.ToolUse
		f.Message = fmt.Sprintf("%s did not finish; nobody is at work on the session", h.agent)
		out = append(out, f)
	}
	stray := func(names []string, one, more string) {
		if len(names) == 0 {
			return
		}
		f := finding.New(finding.SubagentStray)
		f.Message = fmt.Sprintf("%s: %s", fmt.Sprintf(more, len(names)), strings.Join(names[:min(told, len(names))], ", "))
		if len(names) == 1 {
			f.Message = fmt.Sprintf("%s: %s", one, names[0])
		} else if n := len(names) - told; n > 0 {
			f.Message += fmt.Sprintf(", and %d more", n)
		}
		out = append(out, f)
	}
	stray(s.headless, "a sub-agent's log has no header", "%d logs of sub-agents have no header")
	stray(s.logless, "a sub-agent's header has no log", "%d headers of sub-agents have no log")
	stray(s.torn, "a sub-agent's header cannot be read", "%d headers of sub-agents cannot be read")
	return out
}
