package dsh

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// first are the rules that can settle a record before its members are looked at: done tells that
// they have.
func (p payload) first(name string, o object) (problem string, done bool) {
	switch name {
	case "subagent/descriptor":
		return descriptor(p, o)
	case "user/message", "@user":
		return legacyGoal(p, o)
	}
	return "", false
}

// rule is what a table of members cannot say, for a record whose members are right.
func (p payload) rule(name string, o object) string {
	switch name {
	case "compaction/prune", "compaction/summary":
		return shadowed(o)
	case "llm/retry":
		return retryBound(o)
	case "session-log-deepseek/delivery-accepted":
		return deliveryMarker(p, o)
	case "subagent/model-selection-policy":
		return distinctRoutes(o)
	case "subagent/descriptor":
		return pairedModel(o)
	case "tool/result":
		return resultIdentity(p, o)
	case "@header":
		return adapterDefaults(o)
	case "@plugin":
		return compactPlugin(o)
	case "@reference":
		return reference(p, o)
	case "@result":
		return oneResult(o)
	case "@schedule":
		return everyFive(o)
	case "@source":
		return references(o)
	case "@toolFilter":
		return allowOrDeny(o)
	}
	return ""
}

// descriptor: 0.1.1 writes version 2, and every later source wants 3. The edge from version 1
// to 2 lets other versions pass unread, and the next one refuses them.
func descriptor(p payload, o object) (string, bool) {
	v, ok := whole(o["version"])
	switch {
	case ok && v == 3:
		return "", false
	case !ok || v < 0:
		return "version is no count", true
	case p.edge == 2:
		return "", true
	}
	return fmt.Sprintf("version is %d, and the migration takes version 3 alone", v), true
}

// legacyGoal: before version 2 a goal change travelled in the source of a user message, and the
// edge to version 2 makes an event of it.
func legacyGoal(p payload, o object) (string, bool) {
	source, change := goalChange(o)
	if change == nil || p.source >= 2 {
		return "", false
	}
	for name := range o {
		switch name {
		case "id", "role", "content", "source":
		default:
			return fmt.Sprintf("holds the unlisted member %q", short([]byte(name))), true
		}
	}
	id, _ := o["id"].(string)
	if id == "" || o["role"] != "user" {
		return "id or role is not that of a user message", true
	}
	for name := range source {
		switch name {
		case "kind", "goalId", "revision", "round", "change":
		default:
			return fmt.Sprintf("source holds the unlisted member %q", short([]byte(name))), true
		}
	}
	if round, ok := whole(source["round"]); !ok || round != 0 {
		return "source.round of a goal change is not 0", true
	}
	if problem := p.record("goal/change", change, "source.change"); problem != "" {
		return problem, true
	}
	c := change.(object)
	ref, state := c["goal"], []string{"goal", "roundsStarted", "createdAt", "updatedAt"}
	if c["operation"] == "clear" {
		ref, state = c["cleared"], []string{"cleared", "clearedAt"}
	}
	r := ref.(object)
	if source["goalId"] != r["id"] || source["revision"] != r["revision"] {
		return "source names another goal than its change", true
	}
	want := object{}
	for _, name := range state {
		want[name] = c[name]
	}
	if !goalState(o["content"], want) {
		return "content is not the state of the goal that its change names", true
	}
	return "", true
}

// goalChange is the source of a message and the goal change in it, nil where there is none.
func goalChange(message object) (object, any) {
	source, _ := message["source"].(object)
	if source["kind"] != "goal" {
		return source, nil
	}
	return source, source["change"]
}

// goalState compares without regard to the order of members, which the client always writes alike.
func goalState(content any, want object) bool {
	list, _ := content.([]any)
	if len(list) != 1 {
		return false
	}
	block, _ := list[0].(object)
	text, _ := block["text"].(string)
	inner, ok := strings.CutPrefix(text, "<goal_state>")
	inner, ok2 := strings.CutSuffix(inner, "</goal_state>")
	if !ok || !ok2 || block["type"] != "text" || len(block) != 2 {
		return false
	}
	got, err := parseJSON([]byte(inner))
	return err == nil && reflect.DeepEqual(got, any(want))
}

func shadowed(o object) string {
	if o["llmStreamCall"] == true && o["rawOutput"] == nil {
		return "llmStreamCall stands without rawOutput"
	}
	r := o["shadowedRange"].(object)
	list := o["shadowedSeqs"].([]any)
	if !same(list[0], r["start"]) || !same(list[len(list)-1], r["end"]) {
		return "shadowedRange does not end where shadowedSeqs does"
	}
	return ""
}

func same(a, b any) bool {
	x, ok1 := whole(a)
	y, ok2 := whole(b)
	return ok1 && ok2 && x == y
}

func retryBound(o object) string {
	retry, _ := whole(o["retry"])
	if most, ok := whole(o["maxRetries"]); ok && retry > most {
		return "retry is above maxRetries"
	}
	return ""
}

func adapterDefaults(o object) string {
	defaults, _ := o["adapterDefaults"].(object)
	for name := range defaults {
		if _, ok := o["config"].(object)[name]; !ok {
			return fmt.Sprintf("adapterDefaults marks %s, which config does not hold", name)
		}
	}
	return ""
}

func compactPlugin(o object) string {
	_, id := o["compactionId"]
	_, command := o["sourceCommandId"]
	switch compact := o["plugin"] == "compact"; {
	case compact && !id:
		return "compactionId is missing"
	case !compact && (id || command):
		return "holds the unlisted member of a compaction"
	}
	return ""
}

func oneResult(o object) string {
	list := o["content"].([]any)
	if len(list) == 1 {
		if b, ok := list[0].(object); ok && b["type"] == "tool-result" && b["toolCallId"] == o["source"].(object)["callId"] {
			return ""
		}
	}
	return "is not exactly one result of the call that its source names"
}

// resultIdentity are two rules of version 3: an error belongs to a result that is one, and the
// id of a result of a call that never started has one form, whether the start is missing or not.
func resultIdentity(p payload, o object) string {
	failure, has := o["error"].(object)
	if p.edge < 3 || !has {
		return ""
	}
	message := o["message"].(object)
	if failure["code"] == "TOOL_NOT_STARTED" {
		call, _ := message["source"].(object)["callId"].(string)
		if _, ok := repairNumber(message["id"], call); !ok {
			return "message.id of a TOOL_NOT_STARTED result is not the one that a recovery writes"
		}
	}
	if message["content"].([]any)[0].(object)["isError"] != true {
		return "carries an error and a result that is none"
	}
	return ""
}

// repairNumber reads the number off the id of a result that a recovery made up.
func repairNumber(id any, call string) (int64, bool) {
	s, _ := id.(string)
	digits, ok := strings.CutPrefix(s, "interrupted-tool-result-"+call+"-")
	if !ok || digits == "" || len(digits) > 1 && digits[0] == '0' || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	return integer([]byte(digits))
}

func reference(p payload, o object) string {
	n := func(name string) int64 { v, _ := whole(o[name]); return v }
	if v, ok := whole(o["capturedFormatVersion"]); ok && v > int64(p.edge-1) {
		return "capturedFormatVersion is above the version of the log"
	}
	if n("retainedMessages") > n("originalMessages") || n("omittedMessages") != n("originalMessages")-n("retainedMessages") {
		return "the counts of messages do not add up"
	}
	if o["truncated"] != (n("omittedMessages") > 0 || n("omittedBytes") > 0) {
		return "truncated disagrees with what is omitted"
	}
	return ""
}

// references: the sessions that a message refers to stand in order, each once.
func references(o object) string {
	list, _ := o["references"].([]any)
	if o["kind"] != "session-reference" {
		return ""
	}
	seen := map[any]bool{}
	for i, e := range list {
		ref := e.(object)
		if n, _ := whole(ref["inputIndex"]); n != int64(i) {
			return "references are not numbered by their place"
		}
		if seen[ref["sessionId"]] {
			return "references name a session twice"
		}
		seen[ref["sessionId"]] = true
	}
	return ""
}

func everyFive(o object) string {
	if n, ok := whole(o["everySeconds"]); ok && o["kind"] == "every" && n < 300 {
		return "everySeconds is below 300"
	}
	return ""
}

func allowOrDeny(o object) string {
	if len(o) == 0 {
		return "neither allows nor denies"
	}
	return ""
}

func pairedModel(o object) string {
	if hasAny(o, "agentProvider") != hasAny(o, "agentModel") {
		return "names one of agentProvider and agentModel without the other"
	}
	return ""
}

func distinctRoutes(o object) string {
	seen := map[[2]any]bool{}
	for _, e := range o["allowedModels"].([]any) {
		route := [2]any{e.(object)["provider"], e.(object)["model"]}
		if seen[route] {
			return "allowedModels names a route twice"
		}
		seen[route] = true
	}
	return ""
}

// deliveryMarker: a marker of another generation is carried along unread.
func deliveryMarker(p payload, o object) string {
	v, _ := whole(o["sessionFormatVersion"])
	if v != int64(p.edge-1) {
		return ""
	}
	if s, _ := o["sessionId"].(string); s == "" {
		return "sessionId is no text or empty"
	}
	if n, ok := whole(o["throughSeq"]); !ok || n < 0 || n >= p.seq {
		return "throughSeq is not the number of an earlier record"
	}
	return ""
}

// parseJSON keeps numbers as they are written.
func parseJSON(raw []byte) (any, error) {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}
