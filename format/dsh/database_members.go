package dsh

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// pair is one member of a record, its value as written.
type pair struct {
	name string
	raw  []byte
}

var (
	errNoObject = errors.New("no JSON object")
	errNoText   = errors.New("no text that a database holds")
)

// pairsOf reads the members of one JSON object, in their order.
func pairsOf(line []byte) ([]pair, error) {
	dec := json.NewDecoder(bytes.NewReader(line))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errNoObject
	}
	var out []pair
	for dec.More() {
		t, err := dec.Token()
		name, ok := t.(string)
		var raw json.RawMessage
		if err != nil || !ok || dec.Decode(&raw) != nil {
			return nil, errNoObject
		}
		out = append(out, pair{name, raw})
	}
	if _, err := dec.Token(); err != nil {
		return nil, errNoObject
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errNoObject
	}
	return out, nil
}

// plainText is the text that a JSON string stands for. Half of a surrogate pair, bytes that are no UTF-8 and NUL
// would not come back out of a database as they went in.
func plainText(raw []byte) (string, error) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil || !utf8.Valid(raw) || strings.Contains(s, "\x00") {
		return "", errNoText
	}
	if n := strings.Count(s, string(utf8.RuneError)); n > 0 {
		meant := bytes.Count(raw, []byte(string(utf8.RuneError))) + bytes.Count(bytes.ToLower(raw), []byte(`\ufffd`))
		if n != meant {
			return "", errNoText
		}
	}
	return s, nil
}
