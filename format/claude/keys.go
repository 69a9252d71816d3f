package claude

import (
	"errors"
	"sync"

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
	raw    []byte
	have   uint64
	cap    [nKeys]session.Capture
	blocks []block
	inner  []inner
	keeps  []session.Capture
}

func (f *fields) set(raw []byte, caps []session.Capture) {
	f.raw, f.have = raw, 0
	f.blocks, f.inner, f.keeps = f.blocks[:0], f.inner[:0], f.keeps[:0]
	for _, c := range caps {
		if c.Key >= kBlock && c.Key <= kInnerMedia {
			f.block(c)
			continue
		}
		if c.Key == kKeeps {
			f.keeps = append(f.keeps, c)
			continue
		}
		f.have |= 1 << c.Key
		f.cap[c.Key] = c
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

func (f *fields) has(key int) bool { return f.have>>key&1 == 1 }

// kind is the first byte of the value, '0' for a number, ' ' where the key is absent.
func (f *fields) kind(key int) byte {
	if !f.has(key) {
		return ' '
	}
	return f.cap[key].Kind
}

func (f *fields) true(key int) bool { return f.kind(key) == 't' && f.cap[key].Len == 4 }

// value is the text of a value, nil where there is none.
func (f *fields) value(key int) []byte {
	if !f.has(key) {
		return nil
	}
	return f.of(f.cap[key])
}

func (f *fields) of(c session.Capture) []byte { return f.raw[c.Off : c.Off+c.Len] }

// str is the inside of a string, nil where the key is absent or no string.
func (f *fields) str(key int) []byte {
	if f.kind(key) != '"' {
		return nil
	}
	return f.inside(f.cap[key])
}

func (f *fields) inside(c session.Capture) []byte {
	if c.Kind != '"' {
		return nil
	}
	return f.raw[c.Off+1 : c.Off+c.Len-1]
}

func sub(c session.Capture) session.Sub {
	if c.Kind != '"' {
		return session.Sub{}
	}
	return session.Sub{Off: c.Off + 1, Len: c.Len - 2}
}

var errNoRecord = errors.New("no whole record")

// machines capture the keys; making one costs more than to scan a record with it.
var machines = sync.Pool{New: func() any {
	m, err := scan.NewMachine(keys[:])
	if err != nil {
		panic(err) // the keys are constants
	}
	return m
}}

// whole scans a single record and gives a copy of it, which the machine's captures are about.
func whole(m *scan.Machine, raw []byte) ([]byte, bool) {
	buf := append(append(make([]byte, 0, len(raw)+scan.Pad), raw...), make([]byte, scan.Pad)...)
	_, f := m.Tolerant(buf, 0, len(raw))
	return buf[:len(raw)], f.Cause == scan.OK && len(raw) > 0
}

// read takes a single record apart.
func read(raw []byte) (*fields, error) {
	m := machines.Get().(*scan.Machine)
	defer machines.Put(m)
	copied, ok := whole(m, raw)
	if !ok {
		return nil, errNoRecord
	}
	out := &fields{}
	out.set(copied, m.Caps)
	return out, nil
}
