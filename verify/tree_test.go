package verify_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format/toy"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/verify"
)

// judgeTree verifies a log of the second toy, given in its shorthand, as a client reads it.
func judgeTree(t testing.TB, client toy.TreeDialect, short string) *verify.Result {
	t.Helper()
	text := toy.TreeLog(short)
	in := verify.Input{
		Path: "x" + toy.TreeSuffix, R: strings.NewReader(text), Size: int64(len(text)), Medium: scan.Lines,
		Format: toy.Tree{}, Dialect: client,
	}
	res, err := verify.Session(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range res.Findings {
		if f.Off < 0 || f.Len <= 0 || f.End() > int64(len(text)) || f.Off != f.Text || f.Record.Off != f.Off {
			t.Errorf("%s stands at %d, %d bytes, in a file of %d", f.Code, f.Off, f.Len, len(text))
		}
	}
	return res
}

// planned is what verify asks repair to add, by the lines of the records that it is about.
func planned(res *verify.Result) string {
	var out []string
	for _, c := range res.Changes {
		var s string
		switch c.Kind {
		case verify.Retell:
			s = fmt.Sprintf("retell %d", c.Rec.Logical)
			if c.Parent.Len > 0 {
				s += fmt.Sprintf(" under %d", c.Parent.Logical)
			}
			if c.Root {
				s += " under none"
			}
			for _, t := range c.Truths {
				s += fmt.Sprintf(" truth of %s in %d", t.Call, t.Rec.Logical)
			}
			for _, m := range c.Mends {
				s += " (" + m.Word + ")"
			}
			if s == fmt.Sprintf("retell %d", c.Rec.Logical) {
				continue // it was hung elsewhere, and is no longer
			}
		case verify.Bridge:
			s = fmt.Sprintf("bridge from %d to %d", c.Parent.Logical, c.Child.Logical)
		case verify.Answer:
			s = fmt.Sprintf("answer %s in %d", c.Call.ID, c.Rec.Logical)
			if c.Child.Len > 0 {
				s += fmt.Sprintf(" over %d", c.Child.Logical)
			}
		case verify.Point:
			s = fmt.Sprintf("point %d", c.Rec.Logical)
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// The shorthand is that of toy.TreeLog. Times grow by ten from record to record.
func TestTreeHealthy(t *testing.T) {
	for _, c := range []struct{ name, log, want string }{
		{"a talk", "user u - | say a u | user v a | say b v", ""},
		{"notes between", "note n - | user u n | note o u | say a o | note p a", ""},
		{"parallel calls, results as siblings", "user u - | say a u +c1 +c2 | res r a =c1 | res s a =c2 | say b s", ""},
		{"results in the other order", "user u - | say a u +c1 +c2 | res s a =c2 | res r a =c1 | say b r", ""},
		{"one record of results", "user u - | say a u +c1 +c2 | res r a =c1 =c2 | say b r", ""},
		{"pieces of an answer, each with its result", "user u - | say a u g:m | say b a +c1 g:m | say c b +c2 g:m | res r b =c1 | res s c =c2 | say d s g:n", ""},
		{"a piece beside the way", "user u - | say a u +c1 g:m | say b a +c2 g:m | res s b =c2 | res r a =c1 | say d r", ""},
		{"rewound, with a tip", "user u - | say a u | user v a | say b v | user w a | say c w | tip c", ""},
		{"rewound, without", "user u - | say a u | user v a | say b v +c1 | user w a | say c w", ""},
		{"the newest under a tip", "user u - | say a u | tip a | user v a | say b v", ""},
		{"the last tip counts", "user u - | say a u | user v a | tip u | user w a | tip w", ""},
		{"a tip that names nobody", "user u - | say a u | tip a | tip zz | user v a", ""},
		{"a sub-agent's talk", "user u - | say a u +c1 | user x - side | say y x +c1 side | res z y =c1 side | res r a =c1 | say b r", ""},
		{"a log of a sub-agent", "user x - side | say y x +c1 side | res z y =c1 side | say w z side", ""},
		{"a compaction", "user u - | say a u | wall w - prior:a | sum s w | user v s | say b v", ""},
		{"a compaction that keeps", "user u - | say a u | user k a | say l k +c1 | res r l =c1 | wall w - prior:r keeps:k,l,r anchor:s | sum s w | user v s", ""},
		{"calls in front of a wall do not count", "user u - | say a u +c1 | wall w - prior:a | sum s w | user v s", ""},
		{"two compactions", "user u - | wall w - prior:u | sum s w | say a s | wall x - prior:a | sum y x | say b y", ""},
		{"a wall that names a lost parent", "user u - | say a u | wall w zz prior:a | sum s w | say b s", ""},
		{"something else hangs under a wall", "user u - | say a u | wall w - prior:a | user v w | say b v", ""},
		{"a parent that stands behind", "user u - | say a u +c1 | say b r | res r a =c1 | user v b", ""},
		{"a wall that keeps what is lost", "user u - | say a u | wall w - prior:a keeps:a,zz | sum s w", "OPEN_COMPACTION kept note 3"},
		{"told anew, the same", "user u - | say a u | user u - at:10 | user v a", "ID_REPEATED note 3"},
		{"told anew", "user u - | say a u | say a u | user v a", "ID_CONFLICT note 3"},
		{"told anew under its parent", "user u - | say a u | user v zz | say b v | user v a", "ID_CONFLICT note 5"},
		{"told anew with its content mended", "user u - | say a u empty | user v a | say a u", "ID_CONFLICT note 4"},
		{"two beginnings", "user u - | say a u | user v - fresh | say b v", ""},
		{"a stray note", "user u - | say a u | note n - | user v a", ""},
		{"the parent of the first is lost", "user u zz | say a u", "PARENT_MISSING first note 1"},
		{"a second result", "user u - | say a u +c1 | res r a =c1 | res s a =c1 | say b s", "DUP_RESULT tree note 4"},
		{"a made-up result behind the real one", "user u - | say a u +c1 | res r a =c1 | res s a ~c1 | say b s", "DUP_RESULT tree note 4"},
		{"a made-up result alone", "user u - | say a u +c1 | res r a ~c1 | say b r", ""},
		{"a void answer asks for nothing", "user u - | say x u +c1 void | say a u | user v a", ""},
		{"a void result is none", "user u - | say a u +c1 | res x a =c1 void | res r a =c1 | say b r", ""},
		{"notes alone", "note a - | note b a", ""},
		{"empty texts that are not sent", "user u - | say d u empty | say a u | user x - side empty | wall w - prior:a | sum s w | user v s", ""},
		{"an empty text that is void", "user u - | say a u | user x a empty void | user v x", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := judgeTree(t, 1, c.log)
			if got := said(res); got != c.want || res.Verdict != verify.Clean || planned(res) != "" {
				t.Errorf("%s\nverify says %s: %s; %s\nwant clean: %s", toy.TreeLog(c.log), res.Verdict, got, planned(res), c.want)
			}
		})
	}
}

func TestTreeCheckers(t *testing.T) {
	for _, c := range []struct {
		name, log, want string
		plan            string
	}{
		{"a lost parent", "user u - | say a u | user v zz | say b v", "PARENT_MISSING error 3", "retell 3 under 2"},
		{"two lost parents", "user u - | say a u | user v yy | say b v | user w zz | say c w", "PARENT_MISSING error 3, PARENT_MISSING error 5", "retell 3 under 2, retell 5 under 4"},
		{"what one record held together", "user u - | note m zz | say a zz", "PARENT_MISSING error 2, PARENT_MISSING error 3", "retell 2 under 1, retell 3 under 1, point 3"},
		{"the first, and another", "user u yy | say a u | user v zz | say b v", "PARENT_MISSING first note 1, PARENT_MISSING error 3", "retell 3 under 2"},
		{"in a sub-agent's talk", "user x - side | user u - | say y zz side | say a u", "PARENT_MISSING error 3", "retell 3 under 1, point 4"},
		{"a lost parent on a dead branch", "user u - | say a u | say d zz | user v a | say b v", "PARENT_MISSING error 3", "retell 3 under 2, point 5"},

		{"no parent", "user u - | say a u | user v - | say b v", "CHAIN_CUT error 3", "retell 3 under 2"},
		{"a note without parent, and talk below", "user u - | say a u | note n - | user v n", "CHAIN_CUT error 3", "retell 3 under 2"},
		{"no parent twice", "user u - | say a - | user v - | say b v", "CHAIN_CUT error 2, CHAIN_CUT error 3", "retell 2 under 1, retell 3 under 2"},

		{"its own parent", "user u - | say a u | user v v | say b v", "PARENT_CYCLE error 3", "retell 3 under 2"},
		{"a circle of two", "user u - | say a u | user v b | say b v", "PARENT_CYCLE error 3", "retell 3 under 2"},
		{"a circle of three", "user u - | say a u | user v c | say b v | user c b", "PARENT_CYCLE error 3", "retell 3 under 2"},
		{"two circles", "user u - | say a u | user v b | say b v | user w c | say c w", "PARENT_CYCLE error 3, PARENT_CYCLE error 5", "retell 3 under 2, retell 5 under 4"},
		{"a circle beside the way", "user u - | say a u | note x y | note y x | user v a", "PARENT_CYCLE error 3", "retell 3 under 2, point 5"},

		{"a tip on an older branch", "user u - | say a u | user v a | say b v | user w a at:5 | tip w", "WRONG_LEAF error 4", "point 4"},
		{"records out of order", "user u - | say a u | user v a at:50 | say b v at:60 | user w a at:30 | say c w at:40", "WRONG_LEAF error 4", "point 4"},
		{"the tip bears a sub-agent's mark", "user u - | say a u | user v a side | tip v", "WRONG_LEAF side error 3", "retell 3 (side), point 3"},

		{"a wall without summary", "user u - | say a u | wall w - prior:a", "OPEN_COMPACTION tail error 3", "retell 3 under 2 (border), point 2"},
		{"a wall that keeps, without summary", "user u - | say a u | wall w - prior:a keeps:a anchor:s", "OPEN_COMPACTION tail error 3", "retell 3 under 2 (border), point 2"},
		{"a wall without summary, and what was in front", "user u - | wall w - prior:zz", "OPEN_COMPACTION tail error 2", "retell 2 under 1 (border), point 1"},
		{"the summary is lost", "user u - | say a u | wall w - prior:a anchor:s | user v s | say b v | tip b", "OPEN_COMPACTION summary error 3", "bridge from 3 to 4"},
		{"the summary of two is lost", "user u - | say a u | wall w - prior:a anchor:s | user v s | say b v | user x s | say c x | tip c", "OPEN_COMPACTION summary error 3", "bridge from 3 to 4"},

		{"no result at the end", "user u - | say a u +c1 g:m", "DANGLING_CALL tail error 2", "answer c1 in 2"},
		{"none of two at the end", "user u - | say a u +c1 g:m | say b a +c2 g:m", "DANGLING_CALL tail error 2, DANGLING_CALL tail error 3", "answer c1 in 2, answer c2 in 3"},
		{"one of three at the end", "user u - | say a u +c1 +c2 +c3 g:m | res r a =c2", "DANGLING_CALL tail error 2, DANGLING_CALL tail error 2", "answer c1 in 2, answer c3 in 2"},
		{"no result in the middle", "user u - | say a u +c1 g:m | user v a | say b v g:n", "DANGLING_CALL mid error 2", "answer c1 in 2, point 4"},
		{"one of two in the middle", "user u - | say a u +c1 +c2 g:m | res r a =c1 | say b r g:n", "DANGLING_CALL mid error 2", "answer c2 in 2, point 4"},
		{"in the middle and at the end", "user u - | say a u +c1 g:m | say b a +c2 g:n", "DANGLING_CALL mid error 2, DANGLING_CALL tail error 3", "answer c1 in 2, answer c2 in 3, point 3"},
		{"the lost parent was the result", "user u - | say a u +c1 g:m | say b zz g:n", "DANGLING_CALL mid error 2, PARENT_MISSING error 3", "answer c1 in 2 over 3, point 3"},
		{"and held two", "user u - | say a u +c1 g:m | note n zz | say b zz g:n", "DANGLING_CALL mid error 2, PARENT_MISSING error 3, PARENT_MISSING error 4", "answer c1 in 2 over 3, point 4"},
		{"the lost parent was one of two results", "user u - | say a u +c1 g:m | say b a +c2 g:m | res r a =c1 | say c zz g:n", "DANGLING_CALL mid error 3, PARENT_MISSING error 5", "answer c2 in 3 over 5, point 5"},
		{"two lost results", "user u - | say a u +c1 g:m | say b yy +c2 g:n | say c zz g:o",
			"DANGLING_CALL mid error 2, PARENT_MISSING error 3, DANGLING_CALL mid error 3, PARENT_MISSING error 4", "answer c1 in 2 over 3, answer c2 in 3 over 4, point 4"},
		{"its only result is void", "user u - | say a u +c1 g:m | res r a =c1 void | say b r g:n", "DANGLING_CALL mid error 2", "answer c1 in 2, point 4"},

		{"no call", "user u - | say a u | res r a =c1 | say b r", "ORPHAN_RESULT error 3", "retell 3 (orphan c1)"},
		{"no calls", "user u - | say a u +c2 | res r a =c1 =c2 =c3 | say b r", "ORPHAN_RESULT error 3, ORPHAN_RESULT error 3", "retell 3 (orphan c1) (orphan c3)"},
		{"the answer is lost", "user u - | res r zz =c1 | say b r", "PARENT_MISSING error 2, ORPHAN_RESULT error 2", "retell 2 under 1 (orphan c1)"},
		{"its wall keeps the result alone", "user u - | say a u +c1 | res r a =c1 | wall w - prior:r keeps:r | sum s w", "ORPHAN_RESULT error 3", "retell 3 (orphan c1), point 5"},
		{"beside the way", "user u - | say a u | res r a =c1 | say b a | user v b", "ORPHAN_RESULT error 3", "retell 3 (orphan c1), retell 4 under 3"},
		{"beside the way, behind another", "user u - | say a u | res r a =c1 | res s a =c2 | say b a | user v b", "ORPHAN_RESULT error 3, ORPHAN_RESULT error 4",
			"retell 3 (orphan c1), retell 4 under 3 (orphan c2), retell 5 under 4"},
		{"beside the way of an answer with pieces", "user u - | say a u g:m | say b a +c2 g:m | res r a =c1 | res s b =c2 | say c s g:n", "ORPHAN_RESULT error 4",
			"retell 4 under 5 (orphan c1), retell 6 under 4"},

		{"the real one behind", "user u - | say a u +c1 | res r a ~c1 | res s a =c1 | say b s", "FALSE_CLOSER tree error 4", "retell 3 truth of c1 in 4, point 5"},
		{"the real one behind, on the branch that was left", "user u - | say a u +c1 | res r a ~c1 | say b r | res s a =c1 at:25", "WRONG_LEAF error 4, FALSE_CLOSER tree error 5", "retell 3 truth of c1 in 5, point 4"},
		{"two writers", "user u - | say a u +c1 | res r a ~c1 | say b r | user v b | res s a =c1 | say c s", "UNREACHABLE_WORK note 4, FALSE_CLOSER tree error 6", "retell 3 truth of c1 in 6, point 7"},
		{"two made up", "user u - | say a u +c1 | res q a ~c1 | res r a ~c1 | res s a =c1 | say b s", "FALSE_CLOSER tree error 5", "retell 3 truth of c1 in 5, point 6"},

		{"two calls, results under each", "user u - | say a u +c1 g:m | res r a =c1 | say b r +c1 g:n | res s b =c1 | user v s", "CALL_ID_REUSED paired error 4",
			"retell 4 (rename c1 c1-2), retell 5 (rename c1 c1-2)"},
		{"two calls, results by order", "user u - | say a u +c1 g:m | say b a +c1 g:n | user v b | res r v =c1 | res s r =c1 | user w s", "CALL_ID_REUSED paired error 3",
			"retell 3 (rename c1 c1-2), retell 6 (rename c1 c1-2)"},
		{"three calls", "user u - | say a u +c1 | res r a =c1 | say b r +c1 | res s b =c1 | say c s +c1 | res q c =c1 | user v q", "CALL_ID_REUSED paired error 4, CALL_ID_REUSED paired error 6",
			"retell 4 (rename c1 c1-2), retell 5 (rename c1 c1-2), retell 6 (rename c1 c1-3), retell 7 (rename c1 c1-3)"},
		{"the result tells the true id", "user u - | say a u +c1 g:m | res r a =c1 | say b r +c1 g:n | res s b =c2 | user v s", "CALL_ID_REUSED paired error 4", "retell 4 (rename c1 c2)"},

		{"an empty text", "user u - | say a u empty | user v a", "PROVIDER_REJECTS empty error 2", "retell 2 (empty)"},
		{"told anew, and still empty", "user u - | say a u empty | user v a | say a u empty", "ID_CONFLICT note 4, PROVIDER_REJECTS empty error 4", "retell 4 (empty), point 3"},
		{"an empty text that hangs elsewhere", "user u - | say a u | user v zz empty", "PARENT_MISSING error 3, PROVIDER_REJECTS empty error 3", "retell 3 under 2 (empty)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := judgeTree(t, 1, c.log)
			if got := said(res); got != c.want || res.Verdict != verify.Repairable || planned(res) != c.plan {
				t.Errorf("%s\nverify says %s: %s; %s\nwant repairable: %s; %s", toy.TreeLog(c.log), res.Verdict, got, planned(res), c.want, c.plan)
			}
		})
	}
}

func TestTreeRefused(t *testing.T) {
	for _, c := range []struct{ name, log, want string }{
		{"the first message is an answer", "say a - | user v a", "PROVIDER_REJECTS first error 1"},
		{"the first message is lost", "say a zz | user v a", "PARENT_MISSING first note 1, PROVIDER_REJECTS first error 1"},
		{"whose result is whose", "user u - | say a u +c1 g:m | say b a +c1 g:n | res r b =c1 | res s b =c1 | user v s", "CALL_ID_REUSED error 3"},
		{"one result, not under either", "user u - | say a u +c1 g:m | say b a +c1 g:n | user v b | res r v =c1", "CALL_ID_REUSED error 3"},
		{"two results that no call asks for", "user u - | say a u +c1 | res r a =c1 | say b r +c1 | res s b =c2 | res q b =c3 | user v q",
			"CALL_ID_REUSED error 4, ORPHAN_RESULT error 5, ORPHAN_RESULT error 6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := judgeTree(t, 1, c.log)
			if got := said(res); got != c.want || res.Verdict != verify.Refused {
				t.Errorf("%s\nverify says %s: %s\nwant refuse: %s", toy.TreeLog(c.log), res.Verdict, got, c.want)
			}
		})
	}
}

// A log that ends while an answer was awaited: a client that runs tools first may have run some.
func TestTreeMayHaveRun(t *testing.T) {
	for _, c := range []struct {
		client toy.TreeDialect
		log    string
		want   string
	}{
		{1, "user u - | say a u | user v a", ""},
		{2, "user u - | say a u | user v a", "MAY_HAVE_RUN tail note 3"},
		{2, "user u - | say a u", ""},
		{2, "user u - | say a u | user v a side", ""},
	} {
		res := judgeTree(t, c.client, c.log)
		if got := said(res); got != c.want || res.Verdict != verify.Clean {
			t.Errorf("%s: client %d: %s: %s, want %s", c.log, c.client, res.Verdict, got, c.want)
		}
	}
}

// What a tree's tail says, and how much of the talk is out of reach.
func TestTreeTail(t *testing.T) {
	res := judgeTree(t, 1, "user u - | say a u +c1 g:m | res r a =c1 | user v r | say b v +c2 g:n | say c b +c3 +c4 g:n | res s c =c3")
	var open []string
	for _, c := range res.Tail.Calls {
		open = append(open, c.ID+" "+c.Name+" "+c.State())
	}
	if got := strings.Join(open, ", "); !res.Open || got != "c2 sh requested, c4 sh requested" || res.Turns != 2 || res.Records != 7 {
		t.Errorf("open %t: %s; %d turns, %d records", res.Open, got, res.Turns, res.Records)
	}
	res = judgeTree(t, 1, "user u - | say a u +c1 g:m | user v a | say b v g:n")
	if res.Open || len(res.Tail.Calls) > 0 {
		t.Errorf("a call in the middle leaves the log open: %+v", res.Tail)
	}
	res = judgeTree(t, 1, "user u - | say a u | user v zz | say b v")
	if m := res.Findings[0].Message; !strings.HasSuffix(m, "reaches 2 of 4 messages") {
		t.Error(m)
	}
	res = judgeTree(t, 1, "user u - | say a u | user v a | say b v | tip b | user w a at:5 | tip w")
	if f := res.Findings[0]; fmt.Sprint(f.Lines) != "[6]" {
		t.Errorf("%+v", f)
	}
}
