//go:build !purego

package scan

import "golang.org/x/sys/cpu"

// wide is how many bytes at once stringAVX2 looks at, and one more.
const wide = 33

var hasAVX2 = cpu.X86.HasAVX2

// stringAVX2 goes over the n bytes at p, which lie inside a string: plain ASCII and escapes of
// two bytes. It stops at the first byte that needs a closer look, or up to wide bytes in front
// of the end, and tells whether it met an escape.
//
//go:noescape
func stringAVX2(p *byte, n int) (i int, esc bool)
