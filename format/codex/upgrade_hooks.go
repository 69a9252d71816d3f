package codex

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/sessfix/sessfix/scan"
)

// hookRun finds the words of a hook that the client put into the talk, and the run that they are from.
var hookRun = regexp.MustCompile(`(?s)^<hook_prompt hook_run_id="([^"]*)">(.*)</hook_prompt>$`)

var entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&apos;", "'", "&amp;", "&")

// hook writes, behind a message that a hook put into the talk, the item by which it is shown.
func (p *pages) hook(r *record, kind string) error {
	id, ok := r.member("id")
	if kind != "message" || string(r.text("role")) != "user" || !ok || r.Raw[id.from] != '"' {
		return nil
	}
	text, images := said(r.Raw, r.inner)
	found := hookRun.FindSubmatch(bytes.TrimSpace(scan.Unescape(nil, text)))
	if found == nil || len(images) > 0 {
		return nil
	}
	if err := p.within(r); err != nil {
		return err
	}
	p.thought = nil
	t, stamp, err := r.when()
	if err != nil {
		return err
	}
	quote := func(b []byte) string {
		var out bytes.Buffer
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		_ = e.Encode(entities.Replace(string(b)))
		return strings.TrimSpace(out.String())
	}
	return p.add(r.out, stamp, `{"type":"item_completed","thread_id":"`+string(p.thread)+`","turn_id":"`+string(p.turn)+
		`","item":{"type":"HookPrompt","id":`+string(id.of(r.Raw))+`,"fragments":[{"text":`+quote(found[2])+`,"hookRunId":`+quote(found[1])+
		`}]},"completed_at_ms":`+num(t.UnixMilli())+`}`, "a hook's words are shown by such an item")
}
