package report_test

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/sessfix/sessfix/jsonout"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/report"
)

// A session of several files is one in reports: what its parts say added up, the worst verdict, and each part by itself.
func TestJoin(t *testing.T) {
	hashes := &report.Hashes{}
	parts := []report.Session{
		{Path: "/s/updates.jsonl", Agent: "grok", Medium: "jsonl", FormatVersion: "log", Verdict: "repairable", Size: 100, Records: 5, Events: 7, Turns: 2,
			Findings: []report.Finding{{Finding: jsonout.Finding{Code: "TORN_TAIL"}}}, Tail: &report.Tail{Turn: 2}, Edits: 2, Repaired: true, Receipt: "/c/updates/0001", SHA256: hashes,
			Closers: []repair.Closer{{Kind: "turn_completed"}}, Quarantined: []report.Quarantined{{Offset: 90}}, Output: "/o/updates.jsonl"},
		{Path: "/s/chat_history.jsonl", Agent: "grok", Medium: "jsonl", ID: "id", CWD: "/w", FormatVersion: "1", Verdict: "clean", Size: 50, Records: 3, Events: 3, Turns: 1, Findings: []report.Finding{}},
		{Path: "/s/summary.json", Agent: "grok", Medium: "jsonl", FormatVersion: "summary", Verdict: "refuse", Size: 8, Records: 1,
			Findings: []report.Finding{{Finding: jsonout.Finding{Code: "SIDECAR_CORRUPT"}}}, Refusal: "no file says", Offers: []report.Offer{{Code: "X"}}, Branches: []jsonout.Branch{{}},
			Closers: []repair.Closer{{Kind: "x"}}},
	}
	about := []report.Part{{Role: "primary"}, {Role: "primary"}, {Role: "primary", Missing: true}}
	j := report.Join("/s", parts, about)
	want := report.Session{
		Path: "/s", Agent: "grok", Medium: "folder", ID: "id", CWD: "/w", FormatVersion: "1", Verdict: "refuse", Size: 158, Records: 9, Events: 10, Turns: 2,
		Findings: []report.Finding{{Finding: jsonout.Finding{Code: "TORN_TAIL"}}, {Finding: jsonout.Finding{Code: "SIDECAR_CORRUPT"}}}, Tail: &report.Tail{Turn: 2}, Edits: 2, Repaired: true,
		Closers: []repair.Closer{{Kind: "turn_completed"}, {Kind: "x"}}, Quarantined: []report.Quarantined{{Offset: 90}}, Output: filepath.FromSlash("/o"), Refusal: "no file says",
		Offers: []report.Offer{{Code: "X"}}, Branches: []jsonout.Branch{{}},
		Parts: []report.Part{
			{File: "updates.jsonl", Role: "primary", Verdict: "repairable", Size: 100, Records: 5, Repaired: true, Edits: 2, Receipt: "/c/updates/0001", SHA256: hashes},
			{File: "chat_history.jsonl", Role: "primary", Verdict: "clean", Size: 50, Records: 3},
			{File: "summary.json", Role: "primary", Missing: true, Verdict: "refuse", Size: 8, Records: 1},
		},
	}
	if !reflect.DeepEqual(j, want) {
		t.Errorf("joined:\n%+v\nwant\n%+v", j, want)
	}
}

// The worst verdict counts, wherever it stands; one that is not known is the worst.
func TestJoinVerdicts(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"clean", "clean", "clean"}, {"clean", "repairable", "repairable"}, {"repairable", "clean", "repairable"}, {"refuse", "repairable", "refuse"}, {"repairable", "refuse", "refuse"},
		{"clean", "failed", "failed"},
	} {
		if j := report.Join("/s", []report.Session{{Verdict: c.a}, {Verdict: c.b}}, make([]report.Part, 2)); j.Verdict != c.want {
			t.Errorf("%s and %s give %s", c.a, c.b, j.Verdict)
		}
	}
}

func TestIsVersion(t *testing.T) {
	for v, want := range map[string]bool{"1": true, "0.2": true, "": false, "log": false, "summary": false} {
		if report.IsVersion(v) != want {
			t.Errorf("%q", v)
		}
	}
}
