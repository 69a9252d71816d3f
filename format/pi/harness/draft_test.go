package harness

import (
	"strings"
	"testing"
)

// drafts gives lines numbers from 1 on, below a header.
func drafts(lines ...string) string {
	out := draftHead + "\n"
	for i, l := range lines {
		out += strings.Replace(l, `{"kind":`, `{"seq":`+num(int64(i+1))+`,"timestamp":7,"kind":`, 1) + "\n"
	}
	return out
}

func TestDraft(t *testing.T) {
	entry := func(id, parent, more string) string {
		return `{"kind":"entry","lane":"main","type":"message","id":"` + id + `","parentId":` + nullable(parent) + more + `}`
	}
	record := func(typ, id, more string) string {
		return `{"kind":"record","id":"` + id + `","lane":"main","type":"` + typ + `"` + more + `}`
	}
	starts := record("operation_started", "op", `,"intent":{"kind":"run"}`)
	calls := entry("e2", "e1", `,"message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"n"},{"type":"toolCall","id":"c2","name":"n"}],"stopReason":"toolUse"}`)
	began := record("tool_started", "t1", `,"runId":"op","toolCallId":"c1","toolName":"n","resultEntryId":"r1"`)
	answer := entry("r1", "e2", `,"message":{"role":"toolResult","toolCallId":"c1"}`)
	ends := record("operation_finished", "f", `,"runId":"op","outcome":"completed"`)
	e1 := entry("e1", "", "")
	good := []string{e1, starts, calls, began, answer, ends}
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"whole":              {good, ""},
		"no end":             {good[:5], "OPEN_TURN tail, DANGLING_CALL tail c2"},
		"no result":          {good[:4], "OPEN_TURN tail, DANGLING_CALL tail c1, DANGLING_CALL tail c2"},
		"no start":           {good[:3], "OPEN_TURN tail, DANGLING_CALL tail c1, DANGLING_CALL tail c2"},
		"facts and lanes":    {[]string{e1, `{"kind":"fact","fact":"name","name":"N"}`, `{"kind":"fact","fact":"name"}`, `{"kind":"fact","fact":"label","targetId":"e1","label":"l"}`, `{"kind":"lane","lane":"side","leafId":"e1"}`, `{"kind":"lane","lane":"main","leafId":null}`, entry("e5", "", "")}, ""},
		"copied":             {[]string{`{"kind":"entry","type":"message","id":"a","parentId":null}`, `{"kind":"entry","type":"message","id":"b","parentId":"a"}`}, ""},
		"unknown kind":       {[]string{`{"kind":"value"}`}, "EVENT_UNKNOWN"},
		"unknown entry":      {[]string{`{"kind":"entry","type":"new","id":"a","parentId":null}`}, "EVENT_UNKNOWN"},
		"unknown record":     {[]string{record("new", "a", "")}, "EVENT_UNKNOWN"},
		"unknown fact":       {[]string{`{"kind":"fact","fact":"new"}`}, "EVENT_UNKNOWN"},
		"no intent":          {[]string{record("operation_started", "a", "")}, "EVENT_INVALID"},
		"no run":             {[]string{record("operation_finished", "a", "")}, "EVENT_INVALID"},
		"no lane":            {[]string{strings.Replace(starts, "main", "side", 1)}, "EVENT_INVALID"},
		"entry of no lane":   {[]string{strings.Replace(e1, "main", "side", 1)}, "EVENT_INVALID"},
		"not at the leaf":    {[]string{e1, entry("e2", "", "")}, "EVENT_INVALID"},
		"no parent":          {[]string{`{"kind":"entry","type":"message","id":"b","parentId":"a"}`}, "PARENT_MISSING"},
		"a record as parent": {[]string{starts, `{"kind":"entry","type":"message","id":"b","parentId":"op"}`}, "PARENT_MISSING"},
		"lane to nowhere":    {[]string{`{"kind":"lane","lane":"side","leafId":"a"}`}, "PARENT_MISSING"},
		"label of nothing":   {[]string{`{"kind":"fact","fact":"label","targetId":"a"}`}, "PARENT_MISSING"},
		"label that is none": {[]string{e1, `{"kind":"fact","fact":"label","targetId":"e1","label":7}`}, "EVENT_INVALID"},
		"name that is none":  {[]string{`{"kind":"fact","fact":"name","name":7}`}, "EVENT_INVALID"},
		"id twice":           {[]string{e1, strings.Replace(starts, `"op"`, `"e1"`, 1)}, "ID_CONFLICT"},
		"custom":             {[]string{`{"kind":"entry","type":"custom","id":"a","parentId":null}`}, "EVENT_INVALID"},
	} {
		if got := decode(t, drafts(c.lines...)).codes(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	text := drafts(good...)
	lines := strings.SplitAfter(text, "\n")
	for name, c := range map[string]struct{ text, want string }{
		"a hole":            {strings.Replace(text, `"seq":3`, `"seq":4`, 1), "SEQ_GAP"},
		"a line is lost":    {strings.Join(lines[:2], "") + strings.Join(lines[3:], ""), "SEQ_GAP"},
		"a number falls":    {strings.Replace(text, `"seq":3`, `"seq":1`, 1), "SEQ_FORK"},
		"a line twice":      {strings.Join(lines[:4], "") + strings.Join(lines[3:], ""), "SEQ_DUP"},
		"no number":         {strings.Replace(text, `"seq":3,`, ``, 1), "EVENT_INVALID"},
		"an array":          {text + `[{"kind":"fact","fact":"name","seq":7}]` + "\n", "EVENT_INVALID"},
		"a second header":   {text + draftHead + "\n", "HEADER_MISPLACED"},
		"two parents":       {strings.Replace(text, `"cwd"`, `"parentSessionId":"a","legacyParentSessionPath":"b","cwd"`, 1), "HEADER_INVALID"},
		"metadata":          {strings.Replace(text, `{"a":1}`, `7`, 1), "HEADER_INVALID"},
		"broken and whole":  {strings.Join(lines[:4], "") + "{\n" + strings.Join(lines[4:], ""), ""},
		"no storageVersion": {text, ""},
	} {
		if got := decode(t, c.text).codes(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
