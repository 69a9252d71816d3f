package dsh

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// named are the records and ids that a later record may name.
type named struct {
	inherited int64   // number of the last mark of an inherited part
	human     []int64 // user messages that a person wrote
	commands  []int64 // command/run and command/done
	runs      map[string]bool
	dispatch  map[string]*dispatch
	retries   []retry
	started   map[string]bool
}

// dispatch is a call that a program made.
type dispatch struct {
	root, parent, name string
	arguments          [32]byte
	started, settled   bool
}

type retry struct {
	turn, step, retry int64
	provider, key, id string
}

func (t *target) dispatched(e *entry) {
	if t.turns.turn == none {
		t.broken(e, "%s stands outside of a turn", e.typ)
	}
	n := &t.named
	if n.dispatch == nil {
		n.dispatch = map[string]*dispatch{}
	}
	root, parent, child := e.text("rootCallId"), e.text("parentCallId"), e.text("subCallId")
	known := n.dispatch[child]
	if known != nil && known.root != root {
		t.broken(e, "%s gives call %s another root", e.typ, quoted(child))
		return
	}
	if above := n.dispatch[parent]; parent != root && (above == nil || above.root != root) {
		t.broken(e, "%s names a parent that does not belong to its root", e.typ)
		return
	}
	raw, _ := json.Marshal(asNumbers(e.obj()["arguments"]))
	now := dispatch{root, parent, e.text("name"), sha256.Sum256(raw), true, false}
	switch start := strings.HasSuffix(e.typ, "-start"); {
	case start && known != nil && known.started:
		t.broken(e, "%s starts call %s a second time", e.typ, quoted(child))
	case start:
		n.dispatch[child] = &now
	case known == nil || !known.started || *known != now:
		t.broken(e, "%s does not match one start of call %s", e.typ, quoted(child))
	default:
		known.settled = true
	}
}

// asNumbers reads numbers as the client does, for whom 2.5 and 2.50 are the same.
func asNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if x, err := v.Float64(); err == nil {
			return x
		}
	case []any:
		for i := range v {
			v[i] = asNumbers(v[i])
		}
	case object:
		for name := range v {
			v[name] = asNumbers(v[name])
		}
	}
	return v
}

// retried: retries of one turn, step, provider and policy are counted, and share an id that no
// other chain has.
func (t *target) retried(e *entry, turn, step int64) {
	s, n := &t.turns, &t.named
	current := s.step
	if current == none {
		current = s.nextStep - 1
	}
	r := retry{turn, step, e.num("retry"), e.text("provider"), e.text("policyKey"), e.text("retryId")}
	switch {
	case s.turn == none || turn != s.turn || step != current:
		t.broken(e, "llm/retry of step %d in turn %d stands where %s", step, turn, s.where())
	case !s.hasProvider || r.provider != s.provider:
		t.broken(e, "llm/retry names another provider than the request/header in front of it")
	default:
		want, id, used := int64(1), "", false
		for _, old := range n.retries {
			if old.turn == turn && old.step == step && old.provider == r.provider && old.key == r.key {
				want, id = old.retry+1, old.id
			}
			used = used || old.id == r.id
		}
		switch {
		case r.retry != want:
			t.broken(e, "llm/retry counts %d where %d comes next", r.retry, want)
		case want > 1 && id != r.id, want == 1 && used:
			t.broken(e, "llm/retry changes the id of its chain, or takes that of another")
		}
	}
	n.retries = append(n.retries, r)
}

func (t *target) retryStarted(e *entry, turn, step int64) {
	n := &t.named
	id, count := e.text("retryId"), e.num("retry")
	i := slices.IndexFunc(n.retries, func(r retry) bool { return r.id == id && r.retry == count })
	key := fmt.Sprintf("%d %s", count, id)
	switch {
	case i < 0:
		t.broken(e, "llm/retry-started pairs with no llm/retry")
	case n.retries[i].turn != turn || n.retries[i].step != step:
		t.broken(e, "llm/retry-started names another turn or step than its llm/retry")
	case n.started[key]:
		t.broken(e, "llm/retry-started stands twice")
	}
	if n.started == nil {
		n.started = map[string]bool{}
	}
	n.started[key] = true
}

func holds(list []int64, seq int64) bool { _, ok := slices.BinarySearch(list, seq); return ok }

func (t *target) titled(e *entry) {
	seqs, _ := e.obj()["messageSeqs"].([]any)
	source, _ := e.obj()["source"].(object)
	if e.typ == "session/title" && (len(seqs) == 0) != (source["kind"] == "user") {
		t.broken(e, "session/title cites messages exactly when no user gave it, and here it is the other way")
		return
	}
	for _, seq := range flatten(seqs) {
		if !holds(t.named.human, seq) {
			t.broken(e, "%s cites record %d, which is no message of a user", e.typ, seq)
			return
		}
	}
	if e.typ == "session/title-llm-request" && !e.bad && !titleRequest(e.obj()) {
		t.broken(e, "session/title-llm-request does not hold the one message that its plugin makes")
	}
}

func titleRequest(o object) bool {
	messages, _ := o["messages"].([]any)
	if len(messages) != 1 {
		return false
	}
	m, _ := messages[0].(object)
	source, _ := m["source"].(object)
	content, _ := m["content"].([]any)
	if m["role"] != "user" || source["kind"] != "plugin" || source["plugin"] != "dsh-session-title-llm" || len(content) != 1 {
		return false
	}
	block, _ := content[0].(object)
	return block["type"] == "text"
}

func (t *target) commandDone(e *entry) {
	id := e.text("commandId")
	if !t.named.runs[id] {
		t.broken(e, "command/done of %s has no command/run", quoted(id))
	} else if _, cites := e.obj()["sourceEventSeq"]; cites && (e.text("kind") != "success" || holds(t.named.commands, e.num("sourceEventSeq"))) {
		t.broken(e, "command/done cites a record that it cannot come from")
	}
	t.named.commands = append(t.named.commands, e.seq)
}

// said notes messages that titles may cite, and holds the checkpoint of a compaction against it.
func (t *target) said(e *entry) {
	source, _ := e.obj()["source"].(object)
	if source["kind"] == "user" {
		t.named.human = append(t.named.human, e.seq)
	}
	if !e.appends() && source["kind"] == "plugin" && source["plugin"] == "compact" && !t.turns.compaction.owns(source) {
		t.broken(e, "a message stands for compacted ones, and no compaction with its id is open")
	}
}
