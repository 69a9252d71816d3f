package grok

import (
	"path/filepath"
	"strings"

	"github.com/sessfix/sessfix/format"
)

// IDs are those of the log's events, and of calls. Items of the history have none, but for the calls in them.
func (d dialect) IDs() []format.IDMember {
	switch d.file {
	case historyName:
		return []format.IDMember{
			{Path: "id", Of: "item"},
			{Path: "tool_calls[].id", Of: "request of the call"},
			{Path: "tool_call_id", Of: "result of the call"},
		}
	case updatesName:
		return []format.IDMember{
			{Path: "params._meta.eventId", Of: "event", Own: true},
			{Path: "_meta.eventId", Of: "event", Own: true},
			{Path: "params.update.toolCallId", Of: "update of the call"},
			{Path: "update.toolCallId", Of: "update of the call"},
		}
	case eventsName:
		return []format.IDMember{{Path: "tool_call_id", Of: "event of the call"}, {Path: "call_id", Of: "event of the call"}}
	}
	return nil
}

// Witnesses is the output of a command: where it is there, the call ran, whatever the logs say.
func (Format) Witnesses(path, id string) []format.Testimony {
	if id == "" || strings.ContainsAny(id, `/\`) || id != filepath.Base(id) {
		return nil
	}
	if name := filepath.Join(filepath.Dir(path), "terminal", id+".log"); exists(name) {
		return []format.Testimony{{Path: name, Says: "holds the output of that call: it ran"}}
	}
	return nil
}

var (
	_ format.Identified = dialect{}
	_ format.Witness    = Format{}
)
