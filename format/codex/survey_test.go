package codex_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/codex"
)

// household is a client's home with three threads: one plain, one archived, one compressed.
type household struct {
	*testing.T
	root  string
	plain string
	sizes map[string]int64
}

const (
	threadA = "019d0001-1111-7222-8333-00000000000a"
	threadB = "019d0001-1111-7222-8333-00000000000b"
	threadC = "019d0001-1111-7222-8333-00000000000c"
)

func newHousehold(t *testing.T) *household {
	h := &household{T: t, root: t.TempDir(), sizes: map[string]int64{}}
	h.rollout("sessions/2026/04/01", threadA, ".jsonl", 4)
	h.plain = filepath.Join(h.root, "sessions/2026/04/01", "rollout-2026-04-01T10-00-00-"+threadA+".jsonl")
	h.rollout("archived_sessions", threadB, ".jsonl", 2)
	h.rollout("sessions/2026/04/01", threadC, ".jsonl.zst", 2)
	h.exec("thread_history_1.sqlite",
		"create table thread_history_projection_state (thread_id text primary key, next_rollout_byte_offset integer not null, next_rollout_ordinal integer not null)",
		"create table thread_turns (thread_id text, turn_id text, rollout_ordinal integer, rollout_byte_offset integer)",
		"create table thread_items (thread_id text, item_id text)",
		fmt.Sprintf("insert into thread_history_projection_state values ('%s', %d, 4)", threadA, h.sizes[threadA]),
		fmt.Sprintf("insert into thread_turns values ('%s', 't1', 1, %d)", threadA, h.start(1)))
	h.exec("state_5.sqlite",
		"create table threads (id text primary key, rollout_path text not null, name text)",
		fmt.Sprintf("insert into threads values ('%s', '%s', 'quay'), ('%s', 'x', null), ('%s', 'x', null)", threadA, h.plain, threadB, threadC))
	h.exec("state_4.sqlite", "create table threads (old text)")
	return h
}

func (h *household) rollout(dir, thread, ext string, records int) {
	h.Helper()
	path := filepath.Join(h.root, filepath.FromSlash(dir), "rollout-2026-04-01T10-00-00-"+thread+ext)
	var b strings.Builder
	fmt.Fprintf(&b, `{"timestamp":"2026-04-01T10:00:00.000Z","ordinal":0,"type":"session_meta","payload":{"id":"%s"}}`+"\n", thread)
	for n := 1; n < records; n++ {
		fmt.Fprintf(&b, `{"timestamp":"2026-04-01T10:00:00.000Z","ordinal":%d,"type":"event_msg","payload":{"type":"token_count"}}`+"\n", n)
	}
	h.write(path, b.String())
	h.sizes[thread] = int64(b.Len())
}

func (h *household) write(path, text string) {
	h.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.Fatal(err)
	}
}

// start is where a record of thread A begins.
func (h *household) start(n int) int64 {
	h.Helper()
	data, err := os.ReadFile(h.plain)
	if err != nil {
		h.Fatal(err)
	}
	return int64(len(strings.Join(strings.SplitAfter(string(data), "\n")[:n], "")))
}

func (h *household) exec(name string, list ...string) {
	h.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(h.root, name)))
	if err != nil {
		h.Fatal(err)
	}
	defer db.Close()
	for _, s := range list {
		if _, err := db.Exec(s); err != nil {
			h.Fatalf("%s: %v", s, err)
		}
	}
}

func (h *household) survey(env map[string]string) string {
	var out []string
	for _, f := range (codex.Format{}).Survey(format.Survey{Root: os.DirFS(h.root), Path: h.root, Whole: true, Env: func(k string) string { return env[k] }}) {
		if f.Message == "" || strings.Contains(f.Message, h.root) {
			h.Errorf("%s says %q", f.Code, f.Message)
		}
		out = append(out, string(f.Code)+" "+f.Where)
	}
	return strings.Join(out, ", ")
}

func TestSurvey(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(h *household)
		want   string
	}{
		{"sound", func(*household) {}, ""},
		{"behind", func(h *household) {
			h.exec("thread_history_1.sqlite", fmt.Sprintf("update thread_history_projection_state set next_rollout_byte_offset = %d", h.start(2)))
		}, ""},
		{"ahead", func(h *household) {
			h.exec("thread_history_1.sqlite", "update thread_history_projection_state set next_rollout_byte_offset = 99999")
		}, "DERIVED_MISMATCH ahead"},
		{"inside a record", func(h *household) {
			h.exec("thread_history_1.sqlite", "update thread_history_projection_state set next_rollout_byte_offset = next_rollout_byte_offset - 3")
		}, "DERIVED_MISMATCH ahead"},
		{"a turn moved", func(h *household) {
			h.exec("thread_history_1.sqlite", fmt.Sprintf("update thread_turns set rollout_byte_offset = %d", h.start(2)))
		}, "DERIVED_MISMATCH moved"},
		{"many turns moved", func(h *household) {
			for range 30 {
				h.exec("thread_history_1.sqlite", fmt.Sprintf("insert into thread_turns values ('%s', 't', 7, 5)", threadA))
			}
		}, strings.TrimSuffix(strings.Repeat("DERIVED_MISMATCH moved, ", 20), ", ")},
		{"the history cannot be read", func(h *household) {
			h.write(filepath.Join(h.root, "thread_history_1.sqlite"), strings.Repeat("no database ", 100))
		}, "DERIVED_MISMATCH history"},
		{"the list cannot be read", func(h *household) {
			h.write(filepath.Join(h.root, "state_5.sqlite"), strings.Repeat("no database ", 100))
		}, "DERIVED_MISMATCH threads"},
		{"another shape", func(h *household) {
			h.exec("thread_history_1.sqlite", "alter table thread_history_projection_state rename to other", "drop table thread_turns")
			h.exec("state_5.sqlite", "drop table threads")
		}, ""},
		{"none", func(h *household) {
			for _, name := range []string{"thread_history_1.sqlite", "state_5.sqlite", "state_4.sqlite"} {
				if err := os.Remove(filepath.Join(h.root, name)); err != nil {
					h.Fatal(err)
				}
			}
		}, ""},
		{"a rollout is gone", func(h *household) {
			if err := os.Remove(h.plain); err != nil {
				h.Fatal(err)
			}
		}, "DERIVED_STALE gone, DERIVED_STALE gone"},
		{"not listed", func(h *household) {
			h.exec("state_5.sqlite", fmt.Sprintf("delete from threads where id = '%s'", threadB))
		}, "DERIVED_STALE unlisted"},
		{"a name that the list lost", func(h *household) {
			h.write(filepath.Join(h.root, "session_index.jsonl"), fmt.Sprintf(`{"id":"%s","thread_name":"jetty","updated_at":"x"}`+"\n{torn\n", threadB))
		}, "DERIVED_STALE names, DERIVED_STALE names"},
		{"plain and compressed", func(h *household) {
			h.write(h.plain+".zst", "x")
		}, "DUAL_ENCODING "},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHousehold(t)
			c.damage(h)
			if got := h.survey(nil); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			// Looking from inside says nothing of the home.
			if got := (codex.Format{}).Survey(format.Survey{Root: os.DirFS(h.root), Path: h.root}); len(got) > 0 {
				t.Errorf("%d findings though one session was asked for", len(got))
			}
		})
	}
}

// The databases may lie elsewhere.
func TestSurveyElsewhere(t *testing.T) {
	h := newHousehold(t)
	elsewhere := t.TempDir()
	for _, name := range []string{"thread_history_1.sqlite", "state_5.sqlite"} {
		if err := os.Rename(filepath.Join(h.root, name), filepath.Join(elsewhere, name)); err != nil {
			t.Fatal(err)
		}
	}
	h.write(filepath.Join(elsewhere, "thread_history_1.sqlite"), strings.Repeat("no database ", 100))
	if got := h.survey(map[string]string{"CODEX_SQLITE_HOME": elsewhere}); !strings.Contains(got, string(finding.DerivedMismatch)+" history") {
		t.Errorf("found %q", got)
	}
	if rows := (codex.Format{}).Projections(h.plain, func(k string) string { return map[string]string{"CODEX_SQLITE_HOME": elsewhere}[k] }); len(rows) != 1 || filepath.Dir(rows[0].Path) != elsewhere || rows[0].Key != threadA {
		t.Errorf("%+v", rows)
	}
	for _, path := range []string{"/x/rollout-2026-04-01T10-00-00-" + threadA + ".jsonl", filepath.Join(h.root, "sessions/2026/04/01/notes.jsonl")} {
		if rows := (codex.Format{}).Projections(path, func(string) string { return "" }); rows != nil {
			t.Errorf("%s: %+v", path, rows)
		}
	}
}
