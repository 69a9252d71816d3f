package verify_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/toy"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
	"github.com/sessfix/sessfix/verify"
)

// toyLog writes a log of the toy format from a shorthand, one record a word group:
//
//	turn+ 1 | step+ 1.2 | say 1.2 a b | run 1.2 a | res 1.2 a | made 1.2 a | user | note | bits 3 | gone 4 5
//
// Records are numbered as they come. "@7 note" gives a record the number 7 and goes on from
// there, "~note" leaves the number away.
func toyLog(version int, records string) string {
	var out strings.Builder
	fmt.Fprintf(&out, `{"t":"head","v":%d,"id":"s1","cwd":"/w"}`+"\n", version)
	n := 0
	for _, rec := range strings.Split(records, "|") {
		w := strings.Fields(rec)
		if len(w) == 0 {
			continue
		}
		if w[0][0] == '@' {
			n, _ = strconv.Atoi(w[0][1:])
			w = w[1:]
		}
		number := fmt.Sprintf(`,"n":%d`, n)
		if w[0][0] == '~' {
			number, w[0] = "", w[0][1:]
			n--
		}
		n++
		typ, more := w[0], ""
		place := func() string {
			turn, step, ok := strings.Cut(w[1], ".")
			if !ok {
				return `,"turn":` + turn
			}
			return `,"turn":` + turn + `,"step":` + step
		}
		switch typ {
		case "turn+", "turn-", "step+", "step-":
			more = place()
		case "say":
			var calls []string
			for _, id := range w[2:] {
				calls = append(calls, `{"id":"`+strings.Trim(id, `'`)+`","tool":"sh"}`)
			}
			more = place() + `,"calls":[` + strings.Join(calls, ",") + `]`
		case "run", "res", "made":
			more = place() + `,"call":"` + strings.Trim(w[2], `'`) + `"`
			if typ == "made" {
				typ, more = "res", more+`,"made":true`
			}
		case "bits":
			k, _ := strconv.Atoi(w[1])
			typ, more = "bit", `,"k":`+w[1]
			n += k - 1
		case "gone":
			typ, more = "sum", `,"gone":[`+strings.Join(w[1:], ",")+`]`
		case "may?", "may!":
			more = `,"id":"` + w[1] + `"`
		default:
			if len(w) > 1 {
				more = `,"x":"` + w[1] + `"`
			}
		}
		fmt.Fprintf(&out, `{"t":"%s"%s,"at":%d%s}`+"\n", typ, number, 1000+n, more)
	}
	return out.String()
}

func judge(t *testing.T, text string, around ...finding.Finding) *verify.Result {
	t.Helper()
	first, _, _ := strings.Cut(text, "\n")
	version := int(first[len(`{"t":"head","v":`)] - '0')
	in := verify.Input{
		Path: "x.toy.jsonl", R: strings.NewReader(text), Size: int64(len(text)), Medium: scan.Lines,
		Format: toy.Format{}, Dialect: toy.Dialect(version), Around: around,
	}
	res, err := verify.Session(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range res.Findings {
		if f.Off < 0 || f.Len < 0 || f.End() > int64(len(text)) || f.Off != f.Text {
			t.Errorf("%s stands at %d, %d bytes, in a file of %d", f.Code, f.Off, f.Len, len(text))
		}
	}
	return res
}

// said is what verify says: code, where, severity and line of each finding.
func said(res *verify.Result) string {
	var out []string
	for _, f := range res.Findings {
		s := fmt.Sprintf("%s %s %s %d", f.Code, f.Where, f.Severity, f.Logical)
		if f.Where == "" {
			s = fmt.Sprintf("%s %s %d", f.Code, f.Severity, f.Logical)
		}
		if f.Because != "" {
			s += " <" + string(f.Because)
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

const whole = "turn+ 1 | user | step+ 1.1 | say 1.1 a b | run 1.1 a | run 1.1 b | res 1.1 a | res 1.1 b | step- 1.1 | turn- 1"

func TestCheckers(t *testing.T) {
	for _, c := range []struct {
		name    string
		version int
		log     string
		want    string
		verdict verify.Verdict
	}{
		{"clean", 2, whole, "", verify.Clean},
		{"clean with packed pieces", 2, "turn+ 1 | step+ 1.1 | bits 3 | bits 1 | say 1.1 | step- 1.1 | turn- 1", "", verify.Clean},
		{"the same id in two steps", 2, "turn+ 1 | step+ 1.1 | say 1.1 a | run 1.1 a | res 1.1 a | step- 1.1 | step+ 1.2 | say 1.2 a | run 1.2 a | res 1.2 a | step- 1.2 | turn- 1", "", verify.Clean},
		{"no rules", 0, "note | @3 note | @1 turn- 4 | step+ 7.7 | ~user", "", verify.Clean},

		{"identical copy", 1, whole + " | @9 turn- 1 | note", "SEQ_DUP unfinished error 12", verify.Repairable},
		{"two copies", 1, whole + " | @8 step- 1.1 | turn- 1 | note", "SEQ_DUP unfinished error 12, SEQ_DUP unfinished error 13", verify.Repairable},
		{"many copies", 1, strings.Repeat("note | ", 20) + "@0 " + strings.Repeat("note | ", 20), "SEQ_DUP unfinished error 22", verify.Repairable},
		{"bookkeeping against talk", 1, whole + " | note one | note two | @10 user", "SEQ_FORK bookkeeping error 14", verify.Repairable},
		{"talk against bookkeeping", 1, whole + " | user | @10 note one", "SEQ_FORK bookkeeping error 13", verify.Repairable},
		{"a synthetic result is no talk", 1, "turn+ 1 | step+ 1.1 | say 1.1 a | run 1.1 a | made 1.1 a | step- 1.1 | turn- 1 | @4 res 1.1 a | step- 1.1 | turn- 1",
			"SEQ_FORK bookkeeping error 9", verify.Repairable},
		{"bookkeeping twice", 1, whole + " | note one | @10 note two", "SEQ_FORK bookkeeping error 13", verify.Repairable},
		{"copies, then a fork", 1, "note | note one | @0 note | note two", "SEQ_DUP unfinished error 4 <SEQ_FORK, SEQ_FORK bookkeeping error 4", verify.Repairable},
		{"talk in both", 1, "user one | user two | @1 user three | user four", "SEQ_FORK talk error 4", verify.Refused},
		{"the first branch is judged", 1, "turn+ 1 | turn- 1 | user | @1 user | turn+ 9", "SEQ_FORK talk error 5", verify.Refused},
		{"gap", 1, "note | @4 note", "SEQ_GAP unfinished error 3", verify.Refused},
		{"faults in front of a turn's end", 1, "turn+ 1 | @0 turn+ 1 | @5 turn- 1", "SEQ_DUP error 3, SEQ_GAP error 4", verify.Refused},
		{"what follows a gap is a consequence", 1, "turn+ 1 | @4 turn- 1 | turn- 1", "SEQ_GAP error 3, TURN_NESTING note 4 <SEQ_GAP", verify.Refused},
		{"a packed row counts", 1, "bits 3 | @4 note", "OPEN_ATTEMPT tail note 2, SEQ_GAP unfinished error 3", verify.Refused},
		{"missing, exact", 1, "note | ~note | @2 note", "SEQ_MISSING exact error 3", verify.Repairable},
		{"missing, two in a row", 1, "note | ~note | ~note | @3 note", "SEQ_MISSING exact error 3, SEQ_MISSING exact error 4", verify.Repairable},
		{"missing, not exact", 1, "note | ~note | @3 note", "SEQ_MISSING unfinished error 3, SEQ_GAP unfinished error 4", verify.Refused},
		{"missing at the end", 1, "note | ~note", "SEQ_MISSING unfinished error 3", verify.Refused},
		{"missing beside a copy", 1, "note | note one | ~note | @1 note one", "SEQ_MISSING unfinished error 4, SEQ_DUP unfinished error 5", verify.Refused},

		{"open turn and step", 2, "turn+ 1 | step+ 1.1", "OPEN_TURN tail error 2, OPEN_STEP tail error 3", verify.Repairable},
		{"a turn in a turn", 1, "turn+ 1 | turn+ 2 | turn- 2", "OPEN_TURN mid note 2", verify.Clean},
		{"a turn in a turn, strictly", 2, "turn+ 1 | turn+ 2 | turn- 2", "OPEN_TURN mid error 2", verify.Refused},
		{"turns that skip", 2, "turn+ 2 | turn- 2", "TURN_NESTING error 2", verify.Refused},
		{"the wrong turn ends", 1, "turn+ 1 | turn- 2", "TURN_NESTING note 3", verify.Clean},
		{"no turn to end", 1, "turn- 1", "TURN_NESTING note 2", verify.Clean},
		{"a step outside", 2, "step+ 1.1 | step- 1.1", "STEP_NESTING error 2, STEP_NESTING error 3", verify.Refused},
		{"steps that skip", 1, "turn+ 1 | step+ 1.2 | step- 1.2 | turn- 1", "STEP_NESTING note 3", verify.Clean},
		{"a step in a step", 1, "turn+ 1 | step+ 1.1 | step+ 1.2 | step- 1.2 | turn- 1", "OPEN_STEP mid note 3", verify.Clean},
		{"a turn ends in a step", 1, "turn+ 1 | step+ 1.1 | turn- 1", "OPEN_STEP mid note 3", verify.Clean},
		{"no step to end", 1, "turn+ 1 | step- 1.1 | turn- 1", "STEP_NESTING note 3", verify.Clean},

		{"dangling at the end", 2, "turn+ 1 | step+ 1.1 | say 1.1 a b | run 1.1 a", "OPEN_TURN tail error 2, OPEN_STEP tail error 3, DANGLING_CALL tail error 4, DANGLING_CALL tail error 4", verify.Repairable},
		{"dangling in the middle", 1, "turn+ 1 | step+ 1.1 | say 1.1 a | step- 1.1 | turn- 1", "DANGLING_CALL mid error 4", verify.Refused},
		{"dangling when the turn ends", 1, "turn+ 1 | step+ 1.1 | say 1.1 a | turn- 1", "OPEN_STEP mid note 3, DANGLING_CALL mid error 4", verify.Refused},
		{"a compaction took it", 1, "turn+ 1 | step+ 1.1 | say 1.1 a | step- 1.1 | gone 2 | turn- 1", "", verify.Clean},
		{"a compaction took something else", 1, "turn+ 1 | step+ 1.1 | say 1.1 a | step- 1.1 | gone 1 | turn- 1", "DANGLING_CALL mid error 4", verify.Refused},
		{"orphan", 1, "turn+ 1 | step+ 1.1 | say 1.1 | res 1.1 x | step- 1.1 | turn- 1", "ORPHAN_RESULT error 5", verify.Refused},
		{"orphan that a compaction took", 1, "turn+ 1 | step+ 1.1 | say 1.1 | res 1.1 x | step- 1.1 | gone 3 | turn- 1", "", verify.Clean},
		{"started but not asked", 1, "turn+ 1 | step+ 1.1 | run 1.1 x | res 1.1 x | step- 1.1 | turn- 1", "ORPHAN_RESULT started error 5", verify.Refused},
		{"duplicate result", 1, "turn+ 1 | step+ 1.1 | say 1.1 a | run 1.1 a | res 1.1 a | res 1.1 a | step- 1.1 | turn- 1", "DUP_RESULT error 7", verify.Refused},
		{"duplicate in the next step", 1, "turn+ 1 | step+ 1.1 | say 1.1 a | run 1.1 a | res 1.1 a | step- 1.1 | step+ 1.2 | say 1.2 b | run 1.2 b | res 1.2 b | res 1.2 a | step- 1.2 | turn- 1", "DUP_RESULT error 12", verify.Refused},
		{"synthetic behind real", 1, "turn+ 1 | step+ 1.1 | say 1.1 a | run 1.1 a | res 1.1 a | made 1.1 a | step- 1.1 | turn- 1", "DUP_RESULT error 7", verify.Refused},
		{"false closer", 1, "turn+ 1 | step+ 1.1 | say 1.1 a | run 1.1 a | made 1.1 a | res 1.1 a | step- 1.1 | turn- 1", "FALSE_CLOSER error 7", verify.Refused},
		{"start missing", 1, "turn+ 1 | step+ 1.1 | say 1.1 a | res 1.1 a | step- 1.1 | turn- 1", "START_MISSING note 5", verify.Clean},
		{"start missing, strictly", 2, "turn+ 1 | step+ 1.1 | say 1.1 a | res 1.1 a | step- 1.1 | turn- 1", "START_MISSING error 5", verify.Refused},
		{"a synthetic result needs no start", 2, "turn+ 1 | step+ 1.1 | say 1.1 a | made 1.1 a | step- 1.1 | turn- 1", "", verify.Clean},
		{"one empty id", 1, "turn+ 1 | step+ 1.1 | say 1.1 '' | run 1.1 '' | res 1.1 '' | step- 1.1 | turn- 1",
			"EMPTY_CALL_ID single error 4, EMPTY_CALL_ID single error 5, EMPTY_CALL_ID single error 6", verify.Repairable},
		{"two empty ids", 1, "turn+ 1 | step+ 1.1 | say 1.1 '' '' | run 1.1 '' | res 1.1 '' | step- 1.1 | turn- 1",
			"EMPTY_CALL_ID several error 4, EMPTY_CALL_ID several error 5, EMPTY_CALL_ID several error 6", verify.Refused},
		{"an empty id in each of two steps", 1, "turn+ 1 | step+ 1.1 | say 1.1 '' | res 1.1 '' | step- 1.1 | step+ 1.2 | say 1.2 '' | res 1.2 '' | step- 1.2 | turn- 1",
			"EMPTY_CALL_ID single error 4, START_MISSING note 5, EMPTY_CALL_ID single error 5, EMPTY_CALL_ID single error 8, START_MISSING note 9, EMPTY_CALL_ID single error 9", verify.Repairable},

		{"open attempt", 1, "turn+ 1 | step+ 1.1 | bits 2 | bits 1", "OPEN_TURN tail error 2, OPEN_STEP tail error 3, OPEN_ATTEMPT tail note 4", verify.Repairable},
		{"an attempt that came to nothing", 1, "turn+ 1 | step+ 1.1 | bits 2 | quit | step- 1.1 | turn- 1", "", verify.Clean},
		{"open compaction", 1, "pack+ | user", "OPEN_COMPACTION tail note 2", verify.Clean},
		{"finished compaction", 1, "pack+ | gone | pack-", "", verify.Clean},
		{"open approval", 1, "may? p1 | may? p2 | may! p1", "OPEN_APPROVAL tail note 3", verify.Clean},
		{"unknown type", 1, "wonder", "EVENT_UNKNOWN error 2", verify.Refused},
		{"header inside", 1, "note | ~second | note", "HEADER_MISPLACED error 3", verify.Repairable},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := toyLog(c.version, c.log)
			res := judge(t, text)
			if got := said(res); got != c.want || res.Verdict != c.verdict {
				t.Errorf("%s\nverify says %s: %s\nwant        %s: %s", text, res.Verdict, got, c.verdict, c.want)
			}
		})
	}
}

// A call that a compaction takes out of the replay while its step is still open is as little
// dangling as one that it takes later.
func TestCompactionInsideStep(t *testing.T) {
	res := judge(t, toyLog(1, "turn+ 1 | step+ 1.1 | say 1.1 a | gone 2 | step- 1.1 | turn- 1"))
	if got := said(res); got != "" || res.Verdict != verify.Clean {
		t.Errorf("verify says %s: %s", res.Verdict, got)
	}
}

func TestTail(t *testing.T) {
	res := judge(t, toyLog(1, whole+" | turn+ 2 | step+ 2.1 | bits 2 | say 2.1 c d | run 2.1 d | may? p | pack+"))
	tail := res.Tail
	if !res.Open || tail.Turn != 2 || tail.Step != 1 || tail.NextSeq != 18 || tail.LastTime != 1018 || tail.Deltas != 0 || !tail.OpenCompaction ||
		fmt.Sprint(tail.OpenApprovals) != "[p]" || res.Turns != 2 || res.ID != "s1" || res.CWD != "/w" || res.Records != 18 {
		t.Errorf("%+v", res)
	}
	if len(tail.Calls) != 2 {
		t.Fatalf("%+v", tail.Calls)
	}
	c, d := tail.Calls[0], tail.Calls[1]
	if c.ID != "c" || c.State() != session.CallRequested || c.Index != 0 || c.AskSeq != 14 || c.StartSeq != -1 || c.Name != "sh" ||
		d.ID != "d" || d.State() != session.CallRunning || d.Index != 1 || d.StartSeq != 15 || d.Turn != 2 || d.Step != 1 || d.Started.N != 15 {
		t.Errorf("%+v", tail.Calls)
	}
	q := res.Close
	if q == nil || q.Turn != 2 || q.Step != 1 || q.NextSeq != 18 || q.Time != 1018 || len(q.Calls) != 2 {
		t.Errorf("%+v", q)
	}
	for _, f := range res.Findings {
		if f.Code == finding.DanglingCall && f.Repair != "a result is added: "+map[string]string{"c": finding.ToolNotStarted, "d": finding.ToolOutcomeUnknown}[f.CallID] {
			t.Errorf("call %s: %s", f.CallID, f.Repair)
		}
	}
}

// A step with many calls is looked up by index.
func TestManyCalls(t *testing.T) {
	var ask, rest []string
	for i := range 100 {
		ask = append(ask, fmt.Sprintf("c%d", i))
		rest = append(rest, fmt.Sprintf("run 1.1 c%d", i))
	}
	for i := range 100 {
		if i != 40 {
			rest = append(rest, fmt.Sprintf("res 1.1 c%d", 99-i))
		}
	}
	log := "turn+ 1 | step+ 1.1 | say 1.1 " + strings.Join(ask, " ") + " | " + strings.Join(rest, " | ")
	res := judge(t, toyLog(1, log))
	if len(res.Tail.Calls) != 1 || res.Tail.Calls[0].ID != "c59" {
		t.Errorf("%+v", res.Tail.Calls)
	}
	// The ledger is used again for the next step, whose calls have nothing to do with these.
	res = judge(t, toyLog(1, log+" | res 1.1 c59 | step- 1.1 | step+ 1.2 | say 1.2 c3 | run 1.2 c3 | res 1.2 c3 | res 1.2 zz | step- 1.2 | turn- 1"))
	if got := said(res); !strings.HasPrefix(got, "ORPHAN_RESULT error") || len(res.Findings) != 1 {
		t.Error(got)
	}
}

// Offsets, numbers and branches of a fork, and what leaves the log.
func TestFork(t *testing.T) {
	text := toyLog(1, "user | note one | note two | @1 user three | user four")
	lines := strings.SplitAfter(text, "\n")
	at := func(n int) int64 { return int64(len(strings.Join(lines[:n], ""))) }
	res := judge(t, text)
	if len(res.Findings) != 1 || len(res.Drops) != 1 {
		t.Fatalf("%+v", res)
	}
	f, d := res.Findings[0], res.Drops[0]
	if f.Off != at(4) || f.Expected != 3 || f.Got != 1 || !f.Numbered {
		t.Errorf("%+v", f)
	}
	first, second := f.Branches[0], f.Branches[1]
	if first != (finding.Branch{FirstLine: 3, LastLine: 4, FirstSeq: 1, LastSeq: 2, Offset: at(2), Length: at(4) - at(2) - 1}) ||
		second != (finding.Branch{FirstLine: 5, LastLine: 6, FirstSeq: 1, LastSeq: 2, Offset: at(4), Length: at(6) - at(4) - 1}) {
		t.Errorf("%+v", f.Branches)
	}
	if d.Off != at(2) || d.Len != first.Length || d.Records != 2 || d.Code != finding.SeqFork {
		t.Errorf("%+v", d)
	}
	if res.Tail.NextSeq != 3 {
		t.Errorf("next number is %d", res.Tail.NextSeq)
	}
}

// Whole records in faulty lines count: structure is judged as if the bytes were mended.
func TestSalvagedCount(t *testing.T) {
	text := toyLog(2, whole)
	lines := strings.SplitAfter(text, "\n")
	lines[8] = `{"t":"res","n":6` + lines[8] // a torn start glued to the first result
	res := judge(t, strings.Join(lines, ""))
	if got := said(res); got != "GLUED_TORN error 9" || res.Verdict != verify.Repairable {
		t.Errorf("%s: %s", res.Verdict, got)
	}
	lines[8] = lines[8][:20] + "\n"
	res = judge(t, strings.Join(lines, ""))
	if got := said(res); !strings.Contains(got, "TORN_LINE error 9, SEQ_GAP error 10") || res.Verdict != verify.Refused {
		t.Errorf("%s: %s", res.Verdict, got)
	}
}

func TestForeign(t *testing.T) {
	text := strings.Replace(toyLog(1, "turn+ 1 | step+ 1.1"), `"id":"s1"`, `"id":"foreign"`, 1)
	if res := judge(t, text); res.Verdict != verify.Clean || res.Close != nil || res.Open || len(res.Findings) > 0 {
		t.Errorf("%+v", res)
	}
}

func TestEmptyAndUnknown(t *testing.T) {
	in := verify.Input{Path: "x", R: strings.NewReader(""), Medium: scan.Lines, Format: toy.Format{}, Dialect: toy.Dialect(1)}
	res, err := verify.Session(context.Background(), in)
	if err != nil || res.Verdict != verify.Refused || said(res) != "HEADER_MISSING empty error 0" {
		t.Errorf("%v %+v", err, res)
	}
	text := strings.Replace(toyLog(2, whole), `"v":2`, `"v":7`, 1) + `{"t":"torn`
	f := toy.Format{}
	_, verr := f.Dialect(peekOf(text), "")
	in = verify.Input{Path: "x", R: strings.NewReader(text), Size: int64(len(text)), Medium: scan.Lines, Format: f, Unknown: asVersion(t, verr)}
	res, err = verify.Session(context.Background(), in)
	if err != nil || res.Verdict != verify.Refused || res.Version != "7" || said(res) != "VERSION_UNKNOWN error 0, TORN_TAIL error 12" {
		t.Errorf("%v %s %+v", err, said(res), res)
	}
}

// A finding about the neighbourhood gets the reaction of the format like any other.
func TestAround(t *testing.T) {
	f := toy.Format{}.Beside(format.Around{Path: "/d/a.toy.jsonl", Dir: fstest.MapFS{"a.toy.jsonl": {}, "a.toy.jsonl.next": {}}})
	res := judge(t, toyLog(1, "note"), f...)
	if said(res) != "GENERATION_BESIDE note 0" || res.Findings[0].Client == "" || res.Verdict != verify.Clean {
		t.Errorf("%+v", res.Findings)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	text := toyLog(1, "note")
	_, err := verify.Session(ctx, verify.Input{Path: "x", R: strings.NewReader(text), Size: int64(len(text)), Medium: scan.Lines, Format: toy.Format{}, Dialect: toy.Dialect(1)})
	if err == nil {
		t.Error("a cancelled look ends without error")
	}
}

func peekOf(text string) format.Peek {
	line, _, _ := strings.Cut(text, "\n")
	return format.Peek{Path: "x", Line: []byte(line), First: []byte(line), FirstLine: true}
}

func asVersion(t *testing.T, err error) *format.VersionError {
	t.Helper()
	var v *format.VersionError
	if !errors.As(err, &v) || !v.Newer {
		t.Fatalf("a newer version gives %v", err)
	}
	return v
}
