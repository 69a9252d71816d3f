// Package openclaw knows the sessions that OpenClaw kept in files, up to 2026.7.1. Later releases keep them in a database,
// and take over what lies in files once.
//
//	<state>/agents/<agent>/sessions/sessions.json     the index: a session's key, and its id
//	<state>/agents/<agent>/sessions/<session>.jsonl   a log of package pi's format, version 3
//	<state>/agents/<agent>/sessions/<session>.jsonl.lock
//
// Beside pi's there are entries of these types:
//
//	leaf    the talk goes on from targetId, null = from the start
//	reset   a new beginning in the same session, which may keep what stands in front of it, from firstKeptEntryId on
//
// and any entry may say "appendMode":"side": it stands beside the way, and the talk does not go on from it.
//
// Facts measured with doctor of 2026.9.6, and read in its package and documentation.
package openclaw
