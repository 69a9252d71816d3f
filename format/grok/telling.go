package grok

import (
	"encoding/json"
	"errors"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// NewTelling begins with a file of a session. What is sent stands in the history alone, and what it tells is complete as far as it
// goes back. The log tells what the user was shown: of turns that the history holds that is a copy, but for notes of what went wrong;
// of those that a compaction took away it is all that is left. Events add what was allowed and what failed, and rewind points say
// nothing.
func (d dialect) NewTelling(place format.Place) format.Telling {
	switch d.file {
	case historyName:
		return &historyTelling{dir: place.Dir}
	case updatesName:
		return &logTelling{dir: place.Dir}
	case eventsName:
		return &eventTelling{dir: place.Dir}
	}
	return silence{}
}

// silence is the telling of files that say nothing.
type silence struct{}

func (silence) Tell(_ *session.Record, out []format.Message) []format.Message { return out }

// decode reads a record. Members of another kind than their release writes are left out; the others count.
func decode(raw []byte, to any) bool {
	err := json.Unmarshal(raw, to)
	var kind *json.UnmarshalTypeError
	return err == nil || errors.As(err, &kind)
}

// remark is something that the client says to people.
func remark(title, text string) format.Message {
	return format.Message{For: format.PeopleOnly, Title: title, Blocks: []format.Block{{Kind: format.Text, Text: text}}}
}

var _ format.Teller = dialect{}
