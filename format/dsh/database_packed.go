package dsh

import (
	"encoding/json"

	"github.com/sessfix/sessfix/format"
)

// packedPart is what becomes of a packed row, or of a stretch of it: a row that is packed again, or the one delta of a row of its own.
type packedPart struct {
	seq, time int64
	members   int64
	data      []byte
	packed    bool
}

// packedBody is the data of a packed row.
type packedBody struct {
	Turn, Step, Index, ID, Name json.RawMessage
	Dt, Texts, Args             []json.RawMessage
}

// unpack tells what becomes of a packed row, n in its log. One of a length that a database may hold stays as it is. Of a longer one
// the longest stretch that it may hold is packed again, and so on; what is too short for that is taken apart, as the
// client's own packing does it.
func (r *rowRecord) unpack(n int64) ([]packedPart, error) {
	var b packedBody
	bad := func() ([]packedPart, error) {
		return nil, format.Refuse(n, "the record is a packed row that cannot be taken apart")
	}
	if json.Unmarshal(r.data, &b) != nil {
		return bad()
	}
	list := b.Texts
	if r.typ == "tool-call-chunks" {
		list = b.Args
	}
	if len(list) == 0 || len(b.Dt) != len(list)-1 || b.Turn == nil || b.Step == nil || b.Index == nil || (r.typ == "tool-call-chunks") != (b.ID != nil) {
		return bad()
	}
	times := make([]int64, len(list))
	for i := range list {
		if times[i] = r.time; i > 0 {
			d, ok := integer(b.Dt[i-1])
			if times[i] = times[i-1] + d; !ok || times[i] > maxSafe || times[i] < -maxSafe {
				return bad()
			}
		}
		if list[i][0] != '"' {
			return bad()
		}
	}
	if len(list) >= packedLeast && len(list) <= packedMost && len(r.data) <= packedBytes {
		return []packedPart{{seq: r.seq, time: r.time, members: int64(len(list)), data: r.data, packed: true}}, nil
	}
	var out []packedPart
	for at := 0; at < len(list); {
		size := b.fits(r.typ, list[at:], b.Dt[at:])
		p := packedPart{seq: r.seq + int64(at), time: times[at], members: int64(max(size, 1)), packed: size > 0}
		if p.packed {
			p.data = b.again(r.typ, list[at:at+size], b.Dt[at:at+size-1])
		} else {
			p.data = b.alone(r.typ, list[at])
		}
		out = append(out, p)
		at += int(p.members)
	}
	return out, nil
}

// fits is how many of the members one row may hold, 0 where that are too few for a row.
func (b *packedBody) fits(typ string, list, dt []json.RawMessage) int {
	if len(list) < packedLeast {
		return 0
	}
	size := len(b.again(typ, list[:1], nil))
	n := 1
	for ; n < len(list) && n < packedMost; n++ {
		more := len(list[n]) + 1 + len(dt[n-1])
		if n > 1 {
			more++ // a comma between the steps
		}
		if size+more > packedBytes {
			break
		}
		size += more
	}
	if n < packedLeast {
		return 0
	}
	return n
}

// again is the data of a packed row of some of the members.
func (b *packedBody) again(typ string, list, dt []json.RawMessage) []byte {
	out := append([]byte(`{"turn":`), b.Turn...)
	out = append(append(out, `,"step":`...), b.Step...)
	out = append(append(out, `,"index":`...), b.Index...)
	out = joinRaw(append(out, `,"dt":[`...), dt)
	name := `],"texts":[`
	if typ == "tool-call-chunks" {
		out = append(append(out, `],"id":`...), b.ID...)
		if b.Name != nil {
			out = append(append(out, `,"name":`...), b.Name...)
		}
		name = `,"args":[`
	}
	return append(joinRaw(append(out, name...), list), "]}"...)
}

// alone is the data of an event of one member.
func (b *packedBody) alone(typ string, text []byte) []byte {
	out := append([]byte(`{"turn":`), b.Turn...)
	out = append(append(out, `,"step":`...), b.Step...)
	kind, name := "text-delta", "text"
	switch typ {
	case "reasoning-chunks":
		kind = "reasoning-delta"
	case "tool-call-chunks":
		kind, name = "tool-call-delta", "argumentsDelta"
	}
	out = append(append(out, `,"chunk":{"type":"`+kind+`","index":`...), b.Index...)
	if typ == "tool-call-chunks" {
		out = append(append(out, `,"id":`...), b.ID...)
		if b.Name != nil {
			out = append(append(out, `,"name":`...), b.Name...)
		}
	}
	out = append(append(out, `,"`+name+`":`...), text...)
	return append(out, "}}"...)
}

func joinRaw(out []byte, list []json.RawMessage) []byte {
	for i, v := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return out
}
