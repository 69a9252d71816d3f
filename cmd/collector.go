package cmd

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// How much garbage, in percent of what is used, is left lying: buffers are used again, so that to collect a small heap seldom
// costs a few megabytes and saves a tenth of the time. A large one is a tree of records; there it is the other way round.
const (
	garbageOfSmall = 200
	garbageOfLarge = 50
	largeHeap      = 32 << 20 // bytes in use
)

// SpareMemory tells the collector of this process how to weigh memory against time, now and whenever it has run.
func SpareMemory() {
	debug.SetGCPercent(garbageOfSmall)
	w := &weigher{percent: garbageOfSmall, live: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
	runtime.SetFinalizer(w, (*weigher).weigh)
}

// weigher is used by nothing, so that each run of the collector hands it to weigh.
type weigher struct {
	percent int
	live    []metrics.Sample
}

func (w *weigher) weigh() {
	percent := garbageOfSmall
	if metrics.Read(w.live); w.live[0].Value.Kind() == metrics.KindUint64 && w.live[0].Value.Uint64() > largeHeap {
		percent = garbageOfLarge
	}
	if percent != w.percent {
		w.percent = percent
		debug.SetGCPercent(percent)
	}
	runtime.SetFinalizer(w, (*weigher).weigh)
}
