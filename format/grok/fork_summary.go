package grok

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/sessfix/sessfix/format"
)

// pedigree is what a child says of itself and of where it comes from.
type pedigree struct {
	q              format.ForkRequest
	cut            bool // turns of its parent are missing
	parent         string
	parentCWD, cwd string
	object         *object // its parent's summary
	updates, items int64
}

func newPedigree(q format.ForkRequest, cut bool) (*pedigree, error) {
	data, err := format.ReadSmall(q.Dir, summaryName, maxSummary)
	if err != nil {
		return nil, format.Refuse(-1, "its summary cannot be read: %v", err)
	}
	p := &pedigree{q: q, cut: cut}
	var v struct{ Info struct{ ID, CWD *string } }
	var ok bool
	if p.object, ok = openObject(data); !ok || json.Unmarshal(data, &v) != nil || v.Info.ID == nil || v.Info.CWD == nil {
		return nil, format.Refuse(-1, "its summary does not say who the session is")
	}
	if _, err := chatVersion(p.object); err != nil {
		return nil, format.Refuse(-1, "the summary gives the history a version that is not known: %s", p.object.get("chat_format_version"))
	}
	p.parent, p.parentCWD, p.cwd = *v.Info.ID, *v.Info.CWD, *v.Info.CWD
	if q.CWD != "" {
		p.cwd = q.CWD
	}
	return p, nil
}

// moved tells whether the child works in a folder of its own.
func (p *pedigree) moved() bool { return p.cwd != p.parentCWD }

func (p *pedigree) kind() string {
	if p.moved() {
		return "worktree"
	}
	return "fork"
}

// What a parent's summary says and its child's does not: what is about the parent alone, and what of its talk may be cut off.
var (
	own  = []string{"attempt_id", "collection_id", "request_id", "git_root_dir", "git_remotes", "hidden", "fork_context_source", "fork_parent_prompt_id", "inherited_prefix_len", "source_workspace_dir", "prompt_display_cwd"}
	late = []string{"last_turn_summary", "last_turn_summary_prompt_id", "last_recap"}
)

// summary is the child's: its parent's, with what differs patched in.
func (p *pedigree) summary() string {
	o := p.object
	if info, ok := openObject(o.get("info")); ok {
		info.put("id", quoted(p.q.ID))
		info.put("cwd", quoted(p.cwd))
		o.put("info", string(info.bytes()))
	}
	now := quoted(p.q.Now.UTC().Format(time.RFC3339Nano))
	for _, key := range own {
		o.take(key)
	}
	if p.cut {
		for _, key := range late {
			o.take(key)
		}
	}
	for _, m := range []member{
		{"created_at", now}, {"updated_at", now}, {"num_messages", strconv.FormatInt(p.updates, 10)}, {"num_chat_messages", strconv.FormatInt(p.items, 10)},
		{"parent_session_id", quoted(p.parent)}, {"forked_at", now}, {"next_trace_turn", "0"}, {"chat_format_version", current}, {"session_kind", quoted(p.kind())},
	} {
		o.put(m.key, m.value)
	}
	if p.moved() {
		o.put("source_workspace_dir", quoted(p.parentCWD))
		o.put("prompt_display_cwd", quoted(p.parentCWD))
	}
	return string(o.bytes())
}

// status tells the client that the session is a fork, which it then tells the model at the next prompt.
func (p *pedigree) status() string {
	s := "{\n  \"kind\": " + quoted(p.kind()) + ",\n  \"source_cwd\": " + quoted(p.parentCWD) + ",\n  \"new_cwd\": " + quoted(p.cwd)
	if p.moved() {
		s += ",\n  \"source_workspace_dir\": " + quoted(p.parentCWD) + ",\n  \"prompt_display_cwd\": " + quoted(p.parentCWD)
	}
	if p.cut {
		s += ",\n  \"truncated\": true"
	}
	return s + "\n}"
}
