package dsh

import (
	"fmt"
	"slices"
)

// What may be on the surface, as kinds of node.
const (
	nodeUser = iota
	nodeAssistant
	nodeResult
	nodeSystem
	nodeDeveloper
)

// surface is the list of messages that the model sees, in order: the number of each with its kind.
type surface struct {
	strict bool
	nodes  []int64 // number << 3 | kind
}

func (s *surface) push(seq int64, kind int) {
	if len(s.nodes) == cap(s.nodes) {
		s.nodes = slices.Grow(s.nodes, max(len(s.nodes), 64))
	}
	s.nodes = append(s.nodes, seq<<3|int64(kind))
}

// find returns the position of a message, -1 if it is not on the surface.
func (s *surface) find(seq int64) int {
	for i, n := range s.nodes {
		if n>>3 == seq {
			return i
		}
	}
	return -1
}

// replace puts a message in place of those from start to end, both on the surface now. The
// sources must name every message that leaves. It appends their numbers to gone.
func (s *surface) replace(seq int64, kind int, start, end int64, sources, gone []int64, v3 bool) ([]int64, string) {
	a, b := s.find(start), s.find(end)
	switch {
	case a < 0:
		return gone, fmt.Sprintf("the surface does not hold record %d, where the replaced range starts", start)
	case b < 0:
		return gone, fmt.Sprintf("the surface does not hold record %d, where the replaced range ends", end)
	case b < a:
		return gone, fmt.Sprintf("the replaced range ends at record %d, in front of its start %d", end, start)
	}
	if kind == nodeResult && (a != b || s.nodes[a]&7 != nodeResult) {
		return gone, "a result may replace a single result only"
	}
	if v3 && len(s.nodes) > 0 && s.nodes[0]&7 == nodeSystem {
		if kind == nodeSystem && (a != 0 || b != 0) {
			return gone, "a system message may replace the head alone"
		}
		if kind != nodeSystem && a == 0 {
			return gone, "the replaced range covers the system head"
		}
	}
	named := make(map[int64]bool, len(sources))
	for _, v := range sources {
		named[v] = true
	}
	for _, n := range s.nodes[a : b+1] {
		if !named[n>>3] {
			return gone, fmt.Sprintf("sourceEventSeqs does not name record %d, which the range removes", n>>3)
		}
		gone = append(gone, n>>3)
	}
	s.nodes[a] = seq<<3 | int64(kind)
	s.nodes = append(s.nodes[:a+1], s.nodes[b+1:]...)
	return gone, ""
}
