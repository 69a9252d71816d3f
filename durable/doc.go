// Package durable is the only room that writes. It publishes a new content for a file, adds bytes behind one, cuts
// them off again, takes the locks agents speak, and asks the system who else is at work on a file. It knows no
// session: what the bytes mean is decided elsewhere.
//
// What a kill at any instant leaves behind:
//
//	Replace, WriteState   the old file or the new one, never a mixture; perhaps the file written beside
//	Append                the old bytes and a part of the appendix, which only the caller's own record can finish
//	CutBack               the file before or after the cut
//	WriteNew              nothing, a part of the new file, or all of it
//
// What a failure (as opposed to a kill) leaves behind is the old file and nothing beside it. The one exception is a
// directory that cannot be synced after a rename: the new file is then in place, and the error is ErrUnsynced.
//
// Every operation on the disk goes through FS, so that the tests can make each single one fail or be the last;
// see the package faultfs. Locks and process probes are the exception, as they ask the kernel and change no file.
package durable
