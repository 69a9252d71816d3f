package pi

import "github.com/sessfix/sessfix/format"

// IDs are those of entries and of the header. The key against repetition is written by programs built on this client: it is made
// for the very question whether a message was stored.
func (dialect) IDs() []format.IDMember {
	return []format.IDMember{
		{Path: "id", Of: "entry", Own: true},
		{Path: "message.idempotencyKey", Of: "message"},
	}
}

var _ format.Identified = dialect{}
