// Package harness knows the sessions of pi-agent-core's AgentHarness, format 4 of pi, and tells the files of pi-durable.
//
//	sessions/--<cwd>--/<time>_<id>.jsonl
//
//	{"v":4,"kind":"header","id":ID,"storageVersion":1,"createdAt":MS,"cwd":…}
//	{"kind":"value","op":"set","seq":1,"namespace":NS,"key":K,"value":…}
//	[{"kind":"entry","id":…,"parentId":…,"type":"message","message":{…},"seq":2,"timestamp":MS},{"kind":"value",…,"seq":3}]
//
// Each line behind the header is one transaction: a write, or an array of writes that count together or not at all. Their
// numbers rise over the whole file, with holes where a session was forked. A write is an entry of the talk, a row of usage,
// or sets or deletes a value, or appends to a list or deletes it.
//
// A lane is a branch with a place to go on from (pi.branch.tip), a configuration (pi.lane.config) and a state
// (pi.lane.state). The state names the operation that runs in the lane, and that one's own values say how far it came:
//
//	pi.op.meta   what was asked for: a run, a compaction, a way to another entry
//	pi.op.state  one of thirteen places, "at"; at "tools" it holds the calls of the last answer
//	pi.op.tool_args, pi.op.tool_memo, pi.op.preparation                        what it needs to go on
//	pi.pending.assistant_frame, pi.pending.tool_output, pi.pending.entry       pieces of what is not in the talk yet
//	pi.result    how an operation ended
//
//	status of a call   it is
//	planned            not started
//	effect_pending     started, and nobody knows what became of it
//	outcome_ready      over; its result waits in pi.pending.entry
//	completed          over; its result is an entry
//
// The client opens nothing of a file that has one bad line, and drops a last line without newline. To resume, it runs what
// is planned. What is written here instead ends the operation, as its own way to abort one does, and runs nothing.
//
// The draft of 0.84 has another header ("version":4), one object a line, and numbers without holes. No release opens a
// session with an operation in it: the one that could have is the next, and it has the format above.
//
//	generation      header              written by
//	harness         "v":4               pi-agent-core 0.85 to 0.99
//	harness-draft   "version":4         pi-agent-core 0.84
//
// Facts measured with 0.87.1 and 0.84.4, and read in their published packages (harness/session, harness/runtime); those of
// pi-durable are read in the tests of packages/durable, in earendil-works/pi, and in harness/pico3 of 0.87.1.
package harness
