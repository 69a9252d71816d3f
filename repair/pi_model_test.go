package repair_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// sprigHead is a header, and sprigPath where the session might lie: the name tells the id.
const (
	sprigHead = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n"
	sprigPath = "no-such-directory/2026-01-01T00-00-00-000Z_s1.jsonl"
	sprigZero = `{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`
)

// sprigLog writes the entries of a pi session from a shorthand: records with "|" between them, each a kind, an id, a parent and
// what else it says.
//
//	user a - | call b a c1 c2 | res c b c1 | say d c
//
//	user cm sh sh- hook         of the user, custom_message, a command, one that is not sent, a hook's message of version 2
//	say call err abo len        answers: whole, asking for calls, failed, aborted, cut off at the greatest length
//	res ours claw               results of a call: real, made up by this program, by OpenClaw
//	comp c b KEPT               a compaction and the first record that it keeps
//	edit d c TARGET             takes the target out; edit d c TARGET + c1 puts an answer that asks for c1 in its place
//	bs bs0 label usage custom info sys model odd husk
//
// A parent is an id, or "-" for null, "." for none, ” for an empty one. "d=b" is a record called d whose id is b; the same
// words as for parents stand for the other ids, and "#7" is JSON. "lost", "cut" and "stub" in front of a kind leave the line
// out, tear it behind its parent, tear it in front of its id. "again b" is b's line once more, and what begins with { or [ is
// a line as it is. Each record says its own name in a member that no client knows.
func sprigLog(short string) string {
	var out strings.Builder
	lines, n := map[string]string{}, 0
	for _, rec := range strings.Split(short, "|") {
		w := strings.Fields(rec)
		switch {
		case len(w) == 0:
			continue
		case strings.IndexByte("{[", w[0][0]) >= 0:
			out.WriteString(strings.TrimSpace(rec) + "\n")
			continue
		case w[0] == "again":
			out.WriteString(lines[w[1]] + "\n")
			continue
		}
		how := ""
		if w[0] == "lost" || w[0] == "cut" || w[0] == "stub" {
			how, w = w[0], w[1:]
		}
		n++
		name, id, other := strings.Cut(w[1], "=")
		if !other {
			id = name
		}
		line := sprigLine(n, name, sprigRef("id", id), sprigRef("parentId", w[2]), w[0], w[3:])
		lines[name] = line
		switch how {
		case "lost":
			continue
		case "cut":
			line = line[:strings.Index(line, `"timestamp"`)+14]
		case "stub":
			line = line[:12]
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

// sprigRef is a member that names a record.
func sprigRef(key, id string) string {
	switch {
	case id == ".":
		return ""
	case id == "-" || id == "null":
		id = "null"
	case id == "''":
		id = `""`
	case id[0] == '#':
		id = id[1:]
	default:
		id = `"` + id + `"`
	}
	return `"` + key + `":` + id + `,`
}

func sprigTime(n int) string {
	return time.UnixMilli(1767225600000 + int64(n)*1000).UTC().Format("2006-01-02T15:04:05.000Z")
}

func sprigLine(n int, name, id, up, kind string, args []string) string {
	base := id + up + `"timestamp":"` + sprigTime(n) + `","n":"` + name + `"`
	for i := range args {
		args[i] = strings.Trim(args[i], "'")
	}
	calls := func(ids []string) string {
		blocks := []string{`{"type":"text","text":"t"}`}
		for _, id := range ids {
			blocks = append(blocks, `{"type":"toolCall","id":"`+id+`","name":"sh","arguments":{}}`)
		}
		return "[" + strings.Join(blocks, ",") + "]"
	}
	entry := func(typ, more string) string { return `{"type":"` + typ + `",` + base + more + "}" }
	message := func(role, more string) string { return entry("message", `,"message":{"role":"`+role+`",`+more+"}") }
	answer := func(stop string) string {
		return message("assistant", `"content":`+calls(args)+`,"usage":`+sprigZero+`,"stopReason":"`+stop+`"`)
	}
	result := func(text, more string) string {
		return message("toolResult", `"toolCallId":"`+args[0]+`","toolName":"sh","content":[{"type":"text","text":"`+text+`"}],`+more+`"isError":false`)
	}
	switch kind {
	case "user":
		return message("user", `"content":"t"`)
	case "hook":
		return message("hookMessage", `"content":"t"`)
	case "cm":
		return entry("custom_message", `,"customType":"x","content":"t","display":true`)
	case "sh", "sh-":
		return message("bashExecution", fmt.Sprintf(`"command":"ls","output":"","excludeFromContext":%t`, kind == "sh-"))
	case "sys":
		return message("system", `"content":"t"`)
	case "say":
		return answer("stop")
	case "call":
		return answer("toolUse")
	case "len":
		return answer("length")
	case "err":
		return answer("error")
	case "abo":
		return answer("aborted")
	case "res":
		return result("out", "")
	case "ours":
		return result("no more", `"details":{"sessfix":{"code":"TOOL_OUTCOME_UNKNOWN","v":1}},`)
	case "claw":
		return result("missing", `"details":{"openclawSyntheticMissingToolResult":true},`)
	case "comp":
		return entry("compaction", `,"summary":"s","firstKeptEntryId":"`+args[0]+`","tokensBefore":9`)
	case "bs":
		return entry("branch_summary", `,"fromId":"root","summary":"s"`)
	case "bs0":
		return entry("branch_summary", `,"fromId":"root","summary":""`)
	case "edit":
		if len(args) > 1 && args[1] == "+" {
			return entry("context_edit", `,"targetId":"`+args[0]+`","replacement":{"content":`+calls(args[2:])+`}`)
		}
		return entry("context_edit", `,"targetId":"`+args[0]+`","replacement":null`)
	case "label":
		return entry("label", `,"targetId":"x","label":"l"`)
	case "usage":
		return entry("usage", `,"kind":"x","provider":"p","model":"m","usage":`+sprigZero)
	case "custom":
		return entry("custom", `,"customType":"x"`)
	case "info":
		return entry("session_info", `,"name":"x"`)
	case "model":
		return entry("model_change", `,"provider":"p","modelId":"m"`)
	case "odd":
		return entry("odd", "")
	case "husk":
		return entry("message", "")
	}
	panic("no such record: " + kind)
}

// sprigEntry is a line as the client has it in memory.
type sprigEntry struct {
	Type, Timestamp, Summary, CustomType, N string
	ID, ParentID, FirstKeptEntryID          json.RawMessage
	TargetID                                json.RawMessage
	FirstKeptEntryIndex                     *int
	Replacement                             json.RawMessage
	Message                                 *struct {
		Role, ToolCallID, StopReason string
		Content                      json.RawMessage
		Usage                        json.RawMessage
		ExcludeFromContext           bool
		Timestamp                    int64
		IsError                      bool
		Details                      struct{ Sessfix *struct{ Code string } }
	}
	at int
}

func (e *sprigEntry) key() string       { return sprigKey(e.ID) }
func sprigKey(r json.RawMessage) string { return string(bytes.TrimSpace(r)) } // "" is undefined

// name is what the shorthand calls an entry; what a repair added is a star where it says nothing, else "+" and what it is.
func (e *sprigEntry) name() string {
	switch {
	case e.N != "":
		return e.N
	case e.CustomType == "sessfix.marker":
		return "*"
	case e.Message != nil && e.Message.Role == "toolResult":
		return "+" + e.Message.ToolCallID
	case e.Type == "context_edit":
		return "+edit"
	}
	return "{}"
}

// sprigView is what a client makes of a session, worked out with nothing of this program: by session-manager.js and
// transform-messages.js of pi 1.6.0.
type sprigView struct {
	entries []*sprigEntry
	way     []*sprigEntry // from the root to the last line
	sent    []string      // ?c1 is the client's own answer to call c1
	open    []string      // calls that the client answers by itself behind everything
	wrong   []string      // what hangs or breaks the client, or what a provider refuses
}

func (v *sprigView) String() string {
	names := make([]string, len(v.way))
	for i, e := range v.way {
		names[i] = e.name()
	}
	out := strings.Join(names, " ")
	if sent := strings.Join(v.sent, " "); sent != out && len(v.wrong) == 0 {
		out += " > " + sent
	}
	if len(v.wrong) > 0 {
		out += " ! " + strings.Join(v.wrong, ", ")
	}
	return strings.TrimSpace(out)
}

// sprigOpen opens a session; edits tells a release that knows context_edit.
func sprigOpen(text string, edits bool) *sprigView {
	v := &sprigView{}
	var version json.RawMessage
	head, i := false, 0
	var all []*sprigEntry // headers as well, for indexes
	for l := range strings.SplitSeq(text, "\n") {
		var obj map[string]json.RawMessage
		if json.Unmarshal([]byte(l), &obj) != nil || obj == nil {
			continue
		}
		e := &sprigEntry{at: i}
		if err := json.Unmarshal([]byte(l), e); err != nil {
			e = &sprigEntry{at: i, ID: obj["id"]}
		}
		// Unmarshal leaves a RawMessage of null as it is, but for a null that is read as no message.
		if e.Type == "session" && !head {
			head, version = true, obj["version"]
			if i > 0 {
				v.wrong = append(v.wrong, "the header is late")
			}
		}
		i++
		all = append(all, e)
		if e.Type != "session" {
			v.entries = append(v.entries, e)
		}
	}
	if !head {
		v.wrong = append(v.wrong, "no header")
		return v
	}
	var num float64
	if len(version) == 0 || string(version) == "null" || json.Unmarshal(version, &num) == nil && num < 2 {
		up := json.RawMessage(`null`)
		for _, e := range v.entries {
			e.ID, e.ParentID = json.RawMessage(fmt.Sprintf(`"#%d"`, e.at)), up
			up = e.ID
		}
		for _, e := range v.entries {
			if k := e.FirstKeptEntryIndex; k != nil && *k > 0 && *k < len(all) {
				e.FirstKeptEntryID = all[*k].ID
			}
		}
	}
	if len(v.entries) == 0 {
		return v
	}
	if !v.walk() {
		v.wrong = append(v.wrong, "hangs")
		return v
	}
	for _, e := range v.way {
		if e.Type == "message" && e.Message == nil {
			v.wrong = append(v.wrong, "no message in "+e.name())
			return v
		}
	}
	v.send(v.context(), edits)
	return v
}

// walk goes up from the last entry; the last one of an id counts.
func (v *sprigView) walk() bool {
	byID := map[string]*sprigEntry{}
	for _, e := range v.entries {
		byID[e.key()] = e
	}
	e := v.entries[len(v.entries)-1]
	if e.key() == "null" {
		return true
	}
	seen := map[*sprigEntry]bool{}
	for e != nil {
		if seen[e] {
			v.way = nil
			return false
		}
		seen[e] = true
		v.way = append(v.way, e)
		up := sprigKey(e.ParentID)
		if up == "" || up == "null" || up == `""` || up == "0" || up == "false" {
			break
		}
		e = byID[up]
	}
	slices.Reverse(v.way)
	return true
}

// context is the last compaction, what it keeps, and what stands behind it.
func (v *sprigView) context() []*sprigEntry {
	last := -1
	for i, e := range v.way {
		if e.Type == "compaction" {
			last = i
		}
	}
	if last < 0 {
		return v.way
	}
	out := []*sprigEntry{v.way[last]}
	found := false
	for _, e := range v.way[:last] {
		found = found || e.key() == sprigKey(v.way[last].FirstKeptEntryID)
		if found && (e.Message == nil || e.Message.Role != "system") {
			out = append(out, e)
		}
	}
	return append(out, v.way[last+1:]...)
}

// send makes the request of the entries.
func (v *sprigView) send(list []*sprigEntry, edits bool) {
	edit := map[string]*sprigEntry{}
	for _, e := range list {
		if edits && e.Type == "context_edit" {
			edit[sprigKey(e.TargetID)] = e
		}
	}
	type block struct{ Type, ID string }
	var calls []block
	got := map[string]int{}
	flush := func() []string {
		var open []string
		for _, c := range calls {
			if got[c.ID] == 0 {
				open = append(open, c.ID)
				v.sent = append(v.sent, "?"+c.ID)
			}
		}
		calls, got = nil, map[string]int{}
		return open
	}
	for i, e := range list {
		role, content := "", json.RawMessage(nil)
		switch {
		case e.Type == "compaction" && i > 0: // an older one says nothing
		case e.Type == "custom_message", e.Type == "compaction", e.Type == "branch_summary" && e.Summary != "":
			role = "user"
		case e.Type == "message":
			role, content = e.Message.Role, e.Message.Content
			if role == "custom" || role == "bashExecution" && !e.Message.ExcludeFromContext {
				role = "user"
			}
		}
		if x := edit[e.key()]; x != nil && role != "" {
			if s := string(x.Replacement); s == "null" || s == "" {
				continue
			}
			var with struct{ Content json.RawMessage }
			json.Unmarshal(x.Replacement, &with)
			content = with.Content
		}
		switch role {
		case "assistant":
			flush()
			if bytes.HasPrefix(content, []byte(`"`)) {
				v.wrong = append(v.wrong, "text for content in "+e.name())
			}
			if s := e.Message.StopReason; s == "error" || s == "aborted" {
				continue
			}
			var blocks []block
			json.Unmarshal(content, &blocks)
			for _, b := range blocks {
				if b.Type == "toolCall" {
					calls = append(calls, b)
					if b.ID == "" {
						v.wrong = append(v.wrong, "empty id in "+e.name())
					}
				}
			}
			v.sent = append(v.sent, e.name())
		case "toolResult":
			id, asked := e.Message.ToolCallID, 0
			for _, c := range calls {
				if c.ID == id {
					asked++
				}
			}
			if got[id]++; asked == 0 {
				v.wrong = append(v.wrong, "result alone: "+e.name())
			} else if got[id] > asked {
				v.wrong = append(v.wrong, "second result: "+e.name())
			}
			v.sent = append(v.sent, e.name())
		case "user":
			flush()
			v.sent = append(v.sent, e.name())
		case "system":
			v.sent = append(v.sent, e.name())
		}
	}
	v.open = flush()
	for _, e := range v.way {
		if m := e.Message; edits && m != nil && m.Role == "assistant" && (len(m.Usage) == 0 || string(m.Usage) == "null") {
			v.wrong = append(v.wrong, "no usage in "+e.name())
		}
	}
}

// sprigSame is what of a line no repair of these tests may change; "" where the line is not whole.
func sprigSame(line string) string {
	var obj map[string]any
	dec := json.NewDecoder(strings.NewReader(line))
	dec.UseNumber()
	if dec.Decode(&obj) != nil || obj == nil || !json.Valid([]byte(line)) {
		return ""
	}
	delete(obj, "id")
	delete(obj, "parentId")
	for _, ref := range []string{"firstKeptEntryId", "firstKeptEntryIndex", "targetId"} {
		delete(obj, ref) // what it names may have another name now
	}
	if obj["type"] == "session" {
		delete(obj, "version") // it is made to fit the entries
	}
	// An empty id of a call gets a value.
	plain := func(m map[string]any, key string) {
		if s, ok := m[key].(string); ok && (s == "" || strings.HasPrefix(s, "call_")) {
			m[key] = "call_"
		}
	}
	if msg, ok := obj["message"].(map[string]any); ok {
		if msg["role"] == "toolResult" {
			msg["toolCallId"] = "" // that of an answered call, where it was empty
		}
		list, _ := msg["content"].([]any)
		for _, b := range list {
			if b, ok := b.(map[string]any); ok && b["type"] == "toolCall" {
				plain(b, "id")
			}
		}
	}
	out, _ := json.Marshal(obj)
	return string(out)
}
