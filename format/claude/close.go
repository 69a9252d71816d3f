package claude

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// unknownText is what the result of an unanswered call says.
const unknownText = finding.ToolOutcomeUnknown + ": the session ended before a result of this call was recorded (closed by sessfix). " +
	finding.LookFirst

// Answer is a result under the line that asks for the call. It takes the time and the surroundings of that line.
func (d dialect) Answer(asked, child []byte, call session.Call) (format.Closing, error) {
	f, err := read(asked)
	if err != nil {
		return format.Closing{}, err
	}
	id := deriveID(f.Str(kSession), "closer", call.ID)
	if child != nil {
		c, err := read(child)
		if err != nil {
			return format.Closing{}, err
		}
		id = string(c.Str(kParent))
	}
	content := `[{"type":"tool_result","tool_use_id":"` + call.ID + `","content":"` + unknownText + `","is_error":true}]`
	line := node(f, string(f.Str(kUUID)), id, `"type":"user","message":{"role":"user","content":`+content+`}`,
		`"toolUseResult":"`+unknownText+`","sourceToolAssistantUUID":"`+string(f.Str(kUUID))+`"`)
	return format.Closing{Line: line, Code: finding.ToolOutcomeUnknown, Kind: "result", CallID: call.ID}, nil
}

// Bridge stands in for the summary of a compaction, which is lost.
func (d dialect) Bridge(child, border []byte) ([]byte, error) {
	c, err := read(child)
	if err != nil {
		return nil, err
	}
	f, err := read(border)
	if err != nil {
		return nil, err
	}
	return node(f, string(f.Str(kUUID)), string(c.Str(kParent)),
		`"type":"user","message":{"role":"user","content":"(The summary of the earlier conversation is lost.)"}`,
		`"isVisibleInTranscriptOnly":true,"isCompactSummary":true`), nil
}

// Point names the record to go on from. It repeats what the last such record says of the prompt, which lists show.
func (d dialect) Point(leaf, last []byte) ([]byte, error) {
	f, err := read(leaf)
	if err != nil {
		return nil, err
	}
	var of []byte
	if f.Kind(kSession) == '"' {
		of = f.Value(kSession)
	}
	return append(pointer([]byte(`"`+string(f.Str(kUUID))+`"`), member(last, "lastPrompt"), of), '\n'), nil
}

// pointer is a record that names the leaf to go on from. All are JSON; the prompt and the session may be nil.
func pointer(leaf, prompt, of []byte) []byte {
	line := `{"type":"last-prompt",`
	if prompt != nil {
		line += `"lastPrompt":` + string(prompt) + `,`
	}
	line += `"leafUuid":` + string(leaf)
	if of != nil {
		line += `,"sessionId":` + string(of)
	}
	return []byte(line + "}")
}

// node writes a record that hangs under another, with the surroundings of the record f.
func node(f *fields, parent, id, body, more string) []byte {
	var b strings.Builder
	side := "false"
	if f.True(kSide) {
		side = "true"
	}
	fmt.Fprintf(&b, `{"parentUuid":"%s","isSidechain":%s,%s,"uuid":"%s"`, parent, side, body, id)
	if f.Has(kTime) {
		fmt.Fprintf(&b, `,"timestamp":%s`, f.Value(kTime))
	}
	b.WriteString("," + more)
	for _, name := range []string{"userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "agentId"} {
		if v := member(f.Raw, name); v != nil {
			fmt.Fprintf(&b, `,"%s":%s`, name, v)
		}
	}
	b.WriteString("}\n")
	return []byte(b.String())
}

// deriveID is the UUID, version 5, of a synthetic record: in the name space of the session.
func deriveID(sessionID []byte, kind, key string) string {
	h := sha1.New()
	space := sha1.Sum(sessionID)
	if raw, err := hex.DecodeString(strings.ReplaceAll(string(sessionID), "-", "")); err == nil && len(raw) == 16 {
		copy(space[:], raw)
	}
	h.Write(space[:16])
	h.Write([]byte("sessfix/" + kind + "/" + key))
	u := h.Sum(nil)[:16]
	u[6], u[8] = u[6]&0x0F|0x50, u[8]&0x3F|0x80
	return uuid(u)
}

// uuid is the usual form of 16 bytes.
func uuid(u []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:16])
}
