package harness

import (
	"slices"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/pi/harness/message"
	"github.com/sessfix/sessfix/session"
)

// telling tells one log. Its lane may go back to any entry, or over to one of another lane, so all that was said is kept: what the model
// gets from there on is told again then, as a copy.
type telling struct {
	entries map[string]saidEntry
	lane    string // the one that is followed: main, or the first that is named as long as that one is not
	head    string // the entry that it goes on from
	left    int    // how many entries are told again at most
	lost    bool   // they were more: nobody knows what is sent
}

// copies bounds how much is told again: a log that was made to go back and back would never end.
const copies = 1 << 23

// saidEntry is what an entry says, and the entry that it hangs under.
type saidEntry struct {
	up     string
	border bool // it stands for what is in front of it
	list   []format.Message
}

// NewTelling begins with a log.
func (d dialect) NewTelling(format.Place) format.Telling {
	return &telling{entries: map[string]saidEntry{}, left: copies}
}

// Tell says what a transaction says. Entries of other lanes are for people: their requests are others.
func (t *telling) Tell(r *session.Record, out []format.Message) []format.Message {
	writes := tellWrites(r.Raw)
	var moves, ours bool
	for i := range writes {
		if lane, _, ok := writes[i].moves(); ok {
			if t.lane == "" || lane == mainLane {
				t.lane = lane
			}
			moves, ours = true, ours || lane == t.lane
		}
	}
	for i := range writes {
		switch w := &writes[i]; w.Kind {
		case "entry":
			out = t.enter(w, ours, moves && !ours, out)
		default:
			out = w.note(out)
		}
		if lane, tip, ok := writes[i].moves(); ok && lane == t.lane {
			out = t.move(tip, out)
		}
	}
	return out
}

// enter tells an entry. One that belongs to no lane is of this one where it hangs under its last.
func (t *telling) enter(w *saidWrite, ours, elsewhere bool, out []format.Message) []format.Message {
	id, up := string(w.ID), string(w.Parent)
	if _, again := t.entries[id]; again || id == "" {
		return out
	}
	e := saidEntry{up: up, border: w.Type == "compaction", list: w.says()}
	if ours && up != t.head {
		out = t.move(up, out)
	}
	t.entries[id] = e
	first := len(out)
	out = e.tell(out)
	if elsewhere || t.lost || up != t.head {
		for i := range out[first:] {
			out[first+i].For, out[first+i].Stands = format.PeopleOnly, false
		}
		return out
	}
	t.head = id
	return out
}

// tell appends what an entry says; what becomes of that is no business of the one that is kept.
func (e *saidEntry) tell(out []format.Message) []format.Message {
	for _, m := range e.list {
		m.Blocks = slices.Clone(m.Blocks)
		for i := range m.Blocks {
			m.Blocks[i].Content = slices.Clone(m.Blocks[i].Content)
		}
		out = append(out, m)
	}
	return out
}

// move lets the lane go on from another entry. What hangs under the one that it goes on from now is told as it follows; where the lane goes
// back, all is told that it has from there on.
func (t *telling) move(tip string, out []format.Message) []format.Message {
	if _, ok := t.entries[tip]; t.lost || tip == t.head || tip != "" && !ok {
		return out
	}
	var way []saidEntry
	head, at, whole := t.head, tip, false
	for met := map[string]bool{}; at != "" && at != head && !whole; {
		e, ok := t.entries[at]
		if !ok || met[at] {
			break
		}
		met[at] = true
		way = append(way, e)
		at, whole = e.up, e.border
	}
	t.head = tip
	if t.left -= len(way); t.left < 0 {
		t.lost = true
		return append(out, message.Note(format.Message{ID: tip}, "navigation", "the lane goes back so often that it is followed no further"))
	}
	back := at != head && !whole
	if back {
		note := message.Note(format.Message{}, "navigation", "the talk goes on from an earlier entry")
		note.ID = tip
		out = append(out, note)
	}
	for _, e := range slices.Backward(way) {
		first := len(out)
		out = e.tell(out)
		for i := range out[first:] {
			m := &out[first+i]
			m.Copy = true
			if back && m.For != format.PeopleOnly {
				m.Stands, back = true, false
			}
		}
	}
	if back { // nothing is sent of what is there
		out = append(out, format.Message{Role: format.User, For: format.ModelOnly, ID: tip, Stands: true, Copy: true})
	}
	return out
}

var _ format.Teller = dialect{}
