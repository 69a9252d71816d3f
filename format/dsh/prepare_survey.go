package dsh

import (
	"context"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
)

// facts are what mending a record needs to know of records behind it.
type facts struct {
	real      map[callKey]found // results that came when their call had been given up
	hold      bool              // messages in front of the first step can go behind its start
	ends      map[int64]found   // by the record that starts a compaction: its end, where a turn begins or ends in front of that
	lost      map[int64]bool    // compactions that never end, and are not given up either
	cut       int64             // number of inherited records behind the mending, -1 = none
	suffixes  []int64
	moved     map[int64]bool // records that go elsewhere
	unlisted  map[int64][]extra
	remaining int // bytes of records that may still be held
}

// callKey is one call. Ids alone may come again in another step.
type callKey struct {
	turn, step int64
	id         string
}

// found is a record that will be needed elsewhere.
type found struct {
	n   int64
	raw []byte
}

// maxElsewhere bounds what is held of records that are to go elsewhere.
const maxElsewhere = 64 << 20

// surveyor goes through a log once, and changes nothing.
type surveyor struct {
	reader
	facts
	source, target int
	turn, step     int64
	open           map[callKey]bool // asked for, and not answered
	given          map[callKey]bool // left without a result when their step ended
	made           map[callKey]bool // answered by a recovery
	orphans        map[callKey]found
	stepped        bool
	spoken         int64 // the first message in front of the first step, -1 = none
	cutAt          int64 // inherited records of the source
	squeezed       compactionSurvey
}

// compactionSurvey is the open compaction.
type compactionSurvey struct {
	n       int64 // the record that starts it, -1 = none
	id      string
	crossed bool
	late    bool // what it says comes only behind the boundary
}

func survey(ctx context.Context, s format.Source, source, target int) (*facts, error) {
	v := &surveyor{source: source, target: target, turn: none, step: none, spoken: none, cutAt: none}
	v.facts = facts{real: map[callKey]found{}, hold: true, ends: map[int64]found{}, lost: map[int64]bool{}, moved: map[int64]bool{}, unlisted: map[int64][]extra{}, cut: -1, remaining: maxElsewhere}
	v.open, v.given, v.made, v.orphans = map[callKey]bool{}, map[callKey]bool{}, map[callKey]bool{}, map[callKey]found{}
	v.squeezed.n = none
	if err := pass(ctx, s, nil, v); err != nil {
		return nil, err
	}
	for key, o := range v.orphans {
		if v.given[key] || v.made[key] {
			v.real[key] = o
			v.moved[o.n] = true
		}
	}
	v.hold = v.hold && v.stepped && source <= 2 && target >= 3
	f := v.facts
	return &f, nil
}

func (v *surveyor) End(format.Out) error {
	v.boundary()
	if v.squeezed.n != none && v.squeezed.crossed && !v.squeezed.late {
		v.lost[v.squeezed.n] = true
	}
	return nil
}

func (v *surveyor) Record(l format.Line, _ format.Out) error {
	r, err := v.read(l)
	if err != nil {
		return err
	}
	if r == nil {
		if n, ok := v.r.whole(v.r.get(v.r.root(), "seedLength")); ok && v.source < 2 {
			v.cutAt = n
		}
		return nil
	}
	steered := r.typ == "steering/message"
	if to := renamed[r.typ]; to != "" {
		r.typ = to
	}
	if v.source <= 2 && !steered {
		if x := extras(v.source, v.target, r.typ, r.seq, func() any { o, _ := parseJSON(r.of(r.data)); return o }); len(x) > 0 {
			v.unlisted[r.n] = x
		}
	}
	v.beginning(r)
	v.compaction(r)
	turn, _ := r.whole(r.get(r.data, "turn"))
	step, _ := r.whole(r.get(r.data, "step"))
	switch r.typ {
	case "turn/start":
		v.boundary()
		v.turn, v.step = turn, none
	case "turn/end":
		v.boundary()
		v.turn, v.step = none, none
	case "step/start":
		v.boundary()
		v.step = step
	case "step/end":
		v.boundary()
		v.step = none
	case "assistant/message":
		eachCall(r, func(id string, _ span) {
			key := callKey{turn, step, id}
			v.open[key] = turn == v.turn && step == v.step
		})
	case "tool/result":
		v.result(r, turn, step)
	}
	return nil
}

// eachCall goes over the calls that an answer asks for.
func eachCall(r *logRecord, yield func(id string, block span)) {
	content := r.get(r.data, "message", "content")
	if content.none() {
		content = r.get(r.data, "content") // from before messages had ids
	}
	r.each(content, func(_, block span) bool {
		if r.is(r.get(block, "type"), "tool-call") {
			if id, ok := r.text(r.get(block, "id")); ok {
				yield(id, block)
			}
		}
		return true
	})
}

// answered is the call of a result.
func answered(r *logRecord) (id string, ok bool) {
	if id, ok = r.text(r.get(r.data, "message", "source", "callId")); !ok {
		id, ok = r.text(r.get(r.data, "callId")) // from before messages had ids
	}
	return id, ok
}

// boundary gives up the calls that are open.
func (v *surveyor) boundary() {
	for key := range v.open {
		v.given[key] = true
	}
	clear(v.open)
}

func (v *surveyor) result(r *logRecord, turn, step int64) {
	id, ok := answered(r)
	if !ok || !r.is(r.get(r.root(), "surfaceOp"), "append") {
		return
	}
	key := callKey{turn, step, id}
	synthetic := madeResult(r)
	if v.open[key] && turn == v.turn && step == v.step {
		delete(v.open, key)
		if synthetic {
			v.made[key] = true
		}
		return
	}
	if _, has := v.orphans[key]; has || synthetic || len(r.raw) > v.remaining {
		return
	}
	v.remaining -= len(r.raw)
	v.orphans[key] = found{r.n, append([]byte(nil), r.raw...)}
}

// madeResult tells a result that a recovery made up.
func madeResult(r *logRecord) bool {
	code := r.get(r.data, "error", "code")
	if !r.is(code, finding.ToolNotStarted) && !r.is(code, finding.ToolOutcomeUnknown) {
		return false
	}
	id := r.of(r.get(r.data, "message", "id"))
	for _, p := range madeUp {
		if len(id) > len(p) && string(id[1:len(p)+1]) == string(p) {
			return true
		}
	}
	return false
}

// beginning looks whether messages in front of the first step can go behind its start: only where nothing else is
// there that a message must stand in front of.
func (v *surveyor) beginning(r *logRecord) {
	if v.stepped {
		return
	}
	switch r.typ {
	case "step/start":
		v.stepped = true
		if v.spoken != none && v.spoken < v.cutAt && r.seq >= v.cutAt {
			v.hold = false // it would leave the inherited part
		}
	case "user/message":
		if v.spoken == none {
			v.spoken = r.seq
		}
		v.hold = v.hold && r.is(r.get(r.root(), "surfaceOp"), "append")
	case "assistant/message", "tool/result", "compaction/start", "compaction/summary", "compaction/prune", "compaction/end":
		v.hold = false
	case "session/end-seed":
		v.hold = v.hold && v.spoken == none
	}
}

// compaction looks for turns that begin or end while a compaction is open. Where all that it says stands in front of that,
// its end can go there too.
func (v *surveyor) compaction(r *logRecord) {
	c := &v.squeezed
	switch r.typ {
	case "turn/start", "turn/end":
		c.crossed = c.crossed || c.n != none
	case "session/end-seed":
		c.n = none
	case "compaction/start":
		if c.n != none {
			v.lost[c.n] = !c.late
		}
		*c = compactionSurvey{n: r.n}
		c.id, _ = r.text(r.get(r.data, "compactionId"))
	case "compaction/summary":
		c.late = c.late || c.crossed
	case "user/message":
		if source := r.get(r.data, "source"); r.is(r.get(source, "plugin"), "compact") && r.kind(r.get(r.root(), "surfaceOp")) == '{' {
			c.late = c.late || c.crossed
		}
	case "compaction/end":
		if id, _ := r.text(r.get(r.data, "compactionId")); c.n != none && id == c.id {
			if c.crossed && !c.late && len(r.raw) <= v.remaining {
				v.remaining -= len(r.raw)
				v.ends[c.n] = found{r.n, append([]byte(nil), r.raw...)}
				v.moved[r.n] = true
			}
			c.n = none
		}
	}
}
