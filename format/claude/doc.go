// Package claude reads the transcripts of Claude Code.
//
//	<root>/projects/<slug>/<session>.jsonl                       one session; the name is its id
//	<root>/projects/<slug>/<session>/subagents/agent-<id>.jsonl  a sub-agent's talk, its header in .meta.json
//	<root>/projects/<slug>/<session>/tool-results/<name>.txt     a result that was too long for the transcript
//
// A transcript is a tree that is only ever appended to. Each node is a line with a uuid, and names the one it
// hangs under; side records have no uuid.
//
//	user ── assistant ── assistant ─── assistant            lines of one answer share message.id
//	 P1     text         call A        call B
//	                        └─ user       └─ user ── assistant …
//	                           result A      result B       results hang under their own call
//
//	{"type":"last-prompt","leafUuid":…}     where the next resume goes on; the last one counts
//	{"type":"system","subtype":"compact_boundary","parentUuid":null,"logicalParentUuid":…}
//	   └─ {"type":"user","isCompactSummary":true,…}   what is in front of the border is sent no more
//
// Of two records with one uuid the last one counts, and a result counts wherever it stands. So nearly all damage is
// mended by records appended at the end: the damaged one told anew, a result, a name for the leaf.
//
// There is no official description. What is said here of clients was measured with releases 1.0.128, 2.0.76,
// 2.1.29, 2.1.81 and 2.1.328.
package claude
