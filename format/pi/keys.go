package pi

import (
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// What is captured of a record.
const (
	kType = iota
	kID
	kParent
	kTime
	kVersion
	kCWD
	kParentSession
	kMessage
	kRole
	kContent
	kBlock
	kBlockType
	kBlockID
	kBlockName
	kCall
	kName
	kStop
	kUsage
	kExcluded
	kOurs
	kMadeUp
	kFirstKept
	kFirstIndex
	kTarget
	kReplacement
	kNewContent
	kNewBlock
	kNewType
	kNewID
	kSummary
	kAside
	kCWDSection
	kKeys
)

var keys = [kKeys]string{
	kType: "type", kID: "id", kParent: "parentId", kTime: "timestamp", kVersion: "version", kCWD: "cwd",
	kParentSession: "parentSession", kMessage: "message", kRole: "message.role", kContent: "message.content",
	kBlock: "message.content[]", kBlockType: "message.content[].type", kBlockID: "message.content[].id",
	kBlockName: "message.content[].name", kCall: "message.toolCallId", kName: "message.toolName", kStop: "message.stopReason",
	kUsage: "message.usage", kExcluded: "message.excludeFromContext", kOurs: "message.details.sessfix",
	kMadeUp: "message.details.openclawSyntheticMissingToolResult", kFirstKept: "firstKeptEntryId", kFirstIndex: "firstKeptEntryIndex",
	kTarget: "targetId", kReplacement: "replacement", kNewContent: "replacement.content", kNewBlock: "replacement.content[]",
	kNewType: "replacement.content[].type", kNewID: "replacement.content[].id", kSummary: "summary", kAside: "appendMode",
	kCWDSection: "message.sections.cwd",
}

// block is one block of a message's content.
type block struct{ all, kind, id, name session.Capture }

// fields are a record's captures by key.
type fields struct {
	format.Fields
	blocks []block // of the message
	edited []block // of what an edit puts in its place
}

func (f *fields) set(raw []byte, caps []session.Capture) {
	f.Reset(raw)
	f.blocks, f.edited = f.blocks[:0], f.edited[:0]
	for _, c := range caps {
		switch c.Key {
		case kBlock:
			f.blocks = append(f.blocks, block{all: c})
		case kBlockType:
			f.blocks[len(f.blocks)-1].kind = c
		case kBlockID:
			f.blocks[len(f.blocks)-1].id = c
		case kBlockName:
			f.blocks[len(f.blocks)-1].name = c
		case kNewBlock:
			f.edited = append(f.edited, block{all: c})
		case kNewType:
			f.edited[len(f.edited)-1].kind = c
		case kNewID:
			f.edited[len(f.edited)-1].id = c
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
