package dsh

import (
	"fmt"
	"strconv"
)

// legacy is what the edge v0→v1 remembers while it brings old forms into the present one
// (session-format-v0-to-v1, migration.ts).
type legacy struct {
	session    string
	compaction string // id of the open compaction that got a made-up one
	retry      map[string]string
}

// renamed are the types that only old logs hold, with the ones that the migration makes of them.
var renamed = map[string]string{
	"compact/start": "compaction/start", "compact/summary": "compaction/summary",
	"compact/end": "compaction/end", "compact/prune": "compaction/prune",
	"steering/message": "user/message",
}

// normalise brings an event of version 0 into the form that payloads are checked in. It changes
// data, which is our own copy, and says what even this step refuses.
func (l *legacy) normalise(typ string, data any, seq int64) (string, any, string) {
	o, ok := data.(object)
	if !ok {
		return typ, data, ""
	}
	if typ == "steering/message" {
		message, problem := l.steering(o, seq)
		if o, ok = message.(object); !ok || problem != "" {
			return "user/message", message, problem
		}
		typ = "user/message"
	}
	switch typ {
	case "turn/start":
		return typ, o, oldTurnStart(o)
	case "turn/end":
		return typ, o, oldTurnEnd(o)
	case "request/header":
		return typ, o, oldHeader(o)
	case "llm/retry":
		l.giveRetry(o, seq)
	case "user/message":
		l.markCheckpoint(o)
		if !hasAny(o, "id", "role", "message") && hasAll(o, "content", "source") {
			o["id"], o["role"] = l.messageID(seq), "user"
		}
	case "assistant/message":
		if source, ok := o["provenance"].(object); ok && !hasAny(o, "message") && hasAll(o, "content") {
			source["kind"] = "model"
			o["message"] = object{"id": l.messageID(seq), "role": "assistant", "content": o["content"], "source": source}
			delete(o, "content")
			delete(o, "provenance")
		}
	case "tool/result":
		l.wrapResult(o, seq)
	}
	if to := renamed[typ]; to != "" {
		typ = to
	}
	l.giveCompaction(typ, o, seq)
	return typ, o, ""
}

func hasAll(o object, names ...string) bool {
	for _, n := range names {
		if _, ok := o[n]; !ok {
			return false
		}
	}
	return true
}

func hasAny(o object, names ...string) bool {
	for _, n := range names {
		if _, ok := o[n]; ok {
			return true
		}
	}
	return false
}

func (l *legacy) messageID(seq int64) string {
	return "legacy-message:" + l.session + ":" + strconv.FormatInt(seq, 10)
}

// steering was a user message inside of a turn.
func (l *legacy) steering(o object, seq int64) (any, string) {
	const never = "is not of a form that was ever written"
	turn, ok := whole(o["turn"])
	message, wrapped := o["message"]
	switch {
	case !ok || turn < 0:
		return o, never
	case wrapped && len(o) == 2:
		return message, ""
	case wrapped || len(o) != 3 || !hasAll(o, "content", "source"):
		return o, never
	}
	return object{"id": l.messageID(seq), "role": "user", "content": o["content"], "source": o["source"]}, ""
}

func oldTurnStart(o object) string {
	if !hasAny(o, "trigger") {
		return ""
	}
	turn, ok := whole(o["turn"])
	trigger, _ := o["trigger"].(object)
	kind, _ := trigger["kind"].(string)
	if !ok || turn < 1 || kind == "" || len(o) != 2 {
		return "is not of a form that was ever written"
	}
	delete(o, "trigger")
	return ""
}

func oldTurnEnd(o object) string {
	if turn, ok := whole(o["turn"]); !ok || turn < 1 {
		return "turn is no count above 0"
	}
	reason, _ := o["reason"].(object)
	kind, ok := reason["kind"].(string)
	if !ok {
		return "reason has no kind"
	}
	switch {
	case kind == "aborted" && len(reason) == 1:
		reason["reason"] = object{"kind": "legacy"}
	case kind == "disposed" && len(reason) == 1:
		o["reason"] = object{"kind": "aborted", "reason": object{"kind": "disposed"}}
	case kind == "disposed":
		return "reason holds an unlisted member"
	case kind == "error" && !hasAny(reason, "error"):
		failure, problem := oldFailure(reason)
		o["reason"] = object{"kind": "error", "error": failure}
		return problem
	}
	return ""
}

// oldFailure reads {kind, step, failure} or {kind, step, message, code?}.
func oldFailure(reason object) (any, string) {
	const none = "reason is not of a form that was ever written"
	if step, ok := whole(reason["step"]); !ok || step < 0 {
		return nil, none
	}
	if failure, ok := reason["failure"]; ok {
		if len(reason) != 3 {
			return nil, none
		}
		return failure, ""
	}
	message, ok := reason["message"].(string)
	code, has := reason["code"]
	text, isText := code.(string)
	switch {
	case !ok || has && !isText || len(reason) != 3 && !(has && len(reason) == 4):
		return nil, none
	case !has:
		text = "UNKNOWN"
	}
	return object{"message": message, "code": text}, ""
}

func oldHeader(o object) string {
	if o["reason"] == "fallback" {
		return `reason is "fallback", which every build refuses`
	}
	header, _ := o["header"].(object)
	if prefix, has := header["messagePrefix"]; has {
		if _, ok := prefix.([]any); !ok {
			return "header.messagePrefix is no list"
		}
		delete(header, "messagePrefix")
	}
	return ""
}

// giveRetry gives the retries of one chain one id.
func (l *legacy) giveRetry(o object, seq int64) {
	chain := fmt.Sprintf("%v\x00%v\x00%q\x00%q", o["turn"], o["step"], o["provider"], o["policyKey"])
	if l.retry == nil {
		l.retry = map[string]string{}
	}
	if id, has := o["retryId"]; has {
		if s, _ := id.(string); s != "" {
			l.retry[chain] = s
		}
		return
	}
	if l.retry[chain] == "" {
		l.retry[chain] = "legacy-retry:" + l.session + ":" + strconv.FormatInt(seq, 10)
	}
	o["retryId"] = l.retry[chain]
}

// giveCompaction gives a compaction without id one, from its start to its end.
func (l *legacy) giveCompaction(typ string, o object, seq int64) {
	switch typ {
	case "session/end-seed":
		l.compaction = ""
	case "compaction/start":
		if id, has := o["compactionId"]; has {
			if s, _ := id.(string); s != "" {
				l.compaction = s
			}
			return
		}
		l.compaction = "legacy-compaction:" + l.session + ":" + strconv.FormatInt(seq, 10)
		o["compactionId"] = l.compaction
	case "compaction/summary", "compaction/end":
		if l.compaction == "" {
			return
		}
		if !hasAny(o, "compactionId") {
			o["compactionId"] = l.compaction
		}
		if typ == "compaction/end" {
			l.compaction = ""
		}
	}
}

// markCheckpoint names the open compaction in the message that stands for what it removed.
func (l *legacy) markCheckpoint(message object) {
	source, _ := message["source"].(object)
	if l.compaction != "" && source["kind"] == "plugin" && source["plugin"] == "compact" && !hasAny(source, "compactionId") {
		source["compactionId"] = l.compaction
	}
}

// wrapResult puts a result that was written before messages had ids into one. The migration
// takes the id of a replaced result over; any id does for our checks.
func (l *legacy) wrapResult(o object, seq int64) {
	call, ok := o["callId"].(string)
	failed, ok2 := o["isError"].(bool)
	if !ok || !ok2 || hasAny(o, "message") || !hasAll(o, "content") {
		return
	}
	block := object{"type": "tool-result", "toolCallId": call, "content": o["content"], "isError": failed}
	o["message"] = object{
		"id": l.messageID(seq), "role": "user", "content": []any{block},
		"source": object{"kind": "tool", "callId": call},
	}
	delete(o, "callId")
	delete(o, "content")
	delete(o, "isError")
}
