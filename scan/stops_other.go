//go:build !amd64 || purego

package scan

const hasAVX2 = false

func stopsAVX2(*byte, int, *stops) {}
