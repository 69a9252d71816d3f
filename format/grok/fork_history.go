package grok

import (
	"bufio"
	"bytes"
	"io"
	"io/fs"
	"slices"
	"strconv"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// stem is a history as a fork sees it: where its turns begin, and what in front of them is open.
type stem struct {
	dir     fs.FS
	some    bool          // it holds items
	begins  map[int]int64 // of each turn that the history tells apart
	end     int64
	openAt  int64 // where the first call without result is asked for, -1 = nowhere
	calls   []string
	outline outline
	border  int // turns in front of it are no longer in the history
	torn    int // the first of those that the log does not tell as the model knew it
}

// readStem reads it. A turn begins with a prompt that bears its number. Prompts in front of the first of those count where they are as
// many as its number says; in a history without any they all do. That is how the client cuts it (public sources), but that it takes any
// words for a prompt there.
func readStem(dir fs.FS) *stem {
	s := &stem{dir: dir, begins: map[int]int64{}, openAt: -1}
	var bare []int64 // prompts without a number, in front of the first that has one
	var f fields
	var asks []string
	var asked int64
	numbered := false
	open := func() {
		if len(asks) > 0 && s.openAt < 0 {
			s.openAt, s.calls = asked, asks
		}
		asks = nil
	}
	records(dir, historyName, 0, -1, keys[:], func(r *session.Record) {
		f.set(r.Raw, r.Caps)
		word := string(f.Str(kType))
		if itemOf[string(f.Str(kRole))] != "" && !items[word] {
			word = itemOf[string(f.Str(kRole))]
		}
		if word == "tool_result" {
			id := string(f.Str(kCall))
			asks = slices.DeleteFunc(asks, func(a string) bool { return a == id })
		} else {
			open()
		}
		switch word {
		case "assistant":
			asked = r.Text
			for _, c := range f.calls {
				asks = append(asks, string(f.Inside(c.id)))
			}
		case "user":
			n, err := strconv.Atoi(string(f.Value(kItemPrompt)))
			switch {
			case err == nil && n >= 0:
				if !numbered {
					numbered = true
					for i, at := range bare {
						if len(bare) == n {
							s.begins[i] = at
						}
					}
				}
				if _, ok := s.begins[n]; !ok {
					s.begins[n] = r.Text
				}
			case !numbered && bytes.Contains(f.Value(kContent), query):
				bare = append(bare, r.Text)
			}
		}
		s.end, s.some = r.TextEnd()+1, true
	})
	open()
	s.outline, _ = readOutline(dir)
	if b, ok := s.outline.border(); ok {
		s.border = b.index
	}
	if !numbered && s.border == 0 {
		for i, at := range bare {
			s.begins[i] = at
		}
	}
	s.torn = s.outline.told(dir, s.border)
	return s
}

// told is the first of some turns that the log does not tell as the model knew it, their number where it tells all.
func (o *outline) told(dir fs.FS, turns int) int {
	w := &writer{outline: o, dir: dir}
	for n := range min(turns, len(o.turns)) {
		for _, x := range w.turn(n) {
			if x.part || w.unsaid > 0 {
				return n
			}
		}
	}
	return turns
}

// judge says what keeps the history from being cut in front of a turn, of so many.
func (s *stem) judge(turn, turns int) (c format.Cut) {
	at, ok := s.end, true
	if turn < turns {
		at, ok = s.begins[turn]
	}
	switch {
	case !s.some:
		c.Open = "the session's history is empty, or not there"
	case turn < s.border && turn > s.torn:
		c.Open = "a compaction took away what the model knew there, and the log does not tell all of it"
	case turn < s.border:
	case !ok:
		c.Open = "the history does not show where the next turn begins"
	case s.openAt >= 0 && s.openAt < at:
		c.Open, c.Calls, c.Closable = unanswered(s.calls), s.calls, true
	}
	return c
}

// copyTo writes a child's history: that of its parent in front of a turn, byte for byte, but that messages become items; or, where a
// compaction took that away, what the log tells of it.
func (s *stem) copyTo(w io.Writer, turn, turns int) error {
	if s.retold(turn) {
		_, err := w.Write(rebuildTo(s.dir, turn))
		return err
	}
	at := s.end
	if turn < turns {
		at = s.begins[turn]
	}
	out := &putter{w: bufio.NewWriterSize(w, 64<<10)}
	step := &historyStep{}
	var err error
	ok := records(s.dir, historyName, 0, -1, keys[:1], func(r *session.Record) {
		if err == nil && r.Text < at {
			err = out.through(step, format.Line{Raw: r.Raw, N: r.N})
		}
	})
	switch {
	case err != nil:
		return err
	case !ok:
		return format.Refuse(-1, "the history cannot be read")
	}
	return out.w.Flush()
}

// putter writes what a step makes of lines.
type putter struct{ w *bufio.Writer }

// through writes what a step makes of a line, and the line itself where the step refuses it: it is as much worth here as in its parent.
func (p *putter) through(step format.Stage, l format.Line) error {
	err := step.Record(l, p)
	if refusalOnly(err) == nil && err != nil {
		return p.Put(l)
	}
	return err
}

// Put writes one.
func (p *putter) Put(l format.Line) error {
	p.w.Write(l.Raw)
	return p.w.WriteByte('\n')
}

// Drop is not asked for.
func (*putter) Drop(int64, string) {}

// Note is not asked for.
func (*putter) Note(int64, string) {}

// retold tells whether a child's history is made of the log.
func (s *stem) retold(turn int) bool { return turn < s.border }
