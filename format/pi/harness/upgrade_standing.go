package harness

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// Name spaces of what version 3 has as entries.
const (
	names  = "pi.session.name"
	labels = "pi.entry.label"
)

// mainLane is the branch that version 3 goes on from, where there are several.
const mainLane = "main"

// standing is what was set besides entries.
type standing struct {
	values []setting // in the order in which they were set first
	at     map[address]int
	lists  map[address]int64 // the record that last wrote one
	usage  int64             // rows that are about no entry
}

// setting is a value as it is now; what is nil was deleted.
type setting struct {
	address
	value []byte
	n     int64
}

func newStanding() standing { return standing{at: map[address]int{}, lists: map[address]int64{}} }

// take applies a write.
func (s *standing) take(n int64, w *write) error {
	at := address{string(w.str(wSpace)), string(w.str(wKey))}
	deletes := string(w.str(wOp)) == "delete"
	switch string(w.str(wKind)) {
	case "usage":
		if !w.has(wEntry) {
			s.usage++
		}
	case "list":
		if s.lists[at] = n; deletes {
			delete(s.lists, at)
		}
	case "value":
		i, ok := s.at[at]
		if !ok {
			i = len(s.values)
			s.at[at] = i
			s.values = append(s.values, setting{address: at})
		}
		s.values[i].value, s.values[i].n = nil, n
		if !deletes {
			s.values[i].value = append([]byte(nil), w.value(wValue)...)
		}
	default:
		return format.Refuse(n, "a write of kind %q", short(w.str(wKind)))
	}
	return nil
}

// lane is the branch to go on from, and its place.
func (s *standing) lane() (name, tip string, err error) {
	var lanes []setting
	for _, v := range s.values {
		if v.space == tips && v.value != nil {
			lanes = append(lanes, v)
		}
	}
	i := slices.IndexFunc(lanes, func(v setting) bool { return v.key == mainLane })
	switch {
	case len(lanes) == 0:
		return "", "", nil
	case i < 0 && len(lanes) > 1:
		return "", "", format.Refuse(-1, "%d branches, and none of them is %q: version 3 goes on from one place, and which one is meant cannot be said", len(lanes), mainLane)
	}
	v := lanes[max(i, 0)]
	tip, _ = inside(v.value)
	return v.key, tip, nil
}

// End writes what still counts as entries, one under the other, at the end of the branch to go on from.
func (t *leaving) End(out format.Out) error {
	if !t.header {
		return format.Refuse(-1, "the log is empty")
	}
	if err := t.standing.fits(out); err != nil {
		return err
	}
	lane, up, err := t.standing.lane()
	if err != nil {
		return err
	}
	if _, ok := t.places[session.MakeID([]byte(up))]; up != "" && !ok {
		return format.Refuse(-1, "branch %q goes on from entry %q, which is not there", short([]byte(lane)), short([]byte(up)))
	}
	at, err := stamp(-1, t.end)
	if err != nil {
		return err
	}
	put := func(typ, what, members, why string) error {
		id := deriveID(t.end, t.source.ID+"\x00"+typ+"\x00"+what)
		for _, taken := t.places[session.MakeID([]byte(id))]; taken; _, taken = t.places[session.MakeID([]byte(id))] {
			what += "\x00"
			id = deriveID(t.end, t.source.ID+"\x00"+typ+"\x00"+what)
		}
		t.places[session.MakeID([]byte(id))] = place{id: id}
		line := `{"type":"` + typ + `","id":"` + id + `","parentId":` + nullable(up) + `,"timestamp":"` + at + `",` + members + `}`
		up, t.last = id, id
		return out.Put(format.Line{Raw: []byte(line), N: -1, Why: why})
	}
	for _, v := range t.standing.values {
		if err := t.carry(v, lane, put); err != nil {
			return err
		}
	}
	if t.last != up {
		return put("custom", "marker", `"customType":"sessfix.marker","data":{"v":1}`, "the place to go on from, which version 3 takes from the last line")
	}
	return nil
}

// carry makes entries of a value.
func (t *leaving) carry(v setting, lane string, put func(typ, what, members, why string) error) error {
	if v.value == nil {
		return nil
	}
	switch v.space {
	case names:
		if text, _ := inside(v.value); text == "" {
			return nil
		}
		return put("session_info", "", `"name":`+string(v.value), "the session's name")
	case labels:
		_, here := t.places[session.MakeID([]byte(v.key))]
		if text, _ := inside(v.value); !here || text == "" {
			return nil
		}
		return put("label", v.key, `"targetId":"`+v.key+`","label":`+string(v.value), "a label")
	case laneConfigs:
		var c struct {
			Model struct {
				Provider json.RawMessage `json:"provider"`
				ID       json.RawMessage `json:"modelId"`
			} `json:"model"`
			Thinking json.RawMessage `json:"thinkingLevel"`
			Tools    json.RawMessage `json:"activeToolNames"`
		}
		if v.key != lane || json.Unmarshal(v.value, &c) != nil {
			return nil
		}
		if c.Model.Provider != nil && c.Model.ID != nil {
			if err := put("model_change", "", `"provider":`+string(c.Model.Provider)+`,"modelId":`+string(c.Model.ID), "the branch's model"); err != nil {
				return err
			}
		}
		if c.Thinking != nil {
			if err := put("thinking_level_change", "", `"thinkingLevel":`+string(c.Thinking), "the branch's thinking level"); err != nil {
				return err
			}
		}
		if c.Tools != nil {
			return put("active_tools_change", "", `"activeToolNames":`+string(c.Tools), "the branch's tools")
		}
	}
	return nil
}

// fits refuses what version 3 has no place for, and tells what stays behind.
func (s *standing) fits(out format.Out) error {
	for _, v := range s.values {
		switch {
		case v.value == nil:
		case v.space == laneStates:
			var lane struct {
				Operation json.RawMessage   `json:"currentOperationId"`
				Inbox     []json.RawMessage `json:"inbox"`
			}
			if err := json.Unmarshal(v.value, &lane); err != nil {
				return format.Refuse(v.n, "the state of lane %q cannot be read", short([]byte(v.key)))
			}
			if len(lane.Operation) > 0 && string(lane.Operation) != "null" {
				return format.Refuse(v.n, "an operation is open in lane %q: it is for the harness to end it", short([]byte(v.key)))
			}
			if len(lane.Inbox) > 0 {
				return format.Refuse(v.n, "%d inputs wait in lane %q, and version 3 has no place for them", len(lane.Inbox), short([]byte(v.key)))
			}
		case v.space == tips && v.key != mainLane:
			out.Note(v.n, "the branch "+short([]byte(v.key))+" keeps its entries, and loses its name")
		case v.space == tips, v.space == laneConfigs, v.space == results, v.space == names, v.space == labels:
		case strings.HasPrefix(v.space, "pi.op."), strings.HasPrefix(v.space, "pi.pending."):
			return format.Refuse(v.n, "%s of what is not over stands in the log: it is for the harness to end it", short([]byte(v.space)))
		default:
			return format.Refuse(v.n, "a value of %q, for which version 3 has no place", short([]byte(v.space)))
		}
	}
	open := make([]address, 0, len(s.lists))
	for at := range s.lists {
		open = append(open, at)
	}
	slices.SortFunc(open, func(a, b address) int { return strings.Compare(a.space+"\x00"+a.key, b.space+"\x00"+b.key) })
	if len(open) > 0 {
		return format.Refuse(s.lists[open[0]], "a list of %q, for which version 3 has no place", short([]byte(open[0].space)))
	}
	if s.usage > 0 {
		out.Note(-1, "rows of usage that belong to no entry stay with the original: "+num(s.usage))
	}
	return nil
}

// escaped is a text as it stands inside of a JSON string.
func escaped(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return ""
	}
	return string(b[1 : len(b)-1])
}
