package export

import (
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// What is taken back begins with the words in front of the record that counts as a prompt, and what the client told the model in front
// of them; but nothing in front of the first turn is.
func TestLineRollback(t *testing.T) {
	events := map[byte]session.Event{
		'S': {Kind: session.SystemMessage}, 'U': {Kind: session.UserMessage}, 'p': {Kind: session.Prompt}, 'A': {Kind: session.AssistantMessage},
		'-': {Kind: session.Setting}, '1': {Kind: session.Rollback, Turn: 1}, '2': {Kind: session.Rollback, Turn: 2}, 'C': {Kind: session.CompactionEnd},
	}
	for _, c := range []struct{ log, states string }{
		{"SU-UpA-UpA1UpA", "sssssssrrrssss"},
		{"SU-UpA-SU-UpA1UpA", "sssssssrrrrrrssss"},
		{"SUUpA2-UpA", "ssrrrsssss"},
		{"UpAUpA1", "sssrrrs"},
		{"UpUp1", "ssrrs"},
		{"SpA1", "srrs"},
		{"pA1", "rrs"},
		{"UpAC-SUpA1", "cccssrrrrs"},
		{"UpACUpA2UpA", "rrrrrrrssss"},
	} {
		l := &line{list: true, replaced: map[int64]bool{}}
		for n := range len(c.log) {
			l.add(int64(n), nil, &format.Batch{Events: []session.Event{events[c.log[n]]}})
		}
		var b strings.Builder
		for n := range len(c.log) {
			b.WriteByte("ascbr-"[l.state(int64(n), &format.Batch{})])
		}
		if b.String() != c.states {
			t.Errorf("%s\n%s, not\n%s", c.log, b.String(), c.states)
		}
	}
}
