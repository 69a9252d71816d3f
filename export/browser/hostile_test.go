package browser_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hostile are texts that would like to be something else.
var hostile = []string{
	`</script><img src=x onerror=alert(1)>`, `<!--<script>`, `<script>alert(2)</script>`, "\u2028alert(3)//", "a\u202Etxt.exe", `"><svg onload=alert(4)>`,
	`<a href="javascript:alert(5)">x</a>`, "http://127.0.0.1:9/asked", `{records}`, strings.Repeat("W", 5000), "\x1b[31mred", "<style>*{display:none}</style>",
}

// write writes a log in the form of pi's.
func write(t testing.TB, path string, each func(line func(format string, args ...any), message func(id, parent any, inner string))) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	n := 0
	each(line, func(id, parent any, inner string) {
		n++
		line(`{"type":"message","id":%s,"parentId":%s,"timestamp":"2026-05-07T%02d:%02d:%02d.000Z","message":{%s,"timestamp":%d}}`,
			quote(id), quote(parent), 9+n/3600%10, n/60%60, n%60, inner, 1778146203995+n)
	})
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func quote(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\u2028`, "\u2028").Replace(string(b))
}

func says(role, text string) string {
	return fmt.Sprintf(`"role":%q,"content":[{"type":"text","text":%s}]`, role, quote(text))
}

const usage = `"api":"x","provider":"p","model":"m","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`

func asks(text string, calls ...[2]string) string {
	blocks := []string{fmt.Sprintf(`{"type":"text","text":%s}`, quote(text))}
	for _, c := range calls {
		blocks = append(blocks, fmt.Sprintf(`{"type":"toolCall","id":%s,"name":%s,"arguments":{%s:%s}}`, quote(c[0]), quote(c[1]), quote(c[1]), quote(text)))
	}
	stop := "toolUse"
	if len(calls) == 0 {
		stop = "stop"
	}
	return fmt.Sprintf(`"role":"assistant","content":[%s],%s,"stopReason":%q`, strings.Join(blocks, ","), usage, stop)
}

func answers(call, name, text string) string {
	return fmt.Sprintf(`"role":"toolResult","toolCallId":%s,"toolName":%s,"content":[{"type":"text","text":%s}],"isError":false`, quote(call), quote(name), quote(text))
}

// Text of a session stays text, in whatever place it stands: an id, a tool's name, a path, what is said. What cannot be seen is
// spelled out, and nothing makes the page wider than it is.
func TestHostileText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "<img src=x onerror=alert(6)>", "<b>\u202Eb.jsonl")
	write(t, path, func(line func(string, ...any), message func(any, any, string)) {
		line(`{"type":"session","version":3,"id":%s,"timestamp":"2026-05-07T09:30:00.000Z","cwd":%s}`, quote(hostile[0]), quote(hostile[2]))
		var parent any
		for i, h := range hostile {
			id, answer, result := fmt.Sprint(i, h), fmt.Sprint("answer ", i, h), fmt.Sprint("result ", i, h)
			message(id, parent, says("user", h))
			message(answer, id, asks(h, [2]string{"call " + h, h}))
			parent = answer
			if i%3 > 0 {
				message(result, answer, answers("call "+h, h, h))
				parent = result
			}
		}
		line(`{"type":"</script><b>torn`)
	})
	for _, with := range [][]string{nil, {"--show-content"}} {
		b := look(t, export(t, path, with...), "light", 1360, 900)
		// Every line of the list is looked at, with what is known of it.
		lines := value[int](b, `(async () => {
			const list = document.getElementById("records");
			let n = 0;
			list.querySelector(".line").focus();
			for (;; n++) {
				const before = document.activeElement.index;
				document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: n ? "j" : "Home", bubbles: true }));
				if (n && document.activeElement.index === before) break;
				const bad = document.querySelectorAll("main img, main a, main b[onload], main script, #detail svg:not(.icon), .text *:not(.esc)");
				if (bad.length) throw new Error("markup: " + bad[0].outerHTML.slice(0, 200));
			}
			return n;
		})()`)
		if lines < 3*len(hostile)-len(hostile)/3 {
			t.Errorf("only %d lines were looked at", lines)
		}
		if wide := value[int](b, `document.documentElement.scrollWidth`); wide > 1360 {
			t.Errorf("the page is %d wide", wide)
		}
		seen := value[string](b, `document.body.textContent`)
		for _, has := range []string{`</script><img src=x onerror=alert(1)>`, `\u{202e}`} {
			if !strings.Contains(seen, has) {
				t.Errorf("the page does not show %s", has)
			}
		}
		if strings.ContainsAny(seen, "\u202e\x1b") {
			t.Error("the page holds characters that turn or colour text")
		}
		if title := value[string](b, `document.title`); !strings.Contains(title, `<img src=x`) {
			t.Errorf("the title is %q", title)
		}
		b.do(b.media("print", "light"))
		b.wait(`!document.getElementById("paper").hidden`)
		if n := value[int](b, `document.querySelectorAll("#paper img, #paper a, #paper script").length`); n > 0 {
			t.Errorf("on paper there are %d elements of the session's", n)
		}
		b.do(b.media("", "light"), chromedpViewport(400))
		if wide := value[int](b, `document.documentElement.scrollWidth`); wide > 400 {
			t.Errorf("narrow the page is %d wide", wide)
		}
	}
}

// Images are shown of the four types that browsers draw and do not run, out of the page itself; others are told by their length.
func TestImages(t *testing.T) {
	const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	path := filepath.Join(t.TempDir(), "images.jsonl")
	write(t, path, func(line func(string, ...any), message func(any, any, string)) {
		line(`{"type":"session","version":3,"id":"images","timestamp":"2026-05-07T09:30:00.000Z","cwd":"/w"}`)
		message("b0000001", nil, fmt.Sprintf(`"role":"user","content":[{"type":"text","text":"look"},{"type":"image","data":%q,"mimeType":"image/png"},`+
			`{"type":"image","data":"PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+","mimeType":"image/svg+xml"},{"type":"image","data":"x\" onerror=\"alert(1)","mimeType":"image/png"}]`, dot))
		message("b0000002", "b0000001", asks("a dot"))
	})
	for _, content := range []bool{true, false} {
		var with []string
		if content {
			with = append(with, "--show-content")
		}
		b := look(t, export(t, path, with...), "light", 1000, 800)
		b.keys("rj")
		want := map[bool]string{true: "data:image/png;base64," + dot, false: ""}[content]
		if got := value[string](b, `[...document.images].map((i) => i.src).join(" ")`); got != want {
			t.Errorf("content %t: the images are %q", content, got)
		}
		if n := value[int](b, `document.querySelectorAll("#detail .block-image").length`); n != 3 {
			t.Errorf("content %t: %d images are told of", content, n)
		}
		if content && value[int](b, `document.images[0].decode().then(() => document.images[0].naturalWidth)`) != 1 {
			t.Error("the image is not drawn")
		}
	}
}

// A script that somebody puts into the page does not run, no style and no image is loaded, and the page's own script could not
// make markup of a text.
func TestInjectedScriptIsBlocked(t *testing.T) {
	file := export(t, "corrupt/calls-started")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const bad = `<body><script>document.title = "owned"; alert(1)</script><img src="x.png" onerror="alert(2)"><img src="http://127.0.0.1:9/x.png"><style>main { display: none }</style><iframe src="x.html"></iframe>`
	owned := strings.Replace(string(page), "<body>", bad, 1)
	if owned == string(page) {
		t.Fatal("the page has no body")
	}
	if err := os.WriteFile(file, []byte(owned), 0o644); err != nil {
		t.Fatal(err)
	}
	b := open(t, file, "light", 1000, 800)
	if title := value[string](b, `document.title`); title == "owned" {
		t.Error("the script ran")
	}
	if n := value[int](b, `seen.alerts`); n != 0 {
		t.Errorf("%d alerts", n)
	}
	if value[string](b, `getComputedStyle(document.querySelector("main")).display`) == "none" {
		t.Error("the style holds")
	}
	violated := strings.Join(value[[]string](b, `seen.violations`), "\n")
	for _, what := range []string{"script-src-elem inline", "style-src-elem inline", "img-src", "script-src-attr inline", "frame-src"} {
		if !strings.Contains(violated, what) {
			t.Errorf("nothing is said of %s, but\n%s", what, violated)
		}
	}
	if made := value[bool](b, `(() => { try { document.body.innerHTML = "<b>x</b>"; return true; } catch { return false; } })()`); made {
		t.Error("a text was made markup")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, r := range b.requests {
		if i > 0 && !b.blocked[b.ids[i]] && !strings.HasPrefix(r, "data:") { // the browser draws what it shows in place of the frame
			t.Errorf("the page asked for %s", r)
		}
	}
}
