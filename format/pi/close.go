package pi

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
)

// What the results of unanswered calls say.
const (
	unknownText = finding.ToolOutcomeUnknown + ": the session ended before a result of this call was recorded (closed by sessfix). " +
		finding.LookFirst
	notStartedText = finding.ToolNotStarted + ": the answer that asks for this call was cut off at its greatest length, and the client runs no call of such an answer (closed by sessfix). " +
		"Nothing happened. Ask for it again if it is still wanted."
)

// markerType is the custom type of an entry that says nothing and is the place to go on from.
const markerType = "sessfix.marker"

// Close writes what follows the last entry: results of the calls that are open there, entries that edit others out of what
// is sent, or one that says nothing. They hang under each other.
func (d dialect) Close(q format.CloseRequest) ([]format.Closing, error) {
	var out []format.Closing
	up, used := q.Leaf, map[string]bool{}
	taken := func(id []byte) bool { return used[string(id)] || q.Taken != nil && q.Taken(id) }
	last := q.Time
	for i, call := range q.Calls {
		f, err := read(q.Asked[i])
		if err != nil {
			return nil, err
		}
		at := millis(f.Str(kTime))
		last = at + int64(call.Index) + 1
		c := format.Closing{Code: finding.ToolOutcomeUnknown, Kind: "toolResult", CallID: call.ID}
		text := unknownText
		if string(f.Str(kStop)) == "length" {
			c.Code, text = finding.ToolNotStarted, notStartedText
		}
		id := d.NewID(q.SessionID+"\x00"+call.ID+"\x00"+string(f.Str(kID)), taken)
		used[string(id)] = true
		body := fmt.Sprintf(`"message":{"role":"toolResult","toolCallId":"%s","toolName":"%s","content":[{"type":"text","text":"%s"}],"details":{"sessfix":{"code":"%s","v":1}},"isError":true,"timestamp":%d}`,
			call.ID, call.Name, text, c.Code, last)
		c.Line = d.entry("message", id, up, last, body)
		if q.Leaf != nil {
			up = id
		}
		out = append(out, c)
	}
	for _, target := range q.Unsaid {
		id := d.NewID(q.SessionID+"\x00edit\x00"+string(target), taken)
		used[string(id)] = true
		out = append(out, format.Closing{Kind: "context_edit", Line: d.entry("context_edit", id, up, last, `"targetId":`+string(target)+`,"replacement":null`)})
		up = id
	}
	if q.Mark {
		id := d.NewID(q.SessionID+"\x00marker\x00"+string(q.Leaf), taken)
		out = append(out, format.Closing{Kind: "custom", Line: d.StandIn(id, up, last)})
	}
	return out, nil
}

// StandIn is an entry of a type that no release sends.
func (d dialect) StandIn(id, parent []byte, at int64) []byte {
	return d.entry("custom", id, parent, at, `"customType":"`+markerType+`","data":{"v":1}`)
}

// entry writes one line.
func (d dialect) entry(typ string, id, up []byte, at int64, body string) []byte {
	var b strings.Builder
	b.WriteString(`{"type":"` + typ + `",`)
	if up != nil {
		fmt.Fprintf(&b, `"id":%s,"parentId":%s,`, id, up)
	}
	fmt.Fprintf(&b, `"timestamp":"%s",%s}`+"\n", time.UnixMilli(at).UTC().Format("2006-01-02T15:04:05.000Z"), body)
	return []byte(b.String())
}

// NewID is an id in the client's form, eight hexadecimal digits, made of a hash of the seed.
func (d dialect) NewID(seed string, taken func(id []byte) bool) []byte {
	for n := 0; ; n++ {
		h := sha256.Sum256([]byte("sessfix\x00" + seed + "\x00" + strconv.Itoa(n)))
		if id := []byte(`"` + hex.EncodeToString(h[:4]) + `"`); !taken(id) {
			return id
		}
	}
}

var (
	_ format.Closer  = dialect{}
	_ format.Chained = dialect{}
)
