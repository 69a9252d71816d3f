package codex

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// Reheader writes anew the header that is lost, of what remains of it and what the records and the file's name tell.
// It is nil where that does not suffice: a rollout that begins in another cannot do without knowing where.
func (d *decoder) Reheader(remains []byte) []byte {
	n, named := nameOf(d.place.Path)
	if d.lost.Len == 0 || d.dialect.generation == bare {
		return nil
	}
	m := membersOf(remains)
	if d.dialect.generation == paginated && m["history_base"] == nil && d.firstOrdinal > 1 {
		return nil
	}
	set := func(name string, value []byte) {
		if m[name] == nil {
			m[name] = value
		}
	}
	if named {
		m["id"] = []byte(`"` + n.thread + `"`)
		set("session_id", m["id"])
	}
	set("timestamp", d.firstTime)
	set("cwd", d.cwd)
	set("originator", []byte(`""`))
	set("cli_version", []byte(`""`))
	if m["id"] == nil || m["timestamp"] == nil || m["cwd"] == nil {
		return nil
	}
	if d.dialect.generation == paginated {
		m["history_mode"] = []byte(`"paginated"`)
	}
	out := append([]byte(`{"timestamp":`), m["timestamp"]...)
	if d.dialect.generation == paginated {
		first := "0"
		if m["ordinal"] != nil {
			first = string(m["ordinal"])
		} else if m["history_base"] != nil {
			first = num(max(d.firstOrdinal-1, 0))
		}
		out = append(out, `,"ordinal":`+first...)
	}
	out = append(out, `,"type":"session_meta","payload":{`...)
	comma := ""
	for _, name := range headerMembers {
		if v := m[name]; v != nil {
			out = append(append(out, comma+`"`+name+`":`...), v...)
			comma = ","
		}
	}
	return append(out, "}}"...)
}

// headerMembers are those of a header that are taken over from what remains of one, in the client's order.
var headerMembers = []string{
	"account_scoped", "session_id", "id", "forked_from_id", "forked_from_ordinal_exclusive", "parent_thread_id", "timestamp", "cwd",
	"runtime_workspace_roots", "originator", "cli_version", "source", "thread_source", "model_provider", "instructions",
	"base_instructions", "history_mode", "history_base", "multi_agent_version", "memory_mode", "context_window", "git",
}

// membersOf reads the whole members, as they are written, at the beginning of a header that breaks off. The record's
// ordinal is among them.
func membersOf(remains []byte) map[string][]byte {
	out := map[string][]byte{}
	dec := json.NewDecoder(bytes.NewReader(remains))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return out
	}
	inside := false
	for {
		t, err := dec.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return out
		}
		if name == "payload" && !inside {
			if t, err := dec.Token(); err != nil || t != json.Delim('{') {
				return out
			}
			inside = true
			continue
		}
		var v json.RawMessage
		if dec.Decode(&v) != nil {
			return out
		}
		if (inside || name == "ordinal") && readable(name, v) {
			out[name] = v
		}
	}
}

// readable tells whether the client reads a header in which a member has this value.
func readable(name string, v json.RawMessage) bool {
	if !utf8.Valid(v) || bytes.ContainsAny(v, "\r\n") {
		return false
	}
	switch name {
	case "ordinal":
		_, err := strconv.ParseUint(string(v), 10, 63)
		return err == nil
	case "id":
		return v[0] == '"' && uuids.Match(v[1:len(v)-1])
	case "session_id", "timestamp", "cwd", "originator", "cli_version", "history_mode", "forked_from_id", "parent_thread_id", "model_provider":
		return v[0] == '"'
	case "history_base":
		var b struct {
			Thread  *string `json:"thread_id"`
			Records *uint64 `json:"end_ordinal_exclusive"`
			Bytes   *uint64 `json:"end_byte_offset"`
		}
		return json.Unmarshal(v, &b) == nil && b.Thread != nil && b.Records != nil && b.Bytes != nil
	}
	return true
}
