package dsh

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Alike tells whether a record of a child is the copy of one of its parent's. A branch made by the client reads the parent's
// records and writes them anew: numbers and escapes may look otherwise, neighbours in sourceEventSeqs may be seqRuns, and
// what has an older form of version 0 gets the present one.
func (Format) Alike(child, parent []byte) bool {
	if bytes.Equal(child, parent) {
		return true
	}
	var c, p map[string]any
	if json.Unmarshal(child, &c) != nil || json.Unmarshal(parent, &p) != nil || c == nil || p == nil {
		return false
	}
	if older(p) {
		return sameNumber(c["seq"], p["seq"]) && sameNumber(c["time"], p["time"])
	}
	return bytes.Equal(canonical(c), canonical(p))
}

func sameNumber(a, b any) bool {
	x, ok1 := a.(float64)
	y, ok2 := b.(float64)
	return ok1 && ok2 && x == y
}

// canonical is the one spelling of an event.
func canonical(m map[string]any) []byte {
	if list, ok := m["sourceEventSeqs"].([]any); ok {
		m["sourceEventSeqs"] = seqRuns(list)
	}
	out, _ := json.Marshal(ownless(m)) // all of it was read from JSON
	return out
}

// madeIDs are the beginnings of ids that upgrades make. Behind them stands a hash of the session's id and of a place, or
// that id and a number.
var madeIDs = []string{"legacy-message:", "legacy-compaction:", "legacy-retry:", "v2-to-v3-system-"}

// ownless takes the session's part out of such ids, wherever they stand.
func ownless(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = ownless(v[k])
		}
	case []any:
		for i := range v {
			v[i] = ownless(v[i])
		}
	case string:
		for _, made := range madeIDs {
			if strings.HasPrefix(v, made) {
				if i := strings.LastIndexByte(v, ':'); i >= 0 {
					return made + v[i:]
				}
				return made
			}
		}
	}
	return v
}

// seqRuns makes pairs of a first and a last number of numbers that follow each other and of ranges. A list that holds
// something else stays.
func seqRuns(list []any) any {
	var out [][2]float64
	for _, v := range list {
		from, ok := v.(float64)
		to := from
		if pair, is := v.([]any); is && len(pair) == 2 {
			var ok2 bool
			from, ok = pair[0].(float64)
			to, ok2 = pair[1].(float64)
			ok = ok && ok2
		}
		if !ok {
			return list
		}
		if n := len(out); n > 0 && from == out[n-1][1]+1 {
			out[n-1][1] = to
			continue
		}
		out = append(out, [2]float64{from, to})
	}
	return out
}

// older tells the forms of version 0 that its later builds rewrite when they read them.
func older(m map[string]any) bool {
	data, _ := m["data"].(map[string]any)
	message, wrapped := data["message"].(map[string]any)
	switch m["type"] {
	case "steering/message":
		return true
	case "turn/start":
		return data["trigger"] != nil
	case "turn/end":
		reason, _ := data["reason"].(map[string]any)
		switch reason["kind"] {
		case "disposed":
			return true
		case "aborted":
			return reason["reason"] == nil
		case "error":
			return reason["error"] == nil
		}
	case "user/message":
		return data["id"] == nil
	case "assistant/message":
		return !wrapped || message["id"] == nil
	case "tool/result":
		return !wrapped
	}
	return false
}
