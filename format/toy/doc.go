// Package toy is a format that no agent writes. The tests of the shared rooms use it, so that
// they need no real agent; it is not among the formats that the program knows.
//
//	line 1   {"t":"head","v":V,"id":…,"cwd":…}
//	line 2…  {"t":T,"n":N,"at":MS,…}
//
// n is dense from 0, and every record behind the header has one. The types:
//
//	turn+ turn-   "turn"                        a turn starts, ends
//	step+ step-   "turn","step"                 a step starts, ends
//	user          -                             a message of the user
//	bit           "k" (1 if absent)             k pieces of an answer, which take k numbers
//	say           "calls":[{"id","tool"},…]     the complete answer with its calls
//	quit          -                             an answer that came to nothing
//	run           "call","tool"                 a call starts
//	res           "call","made"                 its result; made: by a recovery
//	may? may!     "id"                          an approval is asked for, decided
//	pack+ pack-   -                             a compaction starts, ends
//	sum           "gone":[N,…]                  its summary, which takes the place of records N…
//	seed          -                             the border behind inherited history
//	set note      -                             bookkeeping
//	second        -                             a header inside the log
//
// Any other type is refused unless the record says "skip":true.
//
//	version  rules
//	0        none: nothing need be numbered, turns and steps are not looked at
//	1        numbers, turns, steps and starts
//	2        the same, and the client refuses what does not nest
//
// A packed log holds the header alone in its first frame.
package toy
