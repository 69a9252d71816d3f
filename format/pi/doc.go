// Package pi knows the sessions of the pi coding agent, and of those built on it.
//
//	sessions/--<cwd>--/<time>_<id>.jsonl
//
//	{"type":"session","version":3,"id":…,"timestamp":…,"cwd":…}            the header
//	{"type":"message","id":…,"parentId":null,"timestamp":…,"message":{…}}  an entry
//	{"type":"compaction","id":…,"parentId":…,"firstKeptEntryId":…,…}
//
// Entries hang under each other, and the last line of the file is where the talk goes on: what is sent is the way
// from there up to the root. Of entries with one id the last counts. A call is answered by a result behind it and in
// front of the next message.
//
//	generation  version  entries
//	1           absent   without ids, each behind the one in front of it
//	2           2        a tree; messages of hooks have a role of their own
//	3           3        a tree
//
// The client skips lines that it cannot read, without a word, and never checks an id. It writes no start of a call.
// Facts measured with releases 1.6.0 and 0.73.1, and read in their published packages.
package pi
