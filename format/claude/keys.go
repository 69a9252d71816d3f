package claude

import (
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// The places of a record that are looked at.
const (
	kType = iota
	kUUID
	kParent
	kLogical
	kSide
	kTime
	kSession
	kSubtype
	kSummary
	kAPIError
	kLeaf
	kCWD
	kVersion
	kDenial
	kTurnIndex
	kMessageID
	kUseResult
	kSpill
	kSpillSize
	kSourceUUID
	kMessage
	kMsgID
	kMsgRole
	kModel
	kContent
	kBlock
	kBlockType
	kBlockID
	kBlockName
	kBlockInput
	kBlockCall
	kBlockText
	kSignature
	kBlockContent
	kIsError
	kImage
	kMedia
	kInner
	kInnerImage
	kInnerMedia
	kMeta
	kAnchor
	kSegAnchor
	kKeeps
	nKeys
)

var keys = [nKeys]string{
	kType: "type", kUUID: "uuid", kParent: "parentUuid", kLogical: "logicalParentUuid", kSide: "isSidechain",
	kTime: "timestamp", kSession: "sessionId", kSubtype: "subtype", kSummary: "isCompactSummary", kAPIError: "isApiErrorMessage",
	kLeaf: "leafUuid", kCWD: "cwd", kVersion: "version", kDenial: "toolDenialKind", kTurnIndex: "turnPosition.turnIndex",
	kMessageID: "messageId", kUseResult: "toolUseResult",
	kSpill: "toolUseResult.persistedOutputPath", kSpillSize: "toolUseResult.persistedOutputSize", kSourceUUID: "sourceToolAssistantUUID",
	kMessage: "message", kMsgID: "message.id", kMsgRole: "message.role", kModel: "message.model", kContent: "message.content",
	kBlock: "message.content[]", kBlockType: "message.content[].type", kBlockID: "message.content[].id",
	kBlockName: "message.content[].name", kBlockInput: "message.content[].input", kBlockCall: "message.content[].tool_use_id",
	kBlockText: "message.content[].text", kSignature: "message.content[].signature", kBlockContent: "message.content[].content",
	kIsError: "message.content[].is_error", kImage: "message.content[].source.data", kMedia: "message.content[].source.media_type",
	kInner: "message.content[].content[]", kInnerImage: "message.content[].content[].source.data",
	kInnerMedia: "message.content[].content[].source.media_type", kMeta: "compactMetadata",
	kAnchor: "compactMetadata.preservedMessages.anchorUuid", kSegAnchor: "compactMetadata.preservedSegment.anchorUuid",
	kKeeps: "compactMetadata.preservedMessages.uuids[]",
}

// block is one block of a message's content.
type block struct {
	all, kind, id, name, input, call, text, signature, content, isError session.Capture
	picture
}

// picture is an image: its bytes in base64, and what kind it is called.
type picture struct{ image, media session.Capture }

// inner is a block inside a result.
type inner struct {
	all session.Capture
	of  int // index of the result
	picture
}

// fields are a record's captures by key.
type fields struct {
	format.Fields
	blocks []block
	inner  []inner
	keeps  []session.Capture
}

func (f *fields) set(raw []byte, caps []session.Capture) {
	f.Reset(raw)
	f.blocks, f.inner, f.keeps = f.blocks[:0], f.inner[:0], f.keeps[:0]
	for _, c := range caps {
		switch {
		case c.Key >= kBlock && c.Key <= kInnerMedia:
			f.block(c)
		case c.Key == kKeeps:
			f.keeps = append(f.keeps, c)
		default:
			f.Put(c)
		}
	}
}

func (f *fields) block(c session.Capture) {
	if c.Key == kBlock {
		f.blocks = append(f.blocks, block{all: c})
		return
	}
	b := &f.blocks[len(f.blocks)-1]
	switch c.Key {
	case kBlockType:
		b.kind = c
	case kBlockID:
		b.id = c
	case kBlockName:
		b.name = c
	case kBlockInput:
		b.input = c
	case kBlockCall:
		b.call = c
	case kBlockText:
		b.text = c
	case kSignature:
		b.signature = c
	case kBlockContent:
		b.content = c
	case kIsError:
		b.isError = c
	case kImage:
		b.image = c
	case kMedia:
		b.media = c
	case kInner:
		f.inner = append(f.inner, inner{all: c, of: len(f.blocks) - 1})
	case kInnerImage:
		f.inner[len(f.inner)-1].image = c
	case kInnerMedia:
		f.inner[len(f.inner)-1].media = c
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
