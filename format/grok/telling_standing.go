package grok

import (
	"bytes"
	"io/fs"
	"sort"
	"strconv"
)

// standing is what a piece of a log is beside the history.
type standing uint8

const (
	alone     standing = iota // there is no history
	inHistory                 // that tells it too
	sentOnce                  // a compaction took it out of the history
	takenBack                 // a rewind took it out of both
	aside                     // it is of a command, which the model never sees
)

// standings are those of a log, each from where it begins.
type standings struct {
	known bool
	from  []int64
	is    []standing
}

// readStandings holds a log against the history beside it. A turn that has a lower number than the first prompt in there was taken away
// by a compaction, but where prompts without a number, as early releases wrote them, stand in front of it; where no prompt has a number
// the last compaction on the log says so. Where there is no history all of it stands on the log alone.
func readStandings(dir fs.FS) (s standings) {
	s.known = true
	first, bare, some, compacted := -1, 0, false, false
	beside(dir, historyName, func(f *fields) {
		some = true
		compacted = compacted || bytes.Contains(f.Raw, ofCompaction)
		if n, err := strconv.Atoi(string(f.Value(kItemPrompt))); err == nil && n >= 0 && (first < 0 || n < first) {
			first = n
		} else if first < 0 && bytes.Contains(f.Value(kContent), query) {
			bare++
		}
	})
	rest := inHistory
	switch {
	case !some:
		rest, first = alone, 0
	case first < 0:
		o, _ := readOutline(dir)
		b, _ := o.border()
		first = b.index
	case bare == first && !compacted:
		first = 0
	}
	s.begin(0, rest)
	var turns []int // of those that were not taken back: the standing
	var p prompts
	last := rest // of the last turn
	besideAt(dir, updatesName, func(f *fields, at, end int64) {
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
			if last = rest; n < first {
				last = sentOnce
			}
			turns = append(turns, len(s.is))
			s.begin(at, last)
		case command:
			s.begin(at, aside)
		case rewinds:
			if to < len(turns) {
				for i := turns[to]; i < len(s.is); i++ {
					s.is[i] = takenBack
				}
				turns = turns[:to]
			}
			last = rest
			s.begin(at, last)
		default: // a command ends with its turn, or where the host begins one
			if s.is[len(s.is)-1] != aside {
				break
			}
			if f.True(kHost) {
				s.begin(at, last)
			} else if string(kind) == "turn_completed" {
				s.begin(end+1, last)
			}
		}
	})
	return s
}

// ofCompaction is what an item holds that a compaction wrote.
var ofCompaction = []byte(`"synthetic_reason":"compaction_meta"`)

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
