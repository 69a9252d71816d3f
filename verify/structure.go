package verify

import (
	"fmt"
	"slices"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// maxOpen bounds how many open approvals and mid-log faults are remembered.
const maxOpen = 1000

// structure checks how turns, steps and calls nest and pair. Its state is one turn and one
// step, whatever the size of the log.
type structure struct {
	rules    format.Rules
	findings []finding.Finding

	turn, step         int32 // open ones, 0 = none
	turnRef, stepRef   session.Ref
	lastTurn, lastStep int32
	ended              session.Ref // the last record that ends a turn
	turns              int64
	seq                int64
	alike              map[finding.Code]int

	calls, before ledger // of the open step, and of the one before it
	empty         emptyIDs

	deltas     int64
	deltaRef   session.Ref
	compaction session.Ref
	approvals  []approval

	// replacing are the first records that take others out of the replay.
	replacing []session.Ref

	// standing are findings about records that a later compaction may take out of the replay.
	standing []standing
}

type approval struct {
	id  string
	ref session.Ref
}

type standing struct {
	seq     int64
	finding int
}

// emptyIDs are the places in one step where a call has an empty id.
type emptyIDs struct {
	asked, started, results int
	seq                     int64 // of the first
	nowhere                 bool  // one has no id at all, and so no place to write it
	refs                    []session.Ref
}

// maxAlike is how many faults of one kind are told one by one; the last one says how many
// more there are.
const maxAlike = 200

func (s *structure) add(code finding.Code, ref session.Ref, where, message string) *finding.Finding {
	if where != "tail" {
		if s.alike == nil {
			s.alike = map[finding.Code]int{}
		}
		s.alike[code]++
	}
	s.findings = append(s.findings, finding.About(code, ref, where, message))
	return &s.findings[len(s.findings)-1]
}

// nest reports turns or steps that do not nest.
func (s *structure) nest(code finding.Code, ref session.Ref, where, text string, args ...any) {
	if !s.enough(code) {
		s.add(code, ref, where, fmt.Sprintf(text, args...))
	}
}

// enough counts a fault of which there were already enough to tell.
func (s *structure) enough(code finding.Code) bool {
	if s.alike[code] < maxAlike {
		return false
	}
	s.alike[code]++
	return true
}

// more tells how many faults were not told one by one.
func (s *structure) more() {
	for i := range s.findings {
		f := &s.findings[i]
		if n := s.alike[f.Code]; n > maxAlike && f.Where != "tail" {
			f.Message += fmt.Sprintf("; %d more like this in the log", n-1)
			s.alike[f.Code] = 0
		}
	}
}

// hide drops findings about records that are no longer replayed.
func (s *structure) hide(gone []int64) {
	for i := range s.calls.lines {
		c := &s.calls.lines[i]
		c.hidden = c.hidden || c.askSeq >= 0 && slices.Contains(gone, c.askSeq)
	}
	if len(s.standing) == 0 {
		return
	}
	for _, seq := range gone {
		for _, st := range s.standing {
			if st.seq == seq {
				s.findings[st.finding].Severity = ""
			}
		}
	}
}

// stand remembers that the last finding is about a record that may be hidden later.
func (s *structure) stand(seq int64) {
	if len(s.standing) < maxOpen && len(s.findings) > 0 {
		s.standing = append(s.standing, standing{seq, len(s.findings) - 1})
	}
}

// record takes what the next record means.
func (s *structure) record(r *session.Record, b *format.Batch) {
	s.seq = b.Seq
	if len(b.Replaced) > 0 {
		s.hide(b.Replaced)
		if len(s.replacing) < maxOpen {
			s.replacing = append(s.replacing, r.Ref())
		}
	}
	for i := range b.Events {
		s.event(r, &b.Events[i])
	}
}

func (s *structure) event(r *session.Record, e *session.Event) {
	switch e.Kind {
	case session.TurnStart:
		s.turnStart(r, e)
	case session.TurnEnd:
		s.turnEnd(r, e)
	case session.StepStart:
		s.stepStart(r, e)
	case session.StepEnd:
		s.stepEnd(r, e)
	case session.Delta:
		if s.deltas == 0 {
			s.deltaRef = r.Ref()
		}
		s.deltas++
	case session.AssistantMessage, session.AttemptEnd:
		s.deltas = 0
	case session.CallAsked:
		s.asked(r, e)
	case session.CallStarted:
		s.started(r, e)
	case session.CallResult:
		s.result(r, e)
	case session.ApprovalAsked:
		if len(s.approvals) < maxOpen {
			s.approvals = append(s.approvals, approval{string(e.ID.Of(r.Raw)), r.Ref()})
		}
	case session.ApprovalDecided:
		id := e.ID.Of(r.Raw)
		for i := range s.approvals {
			if s.approvals[i].id == string(id) {
				s.approvals = append(s.approvals[:i], s.approvals[i+1:]...)
				break
			}
		}
	case session.CompactionStart:
		s.compaction = r.Ref()
	case session.CompactionEnd, session.SeedEnd:
		s.compaction = session.Ref{}
	}
}

func (s *structure) turnStart(r *session.Record, e *session.Event) {
	if !s.rules.Turns {
		return
	}
	s.closeStep()
	if s.turn > 0 {
		s.nest(finding.OpenTurn, s.turnRef, "mid", "turn %d is not ended when turn %d starts", s.turn, e.Turn)
	}
	if e.Turn != s.lastTurn+1 {
		s.nest(finding.TurnNesting, r.Ref(), "", "turn %d starts where turn %d is expected", e.Turn, s.lastTurn+1)
	}
	s.turn, s.turnRef, s.step, s.lastStep = max(e.Turn, 1), r.Ref(), 0, 0
	s.lastTurn = s.turn
	s.turns++
	s.deltas = 0
}

func (s *structure) turnEnd(r *session.Record, e *session.Event) {
	if !s.rules.Turns {
		return
	}
	s.ended = r.Ref()
	if s.step > 0 {
		s.nest(finding.OpenStep, s.stepRef, "mid", "step %d of turn %d is not ended when the turn ends", s.step, s.turn)
	}
	s.closeStep()
	switch {
	case s.turn == 0:
		s.nest(finding.TurnNesting, r.Ref(), "", "turn %d ends and none is open", e.Turn)
	case e.Turn != s.turn:
		s.nest(finding.TurnNesting, r.Ref(), "", "turn %d ends where turn %d is open", e.Turn, s.turn)
	}
	s.turn, s.step, s.deltas = 0, 0, 0
}

func (s *structure) stepStart(r *session.Record, e *session.Event) {
	if !s.rules.Steps {
		return
	}
	if s.step > 0 {
		s.nest(finding.OpenStep, s.stepRef, "mid", "step %d of turn %d is not ended when step %d starts", s.step, s.turn, e.Step)
	}
	// The client forgets no call at a step's start: calls of a step that never ended stay open.
	if s.step == 0 {
		s.closeStep()
	}
	switch {
	case s.turn == 0 || e.Turn != s.turn:
		s.nest(finding.StepNesting, r.Ref(), "", "step %d of turn %d starts outside of that turn", e.Step, e.Turn)
	case e.Step != s.lastStep+1:
		s.nest(finding.StepNesting, r.Ref(), "", "step %d starts where step %d is expected", e.Step, s.lastStep+1)
	}
	s.step, s.stepRef = max(e.Step, 1), r.Ref()
	s.lastStep = s.step
	s.deltas = 0
}

func (s *structure) stepEnd(r *session.Record, e *session.Event) {
	if !s.rules.Steps {
		return
	}
	if s.step == 0 || e.Step != s.step || e.Turn != s.turn {
		s.nest(finding.StepNesting, r.Ref(), "", "step %d of turn %d ends where step %d of turn %d is open", e.Step, e.Turn, s.step, s.turn)
	}
	s.closeStep()
	s.step, s.deltas = 0, 0
}

// closeStep judges the calls of a step that is over.
func (s *structure) closeStep() {
	s.settleEmpty()
	if s.calls.pending() {
		for _, c := range s.calls.open() {
			if c.Hidden || s.enough(finding.DanglingCall) {
				continue
			}
			f := s.add(finding.DanglingCall, c.Asked, "mid", fmt.Sprintf("call %s has no result, and its step is over", quote(c.ID)))
			f.CallID = c.ID
			s.stand(c.AskSeq)
		}
	}
	if len(s.calls.lines) > 0 {
		s.calls, s.before = s.before, s.calls
		s.calls.reset()
	}
}

func (s *structure) asked(r *session.Record, e *session.Event) {
	id := callID(r, e)
	if len(id) == 0 {
		s.empty.asked++
		s.emptyAt(r, e)
	}
	c := s.calls.find(id)
	if c != nil && c.result.Len > 0 {
		// An id may be used again once it was answered: another call.
		c.over, c = true, nil
	}
	if c == nil {
		c = s.calls.add(id, e.Name.Of(r.Raw))
	} else {
		c.startSeq, c.started = -1, session.Ref{}
	}
	c.asked, c.askSeq, c.turn, c.step = r.Ref(), s.seq, e.Turn, e.Step
}

func (s *structure) started(r *session.Record, e *session.Event) {
	id := callID(r, e)
	if len(id) == 0 {
		s.empty.started++
		s.emptyAt(r, e)
	}
	c := s.calls.find(id)
	if c == nil {
		c = s.calls.add(id, e.Name.Of(r.Raw))
		c.turn, c.step = e.Turn, e.Step
	}
	c.started, c.startSeq = r.Ref(), s.seq
}

func (s *structure) result(r *session.Record, e *session.Event) {
	id := callID(r, e)
	if len(id) == 0 {
		s.empty.results++
		s.emptyAt(r, e)
	}
	c := s.calls.find(id)
	if c == nil {
		if old := s.before.find(id); old != nil && old.asked.Len > 0 && old.result.Len > 0 {
			s.second(r, old, e)
			return
		}
		if s.enough(finding.OrphanResult) {
			return
		}
		f := s.add(finding.OrphanResult, r.Ref(), "", fmt.Sprintf("a result of call %s, which is not asked for in front of it", quote(string(id))))
		f.CallID = string(id)
		s.stand(s.seq)
		return
	}
	if c.result.Len > 0 {
		s.second(r, c, e)
		return
	}
	c.result, c.synthetic = r.Ref(), e.Flags&session.Synthetic != 0
	switch {
	case c.asked.Len == 0:
		if s.enough(finding.OrphanResult) {
			return
		}
		f := s.add(finding.OrphanResult, r.Ref(), "started", fmt.Sprintf("a result of call %s, which started but which no message asks for", quote(string(id))))
		f.CallID = string(id)
		s.stand(s.seq)
	case c.started.Len == 0 && s.rules.Starts && !c.synthetic:
		if s.enough(finding.StartMissing) {
			return
		}
		f := s.add(finding.StartMissing, r.Ref(), "", fmt.Sprintf("a real result of call %s, whose start is not recorded", quote(string(id))))
		f.CallID = string(id)
	}
}

// second judges one more result of a call.
func (s *structure) second(r *session.Record, c *line, e *session.Event) {
	code, message := finding.DupResult, fmt.Sprintf("a second result of call %s", quote(string(c.id)))
	if c.synthetic && e.Flags&session.Synthetic == 0 {
		code, message = finding.FalseCloser, fmt.Sprintf("the real result of call %s, behind a synthetic one", quote(string(c.id)))
	}
	if s.enough(code) {
		return
	}
	f := s.add(code, r.Ref(), "", message)
	f.CallID = string(c.id)
	s.stand(s.seq)
}

// callID is the call's id as it stands in the mended record.
func callID(r *session.Record, e *session.Event) []byte {
	id := e.Call.Of(r.Raw)
	if r.Marks&session.Salvaged != 0 {
		id = scan.MendString(id)
	}
	return id
}

func (s *structure) emptyAt(r *session.Record, e *session.Event) {
	s.empty.nowhere = s.empty.nowhere || e.Call == session.Sub{}
	if len(s.empty.refs) == 0 {
		s.empty.seq = s.seq
	}
	s.empty.refs = append(s.empty.refs, r.Ref())
}

// settleEmpty reports the empty ids of a step. One call with its start and result can be given
// an id; of several nothing says which belongs to which.
func (s *structure) settleEmpty() {
	if len(s.empty.refs) == 0 {
		return
	}
	where := "single"
	if s.empty.asked != 1 || s.empty.started > 1 || s.empty.results > 1 || s.empty.nowhere {
		where = "several"
	}
	seen := map[int64]bool{}
	for _, ref := range s.empty.refs {
		if seen[ref.Text] {
			continue
		}
		seen[ref.Text] = true
		f := s.add(finding.EmptyCallID, ref, where, "the call has an empty id")
		f.Expected = s.empty.seq
		switch {
		case s.empty.nowhere:
			f.Message = "the call has no id, and no place for one"
		case where == "several":
			f.Message = "several calls of one step have an empty id; nothing says which result belongs to which"
		}
	}
	s.empty = emptyIDs{refs: s.empty.refs[:0]}
}

// end judges what the log leaves open and asks for its closing.
func (s *structure) end(res *Result) {
	s.settleEmpty()
	calls := s.calls.open()
	if s.turn == 0 {
		for _, c := range calls {
			f := s.add(finding.DanglingCall, c.Asked, "mid", fmt.Sprintf("call %s has no result, and no turn is open", quote(c.ID)))
			f.CallID = c.ID
		}
	} else {
		for _, c := range calls {
			f := s.add(finding.DanglingCall, c.Asked, "tail", fmt.Sprintf("call %s is %s and has no result", quote(c.ID), c.State()))
			f.CallID = c.ID
			f.Repair = "a result is added: " + finding.ToolOutcomeUnknown
			f.Never = "repeat it blindly: it may have run"
			if c.State() == session.CallRequested && s.rules.Starts {
				f.Repair = "a result is added: " + finding.ToolNotStarted
				f.Never = "pretend that it succeeded"
			}
		}
		if s.step > 0 {
			s.add(finding.OpenStep, s.stepRef, "tail", fmt.Sprintf("step %d of turn %d is open at the end of the log", s.step, s.turn))
		}
		s.add(finding.OpenTurn, s.turnRef, "tail", fmt.Sprintf("turn %d is open at the end of the log", s.turn))
		res.Open = true
		res.Close = &format.CloseRequest{Calls: calls, Turn: s.turn, Step: s.step}
	}
	if s.deltas > 0 {
		s.add(finding.OpenAttempt, s.deltaRef, "tail", "an answer was being streamed, its complete message is not there")
	}
	if s.compaction.Len > 0 {
		s.add(finding.OpenCompaction, s.compaction, "tail", "a compaction is started and not ended")
	}
	for _, a := range s.approvals {
		s.add(finding.OpenApproval, a.ref, "tail", fmt.Sprintf("approval %s was asked for and not decided", quote(a.id)))
		res.Tail.OpenApprovals = append(res.Tail.OpenApprovals, a.id)
	}
	res.Turns = s.turns
	res.Tail.Turn, res.Tail.Step, res.Tail.Calls = s.turn, s.step, calls
	res.Tail.Deltas, res.Tail.OpenCompaction = s.deltas, s.compaction.Len > 0
	kept := s.findings[:0]
	for _, f := range s.findings {
		if f.Severity != "" {
			kept = append(kept, f)
		}
	}
	s.findings = kept
	s.more()
}

// quote shows an id, cut short.
func quote(id string) string {
	if len(id) > 80 {
		id = id[:80] + "…"
	}
	return fmt.Sprintf("%q", id)
}
