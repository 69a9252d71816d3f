package export

import (
	"strconv"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// pageTurns are the turns and steps of a part, by rows. Where the log does not mark them, a turn begins with what the user says,
// and a step with an answer.
type pageTurns struct {
	marked, implied pageSpans
	steps, answers  pageSpans
}

// pageSpans are stretches of rows that do not overlap.
type pageSpans struct {
	list []pageSpan
	open bool
}

// pageSpan is one of them; end is -1 where nothing ends it.
type pageSpan struct {
	start, end int64
	number     int32
}

func (s *pageSpans) begin(row int64, number int32) {
	if n := len(s.list); n > 0 && s.open && s.list[n-1].end < 0 {
		s.list[n-1].end = max(row-1, s.list[n-1].start)
	}
	s.list = append(s.list, pageSpan{row, -1, number})
	s.open = true
}

func (s *pageSpans) finish(row int64) {
	if n := len(s.list); n > 0 && s.open {
		s.list[n-1].end = row
	}
	s.open = false
}

// event takes an event; asks tells whether its record may begin a turn.
func (t *pageTurns) event(v *session.Event, row int64, asks bool) {
	switch v.Kind {
	case session.TurnStart:
		t.marked.begin(row, v.Turn)
	case session.TurnEnd:
		t.marked.finish(row)
		t.steps.finish(row)
		t.answers.finish(row)
	case session.StepStart:
		t.steps.begin(row, v.Step)
	case session.StepEnd:
		t.steps.finish(row)
	case session.UserMessage:
		if v.Flags == 0 && asks {
			t.implied.begin(row, int32(len(t.implied.list)+1))
			t.answers.finish(row)
		}
	case session.AssistantMessage:
		t.answers.begin(row, 0)
	}
}

// told takes what a record says that means nothing else.
func (t *pageTurns) told(list []format.Message, row int64) {
	for i := range list {
		switch {
		case list[i].Role == format.User && asks(list[i:i+1]):
			t.implied.begin(row, int32(len(t.implied.list)+1))
			t.answers.finish(row)
			return
		case list[i].Role == format.Assistant:
			t.answers.begin(row, 0)
			return
		}
	}
}

// asks tells whether a user's record may begin a turn: not where all that it says was added or repeated by the client, or given by
// calls.
func asks(list []format.Message) bool {
	for i := range list {
		if m := &list[i]; !m.Stands && !m.Copy && m.Title == "" && m.For != format.ModelOnly && m.Role != format.Tool {
			return true
		}
	}
	return len(list) == 0
}

// append writes the turns and the steps, and whether the log marks them.
func (t *pageTurns) append(b []byte) []byte {
	turns, steps, marked, stepsMarked := &t.marked, &t.steps, true, true
	if len(turns.list) == 0 {
		turns, marked = &t.implied, false
	}
	if len(steps.list) == 0 {
		steps, stepsMarked = &t.answers, false
	}
	b = turns.append(b)
	b = steps.append(append(b, `,"steps":`...))
	b = strconv.AppendBool(append(b, `,"marked":`...), marked)
	return strconv.AppendBool(append(b, `,"stepsMarked":`...), stepsMarked)
}

// append writes start, end and number of each.
func (s *pageSpans) append(b []byte) []byte {
	b = append(b, '[')
	for i, x := range s.list {
		if i > 0 {
			b = append(b, ',')
		}
		for k, v := range []int64{x.start, x.end, int64(x.number)} {
			b = strconv.AppendInt(append(b, "[,"[min(k, 1)]), v, 10)
		}
		b = append(b, ']')
	}
	return append(b, ']')
}
