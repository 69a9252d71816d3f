package verify_test

import (
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format/toy"
	"github.com/sessfix/sessfix/verify"
)

// Client 3 hangs what is under an odd record, which it does not see, under the newest node that is at most 50 ms older. What it
// finds so is no fault.
func TestTreeHealedByClient(t *testing.T) {
	for _, c := range []struct{ name, log string }{
		{"near", "user u - | say a u | odd x a | user v x | say b v"},
		{"as near as can be", "user u - | say a u at:20 | odd x a | user v x at:70 | say b v at:80"},
		{"at the same time", "user u - | say a u at:20 | odd x a at:20 | user v x at:20 | say b v"},
		{"two in a row", "user u - | say a u | odd x a | odd y x | user v y | say b v"},
		{"twice", "user u - | say a u | odd x a | user v x | say b v | odd y b | user w y"},
		{"beside the way, far", "user u - | say a u | odd x a | user v a at:900 | say b v at:910"},
		{"a branch that was left, far", "user u - | say a u | odd x a | user w x at:900 | say c w at:910 | user v a at:920 | say b v at:930"},
		{"the last record", "user u - | say a u | odd x a at:900"},
		{"the first record", "odd x - | user u x at:900 | say a u at:910"},
		{"under a note", "user u - | say a u | note n a at:500 | odd x n at:505 | user v x at:510 | say b v at:520"},
		{"a note below it", "user u - | say a u | odd x a | note n x | user v n at:900"},
		{"a tick below it", "user u - | say a u | odd x a | tick p x at:900 | user v p at:60 | say b v at:70"},
		{"a tick above it", "user u - | say a u | tick p a | odd x p | user v x | say b v"},
		{"a result beside the way, far", "user u - | say a u +c1 g:m | say b a +c2 g:m | odd x a | res r x =c1 at:900 | res s b =c2 at:910 | say d s g:n at:920"},
		{"above a compaction, far", "user u - | say a u | odd x a | user v x at:900 | wall w - prior:v at:910 | sum s w at:920 | user y s at:930"},
		{"a sub-agent's", "user u - | say a u | odd x a side | user v x | say b v"},
		{"named by a tip", "user u - | say a u | odd x a | user v x | say b v | tip x"},
		{"below a tip", "user u - | say a u | odd x a | user v x | say b v | tip b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := judgeTree(t, 3, c.log)
			if got := said(res); got != "" || res.Verdict != verify.Clean || planned(res) != "" {
				t.Errorf("%s\nverify says %s: %s; %s", toy.TreeLog(c.log), res.Verdict, got, planned(res))
			}
		})
	}
}

func TestTreeNotHealed(t *testing.T) {
	for _, c := range []struct{ name, log, want, plan, does string }{
		{"far", "user u - | say a u at:20 | odd x a | user v x at:71 | say b v at:80", "CHAIN_CUT opaque error 4", "retell 4 under 2", "stops there"},
		{"far by the time of what hangs under it", "user u - | say a u | odd x a at:890 | user v x at:900", "CHAIN_CUT opaque error 4", "retell 4 under 2", "stops there"},
		{"two in a row", "user u - | say a u | odd x a | odd y x | user v y at:900", "CHAIN_CUT opaque error 5", "retell 5 under 2", "stops there"},
		{"the second of two", "user u - | say a u | odd x a | user v x | say b v | odd y b | user w y at:900", "CHAIN_CUT opaque error 7", "retell 7 under 5", "stops there"},
		{"the first of two", "user u - | say a u | odd x a | user v x at:900 | say b v at:910 | odd y b | user w y at:920", "CHAIN_CUT opaque error 4", "retell 4 under 2, point 7", "stops there"},
		{"another branch is newer", "user u - | say a u | user d u at:25 | odd x a | user v x | say b v", "CHAIN_CUT opaque error 5", "retell 5 under 2", "goes on with line 3 instead"},
		{"a note without parent is newer", "user u - | say a u | note n - at:25 | odd x a | user v x | say b v", "CHAIN_CUT opaque error 5", "retell 5 under 2", "goes on with line 3 instead"},
		{"another below it", "user u - | say a u | odd x a | user d x | user v x | say b v", "CHAIN_CUT opaque error 5", "retell 5 under 2", "goes on with line 4 instead"},
		{"below a tip that does not reach there", "user u - | say a u | tip a | odd x a | user v x | say b v", "CHAIN_CUT opaque error 5", "retell 5 under 2, point 6", "finds no way past it"},
		{"a note below it, far", "user u - | say a u | odd x a | note n x at:900 | user v n at:910", "CHAIN_CUT opaque error 4", "retell 4 under 2", "stops there"},
		{"a tick below it, and what hangs under that is far", "user u - | say a u | odd x a | tick p x | user v p at:900", "CHAIN_CUT opaque error 4", "retell 4 under 2, retell 5 under 2, point 5", "stops there"},
		{"only a tick is near", "user u - | say a u | tick p a at:880 | odd x p at:890 | user v x at:900", "CHAIN_CUT opaque error 5", "retell 5 under 3", "stops there"},
		{"a compaction's summary, far", "user u - | wall w - prior:u | sum s w | odd x s | user v x at:900", "CHAIN_CUT opaque error 5", "retell 5 under 3", "stops there"},
		{"the branch to go on from", "user u - | say a u | odd x a | user v x at:900 | say b v at:910 | user w a at:50 | tip w", "CHAIN_CUT opaque error 4, WRONG_LEAF error 5", "retell 4 under 2, point 5", "stops there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := judgeTree(t, 3, c.log)
			if got := said(res); got != c.want || res.Verdict != verify.Repairable || planned(res) != c.plan {
				t.Errorf("%s\nverify says %s: %s; %s\nwant repairable: %s; %s", toy.TreeLog(c.log), res.Verdict, got, planned(res), c.want, c.plan)
			}
			if m := res.Findings[0].Message; !strings.Contains(m, "and it "+c.does) {
				t.Errorf("%s, want: %s", m, c.does)
			}
		})
	}
	// A client that does not heal loses what is near, too.
	res := judgeTree(t, 1, "user u - | say a u | odd x a | user v x | say b v")
	if got := said(res); got != "CHAIN_CUT opaque error 4" || planned(res) != "retell 4 under 2" {
		t.Errorf("client 1: %s; %s", got, planned(res))
	}
	if m := res.Findings[0].Message; !strings.HasSuffix(m, "reaches 2 of 4 messages") {
		t.Error(m)
	}
}

// A record without its parent is mended however near another is; where none is, that is said. What hangs under a record that is
// taken out is told anew itself.
func TestTreeFar(t *testing.T) {
	for _, c := range []struct{ log, want, plan string }{
		{"user u - | say a u | user v zz", "PARENT_MISSING error 3", "retell 3 under 2"},
		{"user u - | say a u | user v zz at:900", "PARENT_MISSING far error 3", "retell 3 under 2"},
		{"user u - | say a u | tick p zz | user v p | say b v", "PARENT_MISSING error 3", "retell 3 under 2, retell 4 under 2, point 5"},
		{"user u - | say a u | tick p q | tick q p | odd x a | user v x", "PARENT_CYCLE error 3", "retell 3 under 2, point 6"},
		{"user u - | say a u | tick p - | tick q p | user v q | say b v", "CHAIN_CUT error 3", "retell 3 under 2, retell 5 under 2"},
	} {
		res := judgeTree(t, 3, c.log)
		if got := said(res); got != c.want || planned(res) != c.plan {
			t.Errorf("%s: %s; %s\nwant %s; %s", c.log, got, planned(res), c.want, c.plan)
		}
	}
}

// What is told anew stands last in the file: where a record names the place to go on from and it is not the leaf, one is added that does.
func TestTreePoints(t *testing.T) {
	for _, c := range []struct{ log, plan string }{
		{"user u - | say a u | tip a | user v zz | say b v", "retell 4 under 2, point 5"},
		{"user u - | say a u | tip zz | user v zz | say b v", "retell 4 under 2, point 5"},
		{"user u - | say a u | user v zz | say b v | tip b", "retell 3 under 2"},
		{"user u - | say a u | user v zz | say b v", "retell 3 under 2"},
		{"user u - | say a u | user v zz at:99 | say b v at:98", "retell 3 under 2, point 4"},
	} {
		if got := planned(judgeTree(t, 1, c.log)); got != c.plan {
			t.Errorf("%s: %s, want %s", c.log, got, c.plan)
		}
	}
}
