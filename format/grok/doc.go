// Package grok knows the sessions of grok-build, the grok command-line agent.
//
// A session is a folder, <home>/sessions/<cwd, percent-encoded>/<id>/:
//
//	updates.jsonl       what the user was shown: prompts, answers, calls, ends of turns, rewinds, compactions
//	chat_history.jsonl  what the model is sent: system, user, assistant with tool_calls, tool_result, reasoning
//	events.jsonl        what went on: starts of tools, permissions, ends of turns
//	rewind_points.jsonl files as they were at each prompt
//	plan.json           what is to be done
//	summary.json        id, folder, title, counters: without it there is no session
//	terminal/<call>.log the output of a command, which so is known to have run
//	compaction_checkpoints/<id>.json  what a compaction left of the history
//
// A record is one line:
//
//	updates   {"timestamp":…,"method":"session/update","params":{"sessionId":…,"update":{"sessionUpdate":"tool_call","toolCallId":…},"_meta":{"eventId":"<id>-<n>"}}}
//	history   {"type":"assistant","content":"…","tool_calls":[{"id":…,"name":…,"arguments":"{…}"}]}
//	          {"type":"tool_result","tool_call_id":…,"content":"…"}
//	events    {"ts":"…","type":"tool_started","tool_name":…}
//
// The first releases wrote them in another way, which the client still reads of the history, and never shows of the log:
//
//	updates   {"sessionId":…,"update":{…},"_meta":{…}}                      the params alone
//	history   {"role":"assistant","content":…,"tool_calls":[{"id":…,"function":{"name":…,"arguments":…}}],"reasoning_content":…}
//	          {"type":"assistant",…,"reasoning":{"text":…}} and {…,"raw_output":[…]}    items, with what are items of their own now
//
// Both are brought over line by line (upgrade.go). A fork is the live branch of the log and the history up to the same turn (fork.go).
//
// None of the first two follows from the other, and either may be ahead:
//
//	prompt ──► updates, history      both, one after the other
//	answer ──► history               whole, when it is there; updates in pieces, and the newest piece is held back
//	call   ──► updates: tool_call, tool_call_update … status;  events: tool_started, permission_…, tool_completed
//	result ──► history: tool_result  right behind the answer
//	turn   ──► updates: turn_completed;  events: turn_ended
//
// So log and history are held against each other: what one has is carried to the other (restore.go, ends.go), and how far a call came
// that has no result is told by all of them (evidence.go). Facts are of release 1.0.41, run against a model on loopback, and of its
// public sources where nothing else is said.
package grok
