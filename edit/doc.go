// Package edit holds the few things that can be done to a part, as data: bytes of its text
// are cut, inserted or spliced, and frames are written again. A plan prints as a diff, runs as
// a repair and lies in the receipt. The result is a reader over the original, so that it can be
// verified before a byte is written.
package edit
