//go:build !amd64 || purego

package scan

const (
	wide    = 32
	hasAVX2 = false
)

func plainAVX2(*byte, int) int { return 0 }
