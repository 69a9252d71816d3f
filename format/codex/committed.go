package codex

import "github.com/sessfix/sessfix/format"

// IDs are those of items. An item and its completion share one, and so do a call and the events about it. Records of rollouts
// with ordinals are told apart by these; those of others by nothing.
func (dialect) IDs() []format.IDMember {
	return []format.IDMember{
		{Path: "payload.id", Of: "item"},
		{Path: "payload.item.id", Of: "item"},
		{Path: "payload.call_id", Of: "call"},
		{Path: "id", Of: "item"},
		{Path: "call_id", Of: "call"},
	}
}

var _ format.Identified = dialect{}
