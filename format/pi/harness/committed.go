package harness

import "github.com/sessfix/sessfix/format"

// IDs are those of entries, alone or in a transaction, and of the calls that they ask for and answer. A transaction is one
// record, and stands whole or not at all.
func (dialect) IDs() (out []format.IDMember) {
	for _, in := range []string{"", "[]."} {
		out = append(out,
			format.IDMember{Path: in + "id", Of: "entry"},
			format.IDMember{Path: in + "message.content[].id", Of: "request of the call"},
			format.IDMember{Path: in + "message.toolCallId", Of: "result of the call"},
			format.IDMember{Path: in + "toolCallId", Of: "call"},
		)
	}
	return out
}

var _ format.Identified = dialect{}
