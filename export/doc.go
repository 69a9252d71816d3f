// Package export tells a session to people and to other programs: as a transcript, as a page, as the messages that a provider
// takes, and record by record.
//
//	session   the parts as they lie on disk, with what verify finds and what repair would do
//	talk      what became of each record: sent, compacted, on another branch, taken back
//	say       what is said, in the order of the talk
//	...       one file for each form
//
// It is read twice: once to find out what counts, once to tell it. Of a log whose order is that of the talk nothing is kept in
// between but what was taken back; of a tree some 200 bytes a record.
package export
