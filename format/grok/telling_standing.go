package grok

import (
	"io/fs"
	"math"
	"sort"
	"strconv"
)

// standing is what a piece of a log is beside the history.
type standing uint8

const (
	alone     standing = iota // no history tells it
	inHistory                 // it does
	takenBack                 // a rewind took it out of both
)

// standings are those of a log, each from where it begins.
type standings struct {
	known bool
	from  []int64
	is    []standing
}

// readStandings holds a log against the history beside it. A turn that has a lower number than the first prompt in there was taken away
// by a compaction; where prompts have no number the last compaction on the log says so. Words that the model was never sent, as
// commands, stand on the log alone; so does all of it where there is no history.
func readStandings(dir fs.FS) (s standings) {
	s.known = true
	first, some := -1, false
	beside(dir, historyName, func(f *fields) {
		some = true
		if n, err := strconv.Atoi(string(f.Value(kItemPrompt))); err == nil && n >= 0 && (first < 0 || n < first) {
			first = n
		}
	})
	rest := inHistory
	switch {
	case !some:
		rest, first = alone, math.MaxInt
	case first < 0:
		o, _ := readOutline(dir)
		b, _ := o.border()
		first = b.index
	}
	s.begin(0, rest)
	var turns []int // of those that were not taken back: the standing
	var p prompts
	besideAt(dir, updatesName, func(f *fields, at, _ int64) {
		kind := f.Str(kUpdate)
		if len(kind) == 0 {
			kind = f.Str(kBareUpdate)
		}
		switch step, to := p.take(kind, f); step {
		case begins:
			n, err := strconv.Atoi(p.number)
			if err != nil {
				n = len(turns)
			}
			turns = append(turns, len(s.is))
			if n < first {
				s.begin(at, alone)
			} else {
				s.begin(at, inHistory)
			}
		case command:
			s.begin(at, alone)
		case rewinds:
			if to < len(turns) {
				for i := turns[to]; i < len(s.is); i++ {
					s.is[i] = takenBack
				}
				turns = turns[:to]
			}
			s.begin(at, rest)
		}
	})
	return s
}

func (s *standings) begin(at int64, is standing) {
	s.from, s.is = append(s.from, at), append(s.is, is)
}

// of is that of a record.
func (s *standings) of(at int64) standing {
	i := sort.Search(len(s.from), func(i int) bool { return s.from[i] > at }) - 1
	if i < 0 {
		return alone
	}
	return s.is[i]
}
