package dsh

import "github.com/sessfix/sessfix/session"

// compaction is the open one. Turn boundaries inside of it are no fault if the end of a seed
// comes before its own end, because that makes it void.
type compaction struct {
	open, summarized bool
	id               string
	command          string
	turn             int64
	crossed          []crossing
}

type crossing struct {
	ref session.Ref
	typ string
}

func (c *compaction) owns(o object) bool {
	command, _ := o["sourceCommandId"].(string)
	return c.open && o["compactionId"] == c.id && command == c.command
}

// compacted follows a compaction.
func (t *target) compacted(d *decoder, e *entry, turn int64) {
	s := &t.turns
	c := &s.compaction
	o := e.obj()
	switch e.typ {
	case "compaction/start":
		if c.open {
			t.crossed()
			t.broken(e, "a compaction starts inside of another")
		} else if turn != s.turn {
			t.broken(e, "a compaction starts in turn %d where %s", turn, s.where())
		}
		*c = compaction{open: true, id: e.text("compactionId"), command: e.text("sourceCommandId"), turn: turn}
	case "compaction/prune":
		t.spans(d, e)
	case "compaction/summary":
		switch {
		case !c.owns(o):
			t.broken(e, "compaction/summary has no compaction/start with its id")
		case c.turn != s.turn:
			t.broken(e, "compaction/summary of turn %d stands where %s", c.turn, s.where())
		case c.summarized:
			t.broken(e, "a compaction has two summaries")
		default:
			t.spans(d, e)
		}
		c.summarized = true
	case "compaction/end":
		_, failed := o["error"]
		switch {
		case !c.owns(o):
			t.broken(e, "compaction/end has no compaction/start with its id")
		case turn != c.turn || c.turn != s.turn:
			t.broken(e, "compaction/end of turn %d stands where %s", turn, s.where())
		case !failed && !c.summarized:
			t.broken(e, "a compaction ends without error and without summary")
		}
		t.crossed()
		*c = compaction{}
	}
}

// crossed reports the turn boundaries inside of a compaction that is not void.
func (t *target) crossed() {
	for _, x := range t.turns.compaction.crossed {
		t.refuse(x.ref, t.validator(), "%s stands inside of a compaction", x.typ)
	}
	t.turns.compaction.crossed = nil
}

func (s *turns) finish(t *target) {
	if t.to >= 2 {
		t.crossed()
	}
}

// spans: what a compaction removes is one unbroken piece of the surface.
func (t *target) spans(d *decoder, e *entry) {
	if e.bad {
		return
	}
	list, _ := e.obj()["shadowedSeqs"].([]any)
	seqs := flatten(list)
	if len(seqs) == 0 || t.from >= 3 && len(seqs) != len(list) {
		return
	}
	from, to := d.surface.find(seqs[0]), d.surface.find(seqs[len(seqs)-1])
	if from < 0 || to-from+1 != len(seqs) {
		t.broken(e, "the records that %s removes are no unbroken piece of what the model sees", e.typ)
		return
	}
	for i, n := range d.surface.nodes[from : to+1] {
		if n>>3 != seqs[i] {
			t.broken(e, "the records that %s removes are no unbroken piece of what the model sees", e.typ)
			return
		}
	}
}
