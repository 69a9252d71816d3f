package grok_test

import (
	"strings"
	"testing"

	"github.com/sessfix/sessfix/verify"
)

// The client answers a call that it finds without result as cancelled and not run, whatever became of it. Where something says that
// it ran, that is told instead.
func TestFalseClosers(t *testing.T) {
	const claim = "Tool execution was cancelled by the user (tool `run` was not executed)."
	log := func(end ...string) string {
		return updates(append(append([]string{"user:0:a", "say:b", "call:c1"}, end...), "end:interrupted", "user:1:c", "say:d", "end:end_turn")...)
	}
	told := func(result ...string) string {
		return history(append(append([]string{"system", "user:0:a", "asks:b:c1"}, result...), "user:1:c", "answer:d")...)
	}
	for _, c := range []struct {
		name, log, history string
		more               folder
		want               string // what the model is told from now on, "" = nothing changes, "?" = that it is not known
	}{
		{"the log has its result", log("done:c1:true é\n"), told("result:c1:" + claim), nil, `true é\n`},
		{"the log has its failure", log("fail:c1:no"), told("result:c1:" + claim), nil, `no`},
		{"it left its output", log(), told("result:c1:" + claim), folder{"terminal/c1.log": "x"}, "?"},
		{"the events saw its end", log(), told("result:c1:" + claim), folder{eventsName: events("turn", "loop", "tool", "done:c1", "ended:interrupted", "turn", "ended:completed")}, "?"},
		{"nothing says that it ran", log("fail:c1:" + claim), told("result:c1:" + claim), nil, ""},
		{"it began, no more", log("fail:c1:" + claim), told("result:c1:" + claim), folder{eventsName: events("turn", "loop", "tool", "ended:interrupted", "turn", "ended:completed")}, ""},
		{"another one left output", log("fail:c1:" + claim), told("result:c1:" + claim), folder{"terminal/c2.log": "x"}, ""},
		{"the user did cancel it", log("fail:c1:x"), told("result:c1:Tool execution was cancelled by the user."), nil, ""},
		{"a result that only speaks of it", log("done:c1:x"), told("result:c1:" + claim + " So it said."), nil, ""},
		{"halted by the client", log("fail:c1:x"), told("result:c1:Tool execution was halted by the harness (user cancelled)."), nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := folder{logName: c.log, historyName: c.history, summaryName: goodSummary}
			for name, text := range c.more {
				files[name] = text
			}
			m := files.mend(t)
			if found := strings.Contains(m.found, "FALSE_CLOSER"); found != (c.want != "") {
				t.Errorf("found %s", m.found)
			}
			lines := added(c.history, m.folder[historyName])
			switch {
			case c.want == "":
				if len(lines) > 0 {
					t.Errorf("added %q", lines)
				}
			case len(lines) != 1:
				t.Errorf("added %q", lines)
			case c.want == "?":
				if !strings.HasPrefix(lines[0], `{"type":"tool_result","tool_call_id":"c1","content":"TOOL_OUTCOME_UNKNOWN: `) {
					t.Errorf("%s", lines[0])
				}
			case lines[0] != `{"type":"tool_result","tool_call_id":"c1","content":"`+c.want+`"}`:
				t.Errorf("%s", lines[0])
			}
		})
	}
}

// The true result behind a false one: the client sends both. The true one stays.
func TestFalseCloserAndTrueResult(t *testing.T) {
	const claim = "Tool execution was cancelled by the user (tool `run` was not executed)."
	log := updates("user:0:a", "say:b", "call:c1", "done:c1:r", "say:d", "end:end_turn")
	whole := history("system", "user:0:a", "asks:b:c1", "result:c1:r", "answer:d")
	for name, text := range map[string]string{
		"in a row":       history("system", "user:0:a", "asks:b:c1", "result:c1:"+claim, "result:c1:r", "answer:d"),
		"the other way":  history("system", "user:0:a", "asks:b:c1", "result:c1:r", "result:c1:"+claim, "answer:d"),
		"further behind": history("system", "user:0:a", "asks:b:c1", "result:c1:"+claim, "answer:d", "result:c1:r"),
	} {
		m := folder{logName: log, historyName: text, summaryName: goodSummary}.mend(t)
		if m.verdict != verify.Repairable || m.folder[historyName] != whole {
			t.Errorf("%s: %s, %s gives\n%s", name, m.verdict, m.found, m.folder[historyName])
		}
	}
}
