package dsh_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/dsh"
)

// toFour takes a log of version 3 that lies at a path to version 4.
func toFour(t *testing.T, path, log string) (string, error) {
	t.Helper()
	c := &chain{}
	src := sourceOf(log)
	src.Path = path
	stage, err := dsh.Format{}.Upgrades()[3].Begin(src)
	if err != nil {
		t.Fatal(err)
	}
	c.stages = []format.Stage{stage}
	for l := range src.Records() {
		if err := (link{c, 0}).Put(l); err != nil {
			return "", err
		}
	}
	err = stage.End(link{c, 1})
	return c.out.String(), err
}

// TestUpgradeFour: what the source of version 4 says of each kind of record.
func TestUpgradeFour(t *testing.T) {
	for _, c := range []struct{ name, record, want string }{
		{"result", `tool/result {"turn":1,"step":1,"message":{"x":1,"id":"m","role":"user","content":[{"isError":true,"type":"tool-result","y":{"a":2},"toolCallId":"k","content":[{"type":"song","z":3}]}],"source":{"kind":"tool","callId":"k"}},"error":{"name":"E","code":"C"}} S`,
			`"data":{"turn":1,"step":1,"message":{"plugin:message:x":1,"id":"m","role":"tool","content":[{"type":"plugin:song","z":3}],"source":{"kind":"tool","callId":"k"},"toolCallId":"k","isError":true,"plugin:result:y":{"a":2}},"error":{"name":"E","code":"C"}},"surfaceOp":"append"}`},
		{"compact", message("[]", `{"kind":"plugin","plugin":"compact","compactionId":"z"}`), `"source":{"kind":"compact-checkpoint","compactionId":"z"}`},
		{"known plugin", message("[]", `{"plugin":"time-context","kind":"plugin"}`), `"source":{"kind":"time-context"}`},
		{"other plugin", message("[]", `{"kind":"plugin","plugin":"tide"}`), `"source":{"kind":"plugin:tide"}`},
		{"prompt of a user", message("[]", `{"kind":"plugin","plugin":"@deepseek-ai/dsh-system-prompt"}`), `"source":{"kind":"runtime-context"}`},
		{"prompt", `system/message {"turn":1,"step":1,"message":{"id":"s","role":"system","source":{"kind":"plugin","plugin":"@deepseek-ai/dsh-system-prompt"},"content":[]}} S`, `"source":{"kind":"system-prompt"}`},
		{"no plugin", message("[]", `{"kind":"user","plugin":"x"}`), `"source":{"kind":"user","plugin":"x"}`},
		{"inbox", `agent/inbox/spliced {"target":"next-step","start":0,"inserted":[{"id":"i","role":"user","content":[{"type":"song"}],"source":{"kind":"plugin","plugin":"tools-ptc"}}]}`, `"content":[{"type":"plugin:song"}],"source":{"kind":"ptc-mode"}`},
		{"stream", `assistant/attempt {"turn":1,"step":1,"stream":[{"type":"chunk","time":1,"chunk":{"type":"block-start","blockType":"song"}},{"type":"chunk","time":1,"chunk":{"type":"block-end","block":{"type":"song"}}}]}`, `"blockType":"plugin:song"}},{"type":"chunk","time":1,"chunk":{"type":"block-end","block":{"type":"plugin:song"}`},
		{"foreign", `tide/turned {"a":1} "ignorable":true`, `{"type":"plugin:tide/turned","seq":2,"time":9,"data":{"a":1},"ignorable":true}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := logOf(3, "", open+c.record)
			got, err := toFour(t, "session.v3.jsonl", log)
			if err != nil {
				t.Fatal(err)
			}
			if line := strings.Split(got, "\n")[3]; !strings.Contains(line, c.want) {
				t.Errorf("got  %s\nwant %s", line, c.want)
			}
		})
	}
	for name, record := range map[string]string{
		"required type": `tide/turned {}`,
		"two results":   `tool/result {"turn":1,"step":1,"message":{"id":"m","role":"user","content":[],"source":{"kind":"tool","callId":"k"}}} S`,
		"nested":        `tool/result {"turn":1,"step":1,"message":{"id":"m","role":"user","content":[{"type":"tool-result","toolCallId":"k","content":[{"type":"tool-result"}]}],"source":{"kind":"tool","callId":"k"}}} S`,
		"no plugin":     message("[]", `{"kind":"plugin"}`),
		"deferred tool": `request/header {"header":{"tools":[{"deferLoading":true}]}}`,
	} {
		if got, err := toFour(t, "session.v3.jsonl", logOf(3, "", open+record)); err == nil {
			t.Errorf("%s: taken: %s", name, got)
		}
	}
}

// TestUpgradeCatalog: sub-agents of the session that lie in its root are told of, where its own catalog does not.
func TestUpgradeCatalog(t *testing.T) {
	root := t.TempDir()
	put := func(project, id, name, header, text string) string {
		path := filepath.Join(root, project, id, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		version := 0
		if strings.Contains(name, "v2") {
			version = 2
		}
		if err := os.WriteFile(path, []byte(logOf(version, header, text)), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sub := func(id, more string) string { return `"id":"` + id + `",` + more + `"delegationDepth":1` }
	mine := `"parentSession":"tide","origin":"subagent",`
	put("--w--", "late", "session.jsonl", sub("late", mine+`"createdAt":20,`), `subagent/descriptor {"version":2,"mode":"one-shot","provider":"p","label":"wash"}`)
	put("--x--", "early", "session.jsonl", sub("early", mine+`"createdAt":10,`), `subagent/descriptor {"version":1,"provider":"p","label":"old"}`)
	put("--x--", "grown", "session.jsonl", sub("grown", mine+`"createdAt":15,`), `subagent/descriptor {"version":2,"mode":"one-shot","provider":"p"}`)
	put("--x--", "grown", "session.v2.jsonl", sub("grown", mine+`"createdAt":15,"isSeeded":true,`), `subagent/descriptor {"version":3,"mode":"one-shot","provider":"parent"}`+"\n"+`session/end-seed {"inherited":true}`)
	put("--x--", "twice", "session.jsonl", sub("twice", mine+`"createdAt":30,"seedLength":1,`), `subagent/descriptor {"version":3,"mode":"one-shot","provider":"parent"}`+"\n"+`subagent/descriptor {"version":3,"mode":"continuable","provider":"p","label":"\u0065bb"}`)
	put("--x--", "fork", "session.jsonl", sub("fork", `"parentSession":"tide","createdAt":5,`), "")
	put("--x--", "other", "session.jsonl", sub("other", `"parentSession":"moon","origin":"subagent","createdAt":5,`), "")
	path := filepath.Join(root, "--w--", "tide", "session.v3.jsonl")
	got, err := toFour(t, path, logOf(3, "", `subagent/catalog {"version":0,"childId":"late","childCreatedAt":20,"mode":"one-shot"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"type":"subagent/catalog","seq":1,"time":9,"data":{"version":0,"childId":"early","childCreatedAt":10,"mode":"continuable","label":"old"}}`,
		`{"type":"subagent/catalog","seq":2,"time":9,"data":{"version":1,"childId":"grown","childCreatedAt":15,"mode":"unknown"}}`,
		`{"type":"subagent/catalog","seq":3,"time":9,"data":{"version":0,"childId":"twice","childCreatedAt":30,"mode":"continuable","label":"\u0065bb"}}`,
	}
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if strings.Join(lines[2:], "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(lines[2:], "\n"))
	}
	if _, err := toFour(t, path, logOf(3, "", `subagent/catalog {"version":0,"childId":"late","childCreatedAt":21,"mode":"one-shot"}`)); err == nil {
		t.Error("a catalog that contradicts a child is taken")
	}
	if got, _ := toFour(t, filepath.Join(root, "tide.jsonl"), logOf(3, "", open)); strings.Contains(got, "catalog") {
		t.Errorf("a copy elsewhere has children: %s", got)
	}
}
