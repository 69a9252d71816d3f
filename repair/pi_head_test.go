package repair_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessfix/sessfix/internal/damage/trial"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// Sessions of version 1, whose entries have no ids, and headers that do not fit.
func TestPiHeads(t *testing.T) {
	const other = "no-such-directory/notes.jsonl"
	first := func(log string) string { // without ids
		return strings.Replace(sprigHead, `"version":3,`, "", 1) + sprigLog(log)
	}
	version := func(v string) string { return strings.Replace(sprigHead, `"version":3`, `"version":`+v, 1) }
	none := strings.Replace(sprigHead, `"version":3,`, "", 1)
	id := func(v string) string { return strings.Replace(sprigHead, `"id":"s1",`, v, 1) }
	tree := "user a - | call b a 1 | res c b 1 | say d c | user e a"
	hooks := "user a - | hook b a | say c b"
	for _, c := range []struct{ name, path, client, text, found, head, after, closers string }{
		{"version 1", sprigPath, "", first("user a=. . | call b=. . 1 | res c=. . 1 | say d=. ."), "", "", "a b c d", ""},
		{"version 1, an orphan", sprigPath, "", first("user a=. . | say b=. . | res c=. . 9 | say d=. ."), "ORPHAN_RESULT path error 4", "", "a b d", ""},
		{"version 1, one open", sprigPath, "", first("user a=. . | call b=. . 1"), "DANGLING_CALL tail error 3", "", "a b +1", "1 TOOL_OUTCOME_UNKNOWN"},
		// pending: {"version 1, two open", sprigPath, "", first("user a=. . | call b=. . 1 2"), "DANGLING_CALL tail error 3, DANGLING_CALL tail error 3", "", "a b +1 +2", "1 TOOL_OUTCOME_UNKNOWN, 2 TOOL_OUTCOME_UNKNOWN"},
		// pending: {"version 1, a result late", sprigPath, "", first("user a=. . | call b=. . 1 | user c=. . | res d=. . 1 | say e=. ."), "DISPLACED_RESULT path error 5", "", "a b d c e", ""},
		{"version 1, a lost line", sprigPath, "", first("user a=. . | lost say b=. . | user c=. ."), "", "", "a c", ""},
		{"version 1, torn", sprigPath, "", first("user a=. . | cut say b=. . | user c=. ."), "TORN_LINE error 3", "", "a c", ""},

		{"late", sprigPath, "", sprigLog(tree) + sprigHead, "HEADER_MISPLACED late error 6", sprigHead, "a e", ""},
		{"a number for id", sprigPath, "", id(`"id":7,`) + sprigLog(tree), "HEADER_INVALID id error 1", id(`"id":"7",`), "a e", ""},
		{"no id, and the name tells it", sprigPath, "", id("") + sprigLog(tree), "HEADER_INVALID id error 1", strings.Replace(id(""), `"session"`, `"session","id":"s1"`, 1), "a e", ""},
		{"no id", other, "", id("") + sprigLog(tree), "HEADER_INVALID no-id error 1", "refused", "", ""},
		{"null for id", sprigPath, sprigOld, id(`"id":null,`) + sprigLog(tree), "HEADER_INVALID id error 1", sprigHead, "a e", ""},
		{"none", sprigPath, "", sprigLog(tree), "HEADER_MISSING rebuilt error 1", "refused", "", ""},
		{"version absent", sprigPath, "", none + sprigLog(tree), "HEADER_INVALID version error 1", sprigHead, "a e", ""},
		{"version null", sprigPath, "", version("null") + sprigLog(tree), "HEADER_INVALID version error 1", sprigHead, "a e", ""},
		{"version absent, hooks", sprigPath, "", none + sprigLog(hooks), "HEADER_INVALID version error 1", version("2"), "a b c > a c", ""},
		{"version text", sprigPath, "", version(`"new"`) + sprigLog(tree), "HEADER_INVALID version error 1", sprigHead, "a e", ""},
		{`version "3"`, sprigPath, "", version(`"3"`) + sprigLog(tree), "", "", "a e", ""},
		{"version 4", sprigPath, "", version("4") + sprigLog(tree), "VERSION_UNKNOWN error 0", "refused", "", ""},
		{"mixed", sprigPath, "", none + sprigLog("user a=. . | say b=. . | user c b | say d c"), "HEADER_INVALID mixed error 1", "refused", "", ""},
		{"mixed, the other way", sprigPath, "", none + sprigLog("user a - | say b a | user c=. . | say d=. ."), "HEADER_INVALID mixed error 1", "refused", "", ""},
		{"a fork that was not migrated", sprigPath, "", sprigHead + sprigLog("user a=. . | say b=. . | user c=. ."), "HEADER_INVALID unmigrated error 1", version("1"), "a b c", ""},
		{"hooks in version 3", sprigPath, "", sprigHead + sprigLog(hooks), "HEADER_INVALID hooks error 1", version("2"), "a b c > a c", ""},
		{"hooks in version 2", sprigPath, "", version("2") + sprigLog(hooks), "", "", "a b c > a c", ""},
		{"a second header", sprigPath, "", sprigHead + sprigLog(tree) + sprigHead, "HEADER_MISPLACED second note 7", "", "a e", ""},
		{"two faults", sprigPath, "", version("null") + sprigLog("user a - | lost say b a | user c b | res d c 9"), "HEADER_INVALID version error 1, PARENT_MISSING path error 3, ORPHAN_RESULT path error 4", sprigHead, "a c", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := mendSprig(t.Context(), c.path, c.client, c.text)
			if m.before == nil {
				t.Fatal(err)
			}
			if got := sprigFound(m.before); got != c.found || err != nil {
				t.Errorf("found %s\nwant  %s, %v", got, c.found, err)
			}
			if refused := m.before.Verdict == verify.Refused; refused != (c.head == "refused") {
				t.Errorf("the verdict is %s", m.before.Verdict)
			}
			if c.head == "refused" {
				return
			}
			v := sprigOpen(m.out, c.client == "")
			if got := v.String(); got != c.after || sprigClosers(v) != c.closers {
				t.Errorf("the client sees %s; %s\nwant            %s; %s\n%s", got, sprigClosers(v), c.after, c.closers, m.out)
			}
			if head, _, _ := strings.Cut(m.out, "\n"); c.head != "" && head+"\n" != c.head {
				t.Errorf("the header is %s, want %s", head, c.head)
			}
		})
	}
}

// What the client breaks on in a message is put right, and nothing else changes.
func TestPiContent(t *testing.T) {
	text := sprigHead + sprigLog("user a - | call b a 1 | res c b 1 | say d c")
	usage := `"usage":` + sprigZero + `,`
	for _, c := range []struct{ name, client, old, with, found, mended string }{
		{"text for an answer's content", "", `"content":[{"type":"text","text":"t"}],"usage"`, `"content":"x \" y","usage"`, "EVENT_INVALID text-content error 5", `"content":[{"type":"text","text":"x \" y"}],"usage"`},
		{"no usage", "", usage + `"stopReason":"stop"`, `"stopReason":"stop"`, "EVENT_INVALID no-usage error 5", ""},
		{"null for usage", "", usage + `"stopReason":"stop"`, `"usage":null,"stopReason":"stop"`, "EVENT_INVALID no-usage error 5", usage + `"stopReason":"stop"`},
		{"no usage, an old release", sprigOld, usage + `"stopReason":"stop"`, `"stopReason":"stop"`, "EVENT_INVALID no-usage note 5", ""},
		{"null for content", "", `"content":"t"`, `"content":null`, "EVENT_INVALID no-content note 2", ""},
		{"null for content, an old release", sprigOld, `"content":"t"`, `"content":null`, "EVENT_INVALID no-content error 2", `"content":[]`},
		{"null for a result's content, an old release", sprigOld, `"content":[{"type":"text","text":"out"}]`, `"content":null`, "EVENT_INVALID no-content error 4", `"content":[]`},
		{"null for an answer's content, an old release", sprigOld, `"content":[{"type":"text","text":"t"}],"usage"`, `"content":null,"usage"`, "EVENT_INVALID no-content error 5", `"content":[],"usage"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			i := strings.LastIndex(text, c.old)
			in := text[:i] + c.with + text[i+len(c.old):]
			m, err := mendSprig(t.Context(), sprigPath, c.client, in)
			if err != nil || sprigFound(m.before) != c.found {
				t.Fatalf("found %s, want %s, %v", sprigFound(m.before), c.found, err)
			}
			switch v := sprigOpen(m.out, c.client == ""); {
			case len(v.wrong) > 0 || v.String() != "a b c d":
				t.Errorf("the client sees %s", v)
			case c.mended != "" && m.out != text[:i]+c.mended+text[i+len(c.old):]:
				t.Errorf("mended to %s", m.out)
			case c.mended == "" && strings.Contains(c.found, "note") && m.out != in:
				t.Errorf("changed to %s", m.out)
			}
		})
	}
}

// Results that end a session hang under each other and are a millisecond apart from the answer on; the same session gives the
// same ones.
func TestPiClosers(t *testing.T) {
	text := sprigHead + sprigLog("user a - | call b a 1 2 3 | res c b 2")
	m, err := mendSprig(t.Context(), sprigPath, "", text)
	if err != nil {
		t.Fatal(err)
	}
	again, err := mendSprig(t.Context(), sprigPath, "", text)
	if err != nil || again.out != m.out {
		t.Fatalf("%s\nthen\n%s, %v", m.out, again.out, err)
	}
	v := sprigOpen(m.out, true)
	if v.String() != "a b c +1 +3" || !strings.HasPrefix(m.out, text) {
		t.Fatalf("%s\n%s", v, m.out)
	}
	asked, _ := time.Parse(time.RFC3339, v.way[1].Timestamp)
	for i, e := range v.way[3:] {
		at, err := time.Parse(time.RFC3339, e.Timestamp)
		if want := asked.Add(time.Duration(i+1) * time.Millisecond); err != nil || !at.Equal(want) || e.Message.Timestamp != want.UnixMilli() || !e.Message.IsError {
			t.Errorf("%s, want %s: %v", e.Timestamp, want, e.Message)
		}
	}
	// The result of another session has another id.
	other, err := mendSprig(t.Context(), sprigPath, "", strings.Replace(text, `"id":"s1"`, `"id":"s2"`, 1))
	if err != nil {
		t.Fatal(err)
	}
	if w := sprigOpen(other.out, true); w.way[3].key() == v.way[3].key() || w.way[3].key() == w.way[4].key() {
		t.Errorf("ids %s, %s, and %s in another session", v.way[3].key(), v.way[4].key(), w.way[3].key())
	}
}

// A repair leaves the time of the file as it was: it decides which session "pi -c" opens.
func TestPiTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), filepath.Base(sprigPath))
	for _, log := range []string{"user a - | call b a 1", "user a - | lost say b a | user c b | res d c 9", "user a - | say b a | user c b | user x=b a"} {
		if err := os.WriteFile(path, []byte(sprigHead+sprigLog(log)), 0o640); err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		if err := sprigFile(t, path); err != nil {
			t.Fatalf("%s: %v", log, err)
		}
		fi, err := os.Stat(path)
		data, _ := os.ReadFile(path)
		if err != nil || !fi.ModTime().Equal(at) || fi.Mode().Perm() != 0o640 {
			t.Errorf("%s: %v %v, %v", log, fi.ModTime(), fi.Mode(), err)
		}
		if v := sprigOpen(string(data), true); len(v.wrong)+len(v.open) > 0 || string(data) == sprigHead+sprigLog(log) {
			t.Errorf("%s: the client sees %s", log, v)
		}
	}
}

// sprigFile repairs a session where it lies.
func sprigFile(t *testing.T, path string) error {
	found, err := store.Open(t.Context(), []string{path}, trial.Options())
	if err != nil || len(found.Sessions) != 1 {
		return fmt.Errorf("%d sessions, %v, %v", len(found.Sessions), found.Troubles, err)
	}
	out, err := repair.Session(t.Context(), found.Sessions[0], repair.Options{CaseDir: t.TempDir()})
	if err == nil && !out.Changed {
		return errors.New("nothing is changed")
	}
	return err
}
