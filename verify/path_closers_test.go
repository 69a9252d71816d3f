package verify_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/finding"
)

// The closers, line by line.
func TestPathClosers(t *testing.T) {
	m := mendPi(t, piPath, "", piHead+piLog("u | a 1 | r 1 | len 2 3 4 | r 3 | label a"))
	added := strings.SplitAfter(strings.TrimPrefix(m.fixed, m.text), "\n")
	if !strings.HasPrefix(m.fixed, m.text) || len(added) != 3 || added[2] != "" {
		t.Fatalf("%s", m.fixed)
	}
	up := `"f"`
	for i, id := range []string{"2", "4"} {
		var e struct {
			Type, ID, ParentID, Timestamp string
			Message                       struct {
				Role, ToolCallID, ToolName string
				Content                    []struct{ Type, Text string }
				Details                    struct{ Sessfix struct{ Code string } }
				IsError                    bool
				Timestamp                  int64
			}
		}
		if err := json.Unmarshal([]byte(added[i]), &e); err != nil {
			t.Fatal(err)
		}
		// The answer's time is 00:00:04.000, and each result is a millisecond further on.
		if stamp := fmt.Sprintf("2026-01-01T00:00:04.%03dZ", i+1); e.Timestamp != stamp || e.Message.Timestamp != 1767225604000+int64(i)+1 {
			t.Errorf("the time of %s is %s, %d", id, e.Timestamp, e.Message.Timestamp)
		}
		if fmt.Sprintf("%q", e.ParentID) != up || e.Type != "message" || len(e.ID) != 8 || strings.Trim(e.ID, "0123456789abcdef") != "" {
			t.Errorf("%s", added[i])
		}
		up = fmt.Sprintf("%q", e.ID)
		if x := e.Message; x.Role != "toolResult" || x.ToolCallID != id || x.ToolName != "sh" || !x.IsError || x.Details.Sessfix.Code != finding.ToolNotStarted ||
			len(x.Content) != 1 || !strings.HasPrefix(x.Content[0].Text, finding.ToolNotStarted+": ") {
			t.Errorf("%s", added[i])
		}
		if strings.ContainsAny(added[i][:60], " \t") {
			t.Errorf("%s is written with spaces", added[i])
		}
	}
	if again := mendPi(t, piPath, "", m.text); again.fixed != m.fixed {
		t.Error("two repairs of one session differ")
	}
	// Of another session, and of another answer, the ids are others.
	seen := map[string]bool{}
	for _, log := range []string{"u | a 1", "u | u | a 1", "u | a 1 2"} {
		for _, head := range []string{piHead, strings.Replace(piHead, "s1", "s2", 1)} {
			m := mendPi(t, piPath, "", head+piLog(log))
			for l := range strings.Lines(strings.TrimPrefix(m.fixed, m.text)) {
				_, id, _ := strings.Cut(l, `"id":"`)
				if seen[id[:8]] && log != "u | a 1 2" {
					t.Errorf("the id %s is given twice", id[:8])
				}
				seen[id[:8]] = true
			}
		}
	}
	m = mendPi(t, piPath, "", piHead+piLog("u | a 1"))
	_, taken, _ := strings.Cut(strings.TrimPrefix(m.fixed, m.text), `"id":"`)
	m = mendPi(t, piPath, "", piHead+piLog("@"+taken[:8]+" u | a 1"))
	if strings.Count(m.fixed, `"id":"`+taken[:8]+`"`) != 1 {
		t.Errorf("an id that is taken is given again\n%s", m.fixed)
	}
}

// Where entries have no ids their closers have none either.
func TestPathLinear(t *testing.T) {
	for _, c := range []piCase{
		{"clean", "u | a 1 | r 1 | a | u", "", "a b c d e", ""},
		{"a compaction", "u | a | u | a | c c | u", "", "a b c d e f > e c d f", ""},
		{"a compaction that keeps a result without its call", "u | a 1 | r 1 | a | c c | u", "ORPHAN_RESULT kept error 4", "a b c d e f > e c d f ! result alone: c", "a b c d e f > e b c d f"},
		{"a call at the end", "u | a 1 2 | r 1", "DANGLING_CALL tail error 3", "a b c > a b c ?2", "a b c +2"},
		{"lost in the middle", "u | a | ~u | a | u", "", "a b d e", ""},
		{"the call is lost", "u | ~a 1 | r 1 | a", "ORPHAN_RESULT path error 3", "a c d ! result alone: c", "a d"},
		{"torn in the middle", "u | a | %u | a", "TORN_LINE error 4", "a b d", "a b d"},
		{"a result behind a user", "u | a 1 | u | r 1 | a", "DISPLACED_RESULT path error 5", "a b c d e > a b ?1 c d e ! result alone: d", "a b d c e"},
		{"a second result", "u | a 1 | r 1 | r 1 | a", "DUP_RESULT path error 5", "a b c d e ! second result: d", "a b c e"},
		{"a failed answer's result", "u | err 1 | r 1 | a", "ORPHAN_RESULT failed error 4", "a b c d > a c d ! result alone: c", "a b d > a d"},
		{"a husk", "u | husk | a", "EVENT_INVALID husk error 3", "no message in b", "a c"},
		{"a compaction behind a lost line", "u | ~a | u | a | c d | u", "", "a c d e f > e f", ""},
		{"a compaction behind a torn line", "u | a | %u | a | u | c d | u", "TORN_LINE error 4, OPEN_COMPACTION number error 7", "a b d e f g > f e g", "a b d e f g > f d e g"},
		{"a copy", "u | a | =b | u", "", "a b b c", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := piHeadOld + piLogOld(c.log)
			m, err := tryPi(t, piPath, "", text)
			if err != nil {
				t.Errorf("%v\n%s", err, text)
			}
			before, after := view(text, true), view(m.fixed, true)
			if m.fixed == text {
				after = ""
			}
			if got := said(m.before); got != c.want || before != c.before || after != c.after {
				t.Errorf("%s\nfound  %s\nwant   %s\nbefore %s\nwant   %s\nafter  %s\nwant   %s\n%s", c.log, got, c.want, before, c.before, after, c.after, m.fixed)
			}
			if strings.Contains(m.fixed, `"parentId":`) {
				t.Errorf("an entry has an id\n%s", m.fixed)
			}
		})
	}
}
