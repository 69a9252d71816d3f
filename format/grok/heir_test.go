package grok_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/grok"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

func TestInherits(t *testing.T) {
	for _, c := range []struct {
		file, summary, parent string
		ok                    bool
	}{
		{logName, `{"parent_session_id":"p","session_kind":"fork"}`, "p", true},
		{logName, `{"parent_session_id":"p","session_kind":"worktree"}`, "p", true},
		{logName, `{"parent_session_id":"p","session_kind":"subagent"}`, "p", false},
		{logName, `{"parent_session_id":"","session_kind":"fork"}`, "", false},
		{logName, `{"session_kind":"fork"}`, "", false},
		{logName, `torn`, "", false},
		{historyName, `{"parent_session_id":"p","session_kind":"fork"}`, "", false},
	} {
		dir := folder{summaryName: c.summary}.put(t, place)
		h, ok := (grok.Format{}).Inherits(format.Peek{Path: filepath.Join(dir, c.file)})
		if ok != c.ok || h.Parent != c.parent && ok || ok && h.Records != -1 {
			t.Errorf("%s beside %s: %+v, %v", c.file, c.summary, h, ok)
		}
	}
}

func TestAncestor(t *testing.T) {
	dir := folder{logName: "{}\n", summaryName: goodSummary}.put(t, place)
	group := filepath.Dir(dir)
	elsewhere := filepath.Join(filepath.Dir(group), "%2Fother")
	for _, p := range []string{filepath.Join(group, "near"), filepath.Join(elsewhere, "far"), filepath.Join(elsewhere, "near")} {
		os.MkdirAll(p, 0o700)
		if err := os.WriteFile(filepath.Join(p, logName), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for parent, want := range map[string]string{
		"near": filepath.Join(group, "near", logName), "far": filepath.Join(elsewhere, "far", logName), "none": "", "": "", "../near": "", "..": "", `a\b`: "",
	} {
		if got := (grok.Format{}).Ancestor(filepath.Join(dir, logName), format.Heritage{Parent: parent}); got != want {
			t.Errorf("%q: %s, want %s", parent, got, want)
		}
	}
}

func TestAlike(t *testing.T) {
	line := func(time, session, update, event string) string {
		return `{"timestamp":` + time + `,"method":"m","params":{"sessionId":"` + session + `","update":` + update + `,"_meta":{"eventId":"` + event + `"}}}`
	}
	const said = `{"sessionUpdate":"x","content":{"text":"a"},"list":[1,{"n":null}],"lost":1}`
	parent := line("1", "p", said, "p-3")
	for _, c := range []struct {
		child string
		alike bool
	}{
		{parent, true},
		{line("2", "c", said, "p-3"), true},
		{line("2", "c", `{"list":[1,{"n":null}],"sessionUpdate":"x","content":{"text":"a"}}`, "p-3"), true},
		{line("2", "c", `{"sessionUpdate":"x","content":{"text":"a"},"list":[1,{}],"more":null}`, "p-3"), true},
		{line("1", "p", said, "p-4"), false},
		{line("1", "p", `{"sessionUpdate":"x","content":{"text":"b"},"list":[1,{"n":null}]}`, "p-3"), false},
		{line("1", "p", `{"sessionUpdate":"x","content":{"text":"a"},"list":[1]}`, "p-3"), false},
		{line("1", "p", `{"sessionUpdate":"x","content":{"text":"a"},"list":{}}`, "p-3"), false},
		{line("1", "p", `{"sessionUpdate":"x","content":{"text":"a"},"new":0}`, "p-3"), false},
		{`{}`, false}, {`torn`, false}, {`{"params":5}`, false},
	} {
		if (grok.Format{}).Alike([]byte(c.child), []byte(parent)) != c.alike {
			t.Errorf("%s: not %v", c.child, c.alike)
		}
	}
}

// linked are the records of a log by their events.
func linked(t *testing.T, log string) map[session.ID][]byte {
	t.Helper()
	d, err := (grok.Format{}).Dialect(format.Peek{Path: logName}, "")
	if err != nil {
		t.Fatal(err)
	}
	sc, err := scan.New(t.Context(), strings.NewReader(log), int64(len(log)), scan.Options{Medium: scan.Lines, Framing: d.Framing()})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[session.ID][]byte{}
	dec := d.NewDecoder(format.Place{Path: logName})
	var b format.Batch
	for sc.Next() {
		b.Reset()
		if dec.Decode(sc.Record(), &b); b.Linked {
			ids[b.Link.ID] = bytes.Clone(sc.Record().Raw)
		}
	}
	return ids
}

// A child that was changed is told from one that is as its parent, and goes on in its own way.
func TestHeritage(t *testing.T) {
	parent := spoken(2)
	own := strings.ReplaceAll(updates("user:1:mine", "say:x", "end:end_turn"), id, childID)
	for name, c := range map[string]struct {
		change        func(log string) string
		known, unlike int
	}{
		"as it was made": {func(log string) string { return log }, 6, 0},
		"went on":        {func(log string) string { return log + own }, 6, 0},
		"written anew": {func(log string) string {
			return strings.ReplaceAll(log, `"timestamp":17182368`, `"timestamp":19182368`)
		}, 6, 0},
		"changed":         {func(log string) string { return strings.Replace(log, "It is so.", "It is not so.", 1) }, 6, 1},
		"with less in it": {func(log string) string { return strings.Replace(log, strings.SplitAfter(log, "\n")[1], "", 1) }, 5, 0},
		"numbered 0":      {func(log string) string { return strings.ReplaceAll(log, id+"-3", id+"-0") }, 5, 0},
	} {
		child, _, err := parent.forked(t, 5, format.ForkRequest{})
		if err != nil {
			t.Fatal(err)
		}
		theirs := linked(t, parent[logName])
		known, unlike := 0, 0
		for event, raw := range linked(t, c.change(child[logName])) {
			if of, ok := theirs[event]; ok {
				known++
				if !(grok.Format{}).Alike(raw, of) {
					unlike++
				}
			}
		}
		if known != c.known || unlike != c.unlike {
			t.Errorf("%s: %d records are known, and %d of them unlike", name, known, unlike)
		}
	}
}
