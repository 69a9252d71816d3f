package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/codex"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/store"
)

// thread is the id of a rollout, by number.
func thread(n int) string { return fmt.Sprintf("01900000-0000-7000-8000-%012d", n) }

// rolloutName is the name of a rollout's file.
func rolloutName(id string) string { return "rollout-2026-01-02T03-04-05-" + id + ".jsonl" }

// starts is the first record of a rollout; base may be empty.
func starts(n, ordinal int, base string) string {
	return fmt.Sprintf(`{"timestamp":"2026-01-02T03:04:05.000Z","ordinal":%d,"type":"session_meta","payload":{"id":"%s","cwd":"/w","history_mode":"paginated"%s}}`+"\n", ordinal, thread(n), base)
}

// on lets a rollout begin in another, behind so many records and bytes.
func on(id string, records, bytes int) string {
	return fmt.Sprintf(`,"history_base":{"thread_id":"%s","end_ordinal_exclusive":%d,"end_byte_offset":%d}`, id, records, bytes)
}

// more are further records of a rollout, of each bytes with their newlines.
func more(ordinal, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"timestamp":"t","ordinal":%-5d,"type":"x","payload":{}}`+"\n", ordinal+i)
	}
	return b.String()
}

// each is the length of one of more.
var each = len(more(0, 1))

func packed(text string) string { return string(scan.EncodeFrame(nil, []byte(text))) }

// kin opens the rollouts of a tree, and tells of each how far others count it, and what is wrong with its beginning.
func kin(t *testing.T, dir string, paths ...string) map[string]string {
	t.Helper()
	if len(paths) == 0 {
		paths = []string{dir}
	}
	found, err := store.Open(context.Background(), paths, store.Options{Formats: []format.Format{codex.Format{}}, Env: func(string) string { return "" }})
	must(t, err)
	out := map[string]string{}
	for _, s := range found.Sessions {
		rel, err := filepath.Rel(dir, s.Path)
		must(t, err)
		said := fmt.Sprint(s.Pin())
		places := s.Places()
		if s.Pin() > 0 != (len(places) > 0) || len(places) > 0 && slices.Max(places) != s.Pin() {
			t.Errorf("%s is counted to %v, at most to %d", s.Path, places, s.Pin())
		}
		for _, f := range s.Beside() {
			if f.Code != finding.LineageBroken || f.Message == "" || f.Repair == "" || f.Never == "" || strings.Contains(f.Message, "%!") {
				t.Errorf("%+v", f)
			}
			said += " " + f.Where
		}
		out[filepath.ToSlash(rel)] = said
	}
	return out
}

func TestKin(t *testing.T) {
	const day = "sessions/2026/01/02/"
	at := func(n int) string { return day + rolloutName(thread(n)) }
	head := starts(1, 0, "")
	whole := head + more(1, 4)
	end := len(whole)
	segment := rolloutName(thread(1) + "_" + thread(9))
	for _, c := range []struct {
		name  string
		files map[string]string
		want  map[string]string // by path: the pin, and what is wrong
	}{
		{"alone", map[string]string{at(1): whole}, map[string]string{at(1): "-1"}},
		{"a fork", map[string]string{at(1): whole, at(2): starts(2, 5, on(thread(1), 5, end))}, map[string]string{at(1): fmt.Sprint(end), at(2): "-1"}},
		{"a fork in the middle", map[string]string{at(1): whole, at(2): starts(2, 2, on(thread(1), 2, end-3*each))}, map[string]string{at(1): fmt.Sprint(end - 3*each), at(2): "-1"}},
		{"two forks", map[string]string{at(1): whole, at(2): starts(2, 4, on(thread(1), 4, end-each)), at(3): starts(3, 2, on(thread(1), 2, end-3*each))},
			map[string]string{at(1): fmt.Sprint(end - each), at(2): "-1", at(3): "-1"}},
		{"a fork of nothing", map[string]string{at(1): whole, at(2): starts(2, 0, on(thread(1), 0, 0))}, map[string]string{at(1): "-1", at(2): "-1"}},
		{"a fork of a fork", map[string]string{at(1): whole, at(2): starts(2, 5, on(thread(1), 5, end)) + more(6, 2), at(3): starts(3, 7, on(thread(2), 7, len(starts(2, 5, on(thread(1), 5, end)))+each))},
			map[string]string{at(1): fmt.Sprint(end), at(2): fmt.Sprint(len(starts(2, 5, on(thread(1), 5, end))) + each), at(3): "-1"}},
		{"behind a revert", map[string]string{at(1): whole, day + segment: starts(1, 3, on(thread(1), 3, end-2*each)) + more(4, 1), at(2): starts(2, 5, on(thread(9), 5, len(starts(1, 3, on(thread(1), 3, end-2*each)))+each))},
			map[string]string{at(1): fmt.Sprint(end - 2*each), day + segment: fmt.Sprint(len(starts(1, 3, on(thread(1), 3, end-2*each))) + each), at(2): "-1"}},
		{"put away", map[string]string{"archived_sessions/" + rolloutName(thread(1)): whole, at(2): starts(2, 5, on(thread(1), 5, end))},
			map[string]string{"archived_sessions/" + rolloutName(thread(1)): fmt.Sprint(end), at(2): "-1"}},
		{"the fork put away", map[string]string{at(1): whole, "archived_sessions/" + rolloutName(thread(2)): starts(2, 5, on(thread(1), 5, end))},
			map[string]string{at(1): fmt.Sprint(end), "archived_sessions/" + rolloutName(thread(2)): "-1"}},
		{"of another day", map[string]string{"sessions/2025/12/31/" + rolloutName(thread(1)): whole, at(2): starts(2, 5, on(thread(1), 5, end))},
			map[string]string{"sessions/2025/12/31/" + rolloutName(thread(1)): fmt.Sprint(end), at(2): "-1"}},

		{"packed", map[string]string{at(1) + ".zst": packed(whole), at(2): starts(2, 5, on(thread(1), 5, end))}, map[string]string{at(1) + ".zst": fmt.Sprint(end), at(2): "-1"}},
		{"packed, in the middle", map[string]string{at(1) + ".zst": packed(whole), at(2): starts(2, 2, on(thread(1), 2, end-3*each))}, map[string]string{at(1) + ".zst": fmt.Sprint(end - 3*each), at(2): "-1"}},
		{"packed in two frames", map[string]string{at(1) + ".zst": packed(head) + packed(more(1, 4)), at(2): starts(2, 3, on(thread(1), 3, end-2*each))},
			map[string]string{at(1) + ".zst": fmt.Sprint(end - 2*each), at(2): "-1"}},
		{"packed, up to a frame's end", map[string]string{at(1) + ".zst": packed(head) + packed(more(1, 4)), at(2): starts(2, 1, on(thread(1), 1, len(head)))},
			map[string]string{at(1) + ".zst": fmt.Sprint(len(head)), at(2): "-1"}},
		{"both packed", map[string]string{at(1) + ".zst": packed(whole), at(2) + ".zst": packed(starts(2, 5, on(thread(1), 5, end)))}, map[string]string{at(1) + ".zst": fmt.Sprint(end), at(2) + ".zst": "-1"}},
		{"packed, and counted inside", map[string]string{at(1) + ".zst": packed(whole), at(2): starts(2, 5, on(thread(1), 5, end-1))}, map[string]string{at(1) + ".zst": fmt.Sprint(end - 1), at(2): "-1 inside"}},
		{"packed, and too short", map[string]string{at(1) + ".zst": packed(whole), at(2): starts(2, 6, on(thread(1), 6, end+each))}, map[string]string{at(1) + ".zst": fmt.Sprint(end + each), at(2): "-1 short"}},
		{"packed and torn", map[string]string{at(1) + ".zst": packed(whole)[:40], at(2): starts(2, 5, on(thread(1), 5, end))}, map[string]string{at(1) + ".zst": fmt.Sprint(end), at(2): "-1 short"}},
		{"the plain one counts", map[string]string{at(1): whole, at(1) + ".zst": packed(head), at(2): starts(2, 5, on(thread(1), 5, end))},
			map[string]string{at(1): fmt.Sprint(end), at(1) + ".zst": fmt.Sprint(end), at(2): "-1"}},
		{"the plain one counts, put away", map[string]string{"archived_sessions/" + rolloutName(thread(1)): whole, at(1) + ".zst": packed(head), at(2): starts(2, 5, on(thread(1), 5, end))},
			map[string]string{"archived_sessions/" + rolloutName(thread(1)): fmt.Sprint(end), at(1) + ".zst": fmt.Sprint(end), at(2): "-1"}},
		{"and if it is the shorter one", map[string]string{at(1): head, at(1) + ".zst": packed(whole), at(2): starts(2, 5, on(thread(1), 5, end))},
			map[string]string{at(1): fmt.Sprint(end), at(1) + ".zst": fmt.Sprint(end), at(2): "-1 short"}},

		{"missing", map[string]string{at(2): starts(2, 5, on(thread(1), 5, end))}, map[string]string{at(2): "-1 missing"}},
		{"missing further back", map[string]string{at(2): starts(2, 5, on(thread(1), 5, end)), at(3): starts(3, 6, on(thread(2), 6, len(starts(2, 5, on(thread(1), 5, end)))))},
			map[string]string{at(2): fmt.Sprint(len(starts(2, 5, on(thread(1), 5, end)))) + " missing", at(3): "-1 missing"}},
		{"a folder of that name", map[string]string{at(1) + "/": "", at(2): starts(2, 5, on(thread(1), 5, end))}, map[string]string{at(2): "-1 missing"}},
		{"short", map[string]string{at(1): whole[:end-each], at(2): starts(2, 5, on(thread(1), 5, end))}, map[string]string{at(1): fmt.Sprint(end), at(2): "-1 short"}},
		{"empty", map[string]string{at(1): "", at(2): starts(2, 5, on(thread(1), 5, end))}, map[string]string{at(1): fmt.Sprint(end), at(2): "-1 short"}},
		{"inside a record", map[string]string{at(1): whole, at(2): starts(2, 5, on(thread(1), 5, end-7))}, map[string]string{at(1): fmt.Sprint(end - 7), at(2): "-1 inside"}},
		{"in front of the newline", map[string]string{at(1): whole, at(2): starts(2, 5, on(thread(1), 5, end-1))}, map[string]string{at(1): fmt.Sprint(end - 1), at(2): "-1 inside"}},
		{"itself", map[string]string{at(1): starts(1, 5, on(thread(1), 5, 1))}, map[string]string{at(1): "1 cycle"}},
		{"two in a circle", map[string]string{at(1): starts(1, 3, on(thread(2), 3, len(starts(2, 5, on(thread(1), 5, 100))))), at(2): starts(2, 5, on(thread(1), 5, len(starts(1, 3, on(thread(2), 3, 100)))))},
			map[string]string{at(1): fmt.Sprint(len(starts(1, 3, on(thread(2), 3, 100)))) + " order", at(2): fmt.Sprint(len(starts(2, 5, on(thread(1), 5, 100)))) + " cycle"}},
		{"its base begins later", map[string]string{at(1): whole, at(2): starts(2, 5, on(thread(1), 5, end)), at(3): starts(3, 5, on(thread(2), 5, len(starts(2, 5, on(thread(1), 5, end)))))},
			map[string]string{at(1): fmt.Sprint(end), at(2): fmt.Sprint(len(starts(2, 5, on(thread(1), 5, end)))), at(3): "-1 order"}},
		{"half a base", map[string]string{at(1): whole, at(2): starts(2, 5, `,"history_base":{"thread_id":"`+thread(1)+`"}`)}, map[string]string{at(1): "-1", at(2): "-1"}},
		{"the header is not the first line", map[string]string{at(1): whole, at(2): "{\"torn\n" + starts(2, 5, on(thread(1), 5, end+each))}, map[string]string{at(1): "-1", at(2): "-1"}},

		// In no home others may lie anywhere.
		{"elsewhere", map[string]string{"a/" + rolloutName(thread(1)): whole, "a/" + rolloutName(thread(2)): starts(2, 5, on(thread(1), 5, end))},
			map[string]string{"a/" + rolloutName(thread(1)): "0", "a/" + rolloutName(thread(2)): "0"}},
		{"elsewhere, the base missing", map[string]string{"a/" + rolloutName(thread(2)): starts(2, 5, on(thread(1), 5, end)), "b/" + rolloutName(thread(1)): whole},
			map[string]string{"a/" + rolloutName(thread(2)): "0", "b/" + rolloutName(thread(1)): "0"}},
		{"elsewhere, the base short", map[string]string{"a/" + rolloutName(thread(2)): starts(2, 5, on(thread(1), 5, end)), "a/" + rolloutName(thread(1)): head},
			map[string]string{"a/" + rolloutName(thread(2)): "0 short", "a/" + rolloutName(thread(1)): "0"}},
		{"two homes", map[string]string{"x/" + at(1): whole, "y/" + at(2): starts(2, 5, on(thread(1), 5, end))}, map[string]string{"x/" + at(1): "-1", "y/" + at(2): "-1 missing"}},
	} {
		got := kin(t, tree(t, c.files))
		if len(got) != len(c.want) {
			t.Errorf("%s: %v", c.name, got)
		}
		for path, want := range c.want {
			if got[path] != want {
				t.Errorf("%s: %s: %q, want %q", c.name, path, got[path], want)
			}
		}
	}
}

// A single file is held against all of its home, though nothing else is asked for.
func TestKinOfOne(t *testing.T) {
	whole := starts(1, 0, "") + more(1, 4)
	one := filepath.Join("sessions", "2026", "01", "02", rolloutName(thread(1)))
	dir := tree(t, map[string]string{filepath.ToSlash(one): whole, "sessions/2026/01/03/" + rolloutName(thread(2)): starts(2, 5, on(thread(1), 5, len(whole)))})
	if got := kin(t, dir, filepath.Join(dir, one))[filepath.ToSlash(one)]; got != fmt.Sprint(len(whole)) {
		t.Error(got)
	}
	// Whoever is opened on his own asks anew.
	r, err := os.Open(filepath.Join(dir, one))
	must(t, err)
	defer r.Close()
	s, err := store.Recognise(context.Background(), filepath.Join(dir, one), r, int64(len(whole)), store.Options{Formats: []format.Format{codex.Format{}}})
	must(t, err)
	if s.Pin() != int64(len(whole)) || s.Beside() != nil {
		t.Errorf("%d %+v", s.Pin(), s.Beside())
	}
	// Formats whose files stand alone count nothing.
	s, err = store.Recognise(context.Background(), "x.jsonl", strings.NewReader(log), int64(len(log)), options(nil))
	must(t, err)
	if s.Pin() != 0 {
		t.Errorf("%d", s.Pin())
	}
}

// What is mended first lies nearer to the beginning of all.
func TestKinDepth(t *testing.T) {
	at := func(n int) string { return "sessions/2026/01/02/" + rolloutName(thread(n)) }
	second := starts(2, 1, on(thread(1), 1, len(starts(1, 0, ""))))
	third := starts(3, 2, on(thread(2), 2, len(second)))
	dir := tree(t, map[string]string{
		at(1): starts(1, 0, ""), at(2): second, at(3): third, at(4): starts(4, 3, on(thread(3), 3, len(third))), at(5): starts(5, 1, on(thread(8), 1, 9)),
		at(6): starts(6, 1, on(thread(7), 1, 9)), at(7): starts(7, 1, on(thread(6), 1, 9)),
	})
	found, err := store.Open(context.Background(), []string{dir}, store.Options{Formats: []format.Format{codex.Format{}}, Env: func(string) string { return "" }})
	must(t, err)
	var got []int
	for _, s := range found.Sessions {
		got = append(got, s.Depth())
	}
	if want := []int{0, 1, 2, 3, 1, 100, 100}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	s, err := store.Recognise(context.Background(), "x.jsonl", strings.NewReader(log), int64(len(log)), options(nil))
	must(t, err)
	if s.Depth() != 0 || s.Places() != nil {
		t.Errorf("%d %v", s.Depth(), s.Places())
	}
}

// A long line of forks is followed to its end, but not without end.
func TestKinLong(t *testing.T) {
	for n, want := range map[int]string{100: "-1", 101: "-1", 102: "-1 cycle"} {
		files := map[string]string{}
		text := starts(1, 0, "")
		for i := 1; i <= n; i++ {
			files["sessions/2026/01/02/"+rolloutName(thread(i))] = text
			text = starts(i+1, i, on(thread(i), i, len(text)))
		}
		last := "sessions/2026/01/02/" + rolloutName(thread(n))
		dir := tree(t, files)
		if got := kin(t, dir, filepath.Join(dir, filepath.FromSlash(last)))[last]; got != want {
			t.Errorf("%d rollouts: %q, want %q", n, got, want)
		}
	}
}

// Neither links nor what cannot be read stop the search.
func TestKinStrange(t *testing.T) {
	whole := starts(1, 0, "") + more(1, 4)
	at := func(n int) string { return "sessions/2026/01/02/" + rolloutName(thread(n)) }
	dir := tree(t, map[string]string{at(1): whole, at(2): starts(2, 5, on(thread(1), 5, len(whole))), at(3): starts(3, 5, on(thread(7), 5, each)), "elsewhere/": "", at(4): starts(4, 5, on(thread(8), 5, each))})
	link(t, filepath.Join(dir, "sessions"), filepath.Join(dir, "sessions", "2026", "01", "02", "up"))
	link(t, "nowhere", filepath.Join(dir, filepath.FromSlash(at(8))))
	link(t, filepath.Join(dir, "elsewhere"), filepath.Join(dir, filepath.FromSlash(at(7))))
	got := kin(t, dir)
	want := map[string]string{at(1): fmt.Sprint(len(whole)), at(2): "-1", at(3): "-1 missing", at(4): "-1 missing"}
	for path, w := range want {
		if got[path] != w {
			t.Errorf("%s: %q, want %q", path, got[path], w)
		}
	}
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		return
	}
	must(t, os.Chmod(filepath.Join(dir, filepath.FromSlash(at(1))), 0))
	if got := kin(t, dir)[at(2)]; got != "-1 unreadable" {
		t.Errorf("a base that may not be read: %q", got)
	}
}
