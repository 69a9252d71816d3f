package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/jsonout"
	"github.com/sessfix/sessfix/report"
)

// many is a report with n findings of each severity, the worst of them last.
func many(n int) *report.Document {
	d := &report.Document{Tool: jsonout.Tool{Name: "sessfix", Version: "x"}}
	for _, severity := range []string{"note", "warning", "error"} {
		for i := range n {
			f := report.Finding{Finding: jsonout.Finding{Code: "TORN_LINE", Severity: severity, Line: int64(i + 1), Offset: int64(i), Length: 1, Message: "part of a record"}}
			verdict := "repairable"
			if severity == "note" {
				verdict = "clean"
			}
			d.Sessions = append(d.Sessions, report.Session{Path: fmt.Sprintf("%s/%06d.jsonl", severity, i), Agent: "toy", Verdict: verdict, Findings: []report.Finding{f}})
			d.Summary.Sessions++
		}
	}
	d.Summary.Clean, d.Summary.Repairable = n, 2*n
	return d
}

// Of each kind no more annotations are printed than GitHub shows, the errors first, and the last line tells of the rest.
func TestAnnotationsAreFew(t *testing.T) {
	out := text(t, func(w *bytes.Buffer) error { return many(12).GitHub(w, "") })
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	for i, kind := range []string{"error", "warning", "notice"} {
		for k, line := range lines[10*i : 10*i+10] {
			if !strings.HasPrefix(line, "::"+kind+" file=") || !strings.Contains(line, fmt.Sprintf(",line=%d,", k+1)) {
				t.Errorf("%d: %s", 10*i+k, line)
			}
		}
	}
	if want := "sessfix: 36 sessions: 12 clean, 24 repairable; 2 errors more; 2 warnings more; 2 notices more"; lines[30] != want || len(lines) != 31 {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
}

func TestAnnotationsAreToldFromTheWorkspace(t *testing.T) {
	d := &report.Document{Errors: []report.Error{{Path: "/w/repo/a.jsonl"}, {Path: "/w/repository/b.jsonl"}, {Path: "c.jsonl"}}}
	out := text(t, func(w *bytes.Buffer) error { return d.GitHub(w, "/w/repo") })
	for _, file := range []string{"file=a.jsonl,", "file=/w/repository/b.jsonl,", "file=c.jsonl,"} {
		if !strings.Contains(out, file) {
			t.Errorf("no %s in\n%s", file, out)
		}
	}
}

// A summary never outgrows its limit, holds whole rows, and says what it leaves out.
func TestSummaryIsBounded(t *testing.T) {
	all := text(t, func(w *bytes.Buffer) error { return many(100).Markdown(w, report.SummaryLimit) })
	if strings.Contains(all, "left out") || strings.Count(all, "\n### ") != 200 {
		t.Errorf("%d sessions", strings.Count(all, "\n### "))
	}
	for limit := 0; limit < len(all)+300; limit += 997 {
		part := text(t, func(w *bytes.Buffer) error { return many(100).Markdown(w, limit) })
		switch {
		case len(part) > limit:
			t.Fatalf("%d bytes of %d", len(part), limit)
		case limit < 200 && part != "":
			t.Fatalf("a summary in %d bytes", limit)
		case part == all || part == "":
		case !strings.HasSuffix(part, "has all of them.\n"):
			t.Fatalf("limit %d: it ends with %q", limit, part[max(0, len(part)-100):])
		}
	}
	if part := text(t, func(w *bytes.Buffer) error { return many(9000).Markdown(w, report.SummaryLimit) }); len(part) > report.SummaryLimit || len(part) < report.SummaryLimit-2000 {
		t.Errorf("%d bytes", len(part))
	}
}

type results struct {
	Runs []struct {
		Results []struct {
			RuleID              string
			Level               string
			PartialFingerprints map[string]string
		}
		Invocations []struct {
			ExecutionSuccessful        bool
			ToolExecutionNotifications []struct{ Message struct{ Text string } }
		}
	}
}

func sarifOf(t *testing.T, d *report.Document) results {
	t.Helper()
	var r results
	if err := json.Unmarshal([]byte(text(t, func(w *bytes.Buffer) error { return d.SARIF(w, "") })), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// What GitHub would turn away is cut by severity, and told.
func TestSARIFIsCutBySeverity(t *testing.T) {
	run := sarifOf(t, many(9_000)).Runs[0]
	count := map[string]int{}
	for _, r := range run.Results {
		count[r.Level]++
	}
	if fmt.Sprint(count) != "map[error:9000 note:7000 warning:9000]" {
		t.Error(count)
	}
	if n := run.Invocations[0].ToolExecutionNotifications; len(n) != 1 || !strings.HasPrefix(n[0].Message.Text, "2000 findings of the least severity are left out") {
		t.Error(n)
	}
}

// A fingerprint stays when bytes are put in front of the finding, or other findings are; those that are alike differ.
func TestFingerprintsStay(t *testing.T) {
	call := func(id string) *string { return &id }
	number := func(n int64) *int64 { return &n }
	list := []report.Finding{
		{Finding: jsonout.Finding{Code: "TORN_LINE", Severity: "error", Offset: 10, Length: 20, Line: 2, Missing: "tail"}},
		{Finding: jsonout.Finding{Code: "TORN_LINE", Severity: "error", Offset: 40, Length: 20, Line: 4, Missing: "tail"}},
		{Finding: jsonout.Finding{Code: "TORN_LINE", Severity: "error", Offset: 70, Length: 21, Line: 6, Missing: "tail"}},
		{Finding: jsonout.Finding{Code: "TORN_LINE", Severity: "error", Offset: 99, Length: 21, Line: 7, Missing: "head"}},
		{Finding: jsonout.Finding{Code: "DANGLING_CALL", Severity: "error", Offset: 120, Length: 30, Line: 9, CallID: call("a")}},
		{Finding: jsonout.Finding{Code: "DANGLING_CALL", Severity: "error", Offset: 120, Length: 30, Line: 9, CallID: call("b")}},
		{Finding: jsonout.Finding{Code: "DANGLING_CALL", Severity: "error", Offset: 120, Length: 30, Line: 9, CallID: call("")}},
		{Finding: jsonout.Finding{Code: "SEQ_GAP", Severity: "error", Offset: 200, Length: 5, Frame: 3, Expected: number(4), Got: number(6)}},
		{Finding: jsonout.Finding{Code: "SEQ_GAP", Severity: "error", Offset: 200, Length: 5, Frame: 3, Expected: number(8), Got: number(10)}},
	}
	prints := func(list []report.Finding) []map[string]string {
		d := &report.Document{Sessions: []report.Session{{Path: "a", ID: "id", Verdict: "refuse", Findings: list}, {Path: "b", ID: "id", Verdict: "refuse", Findings: list}}}
		var out []map[string]string
		for _, r := range sarifOf(t, d).Runs[0].Results {
			out = append(out, r.PartialFingerprints)
		}
		return out
	}
	before := prints(list)
	moved := []report.Finding{{Finding: jsonout.Finding{Code: "BOM", Severity: "error", Length: 3, Line: 1}}}
	for _, f := range list {
		f.Offset += 103
		if f.Line > 0 {
			f.Line += 2
		}
		if f.Frame > 0 {
			f.Frame++
		}
		moved = append(moved, f)
	}
	after := prints(moved)[1:]
	seen := map[string]bool{}
	for i := range list {
		if fmt.Sprint(before[i]) != fmt.Sprint(after[i]) {
			t.Errorf("%d: %v became %v", i, before[i], after[i])
		}
		if seen[before[i]["sessfix/v1"]] {
			t.Errorf("%d has the fingerprint of another", i)
		}
		seen[before[i]["sessfix/v1"]] = true
		// The other file's are told apart by their place.
		if before[i]["sessfix/v1"] != before[i+len(list)]["sessfix/v1"] {
			t.Errorf("%d depends on the file", i)
		}
		if _, ok := before[i]["primaryLocationLineHash"]; ok != (list[i].Line == 0) {
			t.Errorf("%d: %v", i, before[i])
		}
	}
}
