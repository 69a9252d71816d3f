package migrate

import (
	"io"
	"maps"
	"math"
	"slices"

	"github.com/sessfix/sessfix/format"
)

// Remark is something that a step had to say about a record of the source, counted from 0; -1 is the session.
type Remark struct {
	N    int64
	Text string
}

// piece is a record that a chain wrote, in 16 bytes.
type piece struct {
	off int64 // in the result
	n   int32 // of the source, -1 = it is new
	len uint32
}

// writer takes what comes out of a chain.
type writer struct {
	w      io.Writer
	off    int64
	pieces []piece
	whys   map[int]string // by piece
	drops  []Remark
	notes  []Remark
}

// Put writes a record.
func (t *writer) Put(l format.Line) error {
	if l.N > math.MaxInt32 || len(l.Raw) > math.MaxUint32 {
		return format.Refuse(l.N, "the log is too long")
	}
	if l.Why != "" {
		if t.whys == nil {
			t.whys = map[int]string{}
		}
		t.whys[len(t.pieces)] = l.Why
	}
	t.pieces = append(t.pieces, piece{t.off, int32(l.N), uint32(len(l.Raw))})
	t.off += int64(len(l.Raw)) + 1
	if _, err := t.w.Write(l.Raw); err != nil {
		return err
	}
	_, err := t.w.Write([]byte{'\n'})
	return err
}

// Drop notes a record that has no place in the result.
func (t *writer) Drop(n int64, why string) { t.drops = append(t.drops, Remark{n, why}) }

// Note notes a remark.
func (t *writer) Note(n int64, text string) { t.notes = append(t.notes, Remark{n, text}) }

// Reason is why some records were added or changed.
type Reason struct {
	Text    string
	Records int
	Line    int64 // of the first of them, in the result
}

// reasons are those that the steps gave, each once, in the order of the result.
func (t *writer) reasons() []Reason {
	var out []Reason
	at := map[string]int{}
	for _, i := range slices.Sorted(maps.Keys(t.whys)) {
		text := t.whys[i]
		k, ok := at[text]
		if !ok {
			k = len(out)
			at[text], out = k, append(out, Reason{Text: text, Line: int64(i) + 1})
		}
		out[k].Records++
	}
	return out
}

// pipe hands what one stage writes to the next.
type pipe struct {
	next format.Stage
	out  format.Out
}

func (p pipe) Put(l format.Line) error   { return p.next.Record(l, p.out) }
func (p pipe) Drop(n int64, why string)  { p.out.Drop(n, why) }
func (p pipe) Note(n int64, text string) { p.out.Note(n, text) }

// run sends the records of a source through stages.
func run(s format.Source, stages []format.Stage, out format.Out) error {
	outs := make([]format.Out, len(stages)+1)
	outs[len(stages)] = out
	for i := len(stages) - 1; i >= 0; i-- {
		outs[i] = pipe{stages[i], outs[i+1]}
	}
	for l, err := range s.Records() {
		if err != nil {
			return err
		}
		if err := outs[0].Put(l); err != nil {
			return err
		}
	}
	for i, st := range stages {
		if err := st.End(outs[i+1]); err != nil {
			return err
		}
	}
	return nil
}
