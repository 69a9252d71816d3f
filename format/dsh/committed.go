package dsh

import "github.com/sessfix/sessfix/format"

// IDs are those of messages and of the header. Numbers tell records apart; a message that is told anew in another's place has
// an id of its own.
func (dialect) IDs() []format.IDMember {
	return []format.IDMember{
		{Path: "id", Of: "session"},
		{Path: "data.message.id", Of: "message"},
		{Path: "data.id", Of: "message"},
	}
}

var _ format.Identified = dialect{}
