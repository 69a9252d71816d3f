package verify_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/session"
	"github.com/sessfix/sessfix/verify"
)

// classes are the words for classes of calls in codex rollouts.
var classes = [...]string{1: "", 2: "custom ", 3: "search "}

// called names a call, by the lines that ask for it and say how it ended.
func called(c session.Call) string {
	s := fmt.Sprintf("%s%s in %d", classes[c.Class], c.ID, c.Asked.Logical)
	if c.Finished.Len > 0 {
		s += fmt.Sprintf(" ended in %d", c.Finished.Logical)
	}
	return s
}

// cured is what verify asks repair to do about calls and turns.
func cured(res *verify.Result) string {
	var out []string
	for _, c := range res.Inserts {
		out = append(out, "insert "+called(c))
	}
	if res.Close != nil {
		for _, c := range res.Close.Calls {
			out = append(out, "close "+called(c))
		}
		if t := res.Close.TurnID; t != "" {
			out = append(out, strings.TrimSpace("end "+t+" "+res.Close.RootTurn))
		}
	}
	for _, m := range res.Moves {
		out = append(out, fmt.Sprintf("move %d behind %d", m.From.Logical, m.Behind.Logical))
	}
	for _, d := range res.Drops {
		out = append(out, fmt.Sprintf("drop %d", d.Logical))
	}
	return strings.Join(out, ", ")
}

// The shorthand is that of rollout. The header is line 1.
func TestListHealthy(t *testing.T) {
	for _, c := range []struct{ name, log string }{
		{"a talk", "start t1 | user u | prompt | say x | end t1"},
		{"a call of each class", "start t1 | call c1 | out c1 | shell c2 | out c2 | custom c3 | cout c3 | search c4 | found c4 | say x | end t1"},
		{"parallel calls", "start t1 | call c1 | shell c2 | custom c3 | cout c3 | out c2 | out c1 | end t1"},
		{"one id in two classes", "start t1 | call c1 | custom c1 | cout c1 | out c1 | end t1"},
		{"an output behind other talk", "start t1 | call c1 | user u | say x | out c1 | end t1"},
		{"an output in a later turn", "start t1 | call c1 | end t1 | start t2 | out c1 | end t2"},
		{"calls that the service answers", "start t1 | server c1 | web c2 | server-found c3 | say x | end t1"},
		{"a call without an id", "start t1 | call | out | end t1"},
		{"a compaction of answered calls", "start t1 | call c1 | out c1 | end t1 | pack | user u | say x"},
		{"a compaction that keeps a call and its output", "call c1 | out c1 | pack +c1 =c1 | say x"},
		{"a compaction that keeps a call, and its output behind it", "call c1 | out c1 | pack +c1 | out c1 | say x"},
		{"a compaction that keeps an output alone", "pack =c1 | say x"},
		{"a compaction with calls of two classes", "pack +c1 *c1 =c1 | cout c1 | say x"},
		{"calls with an id of before the compaction", "call c1 | out c1 | pack | call c1 x | out c1 x"},
		{"two compactions", "call c1 | out c1 | pack +c1 =c1 | call c2 | out c2 | pack +c2 =c2 | say x"},
		{"an older compaction", "call c1 | out c1 | summary | user u | say x"},
		{"a turn that belongs to another", "start t1 t0 | end t1"},
		{"a turn in the middle that is open", "start t1 | user u | start t2 | say x | end t2"},
		{"a turn that ends twice", "start t1 | end t1 | end t1"},
		{"a turn that ends without a name", "start t1 | end"},
		{"an end alone", "end t1 | user u"},
		{"a turn without a name is left open", "start | user u"},
		{"a made-up output", "start t1 | call c1 | made c1 | end t1"},
		{"one of ours", "start t1 | call c1 | ours c1 | abort t1"},
		{"a finished item beside the output", "start t1 | call c1 | ran c1 | out c1 | end t1"},
		{"a finished item behind the turn", "start t1 | call c1 | out c1 | end t1 | start t2 | end t2 | ran c1"},
		{"a finished item that nobody asked for", "start t1 | ran c9 | patched c8 | shown c7 | end t1"},
	} {
		for _, generation := range []string{"legacy", "paginated"} {
			res := judgeRollout(t, rollout(generation, c.log))
			if got := said(res); got != "" || res.Verdict != verify.Clean || cured(res) != "" {
				t.Errorf("%s, %s: %s\nverify says %s: %s; %s", generation, c.name, c.log, res.Verdict, got, cured(res))
			}
		}
	}
}

func TestList(t *testing.T) {
	for _, c := range []struct {
		name, generation, log string
		want, cure            string
		verdict               verify.Verdict
	}{
		// Calls at the end.
		{"open at the end", "legacy", "start t1 | user u | call c1", "OPEN_TURN tail warning 2, DANGLING_CALL tail warning 4", "close c1 in 4, end t1", verify.Repairable},
		{"open at the end", "paginated", "start t1 | user u | call c1", "OPEN_TURN tail warning 2, DANGLING_CALL tail warning 4", "close c1 in 4, end t1", verify.Repairable},
		{"open at the end", "bare", "user u | call c1", "VERSION_OLD note 1, DANGLING_CALL tail warning 3", "close c1 in 3", verify.Repairable},
		{"each class", "paginated", "start t1 | call c1 | custom c2 | search c3 | shell c4 | end t1",
			"DANGLING_CALL tail warning 3, DANGLING_CALL tail warning 4, DANGLING_CALL tail warning 5, DANGLING_CALL tail warning 6",
			"close c1 in 3, close custom c2 in 4, close search c3 in 5, close c4 in 6", verify.Repairable},
		{"one of three parallel ones", "legacy", "call c1 | call c2 | call c3 | out c1 | out c3", "DANGLING_CALL tail warning 3", "close c2 in 3", verify.Repairable},
		{"bookkeeping behind it", "legacy", "call c1 | think | note | set x | ctx | prompt | shown c1 | server c2", "DANGLING_CALL tail warning 2", "close c1 in 2", verify.Repairable},
		{"the turn's end behind it", "legacy", "start t1 | call c1 | abort t1", "DANGLING_CALL tail warning 3", "close c1 in 3", verify.Repairable},
		{"an output of another class", "legacy", "call c1 | cout c1 | found c1", "DANGLING_CALL tail warning 2, ORPHAN_RESULT note 3, ORPHAN_RESULT note 4", "close c1 in 2", verify.Repairable},
		{"one id in two classes", "legacy", "call c1 | custom c1 | out c1", "DANGLING_CALL tail warning 3", "close custom c1 in 3", verify.Repairable},
		{"it ran to its end", "paginated", "start t1 | call c1 | ran c1", "OPEN_TURN tail warning 2, DANGLING_CALL tail warning 3", "close c1 in 3 ended in 4, end t1", verify.Repairable},
		{"a file was changed", "legacy", "custom c1 | patched c1", "DANGLING_CALL tail warning 2", "close custom c1 in 2 ended in 3", verify.Repairable},
		{"it ended twice", "legacy", "call c1 | ran c1 | patched c1", "DANGLING_CALL tail warning 2", "close c1 in 2 ended in 4", verify.Repairable},
		{"another ended", "legacy", "call c1 | ran c2", "DANGLING_CALL tail warning 2", "close c1 in 2", verify.Repairable},
		{"it ended before it was asked for", "legacy", "ran c1 | call c1", "DANGLING_CALL tail warning 3", "close c1 in 3", verify.Repairable},

		// Calls in the middle.
		{"talk behind it", "legacy", "start t1 | call c1 | say x | end t1", "DANGLING_CALL mid warning 3", "insert c1 in 3", verify.Repairable},
		{"talk behind it", "paginated", "start t1 | call c1 | say x | end t1", "DANGLING_CALL left note 3", "", verify.Clean},
		{"talk behind it", "bare", "call c1 | user u", "VERSION_OLD note 1, DANGLING_CALL mid warning 2", "insert c1 in 2", verify.Repairable},
		{"a user's message behind it", "legacy", "call c1 | user u", "DANGLING_CALL mid warning 2", "insert c1 in 2", verify.Repairable},
		{"a rule behind it", "legacy", "call c1 | rule r", "DANGLING_CALL mid warning 2", "insert c1 in 2", verify.Repairable},
		{"a turn behind it", "legacy", "start t1 | call c1 | start t2", "DANGLING_CALL mid warning 3, OPEN_TURN tail warning 4", "insert c1 in 3, end t2", verify.Repairable},
		{"one in the middle, one at the end", "legacy", "call c1 | say x | call c2 | call c3 | out c3", "DANGLING_CALL mid warning 2, DANGLING_CALL tail warning 4", "insert c1 in 2, close c2 in 4", verify.Repairable},
		{"one in the middle, one at the end", "paginated", "call c1 | say x | call c2", "DANGLING_CALL left note 2, DANGLING_CALL tail warning 4", "close c2 in 4", verify.Repairable},
		{"it ran to its end", "legacy", "call c1 | ran c1 | say x", "DANGLING_CALL mid warning 2", "insert c1 in 2 ended in 3", verify.Repairable},

		// Outputs in front of calls, and without.
		{"no call", "legacy", "out c1 | say x", "ORPHAN_RESULT note 2", "", verify.Clean},
		{"no call, twice", "paginated", "out c1 | out c1", "ORPHAN_RESULT note 2, ORPHAN_RESULT note 3", "", verify.Clean},
		{"the call behind it", "legacy", "out c1 | user u | call c1 | say x", "ORPHAN_RESULT early error 2", "move 2 behind 4", verify.Repairable},
		{"the call behind it", "paginated", "out c1 | call c1", "ORPHAN_RESULT before error 2", "", verify.Refused},
		{"the call behind it", "bare", "out c1 | call c1", "VERSION_OLD note 1, ORPHAN_RESULT early error 2", "move 2 behind 3", verify.Repairable},
		{"two outputs, the call behind them", "legacy", "out c1 x | out c1 y | call c1", "ORPHAN_RESULT note 2, ORPHAN_RESULT early error 3", "move 3 behind 4", verify.Repairable},
		{"the call behind it, and it is damaged", "legacy", "out c1 \xff | call c1", "ORPHAN_RESULT before error 2, BAD_UTF8 error 2", "", verify.Refused},
		{"the call behind it is damaged", "legacy", "out c1 | call c1 \xff", "ORPHAN_RESULT before error 2, BAD_UTF8 error 3", "", verify.Refused},
		{"two calls behind their outputs", "legacy", "out c2 | out c1 | call c1 | call c2", "ORPHAN_RESULT early error 2, ORPHAN_RESULT early error 3", "move 3 behind 4, move 2 behind 5", verify.Repairable},
		{"one behind its output, one open", "legacy", "out c1 | call c1 | call c2", "ORPHAN_RESULT early error 2, DANGLING_CALL tail warning 4", "close c2 in 4, move 2 behind 3", verify.Repairable},
		{"a call of another class behind it", "legacy", "out c1 | custom c1", "ORPHAN_RESULT note 2, DANGLING_CALL tail warning 3", "close custom c1 in 3", verify.Repairable},

		// Two outputs of one call.
		{"the same", "legacy", "call c1 | out c1 x | out c1 x", "DUP_RESULT same error 4", "drop 4", verify.Repairable},
		{"the same, thrice", "paginated", "call c1 | out c1 x | say x | out c1 x | out c1 x", "DUP_RESULT same error 5, DUP_RESULT same error 6", "drop 5, drop 6", verify.Repairable},
		{"the first is made up", "paginated", "call c1 | made c1 | out c1", "DUP_RESULT made-up error 3", "drop 3", verify.Repairable},
		{"the first is ours", "legacy", "call c1 | ours c1 | say x | out c1", "DUP_RESULT made-up error 3", "drop 3", verify.Repairable},
		{"the second is made up", "paginated", "call c1 | out c1 | made c1", "DUP_RESULT made-up error 4", "drop 4", verify.Repairable},
		{"both are made up", "paginated", "call c1 | made c1 | ours c1", "DUP_RESULT made-up error 4", "drop 4", verify.Repairable},
		{"two made-up ones, then the real one", "legacy", "call c1 | made c1 | made c1 | out c1", "DUP_RESULT made-up error 3, DUP_RESULT same error 4", "drop 4, drop 3", verify.Repairable},
		{"a made-up one, then the real one twice", "legacy", "call c1 | made c1 | out c1 x | out c1 x", "DUP_RESULT made-up error 3, DUP_RESULT same error 5", "drop 3, drop 5", verify.Repairable},
		{"different", "paginated", "call c1 | out c1 x | out c1 y", "DUP_RESULT error 4", "", verify.Refused},
		{"a made-up one, then two that differ", "legacy", "call c1 | made c1 | out c1 x | out c1 y", "DUP_RESULT made-up error 3, DUP_RESULT error 5", "drop 3", verify.Refused},
		{"an early one, then another", "paginated", "out c1 x | call c1 | out c1 y", "ORPHAN_RESULT before error 2, DUP_RESULT error 4", "", verify.Refused},
		{"in a compaction, and behind it", "paginated", "pack +c1 =c1 | out c1 x", "DUP_RESULT error 3", "", verify.Refused},

		// An id that is asked for twice.
		{"a copy of the call", "paginated", "call c1 | call c1 | out c1", "CALL_ID_REUSED same error 3", "drop 3", verify.Repairable},
		{"copies of call and output", "legacy", "call c1 | out c1 | call c1 | out c1", "CALL_ID_REUSED same error 4, DUP_RESULT same error 5", "drop 4, drop 5", verify.Repairable},
		{"another call", "legacy", "call c1 x | call c1 y | out c1", "CALL_ID_REUSED note 3", "", verify.Clean},
		{"a copy in a compaction is none", "legacy", "pack +c1 | call c1 | out c1", "CALL_ID_REUSED note 3", "", verify.Clean},

		// Compactions and what is taken back.
		{"open when the history is compacted", "legacy", "call c1 | pack | say x", "DANGLING_CALL compacted note 2", "", verify.Clean},
		{"answered behind the compaction", "paginated", "call c1 | summary | out c1", "DANGLING_CALL compacted note 2, ORPHAN_RESULT note 4", "", verify.Clean},
		{"open in a compaction", "paginated", "pack +c1 | say x", "DANGLING_CALL left note 2", "", verify.Clean},
		{"open in a compaction", "legacy", "pack +c1 | say x", "DANGLING_CALL left note 2", "", verify.Clean},
		{"open in a compaction at the end", "legacy", "pack +c1 *c2 =c1", "DANGLING_CALL tail warning 2", "close custom c2 in 2", verify.Repairable},
		{"open in front of the output's compaction", "legacy", "out c1 | pack | call c1", "ORPHAN_RESULT note 2, DANGLING_CALL tail warning 4", "close c1 in 4", verify.Repairable},
		{"taken back", "legacy", "prompt | call c1 | out c1 | prompt | call c2 | back 1 | prompt | say x", "", "", verify.Clean},
		{"taken back, with an older one open", "legacy", "prompt | call c1 | user u | prompt | call c2 | back 1 | say x", "DANGLING_CALL mid warning 3", "insert c1 in 3", verify.Repairable},
		{"taken back, two", "legacy", "prompt | call c1 | prompt | call c2 | back 2 | say x", "", "", verify.Clean},
		{"taken back, more than there are", "legacy", "prompt | call c1 | back 9 | prompt | call c2", "DANGLING_CALL tail warning 6", "close c2 in 6", verify.Repairable},
		{"none taken back", "legacy", "prompt | call c1 | back 0", "DANGLING_CALL tail warning 3", "close c1 in 3", verify.Repairable},
		{"in front of the first prompt", "legacy", "call c1 | prompt | call c2 | back 1", "DANGLING_CALL tail warning 2", "close c1 in 2", verify.Repairable},
		{"in front of it, and more taken back", "legacy", "call c1 | prompt | call c2 | back 9", "DANGLING_CALL tail warning 2", "close c1 in 2", verify.Repairable},

		// Turns.
		{"open", "paginated", "start t1 | user u | say x", "OPEN_TURN tail warning 2", "end t1", verify.Repairable},
		{"open, of another", "legacy", "start t1 t0 | user u", "OPEN_TURN tail warning 2", "end t1 t0", verify.Repairable},
		{"another ends", "legacy", "start t1 | end t2", "OPEN_TURN tail warning 2", "end t1", verify.Repairable},
		{"one in the middle ends late", "paginated", "start t1 | start t2 | end t1", "OPEN_TURN tail warning 3", "end t2", verify.Repairable},
		{"open again", "paginated", "start t1 | end t1 | start t1", "OPEN_TURN tail warning 4", "end t1", verify.Repairable},
	} {
		t.Run(c.generation+", "+c.name, func(t *testing.T) {
			res := judgeRollout(t, rollout(c.generation, c.log))
			if got := said(res); got != c.want || res.Verdict != c.verdict || cured(res) != c.cure {
				t.Errorf("%s\nverify says %s: %s; %s\nwant        %s: %s; %s", c.log, res.Verdict, got, cured(res), c.verdict, c.want, c.cure)
			}
		})
	}
}

// A result in front of its call is moved behind it, and nothing else moves.
func TestListMoves(t *testing.T) {
	for log, want := range map[string]string{
		"out c1 | user u | call c1 | say x":                      "user u | call c1 | out c1 | say x",
		"user u | out c1 | call c1":                              "user u | call c1 | out c1",
		"out c2 | out c1 | call c1 | call c2 | say x":            "call c1 | out c1 | call c2 | out c2 | say x",
		"out c1 | say x | call c1 | call c2 | out c2 | ~ | note": "say x | call c1 | out c1 | call c2 | out c2 | ~ | note",
	} {
		sorted := func(text string) string { // without the times, which go with their records
			return regexp.MustCompile(`"timestamp":"2026[^"]*",`).ReplaceAllString(text, "")
		}
		res, out, err := pinned(t, rollout("legacy", log), nil)
		if err != nil || res.Verdict != verify.Repairable || sorted(out) != sorted(rollout("legacy", want)) {
			t.Errorf("%s: %s: %s, %v\n%s", log, res.Verdict, said(res), err, out)
		}
	}
}

// What is said of a call, and what it must not be taken for.
func TestListWords(t *testing.T) {
	for log, want := range map[string]string{
		"call c1":                 `call "c1" has no result | a result is added: TOOL_OUTCOME_UNKNOWN | repeat it blindly: it may have run`,
		"call c1 | ran c1":        `call "c1" ran to its end, and its result is lost | a result is added, from the record that says how the call ended | repeat it: it ran`,
		"call c1 | pack | user u": `call "c1" had no result when the history was compacted | nothing: the client answers it by itself | repeat it blindly: it may have run`,
	} {
		f := judgeRollout(t, rollout("paginated", log)).Findings[0]
		if got := f.Message + " | " + f.Repair + " | " + f.Never; got != want || f.CallID != "c1" {
			t.Errorf("%s: %s", log, got)
		}
	}
}

// What the tail says, in numbers.
func TestListTail(t *testing.T) {
	res := judgeRollout(t, rollout("paginated", "start t1 | prompt | user u | say x | end t1 | start t2 | prompt | user v | call c1 | custom c2 | out c1"))
	q := res.Close
	if !res.Open || res.Turns != 2 || res.Records != 12 || res.ID != rolloutThread || res.CWD != "/w" || res.Tail.NextSeq != 12 || res.Tail.LastTime != q.Time ||
		q.NextSeq != 12 || q.TurnID != "t2" || q.Time != 1767323051000 || len(q.Calls) != 1 {
		t.Errorf("%+v", res)
	}
	c := q.Calls[0]
	if c.ID != "c2" || c.Name != "apply_patch" || c.AskSeq != 10 || c.StartSeq != -1 || c.Class != 2 || c.Asked.N != 10 || c.State() != session.CallRequested {
		t.Errorf("%+v", c)
	}
	// A turn without a name is open, but nothing can end it.
	if res = judgeRollout(t, rollout("legacy", "start | user u")); !res.Open || res.Close != nil {
		t.Errorf("%+v", res)
	}
	// Prompts are counted where turns have no records.
	if res = judgeRollout(t, rollout("legacy", "prompt | say x | prompt | say y | prompt | back 1")); res.Turns != 2 {
		t.Errorf("%d turns", res.Turns)
	}
}

// many writes a shorthand n times, each with a number of its own for "#".
func many(n int, short string) string {
	var out []string
	for i := range n {
		out = append(out, strings.ReplaceAll(short, "#", fmt.Sprint(i)))
	}
	return strings.Join(out, " | ")
}

// Thousands of calls are told apart, and those that are answered are forgotten on the way.
func TestListManyCalls(t *testing.T) {
	const n = 3000
	log := many(n, "call a# | call b# | out a#") + " | " + many(n-1, "out b#")
	res := judgeRollout(t, rollout("paginated", log))
	if want := fmt.Sprintf("close b%d in %d", n-1, 3*n); cured(res) != want || len(res.Findings) != 1 {
		t.Errorf("%s, %d findings, want %s", cured(res), len(res.Findings), want)
	}
	// All open, in the order of asking.
	res = judgeRollout(t, rollout("paginated", many(n, "call c#")))
	if len(res.Close.Calls) != n || len(res.Findings) < 100 {
		t.Fatalf("%d calls, %d findings", len(res.Close.Calls), len(res.Findings))
	}
	if !slices.IsSortedFunc(res.Close.Calls, func(a, b session.Call) int { return int(a.Asked.N - b.Asked.N) }) {
		t.Error("the calls are not in the order of asking")
	}
	res = judgeRollout(t, rollout("legacy", many(n, "call c# | say x")))
	if len(res.Inserts) != n {
		t.Errorf("%d calls get an output", len(res.Inserts))
	}
}

// Of faults of one kind not more than a few hundred are told.
func TestListEnough(t *testing.T) {
	const n, enough = 3000, 300
	for log, want := range map[string]finding.Code{
		many(n, "out c#"):                        finding.OrphanResult,
		"call c | " + many(n, "out c #"):         finding.DupResult,
		many(n, "call c x# | call c y# | out c"): finding.CallIDReused,
		many(n, "call c#") + " | say x":          finding.DanglingCall,
	} {
		res := judgeRollout(t, rollout("paginated", log))
		told := 0
		for _, f := range res.Findings {
			if f.Code == want {
				told++
			}
		}
		if told < 100 || told > enough {
			t.Errorf("%s is told %d times", want, told)
		}
	}
}
