package repair_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/edit"
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/toy"
	"github.com/sessfix/sessfix/internal/damage/trial"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
	"github.com/sessfix/sessfix/verify"
)

// treeTrial repairs a log of the second toy in memory. The error is that of the plan or of its proof.
func treeTrial(t testing.TB, data []byte) (*trial.Trial, error) {
	t.Helper()
	ctx := context.Background()
	in := verify.Input{
		Path: "x" + toy.TreeSuffix, R: bytes.NewReader(data), Size: int64(len(data)), Medium: scan.Lines,
		Format: toy.Tree{}, Dialect: toy.TreeDialect(1),
	}
	tr := &trial.Trial{In: data, Out: data}
	if tr.Packed = bytes.HasPrefix(data, []byte{0x28, 0xB5, 0x2F, 0xFD}); tr.Packed {
		in.Medium = scan.Frames
	}
	var err error
	if tr.Before, err = verify.Session(ctx, in); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	if tr.Before.Verdict != verify.Repairable {
		return tr, nil
	}
	if tr.Plan, err = repair.MakePlan(ctx, in, tr.Before); err != nil {
		return tr, err
	}
	r, err := tr.Plan.Apply(in.R, in.Size)
	if err != nil {
		return tr, err
	}
	if tr.After, err = repair.Prove(ctx, in, r); err != nil {
		return tr, err
	}
	var out bytes.Buffer
	if _, err := r.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	tr.Result, tr.Out = r, out.Bytes()
	return tr, nil
}

// checkTree holds a repair that was proved against what is promised for every input: whole records are kept or set
// aside, healthy bytes only get an appendix, a second repair finds nothing, and the same input gives the same output.
func checkTree(t testing.TB, tr *trial.Trial) {
	t.Helper()
	if !tr.Repaired() {
		return
	}
	if err := tr.Check(false); err != nil {
		t.Fatalf("%v\n%s\ngives\n%s", err, show(tr.In, tr.Before), tr.Out)
	}
	healthy := !slices.ContainsFunc(tr.Before.Findings, func(f finding.Finding) bool {
		e, _ := finding.Lookup(f.Code)
		return e.Stage == finding.StageBytes && f.Damage()
	})
	if healthy && (!bytes.HasPrefix(tr.Out, tr.In) || tr.Result.Account.Kept != int64(len(tr.In))) {
		t.Fatalf("more than an appendix\n%s\ngives\n%s", show(tr.In, tr.Before), tr.Out)
	}
	again, err := treeTrial(t, tr.Out)
	if err != nil || again.Before.Verdict != verify.Clean {
		t.Fatalf("the second time: %s, %v\n%s", again.Before.Verdict, err, show(tr.Out, again.Before))
	}
	same, err := treeTrial(t, tr.In)
	if err != nil || !bytes.Equal(same.Out, tr.Out) {
		t.Fatalf("two repairs of one log differ: %v\n%s\n%s", err, tr.Out, same.Out)
	}
}

// sentIDs are the messages that the client of the second toy sends of a log, by their ids.
func sentIDs(t testing.TB, data []byte) []string {
	t.Helper()
	d := toy.TreeDialect(1)
	s, err := scan.New(context.Background(), bytes.NewReader(data), int64(len(data)), scan.Options{Medium: scan.Lines, Framing: d.Framing()})
	if err != nil {
		t.Fatal(err)
	}
	dec := d.NewDecoder(format.Place{})
	tree, ids := session.Tree{}, []string{}
	var b format.Batch
	for s.Next() {
		b.Reset()
		r := s.Record()
		dec.Decode(r, &b)
		if b.Points {
			tree.Pointers = append(tree.Pointers, session.Pointer{Leaf: b.Leaf, Rec: r.Ref()})
		}
		if !b.Linked {
			continue
		}
		var legs []session.Leg
		for i := range b.Events {
			if e := &b.Events[i]; e.Kind == session.CallAsked || e.Kind == session.CallResult {
				legs = append(legs, tree.Leg(e, e.Call.Of(r.Raw), e.Name.Of(r.Raw)))
			}
		}
		n, again := tree.Add(b.Link, r.Ref(), legs)
		tree.Keep(n, b.Keeps)
		if !again {
			var x struct{ ID string }
			if err := json.Unmarshal(r.Raw, &x); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, x.ID)
		}
	}
	tree.Grow()
	tree.Join()
	leaf := d.Leaf(&tree)
	if leaf < 0 {
		return nil
	}
	var out []string
	for _, n := range d.Replay(&tree, tree.Path(leaf)) {
		if x := &tree.Nodes[n]; x.Kind.Talk() && !x.Void {
			out = append(out, ids[n])
		}
	}
	return out
}

// added tells the records of an appendix in the shorthand of toy.TreeLog; a text that is not the id stands in quotes.
func added(t testing.TB, lines []byte) string {
	t.Helper()
	var out []string
	for _, l := range bytes.Split(bytes.TrimSpace(lines), []byte("\n")) {
		var r struct {
			T, ID, Leaf, Text string
			Up                *string
			Side              bool
			Calls             []struct{ ID string }
			Res               []struct {
				ID, Text string
				Made     bool
			}
		}
		if err := json.Unmarshal(l, &r); err != nil {
			t.Fatalf("%v: %s", err, l)
		}
		if r.T == "tip" {
			out = append(out, "tip "+r.Leaf)
			continue
		}
		s := r.T + " " + r.ID + " -"
		if r.Up != nil {
			s = r.T + " " + r.ID + " " + *r.Up
		}
		for _, c := range r.Calls {
			s += " +" + c.ID
		}
		for _, c := range r.Res {
			switch {
			case c.Made && c.Text == finding.ToolOutcomeUnknown:
				s += " ?" + c.ID
			case c.Made:
				s += " ~" + c.ID
			default:
				s += " =" + c.ID
			}
			if want := "of " + c.ID + " in " + r.ID; c.Text != want && c.Text != finding.ToolOutcomeUnknown {
				s += fmt.Sprintf(" %q", c.Text)
			}
		}
		if r.Side {
			s += " side"
		}
		if r.Text != "" && r.Text != r.ID {
			s += fmt.Sprintf(" %q", r.Text)
		}
		out = append(out, s)
	}
	return strings.Join(out, " | ")
}

// What repair appends to each kind of damage, and what the client sends then. "?" is a result that says that the
// outcome is not known.
func TestTreePlans(t *testing.T) {
	for _, c := range []struct{ name, log, want, sent string }{
		{"a lost parent", "user u - | say a u | user v zz | say b v", "user v a", "u a v b"},
		{"two lost parents", "user u - | say a u | user v yy | say b v | user w zz", "user v a | user w b", "u a v b w"},
		{"what one record held together", "user u - | note m zz | say a zz", "note m u | say a u | tip a", "u a"},
		{"a lost parent, and a tip", "user u - | say a u | user v zz | say b v | tip b", "user v a", "u a v b"},
		{"in a sub-agent's talk", "user x - side | user u - | say y zz side | say a u", "say y x side | tip a", "u a"},
		{"no parent", "user u - | say a u | user v - | say b v", "user v a", "u a v b"},
		{"its own parent", "user u - | say a u | user v v | say b v", "user v a", "u a v b"},
		{"a circle of three", "user u - | say a u | user v c | say b v | user c b", "user v a", "u a v b c"},
		{"two circles", "user u - | say a u | user v b | say b v | user w c | say c w", "user v a | user w b", "u a v b w c"},
		{"a tip on an older branch", "user u - | say a u | user v a | say b v | user w a at:5 | tip w", "tip b", "u a v b"},
		{"records out of order", "user u - | say a u | user v a at:50 | say b v at:60 | user w a at:30 | say c w at:40", "tip b", "u a v b"},
		{"the tip bears a sub-agent's mark", "user u - | say a u | user v a side | tip v", "user v a | tip v", "u a v"},
		{"a wall without summary", "user u - | say a u | wall w - prior:a", "note w a | tip a", "u a"},
		{"a wall without summary, and a tip", "user u - | say a u | tip a | wall w - prior:a keeps:a anchor:s", "note w a", "u a"},
		{"the summary is lost", "user u - | say a u | wall w - prior:a anchor:s | user v s | say b v | tip b", `sum s w "(the summary is lost)"`, "s v b"},
		{"the summary of two is lost", "user u - | wall w - prior:u keeps:u anchor:s | user v s | say b v | user x s | say c x | tip c", `sum s w "(the summary is lost)"`, "s u x c"},
		{"no result at the end", "user u - | say a u +c1 g:m", "res end-c1 a ?c1", "u a end-c1"},
		{"one of three at the end", "user u - | say a u +c1 +c2 +c3 g:m | res r a =c2", "res end-c1 a ?c1 | res end-c3 a ?c3", "u a end-c1 r end-c3"},
		{"no result in the middle", "user u - | say a u +c1 g:m | user v a | say b v g:n", "res end-c1 a ?c1 | tip b", "u a end-c1 v b"},
		{"one of two in the middle", "user u - | say a u +c1 g:m | say b a +c2 g:m | res r a =c1 | say c r g:n", "res end-c2 b ?c2 | tip c", "u a b end-c2 r c"},
		{"the lost parent was the result", "user u - | say a u +c1 g:m | say b zz g:n", "res zz a ?c1 | tip b", "u a zz b"},
		{"and held two", "user u - | say a u +c1 g:m | note n zz | say b zz g:n", "res zz a ?c1 | tip b", "u a zz b"},
		{"two lost results", "user u - | say a u +c1 g:m | say b yy +c2 g:n | say c zz g:o", "res yy a ?c1 | res zz b ?c2 | tip c", "u a yy b zz c"},
		{"no call", "user u - | say a u | res r a =c1 | say b r", `user r a "result of a lost call: of c1 in r"`, "u a r b"},
		{"one of two has no call", "user u - | say a u +c2 | res r a =c1 =c2 | say b r", `res r a =c2 "result of a lost call: of c1 in r"`, "u a r b"},
		{"the answer is lost", "user u - | res r zz =c1 | say b r", `user r u "result of a lost call: of c1 in r"`, "u r b"},
		{"no call, beside the way", "user u - | say a u | res r a =c1 | say b a | user v b", `user r a "result of a lost call: of c1 in r" | say b r`, "u a r b v"},
		{"two beside the way", "user u - | say a u | res r a =c1 | res s a =c2 | say b a",
			`user r a "result of a lost call: of c1 in r" | user s r "result of a lost call: of c2 in s" | say b s`, "u a r s b"},
		{"the real result behind", "user u - | say a u +c1 | res r a ~c1 | res s a =c1 | say b s", `res r a =c1 "of c1 in s" | tip b`, "u a r s b"},
		{"two calls, results under each", "user u - | say a u +c1 g:m | res r a =c1 | say b r +c1 g:n | res s b =c1 | user v s", `say b r +c1-2 | res s b =c1-2 "of c1 in s"`, "u a r b s v"},
		{"two calls, results by order", "user u - | say a u +c1 g:m | say b a +c1 g:n | user v b | res r v =c1 | res s r =c1 | user w s", `say b a +c1-2 | res s r =c1-2 "of c1 in s"`, "u a b v r s w"},
		{"the result tells the true id", "user u - | say a u +c1 g:m | res r a =c1 | say b r +c1 g:n | res s b =c2 | user v s", "say b r +c2", "u a r b s v"},
		{"an empty text", "user u - | say a u empty | user v a", `say a u "(empty)"`, "u a v"},
		{"an empty text that hangs elsewhere", "user u - | say a u | user v zz empty", `user v a "(empty)"`, "u a v"},
		{"everything", "user u - | say a u +c1 g:m | user v zz empty | res r yy =c9 | say b b | tip u",
			`user v zz "(empty)" | user r v "result of a lost call: of c9 in r" | say b r | res zz a ?c1 | tip b`, "u a zz v r b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr, err := treeTrial(t, []byte(toy.TreeLog(c.log)))
			if err != nil || !tr.Repaired() {
				t.Fatalf("%v\n%s", err, show(tr.In, tr.Before))
			}
			checkTree(t, tr)
			got, sent := added(t, tr.Out[len(tr.In):]), strings.Join(sentIDs(t, tr.Out), " ")
			if got != c.want || sent != c.sent {
				t.Errorf("%s\nadds   %s\nwant   %s\nsends  %s\nwant   %s", show(tr.In, tr.Before), got, c.want, sent, c.sent)
			}
			if _, _, fixed, err := prove(t, "x"+toy.TreeSuffix, tr.In, toy.Tree{}); err != nil || !bytes.Equal(fixed, tr.Out) {
				t.Errorf("recognised, it is repaired otherwise: %v\n%s", err, fixed)
			}
			// The same in frames.
			half := bytes.IndexByte(tr.In, '\n') + 1
			z, err := treeTrial(t, scan.EncodeFrame(scan.EncodeFrame(nil, tr.In[:half]), tr.In[half:]))
			if err != nil || !z.Repaired() || textOf(t, z.Out) != string(tr.Out) {
				t.Errorf("packed: %v\n%s", err, show(tr.In, z.Before))
			}
			checkTree(t, z)
			for _, r := range tr.Plan.Closings {
				if r.Code != finding.ToolOutcomeUnknown || r.Kind != "res" || r.CallID == "" {
					t.Errorf("%+v", r)
				}
			}
		})
	}
}

// Damaged bytes and a damaged tree at once: what is told anew is the record as it is once its bytes are mended.
func TestTreeBytes(t *testing.T) {
	line := func(short string) string { return toy.TreeLog(short) }
	cut := func(short string) string { return strings.TrimSuffix(line(short), "\n") }
	const torn = `{"t":"say","id":"t","up":"u","at":1`
	for _, c := range []struct{ name, log, want, sent string }{
		{"no final newline", line("user u -") + cut("say a u +c1 g:m"), "res end-c1 a ?c1", "u a end-c1"},
		{"a torn end", line("user u - | say a u +c1 g:m") + torn, "res end-c1 a ?c1", "u a end-c1"},
		{"a torn parent", line("user u -") + torn + "\n" + line("user v t"), "user v u", "u v"},
		{"a torn result", line("user u - | say a u +c1 g:m") + `{"t":"res","id":"r","up":"a","res":[{"id` + "\n" + line("say b r g:n"), "res r a ?c1 | tip b", "u a r b"},
		{"glued behind a torn record", line("user u -") + torn + line("user v t"), "user v u", "u v"},
		{"glued to a whole one", cut("user u -") + line("user v zz"), "user v u", "u v"},
		{"a control character", line("user u -") + strings.Replace(line("user v zz"), `"text":"v"`, `"text":"v`+"\x01"+`"`, 1), `user v u "v\x01"`, "u v"},
		{"bytes that are no UTF-8", line("user u -") + strings.Replace(line("user v zz"), `"text":"v"`, `"text":"v`+"\xff"+`"`, 1), `user v u "v�"`, "u v"},
		{"split over lines", line("user u -") + strings.Replace(line("user v zz"), `"text":"v"`, `"text":"v`+"\n"+`w"`, 1), `user v u "v\nw"`, "u v"},
		{"NULs in front of it", line("user u -") + "\x00\x00\x00" + line("user v zz"), "user v u", "u v"},
		{"NULs at the end", line("user u - | user v zz") + "\x00\x00\x00", "user v u", "u v"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr, err := treeTrial(t, []byte(c.log))
			if err != nil || !tr.Repaired() {
				t.Fatalf("%v\n%s", err, show(tr.In, tr.Before))
			}
			checkTree(t, tr)
			lines := bytes.SplitAfter(tr.Out, []byte("\n"))
			got := added(t, bytes.Join(lines[len(lines)-1-strings.Count(c.want, " | ")-1:], nil))
			sent := strings.Join(sentIDs(t, tr.Out), " ")
			if got != c.want || sent != c.sent {
				t.Errorf("%s\ngives\n%s\nwant at the end %s\nsends  %s\nwant   %s", show(tr.In, tr.Before), tr.Out, c.want, sent, c.sent)
			}
		})
	}
}

// talkTree is a healthy log as a client would write it: prompts, answers in pieces with parallel calls, results, notes,
// rewound branches, sub-agents, compactions, tips.
func talkTree(next func(n int) int) []string {
	var recs []string
	n, up, tips := 0, "-", false
	name := func(prefix string) string {
		n++
		return fmt.Sprint(prefix, n)
	}
	rec := func(typ, parent, more string) string {
		id := name(typ[:1])
		recs = append(recs, fmt.Sprintf("%s %s %s %s at:%d", typ, id, parent, more, 10*(n+1)))
		return id
	}
	for range 1 + next(3) {
		up = rec("user", up, "")
		for range next(3) {
			group, result := name("g"), ""
			if next(2) == 0 {
				up = rec("say", up, "g:"+group)
			}
			for range 1 + next(3) {
				call := name("c")
				up = rec("say", up, "g:"+group+" +"+call)
				result = rec("res", up, "="+call)
			}
			up = result
		}
		answer := rec("say", up, "g:"+name("g"))
		if next(6) == 0 {
			answer = rec("say", up, "g:"+name("g"))
		}
		if up = answer; next(5) == 0 {
			side := rec("user", "-", "side")
			rec("say", side, "side")
		}
		if next(4) == 0 {
			up = rec("note", up, "")
		}
		if tips = tips || next(5) == 0; tips {
			recs = append(recs, "tip "+up)
		}
		if next(5) == 0 {
			keeps := []string{"", " keeps:" + up}[next(2)]
			wall := rec("wall", "-", "prior:"+up+keeps)
			if up = rec("sum", wall, ""); tips {
				recs = append(recs, "tip "+up)
			}
		}
	}
	return recs
}

// TestTreeForgetsNothing drops records of healthy logs, but not the last message: what the client would have sent of
// those that are left, it sends once the log is repaired.
func TestTreeForgetsNothing(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(3000) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		recs := talkTree(rnd.IntN)
		whole, err := treeTrial(t, []byte(toy.TreeLog(strings.Join(recs, "|"))))
		if err != nil || len(whole.Before.Findings) > 0 {
			t.Fatalf("seed %d: no healthy log: %v\n%s", seed, err, show(whole.In, whole.Before))
		}
		gone := map[string]bool{}
		sent := sentIDs(t, whole.In)
		last := recs[slices.IndexFunc(recs, func(r string) bool { return strings.Fields(r)[1] == sent[len(sent)-1] })]
		for range rnd.IntN(4) {
			if i := rnd.IntN(len(recs)); !strings.HasPrefix(recs[i], last) {
				gone[strings.Fields(recs[i])[1]] = true
				recs = slices.Delete(recs, i, i+1)
			}
		}
		tr, err := treeTrial(t, []byte(toy.TreeLog(strings.Join(recs, "|"))))
		if unproved(err) {
			seen["unproved"]++
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, show(tr.In, tr.Before))
		}
		seen[tr.Before.Verdict.String()]++
		if tr.Before.Verdict == verify.Refused {
			continue
		}
		checkTree(t, tr)
		after := sentIDs(t, tr.Out)
		for _, id := range sent {
			if !gone[id] && !slices.Contains(after, id) {
				t.Fatalf("seed %d: %s is forgotten\n%s\ngives\n%s", seed, id, show(tr.In, tr.Before), tr.Out)
			}
		}
	}
	t.Log(seen)
	if seen["repairable"] < 1000 || seen["unproved"] > 10 {
		t.Error("too many are not repaired, or the damage does not reach what it tests")
	}
}

// wild is whether randomTree makes all that it can. Without it the log begins with a prompt, parents stand in front of
// their children or are lost, some records hang under themselves, each record holds one call or result, and walls name
// what is in front of them.
const wild = false

// randomTree is a small log without sense: ids of a small alphabet, parents among them, calls, results, walls, tips,
// records told anew.
func randomTree(next func(n int) int) string {
	ids := "abcdefgh"[:3+next(6)]
	anyID := func() string { return string(ids[next(len(ids))]) }
	call := func() string { return string("123"[next(3)]) }
	var recs, known []string
	if !wild {
		recs, known = []string{"user o -"}, []string{"o"}
	}
	for range 1 + next(9) {
		typ := []string{"user", "say", "say", "res", "res", "sum", "wall", "note", "tip"}[next(9)]
		if typ == "tip" {
			recs = append(recs, "tip "+anyID())
			continue
		}
		own := anyID()
		front := len(known) // what stands in front of it
		if i := slices.Index(known, own); i >= 0 {
			front = i
		} else {
			known = append(known, own)
		}
		id := anyID
		if !wild {
			id = func() string { return known[next(front)] }
		}
		up := id()
		switch k := next(16); {
		case k == 0 || typ == "wall" && !wild:
			up = "-"
		case k == 1:
			up = "zz"
		case k == 2:
			up = own
		}
		rec := typ + " " + own + " " + up
		again := 1
		if wild {
			again = 2
		}
		switch typ {
		case "say":
			for range next(1 + again) {
				rec += " +" + call()
			}
			rec += []string{"", " g:m", " g:n"}[next(3)]
		case "res":
			for range 1 + next(again) {
				rec += []string{" =", " =", " ~"}[next(3)] + call()
			}
		case "wall":
			if !wild || next(2) == 0 {
				rec += " prior:" + id()
			}
			rec += []string{"", " keeps:" + id() + "," + id()}[next(2)] + []string{"", " anchor:" + anyID()}[next(2)]
		}
		if next(3) == 0 {
			rec += fmt.Sprintf(" at:%d", next(90))
		}
		for _, flag := range []string{" side", " void", " fresh", " empty"} {
			if next(16) == 0 && (flag != " empty" || typ == "user" || typ == "say") {
				rec += flag
			}
		}
		if recs = append(recs, rec); next(12) == 0 {
			recs = append(recs, rec+" at:7", rec+" at:7")
		}
	}
	return strings.Join(recs, "|")
}

// unproved tells the errors that repair may end in instead of a result.
func unproved(err error) bool {
	return errors.Is(err, repair.ErrUnproved) || errors.Is(err, edit.ErrConflict)
}

// treeFate checks what became of a random log and names it.
func treeFate(t testing.TB, data []byte) string {
	t.Helper()
	tr, err := treeTrial(t, data)
	switch {
	case unproved(err):
		return "unproved"
	case err != nil:
		t.Fatalf("%v\n%s", err, show(tr.In, tr.Before))
	}
	checkTree(t, tr)
	return tr.Before.Verdict.String()
}

// TestTreeRandom counts how often a log without sense that is said to be repairable is not.
func TestTreeRandom(t *testing.T) {
	n := map[string]int{}
	for seed := range uint64(20_000) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		n[treeFate(t, []byte(toy.TreeLog(randomTree(rnd.IntN))))]++
	}
	rate := float64(n["unproved"]) / float64(n["unproved"]+n["repairable"])
	t.Logf("%v: %.1f%% of what is said to be repairable is not", n, 100*rate)
	if rate > 0.03 || n["repairable"] < 5000 || n["clean"] < 1000 || n["refuse"] < 100 {
		t.Error("too many are not repaired, or the logs do not reach what they test")
	}
}

// FuzzTree makes a log of the bytes: verify ends, and repair is proved or says that it is not.
func FuzzTree(f *testing.F) {
	for seed := range uint64(8) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		b := make([]byte, 120)
		for i := range b {
			b[i] = byte(rnd.IntN(256))
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		next := func(n int) int {
			if len(b) == 0 {
				return 0
			}
			v := int(b[0]) % n
			b = b[1:]
			return v
		}
		data := []byte(toy.TreeLog(randomTree(next)))
		if at := next(4 * len(data)); at < len(data) {
			data = append(data[:at:at], data[min(len(data), at+next(40)):]...) // and bytes are lost
		}
		treeFate(t, data)
	})
}
