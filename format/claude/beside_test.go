package claude

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
)

// sessionPath is where the transcript of ones lies in the tests of what lies beside it.
func sessionPath(t *testing.T) string {
	t.Helper()
	p, err := filepath.Abs(filepath.Join("r", "projects", "-w", idOf("1")+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestBeside(t *testing.T) {
	first := func(version string) string { return ` {"type":"user","uuid":"u","version":"` + version + `"}` + "\n" }
	const log, header = "1 @1/subagents/agent-a1.jsonl", "1 @1/subagents/agent-a1.meta.json"
	for _, c := range []struct{ name, files, dead, unknown string }{
		{"nothing beside", "", "", ""},
		{"log and header", log + first("2.1.328") + header + ` {"toolUseId":"toolu_1","finished":true}`, "", ""},
		{"a header that says little", log + "\n" + header + ` {}`, "", ""},
		{"cut off", log + "\n" + header + ` {"toolUseId":"toolu_1","finished":false}`, "SUBAGENT_CUT_OFF toolu_1: agent-a1 did not finish; nobody is at work on the session", ""},
		{
			"no header", log + first("2.1.328") + "1 @1/subagents/agent-a2.jsonl" + first("2.1.400"),
			"SUBAGENT_STRAY : 2 logs of sub-agents have no header: agent-a1.jsonl, agent-a2.jsonl", "the same",
		},
		{"no header, by a release that wrote none", log + first("2.1.29"), "", ""},
		{"no header, by nobody knows which release", log + " {\"type\":\"us\n", "", ""},
		{"no header, for a talk that no call asked for", "1 @1/subagents/agent-acompact-a1.jsonl" + first("2.1.328"), "", ""},
		{"no log", header + ` {"finished":true}`, "SUBAGENT_STRAY : a sub-agent's header has no log: agent-a1.meta.json", "the same"},
		{"a torn header", log + "\n" + header + ` {"toolUseId":"toolu`, "SUBAGENT_STRAY : a sub-agent's header cannot be read: agent-a1.meta.json", "the same"},
		{"an empty header", log + "\n" + header, "SUBAGENT_STRAY : a sub-agent's header cannot be read: agent-a1.meta.json", "the same"},
		{"other files", "1 @1/subagents/journal.jsonl\n 1 @1/subagents/notes.meta.json\n 1 @1/subagents/agent-a1.meta.json/", "", ""},
	} {
		if c.unknown == "the same" {
			c.unknown = c.dead
		}
		owner := func(alive bool) func() bool { return func() bool { return alive } }
		for who, want := range map[string]string{"dead": c.dead, "alive": "", "unknown": c.unknown} {
			a := format.Around{Path: sessionPath(t), Dir: homeOf(t, c.files)}
			if who != "unknown" {
				a.Live = owner(who == "alive")
			}
			var got []string
			for _, f := range (Format{}).Beside(a) {
				got = append(got, fmt.Sprintf("%s %s: %s", f.Code, f.CallID, f.Message))
			}
			if strings.Join(got, "\n") != want {
				t.Errorf("%s, owner %s: %q, want %q", c.name, who, got, want)
			}
			a.Path = filepath.Join("copy", idOf("1")+".jsonl")
			if got := (Format{}).Beside(a); got != nil {
				t.Errorf("%s: of a copy is said: %v", c.name, got)
			}
		}
	}
}
