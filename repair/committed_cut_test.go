package repair_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format/all"
	"github.com/sessfix/sessfix/internal/damage"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// nobody is at work on a session.
func nobody(context.Context, store.Session) (string, error) { return "", nil }

// asking opens a session and asks for a record.
func asking(t *testing.T, path, client, cases string, q verify.Question) *verify.Commitment {
	t.Helper()
	env := func(string) string { return "" }
	found, err := store.Open(t.Context(), []string{path}, store.Options{Formats: all.Formats(), Client: client, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	groups := found.Groups()
	if len(groups) != 1 || len(found.Troubles) > 0 {
		t.Fatalf("%s: %d sessions, %v", path, len(groups), found.Troubles)
	}
	if q.Owner == nil {
		q.Owner = nobody
	}
	q.Env, q.Roots = env, found.Roots
	c, err := repair.Committed(t.Context(), groups[0], q, cases)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return c
}

// copied puts a shipped session into a folder of its own and gives the path of the file in it.
func copied(t *testing.T, from string) string {
	t.Helper()
	dir := t.TempDir()
	from = filepath.Join("..", "testdata", "sessions", filepath.FromSlash(from))
	if filepath.Ext(from) == ".jsonl" && !strings.Contains(from, "grok") || strings.HasSuffix(from, ".zstd") || strings.HasSuffix(from, ".zst") {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(from)
		if strings.Contains(from, "dsh") {
			name = "session.jsonl" + strings.TrimPrefix(filepath.Ext(from), ".jsonl")
		}
		to := filepath.Join(dir, name)
		if err := os.WriteFile(to, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return to
	}
	if err := os.CopyFS(dir, os.DirFS(filepath.Dir(from))); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, filepath.Base(from))
}

// lastCases are logs of each agent, by what becomes of a whole last record that lacks its newline: the client reads it, or
// it destroys it.
var lastCases = []struct {
	file, client string
	reads        bool
	id           string // of the last record, where it has one
	twin         string // a file that says the same: what is missing here is known there
}{
	{file: "dsh/tiny.v0.jsonl"},
	{file: "dsh/tiny.v3.jsonl"},
	{file: "codex/ferry/rollout-2026-04-01T09-30-00-019d0001-1111-7222-8333-000000000001.jsonl", reads: true},
	{file: "codex/ferry/rollout-2026-04-01T09-30-00-019d0001-1111-7222-8333-000000000001.jsonl", client: "0.142.3"},
	{file: "codex/legacy/rollout-2026-04-02T09-30-00-019d0002-1111-7222-8333-000000000002.jsonl", reads: true},
	{file: "claude-code/old.jsonl", reads: true},
	{file: "claude-code/tiny.jsonl", reads: true},
	{file: "claude-code/tiny.jsonl", client: "2.1.81"},
	{file: "pi/linear.jsonl", reads: true},
	{file: "pi/linear.jsonl", client: "0.73.1"},
	{file: "pi/orchard/harness.jsonl"},
	{file: "openclaw/agents/main/sessions/019e0009-1111-7222-8333-000000000009.jsonl"},
	{file: "openclaw/agents/main/sessions/019e0009-1111-7222-8333-000000000009.jsonl", client: "2026.9.6", reads: true},
	{file: "grok/tiny/updates.jsonl", reads: true},
	{file: "grok/orchard/events.jsonl", reads: true},
	{file: "grok/tiny/chat_history.jsonl", reads: true, twin: "updates.jsonl"},
}

// passOver leaves most places out of short runs.
func passOver(behind, before int) bool {
	return testing.Short() && behind > 3 && before > 3 && behind%29 != 0
}

// Of a log that ends at any byte of its last record the answer is right: nothing of it is there, a part of it that must be taken
// out first, or all.
func TestCommittedEveryCut(t *testing.T) {
	for _, c := range lastCases {
		t.Run(c.file+" "+c.client, func(t *testing.T) {
			t.Parallel()
			path := copied(t, c.file)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			at := bytes.LastIndexByte(data[:len(data)-1], '\n') + 1
			record := data[at:]
			seen := map[verify.Outcome]int{}
			for cut := at; cut <= len(data); cut++ {
				if passOver(cut-at, len(data)-cut) {
					continue
				}
				if err := os.WriteFile(path, data[:cut], 0o600); err != nil {
					t.Fatal(err)
				}
				want := verify.Absent
				switch {
				case cut == len(data), cut == len(data)-1 && c.reads:
					want = verify.Stored
				case cut == len(data)-1:
					want = verify.Unsure
				}
				torn := cut > at && cut < len(data)-1
				got := asking(t, path, c.client, "", verify.Question{Record: record})
				seen[got.Outcome]++
				if c.twin != "" && cut < len(data)-1 && got.Outcome == verify.Unsure && strings.Contains(strings.Join(got.Why, " "), "DERIVED_MISMATCH") {
					continue // the other file has it
				}
				if got.Outcome != want {
					t.Fatalf("cut at byte %d of %d: %s, want %s: %q", cut-at, len(record), got.Outcome, want, got.Why)
				}
				partly := slices.ContainsFunc(got.Notes, func(w string) bool { return strings.Contains(w, "partly written") })
				if torn != partly || torn != strings.HasPrefix(got.Advice, "mend the log") || torn && len(got.Look) == 0 {
					t.Fatalf("cut at byte %d of %d: it does not say that it was partly written, and what to do: %+v", cut-at, len(record), got)
				}
				if len(got.Why) > 0 != (got.Outcome == verify.Unsure) || len(got.Where) > 0 != (got.Outcome == verify.Stored) || got.Advice == "" {
					t.Fatalf("cut at byte %d of %d: %+v", cut-at, len(record), got)
				}
			}
			if seen[verify.Stored] == 0 || !c.reads && seen[verify.Unsure] == 0 || c.twin == "" && seen[verify.Absent] == 0 {
				t.Errorf("not all outcomes were seen: %v", seen)
			}
		})
	}
}

// The same where the record is asked for by its number, plain and in a frame.
func TestCommittedEveryCutNumber(t *testing.T) {
	for _, file := range []string{
		"dsh/tiny.v0.jsonl", "dsh/tiny.v0.jsonl.zstd", "dsh/orchard.v3.jsonl.zstd", "pi/orchard/harness.jsonl",
		"codex/ferry/rollout-2026-04-01T09-30-00-019d0001-1111-7222-8333-000000000001.jsonl",
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			path := copied(t, file)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			at := bytes.LastIndexByte(data[:len(data)-1], '\n') + 1
			if filepath.Ext(path) == ".zstd" {
				frames, err := damage.Frames(data)
				if err != nil {
					t.Fatal(err)
				}
				at = len(data) - len(frames[len(frames)-1])
			}
			// The last number that is there when all is.
			last := int64(0)
			first := int64(0)
			if strings.Contains(file, "harness") {
				first = 1
			}
			for n := first; asking(t, path, "", "", verify.Question{Seq: n, Numbered: true}).Outcome == verify.Stored; n++ {
				last = n
			}
			for cut := at; cut <= len(data); cut++ {
				if passOver(cut-at, len(data)-cut) {
					continue
				}
				if err := os.WriteFile(path, data[:cut], 0o600); err != nil {
					t.Fatal(err)
				}
				got := asking(t, path, "", "", verify.Question{Seq: last, Numbered: true})
				want := verify.Absent // also of a torn end, where that can be read
				switch {
				case cut == len(data), cut == len(data)-1 && strings.Contains(file, "codex"):
					want = verify.Stored
				case cut == len(data)-1, cut > at && filepath.Ext(path) == ".zstd":
					want = verify.Unsure
				}
				unread := cut > at && cut < len(data) && filepath.Ext(path) == ".zstd"
				if got.Outcome != want {
					t.Fatalf("number %d, cut at byte %d of %d: %s, want %s: %q", last, cut-at, len(data)-at, got.Outcome, want, got.Why)
				}
				if next := asking(t, path, "", "", verify.Question{Seq: last + 1, Numbered: true}); next.Outcome == verify.Stored || unread != (next.Outcome == verify.Unsure) && cut != len(data)-1 {
					t.Fatalf("number %d, cut at byte %d of %d: %s: %q", last+1, cut-at, len(data)-at, next.Outcome, next.Why)
				}
			}
		})
	}
}
