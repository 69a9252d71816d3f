package verify_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/codex"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// A compaction whose history repeats a call or an output is no copy of itself.
func TestRolloutCompactionTwins(t *testing.T) {
	for _, log := range []string{"call c1 | out c1 | pack +c1 =c1 =c1 | say x", "call c1 | out c1 | pack +c1 =c1 +c1 | say x", "pack +c1 +c1 =c1 | say x"} {
		for _, g := range []string{"legacy", "paginated"} {
			text := rollout(g, log)
			res, out, err := pinned(t, text, at(-1))
			if err != nil || len(res.Drops) > 0 || !strings.Contains(out, `"compacted"`) {
				t.Errorf("%s, %s: %s: %s; %v", g, log, res.Verdict, said(res), err)
			}
		}
	}
}

// Copies beyond the 200th are still taken out.
func TestRolloutManyCopies(t *testing.T) {
	for _, log := range []string{many(300, "call c# | out c# | out c#"), "call c | out c | " + many(300, "out c"), many(300, "call c# | call c# | out c#"), many(300, "call c# | made c# | out c#")} {
		if res, _, err := pinned(t, rollout("legacy", log), nil); err != nil || res.Verdict != verify.Repairable {
			t.Errorf("%.40s: %s, %v", log, res.Verdict, err)
		}
	}
}

// A real result in front of its call is known however many orphans there were.
func TestRolloutManyEarly(t *testing.T) {
	for _, log := range []string{many(300, "out c# | call c#") + " | say x", many(300, "out d#") + " | out c1 | call c1"} {
		res := judgeRollout(t, rollout("legacy", log))
		if len(res.Inserts) > 0 || res.Close != nil {
			t.Errorf("%.40s: %d results are made up, close %+v", log, len(res.Inserts), res.Close)
		}
	}
}

// A late header goes to the front, whatever its ordinal.
func TestRolloutLateHeader(t *testing.T) {
	for _, g := range []string{"legacy", "paginated"} {
		l := strings.SplitAfter(rollout(g, "start t1 | ctx | user u | say x | end t1"), "\n")
		whole := strings.Join(l, "")
		flawed := strings.Replace(l[0], `"originator":"o"`, "\"originator\":\"\xff\"", 1)
		for name, text := range map[string]string{
			"second": l[1] + l[0] + strings.Join(l[2:], ""), "third": l[1] + l[2] + l[0] + strings.Join(l[3:], ""), "last": strings.Join(l[1:], "") + l[0],
			"glued": l[1] + strings.TrimSuffix(l[0], "\n") + strings.Join(l[2:], ""), "flawed": l[1] + flawed + strings.Join(l[2:], ""),
		} {
			res, out, err := pinned(t, text, at(-1))
			want := whole
			if name == "flawed" {
				want = strings.Replace(whole, `"originator":"o"`, "\"originator\":\"\uFFFD\"", 1)
			}
			if err != nil || strings.ReplaceAll(out, "\n\n", "\n") != want {
				t.Errorf("%s, %s: %s: %s, %v\n%s", g, name, res.Verdict, said(res), err, out)
			}
		}
	}
}

// An object inside of a torn header does not make a rollout one of the oldest.
func TestRolloutTornHeaderIsNoBareOne(t *testing.T) {
	text := rollout("paginated", "start t1 | ctx | user u | end t1")
	head, rest, _ := strings.Cut(text, "\n")
	for name, text := range map[string]string{
		"its last byte": head[:len(head)-1] + "\n" + rest, "its last byte, glued": head[:len(head)-1] + rest,
		"its beginning": strings.Repeat("\x00", 60) + head[60:] + "\n" + rest,
	} {
		res, out, err := pinned(t, text, at(-1))
		if err != nil || res.Version != "paginated" || !strings.HasSuffix(out, "\n"+rest) || !strings.HasPrefix(out, `{"timestamp":`) {
			t.Errorf("%s: %s %s: %s, %v\n%s", name, res.Version, res.Verdict, said(res), err, out)
		}
	}
}

// Ids that closers repeat are those of the mended records.
func TestRolloutFlawedIDs(t *testing.T) {
	for _, g := range []string{"legacy", "paginated"} {
		for _, log := range []string{"start t\xff1 | user u", "start t\x021 | user u", "start t\xff1 | user u | end t\xff1", "call c\xff1", "start t1 r\xff | user u"} {
			if res, _, err := pinned(t, rollout(g, log), at(-1)); err != nil {
				t.Errorf("%s, %q: %s: %s, %v", g, log, res.Verdict, said(res), err)
			}
		}
		if res, _, err := pinned(t, rollout(g, "call c\xff1"), nil); err != nil {
			t.Errorf("%s, pinned: %s, %v", g, said(res), err)
		}
	}
}

// What others count is not cut away at the end either.
func TestRolloutPinnedEnd(t *testing.T) {
	text := rollout("paginated", "start t1 | user u | end t1") + "{\"timestamp\":\"torn\n"
	if res, out, err := pinned(t, text, at(len(text))); err != nil || len(out) != len(text) {
		t.Errorf("%s, %v: %d of %d bytes are left", said(res), err, len(out), len(text))
	}
}

// A header is written anew of what the first records say, once their bytes are mended.
func TestRolloutReheaderOfFlawed(t *testing.T) {
	for _, g := range []string{"legacy", "paginated"} {
		_, rest, _ := strings.Cut(rollout(g, "start t1 | ctx | user u | end t1"), "\n")
		for _, bad := range []string{strings.Replace(rest, "2026-01", "2026\xff01", 1), strings.Replace(rest, "/w", "/\xffw", 1), strings.Replace(rest, "2026-01", "2026\x0001", 1)} {
			if res, _, err := pinned(t, bad, at(-1)); err != nil {
				t.Errorf("%s: %s: %s, %v", g, res.Verdict, said(res), err)
			}
		}
	}
}

// A header's id with a byte that is no UTF-8 is replaced as a whole.
func TestRolloutFlawedHeaderID(t *testing.T) {
	text := strings.Replace(rollout("paginated", "start t1 | user u | end t1"), `"id":"01`, "\"id\":\"\xff1", 1)
	if res, _, err := pinned(t, text, at(-1)); err != nil {
		t.Errorf("%s: %s, %v", res.Verdict, said(res), err)
	}
}

// Of a packed rollout a finding says where the frame stands, and not where its text does.
func TestRolloutPackedOffset(t *testing.T) {
	var z []byte
	for _, l := range strings.SplitAfter(rollout("paginated", "call c1 | made c1 | out c1 | "+many(20, "say "+strings.Repeat("x", 300))), "\n") {
		if l != "" {
			z = scan.EncodeFrame(z, []byte(l))
		}
	}
	r := strings.NewReader(string(z))
	s, err := store.Recognise(context.Background(), rolloutPath+".zst", r, r.Size(), store.Options{Formats: []format.Format{codex.Format{}}})
	if err != nil {
		t.Fatal(err)
	}
	res, err := verify.Session(context.Background(), verify.InputOf(s, r, r.Size()))
	if err != nil || len(res.Findings) == 0 {
		t.Fatal(err)
	}
	for _, f := range res.Findings {
		if f.Code == "DUP_RESULT" && (f.Frame != 3 || f.Off == f.Text) {
			t.Errorf("%s", fmt.Sprintf("%+v", f.Span))
		}
	}
}

// A record of the header's kind with a bad letter in its type is still the header.
func TestRolloutFlawedHeaderType(t *testing.T) {
	for _, bad := range []string{"session_m\xffta", "session_m\neta"} {
		text := strings.Replace(rollout("paginated", "start t1 | ctx | user u | end t1"), "session_meta", bad, 1)
		if res, _, err := pinned(t, text, at(-1)); err != nil {
			t.Errorf("%q: %s: %s, %v", bad, res.Verdict, said(res), err)
		}
	}
}
