package repair_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/verify"
)

// sprigKinds are what records of random trees are; those that matter stand there more than once.
var sprigKinds = []string{
	"user", "user", "say", "call 1", "call 2", "call 1 2", "call 1 1", "call 2 ''", "len 1 2", "err 1", "abo 2",
	"res 1", "res 1", "res 2", "res 2", "res 1", "res ''", "res 3", "ours 1", "claw 2", "comp", "edit", "edit + 1", "edit +",
	"label", "custom", "sys", "cm", "bs", "bs0", "sh-", "husk", "{}", "again", "cut", "stub", "lost",
}

// sprigRandom builds a session from bytes, four a record: its kind, its id, its parent, and what else it names.
func sprigRandom(data []byte) string {
	var recs, names []string
	pick := func(b byte) string {
		if len(names) == 0 {
			return "zz"
		}
		return names[int(b)%len(names)]
	}
	last := "-"
	for n := 0; len(data) >= 4 && n < 14; n, data = n+1, data[4:] {
		name := fmt.Sprintf("r%d", n)
		id := name
		switch b := data[1]; {
		case b < 190:
		case b < 230:
			id = pick(b)
		default:
			id = []string{".", "null", "''", "p", "q", "r0", "r1"}[b%7]
		}
		up := last
		switch b := data[2]; {
		case b < 140:
		case b < 150:
			up = "-"
		case b < 160:
			up = "."
		case b < 165:
			up = "''"
		case b < 175:
			up = "zz"
		case b < 185:
			up = name // itself, or one that is written later
		case b < 195:
			up = fmt.Sprintf("r%d", b%14)
		default:
			up = pick(b)
		}
		kind, arg, _ := strings.Cut(sprigKinds[int(data[0])%len(sprigKinds)], " ")
		how := ""
		switch kind {
		case "{}":
			recs = append(recs, `{"x":1}`)
			continue
		case "again":
			if len(names) > 0 {
				recs = append(recs, "again "+pick(data[3]))
			}
			continue
		case "comp":
			arg = pick(data[3])
		case "edit":
			arg = pick(data[3]) + " " + arg
		case "cut", "stub", "lost":
			how = kind + " "
			kind, arg, _ = strings.Cut([]string{"user", "say", "call 1", "call 2", "res 1", "res 2"}[data[3]%6], " ")
		}
		recs = append(recs, how+kind+" "+name+"="+id+" "+up+" "+arg)
		names = append(names, name)
		if id != "." && id != "null" && id != "''" {
			last = id
		}
	}
	return strings.Join(recs, " | ")
}

// sprigPromise repairs a session and holds the outcome against what is promised for every one: where nothing is refused, the
// client hangs and breaks nowhere, what it sends is what a provider takes, and no call is open at the end.
func sprigPromise(ctx context.Context, client, log string) (verify.Verdict, error) {
	text := sprigHead + sprigLog(log)
	m, err := mendSprig(ctx, sprigPath, client, text)
	if err != nil {
		return verify.Refused, err
	}
	if m.before.Verdict == verify.Refused {
		return m.before.Verdict, nil
	}
	v := sprigOpen(m.out, client == "")
	if len(v.wrong) > 0 {
		return m.before.Verdict, fmt.Errorf("%s: the client sees %s, found %s", m.before.Verdict, v, sprigFound(m.before))
	}
	left := slices.DeleteFunc(v.open, func(call string) bool { // the user took its result out
		return slices.ContainsFunc(m.before.Findings, func(f finding.Finding) bool {
			return f.Code == finding.DanglingCall && !f.Damage() && (f.CallID == call || f.CallID == "" && strings.HasPrefix(call, "call_")) && strings.HasSuffix(f.Message, "was edited out")
		})
	})
	if len(left) > 0 {
		return m.before.Verdict, fmt.Errorf("%s: calls are open at the end: %s, found %s", m.before.Verdict, v, sprigFound(m.before))
	}
	return m.before.Verdict, sprigAccount(text, m)
}

// FuzzPath repairs random small trees.
func FuzzPath(f *testing.F) {
	for i := range sprigKinds {
		f.Add([]byte{0, 0, 0, 0, 5, 0, 0, 0, byte(i), 0, 0, 1, 0, 0, 0, 0})
		f.Add([]byte{0, 0, 0, 0, 5, 0, 0, 0, 11, 0, 0, 0, 13, 0, 0, 0, byte(i), 200, 200, 1, 0, 0, 0, 0})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 80 {
			return
		}
		for _, client := range []string{"", sprigOld} {
			log := sprigRandom(data)
			if _, err := sprigPromise(t.Context(), client, log); err != nil {
				t.Fatalf("%v\nclient %q\n%s\n%s", err, client, log, sprigHead+sprigLog(log))
			}
		}
	})
}
