package codex

import (
	"errors"
	"strconv"
	"sync"

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
	kTurnsBack: "payload.num_turns", kItemType: "payload.item.type", kItemID: "payload.item.id",
	kBareID: "id", kRecordType: "record_type", kBareCall: "call_id", kBareRole: "role", kBareName: "name", kBareOutput: "output",
	kItems: "payload.replacement_history[]", kItemsType: "payload.replacement_history[].type",
	kItemsCall:      "payload.replacement_history[].call_id",
	kItemsExecution: "payload.replacement_history[].execution",
}

// item is one of a compaction's replacement history.
type item struct{ kind, call, execution session.Capture }

// fields are a record's captures by key.
type fields struct {
	raw   []byte
	have  uint64
	cap   [nKeys]session.Capture
	items []item
}

func (f *fields) set(raw []byte, caps []session.Capture) {
	f.raw, f.have, f.items = raw, 0, f.items[:0]
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
			f.have |= 1 << c.Key
			f.cap[c.Key] = c
		}
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

// sub is where the inside of a string stands.
func (f *fields) sub(key int) session.Sub {
	if !f.has(key) {
		return session.Sub{}
	}
	return inner(f.cap[key])
}

func inner(c session.Capture) session.Sub {
	if c.Kind != '"' {
		return session.Sub{}
	}
	return session.Sub{Off: c.Off + 1, Len: c.Len - 2}
}

// count is a whole number that is not negative.
func (f *fields) count(key int) (int64, bool) {
	if f.kind(key) != '0' {
		return 0, false
	}
	v := f.value(key)
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
func (f *fields) enveloped() bool { return f.kind(kType) == '"' && f.kind(kPayload) == '{' }

// bareHeader tells the first line of the oldest rollouts.
func (f *fields) bareHeader() bool {
	return f.kind(kBareID) == '"' && f.kind(kTime) == '"' && !f.has(kType) && !f.has(kRecordType)
}

func num(v int64) string { return strconv.FormatInt(v, 10) }

var errNoRecord = errors.New("no whole record")

// machines capture the keys; making one costs more than to scan a record with it.
var machines = sync.Pool{New: func() any {
	m, err := scan.NewMachine(keys[:])
	if err != nil {
		panic(err) // the keys are constants
	}
	return m
}}

// read takes a single record apart; it may hold bytes in strings that are mended later.
func read(raw []byte) (*fields, error) {
	m := machines.Get().(*scan.Machine)
	defer machines.Put(m)
	buf := append(append(make([]byte, 0, len(raw)+scan.Pad), raw...), make([]byte, scan.Pad)...)
	_, fault := m.Tolerant(buf, 0, len(raw))
	if fault.Cause != scan.OK || len(raw) == 0 {
		return nil, errNoRecord
	}
	f := &fields{}
	f.set(buf[:len(raw)], m.Caps)
	return f, nil
}
