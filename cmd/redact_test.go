package cmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// marker stands for what was said, asked, done and answered. Nothing may repeat it: reports are
// made to be shown to others.
const marker = "Zanzibar"

// secretive is a session whose every text, argument, result and setting holds the marker; it ends
// inside a call.
func secretive() string {
	m := marker
	return sessionText("id-m", "/srv/app", m+" ask "+m, m+" answer") +
		fmt.Sprintf(`{"type":"turn/start","seq":6,"time":1700000000007,"data":{"turn":2}}
{"type":"step/start","seq":7,"time":1700000000008,"data":{"turn":2,"step":1}}
{"type":"user/message","seq":8,"time":1700000000009,"data":{"id":"m-3","role":"user","content":[{"type":"text","text":"%[1]s"}],"source":{"kind":"user"}},"surfaceOp":"append"}
{"type":"request/header","seq":9,"time":1700000000010,"data":{"header":{"config":{"provider":"acme","model":"acme-1"},"system":"%[1]s","tools":[{"name":"shell","description":"%[1]s","parameters":{"type":"object"}}]},"reason":"initial"}}
{"type":"text-chunks","seq0":10,"time0":1700000000010,"data":{"turn":2,"step":1,"index":0,"dt":[1],"texts":["%[1]s ","and"]}}
{"type":"assistant/message","seq":12,"time":1700000000011,"data":{"turn":2,"step":1,"message":{"id":"m-4","role":"assistant","content":[{"type":"text","text":"%[1]s"},{"type":"tool-call","id":"call-1","name":"shell","arguments":"{\"command\":\"%[1]s\"}"},{"type":"tool-call","id":"call-2","name":"shell","arguments":"{\"command\":\"%[1]s\"}"}],"source":{"kind":"model","provider":"acme","model":"acme-1"}}},"surfaceOp":"append"}
{"type":"tool/call","seq":13,"time":1700000000012,"data":{"turn":2,"step":1,"callId":"call-1","name":"shell","arguments":"{\"command\":\"%[1]s\"}"}}
{"type":"tool/result","seq":14,"time":1700000000013,"data":{"turn":2,"step":1,"message":{"id":"m-5","role":"user","source":{"kind":"tool","callId":"call-1"},"content":[{"type":"tool-result","toolCallId":"call-1","content":[{"type":"text","text":"%[1]s"}],"isError":false}]}},"sourceEventSeqs":[13],"surfaceOp":"append"}
{"type":"todo/write","seq":15,"time":1700000000014,"data":{"todos":[{"content":"%[1]s","status":"pending"}]}}
{"type":"plugin/note","seq":16,"time":1700000000015,"data":{"text":"%[1]s","%[1]s":["%[1]s"]},"ignorable":true}
{"type":"tool/call","seq":17,"time":1700000000016,"data":{"turn":2,"step":1,"callId":"call-2","name":"shell","arguments":"{\"command\":\"%[1]s\"}"}}
`, m)
}

// spoilt are damages that lay the text open to whatever reports them.
func spoilt() map[string][]byte {
	text := secretive()
	lines := strings.SplitAfter(text, "\n")
	last := strings.LastIndex(text, marker)
	first := strings.Index(text, marker)
	with := func(old, new string) []byte { return []byte(strings.Replace(text, old, new, 1)) }
	out := map[string][]byte{
		"open":                     []byte(text),
		"torn behind the text":     []byte(text[:last+len(marker)]),
		"no newline":               []byte(text[:len(text)-1]),
		"torn, then gone on":       []byte(text[:first+len(marker)] + "\n" + strings.Join(lines[4:], "")),
		"torn and glued":           []byte(text[:first+len(marker)] + strings.Join(lines[4:], "")),
		"two on one line":          with("}\n{\"type\":\"turn/start\",\"seq\":6", "}{\"type\":\"turn/start\",\"seq\":6"),
		"split in the text":        with(marker+" ask", marker+"\nask"),
		"control character":        with(marker+" ask", marker+"\x01ask"),
		"no UTF-8":                 with(marker+" ask", marker+"\xff\xfeask"),
		"NUL inside":               with(marker+" ask", marker+strings.Repeat("\x00", 40)+"ask"),
		"NUL behind":               append([]byte(text), make([]byte, 100)...),
		"no object":                []byte(text + `"` + marker + "\"\n[\"" + marker + "\"]\n"),
		"plain text between":       []byte(lines[0] + marker + " was here\n" + strings.Join(lines[1:], "")),
		"header is text":           []byte(marker + "\n" + strings.Join(lines[1:], "")),
		"header is cut":            []byte(lines[0][:30] + "\n" + strings.Join(lines[1:], "")),
		"a record twice":           []byte(strings.Join(lines[:4], "") + lines[3] + strings.Join(lines[4:], "")),
		"two histories":            []byte(text + strings.Join(lines[10:], "")),
		"a gap":                    []byte(strings.Join(lines[:10], "") + strings.Join(lines[11:], "")),
		"no number":                with(`,"seq":8,`, `,`),
		"a result twice":           []byte(text + strings.Replace(lines[len(lines)-5], `"seq":14`, `"seq":18`, 1)),
		"a result of nothing":      with(`"callId":"call-1"},"content"`, `"callId":"call-9"},"content"`),
		"an empty id":              []byte(strings.ReplaceAll(text, `"call-1"`, `""`)),
		"an unknown event":         with(`,"ignorable":true`, ``),
		"an unknown member":        with(`"surfaceOp":"append"}`, `"surfaceOp":"append","extra":"`+marker+`"}`),
		"a member of another kind": with(`"content":[{"type":"text","text":"`+marker+`"}]`, `"content":"`+marker+`"`),
		"a message without shape":  with(`"role":"user","content"`, `"role":"`+marker+`","content"`),
		"a newer version":          with(`"version":0`, `"version":99`),
		"text where a number goes": with(`"seq":8`, `"seq":"`+marker+`"`),
		"text where a time goes":   with(`"time":1700000000009`, `"time":"`+marker+`"`),
		"another surface":          with(`"surfaceOp":"append"`, `"surfaceOp":"`+marker+`"`),
		"sources that are text":    with(`"sourceEventSeqs":[13]`, `"sourceEventSeqs":["`+marker+`"]`),
	}
	z := frames(out["open"], 4)
	flipped := bytes.Clone(z)
	flipped[len(flipped)-2] ^= 1
	for _, name := range []string{"open", "no newline", "split in the text", "no UTF-8", "plain text between", "a record twice", "an unknown member"} {
		out[name+", in frames"] = frames(out[name], 4)
	}
	out["a torn frame"] = z[:len(z)-7]
	out["text behind frames"] = append(bytes.Clone(z), `{"type":"user/message","text":"`+marker...)
	out["a frame that fails its check"] = flipped
	return out
}

// No command shows text of the conversation, in any form, whatever the damage and whether it
// succeeds or fails.
func TestNoTextOfTheConversationIsShown(t *testing.T) {
	formats := [][]string{{"--color", "always", "-v"}, {"-v"}, {"--json"}, {"--format", "jsonl"}}
	for name, data := range spoilt() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !bytes.Contains(data, []byte(marker)) && !strings.Contains(name, "frame") {
				t.Fatal("the case does not hold the marker")
			}
			dir := t.TempDir()
			file := filepath.Join(dir, "session.jsonl")
			if strings.Contains(name, "frame") {
				file += ".zstd"
			}
			if err := os.WriteFile(file, data, 0o666); err != nil {
				t.Fatal(err)
			}
			quiet := func(args ...string) {
				t.Helper()
				stdout, stderr, code := inProcess(t, string(data), append(args, "--case-dir", filepath.Join(dir, "cases"))...)
				all := stdout + stderr
				if i := strings.Index(all, marker); i >= 0 {
					t.Errorf("%q (status %d) shows text: …%s…", args, code, all[max(0, i-120):min(len(all), i+60)])
				}
				if all == "" {
					t.Errorf("%q says nothing", args)
				}
				if complaint := unfit(all, slices.Contains(args, "always")); complaint != "" {
					t.Errorf("%q: %s", args, complaint)
				}
			}
			for _, f := range formats {
				quiet(append([]string{"verify", file}, f...)...)
				quiet(append([]string{"verify", "--target-version", "0.2.0", "-"}, f...)...)
				quiet(append([]string{"scan", "--records", file}, f...)...)
				quiet(append([]string{"list", "--long", file}, f...)...)
				quiet(append([]string{"repair", "--dry-run", file}, f...)...)
			}
			for _, f := range reportFormats {
				quiet("verify", "--format", f, file)
				quiet("scan", "--format", f, "-")
				quiet("repair", "--dry-run", "--format", f, file)
			}
			// What syncs to disk is slow; half of the forms are enough.
			for i, f := range formats[1:3] {
				quiet(append([]string{"repair", "--output", filepath.Join(dir, fmt.Sprint("out", i)), file}, f...)...)
				quiet(append([]string{"repair", "--output", file, file}, f...)...) // cannot be written
				quiet(append([]string{"repair", file}, f...)...)
				quiet(append([]string{"undo", "--output", file, file}, f...)...) // likewise
				quiet(append([]string{"undo", file}, f...)...)
			}
		})
	}
}
