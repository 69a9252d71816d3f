package claude

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// written reads the records "id type parent ms", and "tip id", as a release does: the type is that of the record, "bare" a user's
// message without content, "sum" a summary, "wall" a compaction's border, a type with ! that of a sub-agent's talk. ms is after
// 03:04:00, - for no time.
func written(t testing.TB, rank int, short string) *session.Tree {
	t.Helper()
	tree := &session.Tree{}
	dec := dialect{rank: rank}.NewDecoder(format.Place{})
	for n, s := range strings.Split(short, " | ") {
		w := strings.Fields(s)
		var line string
		if w[0] == "tip" {
			line = fmt.Sprintf(`{"type":"last-prompt","leafUuid":%q,"sessionId":"s"}`, w[1])
		} else {
			typ, side := strings.CutSuffix(w[1], "!")
			parent, more := `"`+w[2]+`"`, `,"message":{"content":"x"}`
			if w[2] == "-" {
				parent = "null"
			}
			switch typ {
			case "bare":
				typ, more = "user", ""
			case "sum":
				typ, more = "user", more+`,"isCompactSummary":true`
			case "wall":
				typ, more = "system", `,"subtype":"compact_boundary"`
			}
			if w[3] != "-" {
				var ms int
				fmt.Sscan(w[3], &ms)
				more += `,"timestamp":"` + time.Date(2026, 1, 2, 3, 4, 0, ms*1_000_000, time.UTC).Format("2006-01-02T15:04:05.000Z") + `"`
			}
			line = fmt.Sprintf(`{"parentUuid":%s,"isSidechain":%t,"type":%q%s,"uuid":%q}`, parent, side, typ, more, w[0])
		}
		record, caps, ok := single.Take([]byte(line))
		if !ok {
			t.Fatal(line)
		}
		r := &session.Record{Raw: record, Caps: caps, N: int64(n)}
		b := &format.Batch{}
		dec.Decode(r, b)
		if b.Points {
			tree.Pointers = append(tree.Pointers, session.Pointer{Leaf: b.Leaf, Rec: r.Ref()})
		}
		if b.Linked {
			tree.Add(b.Link, r.Ref(), nil)
		}
	}
	tree.Grow()
	tree.Join()
	return tree
}

func named(t *session.Tree, n int32) string {
	if n < 0 {
		return "-"
	}
	for _, id := range strings.Fields("u1 u2 u3 a1 a2 a3 s1 d1 p1 x1 w s") {
		if t.Find(session.MakeID([]byte(id))) == n {
			return id
		}
	}
	return "?"
}

// All of these were measured with release 2.1.328: under which record it hangs u2, whose parent it does not see.
func TestHeals(t *testing.T) {
	const head = "u1 user - 0 | a1 assistant u1 1000 | "
	for _, c := range []struct{ name, log, want string }{
		{"a millisecond", head + "x1 future a1 1000 | u2 user x1 1001", "a1"},
		{"none", head + "x1 future a1 1000 | u2 user x1 1000", "a1"},
		{"as far as it looks", head + "x1 future a1 1000 | u2 user x1 6000", "a1"},
		{"further", head + "x1 future a1 1000 | u2 user x1 6001", "-"},
		{"over the minute", "u1 user - 0 | a1 assistant u1 58000 | u2 user zz 63000", "a1"},
		{"over the minute, further", "u1 user - 0 | a1 assistant u1 58000 | u2 user zz 63001", "-"},
		{"the unknown one does not count", head + "x1 future a1 6500 | u2 user x1 7000", "-"},
		{"nor its time", head + "x1 future a1 - | u2 user x1 1001", "a1"},
		{"without time", head + "u2 user zz -", "-"},
		{"the one above has no time", "u1 user - 0 | a1 assistant u1 - | u2 user zz 1001", "u1"},
		{"older than the one above", head + "u2 user zz 500", "u1"},
		{"of one time the first", "u1 user - 0 | s1 system - 1000 | a1 assistant u1 1000 | u2 user zz 1500", "s1"},
		{"behind it in the file", head + "u2 user zz 1600 | s1 system - 1500", "s1"},
		{"another branch", head + "d1 user u1 1500 | u2 user zz 1700", "d1"},
		{"a sub-agent's", head + "d1 user! - 1500 | u2 user zz 1700", "a1"},
		{"an attachment", head + "s1 attachment a1 6500 | u2 user zz 6800", "s1"},
		{"progress", head + "p1 progress a1 1100 | u2 user zz 1300", "a1"},
		{"a message without content", head + "d1 bare a1 1100 | u2 user zz 1300", "a1"},
		{"on the way", head + "u2 user zz 1600 | a2 assistant u2 1500", "a1"},
	} {
		tree := written(t, firstUnwritten, c.log)
		onWay := make([]bool, len(tree.Nodes))
		if n := tree.Find(session.MakeID([]byte("a2"))); n >= 0 {
			onWay[n] = true
		}
		heal := dialect{rank: firstUnwritten}.Heals(tree)
		if got := named(tree, heal(tree.Find(session.MakeID([]byte("u2"))), onWay)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	for _, rank := range []int{1_000_128, 2_000_076, lastStopping} {
		if (dialect{rank: rank}).Heals(&session.Tree{}) != nil {
			t.Errorf("%d heals", rank)
		}
	}
}

// Likewise: where it goes on.
func TestLeaf(t *testing.T) {
	const head, talk = "u1 user - 0 | a1 assistant u1 1000 | ", "u2 user a1 9600 | a2 assistant u2 9700"
	for _, c := range []struct{ name, log, want string }{
		{"the last", head + talk, "a2"},
		{"the last is older", head + talk + " | u3 user a1 5000 | a3 assistant u3 5100", "a3"},
		{"below a pointer", head + "tip a1 | " + talk, "a2"},
		{"not below a pointer", head + talk + " | tip a2 | u3 user a1 9800 | a3 assistant u3 9900", "a2"},
		{"the last pointer counts", head + talk + " | u3 user a1 9800 | tip u3 | tip a2", "a2"},
		{"even if it names nobody", head + talk + " | tip a2 | u3 user a1 9800 | tip zz", "u3"},
		{"or a type that is not known", head + talk + " | x1 future a2 9750 | tip a2 | u3 user a1 9800 | tip x1", "u3"},
		{"or progress", head + talk + " | p1 progress a2 9750 | u3 user a1 9800 | tip p1", "u3"},
		{"or a message without content", head + talk + " | d1 bare a2 9750 | u3 user a1 9800 | tip d1", "u3"},
		{"told anew, no pointer", head + talk + " | u2 user a1 9600", "a2"},
		{"told anew, no pointer, two branches", head + talk + " | u3 user a1 9500 | a1 assistant u1 1000", "a2"},
		{"in front of what it hangs under", head + "a2 assistant u2 9600 | u2 user a1 9600", "a2"},
		{"in front of what it hangs under, older", head + "a2 assistant u2 9500 | u2 user a1 9600", "u2"},
		{"told anew, a pointer", head + "tip a1 | " + talk + " | u2 user a1 9600", "u2"},
		{"told anew, a pointer to nobody", head + "tip zz | " + talk + " | u2 user a1 9600", "u2"},
		{"told anew, above the pointer", head + "tip a1 | " + talk + " | u1 user - 0", "a1"},
		{"told anew, what the pointer names", head + "tip a1 | " + talk + " | a1 assistant u1 1000", "a1"},
		{"a note under an older one", head + talk + " | s1 system a1 1100", "a1"},
		{"a note under an older one, a pointer", head + "tip a1 | " + talk + " | s1 attachment a1 9800", "a1"},
		{"a note that hangs under nothing", head + talk + " | s1 system - 9800", "a2"},
		{"progress under an older one", head + "tip a1 | " + talk + " | p1 progress a1 9800", "a2"},
		{"a sub-agent's", head + "tip a1 | " + talk + " | d1 user! a1 9800", "a2"},
		{"a type that is not known", head + "tip a1 | " + talk + " | x1 future a1 9800", "a2"},
		{"a pointer in front of a compaction", head + talk + " | tip a2 | w wall - 9800 | s sum w 9801", "s"},
		{"a pointer behind it", head + talk + " | w wall - 9800 | s sum w 9801 | tip a2", "a2"},
	} {
		tree := written(t, firstUnwritten, c.log)
		if got := named(tree, dialect{rank: firstUnwritten}.Leaf(tree)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	tree := written(t, lastTimed, head+talk+" | tip a1 | u3 user a1 5000")
	if got := named(tree, dialect{rank: lastTimed}.Leaf(tree)); got != "a2" {
		t.Errorf("an older release goes on at %s", got)
	}
}

// What each type of node is for the releases: seen, gone past, or the end of the way up.
func TestUnseen(t *testing.T) {
	for _, c := range []struct {
		node           string
		rank           int
		opaque, passed bool
	}{
		{"x1 future - 0", firstUnwritten, true, false},
		{"x1 future - 0", lastStopping, true, false},
		{"x1 file-history-snapshot - 0", firstUnwritten, true, false},
		{"x1 progress - 0", firstUnwritten, false, true},
		{"x1 progress - 0", lastStopping, false, false},
		{"x1 progress - 0", lastProgress, true, false},
		{"x1 bare - 0", firstUnwritten, false, true},
		{"x1 bare - 0", lastStopping, false, false},
		{"x1 system - 0", firstUnwritten, false, false},
		{"x1 attachment - 0", firstUnwritten, false, false},
		{"x1 user - 0", firstUnwritten, false, false},
	} {
		if n := written(t, c.rank, c.node).Nodes[0]; n.Opaque != c.opaque || n.Passed != c.passed {
			t.Errorf("%s for %d: opaque %t, passed %t", c.node, c.rank, n.Opaque, n.Passed)
		}
	}
}
