// Package codex reads and mends the rollouts of the Codex CLI.
//
// A rollout is one JSON object a line, ended by LF, without lock in the file, checksum or fsync:
//
//	{"timestamp":"…","ordinal":0,"type":"session_meta","payload":{"id":ID,"cwd":…,"history_mode":"paginated",…}}
//	{"timestamp":"…","ordinal":1,"type":"event_msg","payload":{"type":"task_started","turn_id":T}}
//	{"timestamp":"…","ordinal":2,"type":"response_item","payload":{"type":"message","role":"user","content":[…]}}
//	{"timestamp":"…","ordinal":3,"type":"response_item","payload":{"type":"function_call","call_id":C,…}}
//	{"timestamp":"…","ordinal":4,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":C,…}}}
//	{"timestamp":"…","ordinal":5,"type":"response_item","payload":{"type":"function_call_output","call_id":C,"output":"…"}}
//	{"timestamp":"…","ordinal":6,"type":"event_msg","payload":{"type":"task_complete","turn_id":T}}
//
// What the model gets are the response items in the order of the file, from the newest compaction on; event_msg records
// are for display. A call and its output share a call_id and a class: functions and local shells, custom tools, searches.
// No record says that a call began.
//
// Generations: bare items without envelope (up to 0.2x), the envelope without ordinals (legacy), and with them (paginated).
// Paginated rollouts may begin in the middle: history_base names another file, and how many of its records and bytes
// come first. So no byte of one may move that another file may count. A cold rollout is one zstd frame without checksum.
//
// Facts are those measured with 0.20.0 to 0.171.0; docs/formats/codex.md tells them.
package codex
