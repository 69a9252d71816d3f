package dsh

import (
	"bytes"
	"slices"
	"sort"
	"strings"

	"github.com/sessfix/sessfix/format"
)

// numberMap tells which number a record has in the new generation. It holds one entry for each run of
// records that move alike, not one for each record.
type numberMap struct{ runs []moved }

// moved are the records from first on, n of them, which become those from to on.
type moved struct{ first, to, n int64 }

// put notes that a record becomes number to.
func (m *numberMap) put(seq, to int64) { m.putAll(seq, to, 1) }

// putAll does so for n records that follow each other.
func (m *numberMap) putAll(seq, to, n int64) {
	i := len(m.runs)
	if i > 0 && m.runs[i-1].first > seq {
		i = sort.Search(i, func(i int) bool { return m.runs[i].first > seq })
	}
	if i > 0 {
		if r := &m.runs[i-1]; r.first+r.n == seq && r.to+r.n == to {
			r.n += n
			return
		}
	}
	m.runs = slices.Insert(m.runs, i, moved{seq, to, n})
}

// get gives the new number of a record; ok is false for one that has none.
func (m *numberMap) get(seq int64) (to int64, ok bool) {
	i := sort.Search(len(m.runs), func(i int) bool { return m.runs[i].first > seq })
	if i == 0 {
		return 0, false
	}
	r := m.runs[i-1]
	return r.to + seq - r.first, seq-r.first < r.n
}

// remapping brings the numbers that a record names over into the new generation. Of all that looks like one
// only these are numbers of records of the same log.
type remapping struct {
	numbers *numberMap
	ranges  bool  // the new generation writes runs of numbers as pairs
	limit   int64 // how many records stand in front
}

// remap changes the numbers in a record. The error names one that leads nowhere.
func (t remapping) remap(r *logRecord) error {
	root := r.root()
	if list := r.get(root, "sourceEventSeqs"); !list.none() {
		text, err := t.list(r, list, t.ranges)
		if err != nil {
			return err
		}
		if string(compact(r.of(list))) != text {
			r.set(list, text)
		}
	}
	op := r.get(root, "surfaceOp")
	if r.kind(op) == '{' {
		for _, name := range [...]string{"start", "end", "startSeq", "endSeq"} {
			if err := t.one(r, r.get(op, name)); err != nil {
				return err
			}
		}
	}
	switch r.typ {
	case "command/done":
		return t.one(r, r.get(r.data, "sourceEventSeq"))
	case "compaction/prune", "compaction/summary":
		span := r.get(r.data, "shadowedRange")
		if err := t.one(r, r.get(span, "start")); err != nil {
			return err
		}
		if err := t.one(r, r.get(span, "end")); err != nil {
			return err
		}
		return t.plain(r, r.get(r.data, "shadowedSeqs"))
	case "session/title", "session/title-llm-request":
		return t.plain(r, r.get(r.data, "messageSeqs"))
	case "image/offload":
		var err error
		r.each(r.get(r.data, "targets"), func(_, target span) bool {
			err = t.one(r, r.get(target, "seq"))
			return err == nil
		})
		return err
	}
	return nil
}

// one changes a single number, where there is one.
func (t remapping) one(r *logRecord, v span) error {
	if v.none() {
		return nil
	}
	to, err := t.to(r, v)
	if err == nil {
		r.put(v, to)
	}
	return err
}

func (t remapping) to(r *logRecord, v span) (int64, error) {
	seq, ok := r.whole(v)
	if !ok {
		return 0, format.Refuse(r.n, "record %d names a record by something that is no number", r.seq)
	}
	to, ok := t.numbers.get(seq)
	if !ok {
		return 0, format.Refuse(r.n, "record %d names record %d, which has no place of its own any more", r.seq, seq)
	}
	return to, nil
}

// plain changes the numbers of a list that knows no ranges.
func (t remapping) plain(r *logRecord, list span) error {
	var err error
	r.each(list, func(_, v span) bool {
		err = t.one(r, v)
		return err == nil
	})
	return err
}

// list writes a list of numbers anew. A range is taken apart, because its members may move apart.
func (t remapping) list(r *logRecord, list span, ranges bool) (string, error) {
	seqs, err := t.read(r, list)
	if err != nil {
		return "", err
	}
	for i, seq := range seqs {
		to, ok := t.numbers.get(seq)
		if !ok {
			return "", format.Refuse(r.n, "record %d names record %d as its source, which has no place of its own any more", r.seq, seq)
		}
		seqs[i] = to
	}
	return seqText(seqs, ranges), nil
}

// read gives the numbers of a list. A range may be no longer than what stands in front.
func (t remapping) read(r *logRecord, list span) ([]int64, error) {
	var seqs []int64
	bad := r.kind(list) != '['
	r.each(list, func(_, v span) bool {
		if r.kind(v) != '[' {
			seq, ok := r.whole(v)
			seqs, bad = append(seqs, seq), !ok
			return ok
		}
		var ends []int64
		r.each(v, func(_, v span) bool {
			end, ok := r.whole(v)
			ends, bad = append(ends, end), bad || !ok
			return len(ends) < 3
		})
		if bad = bad || len(ends) != 2 || ends[0] < 0 || ends[1] < ends[0] || ends[1]-ends[0] >= t.limit-int64(len(seqs)); bad {
			return false
		}
		for seq := ends[0]; seq <= ends[1]; seq++ {
			seqs = append(seqs, seq)
		}
		return true
	})
	if bad {
		return nil, format.Refuse(r.n, "record %d names its sources in a list that is none", r.seq)
	}
	return seqs, nil
}

// seqText writes a list of numbers. From version 2 on three or more numbers that follow each other become a pair, if
// the whole list rises.
func seqText(seqs []int64, ranges bool) string {
	for i := 1; i < len(seqs); i++ {
		ranges = ranges && seqs[i] > seqs[i-1]
	}
	var out strings.Builder
	for i := 0; i < len(seqs); i++ {
		if i > 0 {
			out.WriteByte(',')
		}
		last := i
		for ranges && last+1 < len(seqs) && seqs[last+1] == seqs[last]+1 {
			last++
		}
		if last-i < 2 {
			out.WriteString(num(seqs[i]))
			continue
		}
		out.WriteString("[" + num(seqs[i]) + "," + num(seqs[last]) + "]")
		i = last
	}
	return "[" + out.String() + "]"
}

func compact(raw []byte) []byte {
	if bytes.IndexFunc(raw, func(r rune) bool { return r < 0x80 && isBlank(byte(r)) }) < 0 {
		return raw
	}
	return bytes.Map(func(r rune) rune {
		if r < 0x80 && isBlank(byte(r)) {
			return -1
		}
		return r
	}, raw)
}
