//go:build !purego

package scan

import "golang.org/x/sys/cpu"

// wide is how many bytes at once plainAVX2 looks at.
const wide = 32

var hasAVX2 = cpu.X86.HasAVX2

// plainAVX2 is how many of the n bytes at p are plain text of a string: ASCII, no control
// character, no quote, no backslash. It may stop up to wide bytes early at the end.
//
//go:noescape
func plainAVX2(p *byte, n int) int
