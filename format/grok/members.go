package grok

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
)

// member is one of a JSON object, its value as written.
type member struct{ key, value string }

// members reads those of an object, of a torn one as far as they go; whole tells that nothing is wrong with it.
func members(data []byte) (list []member, whole bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		t, err := d.Token()
		key, ok := t.(string)
		var value json.RawMessage
		if err != nil || !ok || d.Decode(&value) != nil {
			return list, false
		}
		if d.InputOffset() == int64(len(data)) && value[len(value)-1] != '"' && value[len(value)-1] != '}' && value[len(value)-1] != ']' {
			return list, false // more digits may have followed
		}
		list = append(list, member{key, string(value)})
	}
	if _, err := d.Token(); err != nil {
		return list, false
	}
	_, err := d.Token()
	return list, err == io.EOF
}

// required are the members without which the client does not take a summary.
var required = []string{"info", "session_summary", "created_at", "updated_at", "num_messages", "current_model_id"}

// unfit is the first member that keeps the client from reading a summary, "" where none does.
func unfit(list []member) string {
	has := map[string]bool{}
	for _, m := range list {
		has[m.key] = true
		if !fits(m) {
			return m.key
		}
	}
	for _, key := range required {
		if !has[key] {
			return key
		}
	}
	return ""
}

// fits tells whether the client can read a member.
func fits(m member) bool {
	switch m.key {
	case "info":
		var v struct{ ID, CWD *string }
		return json.Unmarshal([]byte(m.value), &v) == nil && v.ID != nil && v.CWD != nil
	case "session_summary", "created_at", "updated_at", "current_model_id":
		var v *string
		return json.Unmarshal([]byte(m.value), &v) == nil && v != nil && (*v != "" || m.key == "session_summary")
	case "num_messages":
		var v *uint64
		return json.Unmarshal([]byte(m.value), &v) == nil && v != nil
	case "chat_format_version":
		var v *uint64
		return json.Unmarshal([]byte(m.value), &v) == nil && (v == nil || *v <= math.MaxUint8)
	}
	return true
}
