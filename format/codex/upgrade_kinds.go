package codex

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/sessfix/sessfix/scan"
)

func userItem(d *draft) (string, string, []byte) {
	var content []string
	if text := d.need("message", '"'); len(bytes.TrimSpace(scan.Unescape(nil, unquoted([]byte(text))))) > 0 {
		elements := d.value("text_elements")
		if elements == "" {
			elements = "[]"
		}
		content = append(content, `{"type":"text","text":`+text+`,"text_elements":`+elements+`}`)
	}
	each := func(list, details, kind, address string) {
		values, detail := d.strings(list), d.strings(details)
		for i, v := range values {
			entry := `{"type":"` + kind + `","` + address + `":` + v
			if i < len(detail) && detail[i] != "null" {
				entry += `,"detail":` + detail[i]
			}
			content = append(content, entry+"}")
		}
	}
	each("images", "image_details", "image", "image_url")
	each("local_images", "local_image_details", "local_image", "path")
	each("audio", "", "audio", "audio_url")
	each("local_audio", "", "local_audio", "path")
	d.put("client_id", d.value("client_id"))
	d.put("content", "["+strings.Join(content, ",")+"]")
	return "UserMessage", "", nil
}

// strings are the elements of a list, as they are written.
func (d *draft) strings(name string) (out []string) {
	if name == "" {
		return nil
	}
	v := d.value(name)
	list, ok := parts([]byte(v), 0)
	d.bad = d.bad || v != "" && (!ok || v[0] != '[')
	for _, e := range list {
		out = append(out, string(e.of([]byte(v))))
	}
	return out
}

func agentItem(d *draft) (string, string, []byte) {
	text := d.need("message", '"')
	if text == `""` {
		return "", "", nil
	}
	d.put("content", `[{"type":"Text","text":`+text+`}]`)
	if phase := d.r.text("phase"); string(phase) == "commentary" || string(phase) == "final_answer" {
		d.put("phase", d.value("phase"))
	}
	d.put("memory_citation", d.value("memory_citation"))
	return "AgentMessage", "", nil
}

func compactionItem(*draft) (string, string, []byte) { return "ContextCompaction", "", nil }

func fileItem(d *draft) (string, string, []byte) {
	id := d.need("call_id", '"')
	d.put("changes", d.value("changes"))
	d.put("status", d.need("status", '"'))
	d.filled("stdout")
	d.filled("stderr")
	return "FileChange", id, d.turn()
}

// turn is the one that the event names.
func (d *draft) turn() []byte {
	return unquoted([]byte(d.value("turn_id")))
}

func mcpItem(d *draft) (string, string, []byte) {
	id := d.need("call_id", '"')
	call := []byte(d.need("invocation", '{'))
	told := []byte(d.need("result", '{'))
	of := func(raw []byte, name string) string {
		list, _ := parts(raw, 0)
		if p, ok := named(list, name); ok {
			return string(p.of(raw))
		}
		return ""
	}
	server, tool, arguments := of(call, "server"), of(call, "tool"), of(call, "arguments")
	if arguments == "" {
		arguments = "null"
	}
	d.put("server", server)
	d.put("tool", tool)
	d.put("arguments", arguments)
	for _, m := range [][2]string{
		{"connector_id", "connectorId"}, {"mcp_app_resource_uri", "mcpAppResourceUri"}, {"link_id", "linkId"}, {"app_name", "appName"},
		{"action_name", "actionName"}, {"plugin_id", "pluginId"}, {"read_only_hint", "readOnlyHint"},
	} {
		d.put(m[1], d.value(m[0]))
	}
	good, bad := of(told, "Ok"), of(told, "Err")
	switch {
	case good != "":
		status := `"completed"`
		if of([]byte(good), "isError") == "true" || of([]byte(good), "is_error") == "true" {
			status = `"failed"`
		}
		d.put("status", status)
		d.put("result", good)
	case bad != "":
		d.put("status", `"failed"`)
		d.put("error", `{"message":`+bad+`}`)
	}
	d.put("duration", d.need("duration", '{'))
	d.bad = d.bad || server == "" || tool == "" || good == "" && bad == "" || good == "" && bad[0] != '"'
	return "McpToolCall", id, nil
}

func searchItem(d *draft) (string, string, []byte) {
	id := d.need("call_id", '"')
	d.put("query", d.need("query", '"'))
	d.put("action", d.need("action", '{'))
	d.put("results", d.value("results"))
	return "WebSearch", id, nil
}

func imageItem(d *draft) (string, string, []byte) {
	id := d.need("call_id", '"')
	or := func(v string) string {
		if v == "" {
			return "null"
		}
		return v
	}
	status, prompt, result := d.need("status", '"'), or(d.value("revised_prompt")), d.need("result", '"')
	d.body.WriteString(`,"kind":"image_gen.generation"`)
	d.put("status", status)
	d.put("revisedPrompt", prompt)
	d.put("result", result)
	d.put("transparentBackground", or(d.value("transparent_background")))
	d.put("failure", or(d.value("failure")))
	d.put("savedPath", d.value("saved_path"))
	d.put("generationId", "null")
	return "Extension", id, nil
}

func enteredItem(d *draft) (string, string, []byte) {
	target := d.value("target")
	if target == "" {
		target = `{"type":"custom","instructions":` + d.need("prompt", '"') + `}`
	}
	hint := d.value("user_facing_hint")
	if hint == "" {
		hint = `"Review requested."`
	}
	d.put("target", target)
	d.put("user_facing_hint", hint)
	return "EnteredReviewMode", d.value("item_id"), d.turn()
}

func exitedItem(d *draft) (string, string, []byte) {
	output := d.value("review_output")
	if output == "" {
		output = "null"
	}
	d.put("review_output", output)
	return "ExitedReviewMode", d.value("item_id"), d.turn()
}

func helperItem(d *draft) (string, string, []byte) {
	for _, name := range []string{"model", "reasoning_effort"} {
		d.put(name, d.value(name))
	}
	id := d.need("event_id", '"')
	for _, name := range []string{"kind", "agent_thread_id", "agent_path"} {
		d.put(name, d.need(name, '"'))
	}
	return "SubAgentActivity", id, nil
}

func commandItem(d *draft) (string, string, []byte) {
	id, turn := d.need("call_id", '"'), d.need("turn_id", '"')
	for _, name := range []string{"plugin_id", "script_path", "process_id"} {
		d.put(name, d.value(name))
	}
	d.put("command", d.need("command", '['))
	d.put("cwd", d.folder())
	d.put("parsed_cmd", d.need("parsed_cmd", '['))
	source := d.value("source")
	if source == "" {
		source = `"agent"`
	}
	d.put("source", source)
	d.put("status", d.need("status", '"'))
	d.filled("aggregated_output")
	d.put("exit_code", d.need("exit_code", '0'))
	d.put("duration", d.need("duration", '{'))
	return "CommandExecution", id, unquoted([]byte(turn))
}

// folder is the working directory of a command, as the address of a file.
func (d *draft) folder() string {
	v := d.need("cwd", '"')
	plain := scan.Unescape(nil, unquoted([]byte(v)))
	if bytes.HasPrefix(plain, []byte("file:")) {
		return v
	}
	if !bytes.HasPrefix(plain, []byte("/")) {
		d.bad = true
		return v
	}
	quoted, _ := json.Marshal((&url.URL{Scheme: "file", Path: string(plain)}).String())
	return string(quoted)
}

func dynamicItem(d *draft) (string, string, []byte) {
	id, turn := d.need("call_id", '"'), d.need("turn_id", '"')
	d.put("namespace", d.value("namespace"))
	d.put("tool", d.need("tool", '"'))
	arguments := d.value("arguments")
	if arguments == "" {
		arguments = "null"
	}
	d.put("arguments", arguments)
	success := d.value("success")
	status := map[string]string{"true": `"completed"`, "false": `"failed"`}[success]
	d.put("status", status)
	d.put("content_items", d.need("content_items", '['))
	d.put("success", success)
	d.put("error", d.value("error"))
	d.put("duration", d.need("duration", '{'))
	d.bad = d.bad || status == ""
	return "DynamicToolCall", id, unquoted([]byte(turn))
}
