package grok_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/grok"
)

// Files of a session are known by their names; those that other agents have as well, by what they hold.
func TestDetect(t *testing.T) {
	dir := folder{logName: "", summaryName: "", planName: "", "sub/plan.json": "", "sub/summary.json": ""}.put(t, place)
	for _, c := range []struct {
		name, first string
		want        format.Match
	}{
		{logName, strings.TrimSpace(updates("user:0:a")), format.ByShape},
		{logName, `{"timestamp":1`, format.ByName},
		{logName, ``, format.ByName},
		{historyName, `{"type":"system","content":"s"}`, format.ByShape},
		{historyName, `{"role":"system","content":"s"}`, format.ByShape},
		{historyName, `{}`, format.ByName},
		{eventsName, `{"ts":"2024-06-13T00:00:00Z","type":"turn_started"}`, format.ByShape},
		{eventsName, `{"ts":1,"type":"turn_started"}`, format.No},
		{eventsName, `{"ts":`, format.ByName},
		{"rewind_points.jsonl", `{"prompt_index":0}`, format.ByShape},
		{"rewind_points.jsonl", `{"index":0}`, format.No},
		{summaryName, `{`, format.ByName},
		{planName, `{`, format.ByName},
		{"sub/plan.json", `{`, format.No},
		{"sub/summary.json", `{`, format.No},
		{"feedback.jsonl", `{"type":"system","content":"s"}`, format.No},
		{"signals.json", `{`, format.No},
	} {
		if got := (grok.Format{}).Detect(format.Peek{Path: filepath.Join(dir, filepath.FromSlash(c.name)), First: []byte(c.first)}); got != c.want {
			t.Errorf("%s %s: %v, want %v", c.name, c.first, got, c.want)
		}
	}
}

// Each file has a dialect, which says what it is, and a place among the parts.
func TestParts(t *testing.T) {
	dir := folder{logName: "", summaryName: "", planName: ""}.put(t, place)
	var names []string
	for i, name := range (grok.Format{}).Parts() {
		names = append(names, name)
		part, ok := grok.Format{}.Part(filepath.Join(dir, name))
		if !ok || part.Order != i || part.Role == "" {
			t.Errorf("%s: %+v", name, part)
		}
		d, err := grok.Format{}.Dialect(format.Peek{Path: filepath.Join(dir, name)}, "")
		if err != nil || d.Version() == "" {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := (grok.Format{}).Dialect(format.Peek{Path: filepath.Join(dir, name)}, "yesterday"); err == nil {
			t.Errorf("%s: a release of that name is known", name)
		}
	}
	if want := []string{logName, historyName, eventsName, "rewind_points.jsonl", planName, summaryName}; !slices.Equal(names, want) {
		t.Errorf("parts are %q", names)
	}
	if _, ok := (grok.Format{}).Part(filepath.Join(dir, "signals.json")); ok {
		t.Error("a side file is a part")
	}
	if _, err := (grok.Format{}).Dialect(format.Peek{Path: filepath.Join(dir, "signals.json")}, ""); err == nil {
		t.Error("a side file has a dialect")
	}
	for first, want := range map[string]string{`{"role":"user","content":"a"}`: "0", `{"type":"user","content":[]}`: "1", `{"ty`: "1", ``: "1"} {
		if d, err := (grok.Format{}).Dialect(format.Peek{Path: filepath.Join(dir, historyName), First: []byte(first)}, ""); err != nil || d.Version() != want {
			t.Errorf("%s: %v", first, err)
		}
	}
}

// Sessions lie below the client's own folder, wherever that is.
func TestHomes(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want []string
	}{
		{map[string]string{"GROK_HOME": "/g", "HOME": "/h"}, []string{"/g/sessions"}},
		{map[string]string{"HOME": "/h", "USERPROFILE": "/u"}, []string{"/h/.grok/sessions"}},
		{map[string]string{"USERPROFILE": "/u"}, []string{"/u/.grok/sessions"}},
		{nil, nil},
	} {
		var got []string
		for _, h := range (grok.Format{}).Homes(func(name string) string { return c.env[name] }) {
			got = append(got, filepath.ToSlash(h))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %q", c.env, got)
		}
	}
}

// The id and the folder of a session stand in its summary.
func TestTitle(t *testing.T) {
	for text, want := range map[string]format.Header{
		strings.Replace(goodSummary, `"session_summary"`, `"parent_session_id":"p","session_summary"`, 1): {ID: id, CWD: "/w", Parent: "p"},
		goodSummary[:30]: {},
		"null":           {},
		`{"info":7}`:     {},
	} {
		dir := folder{logName: "", summaryName: text}.put(t, place)
		if got := (grok.Format{}).Title(format.Peek{Path: filepath.Join(dir, logName)}); got != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
	if got := (grok.Format{}).Title(format.Peek{Path: filepath.Join(t.TempDir(), logName)}); got != (format.Header{}) {
		t.Errorf("without a summary: %+v", got)
	}
}

// The damage table can be read, and knows what is found here.
func TestReactions(t *testing.T) {
	rs, err := format.ParseReactions((grok.Format{}).Reactions())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code           finding.Code
		where, version string
		cure           finding.Cure
	}{
		{finding.TornTail, "", "log", finding.Auto}, {finding.TornLine, "", "points", finding.Auto}, {finding.DanglingCall, "tail", "log", finding.Auto},
		{finding.EmptyHistory, "", "1", finding.Auto}, {finding.SidecarMissing, "unknown", "summary", finding.Refuse}, {finding.SidecarMissing, "", "summary", finding.Auto},
		{finding.SessionIDDuplicate, "group", "log", finding.Refuse}, {finding.FalseCloser, "cancelled", "1", finding.Auto}, {finding.VersionOld, "log", "log", finding.Leave},
		{finding.SidecarCorrupt, "plan", "plan", finding.Auto}, {finding.SidecarCorrupt, "state", "log", finding.Leave}, {finding.IDRepeated, "copy", "log", finding.Auto},
		{finding.DerivedMismatch, "history", "1", finding.Auto}, {finding.OpenTurn, "tail", "events", finding.Auto},
	} {
		r, ok := rs.Find(c.code, c.where, c.version, 1000041)
		if !ok || r.Cure != c.cure || r.Sentence() == "" {
			t.Errorf("%s %s %s: %t %+v", c.code, c.where, c.version, ok, r)
		}
	}
}

// Side files that are torn, leftovers and sub-agents are worth a word, and none is touched.
func TestBeside(t *testing.T) {
	whole := talk.with(summaryName, goodSummary)
	for _, c := range []struct{ file, text, notes string }{
		{"plan_mode.json", `{"state":`, "updates SIDECAR_CORRUPT state"},
		{"signals.json", ``, "updates SIDECAR_CORRUPT state"},
		{"announcement_state.json", "\x00\x00", "updates SIDECAR_CORRUPT state"},
		{"goal/state.json", `[1`, "updates SIDECAR_CORRUPT state"},
		{"signals.json", `{}`, ""},
		{"tool_state.json", `{`, ""},
		{"summary.json.0190.tmp", `{`, "updates LEFTOVER_TEMP"},
		{"chat_history.jsonl.corrupt", `{`, "updates CLIENT_BACKUP"},
		{"chat_history.jsonl.pre-strip", `{`, ""},
		{"subagents/x/meta.json", `{"status":"running"}`, "updates SUBAGENT_CUT_OFF"},
		{"subagents/x/meta.json", `{"status":"completed"}`, ""},
		{"subagents/x/meta.json", `{"status":`, "updates SIDECAR_CORRUPT state"},
		{"updates.jsonl.lock", ``, ""},
	} {
		files := whole.with(c.file, c.text)
		m := files.mend(t)
		if m.found != "" || m.notes != c.notes || m.written != "" {
			t.Errorf("%s %q: %s, notes %s", c.file, c.text, m.found, m.notes)
		}
	}
}

// Guards are looked at in the order in which the client takes its locks; those that are not there go again.
func TestGuards(t *testing.T) {
	dir := talk.with(summaryName, goodSummary).with("chat_history.jsonl.lock", "").with("../../../relocations/"+id+".lock", "").put(t, place)
	var kinds []string
	var locks []string
	for _, g := range (grok.Format{}).Guards(filepath.Join(dir, logName)) {
		kinds = append(kinds, g.Kind)
		if g.Kind != format.FileLock {
			continue
		}
		rel, err := filepath.Rel(dir, g.Path)
		if err != nil {
			t.Fatal(err)
		}
		if g.Sweep {
			rel += " goes"
		}
		locks = append(locks, filepath.ToSlash(rel))
	}
	if want := []string{"../../../relocations/" + id + ".lock", "updates.jsonl.lock goes", "chat_history.jsonl.lock", "rewind_points.jsonl.lock goes", "summary.json.lock goes"}; !slices.Equal(locks, want) {
		t.Errorf("locks %q", locks)
	}
	for _, k := range []string{format.OpenFile, format.Registry, format.Quiet} {
		if !slices.Contains(kinds, k) {
			t.Errorf("%s is not looked at: %q", k, kinds)
		}
	}
	// A copy has no client: that nobody writes to it, or has it open, is all.
	dir = talk.with(summaryName, goodSummary).put(t, "copies/x")
	for _, g := range (grok.Format{}).Guards(filepath.Join(dir, logName)) {
		if g.Kind != format.Quiet && g.Kind != format.OpenFile {
			t.Errorf("of a copy: %+v", g)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 4 {
		t.Errorf("%d files, %v", len(entries), err)
	}
}
