package grok_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/grok"
)

// What a client gets that names the last event it saw.
func TestReplay(t *testing.T) {
	const gone = "no event of that id is left"
	two := []string{"user:0:a", "say:b", "end:end_turn", "user:1:c", "say:d", "end:end_turn"}
	for _, c := range []struct {
		name   string
		log    []string
		cursor string // the number in the event's id
		want   format.Replay
	}{
		{"the last event", two, "6", format.Replay{}},
		{"one in the middle", two, "4", format.Replay{Records: 2}},
		{"the first", two, "1", format.Replay{Records: 5}},
		{"one that was never there", two, "9", format.Replay{Full: true, Records: 6, Why: gone}},
		{"the same number in another session", []string{`{"timestamp":1,"params":{"sessionId":"x","update":{"sessionUpdate":"idle"},"_meta":{"eventId":"parent-1"}}}`}, "1", format.Replay{Full: true, Records: 1, Why: gone}},
		{"taken back", append(two[:6:6], "rewind:1", "user:1:e", "say:f"), "5", format.Replay{Full: true, Records: 5, Why: gone}},
		{"in front of what was taken back", append(two[:6:6], "rewind:1", "user:1:e", "say:f"), "2", format.Replay{Records: 3}},
		{"behind what was taken back", append(two[:6:6], "rewind:1", "user:1:e", "say:f"), "8", format.Replay{Records: 1}},
		{"a rewind to the beginning", append(two[:6:6], "rewind:0", "user:0:e"), "8", format.Replay{}},
		{"a rewind that leads nowhere", append(two[:6:6], "rewind:2", "user:2:e"), "6", format.Replay{Records: 1}},
		{"two rewinds", []string{"user:0:a", "user:1:b", "user:2:c", "rewind:2", "user:2:d", "rewind:1", "user:1:e"}, "1", format.Replay{Records: 1}},
		{"a prompt in two pieces is one turn", []string{"user:0:a", "user:0:b", "say:c", "user:1:d", "user:1:e", "rewind:1", "user:1:f"}, "3", format.Replay{Records: 1}},
		{"another number is another turn", []string{"user:0:a", "user:1:b", "rewind:1", "user:1:c"}, "1", format.Replay{Records: 1}},
		{"words of the host are no turn", []string{"user:0:a", "host:b", "say:c", "user:1:d", "rewind:1", "user:1:e"}, "3", format.Replay{Records: 1}},
		{"commands are no turn once prompts bear numbers", []string{"user:0:a", "user::/status", "say:c", "user:1:d", "rewind:1", "user:1:e"}, "3", format.Replay{Records: 1}},
		{"where none bears a number all are turns", []string{"user::a", "say:b", "user::c", "say:d", "rewind:1", "user::e"}, "2", format.Replay{Records: 1}},
		{"no id behind it", []string{"user:0:a", "say:b", "!say:c", "say:d"}, "2", format.Replay{Full: true, Records: 4, Why: "the event is not among the last 1, and the one in front of those bears no id"}},
		{"no id in front of it", []string{"user:0:a", "!say:b", "say:c", "say:d"}, "3", format.Replay{Records: 1}},
		{"no id at the end", []string{"user:0:a", "!idle"}, "1", format.Replay{Full: true, Records: 2, Why: "the event is not among the last 0, and the one in front of those bears no id"}},
		{"no id in what is never sent", []string{"user:0:a", "say:b", "!menu", "!run:c1", "say:c"}, "2", format.Replay{Records: 1}},
		{"of what is never sent", []string{"user:0:a", "menu", "say:b"}, "2", format.Replay{Full: true, Records: 2, Why: gone}},
		{"twice: the last counts", []string{"user:0:a", `{"timestamp":1,"params":{"sessionId":"` + id + `","update":{"sessionUpdate":"idle"},"_meta":{"eventId":"` + id + `-1"}}}`, "say:b"}, "1", format.Replay{Records: 1}},
		{"an empty log", nil, "1", format.Replay{Full: true, Why: gone}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folder{logName: updates(c.log...)}.put(t, place)
			c.want.Cursor = fmt.Sprint(id, "-", c.cursor)
			got, ok := grok.Format{}.Replay(os.DirFS(dir), c.want.Cursor)
			if !ok || got != c.want {
				t.Errorf("%t %+v\nwant %+v", ok, got, c.want)
			}
		})
	}
	if r, ok := (grok.Format{}).Replay(os.DirFS(t.TempDir()), "x"); ok {
		t.Errorf("without a log: %+v", r)
	}
}
