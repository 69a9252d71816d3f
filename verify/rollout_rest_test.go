package verify_test

import (
	"strings"
	"testing"

	"github.com/sessfix/sessfix/verify"
)

// A copy, byte for byte, of an earlier record is no record with a wrong number, though a number is free there.
func TestRolloutCopyInAGap(t *testing.T) {
	l := strings.SplitAfter(rollout("paginated", "user u | say x | user v | say y | user w"), "\n")
	res, out, err := pinned(t, l[0]+l[1]+l[2]+l[1]+l[4]+l[5], at(-1))
	if err != nil || strings.Count(out, `"text":"u"`) != 1 || !strings.Contains(said(res), "SEQ_GAP") {
		t.Errorf("%s, %v\n%s", said(res), err, out)
	}
}

// A late header that also lacks a member.
func TestRolloutLateAndLacking(t *testing.T) {
	for _, g := range []string{"legacy", "paginated"} {
		l := strings.SplitAfter(rollout(g, "start t1 | ctx | user u | end t1"), "\n")
		if res, _, err := pinned(t, l[1]+strings.Replace(l[0], `"originator":"o",`, "", 1)+strings.Join(l[2:], ""), at(-1)); err != nil {
			t.Errorf("%s: %s: %s, %v", g, res.Verdict, said(res), err)
		}
	}
}

// A call asked for again behind the prompt that was taken back with it is the only one that is sent.
func TestRolloutAgainBehindRollback(t *testing.T) {
	res := judgeRollout(t, rollout("legacy", "prompt | call c1 | back 1 | prompt | call c1"))
	if len(res.Drops) > 0 || res.Close == nil || len(res.Close.Calls) != 1 || res.Close.Calls[0].Asked.Logical != 6 {
		t.Errorf("%s; %s", said(res), cured(res))
	}
}

// Ordinals at the end are put in where nobody counts the records, and are an offer where somebody does.
func TestRolloutCountedTail(t *testing.T) {
	text := rollout("paginated", "start t1 | user u | ~say x | ~end t1")
	res, out, err := pinned(t, text, at(len(text)))
	if err := moved(text, out, int64(len(text))); err != nil || res.Verdict != verify.Refused {
		t.Errorf("%s: %s, %v", res.Verdict, said(res), err)
	}
	_ = err
}

// A renamed rollout with a blank line in front is a renamed one, and has its header.
func TestRolloutRenamedBehindBlank(t *testing.T) {
	for _, g := range []string{"legacy", "paginated"} {
		text := "\n" + strings.ReplaceAll(rollout(g, "start t1 | ctx | user u | end t1"), "000000000001", "000000000002")
		if res, _, err := pinned(t, text, at(-1)); err != nil || strings.Contains(said(res), "HEADER_MISSING") {
			t.Errorf("%s: %s: %s, %v", g, res.Verdict, said(res), err)
		}
	}
}

// An output that stands in front of its call and again behind it, the same, is a copy.
func TestRolloutEarlyCopy(t *testing.T) {
	if res, _, err := pinned(t, rollout("legacy", "out c1 x | call c1 | out c1 x"), nil); err != nil || res.Verdict != verify.Repairable {
		t.Errorf("%s: %s, %v", res.Verdict, said(res), err)
	}
}

// Without its last newline a legacy rollout is mended like any other.
func TestRolloutEarlyUnterminated(t *testing.T) {
	if res, _, err := pinned(t, strings.TrimSuffix(rollout("legacy", "out c1 x | user u | call c1"), "\n"), nil); err != nil || res.Verdict != verify.Repairable {
		t.Errorf("%s: %s, %v", res.Verdict, said(res), err)
	}
}

// What is only told does not hide what is to be mended, however much of it there is.
func TestRolloutBehindMany(t *testing.T) {
	for log, want := range map[string]verify.Verdict{
		many(300, "call d# | say x") + " | call c1":                                   verify.Repairable,
		"call c1 x | call c1 y | " + many(300, "call c1 #") + " | out c1 | out c1 x":  verify.Refused,
		many(300, "call d# | out d# | out d#") + " | call c1 | out c1 | out c1 other": verify.Refused,
		many(300, "call d# | out d# | call d# 2") + " | call c1 | out c1 | call c1":   verify.Repairable,
		many(300, "out d#") + " | out c1 | call c1 | say x":                           verify.Refused,
	} {
		if res := judgeRollout(t, rollout("paginated", log)); res.Verdict != want {
			t.Errorf("%.60s …: %s, want %s: %.200s", log, res.Verdict, want, said(res))
		}
	}
}
