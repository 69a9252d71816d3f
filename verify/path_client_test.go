package verify_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// piClient is what the client of pi sessions makes of one, written down from its source (session-manager.js,
// transform-messages.js of 1.6.0) and knowing nothing of how sessfix reads it.
type piClient struct {
	loads  bool   // it takes the file for a session
	circle bool   // it hangs
	breaks string // it throws: why
	path   []string
	sent   []string // ?1 is its own answer to call 1
	refuse string   // what a provider refuses in it, "" = nothing
}

type piEntry struct {
	Type                                     string
	ID, ParentID, FirstKeptEntryID, TargetID any
	FirstKeptEntryIndex                      *int
	Version, Replacement                     json.RawMessage
	Timestamp, Summary, CustomType           string
	Message                                  *piMessage
	line                                     int
}

type piMessage struct {
	Role, ToolCallID, StopReason string
	Content                      json.RawMessage
	Usage                        *struct{}
	ExcludeFromContext           bool
}

type piBlock struct{ Type, ID, Name string }

// openPi opens a session; edits tells a release that has context_edit.
func openPi(text string, edits bool) (c piClient) {
	var entries []*piEntry
	headed := false
	n := 0
	for l := range strings.SplitSeq(text, "\n") {
		n++
		var v any
		if json.Unmarshal([]byte(l), &v) != nil || v == nil || v == false || v == 0.0 || v == "" {
			continue
		}
		e := &piEntry{line: n}
		if o, ok := v.(map[string]any); ok {
			_, isText := o["type"].(string)
			if !isText && o["type"] != nil {
				delete(o, "type")
			}
			if json.Unmarshal([]byte(l), e) != nil {
				e = &piEntry{line: n, ID: o["id"]}
			}
			if _, ok := o["id"]; !ok {
				e.ID = missing{}
			}
		} else {
			e.ID = missing{}
		}
		if !headed {
			if _, ok := e.ID.(string); !ok || e.Type != "session" {
				return c
			}
			headed = true
			entries = append(entries, e)
			continue
		}
		entries = append(entries, e)
	}
	if !headed {
		return c
	}
	c.loads = true
	c.migrate(entries)
	entries = slices.DeleteFunc(entries, func(e *piEntry) bool { return e.Type == "session" })
	way := c.walk(entries)
	if c.circle {
		return c
	}
	for _, e := range way {
		c.path = append(c.path, nameOf(e))
		if e.Type == "message" && e.Message == nil {
			c.breaks = "no message in " + nameOf(e)
		}
	}
	if c.breaks == "" {
		c.send(c.context(way), way, edits)
	}
	return c
}

// missing is an id that is undefined.
type missing struct{}

// migrate gives ids to entries of version 1.
func (c *piClient) migrate(entries []*piEntry) {
	v := entries[0].Version
	var f float64
	if len(v) > 0 && string(v) != "null" && json.Unmarshal(v, &f) != nil || f >= 2 {
		return
	}
	var up any
	for i, e := range entries {
		if e.Type == "session" {
			continue
		}
		e.ID, e.ParentID = fmt.Sprintf("#%d", i), up
		up = e.ID
	}
	for _, e := range entries {
		if k := e.FirstKeptEntryIndex; k != nil && *k >= 0 && *k < len(entries) && entries[*k].Type != "session" && entries[*k].line < e.line {
			e.FirstKeptEntryID = entries[*k].ID
		}
	}
}

func (c *piClient) walk(entries []*piEntry) []*piEntry {
	byID := map[string]*piEntry{}
	key := func(id any) string { b, _ := json.Marshal(id); return fmt.Sprintf("%T %s", id, b) }
	for _, e := range entries {
		byID[key(e.ID)] = e
	}
	if len(entries) == 0 {
		return nil
	}
	e := entries[len(entries)-1]
	if e.ID == nil {
		return nil
	}
	var way []*piEntry
	for e != nil {
		if slices.Contains(way, e) {
			c.circle = true
			return nil
		}
		way = append(way, e)
		if e.ParentID == nil || e.ParentID == "" || e.ParentID == 0.0 || e.ParentID == false {
			break
		}
		e = byID[key(e.ParentID)]
	}
	slices.Reverse(way)
	return way
}

// context is the compaction that counts, what it keeps, and what follows it.
func (c *piClient) context(way []*piEntry) []*piEntry {
	last := -1
	for i, e := range way {
		if e.Type == "compaction" {
			last = i
		}
	}
	if last < 0 {
		return way
	}
	out := []*piEntry{way[last]}
	found := false
	for _, e := range way[:last] {
		found = found || e.ID == way[last].FirstKeptEntryID
		if found && (e.Message == nil || e.Message.Role != "system") {
			out = append(out, e)
		}
	}
	return append(out, way[last+1:]...)
}

// send makes the request: edits, roles, and results for calls that have none.
func (c *piClient) send(list, way []*piEntry, edits bool) {
	edit := map[any]*piEntry{}
	for _, e := range list {
		if edits && e.Type == "context_edit" {
			edit[e.TargetID] = e
		}
	}
	var pending []piBlock
	answered := map[string]int{}
	refuse := func(what string) {
		if c.refuse == "" {
			c.refuse = what
		}
	}
	flush := func() {
		for _, b := range pending {
			if answered[b.ID] == 0 {
				c.sent = append(c.sent, "?"+b.ID)
			}
		}
		pending, answered = nil, map[string]int{}
	}
	for i, e := range list {
		if e.Type == "compaction" && i > 0 {
			continue
		}
		role, content := "", json.RawMessage(nil)
		switch {
		case e.Type == "message" && e.Message.Role == "bashExecution" && e.Message.ExcludeFromContext:
		case e.Type == "message" && (e.Message.Role == "bashExecution" || e.Message.Role == "custom"):
			role = "user"
		case e.Type == "message":
			role, content = e.Message.Role, e.Message.Content
		case e.Type == "custom_message", e.Type == "compaction", e.Type == "branch_summary" && e.Summary != "":
			role = "user"
		}
		if x, ok := edit[e.ID]; ok && role != "" {
			if string(x.Replacement) == "null" || len(x.Replacement) == 0 {
				continue
			}
			if role == "assistant" {
				var r struct{ Content json.RawMessage }
				json.Unmarshal(x.Replacement, &r)
				content = r.Content
				if bytes.HasPrefix(content, []byte(`"`)) {
					content = json.RawMessage(`[]`)
				}
			}
		}
		switch role {
		case "assistant":
			flush()
			if bytes.HasPrefix(bytes.TrimSpace(content), []byte(`"`)) {
				c.breaks = "text for content in " + nameOf(e)
				return
			}
			if e.Message.StopReason == "error" || e.Message.StopReason == "aborted" {
				continue
			}
			var blocks []piBlock
			json.Unmarshal(content, &blocks)
			for _, b := range blocks {
				if b.Type == "toolCall" {
					pending = append(pending, b)
					if b.ID == "" {
						refuse("empty id in " + nameOf(e))
					}
				}
			}
			c.sent = append(c.sent, nameOf(e))
		case "toolResult":
			id := e.Message.ToolCallID
			calls := 0
			for _, b := range pending {
				if b.ID == id {
					calls++
				}
			}
			switch answered[id]++; {
			case calls == 0:
				refuse("result alone: " + nameOf(e))
			case answered[id] > calls:
				refuse("second result: " + nameOf(e))
			}
			c.sent = append(c.sent, nameOf(e))
		case "user":
			flush()
			c.sent = append(c.sent, nameOf(e))
		case "system":
			c.sent = append(c.sent, nameOf(e))
		}
	}
	flush()
	for _, e := range way {
		if e.Type == "message" && e.Message.Role == "assistant" && e.Message.Usage == nil {
			c.breaks = "no usage in " + nameOf(e)
		}
	}
}

// nameOf is what a shorthand calls an entry: by its time.
func nameOf(e *piEntry) string {
	var s int
	switch {
	case e.CustomType == "sessfix.marker":
		return "*"
	case strings.HasSuffix(e.Timestamp, ".000Z") && !strings.HasPrefix(e.Timestamp, "1970"):
		var h, m, sec int
		fmt.Sscanf(e.Timestamp[len("2026-01-01T"):], "%d:%d:%d", &h, &m, &sec)
		s = h*3600 + m*60 + sec
		return letter(s - 1)
	case e.Message != nil && strings.HasPrefix(e.Message.ToolCallID, "call_"):
		return "+call"
	case e.Message != nil && e.Message.Role == "toolResult":
		return "+" + e.Message.ToolCallID
	}
	return "+" + e.Type
}

// letter is the name of the n-th record: a, b, … z, a1, b1, …
func letter(n int) string {
	s := string(rune('a' + n%26))
	if n >= 26 {
		s += fmt.Sprint(n / 26)
	}
	return s
}
