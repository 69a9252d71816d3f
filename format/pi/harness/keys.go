package harness

import (
	"math"
	"strconv"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// What is captured of a write.
const (
	wKind = iota
	wSeq
	wID
	wParent
	wTime
	wType
	wOp
	wSpace
	wKey
	wValue
	wRole
	wCall
	wStop
	wLane
	wRun
	wResult
	wIntent
	wLeaf
	wFact
	wName
	wLabel
	wTarget
	wCustom
	wCallOf
	wToolName
	wContent
	wBlock
	wBlockType
	wBlockID
	wBlockName
	wEntry
	wKeys
)

// What is captured of a header beside its kind and id, of whole elements of an array, and of their members: keys from
// inArray on are those of writes.
const (
	hV = wKeys + iota
	hVersion
	hStorage
	hCreated
	hCWD
	hParent
	hLegacyParent
	hNext
	hMetadata
	kElement
	inArray
)

const nKeys = inArray + wKeys

var paths = [wKeys]string{
	wKind: "kind", wSeq: "seq", wID: "id", wParent: "parentId", wTime: "timestamp", wType: "type", wOp: "op", wSpace: "namespace",
	wKey: "key", wValue: "value", wRole: "message.role", wCall: "message.toolCallId", wStop: "message.stopReason",
	wLane: "lane", wRun: "runId", wResult: "resultEntryId", wIntent: "intent.kind", wLeaf: "leafId", wFact: "fact", wName: "name",
	wLabel: "label", wTarget: "targetId", wCustom: "customType", wCallOf: "toolCallId", wToolName: "toolName",
	wContent: "message.content", wBlock: "message.content[]", wBlockType: "message.content[].type",
	wBlockID: "message.content[].id", wBlockName: "message.content[].name", wEntry: "entryId",
}

var keys = func() (k [nKeys]string) {
	for i, p := range paths {
		k[i], k[inArray+i] = p, "[]."+p
	}
	k[hV], k[hVersion], k[hStorage], k[hCreated], k[hCWD] = "v", "version", "storageVersion", "createdAt", "cwd"
	k[hParent], k[hLegacyParent], k[hNext], k[hMetadata] = "parentSessionId", "legacyParentSessionPath", "nextSeq", "metadata"
	k[kElement] = "[]"
	return k
}()

// block is one block of a message's content.
type block struct{ kind, id, name session.Capture }

// write is one write of a transaction, by its captures.
type write struct {
	raw    []byte
	have   uint32
	caps   [wKeys]session.Capture
	blocks []block
	object bool // it is an object at all
}

func (w *write) has(key int) bool { return w.have>>key&1 == 1 }

// kind is the first byte of a value, '0' for a number, ' ' where the key is absent.
func (w *write) kind(key int) byte {
	if !w.has(key) {
		return ' '
	}
	return w.caps[key].Kind
}

// value is the text of a value, nil where the key is absent.
func (w *write) value(key int) []byte {
	if !w.has(key) {
		return nil
	}
	c := w.caps[key]
	return w.raw[c.Off : c.Off+c.Len]
}

// str is the inside of a string, nil where the key is absent or no string.
func (w *write) str(key int) []byte {
	if w.kind(key) != '"' {
		return nil
	}
	return w.inside(w.caps[key])
}

func (w *write) inside(c session.Capture) []byte {
	if c.Kind != '"' {
		return nil
	}
	return w.raw[c.Off+1 : c.Off+c.Len-1]
}

func (w *write) put(key int, c session.Capture) {
	switch key {
	case wBlock:
		w.blocks = append(w.blocks, block{})
	case wBlockType:
		w.blocks[len(w.blocks)-1].kind = c
	case wBlockID:
		w.blocks[len(w.blocks)-1].id = c
	case wBlockName:
		w.blocks[len(w.blocks)-1].name = c
	}
	w.have |= 1 << key
	w.caps[key] = c
}

// line is one record: a header, or a transaction and its writes.
type line struct {
	format.Fields // members of a header, and those of writes that an object has
	array         bool
	writes        []write
}

func (l *line) set(raw []byte, caps []session.Capture) {
	l.Reset(raw)
	l.array, l.writes = false, l.writes[:0]
	for i := 0; i < len(raw) && !l.array && raw[i] != '{'; i++ {
		l.array = raw[i] == '['
	}
	if !l.array {
		l.begin(true)
	}
	for _, c := range caps {
		switch k := int(c.Key); {
		case k < wKeys:
			l.writes[len(l.writes)-1].put(k, c)
			l.Put(c)
		case k == kElement:
			l.begin(c.Kind == '{')
		case k >= inArray:
			l.writes[len(l.writes)-1].put(k-inArray, c)
		default:
			l.Put(c)
		}
	}
}

// begin makes room for another write; the buffers of earlier records are used again.
func (l *line) begin(object bool) {
	if len(l.writes) < cap(l.writes) {
		l.writes = l.writes[:len(l.writes)+1]
	} else {
		l.writes = append(l.writes, write{})
	}
	w := &l.writes[len(l.writes)-1]
	*w = write{raw: l.Raw, blocks: w.blocks[:0], object: object}
}

// Kinds of writes.
var kinds = map[string]string{
	"usage": current, "value": current, "list": current,
	"record": draft, "lane": draft, "fact": draft,
}

// generation is the one that a transaction tells, empty for what is none.
func (l *line) generation() string {
	if len(l.writes) == 0 {
		return ""
	}
	w := &l.writes[0]
	if _, ok := safe(w.value(wSeq)); !ok || !w.object {
		return ""
	}
	if string(w.str(wKind)) == "entry" && w.has(wParent) {
		if w.has(wLane) {
			return draft
		}
		return current
	}
	return kinds[string(w.str(wKind))]
}

var single = scan.NewSingle(keys[:])

// read takes a single record apart.
func read(raw []byte) (*line, error) {
	record, caps, ok := single.Take(raw)
	if !ok {
		return nil, scan.ErrNoRecord
	}
	l := &line{}
	l.set(record, caps)
	return l, nil
}

// safest is the greatest number that the client takes for a whole one.
const safest = 1<<53 - 1

// safe reads a whole number as the client does: 1e3 and 1.0 are such.
func safe(text []byte) (int64, bool) {
	if len(text) == 0 || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return n, -safest <= n && n <= safest
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) > safest {
		return 0, false
	}
	return int64(v), true
}
