package dsh

import (
	"context"
	"strconv"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
)

// Prepare mends what the client's own upgrade would refuse, where that can be done without touching what was said: the log
// keeps its generation, and gets other numbers where records come in or go. It is nil where there is nothing to mend.
func (Format) Prepare(ctx context.Context, s format.Source, from, to string) (format.Stage, error) {
	source, err1 := strconv.Atoi(from)
	target, err2 := strconv.Atoi(to)
	if err1 != nil || err2 != nil || target <= source || source >= Newest {
		return nil, nil
	}
	facts, err := survey(ctx, s, source, target)
	if err != nil {
		return nil, err
	}
	trial := newPrepare(source, target, facts)
	same := &sameness{}
	if err := pass(ctx, s, same, trial); err != nil {
		return nil, err
	}
	facts.cut = trial.cut()
	if target == 2 {
		// Only the whole way tells which numbers the results get whose ids must end in them.
		sizes := &suffixes{}
		if err := pass(ctx, s, sizes, stages(source, newPrepare(source, target, facts))...); err == nil {
			facts.suffixes = sizes.numbers
			same.changed = same.changed || sizes.other
		}
	}
	if !same.changed {
		return nil, nil
	}
	return newPrepare(source, target, facts), nil
}

// Prepares tells of a finding that repair refuses whether Prepare mends it.
func (Format) Prepares(f *finding.Finding) bool {
	switch f.Code {
	case finding.DanglingCall, finding.OrphanResult, finding.StartMissing, finding.DupResult, finding.FalseCloser,
		finding.OpenTurn, finding.OpenStep, finding.OpenCompaction:
		return true
	case finding.HeaderInvalid:
		return f.Where == "extra"
	}
	return false
}

// stages is the way to version 2 behind the mending.
func stages(source int, first format.Stage) []format.Stage {
	list := []format.Stage{first}
	if source == 0 {
		one, _ := beginOne(format.Source{})
		list = append(list, one)
	}
	if source < 2 {
		two, _ := beginTwo(format.Source{})
		list = append(list, two)
	}
	return list
}

// pass takes the records of a log through stages.
func pass(ctx context.Context, s format.Source, out format.Out, list ...format.Stage) error {
	outs := make([]format.Out, len(list))
	for i := len(list) - 1; i >= 0; i-- {
		outs[i] = out
		if i+1 < len(list) {
			outs[i] = onward{list[i+1], outs[i+1]}
		}
	}
	for l, err := range s.Records() {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = list[0].Record(l, outs[0])
		}
		if err != nil {
			return err
		}
	}
	for i, stage := range list {
		if err := stage.End(outs[i]); err != nil {
			return err
		}
	}
	return nil
}

// onward gives what one stage writes to the next.
type onward struct {
	stage format.Stage
	out   format.Out
}

func (o onward) Put(l format.Line) error { return o.stage.Record(l, o.out) }
func (o onward) Drop(int64, string)      {}
func (o onward) Note(int64, string)      {}

// sameness tells whether a stage changed anything. A stage that does leaves a reason behind.
type sameness struct{ changed bool }

func (s *sameness) Put(l format.Line) error { s.changed = s.changed || l.Why != ""; return nil }
func (s *sameness) Drop(int64, string)      { s.changed = true }
func (s *sameness) Note(int64, string)      { s.changed = true }

// suffixes are the numbers that results of calls that were not started get in version 2, in order.
type suffixes struct {
	numbers []int64
	other   bool // one of them does not end in its number yet
	r       rewrite
}

func (s *suffixes) Put(l format.Line) error {
	w := &s.r
	w.reset(l.Raw)
	root := w.root()
	if neverStarted(w) {
		call, _ := w.text(w.get(root, "data", "message", "source", "callId"))
		seq, _ := w.whole(w.get(root, "seq"))
		id, _ := w.text(w.get(root, "data", "message", "id"))
		s.numbers = append(s.numbers, seq)
		number, ok := repairNumber(id, call)
		s.other = s.other || !ok || number != seq
	}
	return nil
}
func (s *suffixes) Drop(int64, string) {}
func (s *suffixes) Note(int64, string) {}

// neverStarted tells a result that says that its call was not started.
func neverStarted(w *rewrite) bool {
	root := w.root()
	return w.is(w.get(root, "type"), "tool/result") && w.is(w.get(root, "data", "error", "code"), finding.ToolNotStarted)
}
