//go:build !amd64 || purego

package scan

const (
	wide    = 33
	hasAVX2 = false
)

func stringAVX2(*byte, int) (int, bool) { return 0, false }
