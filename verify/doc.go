// Package verify turns records into findings, the tail and a verdict. It reads only, and knows
// no agent: the format says which rules hold.
//
//	scan ─records─► decode ─events─► numbers ─► calls ─► turns ─► findings, tail ─► verdict
//
// One pass over the bytes. Where the numbering falls back or skips, a second look compares the
// branches, and the structure is judged again without the one that loses: as if the bytes were
// already mended.
package verify
