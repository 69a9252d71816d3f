package verify_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/verify"
)

// randomPi is a shorthand of up to most entries: ids, parents, kinds, calls and results at random, most of them as a client
// writes them.
func randomPi(rnd *rand.Rand, most int) string {
	pick := func(list ...string) string { return list[rnd.IntN(len(list))] }
	n := 1 + rnd.IntN(most)
	var out []string
	any := func() string {
		return letter(rnd.IntN(n)) // also of a later one
	}
	empty := func(id string) string {
		if rnd.IntN(40) == 0 {
			return "''"
		}
		return id
	}
	calls, again := 0, rnd.IntN(2) == 0 // the ids of calls are used again
	call := func() string {
		if again {
			return empty(pick("1", "1", "2", "3"))
		}
		calls++
		return empty(fmt.Sprint(calls))
	}
	result := func() string {
		if calls > 0 && rnd.IntN(8) > 0 {
			return empty(fmt.Sprint(1 + max(0, calls-1-rnd.IntN(3))))
		}
		return empty(pick("1", "2", "99"))
	}
	odd := rnd.IntN(20) // how seldom something is odd: 0 = each time
	seldom := func(k int) bool { return rnd.IntN(k*(odd+1)) == 0 }
	for range n {
		rec := ""
		switch rnd.IntN(12) {
		case 0, 1:
			rec = "u"
		case 2, 3, 4:
			rec = pick("a", "a", "a", "a", "a", "len", "err", "abo")
			for range rnd.IntN(3) {
				rec += " " + call()
			}
		case 5, 6, 7, 8:
			rec = pick("r", "r", "r", "r", "ours", "claw") + " " + result()
		case 9:
			rec = pick("label a", "info", "custom", "usage", "model", "think", "odd", "sys", "sh-", "bs0")
		case 10:
			rec = pick("cm", "sh", "bs", "u", "u")
		default:
			switch rnd.IntN(8) {
			case 0, 1:
				rec = "c " + pick(any(), any(), any(), "zz")
			case 2:
				rec = "ed " + any()
			case 3:
				rec = "ed " + any() + " + " + pick("", call())
			default:
				rec = "u"
			}
		}
		if seldom(30) {
			rec = "husk"
		}
		switch {
		case seldom(20):
			rec = "~" + rec
		case seldom(20):
			rec = "^" + rec
		case seldom(20):
			rec = "%" + rec
		}
		switch {
		case seldom(8):
			rec = "<" + any() + " " + rec
		case seldom(20):
			rec = pick("<-", "<-", "<.", "<''", "<?") + " " + rec
		}
		switch {
		case seldom(20):
			rec = "@" + any() + " " + rec
		case seldom(40):
			rec = pick("@.", "@''") + " " + rec
		}
		out = append(out, rec)
		switch {
		case seldom(30):
			out = append(out, "="+letter(rnd.IntN(len(out))))
		case seldom(40):
			out = append(out, "{}")
		}
	}
	return strings.Join(out, " | ")
}

// checkPi holds what verify and repair make of a session against what the client makes of it.
func checkPi(t *testing.T, log, client string) {
	t.Helper()
	if err := piWrong(t, log, piHead+piLog(log), client); err != nil {
		t.Fatal(err)
	}
}

func piWrong(t *testing.T, log, text, client string) error {
	edits := client != "0.73.1"
	m, err := tryPi(t, piPath, client, text)
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%s\nlog    %s\nfound  %s: %s\nbefore %s\nafter  %s\n%s", fmt.Sprintf(format, args...), log, m.before.Verdict, said(m.before), view(text, edits), view(m.fixed, edits), m.fixed)
	}
	if err != nil {
		return fail("%v", strings.SplitN(err.Error(), "\n", 2)[0])
	}
	if m.before.Verdict == verify.Refused {
		for _, f := range m.before.Findings {
			if f.Cure == finding.Refuse && f.Code != finding.EmptyCallID && f.Code != finding.HeaderInvalid {
				return fail("refused for %s", f.Code)
			}
		}
		return nil
	}
	now := openPi(m.fixed, edits)
	switch {
	case !now.loads:
		return fail("the client does not load it")
	case now.circle:
		return fail("the client hangs")
	case now.breaks != "":
		return fail("the client breaks: %s", now.breaks)
	case now.refuse != "":
		return fail("the provider refuses: %s", now.refuse)
	}
	if again := mendPi(t, piPath, client, m.fixed); again.before.Verdict != verify.Clean {
		return fail("a second look finds %s", said(again.before))
	}
	has := map[string]bool{}
	for l := range strings.Lines(m.fixed) {
		var e piEntry
		if json.Unmarshal([]byte(l), &e) == nil {
			has[nameOf(&e)] = true
		}
	}
	at := 0
	kept := map[string]bool{} // named in a finding, or dropped
	for l := range strings.Lines(text) {
		var e piEntry
		if json.Unmarshal([]byte(l), &e) == nil && e.Type != "session" {
			name := nameOf(&e)
			gone := slices.ContainsFunc(m.before.Drops, func(d verify.Drop) bool { return d.Text == int64(at) })
			if !has[name] && !gone {
				return fail("%s is lost", name)
			}
			was, again := kept[name]
			kept[name] = (was || !again) && !gone && !slices.ContainsFunc(m.before.Findings, func(f finding.Finding) bool { return f.Damage() && f.Record.Text == int64(at) && f.Record.TextLen > 0 })
		}
		at += len(l)
	}
	was := openPi(text, edits)
	if was.circle || was.breaks != "" {
		return nil
	}
	for _, f := range m.before.Findings {
		if f.Code == finding.WrongLeaf || f.Code == finding.IDConflict || f.Where == "stray-last" {
			return nil // the client is elsewhere
		}
	}
	for _, name := range was.path {
		if kept[name] && !slices.Contains(now.path, name) {
			return fail("%s was on the way, and is it no more", name)
		}
	}
	return nil
}

// Random trees: what verify calls repairable can be repaired, and what it calls clean is taken by the client and its provider.
func TestRandomPaths(t *testing.T) {
	for seed := range uint64(3000) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		client := ""
		if seed%5 == 0 {
			client = "0.73.1"
		}
		checkPi(t, randomPi(rnd, 4+int(seed%14)), client)
	}
}

// The same of logs without ids.
func TestRandomLines(t *testing.T) {
	for seed := range uint64(2000) {
		log := noLinks.ReplaceAllString(randomPi(rand.New(rand.NewPCG(seed, 9)), 4+int(seed%14)), "")
		if err := piWrong(t, log, piHeadOld+piLogOld(log), ""); err != nil {
			t.Fatal(err)
		}
	}
}

// noLinks are what a shorthand says of ids and parents.
var noLinks = regexp.MustCompile(`[<@][^ ]* `)

// FuzzPath is the same from seeds of the fuzzer's own.
func FuzzPath(f *testing.F) {
	for seed := range uint64(16) {
		f.Add(seed, uint8(8), seed%5 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, most uint8, old bool) {
		rnd := rand.New(rand.NewPCG(seed, 11))
		client := ""
		if old {
			client = "0.73.1"
		}
		checkPi(t, randomPi(rnd, 1+int(most%24)), client)
	})
}
