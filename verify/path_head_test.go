package verify_test

import (
	"strings"
	"testing"

	"github.com/sessfix/sessfix/verify"
)

// What is said of the header, and of what the client breaks on; the text after the repair, "" where nothing changes.
func TestPathHeader(t *testing.T) {
	const (
		named = "no-such-directory/2026-01-01T00-00-00-000Z_s1.jsonl"
		other = "no-such-directory/notes.jsonl"
	)
	body := piLog("u | a 1 | r 1 | a")
	bare := strings.ReplaceAll(piLog("u | a"), `"parentId":null,`, "")
	for _, x := range []string{`"id":"a",`, `"id":"b",`, `"parentId":"a",`} {
		bare = strings.Replace(bare, x, "", 1)
	}
	hooks := piLog("u | hook | a")
	head := func(old, with string) string {
		s := strings.Replace(piHead, old, with, 1)
		if s == piHead && old != with {
			panic("the header has no " + old)
		}
		return s
	}
	v := `"version":3`
	none := head(`"version":3,`, "")
	for _, c := range []struct {
		name, path, text, want string
		verdict                verify.Verdict
		mended                 string
	}{
		{"whole", named, piHead + body, "", verify.Clean, ""},
		{"whole, elsewhere", other, piHead + body, "", verify.Clean, ""},
		{"alone", named, piHead, "", verify.Clean, ""},
		{"empty", named, "", "HEADER_MISSING empty note 0", verify.Clean, ""},
		{"a newline alone", named, "\n", "BLANK_LINE tail note 1, HEADER_MISSING error 0", verify.Refused, ""},
		{"junk in front", named, "junk\n" + piHead + body, "TORN_LINE error 1", verify.Repairable, piHead + body},
		{"an empty line in front", named, "\n" + piHead + body, "BLANK_LINE mid note 1", verify.Clean, ""},

		{"late", named, body + piHead, "HEADER_MISPLACED late error 5", verify.Repairable, piHead + body},
		{"late, by one", named, strings.Replace(body, "\n", "\n"+piHead, 1), "HEADER_MISPLACED late error 2", verify.Repairable, piHead + body},
		{"late, without a newline", named, body + strings.TrimSuffix(piHead, "\n"), "NO_FINAL_NEWLINE tail warning 5, HEADER_MISPLACED late error 5", verify.Repairable, piHead + body},
		{"late, and without version", named, body + none, "HEADER_INVALID version error 5, HEADER_MISPLACED late error 5", verify.Repairable, piHead + body},
		{"late, and its id a number", named, body + head(`"s1"`, "7"), "HEADER_INVALID id error 5, HEADER_MISPLACED late error 5", verify.Repairable, head(`"s1"`, `"7"`) + body},
		{"late, behind a stray", named, "{}\n" + piHead + body, "EVENT_INVALID stray note 1, HEADER_MISPLACED late error 2", verify.Repairable, piHead + "{}\n" + body},
		{"a second one", named, piHead + strings.Replace(body, "\n", "\n"+head("s1", "s2"), 1), "HEADER_MISPLACED second note 3", verify.Clean, ""},
		{"a second one, the last", named, piHead + body + head("s1", "s2"), "HEADER_MISPLACED second note 6", verify.Clean, ""},
		{"none", named, body, "HEADER_MISSING rebuilt error 1", verify.Refused, ""},
		{"none, elsewhere", other, body, "HEADER_MISSING error 1", verify.Refused, ""},
		{"torn", named, piHead[:50] + "\n" + body, "TORN_LINE error 1, HEADER_MISSING rebuilt error 1", verify.Refused, ""},

		{"a number for id", named, head(`"s1"`, "12") + body, "HEADER_INVALID id error 1", verify.Repairable, head(`"s1"`, `"12"`) + body},
		{"a fraction for id", named, head(`"s1"`, "1.50") + body, "HEADER_INVALID id error 1", verify.Repairable, head(`"s1"`, `"1.50"`) + body},
		{"no id", named, head(`"id":"s1",`, "") + body, "HEADER_INVALID id error 1", verify.Repairable,
			strings.Replace(head(`"id":"s1",`, ""), `"session",`, `"session","id":"s1",`, 1) + body},
		{"no id, elsewhere", other, head(`"id":"s1",`, "") + body, "HEADER_INVALID no-id error 1", verify.Refused, ""},
		{"null for id", named, head(`"s1"`, "null") + body, "HEADER_INVALID id error 1", verify.Repairable, piHead + body},
		{"a list for id", named, head(`"s1"`, `["s1"]`) + body, "HEADER_INVALID id error 1", verify.Repairable, piHead + body},
		{"null for id, elsewhere", other, head(`"s1"`, "null") + body, "HEADER_INVALID no-id error 1", verify.Refused, ""},
		{"no cwd", named, head(`,"cwd":"/w"`, "") + body, "HEADER_INVALID cwd note 1", verify.Clean, ""},
		{"another id than the name", named, head("s1", "s2") + body, "", verify.Clean, ""},

		{"no version", named, none + body, "HEADER_INVALID version error 1", verify.Repairable, head(`"session","version":3,`, `"session","version":3,`) + body},
		{"no version, hooks", named, none + hooks, "HEADER_INVALID version error 1", verify.Repairable, head(v, `"version":2`) + hooks},
		{"null", named, head(v, `"version":null`) + body, "HEADER_INVALID version error 1", verify.Repairable, piHead + body},
		{"1, and a tree", named, head(v, `"version":1`) + body, "HEADER_INVALID version error 1", verify.Repairable, piHead + body},
		{"text", named, head(v, `"version":"latest"`) + body, "HEADER_INVALID version error 1", verify.Repairable, piHead + body},
		{"text, hooks", named, head(v, `"version":"latest"`) + hooks, "HEADER_INVALID hooks error 1", verify.Repairable, head(v, `"version":2`) + hooks},
		{"a number in quotes", named, head(v, `"version":"3"`) + body, "", verify.Clean, ""},
		{"4", named, head(v, `"version":4`) + body, "VERSION_UNKNOWN error 0", verify.Refused, ""},
		{"99", named, head(v, `"version":99`) + body, "VERSION_UNKNOWN error 0", verify.Refused, ""},
		{"2", named, head(v, `"version":2`) + hooks, "", verify.Clean, ""},
		{"2, without hooks", named, head(v, `"version":2`) + body, "", verify.Clean, ""},
		{"3, and hooks", named, piHead + hooks, "HEADER_INVALID hooks error 1", verify.Repairable, head(v, `"version":2`) + hooks},
		{"first generation", named, none + bare, "", verify.Clean, ""},
		{"first generation, named 1", named, head(v, `"version":1`) + bare, "", verify.Clean, ""},
		{"3, and no ids", named, piHead + bare, "HEADER_INVALID unmigrated error 1", verify.Repairable, head(v, `"version":1`) + bare},
		{"2, and no ids", named, head(v, `"version":2`) + bare, "HEADER_INVALID unmigrated error 1", verify.Repairable, head(v, `"version":1`) + bare},
		{"no version, ids from the second on", named, none + bare[:strings.Index(bare, "\n")+1] + strings.Replace(body, `"parentId":null,`, `"parentId":null,`, 1), "HEADER_INVALID mixed error 1", verify.Refused, ""},
		{"no version, one without id", named, none + body + bare, "HEADER_INVALID mixed error 1", verify.Refused, ""},
		{"3, ids from the second on", named, piHead + bare[:strings.Index(bare, "\n")+1] + body, "HEADER_INVALID mixed error 1", verify.Refused, ""},

		{"a byte order mark", named, "\xEF\xBB\xBF" + piHead + body, "BOM error 1", verify.Repairable, piHead + body},
		{"null for a line", named, piHead + body + "null\n", "NOT_OBJECT null error 6", verify.Repairable, piHead + body},
		{"a number in the middle", named, piHead + strings.Replace(body, "\n", "\n7\n", 1), "NOT_OBJECT error 3", verify.Repairable, piHead + body},
		{"CRLF", named, strings.ReplaceAll(piHead+body, "\n", "\r\n"), "", verify.Clean, ""},
		{"no newline at the end", named, strings.TrimSuffix(piHead+body, "\n"), "NO_FINAL_NEWLINE tail warning 5", verify.Repairable, piHead + body},
		{"torn at the end", named, piHead + body + body[:30], "TORN_TAIL error 6", verify.Repairable, piHead + body},
		{"NULs at the end", named, piHead + body + "\x00\x00", "NUL_TAIL error 6", verify.Repairable, piHead + body},
		{"NULs for a line", named, piHead + strings.Replace(body, "\n", "\n\x00\x00\n", 1), "NUL_LINE warning 3", verify.Repairable, piHead + body},
		{"NULs behind a record", named, piHead + strings.Replace(body, "\n", "\x00\x00\n", 1), "NUL_PAD error 2", verify.Repairable, piHead + body},
		{"glued", named, piHead + strings.Replace(body, "\n", "", 1), "GLUED_WHOLE error 2", verify.Repairable, piHead + body},
		{"the header glued to an entry", named, strings.TrimSuffix(piHead, "\n") + body, "GLUED_WHOLE error 1", verify.Repairable, piHead + body},
		{"a torn one glued to a whole one", named, piHead + body[:30] + body, "GLUED_TORN error 2", verify.Repairable, piHead + body},
		{"U+2028", named, piHead + strings.Replace(body, `"content":"t"`, "\"content\":\"a\u2028b\"", 1), "", verify.Clean, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := tryPi(t, c.path, "", c.text)
			if err != nil {
				t.Errorf("%v\n%s", err, c.text)
			}
			mended := m.fixed
			if mended == c.text {
				mended = ""
			}
			if got := said(m.before); got != c.want || m.before.Verdict != c.verdict || mended != c.mended {
				t.Errorf("%s\nfound %s: %s\nwant  %s: %s\ngives %s\nwant  %s", c.text, m.before.Verdict, got, c.verdict, c.want, mended, c.mended)
			}
			if c := openPi(m.fixed, true); m.before.Verdict != verify.Refused && m.fixed != "" && !c.loads {
				t.Errorf("the client does not load\n%s", m.fixed)
			}
		})
	}
}

// With a release that is older the same file may end otherwise.
func TestPathHeaderOlder(t *testing.T) {
	body := piLog("u | a")
	for _, c := range []struct{ name, text, want string }{
		{"a byte order mark", "\xEF\xBB\xBF" + piHead + body, "BOM warning 1"},
		{"no newline at the end", strings.TrimSuffix(piHead+body, "\n"), "NO_FINAL_NEWLINE tail error 3"},
		{"null", piHead + body + "null\n", "NOT_OBJECT null error 4"},
		{"no usage", piHead + strings.Replace(body, `,"usage":`+zero, "", 1), "EVENT_INVALID no-usage note 3"},
		{"no content", piHead + strings.Replace(body, `"content":"t"`, `"content":null`, 1), "EVENT_INVALID no-content error 2"},
		{"late", body + piHead, "HEADER_MISPLACED late error 3"},
		{"none", body, "HEADER_MISSING rebuilt error 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := mendPi(t, piPath, "0.73.1", c.text)
			if got := said(m.before); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			for _, f := range m.before.Findings {
				if f.Code == "HEADER_MISSING" && !strings.Contains(f.Client, "over the file") {
					t.Errorf("%s", f.Client)
				}
			}
		})
	}
}

// What the client breaks on in a message, and in its words.
func TestPathContent(t *testing.T) {
	log := piHead + piLog("u | a 1 | r 1 | a")
	for _, c := range []struct{ name, old, with, want, old2, mended string }{
		{"text for an answer's content", `"content":[{"type":"text","text":"t"}],"usage"`, `"content":"a \"t\"","usage"`, "EVENT_INVALID text-content error 5", `"content":"a \"t\""`, `"content":[{"type":"text","text":"a \"t\""}]`},
		{"no usage", `"usage":` + zero + `,"stopReason":"stop"`, `"stopReason":"stop"`, "EVENT_INVALID no-usage error 5", `"role":"assistant",`, ``},
		{"null for usage", `"usage":` + zero + `,"stopReason":"stop"`, `"usage":null,"stopReason":"stop"`, "EVENT_INVALID no-usage error 5", `"usage":null`, `"usage":` + zero},
		{"no content", `"content":"t"`, `"content":null`, "EVENT_INVALID no-content note 2", "", ""},
		{"a strange byte in a type", `{"type":"message","id":"b"`, "{\"type\":\"mess\xffage\",\"id\":\"b\"", "EVENT_INVALID word error 3, BAD_UTF8 error 3", "\"mess\xffage\"", `"message"`},
		{"a strange byte in a role", `"role":"toolResult"`, "\"role\":\"tool\xffResult\"", "EVENT_INVALID word error 4, BAD_UTF8 error 4", "\"tool\xffResult\"", `"toolResult"`},
		{"a strange sign in a role", `"role":"toolResult"`, "\"role\":\"tool\uFFFDResult\"", "EVENT_INVALID word error 4", "\"tool\uFFFDResult\"", `"toolResult"`},
		{"an unknown type", `{"type":"message","id":"d"`, `{"type":"massage","id":"d"`, "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			i := strings.LastIndex(log, c.old)
			if i < 0 {
				t.Fatal("nothing is damaged")
			}
			text := log[:i] + c.with + log[i+len(c.old):]
			m := mendPi(t, piPath, "", text)
			want := text
			switch {
			case c.name == "no usage":
				k := strings.LastIndex(text, `"role":"assistant"`) + len(`"role":"assistant"`)
				want = text[:k] + `,"usage":` + zero + text[k:]
			case c.old2 != "":
				want = strings.Replace(text, c.old2, c.mended, 1)
			}
			if got := said(m.before); got != c.want || m.fixed != want {
				t.Errorf("%s, want %s\n%s\nwant\n%s", got, c.want, m.fixed, want)
			}
			if v := view(m.fixed, true); c.want != "" && v != "a b c d" {
				t.Errorf("the client sees %s", v)
			}
		})
	}
}
