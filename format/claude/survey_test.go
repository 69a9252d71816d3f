package claude

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sessfix/sessfix/format"
)

// noon is the clock of these tests.
var noon = time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)

// idOf is a session's id of one repeated digit.
func idOf(digit string) string {
	r := func(n int) string { return strings.Repeat(digit, n) }
	return r(8) + "-" + r(4) + "-" + r(4) + "-" + r(4) + "-" + r(12)
}

// homeOf makes a home of lines "DAYS PATH [CONTENT]": what was last changed so many days before noon. @1 is
// the id of ones, and a path that ends in "/" a directory.
func homeOf(t *testing.T, lines string) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	for line := range strings.Lines(lines) {
		w := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(w) < 2 {
			continue
		}
		var days float64
		if _, err := fmt.Sscan(w[0], &days); err != nil {
			t.Fatal(err)
		}
		name := w[1]
		for _, d := range "123456789" {
			name = strings.ReplaceAll(name, "@"+string(d), idOf(string(d)))
		}
		f := &fstest.MapFile{ModTime: noon.Add(-time.Duration(days * float64(24*time.Hour)))}
		if len(w) == 3 {
			f.Data = []byte(w[2])
		}
		if strings.HasSuffix(name, "/") {
			name, f.Mode = strings.TrimSuffix(name, "/"), fs.ModeDir|0o755
		}
		out[name] = f
	}
	return out
}

// surveyed is what a survey says, one finding a line, ids by their digit.
func surveyed(s format.Survey) string {
	var out []string
	for _, f := range (Format{}).Survey(s) {
		m := fmt.Sprintf("%s %s: %s", f.Code, f.Where, f.Message)
		for _, d := range "123456789" {
			m = strings.ReplaceAll(m, idOf(string(d)), "@"+string(d))
		}
		out = append(out, m)
	}
	return strings.Join(out, "\n")
}

func TestSurvey(t *testing.T) {
	for _, c := range []struct{ name, home, want string }{
		{"an empty home", "", ""},
		{"no husk", "1 projects/-w/@1.jsonl\n 1 projects/-w/@1/subagents/agent-a1.jsonl\n 1 projects/-w/@1/tool-results/b.txt", ""},
		{
			"a husk", "1 projects/-w/@1/subagents/agent-a1.jsonl\n 1 projects/-w/@1/subagents/agent-a1.meta.json\n 2 projects/-w/@1/subagents/workflows/wf_1/agent-a2.jsonl\n 2 projects/-w/@1/tool-results/b.txt",
			"SESSION_HUSK : projects/-w/@1 holds 2 sub-agent logs and 1 spilled result, and its transcript is gone",
		},
		{"a husk of results", "1 projects/-w/@1/tool-results/b.txt\n 1 projects/-w/@1/tool-results/c.txt", "SESSION_HUSK : projects/-w/@1 holds 2 spilled results, and its transcript is gone"},
		{"a directory in its place", "1 projects/-w/@1.jsonl/\n 1 projects/-w/@1/subagents/agent-a1.jsonl", "SESSION_HUSK : projects/-w/@1 holds 1 sub-agent log, and its transcript is gone"},
		{"under another project", "1 projects/-v/@1.jsonl\n 1 projects/-w/@1/subagents/agent-a1.jsonl", "SESSION_HUSK : projects/-w/@1 holds 1 sub-agent log, and its transcript is gone"},
		{"nothing in it", "1 projects/-w/@1/subagents/\n 1 projects/-w/@2/notes.txt\n 1 projects/-w/memory/a.md\n 1 projects/-w/@3/subagents/agent-a1.meta.json", ""},
		{"no project of the client's", "40 projects/garden/@1/subagents/agent-a1.jsonl\n 25 projects/garden/@2.jsonl", ""},
		{"on another system", "1 projects/C--Users-ida/@1/subagents/agent-a1.jsonl", "SESSION_HUSK : projects/C--Users-ida/@1 holds 1 sub-agent log, and its transcript is gone"},
		{
			"husks that age explains", "31 projects/-w/@1/subagents/agent-a1.jsonl\n 40 projects/-w/@2/subagents/agent-a1.jsonl\n 50 projects/-w/@2/tool-results/b.txt",
			"SESSION_HUSK expired: of 2 sessions the transcript is gone, at an age at which the client deletes it, and 2 sub-agent logs and 1 spilled result are left: projects/-w/@2 (last changed 2026-02-19), projects/-w/@1 (last changed 2026-02-28)",
		},
		{"one part of it is younger", "31 projects/-w/@1/subagents/agent-a1.jsonl\n 29 projects/-w/@1/tool-results/b.txt", "SESSION_HUSK : projects/-w/@1 holds 1 sub-agent log and 1 spilled result, and its transcript is gone"},
		{"young and old transcripts", "22 projects/-w/@1.jsonl\n 23 projects/-w/@2.jsonl\n 23 projects/-w/agent-a1.jsonl\n 23 projects/-w/notes.jsonl", "RETENTION_NEAR : the client keeps transcripts for 30 days, and 1 transcript is more than three quarters of that old: projects/-w/@2.jsonl (last changed 2026-03-08)"},
		{
			"many", "23 projects/-w/@1.jsonl\n 24 projects/-w/@2.jsonl\n 25 projects/-w/@3.jsonl\n 26 projects/-v/@4.jsonl\n 26 projects/-w/@5.jsonl\n 27 projects/-w/@6.jsonl\n 99 projects/-w/@7.jsonl",
			"RETENTION_NEAR : the client keeps transcripts for 30 days, and 7 transcripts are more than three quarters of that old: projects/-w/@7.jsonl (last changed 2025-12-22), projects/-w/@6.jsonl (last changed 2026-03-04), projects/-v/@4.jsonl (last changed 2026-03-05), projects/-w/@5.jsonl (last changed 2026-03-05), projects/-w/@3.jsonl (last changed 2026-03-06), and 2 more",
		},
		{"kept for longer", `0 settings.json {"cleanupPeriodDays":365}` + "\n 23 projects/-w/@1.jsonl\n 40 projects/-w/@2/subagents/agent-a1.jsonl", "SESSION_HUSK : projects/-w/@2 holds 1 sub-agent log, and its transcript is gone"},
		{
			"kept for shorter", `0 settings.json {"cleanupPeriodDays":365}` + "\n" + `0 settings.local.json {"cleanupPeriodDays":4}` + "\n 2 projects/-w/@1.jsonl\n 3.5 projects/-w/@2.jsonl",
			"RETENTION_NEAR : the client keeps transcripts for 4 days, and 1 transcript is more than three quarters of that old: projects/-w/@2.jsonl (last changed 2026-03-28)",
		},
		{"not kept", `0 settings.json {"cleanupPeriodDays":0}` + "\n 1 projects/-w/@1.jsonl", "RETENTION_NEAR : the client is told to keep no transcripts, and 1 transcript is there: projects/-w/@1.jsonl (last changed 2026-03-30)"},
		{"kept for ever", `0 settings.json {"cleanupPeriodDays":1e300}` + "\n 9999 projects/-w/@1.jsonl", ""},
		{"settings that cannot be read", `0 settings.json {"cleanupPeriodDays":36` + "\n 29 projects/-w/@1.jsonl", "RETENTION_NEAR : the client keeps transcripts for 30 days, and 1 transcript is more than three quarters of that old: projects/-w/@1.jsonl (last changed 2026-03-02)"},
		{"settings that say nothing", `0 settings.json {"cleanupPeriodDays":"7","env":{}}` + "\n" + `0 settings.local.json {"cleanupPeriodDays":-7}` + "\n 9 projects/-w/@1.jsonl", ""},
	} {
		s := format.Survey{Root: homeOf(t, c.home), Whole: true, Now: noon}
		if got := surveyed(s); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
		s.Whole = false
		if got := surveyed(s); got != "" {
			t.Errorf("%s: of a part of the home is said: %s", c.name, got)
		}
	}
}

// Without a clock no age is told: a husk counts as one that its age does not explain.
func TestSurveyWithoutClock(t *testing.T) {
	home := homeOf(t, "99 projects/-w/@1.jsonl\n 99 projects/-w/@2/subagents/agent-a1.jsonl")
	if got, want := surveyed(format.Survey{Root: home, Whole: true}), "SESSION_HUSK : projects/-w/@2 holds 1 sub-agent log, and its transcript is gone"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestRoot(t *testing.T) {
	abs := func(parts ...string) string {
		p, _ := filepath.Abs(filepath.Join(parts...))
		return p
	}
	for path, want := range map[string]string{
		abs("r", "projects", "-w", idOf("1")+".jsonl"): abs("r"),
		abs("r", "projects"):                           abs("r"),
		abs("r", "projects", "-w"):                     "",
		abs("r"):                                       "",
		abs("r", "-w", idOf("1")+".jsonl"):             "",
	} {
		if got := (Format{}).Root(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
