package verify_test

import (
	"testing"
)

// The parents of entries, and where the talk goes on.
func TestPathTree(t *testing.T) {
	for _, c := range []piCase{
		{"clean", "model | think | u | a 1 | r 1 | a | u | a", "", "a b c d e f g h > c d e f g h", ""},
		{"two branches", "u | a | u | a | <b bs | u | a", "", "a b e f g", ""},
		{"back to the start", "u | a | <- u | a", "", "c d", ""},
		{"a summary at the root", "u | a | <- bs | u", "", "c d", ""},
		{"every kind that says nothing", "u | label a | info | usage | custom | model | think | odd | bs0 | sh- | a", "", "a b c d e f g h i j k > a k", ""},
		{"a label is the last", "u | a | label a", "", "a b c > a b", ""},

		{"lost in the middle", "u | a | ~u | a | u", "PARENT_MISSING path error 4", "d e", "a b d e"},
		{"lost with two below", "u | a | ~u | a | <c u", "PARENT_MISSING path error 4, PARENT_MISSING path error 5", "e", "a b e"},
		{"lost in front of everything", "~u | a | u", "PARENT_MISSING first note 2", "b c", ""},
		{"torn, and it names its parent", "u | a | u | a | <b ^u | a", "TORN_LINE error 6, PARENT_MISSING path error 7", "f", "a b f"},
		{"torn in front of its id", "u | a | u | a | <b %u | a", "TORN_LINE error 6, PARENT_MISSING path error 7", "f", "a b c d f"},
		{"two torn in a row", "u | a | u | <b ^u | ^a | u", "TORN_LINE error 5, TORN_LINE error 6, PARENT_MISSING path error 7", "f", "a b f"},
		{"torn, and it names one below", "u | a | <d ^u | a", "TORN_LINE error 4, PARENT_MISSING path error 5", "d", "a b d"},
		{"two under a torn one that names one of them", "u | <d a | <d a | <c ^u | a", "PARENT_MISSING path error 3, PARENT_MISSING path error 4, TORN_LINE error 5, PARENT_MISSING path error 6", "e", "a c e"},
		{"a torn one that names an id which stands for more later", "@e sys | ^len | len | abo | <a u", "TORN_LINE error 3, PARENT_MISSING path error 4, ID_CONFLICT path error 6, PARENT_MISSING path error 6", "e", "a c d e > a c e"},
		{"another branch behind the gap", "u | a | u | ~a | u | <b u", "PARENT_MISSING path error 5", "a b f", "a b f"},

		{"under itself", "u | a | <c u | a", "PARENT_CYCLE path error 4", "hangs", "a b c d"},
		{"under itself, alone", "<a u", "PARENT_CYCLE path error 2", "hangs", "a"},
		{"a circle of two", "u | <c a | u | a", "PARENT_CYCLE path error 3", "hangs", "a b c d"},
		{"a circle of three", "u | <d a | u | a | u", "PARENT_CYCLE path error 3", "hangs", "a b c d e"},
		{"a circle of all", "<c u | a | u", "PARENT_CYCLE path error 2", "hangs", "a b c"},
		{"a circle beside the way", "u | a | <c u | <b u", "PARENT_CYCLE path error 4", "a b d", "a b d"},
		{"a circle of a first record that has a copy", "<a u | =a", "PARENT_CYCLE path error 2, ID_REPEATED path note 3", "hangs", "a"},
		{"two circles", "u | <b a | <c u | a", "PARENT_CYCLE path error 3, PARENT_CYCLE path error 4", "hangs", "a b c d"},

		{"a parent further on", "u | <c a | <a u | <b u", "", "a c b d", ""},
		{"a parent further on, of two", "<b u | <- u | <a a", "", "b a c", ""},

		{"a user without parent", "u | a | <- u | a", "", "c d", ""},
		{"an answer without parent", "u | <- a | u", "CHAIN_CUT path error 3", "b c", "a b c"},
		{"a result without parent", "u | a 1 | <- r 1 | a", "CHAIN_CUT path error 4", "c d ! result alone: c", "a b c d"},
		{"a first answer without parent", "<- a | u", "", "a b", ""},
		{"a user that lacks the member", "u | a | <. u | a", "CHAIN_CUT path error 4", "c d", "a b c d"},
		{"a user with an empty parent", "u | a | <'' u | a", "CHAIN_CUT path error 4", "c d", "a b c d"},
		{"the first lacks the member", "<. u | a", "", "a b", ""},

		{"the last has no id", "u | a | @. u", "EVENT_INVALID nameless error 4", "a b c", "a b c"},
		{"one in the middle has no id", "u | @. a | <- u | a", "EVENT_INVALID nameless error 3, CHAIN_CUT path error 4", "c d", "a b c d"},
		{"an empty id", "u | a | @'' u", "EVENT_INVALID nameless error 4", "a b c", "a b c"},

		{"a stray object at the end", "u | a | {}", "EVENT_INVALID stray-last error 4", "+ > ", "a b"},
		{"a stray object, and all behind it goes", "u | {} | r 9", "EVENT_INVALID stray-last error 3, ORPHAN_RESULT path error 4", "a b ! result alone: b", "a"},
		{"a stray object in the middle", `u | {} | a | {"x":1} | u`, "EVENT_INVALID stray note 3, EVENT_INVALID stray note 5", "a b c", ""},
		{"two at the end", `u | {} | a | {} | {"x":1}`, "EVENT_INVALID stray note 3, EVENT_INVALID stray-last error 5, EVENT_INVALID stray-last error 6", "+ > ", "a b"},
		{"a list at the end", "u | a | [1]", "NOT_OBJECT error 4", "+ > ", "a b"},

		{"a copy in the middle", "u | a | =a | u | a", "ID_REPEATED path note 4", "a b c d", ""},
		{"a copy of the last", "u | a | =b", "ID_REPEATED path note 4", "a b", ""},
		{"an old one again at the end", "u | a | u | a | =b", "WRONG_LEAF path error 6", "a b", "a b c d"},
		{"two old ones at the end", "u | a | u | a | =a | =b", "WRONG_LEAF path error 7", "a b", "a b c d"},
		{"copies in the middle and at the end", "u | a | =a | u | a | =b", "ID_REPEATED path note 4, WRONG_LEAF path error 7", "a b", "a b c d"},
		{"a copy behind which a stray stands", "u | a | u | =b | {}", "WRONG_LEAF path error 5, EVENT_INVALID stray-last error 6", "+ > ", "a b c"},
		{"the copies end with the newest", "u | a | u | =b | =c", "ID_REPEATED path note 5", "a b c", ""},
		{"a husk", "u | a | husk | a", "EVENT_INVALID husk error 4", "no message in c", "a b d"},
		{"a husk in front of an answer", "husk | a | u", "EVENT_INVALID husk error 2", "no message in a", "* b c > b c"},
		{"a husk at the end", "u | a | husk", "EVENT_INVALID husk error 4", "no message in c", "a b"},
		{"a husk with two below", "u | husk | u | <b u | a", "EVENT_INVALID husk error 3", "no message in b", "a d e"},
		{"a husk beside the way", "u | a | husk | <b u", "EVENT_INVALID husk error 4", "a b d", "a b d"},

		{"a twin at the end", "u | a | u | a | @b <a u", "ID_CONFLICT path error 6, WRONG_LEAF path error 6", "a e", "a b c d * > a b c d"},
		{"a twin that goes on", "u | a | u | @b <c a | u", "ID_CONFLICT path error 5", "hangs", "a b c d e"},
		{"a twin in the middle, on a branch", "u | a | u | a | @b <a u | <d u", "ID_CONFLICT path error 6", "a e c d f", "a b c d f"},
		{"references behind a twin", "u | a | u | @b <a u | a", "ID_CONFLICT path error 5", "a d e", "a d e"},
		{"two twins", "u | a | @b <a u | a | @b <a u | u", "ID_CONFLICT path error 4, ID_CONFLICT path error 6", "a e f", "a e f"},
		{"a twin that names its own id", "u | a | @b u | a", "ID_CONFLICT path error 4", "hangs", "a b c d"},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, "") })
	}
}

// Which result answers which call in what is sent.
func TestPathPairs(t *testing.T) {
	for _, c := range []piCase{
		{"clean", "u | a 1 2 | r 1 | r 2 | a", "", "a b c d e", ""},
		{"results in another order", "u | a 1 2 | r 2 | r 1 | a", "", "a b c d e", ""},
		{"what says nothing stands between", "u | a 1 2 | r 1 | label a | usage | custom | sys | model | bs0 | sh- | r 2 | a", "", "a b c d e f g h i j k l > a b c g k l", ""},
		{"ids used again", "u | a 1 | r 1 | a 1 | r 1 | a | u | a 1 | r 1 | a", "", "a b c d e f g h i j", ""},
		{"two calls of one id", "u | a 1 1 | r 1 | r 1 | a", "", "a b c d e", ""},
		{"three calls of one id", "u | a 1 1 1 | r 1 | r 1 | r 1 | a", "", "a b c d e f", ""},

		{"a call without result in the middle", "u | a 1 2 | r 1 | u | a", "DANGLING_CALL mid note 3", "a b c d e > a b c ?2 d e", ""},
		{"a user behind the call is the last", "u | a 1 | u", "DANGLING_CALL mid note 3", "a b c > a b ?1 c", ""},
		{"on another branch", "u | a 1 | <a u | a", "", "a c d", ""},

		{"an orphan", "u | a | r 9 | a", "ORPHAN_RESULT path error 4", "a b c d ! result alone: c", "a b d"},
		{"an orphan at the end", "u | a | r 9", "ORPHAN_RESULT path error 4", "a b c ! result alone: c", "a b"},
		{"an orphan at the start, and an answer", "r 9 | a | u", "ORPHAN_RESULT path error 2", "a b c ! result alone: a", "* b c > b c"},
		{"an orphan that has a copy", "u | r 9 | =b | u", "ORPHAN_RESULT path error 3, ID_REPEATED path note 4", "a b c ! result alone: b", "a c"},
		{"an orphan at the start", "r 9 | u | a", "ORPHAN_RESULT path error 2", "a b c ! result alone: a", "b c"},
		{"an orphan beside the way", "u | a | r 9 | <b u", "", "a b d", ""},
		{"an orphan with two below", "u | a | r 9 | u | <c u", "ORPHAN_RESULT path error 4", "a b c e ! result alone: c", "a b e"},
		{"two orphans", "u | a | r 9 | r 8 | a", "ORPHAN_RESULT path error 4, ORPHAN_RESULT path error 5", "a b c d e ! result alone: c", "a b e"},
		{"an orphan in a batch", "u | a 1 | r 9 | r 1 | a", "ORPHAN_RESULT path error 4", "a b c d e ! result alone: c", "a b d e"},
		{"the call's line is lost", "u | ~a 1 | r 1 | a", "PARENT_MISSING path error 3, ORPHAN_RESULT path error 3", "c d ! result alone: c", "a d"},
		{"the call's line is torn", "u | ^a 1 | r 1 | a", "TORN_LINE error 3, PARENT_MISSING path error 4, ORPHAN_RESULT path error 4", "c d ! result alone: c", "a d"},
		{"torn at the start", "%r | r 2 | a", "TORN_LINE error 2, PARENT_MISSING first note 3, ORPHAN_RESULT path error 3", "b c ! result alone: b", "* c > c"},
		// A call behind a result did not ask for it: its id is used again.
		{"in front of a call of its id", "u | r 1 | a | u | a 1", "ORPHAN_RESULT path error 3, DANGLING_CALL tail error 6", "a b c d e > a b c d e ?1 ! result alone: b", "a c d e +1"},
		{"torn, and the result is the last", "u | ^a 1 | r 1", "TORN_LINE error 3, PARENT_MISSING path error 4, ORPHAN_RESULT path error 4", "c ! result alone: c", "a * > a"},
		{"torn elsewhere", "u | a | r 9 | a | ^u | a", "ORPHAN_RESULT path error 4, TORN_LINE error 6, PARENT_MISSING path error 7", "f", "a b d f"},

		{"behind a user", "u | a 1 | u | r 1 | a", "DISPLACED_RESULT path error 5", "a b c d e > a b ?1 c d e ! result alone: d", "a b d c e"},
		{"behind a custom_message", "u | a 1 | cm | r 1 | a", "DISPLACED_RESULT path error 5", "a b c d e > a b ?1 c d e ! result alone: d", "a b d c e"},
		{"behind a command", "u | a 1 | sh | r 1 | a", "DISPLACED_RESULT path error 5", "a b c d e > a b ?1 c d e ! result alone: d", "a b d c e"},
		{"behind a summary of a branch", "u | a 1 | bs | r 1 | a", "DISPLACED_RESULT path error 5", "a b c d e > a b ?1 c d e ! result alone: d", "a b d c e"},
		{"behind an answer", "u | a 1 | a | r 1 | a", "DISPLACED_RESULT path error 5", "a b c d e > a b ?1 c d e ! result alone: d", "a b d c e"},
		{"behind a failed answer", "u | a 1 | err | r 1 | a", "DISPLACED_RESULT path error 5", "a b c d e > a b ?1 d e ! result alone: d", "a b d c e > a b d e"},
		{"behind a compaction", "u | a 1 | c b | r 1 | a", "", "a b c d e > c b d e", ""},
		{"behind a compaction that does not keep the call", "u | a 1 | c c | r 1 | a", "DISPLACED_RESULT path error 5", "a b c d e > c d e ! result alone: d", "a b d c e > c e"},
		{"the last, behind a user", "u | a 1 | u | r 1", "DISPLACED_RESULT path error 5", "a b c d > a b ?1 c d ! result alone: d", "a b d c * > a b d c"},
		{"several of one batch", "u | a 1 2 3 | u | r 1 | r 2 | a | r 3 | a", "DISPLACED_RESULT path error 5, DISPLACED_RESULT path error 6, DISPLACED_RESULT path error 8",
			"a b c d e f g h > a b ?1 ?2 ?3 c d e f g h ! result alone: d", "a b d e g c f h"},
		{"one of two", "u | a 1 2 | r 1 | u | r 2 | a", "DISPLACED_RESULT path error 6", "a b c d e f > a b c ?2 d e f ! result alone: e", "a b c e d f"},
		{"of two batches", "u | a 1 | a 2 | r 1 | r 2 | a", "DISPLACED_RESULT path error 5", "a b c d e f > a b ?1 c d e f ! result alone: d", "a b d c e f"},
		{"of ids used again: the nearest", "u | a 1 | a 1 | u | r 1 | a", "DANGLING_CALL mid note 3, DISPLACED_RESULT path error 6", "a b c d e f > a b ?1 c ?1 d e f ! result alone: e", "a b c e d f > a b ?1 c e d f"},
		{"with a label between", "u | a 1 | label a | u | r 1 | a", "DISPLACED_RESULT path error 6", "a b c d e f > a b ?1 d e f ! result alone: e", "a b e c d f > a b e d f"},

		{"on another branch than its call", "u | a | u | a 1 | <b bs | r 1 | u", "DANGLING_CALL across error 5, ORPHAN_RESULT across error 7", "a b e f g ! result alone: f", "a b e g"},
		{"the call is on the way, the result is not", "u | a 1 | r 1 | <b a", "DANGLING_CALL across error 3, ORPHAN_RESULT aside error 4", "a b d > a b ?1 d", "a b c d"},
		{"the same, with work on the branch", "u | a 1 | r 1 | a | u | <b a | u", "DANGLING_CALL across error 3, ORPHAN_RESULT aside error 4", "a b f g > a b ?1 f g", "a b c f g"},
		{"two, on branches of their own", "u | a 1 2 | r 1 | <b r 2 | a", "DANGLING_CALL across error 3, ORPHAN_RESULT aside error 4", "a b d e > a b d ?1 e", "a b c d e"},

		{"twice", "u | a 1 | r 1 | r 1 | a", "DUP_RESULT path error 5", "a b c d e ! second result: d", "a b c e"},
		{"twice, late", "u | a 1 | r 1 | u | r 1 | a", "DUP_RESULT path error 6", "a b c d e f ! result alone: e", "a b c d f"},
		{"three times", "u | a 1 | r 1 | r 1 | r 1 | a", "DUP_RESULT path error 5, DUP_RESULT path error 6", "a b c d e f ! second result: d", "a b c f"},
		{"made up, then real", "u | a 1 | ours 1 | r 1 | a", "FALSE_CLOSER path error 5", "a b c d e ! second result: d", "a b d e"},
		{"made up, then real, late", "u | a 1 | ours 1 | u | r 1 | a", "FALSE_CLOSER path error 6", "a b c d e f ! result alone: e", "a b e d f"},
		{"made up by OpenClaw", "u | a 1 | claw 1 | r 1 | a", "FALSE_CLOSER path error 5", "a b c d e ! second result: d", "a b d e"},
		{"made up by OpenClaw, late", "u | a 1 | claw 1 | u | r 1 | a", "FALSE_CLOSER path error 6", "a b c d e f ! result alone: e", "a b e d f"},
		{"made up and real, both late", "u | a 1 | u | ours 1 | r 1 | a", "DISPLACED_RESULT path error 5, FALSE_CLOSER path error 6", "a b c d e f > a b ?1 c d e f ! result alone: d", "a b e c f"},
		{"real, then made up", "u | a 1 | r 1 | ours 1 | a", "DUP_RESULT path error 5", "a b c d e ! second result: d", "a b c e"},
		{"made up twice", "u | a 1 | ours 1 | claw 1 | a", "DUP_RESULT path error 5", "a b c d e ! second result: d", "a b c e"},
		{"made up, real, real", "u | a 1 | ours 1 | r 1 | r 1 | a", "FALSE_CLOSER path error 5, DUP_RESULT path error 6", "a b c d e f ! second result: d", "a b d f"},
		{"made up in a batch, then real", "u | a 1 2 | ours 1 | ours 2 | u | r 1 | r 2 | a", "FALSE_CLOSER path error 7, FALSE_CLOSER path error 8",
			"a b c d e f g h ! result alone: f", "a b f g e h"},

		{"of a failed answer", "u | err 1 | r 1 | a", "ORPHAN_RESULT failed error 4", "a b c d > a c d ! result alone: c", "a b d > a d"},
		{"of an aborted answer", "u | abo 1 2 | r 1 | r 2 | a", "ORPHAN_RESULT failed error 4, ORPHAN_RESULT failed error 5", "a b c d e > a c d e ! result alone: c", "a b e > a e"},
		{"of a failed answer, beside torn bytes", "u | err 1 | r 1 | a | ^u | a", "ORPHAN_RESULT failed error 4, TORN_LINE error 6, PARENT_MISSING path error 7", "f", "a b d f > a d f"},
		{"a failed answer asks, and none answers", "u | abo 1 | u | a", "", "a b c d > a c d", ""},
		{"a failed answer is the last", "u | abo 1", "", "a b > a", ""},

		{"an empty id, and one call in front", "u | a 1 | r '' | a", "EMPTY_CALL_ID path error 4", "a b c d > a b c ?1 d ! result alone: c", "a b c d"},
		{"an empty id, and two calls in front", "u | a 1 2 | r '' | a", "DANGLING_CALL mid note 3, DANGLING_CALL mid note 3, EMPTY_CALL_ID path error 4", "a b c d > a b c ?1 ?2 d ! result alone: c", "a b d > a b ?1 ?2 d"},
		{"an empty id, and one of two calls has a result", "u | a 1 2 | r 1 | r '' | a", "EMPTY_CALL_ID path error 5", "a b c d e > a b c d ?2 e ! result alone: d", "a b c d e"},
		{"an empty id, and no call in front", "u | a | r '' | a", "EMPTY_CALL_ID path error 4", "a b c d ! result alone: c", "a b d"},
		{"call and result", "u | a '' | r '' | a", "EMPTY_CALL_ID call error 3", "a b c d ! empty id in b", "a b c d"},
		{"a call with an empty id at the end", "u | a ''", "EMPTY_CALL_ID call error 3, DANGLING_CALL tail error 3", "a b > a b ? ! empty id in b", "a b +call"},
		{"two of them", "u | a '' '' | r '' | r '' | a", "EMPTY_CALL_ID several error 3", "a b c d e ! empty id in b", ""},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, "") })
	}
}

// What a compaction keeps, and what edits leave.
func TestPathKept(t *testing.T) {
	for _, c := range []piCase{
		{"clean", "u | a | u | a 1 | r 1 | a | c c | u | a", "", "a b c d e f g h i > g c d e f h i", ""},
		{"keeps nothing", "u | a 1 | c c | u", "", "a b c d > c d", ""},
		{"the last of two counts", "u | a | c a | u | a | c d | u", "", "a b c d e f g > f d e g", ""},
		{"no system message is kept", "sys | u | a | c a | u", "", "a b c d e > d b c e", ""},

		{"keeps a result without its call", "u | a 1 | r 1 | a | c c | u", "ORPHAN_RESULT kept error 4", "a b c d e f > e c d f ! result alone: c", "a b c d e f > e b c d f"},
		{"keeps the second result of two", "u | a 1 2 | r 1 | r 2 | a | c d | u", "ORPHAN_RESULT kept error 5", "a b c d e f g > f d e g ! result alone: d", "a b c d e f g > f b c d e g"},
		{"keeps from a label on, in front of a result", "u | a 1 | label a | r 1 | a | c c | u", "ORPHAN_RESULT kept error 5", "a b c d e f g > f d e g ! result alone: d", "a b c d e f g > f b d e g"},
		{"the first that it keeps is unknown", "u | a | c zz | u", "OPEN_COMPACTION kept note 4", "a b c d > c d", ""},
		{"the first that it keeps is on another branch", "u | a | <a u | c b | u", "OPEN_COMPACTION kept note 5", "a c d e > d e", ""},
		{"the first that it keeps is behind it", "u | a | c d | u", "OPEN_COMPACTION kept note 4", "a b c d > c d", ""},
		{"the first that it keeps is lost", "u | a | ~u | a | c c | u", "PARENT_MISSING path error 4, OPEN_COMPACTION lost error 5", "d e f > e f", "a b * d e f > e d f"},
		{"lost in front of everything", "~u | a | u | c a | u", "PARENT_MISSING first note 2, OPEN_COMPACTION lost error 4", "b c d e > d e", "b c d e > d b c e"},
		{"the first that it keeps is torn", "u | a | ^u | a | c c | u", "TORN_LINE error 4, PARENT_MISSING path error 5, OPEN_COMPACTION lost error 6", "d e f > e f", "a b * d e f > e d f"},
		{"the first that it keeps goes to quarantine", "u | a | r 9 | u | a | c c | u", "ORPHAN_RESULT path error 4", "a b c d e f g > f c d e g ! result alone: c", "a b d e f g > f d e g"},
		{"results of a call in front of what it keeps", "u | a 1 2 | c c | r 1 | r 2 | u", "DISPLACED_RESULT path error 5, DISPLACED_RESULT path error 6", "a b c d e f > c d e f ! result alone: d", "a b d e c f > c f"},
		{"a twin keeps nothing", "u | a | @b c b | u", "ID_CONFLICT path error 4", "hangs", "a b c d > c d"},
		{"it keeps from a twin on", "u | a | u | @b <c a | u | c b | a", "ID_CONFLICT path error 5", "hangs", "a b c d e f g > f d e g"},
		{"a husk that it keeps, and an orphan behind", "husk | r 99 | c a", "EVENT_INVALID husk error 2, ORPHAN_RESULT path error 3", "no message in a", "* c > c"},
		{"a lost one, and an orphan behind", "a 1 | r 99 | ~bs | r 1 | c zz", "ORPHAN_RESULT path error 3, PARENT_MISSING path error 4, ORPHAN_RESULT kept error 4, OPEN_COMPACTION lost error 5", "d e > e", "a * d e > e a d"},
		{"a displaced one, and an orphan between", "a 1 | u | r 9 | u | r 1 | c e", "ORPHAN_RESULT path error 4, DISPLACED_RESULT path error 6, ORPHAN_RESULT kept error 6", "a b c d e f > f e ! result alone: e", "a e b d f > f a e b d"},
		{"two gaps, and it names the second", "u | ~a | u | a | ~u | a | c e | u", "PARENT_MISSING path error 3, PARENT_MISSING path error 5, OPEN_COMPACTION lost error 6", "f g h > g h", "a c d * f g h > g f h"},
		{"a compaction that is not the last", "u | a | c zz | u | a | c d | u", "", "a b c d e f g > f d e g", ""},

		{"an edit takes one out", "u | a | u | ed a | a", "", "a b c d e > b c e", ""},
		{"an edit puts other words in its place", "u | a 1 | r 1 | ed b + 1 | a", "", "a b c d e > a b c e", ""},
		{"the last edit counts", "u | a 1 | r 1 | ed b | ed b + 1 | a", "", "a b c d e f > a b c f", ""},
		{"an edit takes the call out", "u | a 1 | r 1 | ed b | a", "ORPHAN_RESULT edited error 4", "a b c d e > a c e ! result alone: c", "a b c d e +context_edit > a e"},
		{"two results of it", "u | a 1 2 | r 1 | r 2 | ed b | a", "ORPHAN_RESULT edited error 4, ORPHAN_RESULT edited error 5", "a b c d e f > a c d f ! result alone: c", "a b c d e f +context_edit +context_edit > a f"},
		{"other words without the call", "u | a 1 | r 1 | ed b + | a", "ORPHAN_RESULT edited error 4", "a b c d e > a b c e ! result alone: c", "a b c d e +context_edit > a b e"},
		{"call and result are edited out", "u | a 1 | r 1 | ed b | ed c | a", "", "a b c d e f > a f", ""},
		{"the result is edited out", "u | a 1 | r 1 | ed c | a", "DANGLING_CALL mid note 3", "a b c d e > a b ?1 e", ""},
		{"an edit of what is not there", "u | a | ed zz | u", "", "a b c d > a b d", ""},
		{"an edit of a twin", "u | a | u | @b <c a | u | ed b | a", "ID_CONFLICT path error 5", "hangs", "a b c d e f g > a b c e g"},
		{"an edit on another branch", "u | a 1 | r 1 | ed b | <c a", "", "a b c e", ""},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, "") })
	}
}

// The calls that are open where the log ends.
func TestPathTail(t *testing.T) {
	for _, c := range []piCase{
		{"one", "u | a 1", "DANGLING_CALL tail error 3", "a b > a b ?1", "a b +1"},
		{"three", "u | a 1 2 3", "DANGLING_CALL tail error 3, DANGLING_CALL tail error 3, DANGLING_CALL tail error 3", "a b > a b ?1 ?2 ?3", "a b +1 +2 +3"},
		{"one of three is answered", "u | a 1 2 3 | r 2", "DANGLING_CALL tail error 3, DANGLING_CALL tail error 3", "a b c > a b c ?1 ?3", "a b c +1 +3"},
		{"what says nothing stands behind", "u | a 1 | label a | custom | info", "DANGLING_CALL tail error 3", "a b c d e > a b ?1", "a b c d e +1 > a b +1"},
		{"cut off at its greatest length", "u | len 1 2 | r 1", "DANGLING_CALL tail error 3", "a b c > a b c ?2", "a b c +2"},
		{"failed", "u | err 1 2", "", "a b > a", ""},
		{"behind a batch that failed", "u | a 1 | err 2", "DANGLING_CALL mid note 3", "a b c > a b ?1", ""},
		{"a prompt", "u | a 1 | r 1 | a | u", "", "a b c d e", ""},
		{"a compaction behind", "u | a 1 | c b", "DANGLING_CALL tail error 3", "a b c > c b ?1", "a b c +1 > c b +1"},
		{"a call of the same id in front", "u | a 1 | r 1 | a 1", "DANGLING_CALL tail error 5", "a b c d > a b c d ?1", "a b c d +1"},
		{"two calls of one id, one result", "u | a 1 1 | r 1", "DANGLING_CALL tail error 3", "a b c", "a b c +1"},
		{"behind a stale twin", "u | a | u | a 1 | @b <a u", "DANGLING_CALL tail error 5, ID_CONFLICT path error 6, WRONG_LEAF path error 6", "a e", "a b c d +1"},
		{"behind copies", "u | a | u | a 1 | =a | =b", "DANGLING_CALL tail error 5, WRONG_LEAF path error 7", "a b", "a b c d +1"},
		{"two calls of one id", "u | a 1 1", "DANGLING_CALL tail error 3, DANGLING_CALL tail error 3", "a b > a b ?1 ?1", "a b +1 +1"},
		{"on a branch", "u | a | u | a 1 | <b u | a 2", "DANGLING_CALL tail error 7", "a b e f > a b e f ?2", "a b e f +2"},
		{"the edit asks", "u | a | ed b + 1", "DANGLING_CALL tail error 3", "a b c > a b ?1", "a b c +1 > a b +1"},
		{"the call is edited out", "u | a 1 | ed b", "", "a b c > a", ""},
		{"an edited one in front, and an open call", "u | a 1 | r 1 | ed b | a 2", "ORPHAN_RESULT edited error 4, DANGLING_CALL tail error 6",
			"a b c d e > a c e ?2 ! result alone: c", "a b c d e +2 +context_edit > a e +2"},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, "") })
	}
}

// What release 0.73.1 does otherwise: it has no edits.
func TestPathOlder(t *testing.T) {
	for _, c := range []piCase{
		{"edits change nothing", "u | a 1 | r 1 | ed b | a", "", "a b c d e > a b c e", ""},
		{"an edit in whose words a call stands", "u | a | ed b + 1", "", "a b c > a b", ""},
		{"an orphan", "u | a | r 9 | a", "ORPHAN_RESULT path error 4", "a b c d ! result alone: c", "a b d"},
		{"a circle", "u | <b a", "PARENT_CYCLE path error 3", "hangs", "a b"},
		{"a call at the end", "u | a 1", "DANGLING_CALL tail error 3", "a b > a b ?1", "a b +1"},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, "0.73.1") })
	}
}
