package verify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/verify"
)

// pinned mends a rollout of which other files count some bytes. Out is the input where nothing is to be done or can be.
func pinned(t testing.TB, text string, pin func() int64, accept ...finding.Code) (res *verify.Result, out string, err error) {
	t.Helper()
	in := rolloutInput(t, rolloutPath, text)
	in.Pin, in.Accept = pin, map[finding.Code]bool{}
	for _, c := range accept {
		in.Accept[c] = true
	}
	ctx := context.Background()
	if res, err = verify.Session(ctx, in); err != nil {
		t.Fatal(err)
	}
	if res.Verdict != verify.Repairable {
		return res, text, nil
	}
	plan, err := repair.MakePlan(ctx, in, res)
	if err != nil {
		return res, text, err
	}
	r, err := plan.Apply(in.R, in.Size)
	if err != nil {
		return res, text, err
	}
	if _, err := repair.Prove(ctx, in, r); err != nil {
		return res, text, err
	}
	var b bytes.Buffer
	if _, err := r.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return res, b.String(), nil
}

// at is a pin at a place.
func at(n int) func() int64 { return func() int64 { return int64(n) } }

// ordinal is where a record has its number.
var ordinal = regexp.MustCompile(`"ordinal":\d+`)

// moved finds a whole line in front of the pin that stands elsewhere in the output, or not at all. A line that became
// blank does not count, nor one that got another number.
func moved(in, out string, pin int64) error {
	at := int64(0)
	for _, l := range strings.SplitAfter(in, "\n") {
		end := at + int64(len(l))
		if end > pin {
			break
		}
		if strings.HasPrefix(l, "{") && json.Valid([]byte(l)) && utf8.ValidString(l) {
			got := out[min(at, int64(len(out))):min(end, int64(len(out)))]
			if ordinal.ReplaceAllString(got, "") != ordinal.ReplaceAllString(l, "") && strings.Trim(got, " \n") != "" {
				return fmt.Errorf("the line at %d, %.60q, reads %.60q", at, l, got)
			}
		}
		at = end
	}
	return nil
}

// What a cure does with bytes that others count. Each case damages line 5 of a rollout, or what is named.
func TestPins(t *testing.T) {
	base := rollout("paginated", "start t1 | user u | prompt | say x | call c1 | out c1 | say y | end t1")
	lines := strings.SplitAfter(base, "\n")
	with := func(n int, s string) string {
		l := append([]string{}, lines...)
		l[n-1] = s
		return strings.Join(l, "")
	}
	fifth := strings.TrimSuffix(lines[4], "\n")
	blank := func(n int) string { return strings.Repeat(" ", n) }
	broken := func(s string) string { return strings.Replace(base, `"text":"x"`, `"text":"`+s+`"`, 1) }
	const keeps, moves = true, false
	for _, c := range []struct {
		name, text string
		keeps      bool   // it is cured in place; else bytes move, and only an offer does that
		want       string // the result where bytes are counted
		free       string // and where none are
	}{
		{"a torn line", with(5, fifth[:50]+"\n"), keeps, with(5, blank(50)+"\n"), with(5, "")},
		{"a torn line, glued to the next", with(5, fifth[:50]), keeps, with(5, blank(50)), with(5, "")},
		{"a whole line, glued to a torn one", with(5, fifth+fifth[:50]), keeps, with(5, fifth+blank(49)+"\n"), with(5, fifth+"\n")},
		{"a torn end behind a whole one", with(5, fifth+"xyz\n"), keeps, with(5, fifth+"   \n"), with(5, fifth+"\n")},
		{"two whole ones glued", with(5, fifth), moves, "", base},
		{"two whole ones, a space between", with(5, fifth+" "), keeps, base, base},
		{"NUL bytes in front", with(5, "\x00\x00\x00"+lines[4]), keeps, with(5, "   "+lines[4]), base},
		{"NUL bytes behind", with(5, fifth+"\x00\x00\n"), keeps, with(5, fifth+"  \n"), base},
		{"NUL bytes between", with(5, fifth+"\x00\x00"), keeps, with(5, fifth+" \n"), base},
		{"a line of NUL bytes", with(5, "\x00\x00\n"+lines[4]), keeps, with(5, "  \n"+lines[4]), base},
		{"a byte that is no UTF-8", broken("a\xffb"), keeps, broken("a?b"), broken("a\uFFFDb")},
		{"a letter cut off", broken("a\xe2\x82b"), keeps, broken("a??b"), broken("a\uFFFDb")},
		{"half a letter of four bytes", broken("a\xf0\x9f\x98"), keeps, broken("a\uFFFD"), broken("a\uFFFD")},
		{"a control character", broken("a\x01b"), moves, "", broken(`a\u0001b`)},
		{"a tab", broken("a\tb"), moves, "", broken(`a\tb`)},
		{"a newline in a string", broken("a\nb"), moves, "", broken(`a\nb`)},
		{"a newline between members", strings.Replace(base, `"role":"assistant",`, "\"role\":\"assistant\",\n", 1), keeps,
			strings.Replace(base, `"role":"assistant",`, `"role":"assistant", `, 1), strings.Replace(base, `"role":"assistant",`, `"role":"assistant", `, 1)},
		{"a byte order mark", "\xEF\xBB\xBF" + base, keeps, base, base},
		{"a record twice", with(5, lines[4]+lines[4]), keeps, with(5, lines[4]+blank(len(fifth))+"\n"), base},
		{"a record twice, with a bad byte", strings.Replace(with(5, lines[4]+lines[4]), `"x"`, "\"\xff\"", 2), keeps,
			strings.Replace(with(5, lines[4]+blank(len(fifth))+"\n"), `"x"`, `"?"`, 1), strings.Replace(base, `"x"`, "\"\uFFFD\"", 1)},
		{"a second header", rollout("paginated", "user u | head | say x"), keeps, "", ""},
		{"no object", with(5, lines[4]+"[1]\n"), keeps, with(5, lines[4]+"   \n"), base},
		{"a torn end", base + fifth[:50], keeps, base, base},
		{"no last newline", strings.TrimSuffix(base, "\n"), keeps, base, base},
	} {
		t.Run(c.name, func(t *testing.T) {
			free, counted := c.free, c.want
			if c.name == "a second header" {
				l := strings.SplitAfter(c.text, "\n")
				counted, free = l[0]+l[1]+blank(len(l[2])-1)+"\n"+l[3], l[0]+l[1]+l[3]
			}
			for name, p := range map[string]func() int64{"nobody knows": nil, "0": at(0), "the end": at(len(c.text)), "behind the end": at(1 << 40)} {
				res, out, err := pinned(t, c.text, p)
				if c.name == "a torn end" && name != "nobody knows" && name != "0" {
					counted = base + blank(50) + "\n" // somebody counted beyond it: it only ends
				} else if c.name == "a torn end" {
					counted = base
				}
				switch {
				case err != nil:
					t.Fatalf("%s: %v", name, err)
				case c.keeps && (res.Verdict != verify.Repairable || out != counted):
					t.Errorf("pinned to %s it is %s: %s\n got %q\nwant %q", name, res.Verdict, said(res), out, counted)
				case !c.keeps && (res.Verdict != verify.Refused || len(res.Offers) != 1 || !res.Offers[0].Moves || res.Offers[0].Code != res.Findings[0].Code):
					t.Errorf("pinned to %s it is %s: %s; %+v", name, res.Verdict, said(res), res.Offers)
				case !c.keeps && !strings.HasSuffix(res.Findings[0].Repair, "repair --accept "+string(res.Findings[0].Code)):
					t.Errorf("%s: %s", name, res.Findings[0].Repair)
				}
			}
			// Bytes may move where nobody counts them, or only those in front of the damage.
			for name, p := range map[string]func() int64{"nobody": at(-1), "the header": at(len(lines[0]))} {
				if c.name == "a byte order mark" {
					continue
				}
				if res, out, err := pinned(t, c.text, p); err != nil || res.Verdict != verify.Repairable || len(res.Offers) > 0 || out != free {
					t.Errorf("pinned by %s it is %s: %s, %v\n got %q\nwant %q", name, res.Verdict, said(res), err, out, free)
				}
			}
			if c.keeps {
				return
			}
			res, out, err := pinned(t, c.text, nil, finding.GluedWhole, finding.ControlChar, finding.SplitRecord)
			if err != nil || res.Verdict != verify.Repairable || out != free {
				t.Errorf("accepted, it is %s: %s, %v\n got %q\nwant %q", res.Verdict, said(res), err, out, free)
			}
		})
	}
	// In a rollout without numbers bytes move, whatever is said of them.
	for _, name := range []string{"glued", "torn"} {
		text := rollout("legacy", "user u | say x | user v")
		l := strings.SplitAfter(text, "\n")
		l[2] = map[string]string{"glued": strings.TrimSuffix(l[2], "\n"), "torn": l[2][:40] + "\n"}[name]
		if res, out, err := pinned(t, strings.Join(l, ""), func() int64 { t.Error("it is asked who counts"); return 0 }); err != nil || res.Verdict != verify.Repairable || strings.Contains(out, "  ") {
			t.Errorf("%s: %s %v\n%s", name, res.Verdict, err, out)
		}
	}
}

// A header that is lost is written anew into its place, where it fits; what stands behind it does not move.
func TestPinsHeader(t *testing.T) {
	base := rollout("paginated", "start t1 | ctx | user u | end t1")
	head, rest, _ := strings.Cut(base, "\n")
	long := strings.Replace(head, `"cwd"`, `"base_instructions":{"text":"`+strings.Repeat("be brief ", 50)+`"},"cwd"`, 1)
	_, anew, err := pinned(t, rest, at(-1))
	if err != nil {
		t.Fatal(err)
	}
	fits := len(anew) - len(rest) - 1 // the length of a header of which nothing remains
	for _, c := range []struct {
		name, head string // its newline included, where there is one
		keeps      bool
	}{
		{"torn near its end", long[:len(long)-3] + "\n", false},
		{"torn in the middle", long[:300] + "\n", true},
		{"torn, and glued to the next", long[:301], true},
		{"blank", strings.Repeat(" ", len(long)) + "\n", true},
		{"never written", strings.Repeat("\x00", len(long)) + "\n", true},
		{"never written, its newline neither", strings.Repeat("\x00", len(long)+1), true},
		{"of just the same length", strings.Repeat("x", fits) + "\n", true},
		{"one byte too short", strings.Repeat("x", fits-1) + "\n", false},
		{"torn early", long[:50] + "\n", false},
		{"gone", "", false},
		{"without a member", strings.Replace(long, `"originator":"o",`, "", 1) + "\n", false},
		{"with a member of another kind", strings.Replace(long, `"cwd":"/w"`, `"cwd":[1,2,3,4,5]`, 1) + "\n", false},
		{"with one of just the same length", strings.Replace(long, `"cwd":"/w"`, `"cwd":null`, 1) + "\n", true},
	} {
		text := c.head + rest
		for name, p := range map[string]func() int64{"nobody knows": nil, "the end": at(len(text))} {
			res, out, err := pinned(t, text, p)
			switch {
			case err != nil:
				t.Errorf("%s, pinned to %s: %v", c.name, name, err)
			case !c.keeps && (res.Verdict != verify.Refused || len(res.Offers) != 1 || !res.Offers[0].Moves):
				t.Errorf("%s, pinned to %s: %s: %s, %+v", c.name, name, res.Verdict, said(res), res.Offers)
			case c.keeps && (res.Verdict != verify.Repairable || len(out) != len(text) || out[len(c.head):] != rest || out[len(c.head)-1] != '\n'):
				t.Errorf("%s, pinned to %s: %s: %s\n%s", c.name, name, res.Verdict, said(res), out)
			}
		}
		for name, p := range map[string]func() int64{"nobody": at(-1), "accepted": nil} {
			var accept []finding.Code
			if name == "accepted" {
				accept = []finding.Code{finding.HeaderMissing, finding.HeaderInvalid}
			}
			if res, out, err := pinned(t, text, p, accept...); err != nil || res.Verdict != verify.Repairable || !strings.HasSuffix(out, "\n"+rest) {
				t.Errorf("%s, %s: %s: %s, %v\n%s", c.name, name, res.Verdict, said(res), err, out)
			}
		}
	}
}

// Where bytes must not move a fault is offered once, however often it is there.
func TestPinsOffers(t *testing.T) {
	base := rollout("paginated", "user u | say x | user v | say y | user w")
	l := strings.SplitAfter(base, "\n")
	bald := strings.Replace(l[2], `"timestamp":"2026-01-02T03:04:02.000Z",`, "", 1)
	for name, c := range map[string]struct{ text, want string }{
		"glued twice":              {l[0] + l[1] + strings.TrimSuffix(l[2], "\n") + l[3] + strings.TrimSuffix(l[4], "\n") + l[5], "GLUED_WHOLE"},
		"glued, and bad elsewhere": {l[0] + l[1] + strings.TrimSuffix(l[2], "\n") + l[3] + strings.Replace(l[4], `"y"`, "\"\x01\"", 1) + l[5], "CONTROL_CHAR GLUED_WHOLE"},
		"a record without a time":  {l[0] + l[1] + bald + l[3] + l[4] + l[5], "EVENT_INVALID"},
	} {
		res, _, err := pinned(t, c.text, nil)
		var codes []string
		for _, o := range res.Offers {
			if codes = append(codes, string(o.Code)); !o.Moves || o.Keeps > 0 || o.Sets > 0 {
				t.Errorf("%s: %+v", name, o)
			}
		}
		if slices.Sort(codes); err != nil || res.Verdict != verify.Refused || strings.Join(codes, " ") != c.want {
			t.Errorf("%s: %s: %s; %q, %v", name, res.Verdict, said(res), codes, err)
		}
	}
}

// A newline that was lost when others had counted the log is put in: that brings their places back.
func TestPinsPutBack(t *testing.T) {
	base := rollout("paginated", "user u | say x | user v | say y | user w")
	l := strings.SplitAfter(base, "\n")
	place := func(n int) int64 { return int64(len(strings.Join(l[:n], ""))) } // behind line n, as it was
	glued := func(lines ...int) string {
		out := ""
		for i, s := range l {
			if slices.Contains(lines, i+1) {
				s = strings.TrimSuffix(s, "\n")
			}
			out += s
		}
		return out
	}
	for _, c := range []struct {
		name, text string
		places     []int64
		back       bool
	}{
		{"behind it", glued(2), []int64{place(4)}, true},
		{"right behind it", glued(2), []int64{place(2)}, false}, // with or without the newline it is no line's end
		{"in front of it, and behind it", glued(3), []int64{place(2), place(5)}, true},
		{"two lost, behind both", glued(2, 4), []int64{place(5)}, true},
		{"two lost, behind one and both", glued(2, 4), []int64{place(3), place(5)}, true},
		{"counted since it was lost", glued(2), []int64{place(4) - 1}, false},
		{"some before, some since", glued(2), []int64{place(4), place(5) - 1}, false},
		{"nobody knows", glued(2), nil, false},
		{"inside a record", glued(2), []int64{place(4) - 9}, false},
		{"behind the end", glued(2), []int64{place(6) + 40}, false},
	} {
		in := rolloutInput(t, rolloutPath, c.text)
		most := int64(0)
		for _, p := range c.places {
			most = max(most, p)
		}
		in.Pin, in.Places = func() int64 { return most }, func() []int64 { return c.places }
		res, err := verify.Session(context.Background(), in)
		want := verify.Refused
		if c.back {
			want = verify.Repairable
		}
		if err != nil || res.Verdict != want || c.back != (len(res.Offers) == 0) {
			t.Errorf("%s: %s: %s; %+v, %v", c.name, res.Verdict, said(res), res.Offers, err)
		}
	}
}

// A record gets the number that its neighbours leave where that moves nothing.
func TestPinsNumbers(t *testing.T) {
	for _, c := range []struct {
		name, log string
		pin       func() int64
		want      string
		verdict   verify.Verdict
	}{
		{"none, pinned", "user u | ~say x | @3 user v", nil, "SEQ_MISSING exact note 3", verify.Clean},
		{"none, pinned, of two digits", "@10 user u | ~say x | @12 user v", nil, "SEQ_GAP note 2, SEQ_MISSING exact note 3", verify.Clean},
		{"none, not counted", "user u | ~say x | @3 user v", at(-1), "SEQ_MISSING exact warning 3", verify.Repairable},
		{"none, behind the last place", "user u | ~say x | @3 user v", at(200), "SEQ_MISSING exact warning 3", verify.Repairable},
		{"another of the same length", "user u | say x | @1 user v | @4 say y", nil, "SEQ_MISSING exact warning 4", verify.Repairable},
		{"another that is shorter", "@8 user u | say x | @9 user v | @11 say y", nil, "SEQ_GAP note 2, SEQ_MISSING exact note 4", verify.Clean},
		{"and not counted", "@8 user u | say x | @9 user v | @11 say y", at(-1), "SEQ_GAP note 2, SEQ_MISSING exact warning 4", verify.Repairable},
	} {
		text := rollout("paginated", c.log)
		res, out, err := pinned(t, text, c.pin)
		if err != nil || said(res) != c.want || res.Verdict != c.verdict || (out != text) != (c.verdict == verify.Repairable) {
			t.Errorf("%s: %s: %s, %v\n%s", c.name, res.Verdict, said(res), err, out)
		}
	}
}

// Who counts is asked only where something is to be mended.
func TestPinsAskedRarely(t *testing.T) {
	asked := 0
	pin := func() int64 { asked++; return -1 }
	for _, log := range []string{"user u | say x", "start t1 | call c1", "call c1 | say x", "start t1 | user u"} {
		if _, _, err := pinned(t, rollout("paginated", log), pin); err != nil || asked > 0 {
			t.Errorf("%s: asked %d times, %v", log, asked, err)
		}
	}
	if _, _, err := pinned(t, rollout("paginated", "user u")+"{\n", pin); err != nil || asked == 0 {
		t.Errorf("asked %d times, %v", asked, err)
	}
}

// damaged is a rollout with one to three damages of a seed. Bad bytes hit what was said, and not the bones of a record.
func damaged(rnd *rand.Rand) string {
	text := rollout("paginated", "start t1 | ctx | user Salut | prompt | say Bonjour | call c1 | custom c2 | out c1 Voila | cout c2 | say Merci | end t1 | set x | start t2 | user Encore | call c3 | out c3 Fini | end t2")
	words := []string{"Salut", "Bonjour", "Voila", "Merci", "Encore", "Fini"}
	for range 1 + rnd.IntN(3) {
		l := strings.SplitAfter(text, "\n")
		n := rnd.IntN(max(1, len(l)-1))
		s := l[n]
		cut, most := rnd.IntN(len(s)+1), 14
		if n == 0 {
			most = 7 // the header may be torn, lost or repeated
		}
		switch rnd.IntN(most) {
		case 0:
			l[n] = s[:cut] + "\n"
		case 1:
			l[n] = s[:cut]
		case 2:
			l[n] = strings.TrimSuffix(s, "\n")
		case 3:
			l[n] = strings.Repeat("\x00", 1+rnd.IntN(5)) + s
		case 4:
			l[n] = s + l[rnd.IntN(n+1)]
		case 5:
			l[n] = ""
		case 6:
			l[n] = s + []string{"\n", "   \n", "[1]\n", "null\n", "junk\n", "\x00\x00\n"}[rnd.IntN(6)]
		case 7:
			text = text[:rnd.IntN(len(text)+1)]
			continue
		case 8:
			l[n] = s[cut:]
		case 9: // a block that was never written
			at := len(strings.Join(l[:n], ""))
			size := min(rnd.IntN(400), len(text)-at)
			text = text[:at] + strings.Repeat("\x00", size) + text[at+size:]
			continue
		case 10, 11, 12:
			w := words[rnd.IntN(len(words))]
			k := 1 + rnd.IntN(len(w)-1)
			bad := []string{"\xff", "\xe2\x82", "\x02", "\t", "\n", "\x00"}[rnd.IntN(6)]
			text = strings.Replace(text, w, w[:k]+bad+w[k:], 1)
			continue
		case 13:
			l[n] = s + strings.Replace(s, `"ordinal":`, `"ordinal":0`, 1)
		}
		text = strings.Join(l, "")
	}
	return text
}

// Whatever is damaged, the lines that are whole and that others count stay where they are, and the result is clean.
func TestPinsProperty(t *testing.T) {
	verdicts := map[verify.Verdict]int{}
	for seed := range uint64(2000) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		text := damaged(rnd)
		pin, counted := func() int64 { return 0 }, int64(math.MaxInt64)
		switch rnd.IntN(3) {
		case 0:
			pin, counted = at(-1), 0
		case 1:
			n := 1 + strings.IndexByte(text[rnd.IntN(len(text)+1):], '\n')
			if n == 0 {
				n = len(text)
			}
			pin, counted = at(n), int64(n)
		}
		res, out, err := pinned(t, text, pin)
		verdicts[res.Verdict]++
		if err != nil {
			t.Errorf("seed %d, pin %d: %v\n%s", seed, counted, err, text)
			continue
		}
		if slices.ContainsFunc(res.Findings, func(f finding.Finding) bool { return f.Where == "late" }) {
			continue // the header goes back to where it stood
		}
		if err := moved(text, out, counted); err != nil {
			t.Errorf("seed %d, pin %d: %s: %v\n%s\n%s", seed, counted, said(res), err, text, out)
		}
	}
	t.Log(verdicts)
}
