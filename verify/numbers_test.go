package verify_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/verify"
)

// based lets a rollout begin in another, at a record.
func based(n int, text string) string {
	text = strings.Replace(text, `"ordinal":0`, fmt.Sprintf(`"ordinal":%d`, n), 1)
	return strings.Replace(text, `"history_mode"`, fmt.Sprintf(`"history_base":{"thread_id":"x","end_ordinal_exclusive":%d,"end_byte_offset":9},"history_mode"`, n), 1)
}

// Ordinals of paginated rollouts, in the shorthand of rollout. The header is line 1, with ordinal 0.
func TestOrdinals(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want, cure string
		next       int64
		verdict    verify.Verdict
	}{
		{"whole", "start t1 | user u | end t1", "", "", 4, verify.Clean},

		// A record of settings that repeats a number does not begin a branch: the log goes on behind the first.
		{"a stray one", "note | note | @2 set | user u | say x", "SEQ_DUP error 4", "drop 4", 5, verify.Repairable},
		{"a stray one behind talk", "user u | say x | @2 set | user v", "SEQ_DUP error 4", "drop 4", 4, verify.Repairable},
		{"two stray ones", "user u | say x | @1 set | @2 set y | @3 user v", "SEQ_DUP error 4, SEQ_DUP error 5", "drop 4", 4, verify.Repairable},
		{"a stray end of a turn", "start t1 | user u | @2 end t1 | say x | end t1", "SEQ_DUP error 4", "drop 4", 5, verify.Repairable},
		{"stray ones in two places", "user u | @1 set | user v | say x | @3 set | user w", "SEQ_DUP error 3, SEQ_DUP error 6", "drop 3, drop 6", 5, verify.Repairable},
		{"a stray copy", "note | set x | @2 set x | user u", "SEQ_DUP error 4", "drop 4", 4, verify.Repairable},
		{"a stray one at the end", "user u | say x | @2 set", "SEQ_FORK bookkeeping error 4", "drop 4", 3, verify.Repairable},
		{"a stray one in front of a gap", "user u | say x | @2 set | @5 user v", "SEQ_FORK bookkeeping error 4, SEQ_GAP note 5", "drop 4", 6, verify.Repairable},
		{"bookkeeping, then talk of its own", "note | note | @2 user u | say x", "SEQ_FORK bookkeeping error 4", "drop 3", 4, verify.Repairable},
		{"talk repeats", "user u | say x | @2 say y | user v", "SEQ_FORK talk error 4", "", 3, verify.Refused},
		{"settings, and then talk of its own", "user u | say x | @1 set | say y | say z | end t1", "SEQ_FORK talk error 4", "", 3, verify.Refused},
		{"an older number, whose neighbours leave another", "user u | say x | @1 user v | @4 say y", "SEQ_MISSING exact warning 4", "", 5, verify.Repairable},
		{"two of them", "user u | say x | @1 user v | set | @5 say y", "SEQ_MISSING exact warning 4, SEQ_MISSING exact warning 5", "", 6, verify.Repairable},
		{"one, and the log goes on behind a gap", "user u | say x | @1 user v | @9 say y", "SEQ_FORK talk error 4, SEQ_GAP note 5", "", 10, verify.Refused},
		{"a stray one, then talk repeats", "user u | say x | @2 set | user v | @3 user w", "SEQ_DUP error 4, SEQ_FORK talk error 6", "drop 4", 4, verify.Refused},

		// Records without a number.
		{"in the middle", "user u | ~say x | @3 end t1", "SEQ_MISSING exact note 3", "", 4, verify.Clean},
		{"in the middle, not exact", "user u | ~say x | @5 end t1", "SEQ_MISSING note 3, SEQ_GAP note 4", "", 6, verify.Clean},
		{"at the end", "user u | ~say x", "SEQ_MISSING tail error 3", "", 3, verify.Repairable},
		{"several at the end", "user u | ~say x | ~user v | ~say y", "SEQ_MISSING tail error 3, SEQ_MISSING tail error 4, SEQ_MISSING tail error 5", "", 5, verify.Repairable},
		{"in the middle and at the end", "user u | ~say x | @3 user v | ~say y", "SEQ_MISSING exact note 3, SEQ_MISSING tail error 5", "", 5, verify.Repairable},
		{"behind a gap", "user u | @4 say x | ~user v", "SEQ_GAP note 3, SEQ_MISSING tail error 4", "", 6, verify.Repairable},
		{"behind a stray one", "user u | say x | @2 set | ~user v", "SEQ_FORK bookkeeping error 4, SEQ_MISSING tail error 5", "drop 4", 4, verify.Repairable},
		{"an open call among them", "user u | ~call c1", "SEQ_MISSING tail error 3, DANGLING_CALL tail warning 3", "close c1 in 3", 3, verify.Repairable},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := judgeRollout(t, rollout("paginated", c.text))
			if got := said(res); got != c.want || res.Verdict != c.verdict || cured(res) != c.cure || res.Tail.NextSeq != c.next {
				t.Errorf("%s\nverify says %s: %s; %s; next %d\nwant        %s: %s; %s; next %d", c.text, res.Verdict, got, cured(res), res.Tail.NextSeq, c.verdict, c.want, c.cure, c.next)
			}
		})
	}
}

// What is expected and what stands there, and how much leaves the log.
func TestStrays(t *testing.T) {
	text := rollout("paginated", "user u | say x | @1 set | @2 set y | @3 user v")
	lines := strings.SplitAfter(text, "\n")
	at := func(n int) int64 { return int64(len(strings.Join(lines[:n], ""))) }
	res := judgeRollout(t, text)
	if len(res.Findings) != 2 || len(res.Drops) != 1 {
		t.Fatalf("%+v", res)
	}
	for i, f := range res.Findings {
		if f.Code != finding.SeqDup || f.Off != at(3+i) || f.Expected != 3 || f.Got != int64(1+i) || !f.Numbered || len(f.Branches) > 0 {
			t.Errorf("%+v", f)
		}
	}
	if d := res.Drops[0]; d.Off != at(3) || d.End() != at(5)-1 || d.Records != 2 || d.Code != finding.SeqDup {
		t.Errorf("%+v", d)
	}
	// Where the format does not say so, the log does not go on behind the first of them.
	if res := judge(t, toyLog(1, "user | note one | @1 note two | @2 user")); said(res) != "SEQ_FORK bookkeeping error 4" || len(res.Drops) != 1 || res.Drops[0].Logical != 3 {
		t.Errorf("%s %+v", said(res), res.Drops)
	}
	// Without numbers nothing is a repetition.
	if res := judgeRollout(t, rollout("legacy", "user u | say x | set | set")); len(res.Findings) > 0 {
		t.Error(said(res))
	}
}

// counter counts how often the first byte is read.
type counter struct {
	*strings.Reader
	n int
}

func (c *counter) ReadAt(b []byte, off int64) (int, error) {
	if off == 0 {
		c.n++
	}
	return c.Reader.ReadAt(b, off)
}

// A healthy log is read once, wherever it begins.
func TestReadOnce(t *testing.T) {
	for _, text := range []string{rollout("paginated", "user u | say x"), based(5, rollout("paginated", "@6 user u | say x"))} {
		in := rolloutInput(t, rolloutPath, text)
		c := &counter{Reader: strings.NewReader(text)}
		in.R = c
		if res, err := verify.Session(context.Background(), in); err != nil || res.Verdict != verify.Clean || c.n != 1 {
			t.Errorf("read %d times, %v", c.n, err)
		}
	}
}

// A rollout that begins in another counts from there on.
func TestRebased(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       string
		next       int64
	}{
		{"whole", based(5, rollout("paginated", "@6 user u | say x")), "", 8},
		{"from far behind", based(1<<40, rollout("paginated", fmt.Sprintf("@%d user u | say x", 1<<40+1))), "", 1<<40 + 3},
		{"a gap behind the header", based(5, rollout("paginated", "@7 user u | say x")), "SEQ_GAP note 2", 9},
		{"a stray one", based(5, rollout("paginated", "@6 user u | @6 set | @7 say x")), "SEQ_DUP error 3", 8},
		{"at the end", based(5, rollout("paginated", "@6 user u | ~say x")), "SEQ_MISSING tail error 3", 8},
		{"from the start", based(0, rollout("paginated", "user u | say x")), "", 3},
		{"another number than its base's end", strings.Replace(based(5, rollout("paginated", "@7 user u | say x")), `"ordinal":5`, `"ordinal":6`, 1), "LINEAGE_BROKEN ordinal note 1", 9},
	} {
		res := judgeRollout(t, c.text)
		if got := said(res); got != c.want || res.Tail.NextSeq != c.next {
			t.Errorf("%s: %s, next %d; want %s, next %d", c.name, got, res.Tail.NextSeq, c.want, c.next)
		}
	}
}
