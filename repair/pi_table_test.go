package repair_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/edit"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/pi"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// sprigMend is a session before and after its repair in memory.
type sprigMend struct {
	before, after *verify.Result
	done          *edit.Result // nil where nothing is to be done
	out           string
}

// mendSprig verifies a session as a release reads it, repairs it, and repairs the outcome.
func mendSprig(ctx context.Context, path, client, text string) (m sprigMend, err error) {
	m, err = mendSprigOnce(ctx, path, client, text)
	if err != nil || m.done == nil {
		return m, err
	}
	again, err := mendSprigOnce(ctx, path, client, m.out)
	switch {
	case err != nil:
		return m, fmt.Errorf("the second repair: %w", err)
	case again.before.Verdict != verify.Clean:
		return m, fmt.Errorf("the second look finds %s: %s", again.before.Verdict, sprigFound(again.before))
	}
	return m, nil
}

func mendSprigOnce(ctx context.Context, path, client, text string) (m sprigMend, err error) {
	m.out = text
	r := strings.NewReader(text)
	s, err := store.Recognise(ctx, path, r, r.Size(), store.Options{Formats: []format.Format{pi.Format{}}, Client: client, Env: func(string) string { return "" }})
	if err != nil {
		return m, fmt.Errorf("recognise: %w", err)
	}
	in := verify.InputOf(s, r, r.Size())
	if m.before, err = verify.Session(ctx, in); err != nil || m.before.Verdict != verify.Repairable {
		return m, err
	}
	plan, err := repair.MakePlan(ctx, in, m.before)
	if err != nil {
		return m, fmt.Errorf("plan: %w", err)
	}
	if m.done, err = plan.Apply(in.R, in.Size); err != nil {
		return m, fmt.Errorf("apply: %w", err)
	}
	if m.after, err = repair.Prove(ctx, in, m.done); err != nil {
		return m, fmt.Errorf("prove: %w", err)
	}
	var out bytes.Buffer
	_, err = m.done.WriteTo(&out)
	m.out = out.String()
	return m, err
}

// sprigFound lists findings by code, place, severity and line.
func sprigFound(res *verify.Result) string {
	var out []string
	for _, f := range res.Findings {
		out = append(out, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %d", f.Code, f.Where, f.Severity, f.Logical)), " "))
	}
	return strings.Join(out, ", ")
}

// sprigClosers are the results that a repair added, in the order of the file, with their codes.
func sprigClosers(v *sprigView) string {
	var out []string
	for _, e := range v.entries {
		if e.N == "" && e.Message != nil && e.Message.Details.Sessfix != nil {
			out = append(out, e.Message.ToolCallID+" "+e.Message.Details.Sessfix.Code)
		}
	}
	return strings.Join(out, ", ")
}

// sprigRow is a session, what is found in it, and what the client makes of it after the repair: the way, behind ">" what is
// sent, where that differs, and the results that were added.
type sprigRow struct {
	name, client, log string
	found             string
	after             string
	closers           string
}

func (c sprigRow) test(t *testing.T) {
	t.Helper()
	text := sprigHead + sprigLog(c.log)
	m, err := mendSprig(t.Context(), sprigPath, c.client, text)
	if m.before == nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Errorf("%v", err)
	}
	want := verify.Clean
	if strings.Contains(c.found, " error ") || strings.Contains(c.found, " warning ") {
		want = verify.Repairable
	}
	if m.before.Verdict != want && c.after != "refused" || c.after == "refused" && m.before.Verdict != verify.Refused {
		t.Errorf("the verdict is %s", m.before.Verdict)
	}
	if got := sprigFound(m.before); got != c.found {
		t.Errorf("found %s\nwant  %s", got, c.found)
	}
	if c.after == "refused" {
		return
	}
	v := sprigOpen(m.out, c.client == "")
	if got := v.String(); got != c.after {
		t.Errorf("the client sees %s\nwant            %s\n%s", got, c.after, m.out)
	}
	if got := sprigClosers(v); got != c.closers {
		t.Errorf("closed by %q, want %q", got, c.closers)
	}
	if err := sprigAccount(text, m); err != nil {
		t.Errorf("%v\n%s", err, m.out)
	}
}

const sprigOld = "0.73.1"

// Where records hang, and where the talk goes on.
func TestPiTree(t *testing.T) {
	for _, c := range []sprigRow{
		{"clean", "", "model a - | user b a | call c b 1 | res d c 1 | say e d", "", "a b c d e > b c d e", ""},
		{"two branches", "", "user a - | say b a | user c b | say d c | bs e a | user f e", "", "a e f", ""},
		{"back to the start", "", "user a - | say b a | user c - | say d c", "", "c d", ""},
		{"numbers for ids", "", "user a=#1 - | say b=#2 #1 | user c=#3 #2", "", "a b c", ""},
		{"a number is no text", "", "user a=#1 - | say b=#2 1", "PARENT_MISSING path error 3", "a b", ""},

		{"a lost line", "", "user a - | say b a | lost user c b | say d c | user e d", "PARENT_MISSING path error 4", "a b d e", ""},
		{"a lost line, an old release", sprigOld, "user a - | say b a | lost user c b | say d c | user e d", "PARENT_MISSING path error 4", "a b d e", ""},
		{"two under a lost line", "", "user a - | say b a | lost user c b | say d c | say e c", "PARENT_MISSING path error 4, PARENT_MISSING path error 5", "a b e", ""},
		{"two lost lines", "", "user a - | lost say b a | user c b | lost say d c | user e d", "PARENT_MISSING path error 3, PARENT_MISSING path error 4", "a c e", ""},
		{"two lost lines in a row", "", "user a - | lost say b a | lost user c b | say d c", "PARENT_MISSING path error 3", "a d", ""},
		{"the first line is lost", "", "lost user a - | say b a | user c b", "PARENT_MISSING first note 2", "b c", ""},
		{"the remains name the parent", "", "user a - | say b a | user c b | say d c | cut user e b | say f e", "TORN_LINE error 6, PARENT_MISSING path error 7", "a b f", ""},
		{"the remains name no parent", "", "user a - | say b a | user c b | say d c | stub user e b | say f e", "TORN_LINE error 6, PARENT_MISSING path error 7", "a b c d f", ""},
		{"the remains of a first record", "", "user a - | say b a | cut user c - | say d c", "TORN_LINE error 4, PARENT_MISSING path error 5", "a b d", ""},
		{"the remains name one that is lost too", "", "user a - | lost say b a | cut user c b | say d c", "TORN_LINE error 3, PARENT_MISSING path error 4", "a d", ""},
		{"remains of another record", "", "user a - | say b a | cut user c a | lost user d b | say e d", "TORN_LINE error 4, PARENT_MISSING path error 5", "a b e", ""},

		{"under itself", "", "user a - | say b b | user c b", "PARENT_CYCLE path error 3", "a b c", ""},
		{"under itself, the last", sprigOld, "user a - | say b a | user c c", "PARENT_CYCLE path error 4", "a b c", ""},
		{"under itself, alone", "", "user a a", "PARENT_CYCLE path error 2", "a", ""},
		{"a circle of two", "", "user a - | say b c | user c b | say d c", "PARENT_CYCLE path error 3", "a b c d", ""},
		{"a circle of three", "", "user a - | say b d | user c b | say d c | user e d", "PARENT_CYCLE path error 3", "a b c d e", ""},
		{"a circle of all", "", "user a c | say b a | user c b", "PARENT_CYCLE path error 2", "a b c", ""},
		{"a circle beside the way", "", "user a - | say b a | user c d | say d c | user e b", "PARENT_CYCLE path error 4", "a b e", ""},
		{"a circle written against the order", "", "user a b | say b c | user c a", "PARENT_CYCLE path error 2", "a c", ""},

		{"a parent further on", "", "user a - | say b c | user c a | say d b", "", "a c b d", ""},
		{"no parent, a user", "", "user a - | say b a | user c . | say d c", "CHAIN_CUT path error 4", "a b c d", ""},
		{"no parent, an answer", "", "user a - | say b . | user c b", "CHAIN_CUT path error 3", "a b c", ""},
		{"no parent, a label", "", "user a - | say b a | label c . | user d c", "CHAIN_CUT path error 4", "a b c d > a b d", ""},
		{"an empty parent, a user", "", "user a - | say b a | user c '' | say d c", "CHAIN_CUT path error 4", "a b c d", ""},
		{"an empty parent, an answer", "", "user a - | say b '' | user c b", "CHAIN_CUT path error 3", "a b c", ""},
		{"null, a user", "", "user a - | say b a | user c - | say d c", "", "c d", ""},
		{"null, an answer", "", "user a - | say b - | user c b", "CHAIN_CUT path error 3", "a b c", ""},
		{"null, a result", "", "user a - | call b a 1 | res c - 1 | say d c", "CHAIN_CUT path error 4", "a b c d", ""},
		{"null, a summary", "", "user a - | say b a | bs c - | user d c", "", "c d", ""},
		{"no parent, the first", "", "user a . | say b a", "", "a b", ""},
		{"an empty parent, the first", "", "user a '' | say b a", "", "a b", ""},

		{"the last has no id", "", "user a - | say b a | user c=. b", "EVENT_INVALID nameless error 4", "a b c", ""},
		{"the last has null for id", "", "user a - | say b a | user c=null b", "EVENT_INVALID nameless error 4", "a b c", ""},
		{"the last has an empty id", "", "user a - | say b a | user c='' b", "EVENT_INVALID nameless error 4", "a b c", ""},
		{"one in the middle has no id", "", "user a - | say b=. a | user c - | say d c", "EVENT_INVALID nameless error 3, CHAIN_CUT path error 4", "a b c d", ""},
		{"one in the middle has null for id", "", "user a - | say b=null a | user c - | say d c", "EVENT_INVALID nameless error 3, CHAIN_CUT path error 4", "a b c d", ""},

		{"a stray at the end", "", "user a - | say b a | {}", "EVENT_INVALID stray-last error 4", "a b", ""},
		{"a stray at the end, an old release", sprigOld, "user a - | say b a | {}", "EVENT_INVALID stray-last error 4", "a b", ""},
		{"a stray in the middle", "", "user a - | {} | say b a", "EVENT_INVALID stray note 3", "a b", ""},
		{"a stray alone", "", "{}", "EVENT_INVALID stray-last error 2", "", ""},
		{"a list at the end", "", "user a - | say b a | [7]", "NOT_OBJECT error 4", "a b", ""},
		{"a message is missing", "", "user a - | husk b a | say c b | user d c", "EVENT_INVALID husk error 3", "a c d", ""},
		{"a message is missing, two below", "", "user a - | husk b a | say c b | say d b", "EVENT_INVALID husk error 3", "a d", ""},
		{"a message is missing, the last", "", "user a - | say b a | husk c b", "EVENT_INVALID husk error 4", "a b", ""},
		{"a message is missing, all", "", "husk a -", "EVENT_INVALID husk error 2", "", ""},

		// pending: {"a message is missing, twice", "", "user a - | husk b a | again b", "EVENT_INVALID husk error 3, EVENT_INVALID husk error 4", "a", ""},
		// pending: {"one id, and that record once more", "", "user a - | user x=a a | again x", "ID_CONFLICT path error 3, ID_REPEATED path note 4", "a x", ""},
		// pending: {"a stray and nothing else that stays", "", "{} | husk a -", "EVENT_INVALID stray-last error 2, EVENT_INVALID husk error 3", "", ""},
		// pending: {"no parent, and what stands in front hangs below", "", "label x c | say b - | user c b", "", "b c", ""},
		// pending, it hangs: {"the same, and nobody speaks", "", "label x c | res b - 1 | label c b", "ORPHAN_RESULT path error 3", "c >", ""},
		{"a copy", "", "user a - | say b a | again a | user c b", "ID_REPEATED path note 4", "a b c", ""},
		{"an old one once more at the end", "", "user a - | say b a | user c b | again b", "WRONG_LEAF path error 5", "a b c", ""},
		{"the last once more", "", "user a - | say b a | again b", "ID_REPEATED path note 4", "a b", ""},
		{"one id, the last line", "", "user a - | say b a | user c b | say d c | user x=b a", "ID_CONFLICT path error 6, WRONG_LEAF path error 6", "a b c d * > a b c d", ""},
		{"one id, the last line goes on", "", "user a - | say b a | user c b | say d=b c", "ID_CONFLICT path error 5", "a b c d", ""},
		{"one id, more behind", "", "user a - | say b a | user c b | say d=b c | user e b", "ID_CONFLICT path error 5", "a b c d e", ""},
		{"one id on a branch, more behind", "", "user a - | say b a | user c b | user x=b a | say e b", "ID_CONFLICT path error 5", "a x e", ""},
		// pending: {"one id three times", "", "user a - | say b a | user x=b b | say y=b b | user c b", "ID_CONFLICT path error 4, ID_CONFLICT path error 5", "a b x y c", ""},
		// pending: {"what is kept is named behind the second", "", "user a - | say b a | user x=b b | say c b | comp d c b | user e d", "ID_CONFLICT path error 4", "a b x c d e > d x c e", ""},
		// pending: {"what is edited is named behind the second", "", "user a - | say b a | user x=b b | say c b | edit d c b | user e d", "ID_CONFLICT path error 4", "a b x c d e > a b c e", ""},
	} {
		t.Run(c.name, c.test)
	}
}

// Which result answers which call.
func TestPiPairs(t *testing.T) {
	rows := []sprigRow{
		{"clean", "", "user a - | call b a 1 2 | res c b 1 | res d c 2 | say e d", "", "a b c d e", ""},
		{"ids again in later turns", "", "user a - | call b a 1 | res c b 1 | call d c 1 | res e d 1 | say f e | user g f | call h g 1 | res i h 1 | say j i", "", "a b c d e f g h i j", ""},
		{"ids again, and one is open", "", "user a - | call b a 1 | res c b 1 | call d c 1", "DANGLING_CALL tail error 5", "a b c d +1", "1 TOOL_OUTCOME_UNKNOWN"},
		{"an open one in the middle", "", "user a - | call b a 1 2 | res c b 1 | user d c", "DANGLING_CALL mid note 3", "a b c d > a b c ?2 d", ""},
		{"an open one on another branch", "", "user a - | call b a 1 | user c a | say d c", "", "a c d", ""},

		{"an orphan", "", "user a - | say b a | res c b 9 | say d c", "ORPHAN_RESULT path error 4", "a b d", ""},
		{"an orphan, an old release", sprigOld, "user a - | say b a | res c b 9 | say d c", "ORPHAN_RESULT path error 4", "a b d", ""},
		{"an orphan, two below", "", "user a - | say b a | res c b 9 | user d c | user e c", "ORPHAN_RESULT path error 4", "a b e", ""},
		{"its call is lost", "", "user a - | lost call b a 1 | res c b 1 | say d c", "PARENT_MISSING path error 3, ORPHAN_RESULT path error 3", "a d", ""},
		{"its call is torn", "", "user a - | cut call b a 1 | res c b 1 | say d c", "TORN_LINE error 3, PARENT_MISSING path error 4, ORPHAN_RESULT path error 4", "a d", ""},
		{"its call is torn, the last", "", "user a - | stub call b a 1 | res c b 1", "TORN_LINE error 3, PARENT_MISSING path error 4, ORPHAN_RESULT path error 4", "a * > a", ""},
		{"two results of a torn call", "", "user a - | stub call b a 1 2 | res c b 1 | res d c 2 | say e d", "TORN_LINE error 3, PARENT_MISSING path error 4, ORPHAN_RESULT path error 4, ORPHAN_RESULT path error 5", "a e", ""},

		{"late, of a batch", "", "user a - | call b a 1 2 3 | user c b | res d c 1 | res e d 2 | say f e | res g f 3 | say h g", "DISPLACED_RESULT path error 5, DISPLACED_RESULT path error 6, DISPLACED_RESULT path error 8", "a b d e g c f h", ""},
		{"late, one of two", "", "user a - | call b a 1 2 | res c b 1 | user d c | res e d 2 | say f e", "DISPLACED_RESULT path error 6", "a b c e d f", ""},
		{"late, and one stays open", "", "user a - | call b a 1 2 | user c b | res d c 2 | say e d", "DANGLING_CALL mid note 3, DISPLACED_RESULT path error 5", "a b d c e > a b d ?1 c e", ""},
		{"late, of two answers", "", "user a - | call b a 1 | call c b 2 | res d c 1 | res e d 2 | say f e", "DISPLACED_RESULT path error 5", "a b d c e f", ""},
		{"late, the last", "", "user a - | call b a 1 | user c b | res d c 1", "DISPLACED_RESULT path error 5", "a b d c * > a b d c", ""},
		{"late, the last, and another call is open", "", "user a - | call b a 1 | call c b 2 | res d c 1", "DANGLING_CALL tail error 4, DISPLACED_RESULT path error 5", "a b d c +2", "2 TOOL_OUTCOME_UNKNOWN"},
		{"late, with two below", "", "user a - | call b a 1 | user c b | res d c 1 | say e d | say f d", "DISPLACED_RESULT path error 5", "a b d c f", ""},

		{"the result is on another branch", "", "user a - | call b a 1 | user c a | res d c 1 | say e d", "DANGLING_CALL across error 3, ORPHAN_RESULT across error 5", "a c e", ""},
		// pending: {"the call is on the way, its result is not", "", "user a - | call b a 1 | res d b 1 | label c b", "DANGLING_CALL across error 3, ORPHAN_RESULT across error 4", "a b d c > a b d", ""},
		// pending: {"of other words for what is no answer", "", "user a - | edit b a x + 1 | res c b 1 | say d c", "ORPHAN_RESULT path error 4", "a b d > a d", ""},
		// pending: {"an orphan that stands there twice", "", "user a - | say b a | res c b 9 | again c", "ORPHAN_RESULT path error 4, ORPHAN_RESULT path error 5", "a b", ""},

		{"ours, then the real one", "", "user a - | call b a 1 | ours c b 1 | res d c 1 | say e d", "FALSE_CLOSER path error 5", "a b d e", ""},
		{"ours, then the real one, late", "", "user a - | call b a 1 | ours c b 1 | user d c | res e d 1 | say f e", "FALSE_CLOSER path error 6", "a b e d f", ""},
		{"OpenClaw's, then the real one", "", "user a - | call b a 1 | claw c b 1 | res d c 1 | say e d", "FALSE_CLOSER path error 5", "a b d e", ""},
		{"OpenClaw's, then the real one, late", sprigOld, "user a - | call b a 1 | claw c b 1 | user d c | res e d 1 | say f e", "FALSE_CLOSER path error 6", "a b e d f", ""},
		{"ours alone", "", "user a - | call b a 1 | ours c b 1 | say d c", "", "a b c d", ""},
		{"a second one", "", "user a - | call b a 1 | res c b 1 | res d c 1 | say e d", "DUP_RESULT path error 5", "a b c e", ""},
		{"a second one, late", "", "user a - | call b a 1 | res c b 1 | user d c | res e d 1 | say f e", "DUP_RESULT path error 6", "a b c d f", ""},
		{"a second one, the last", "", "user a - | call b a 1 | res c b 1 | res d c 1", "DUP_RESULT path error 5", "a b c", ""},
		{"the real one, then ours", "", "user a - | call b a 1 | res c b 1 | ours d c 1 | say e d", "DUP_RESULT path error 5", "a b c e", ""},

		{"of an answer that failed", "", "user a - | err b a 1 | res c b 1 | say d c", "ORPHAN_RESULT failed error 4", "a b d > a d", ""},
		{"of an answer that was aborted", sprigOld, "user a - | abo b a 1 2 | res c b 1 | res d c 2 | say e d", "ORPHAN_RESULT failed error 4, ORPHAN_RESULT failed error 5", "a b e > a e", ""},
		{"the call of an answer that failed, the last", "", "user a - | err b a 1", "", "a b > a", ""},
		{"the call of an answer that was aborted, the last", "", "user a - | call b a 1 | res c b 1 | abo d c 2", "", "a b c d > a b c", ""},

		{"an empty id, one call", "", "user a - | call b a 1 | res c b '' | say d c", "EMPTY_CALL_ID path error 4", "a b c d", ""},
		{"an empty id, one of two calls", "", "user a - | call b a 1 2 | res c b 1 | res d c '' | say e d", "EMPTY_CALL_ID path error 5", "a b c d e", ""},
		{"an empty id, two calls", "", "user a - | call b a 1 2 | res c b '' | say d c", "DANGLING_CALL mid note 3, DANGLING_CALL mid note 3, EMPTY_CALL_ID path error 4", "a b d > a b ?1 ?2 d", ""},
		{"an empty id, no call", "", "user a - | say b a | res c b '' | say d c", "EMPTY_CALL_ID path error 4", "a b d", ""},
		{"an empty id of both", "", "user a - | call b a '' | res c b '' | say d c", "EMPTY_CALL_ID call error 3", "a b c d", ""},
		{"empty ids of several", "", "user a - | call b a '' '' | res c b '' | res d c '' | say e d", "EMPTY_CALL_ID several error 3", "refused", ""},

		{"two are open", "", "user a - | call b a 1 2", "DANGLING_CALL tail error 3, DANGLING_CALL tail error 3", "a b +1 +2", "1 TOOL_OUTCOME_UNKNOWN, 2 TOOL_OUTCOME_UNKNOWN"},
		{"one of two is open", sprigOld, "user a - | call b a 1 2 | res c b 2", "DANGLING_CALL tail error 3", "a b c +1", "1 TOOL_OUTCOME_UNKNOWN"},
		{"open behind a label", "", "user a - | call b a 1 | label c b", "DANGLING_CALL tail error 3", "a b c +1 > a b +1", "1 TOOL_OUTCOME_UNKNOWN"},
		{"cut off at its greatest length", "", "user a - | len b a 1 2", "DANGLING_CALL tail error 3, DANGLING_CALL tail error 3", "a b +1 +2", "1 TOOL_NOT_STARTED, 2 TOOL_NOT_STARTED"},
		{"open, and the last line is torn", "", "user a - | call b a 1 2 | res c b 1 | cut res d c 2", "DANGLING_CALL tail error 3, TORN_LINE error 5", "a b c +2", "2 TOOL_OUTCOME_UNKNOWN"},
		{"open behind a compaction", "", "user a - | say b a | comp c b b | user d c | call e d 1", "DANGLING_CALL tail error 6", "a b c d e +1 > c b d e +1", "1 TOOL_OUTCOME_UNKNOWN"},
		{"open, and a twin is the last", "", "user a - | call b a 1 | user x=a -", "DANGLING_CALL tail error 3, ID_CONFLICT path error 4, WRONG_LEAF path error 4", "a b +1", "1 TOOL_OUTCOME_UNKNOWN"},
	}
	// What ends the time in which a call may be answered, and what does not.
	for _, kind := range []string{"user", "cm", "sh", "bs", "say"} {
		rows = append(rows, sprigRow{"late, behind " + kind, "", "user a - | call b a 1 | " + kind + " c b | res d c 1 | say e d", "DISPLACED_RESULT path error 5", "a b d c e", ""})
	}
	for _, kind := range []string{"label", "usage", "custom", "info", "model", "odd", "bs0", "sh-"} {
		rows = append(rows, sprigRow{"not late, behind " + kind, "", "user a - | call b a 1 | " + kind + " c b | res d c 1 | say e d", "", "a b c d e > a b d e", ""})
	}
	rows = append(rows, sprigRow{"not late, behind sys", "", "user a - | call b a 1 | sys c b | res d c 1 | say e d", "", "a b c d e", ""})
	for _, c := range rows {
		t.Run(c.name, c.test)
	}
}

// What a compaction keeps, and what edits leave.
func TestPiKept(t *testing.T) {
	for _, c := range []sprigRow{
		{"clean", "", "user a - | say b a | user c b | say d c | comp e d c | user f e", "", "a b c d e f > e c d f", ""},
		{"nothing: its own id", "", "user a - | say b a | comp c b c | user d c", "", "a b c d > c d", ""},
		{"unknown", "", "user a - | say b a | comp c b zz | user d c", "OPEN_COMPACTION kept note 4", "a b c d > c d", ""},
		{"on another branch", "", "user a - | say b a | user c a | comp d c b | user e d", "OPEN_COMPACTION kept note 5", "a c d e > d e", ""},
		{"a result without its call", "", "user a - | call b a 1 | res c b 1 | say d c | comp e d c | user f e", "ORPHAN_RESULT kept error 4", "a b c d e f > e b c d f", ""},
		{"a result without its call, an old release", sprigOld, "user a - | call b a 1 2 | res c b 1 | res d c 2 | say e d | comp f e d | user g f", "ORPHAN_RESULT kept error 5", "a b c d e f g > f b c d e g", ""},
		{"lost", "", "user a - | say b a | lost user c b | say d c | comp e d c | user f e", "PARENT_MISSING path error 4, OPEN_COMPACTION lost error 5", "a b * d e f > e d f", ""},
		{"torn", "", "user a - | say b a | cut user c b | say d c | comp e d c | user f e", "TORN_LINE error 4, PARENT_MISSING path error 5, OPEN_COMPACTION lost error 6", "a b * d e f > e d f", ""},
		{"lost, and older compactions do not count", "", "user a - | say b a | comp c b zz | user d c | say e d | comp f e d | user g f", "", "a b c d e f g > f d e g", ""},
		{"a result that is kept goes to quarantine", "", "user a - | say b a | res c b 9 | say d c | comp e d c | user f e", "ORPHAN_RESULT path error 4", "a b d e f > e d f", ""},

		// pending, it panics: {"a result that is edited out is the first that is kept", "", "res a - 2 | edit b a a | comp c b a", "", "a b c > c", ""},
		// pending: {"a result is taken out, the last", "", "user a - | call b a 1 | res c b 1 | edit d c c", "DANGLING_CALL tail error 3", "a b c d +1 > a b +1", "1 TOOL_OUTCOME_UNKNOWN"},
		// pending: {"other words that ask, the last", "", "user a - | say b a | edit c b b + 2", "DANGLING_CALL tail error 3", "a b c +2 > a b +2", "2 TOOL_OUTCOME_UNKNOWN"},
		// pending: {"kept, and open behind a compaction", "", "user a - | call b a 1 | comp c b b", "DANGLING_CALL tail error 3", "a b c +1 > c b +1", "1 TOOL_OUTCOME_UNKNOWN"},
		{"taken out", "", "user a - | say b a | user c b | edit d c a | say e d", "", "a b c d e > b c e", ""},
		{"taken out, a release that does not know it", sprigOld, "user a - | say b a | user c b | edit d c a | say e d", "", "a b c d e > a b c e", ""},
		{"the call is taken out", "", "user a - | call b a 1 | res c b 1 | edit d c b | say e d", "ORPHAN_RESULT edited error 4", "a b c d e +edit > a e", ""},
		{"the call is taken out, a release that does not know it", sprigOld, "user a - | call b a 1 | res c b 1 | edit d c b | say e d", "", "a b c d e > a b c e", ""},
		{"other words, with the call", "", "user a - | call b a 1 | res c b 1 | edit d c b + 1 | say e d", "", "a b c d e > a b c e", ""},
		{"other words, without the call", "", "user a - | call b a 1 | res c b 1 | edit d c b + | say e d", "ORPHAN_RESULT edited error 4", "a b c d e +edit > a b e", ""},
		{"call and result are taken out", "", "user a - | call b a 1 | res c b 1 | edit d c b | edit e d c | say f e", "", "a b c d e f > a f", ""},
		{"an edit of nothing", "", "user a - | say b a | edit c b zz | user d c", "", "a b c d > a b d", ""},
	} {
		t.Run(c.name, c.test)
	}
}

// sprigAccount checks that every whole line of a session is in the outcome or in quarantine.
func sprigAccount(text string, m sprigMend) error {
	if m.done == nil {
		return nil
	}
	var aside [][]byte
	for _, r := range m.done.Removed {
		if r.Data != nil {
			aside = append(aside, r.Data)
		} else {
			aside = append(aside, []byte(text)[r.Off:r.Off+r.Len])
		}
	}
	have := map[string]int{}
	for l := range strings.SplitSeq(m.out+"\n"+string(bytes.Join(aside, []byte("\n"))), "\n") {
		if k := sprigSame(l); k != "" {
			have[k]++
		}
	}
	for i, l := range strings.Split(text, "\n") {
		k := sprigSame(l)
		if k == "" {
			continue
		}
		if have[k]--; have[k] < 0 {
			return fmt.Errorf("line %d is neither in the outcome nor in quarantine: %s", i+1, l)
		}
	}
	return nil
}
