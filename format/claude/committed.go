package claude

import "github.com/sessfix/sessfix/format"

// IDs are those of records, which no two share unless one tells the other anew, of messages, of which one stands on several
// lines, and of requests.
func (dialect) IDs() []format.IDMember {
	return []format.IDMember{
		{Path: "uuid", Of: "record", Own: true},
		{Path: "message.id", Of: "message"},
		{Path: "requestId", Of: "request"},
	}
}

var _ format.Identified = dialect{}
