package codex

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
)

// unknownText is what the output of an unanswered call says.
const unknownText = finding.ToolOutcomeUnknown + ": the session ended before an output of this call was recorded (closed by sessfix). " +
	finding.LookFirst

// restoredText stands in front of an output that was found in the record of the finished item.
const restoredText = `(restored by sessfix from the record of the finished item)\n`

// outputs are the types and id prefixes of outputs by class.
var outputs = [...]struct{ kind, prefix string }{
	function: {"function_call_output", "fco"}, custom: {"custom_tool_call_output", "ctco"}, search: {"tool_search_output", "tso"},
}

// Close answers open calls and ends the open turn as interrupted.
func (d dialect) Close(q format.CloseRequest) ([]format.Closing, error) {
	var out []format.Closing
	seq := q.NextSeq
	line := func(typ, payload string) []byte {
		head := `{"timestamp":"` + time.UnixMilli(q.Time).UTC().Format("2006-01-02T15:04:05.000Z") + `"`
		if d.generation == paginated {
			head += `,"ordinal":` + num(seq)
			seq++
		}
		return []byte(head + `,"type":"` + typ + `","payload":` + payload + "}\n")
	}
	for i, c := range q.Calls {
		if int(c.Class) >= len(outputs) || c.Class == 0 {
			return nil, fmt.Errorf("no way to answer call %q", c.ID)
		}
		o := outputs[c.Class]
		code, text := finding.ToolOutcomeUnknown, `"`+unknownText+`"`
		if c.Class != search && i < len(q.Found) && q.Found[i] != nil {
			if t, ok := restored(q.Found[i]); ok {
				code, text = finding.ResultRestored, t
			}
		}
		payload := `{"type":"` + o.kind + `"`
		id, call, err := asked(q.Asked, i)
		if err != nil {
			return nil, err
		}
		if id != "" {
			payload += `,"id":"` + o.prefix + "_" + deriveID(o.prefix+":"+id) + `"`
		}
		payload += `,"call_id":"` + cmp.Or(call, c.ID) + `"`
		if c.Class == search {
			payload += `,"status":"completed","execution":"client","tools":[]}`
		} else {
			payload += `,"output":` + text + `}`
		}
		l := line("response_item", payload)
		if d.generation == bare {
			l = []byte(payload + "\n")
		}
		out = append(out, format.Closing{Line: l, Code: code, Kind: o.kind, CallID: c.ID})
	}
	if q.TurnID != "" && d.generation != bare {
		turn, root := q.TurnID, q.RootTurn
		if f, err := read(q.Opened); err == nil {
			turn, root = string(f.Str(kTurn)), string(f.Str(kRootTurn))
		}
		payload := `{"type":"turn_aborted","turn_id":"` + turn + `","reason":"interrupted"`
		if root != "" {
			payload += `,"root_turn_id":"` + root + `"`
		}
		out = append(out, format.Closing{Line: line("event_msg", payload+"}"), Kind: "turn_aborted"})
	}
	return out, nil
}

// asked is the id of the item that asks, and that of the call, as the record has them once it is mended; empty where it
// has none.
func asked(records [][]byte, i int) (item, call string, err error) {
	if i >= len(records) || records[i] == nil {
		return "", "", nil
	}
	f, err := read(records[i])
	if err != nil {
		return "", "", err
	}
	if f.enveloped() {
		return string(f.Str(kID)), string(f.Str(kCall)), nil
	}
	return "", string(f.Str(kBareCall)), nil
}

// restored is the text, as JSON, of an output that the record of a finished item holds. The output's own bytes stay as
// they are.
func restored(record []byte) (string, bool) {
	var v struct {
		Payload struct {
			Item struct {
				Output         json.RawMessage `json:"aggregated_output"`
				Stdout, Stderr json.RawMessage
				Exit           *int `json:"exit_code"`
				Status         string
				Result         json.RawMessage
			}
		}
	}
	if json.Unmarshal(record, &v) != nil {
		return "", false
	}
	it := v.Payload.Item
	var b strings.Builder
	b.WriteString(`"` + restoredText)
	known := false
	if it.Exit != nil {
		fmt.Fprintf(&b, `Process exited with code %d\n`, *it.Exit)
		known = true
	} else if it.Status != "" {
		quoted, _ := json.Marshal(it.Status)
		fmt.Fprintf(&b, `Status: %s\n`, quoted[1:len(quoted)-1])
		known = true
	}
	for _, text := range []json.RawMessage{it.Output, it.Stdout, it.Stderr} {
		if len(text) > 2 && text[0] == '"' {
			b.WriteString(`Output:\n`)
			b.Write(text[1 : len(text)-1])
			known = true
		}
	}
	if len(it.Result) > 0 && !bytes.Equal(it.Result, []byte("null")) {
		quoted, _ := json.Marshal(string(it.Result))
		b.WriteString(`Result:\n`)
		b.Write(quoted[1 : len(quoted)-1])
		known = true
	}
	b.WriteByte('"')
	return b.String(), known
}

// itemSpace is the name space in which the client derives ids of outputs that it makes up itself.
var itemSpace = []byte{0x90, 0xd3, 0x8d, 0x3e, 0x6a, 0x5b, 0x4d, 0x52, 0xbf, 0xe2, 0x2f, 0x1e, 0x63, 0x4b, 0xfa, 0xc4}

// deriveID is a UUID, version 5, by the client's own rule: the model's cache then knows the output.
func deriveID(name string) string {
	h := sha1.New()
	h.Write(itemSpace)
	h.Write([]byte(name))
	u := h.Sum(nil)[:16]
	u[6], u[8] = u[6]&0x0F|0x50, u[8]&0x3F|0x80
	s := hex.EncodeToString(u)
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

var _ format.Closer = dialect{}
