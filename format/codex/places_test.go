package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sessfix/sessfix/format"
)

const segment = "01900000-0000-7000-8000-0000000000ff"

func TestNames(t *testing.T) {
	const stem = "rollout-2026-01-02T03-04-05-"
	for file, want := range map[string]string{
		stem + thread + ".jsonl":                            thread,
		stem + thread + ".jsonl.zst":                        thread,
		stem + thread + "_" + segment + ".jsonl":            segment,
		stem + thread + "_" + segment + ".jsonl.zst":        segment,
		filepath.Join("a", "b", stem+thread+".jsonl"):       thread,
		stem + thread + ".jsonl.zst.tmp":                    "",
		"." + stem + thread + ".jsonl":                      "",
		stem + thread + ".jsonl.bak":                        "",
		stem + thread[1:] + ".jsonl":                        "",
		stem + thread + "_" + segment[1:] + ".jsonl":        "",
		stem + "01900000-0000-7000-8000-00000000000A.jsonl": "",
		"rollout-2026-01-02-" + thread + ".jsonl":           "",
		thread + ".jsonl":                                   "",
		"":                                                  "",
	} {
		if got := (Format{}).Named(file); got != want {
			t.Errorf("%s is called %q, want %q", file, got, want)
		}
	}
	if n, _ := nameOf(stem + thread + "_" + segment + ".jsonl.zst"); n.thread != thread || n.segment != segment || !n.packed {
		t.Errorf("%+v", n)
	}
}

func TestHomes(t *testing.T) {
	env := func(m map[string]string) func(string) string { return func(k string) string { return m[k] } }
	at := func(root string) []string {
		return []string{filepath.Join(root, "sessions"), filepath.Join(root, "archived_sessions")}
	}
	for _, c := range []struct {
		env  map[string]string
		want []string
	}{
		{map[string]string{"CODEX_HOME": "/c", "HOME": "/h"}, at("/c")},
		{map[string]string{"HOME": "/h", "USERPROFILE": "/u"}, at("/h/.codex")},
		{map[string]string{"USERPROFILE": "/u"}, at("/u/.codex")},
		{nil, nil},
	} {
		if got := (Format{}).Homes(env(c.env)); !slices.Equal(got, c.want) {
			t.Errorf("%v: %q", c.env, got)
		}
	}
}

// The home that a rollout lies in, and who may count its bytes.
func TestKin(t *testing.T) {
	abs := func(parts ...string) string {
		p, err := filepath.Abs(filepath.Join(parts...))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, c := range []struct {
		path, root string
	}{
		{abs("r", "sessions", "2026", "01", "02", place), abs("r")},
		{abs("r", "archived_sessions", place), abs("r")},
		{abs("r", "sessions", "2026", "01", place), ""},
		{abs("r", "sessions", place), ""},
		{abs("r", "archived_sessions", "2026", place), ""},
		{abs("r", place), ""},
		{filepath.Join("sessions", "2026", "01", "02", place), abs(".")},
	} {
		if got := rootOf(c.path); got != c.root {
			t.Errorf("%s lies in %q, want %q", c.path, got, c.root)
		}
		dirs, home := Format{}.Kin(c.path)
		want := []string{filepath.Dir(c.path)}
		if c.root != "" {
			want = []string{filepath.Join(c.root, "sessions"), filepath.Join(c.root, "archived_sessions")}
		}
		if home != (c.root != "") || !slices.Equal(dirs, want) {
			t.Errorf("%s: %q %t", c.path, dirs, home)
		}
	}
}

func TestCites(t *testing.T) {
	head := func(base string) string {
		return `{"timestamp":"t","ordinal":5,"type":"session_meta","payload":{"id":"x","history_base":` + base + `}}`
	}
	for _, c := range []struct {
		first string
		want  format.Citation
		ok    bool
	}{
		{head(`{"thread_id":"y","end_ordinal_exclusive":5,"end_byte_offset":99}`), format.Citation{Named: "y", Records: 5, Bytes: 99}, true},
		{head(`{"end_byte_offset":0,"thread_id":"y","end_ordinal_exclusive":0}`), format.Citation{Named: "y"}, true},
		{head(`{"thread_id":"y","end_ordinal_exclusive":5}`), format.Citation{}, false},
		{head(`{"thread_id":"y","end_ordinal_exclusive":"5","end_byte_offset":99}`), format.Citation{}, false},
		{head(`{"thread_id":"y","end_ordinal_exclusive":5,"end_byte_offset":-9}`), format.Citation{}, false},
		{head(`{"thread_id":"","end_ordinal_exclusive":5,"end_byte_offset":99}`), format.Citation{}, false},
		{head(`null`), format.Citation{}, false},
		{`{"timestamp":"t","type":"event_msg","payload":{"history_base":{"thread_id":"y","end_ordinal_exclusive":5,"end_byte_offset":99}}}`, format.Citation{}, false},
		{`{"history_base":{"thread_id":"y"}}`, format.Citation{}, false},
		{`{"torn`, format.Citation{}, false},
		{"", format.Citation{}, false},
	} {
		got, ok := Format{}.Cites([]byte(c.first))
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%s: %+v %t", c.first, got, ok)
		}
	}
}

// The locks are those of the thread, whatever the segment, and taken in the client's order.
func TestGuards(t *testing.T) {
	root := t.TempDir()
	day := filepath.Join(root, "sessions", "2026", "01", "02")
	locks := filepath.Join(root, "thread-writer-locks")
	show := func(list []format.Guard) string {
		s := ""
		for _, g := range list {
			rel, _ := filepath.Rel(root, g.Path)
			s += fmt.Sprintf("%s %s %t %t %t\n", g.Kind, filepath.ToSlash(rel), g.Wait, g.Make, g.Sweep)
		}
		return s
	}
	file := "rollout-2026-01-02T03-04-05-" + thread + "_" + segment + ".jsonl.zst"
	want := "flock thread-writer-locks/.coordination.lock true true false\n" +
		"flock thread-writer-locks/" + thread + ".lock false false true\n" +
		"open-file sessions/2026/01/02/" + file + " false false false\n" +
		"quiet sessions/2026/01/02/" + file + " false false false\n"
	if got := show(Format{}.Guards(filepath.Join(day, file))); got != want {
		t.Errorf("%s", got)
	}
	if _, err := os.Stat(locks); err == nil {
		t.Error("looking makes a folder")
	}
	if err := os.MkdirAll(filepath.Join(root, ".tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, ".tmp", "rollout-maintenance.lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	want += "flock .tmp/rollout-maintenance.lock false false false\n"
	if got := show(Format{}.Guards(filepath.Join(day, file))); got != want {
		t.Errorf("%s", got)
	}
	for _, p := range []string{place, filepath.Join(root, place), filepath.Join(day, "notes.jsonl")} {
		if g := (Format{}).Guards(p); g != nil {
			t.Errorf("%s has guards: %+v", p, g)
		}
	}
}
