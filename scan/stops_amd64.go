//go:build !purego

package scan

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX2

// stopsAVX2 fills s for the n bytes at p, at most a chunk of them. Another 63 must be readable.
//
//go:noescape
func stopsAVX2(p *byte, n int, s *stops)
