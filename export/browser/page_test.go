package browser_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// testdata is the folder that sessions are named below.
const testdata = "../../testdata"

// sessions are those that are looked at: of each agent one that is whole and one that is damaged.
var sessions = []string{
	"sessions/dsh/orchard.v0.jsonl", "sessions/dsh/orchard.v3.jsonl.zstd", "sessions/claude-code/orchard.jsonl", "sessions/codex/compacted",
	"sessions/pi/tree.jsonl", "sessions/grok/orchard",
	"corrupt/calls-started", "corrupt/torn-frame", "corrupt/two-writers", "corrupt/seq-gap", "corrupt/claude-dangling-parallel", "corrupt/claude-glued-torn",
	"corrupt/codex-torn-line", "corrupt/codex-two-writers", "corrupt/pi-result-behind-user", "corrupt/pi-line-lost", "corrupt/grok-call-torn",
}

func unescaped(address string) string {
	text, err := url.PathUnescape(address)
	if err != nil {
		return address
	}
	return text
}

// Each page is shown in light, in dark, narrow and on paper, without a complaint and without asking for anything. Each finding
// is reached by the keyboard, stands beside its record, and the record has the focus.
func TestPages(t *testing.T) {
	for _, s := range sessions {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			file := export(t, s)
			want := codes(t, s)
			b := look(t, file, "light", 1360, 900)
			reached := []string{}
			for range want {
				b.keys("n")
				got := value[struct{ Code, Focus, Card, Never string }](b, `(() => {
					const card = document.querySelector("#detail article.finding.chosen") || document.querySelector("#detail article.finding");
					const on = document.activeElement;
					return {
						code: document.querySelector("#findings [aria-selected=true] .code").textContent,
						focus: on.id === "detail" || on.closest("#records .line[aria-selected=true]") ? "there" : on.outerHTML.slice(0, 200),
						card: card ? card.querySelector(".code").textContent : "",
						never: card ? card.textContent : "",
					};
				})()`)
				if got.Focus != "there" {
					t.Errorf("at %s the focus is on %s", got.Code, got.Focus)
				}
				if got.Card != got.Code || !strings.Contains(got.Never, "Means") || !strings.Contains(got.Never, "Repair") {
					t.Errorf("beside the record of %s stands %q", got.Code, got.Card)
				}
				reached = append(reached, got.Code)
			}
			slices.Sort(want)
			slices.Sort(reached)
			if !slices.Equal(want, reached) {
				t.Errorf("the keyboard reaches %v, verify finds %v", reached, want)
			}
			nameless := value[[]string](b, `[...document.querySelectorAll("button, input, select, [tabindex], [role]")].filter((n) => n.getClientRects().length && n.getAttribute("role") !== "presentation" &&
				!(n.getAttribute("aria-label") || document.getElementById(n.getAttribute("aria-labelledby")) || n.textContent.trim() || n.title)).map((n) => n.outerHTML.slice(0, 100))`)
			if len(nameless) > 0 {
				t.Errorf("these have no name for those who hear the page: %q", nameless)
			}
			for _, scheme := range []string{"light", "dark"} {
				b.do(b.media("", scheme))
				contrast(t, b, scheme)
			}
			b.do(chromedp.EmulateViewport(400, 800))
			if wide := value[int](b, `document.documentElement.scrollWidth`); wide > 400 {
				t.Errorf("at 400 pixels the page is %d wide: %s", wide, value[string](b, `[...document.querySelectorAll("body *")].filter((n) => n.getBoundingClientRect().right > 401 && getComputedStyle(n).position !== "absolute").slice(0, 3).map((n) => n.outerHTML.slice(0, 150)).join("\n")`))
			}
			b.do(chromedp.EmulateViewport(1000, 800), b.media("print", "dark"))
			b.wait(`!document.getElementById("paper").hidden`)
			contrast(t, b, "print")
			if ground := value[string](b, `getComputedStyle(document.body).backgroundColor`); ground != "rgb(255, 255, 255)" {
				t.Errorf("paper is %s", ground)
			}
			if n := value[int](b, `document.querySelectorAll("#paper article.finding").length`); n != len(want) {
				t.Errorf("%d findings of %d are printed", n, len(want))
			}
			if value[int](b, `document.querySelectorAll("#paper .printed").length`) == 0 {
				t.Error("no transcript is printed")
			}
			if value[string](b, `getComputedStyle(document.getElementById("bench")).display`) != "none" {
				t.Error("the lists that scroll are printed")
			}
			paper, err := chromedp.Run(b.ctx, chromedp.PrintToPDF())
			if err != nil || !strings.HasPrefix(string(paper), "%PDF") {
				t.Errorf("printing gives %.20q: %v", paper, err)
			}
			b.do(b.media("screen", "dark"))
			b.wait(`document.getElementById("paper").hidden && document.documentElement.dataset.theme === "auto"`)
		})
	}
}

// contrast measures each text in sight against what it stands on.
func contrast(t *testing.T, b *tab, scheme string) {
	t.Helper()
	faint := value[[]string](b, `(() => {
		const parse = (c) => { const m = c.match(/[\d.]+/g).map(Number); return m.length > 3 ? m : [...m, 1]; };
		const light = ([r, g, b]) => { const f = (v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
		const ground = (n) => { for (; n; n = n.parentElement) { const c = parse(getComputedStyle(n).backgroundColor); if (c[3] > 0.99) return c; } return [255, 255, 255, 1]; };
		const out = [];
		let seen = 0;
		const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		for (let n; (n = walk.nextNode()); ) {
			const on = n.parentElement;
			if (!n.textContent.trim() || on.closest("script, style, noscript, option") || !on.getClientRects().length) continue;
			const style = getComputedStyle(on);
			const front = parse(on.namespaceURI.includes("svg") ? style.fill : style.color), back = ground(on);
			const [a, z] = [light(front), light(back)].sort((x, y) => y - x);
			const ratio = (a + 0.05) / (z + 0.05);
			seen++;
			if (ratio < 4.5) out.push(ratio.toFixed(2) + " " + on.className + " " + n.textContent.slice(0, 30));
		}
		return seen > 20 ? out : ["only " + seen + " texts"];
	})()`)
	if len(faint) > 0 {
		t.Errorf("in %s these are faint: %q", scheme, faint)
	}
}

// All keys of the help do what it says.
func TestKeys(t *testing.T) {
	b := look(t, export(t, "corrupt/calls-started", "--show-content"), "light", 1360, 900)
	focus := func(where, what string) {
		t.Helper()
		if !value[bool](b, fmt.Sprintf(`!!document.activeElement.closest(%q)`, where)) {
			t.Errorf("%s: the focus is on %s", what, value[string](b, `document.activeElement.outerHTML.slice(0, 200)`))
		}
	}
	b.keys("?")
	if !value[bool](b, `document.getElementById("help").open`) {
		t.Error("? shows no help")
	}
	b.do(chromedp.KeyEvent(kb.Escape))
	b.keys("/")
	focus("#search", "/")
	b.keys("prune")
	b.wait(`document.getElementById("records-count").textContent.includes("of")`)
	b.do(chromedp.KeyEvent(kb.Enter))
	focus("#records .line", "Enter in the search")
	if n := value[int](b, `document.querySelectorAll("#records .line").length`); n == 0 || n > 12 {
		t.Errorf("%q stands in %d records", value[string](b, `document.getElementById("search").value`), n)
	}
	b.keys("/")
	b.do(chromedp.KeyEvent(kb.Escape))
	if n := value[string](b, `document.getElementById("records-count").textContent`); n != "33" {
		t.Errorf("behind Escape %s records are shown", n)
	}
	b.keys("r")
	focus("#records .line", "r")
	at := value[int](b, `document.activeElement.index`)
	b.keys("jj")
	b.do(chromedp.KeyEvent(kb.ArrowUp))
	if now := value[int](b, `document.activeElement.index`); now != at+1 {
		t.Errorf("j, j and up lead from %d to %d", at, now)
	}
	b.do(chromedp.KeyEvent(kb.End))
	if now := value[int](b, `document.activeElement.index`); now != 32 {
		t.Errorf("End leads to %d", now)
	}
	if text := value[string](b, `document.getElementById("detail").textContent`); !strings.Contains(text, "What a repair adds") {
		t.Errorf("the last line is what a repair adds, and %.80q is shown", text)
	}
	for _, view := range []string{"After", "Before", "Diff"} {
		b.keys("d")
		if now := value[string](b, `document.querySelector("#views [aria-checked=true]").textContent`); now != view {
			t.Errorf("d leads to %s, not to %s", now, view)
		}
		want := map[string]string{"After": "33", "Before": "29", "Diff": "33"}[view]
		if n := value[string](b, `document.getElementById("records-count").textContent`); n != want {
			t.Errorf("%s shows %s records, not %s", view, n, want)
		}
	}
	b.keys("t")
	if theme := value[string](b, `document.documentElement.dataset.theme`); theme != "dark" {
		t.Errorf("t leads to %s", theme)
	}
	b.keys("r")
	b.do(chromedp.KeyEvent(kb.Home))
	b.keys("b")
	focus(".band-view", "b")
	b.do(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.Enter))
	if text := value[string](b, `document.getElementById("detail").textContent`); !strings.Contains(text, "line 3,") {
		t.Errorf("from the bytes one comes to %.80q", text)
	}
	b.keys("+")
	b.wait(`!document.querySelector(".band-view").getAttribute("aria-label").includes("bytes 0 to 4,804")`)
	b.keys("0")
	b.wait(`document.querySelector(".band-view").getAttribute("aria-label").includes("bytes 0 to 4,804")`)
	b.do(chromedp.KeyEvent(kb.Tab))
	focus(".hit", "Tab behind the bytes")
	b.do(chromedp.KeyEvent(kb.Enter))
	focus("#records .line", "Enter on a damaged range")
	b.keys("c")
	focus("[data-call]", "c")
	b.do(chromedp.KeyEvent(kb.ArrowRight))
	focus("[data-call='1']", "right in the calls")
	b.do(chromedp.KeyEvent(kb.Enter))
	if text := value[string](b, `document.getElementById("detail").textContent`); !strings.Contains(text, "call-water") {
		t.Errorf("from a call one comes to %.80q", text)
	}
	b.keys("p")
	focus("#records .line", "p")
}

// The mouse leads from the bytes, the calls, the findings and the branches to records.
func TestClicks(t *testing.T) {
	b := look(t, export(t, "sessions/claude-code/orchard.jsonl", "--show-content"), "light", 1360, 900)
	detail := func(what, has string) {
		t.Helper()
		if text := value[string](b, `document.getElementById("detail").textContent`); !strings.Contains(text, has) {
			t.Errorf("%s shows %.120q", what, text)
		}
	}
	b.do(chromedp.Click(chromedp.CSS(`[data-call="1"]`)))
	detail("a click on a call", "water --rows 3-5")
	b.do(chromedp.Click(chromedp.CSS(`.band-view`)))
	detail("a click on the bytes", "offset ")
	b.do(chromedp.Click(chromedp.CSS(`#branches .line:nth-child(6)`)))
	detail("a click on a branch", "branch")
	if n := value[int](b, `document.querySelectorAll("#branches .line:not(.live)").length`); n != 1 {
		t.Errorf("%d runs are off the way", n)
	}
}

// Calls of sub-agents have lanes of their own, and a sub-agent's turn is none of the session's.
func TestSubAgents(t *testing.T) {
	var log []byte
	for _, name := range []string{"orchard", "helper"} {
		data, err := os.ReadFile(filepath.Join(testdata, "sessions", "claude-code", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, data...)
	}
	id := "22222222-2222-4333-8444-555555555555"
	path := filepath.Join(t.TempDir(), id+".jsonl")
	if err := os.WriteFile(path, regexp.MustCompile(`"sessionId":"[^"]*"`).ReplaceAll(log, []byte(`"sessionId":"`+id+`"`)), 0o644); err != nil {
		t.Fatal(err)
	}
	b := look(t, export(t, path), "light", 1360, 900)
	got := value[struct {
		Lanes []float64
		Turns int
		Words string
	}](b, `({
		lanes: [...new Set([...document.querySelectorAll("[data-call] .touch")].map((n) => +n.getAttribute("y")))].sort((a, b) => a - b),
		turns: document.querySelectorAll("#timeline .turn").length,
		words: document.querySelector("#timeline svg").textContent,
	})`)
	if len(got.Lanes) != 4 || got.Lanes[3]-got.Lanes[2] <= got.Lanes[2]-got.Lanes[1] || got.Turns != 4 || !strings.Contains(got.Words, "Sub-agents") {
		t.Errorf("%+v", got)
	}
}

// What a repair would do is there: what leaves, what comes, what changes.
func TestPlan(t *testing.T) {
	for session, want := range map[string]string{
		"corrupt/calls-started":         "4 added",
		"corrupt/torn-frame":            "4 added, 1 gone",
		"corrupt/seq-dup":               "1 gone",
		"corrupt/claude-glued-torn":     "1 added, 1 gone",
		"corrupt/no-final-newline":      "1 changed",
		"corrupt/pi-result-behind-user": "3 changed",
		"corrupt/codex-output-first":    "1 added, 1 gone",
		"corrupt/two-writers":           "",
	} {
		b := look(t, export(t, session), "light", 1360, 2000)
		got := value[string](b, `["added", "gone", "changed"].map((c) => [document.querySelectorAll("#records .line." + c).length, c]).filter(([n]) => n).map((x) => x.join(" ")).join(", ")`)
		if got != want {
			t.Errorf("%s: %q, not %q", session, got, want)
		}
		if session == "corrupt/codex-output-first" {
			b.do(chromedp.Click(chromedp.CSS("#records .line.added")))
			if text := value[string](b, `document.getElementById("detail").textContent`); !strings.Contains(text, "line 10 moves here") || !strings.Contains(text, "57 B") {
				t.Errorf("where a record moves to stands %q", text)
			}
		}
	}
}

// Screenshots for the documentation.
func TestScreens(t *testing.T) {
	if *screensFlag == "" {
		t.Skip("no -screens")
	}
	for _, s := range []struct {
		name, session, scheme, keys string
		wide, high                  int64
		content                     bool
	}{
		{"page-light", "corrupt/claude-dangling-parallel", "light", "n", 1280, 860, true},
		{"page-dark", "corrupt/torn-frame", "dark", "p", 1280, 860, true},
		{"page-tree", "sessions/claude-code/orchard.jsonl", "light", "", 1280, 860, true},
		{"page-parts", "corrupt/grok-call-torn", "dark", "n", 1280, 1000, false},
		{"page-narrow", "corrupt/codex-torn-line", "light", "", 400, 800, false},
	} {
		var with []string
		if s.content {
			with = append(with, "--show-content")
		}
		b := look(t, export(t, s.session, with...), s.scheme, s.wide, s.high)
		b.keys(s.keys)
		value[bool](b, `scrollTo(0, 0), new Promise((done) => setTimeout(() => done(true), 400))`)
		png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if len(png) > 200_000 {
			t.Errorf("%s is %d bytes long", s.name, len(png))
		}
		if err := os.WriteFile(filepath.Join(*screensFlag, s.name+".png"), png, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
