package codex

import (
	"strconv"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// The places of a record that are looked at. Those from kItems on lie in a list.
const (
	kTime = iota
	kOrdinal
	kType
	kPayload
	kKind
	kID
	kCall
	kRole
	kTurn
	kRootTurn
	kName
	kExecution
	kOutput
	kMode
	kBase
	kBaseThread
	kBaseOrdinal
	kBaseOffset
	kForkedFrom
	kCWD
	kSession
	kThread
	kOriginator
	kWriter
	kCreated
	kTurnsBack
	kItemType
	kItemID
	kSource
	kProvider
	kBareID
	kRecordType
	kBareCall
	kBareRole
	kBareName
	kBareOutput
	kItems
	kItemsType
	kItemsCall
	kItemsExecution
	nKeys
)

var keys = [nKeys]string{
	kTime: "timestamp", kOrdinal: "ordinal", kType: "type", kPayload: "payload", kKind: "payload.type", kID: "payload.id",
	kCall: "payload.call_id", kRole: "payload.role", kTurn: "payload.turn_id", kRootTurn: "payload.root_turn_id",
	kName: "payload.name", kExecution: "payload.execution", kOutput: "payload.output", kMode: "payload.history_mode",
	kBase: "payload.history_base", kBaseThread: "payload.history_base.thread_id",
	kBaseOrdinal: "payload.history_base.end_ordinal_exclusive", kBaseOffset: "payload.history_base.end_byte_offset",
	kForkedFrom: "payload.forked_from_id", kCWD: "payload.cwd", kSession: "payload.session_id", kThread: "payload.thread_id",
	kOriginator: "payload.originator", kWriter: "payload.cli_version", kCreated: "payload.timestamp",
	kTurnsBack: "payload.num_turns", kItemType: "payload.item.type", kItemID: "payload.item.id", kSource: "payload.source",
	kProvider: "payload.model_provider",
	kBareID:   "id", kRecordType: "record_type", kBareCall: "call_id", kBareRole: "role", kBareName: "name", kBareOutput: "output",
	kItems: "payload.replacement_history[]", kItemsType: "payload.replacement_history[].type",
	kItemsCall:      "payload.replacement_history[].call_id",
	kItemsExecution: "payload.replacement_history[].execution",
}

// item is one of a compaction's replacement history.
type item struct{ kind, call, execution session.Capture }

// fields are a record's captures by key.
type fields struct {
	format.Fields
	items []item
}

func (f *fields) set(raw []byte, caps []session.Capture) {
	f.Reset(raw)
	f.items = f.items[:0]
	for _, c := range caps {
		switch c.Key {
		case kItems:
			f.items = append(f.items, item{})
		case kItemsType:
			f.items[len(f.items)-1].kind = c
		case kItemsCall:
			f.items[len(f.items)-1].call = c
		case kItemsExecution:
			f.items[len(f.items)-1].execution = c
		default:
			f.Put(c)
		}
	}
}

// count is a whole number that is not negative.
func (f *fields) count(key int) (int64, bool) {
	if f.Kind(key) != '0' {
		return 0, false
	}
	v := f.Value(key)
	n := int64(0)
	for _, c := range v {
		if c < '0' || c > '9' || n > 1<<58 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// enveloped tells a record from a bare item.
func (f *fields) enveloped() bool { return f.Kind(kType) == '"' && f.Kind(kPayload) == '{' }

// bareHeader tells the first line of the oldest rollouts.
func (f *fields) bareHeader() bool {
	return f.Kind(kBareID) == '"' && f.Kind(kTime) == '"' && !f.Has(kType) && !f.Has(kRecordType)
}

func num(v int64) string { return strconv.FormatInt(v, 10) }

var single = scan.NewSingle(keys[:])

// read takes a single record apart; it may hold bytes in strings that are mended later.
func read(raw []byte) (*fields, error) {
	record, caps, ok := single.Take(raw)
	if !ok {
		return nil, scan.ErrNoRecord
	}
	f := &fields{}
	f.set(record, caps)
	return f, nil
}
