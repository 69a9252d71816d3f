package grok

import (
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// What is captured of a record: of the history, of the updates, of the events.
const (
	kType = iota
	kRole
	kContent
	kCall // of a result: the call that it answers
	kCalls
	kCallID
	kCallName
	kCallArgs
	kCallOldName
	kCallOldArgs
	kTime
	kParams
	kSession
	kUpdate
	kCallOf // of an update: the call that it is about
	kStatus
	kShown // what the user was shown of the result
	kOutput
	kForPrompt
	kHost
	kPrompt // the number of a prompt
	kEvent
	kStamp
	kPromptID
	kMark
	kStampText
	kOutcome
	kModel
	kChunkModel
	kChunkText
	kDecision
	kItemPrompt
	kSummary
	kStop
	kEntries
	kBareUpdate
	kIndex
	kGoOn
	kFile
	kTarget
	kItemKind
	kKeys
)

var keys = [kKeys]string{
	kType: "type", kRole: "role", kContent: "content", kCall: "tool_call_id", kCalls: "tool_calls[]", kCallID: "tool_calls[].id",
	kCallName: "tool_calls[].name", kCallArgs: "tool_calls[].arguments", kCallOldName: "tool_calls[].function.name",
	kCallOldArgs: "tool_calls[].function.arguments", kTime: "timestamp", kParams: "params", kSession: "params.sessionId",
	kUpdate: "params.update.sessionUpdate", kCallOf: "params.update.toolCallId", kStatus: "params.update.status",
	kShown: "params.update.content", kOutput: "params.update.rawOutput", kForPrompt: "params.update.rawOutput.output_for_prompt",
	kHost: "params.update._meta.hostTurn", kPrompt: "params.update._meta.promptIndex", kEvent: "params._meta.eventId",
	kStamp: "params._meta.agentTimestampMs", kPromptID: "params._meta.promptId", kMark: "params._meta.sessfix.synthetic", kStampText: "ts", kOutcome: "outcome",
	kDecision: "decision", kItemPrompt: "prompt_index", kSummary: "summary", kEntries: "params.update.entries", kBareUpdate: "update.sessionUpdate", kIndex: "params.update.prompt_index_at_compaction",
	kGoOn: "params.update.auto_continue.prompt_text", kFile: "params.update.checkpoint_file", kStop: "params.update.stop_reason", kTarget: "params.update.target_prompt_index", kItemKind: "kind", kModel: "model_id", kChunkModel: "params.update._meta.modelId", kChunkText: "params.update.content.text",
}

// call is one that an answer asks for.
type call struct{ id, name, args session.Capture }

// fields are a record's captures by key.
type fields struct {
	format.Fields
	calls []call
	named []byte // is written over by eventOf
}

func (f *fields) set(raw []byte, caps []session.Capture) {
	f.Reset(raw)
	f.calls = f.calls[:0]
	for _, c := range caps {
		switch c.Key {
		case kCalls:
			f.calls = append(f.calls, call{})
		case kCallID:
			f.calls[len(f.calls)-1].id = c
		case kCallName, kCallOldName:
			f.calls[len(f.calls)-1].name = c
		case kCallArgs, kCallOldArgs:
			f.calls[len(f.calls)-1].args = c
		default:
			f.Put(c)
		}
	}
}

var single = scan.NewSingle(keys[:])

// read takes a single record apart.
func read(raw []byte) (*fields, error) {
	record, caps, ok := single.Take(raw)
	if !ok {
		return nil, scan.ErrNoRecord
	}
	f := &fields{}
	f.set(record, caps)
	return f, nil
}
