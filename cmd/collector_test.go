package cmd_test

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/sessfix/sessfix/cmd"
)

// While much is in use less garbage is left lying, and afterwards as much as before.
func TestSpareMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	cmd.SpareMemory()
	settles := func(what string, want uint64) {
		t.Helper()
		got := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		for range 500 {
			runtime.GC()
			if metrics.Read(got); got[0].Value.Uint64() == want {
				return
			}
			time.Sleep(time.Millisecond) // what is weighed is weighed behind the collector's back
		}
		t.Errorf("%s: %d percent, want %d", what, got[0].Value.Uint64(), want)
	}
	settles("little in use", 200)
	tree := make([]byte, 64<<20)
	settles("much in use", 50)
	runtime.KeepAlive(tree)
	settles("little again", 200)
}
