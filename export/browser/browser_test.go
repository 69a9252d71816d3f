// Package browser_test looks at the pages of export --format html in a real browser. It is a module of its own, so that nothing of
// it is in sessfix; it builds the program and works with what that writes.
//
//	go test                                    needs Chromium, and says loudly when there is none
//	go test -browser required                  fails instead
//	go test -run Screens -screens ../../docs/images
package browser_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

var (
	browserFlag = flag.String("browser", "", "the browser's file; \"required\" = there must be one")
	screensFlag = flag.String("screens", "", "the folder that screenshots are written to")
	programFlag = flag.String("sessfix", "", "the program; without it one is built")
)

// program is sessfix, and browser the context that tabs are opened in.
var (
	program string
	browser context.Context
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	path := find()
	if path == "" {
		if *browserFlag == "required" {
			fmt.Fprintln(os.Stderr, "no Chromium found: install the package chromium")
			return 1
		}
		fmt.Fprintln(os.Stderr, "\n*** SKIPPED: no Chromium found, so that NO PAGE WAS LOOKED AT. Install the package chromium. ***")
		return 0
	}
	dir, err := os.MkdirTemp("", "sessfix-browser-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if program, err = filepath.Abs(*programFlag); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if *programFlag == "" {
		program = filepath.Join(dir, "sessfix")
		build := exec.Command("go", "build", "-o", program, ".")
		build.Dir = filepath.Join("..", "..")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build sessfix: %v\n%s", err, out)
			return 1
		}
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(filepath.Join(dir, "profile")), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	ctx, end := chromedp.NewContext(allocator)
	defer end()
	if err := chromedp.Do(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "start the browser:", err)
		return 1
	}
	browser = ctx
	return m.Run()
}

// find is the browser's file, "" where there is none.
func find() string {
	if f := *browserFlag; f != "" && f != "required" {
		return f
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// export writes the page about a session and tells where it is.
func export(t testing.TB, session string, arguments ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "page.html")
	sessfix(t, append([]string{"export", "--format", "html", "-o", out, session}, arguments...)...)
	return out
}

// sessfix runs the program away from what this machine knows of sessions, and gives its answer.
func sessfix(t testing.TB, arguments ...string) string {
	t.Helper()
	home := t.TempDir()
	c := exec.Command(program, arguments...)
	c.Dir = testdata
	c.Env = []string{"HOME=" + home, "XDG_STATE_HOME=" + home, "PATH=" + os.Getenv("PATH")}
	var complaints strings.Builder
	c.Stderr = &complaints
	out, err := c.Output()
	if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() == 2) {
		t.Fatalf("sessfix %v: %v\n%s", arguments, err, complaints.String())
	}
	return string(out)
}

// tab is a page in the browser, and what it did that it should not.
type tab struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	requests []string
	ids      []network.RequestID
	blocked  map[network.RequestID]bool // by the policy, in front of any connection
	spoken   []string
}

// watch is run before the page's own script.
const watch = `
	window.seen = { violations: [], alerts: 0, frames: [] };
	document.addEventListener("securitypolicyviolation", (e) => seen.violations.push(e.violatedDirective + " " + e.blockedURI + " " + e.sample));
	window.alert = () => { seen.alerts++; };
`

// look opens a page. When the test ends, the page must have asked for nothing, and nothing may have been complained about.
func look(t testing.TB, file, scheme string, wide, high int64) *tab {
	t.Helper()
	b := open(t, file, scheme, wide, high)
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		b.calm("file://" + file)
	})
	return b
}

func open(t testing.TB, file, scheme string, wide, high int64) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx, blocked: map[network.RequestID]bool{}}
	b.do(chromedp.Func(func(ctx context.Context, x *chromedp.Target) error {
		_, err := cdp.Call(ctx, x, network.Enable, network.EnableParams{})
		return err
	}))
	if err := chromedp.Listen(ctx, func(ev any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch ev := ev.(type) {
		case *network.EventRequestWillBeSent:
			b.requests, b.ids = append(b.requests, ev.Request.URL), append(b.ids, ev.RequestID)
		case *network.EventLoadingFailed:
			b.blocked[ev.RequestID] = ev.BlockedReason == network.BlockedReasonCsp
		case *cdppage.EventJavascriptDialogOpening:
			b.spoken = append(b.spoken, "a dialog: "+ev.Message)
		}
	}); err != nil {
		t.Fatal(err)
	}
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			b.mu.Lock()
			b.spoken = append(b.spoken, m.String())
			b.mu.Unlock()
		}
	}()
	b.do(b.media("", scheme), chromedp.EmulateViewport(wide, high), chromedp.Func(func(ctx context.Context, x *chromedp.Target) error {
		_, err := cdp.Call(ctx, x, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: watch})
		return err
	}), chromedp.Navigate("file://"+file))
	b.wait(`document.documentElement.dataset.ready === "yes"`)
	return b
}

// media sets what the page is shown on.
func (b *tab) media(medium, scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, x *chromedp.Target) error {
		p := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}}
		if medium != "" {
			p.Media = medium
		}
		_, err := cdp.Call(ctx, x, emulation.SetEmulatedMedia, p)
		return err
	})
}

// calm fails where the page asked for anything but itself, or something was complained about.
func (b *tab) calm(url string) {
	b.t.Helper()
	if v := value[[]string](b, `seen.violations`); len(v) > 0 {
		b.t.Errorf("the policy was violated: %q", v)
	}
	if n := value[int](b, `seen.alerts`); n > 0 {
		b.t.Errorf("a script of the session ran: %d alerts", n)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, r := range b.requests {
		if !strings.HasPrefix(r, "data:image/") && (i > 0 || r != url && unescaped(r) != url) {
			b.t.Errorf("the page asked for %s", r)
		}
	}
	if len(b.requests) == 0 {
		b.t.Error("no request was seen, not even that for the page")
	}
	for _, m := range b.spoken {
		b.t.Errorf("the browser says: %s", m)
	}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// value is what an expression gives in the page.
func value[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%.200s: %v", expression, err)
	}
	return v
}

// wait waits until an expression holds.
func (b *tab) wait(expression string) {
	b.t.Helper()
	for until := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if value[bool](b, expression) {
			return
		}
		if time.Now().After(until) {
			b.t.Fatalf("never true: %s", expression)
		}
	}
}

// keys presses keys of characters, one after the other, as a keyboard does: a character that the page takes for itself goes
// nowhere else.
func (b *tab) keys(text string) {
	b.t.Helper()
	for _, k := range text {
		key := string(k)
		b.do(chromedp.Func(func(ctx context.Context, x *chromedp.Target) error {
			if _, err := cdp.Call(ctx, x, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: key, Text: key, UnmodifiedText: key}); err != nil {
				return err
			}
			_, err := cdp.Call(ctx, x, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: key})
			return err
		}))
	}
}

// codes are the codes of a session's findings, as verify tells them.
func codes(t testing.TB, session string) []string {
	t.Helper()
	var doc struct {
		Sessions []struct {
			Findings []struct{ Code string }
		}
	}
	if err := json.Unmarshal([]byte(sessfix(t, "verify", "--json", session)), &doc); err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, s := range doc.Sessions {
		for _, f := range s.Findings {
			out = append(out, f.Code)
		}
	}
	return out
}
