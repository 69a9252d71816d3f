package dsh

import "github.com/sessfix/sessfix/session"

// The places of a record that decoding looks at.
const (
	kType = iota
	kSeq
	kTime
	kSeq0
	kTime0
	kData
	kIgnorable
	kSurfaceOp
	kOp
	kStart
	kEnd
	kStartSeq
	kEndSeq
	kSources
	kTurn
	kStep
	kIndex
	kDt
	kTexts
	kArgs
	kDataID
	kDataName
	kDataCall
	kDataRole
	kDataContent
	kDataBlock
	kDataBlockType
	kDataBlockID
	kDataBlockName
	kDataSource
	kDataSourceKind
	kProvenance
	kMessage
	kMsgID
	kMsgRole
	kMsgContent
	kBlock
	kBlockType
	kBlockID
	kBlockName
	kBlockCall
	kMsgSource
	kMsgSourceKind
	kMsgSourceCall
	kMsgSourceProvider
	kMsgSourceModel
	kMsgCall    // written by no known build; seen in logs of other programs
	kMsgToolCal // version 4
	kErrorCode
	kReasonKind
	kCompaction
	kInherited
	kSystem // versions 0 to 2
	kCreatedAt
	kStar
	nKeys
)

// keys are their paths.
var keys = [nKeys]string{
	kType: "type", kSeq: "seq", kTime: "time", kSeq0: "seq0", kTime0: "time0", kData: "data",
	kIgnorable: "ignorable", kSurfaceOp: "surfaceOp", kOp: "surfaceOp.op", kStart: "surfaceOp.start",
	kEnd: "surfaceOp.end", kStartSeq: "surfaceOp.startSeq", kEndSeq: "surfaceOp.endSeq", kSources: "sourceEventSeqs",
	kTurn: "data.turn", kStep: "data.step", kIndex: "data.index", kDt: "data.dt", kTexts: "data.texts", kArgs: "data.args",
	kDataID: "data.id", kDataName: "data.name", kDataCall: "data.callId", kDataRole: "data.role",
	kDataContent: "data.content", kDataBlock: "data.content[]", kDataBlockType: "data.content[].type",
	kDataBlockID: "data.content[].id", kDataBlockName: "data.content[].name",
	kDataSource: "data.source", kDataSourceKind: "data.source.kind", kProvenance: "data.provenance",
	kMessage: "data.message", kMsgID: "data.message.id", kMsgRole: "data.message.role",
	kMsgContent: "data.message.content", kBlock: "data.message.content[]", kBlockType: "data.message.content[].type",
	kBlockID: "data.message.content[].id", kBlockName: "data.message.content[].name",
	kBlockCall: "data.message.content[].toolCallId",
	kMsgSource: "data.message.source", kMsgSourceKind: "data.message.source.kind",
	kMsgSourceCall: "data.message.source.callId", kMsgSourceProvider: "data.message.source.provider",
	kMsgSourceModel: "data.message.source.model", kMsgCall: "data.message.callId", kMsgToolCal: "data.message.toolCallId",
	kErrorCode: "data.error.code", kReasonKind: "data.reason.kind", kCompaction: "data.compactionId",
	kInherited: "data.inherited", kSystem: "data.header.system", kCreatedAt: "createdAt",
	kStar: "*",
}

// block is one content block of a message.
type block struct {
	kind, id, name, call session.Capture
}

// fields are a record's captures by key; of a key named twice the last one.
type fields struct {
	r      *session.Record
	have   uint64
	cap    [nKeys]session.Capture
	blocks []block
	extra  []session.Capture // members of the envelope that are not named above
}

func (f *fields) read(r *session.Record) {
	f.r, f.have = r, 0
	f.blocks, f.extra = f.blocks[:0], f.extra[:0]
	for _, c := range r.Caps {
		switch c.Key {
		case kStar:
			f.extra = append(f.extra, c)
			continue
		case kBlock, kDataBlock:
			f.blocks = append(f.blocks, block{})
		case kBlockType, kDataBlockType:
			f.blocks[len(f.blocks)-1].kind = c
		case kBlockID, kDataBlockID:
			f.blocks[len(f.blocks)-1].id = c
		case kBlockName, kDataBlockName:
			f.blocks[len(f.blocks)-1].name = c
		case kBlockCall:
			f.blocks[len(f.blocks)-1].call = c
		}
		f.have |= 1 << c.Key
		f.cap[c.Key] = c
	}
}

func (f *fields) has(key int) bool { return f.have>>key&1 == 1 }

// raw is the value's text, nil where the key is absent.
func (f *fields) raw(key int) []byte {
	if !f.has(key) {
		return nil
	}
	return f.r.Value(f.cap[key])
}

// str is the inside of a string, nil where the key is absent or no string.
func (f *fields) str(key int) []byte {
	if !f.has(key) || f.cap[key].Kind != '"' {
		return nil
	}
	return f.r.Str(f.cap[key])
}

// filled tells whether the value is a string that is not empty.
func (f *fields) filled(key int) bool { return len(f.str(key)) > 0 }

// kind is the first byte of the value, '0' for a number, ' ' where the key is absent.
func (f *fields) kind(key int) byte {
	if !f.has(key) {
		return ' '
	}
	return f.cap[key].Kind
}

// int reads a whole number.
func (f *fields) int(key int) (int64, bool) {
	if !f.has(key) || f.cap[key].Kind != '0' {
		return 0, false
	}
	return integer(f.raw(key))
}

// whole tells whether the value is a whole number.
func (f *fields) whole(key int) bool {
	_, ok := f.int(key)
	return ok
}

// sub is the inside of a captured string as a piece of the record.
func sub(c session.Capture) session.Sub {
	if c.Kind != '"' {
		return session.Sub{}
	}
	return session.Sub{Off: c.Off + 1, Len: c.Len - 2}
}
