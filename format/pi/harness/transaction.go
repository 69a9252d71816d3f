package harness

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
)

// transaction is one line to be added, write by write. Names and ids go in as they are written elsewhere in the log.
type transaction struct {
	seq  int64 // of the next write
	time int64 // Unix ms of the last entry
	out  strings.Builder
}

func (t *transaction) begin(kind, op string) {
	sep := ",{"
	if t.out.Len() == 0 {
		sep = "[{"
	}
	t.out.WriteString(sep + `"kind":"` + kind + `"`)
	if op != "" {
		t.out.WriteString(`,"op":"` + op + `","seq":` + num(t.seq))
		t.seq++
	}
}

// entry adds an entry that holds a message, a millisecond behind the last.
func (t *transaction) entry(id, parent, message, more string) {
	t.begin("entry", "")
	t.tick()
	t.out.WriteString(`,"id":"` + id + `","parentId":` + nullable(parent) + `,"type":"message","message":` + message + more)
	t.out.WriteString(`,"seq":` + num(t.seq) + `,"timestamp":` + num(t.time) + `}`)
	t.seq++
}

// tick goes a millisecond on.
func (t *transaction) tick() { t.time = min(t.time+1, safest) }

func (t *transaction) usage(id, usage, entry string) {
	t.begin("usage", "")
	t.out.WriteString(`,"id":"` + id + `","usage":` + usage + `,"entryId":"` + entry + `","adjustment":false,"seq":` + num(t.seq) + `}`)
	t.seq++
}

func (t *transaction) set(space, key, value string) {
	t.begin("value", "set")
	t.out.WriteString(`,"namespace":"` + space + `","key":"` + key + `","value":` + value + `}`)
}

func (t *transaction) remove(kind, space, key string) {
	t.begin(kind, "delete")
	t.out.WriteString(`,"namespace":"` + space + `","key":"` + key + `"}`)
}

func (t *transaction) line() []byte { return []byte(t.out.String() + "]\n") }

func nullable(id string) string {
	if id == "" {
		return "null"
	}
	return `"` + id + `"`
}

func num(n int64) string { return strconv.FormatInt(n, 10) }

// deriveID is a UUID, version 7, as the client makes them: of a time, and here of a hash where the client draws lots.
func deriveID(ms int64, seed string) string {
	h := sha256.Sum256([]byte("sessfix\x00" + seed))
	u := h[:16]
	ms = min(max(ms, 0), 1<<48-1)
	for i := range 6 {
		u[i] = byte(ms >> (40 - 8*i))
	}
	u[6], u[8] = u[6]&0x0F|0x70, u[8]&0x3F|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
