package browser_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

func chromedpViewport(wide int64) chromedp.Action[chromedp.Void] {
	return chromedp.EmulateViewport(wide, 800)
}

// long writes a session with this many records: turns of steps, calls beside each other, branches, and damage here and there.
func long(t testing.TB, path string, records int) {
	write(t, path, func(line func(string, ...any), message func(any, any, string)) {
		line(`{"type":"session","version":3,"id":"long","timestamp":"2026-05-07T09:30:00.000Z","cwd":"/home/ines/orchard"}`)
		var parent any
		n := 1
		put := func(inner string) any {
			id := fmt.Sprintf("b%07x", n)
			message(id, parent, inner)
			n++
			return id
		}
		for turn := 1; n < records; turn++ {
			parent = put(says("user", fmt.Sprintf("Turn %d: look after row %d, and say what it needs before the frost comes.", turn, turn%48)))
			fork := parent
			for step := 0; step < 3+turn%4; step++ {
				a, b := fmt.Sprintf("call_%d_%d_a", turn, step), fmt.Sprintf("call_%d_%d_b", turn, step)
				parent = put(asks("I look at the soil and at the leaves.", [2]string{a, "bash"}, [2]string{b, "read"}))
				if turn%97 == 0 && step == 1 {
					line(`{"type":"message","id":"torn%d","parentId":"%v","timest`, turn, parent)
				}
				parent = put(answers(b, "read", "The leaves are green, two are spotted."))
				parent = put(answers(a, "bash", "moisture 31%\ntemperature 12\n"))
			}
			end := put(asks(fmt.Sprintf("Row %d is dry: 40 litres by the evening.", turn%48)))
			if turn%25 == 0 {
				parent = fork // the user goes back: what was said is on another branch
				continue
			}
			parent = end
		}
	})
}

// measured is what frames took, in milliseconds: by the clock, and of the page's own work, which does not depend on what else
// the machine does.
type measured struct {
	median, p95, longest float64
	work, work95         float64
}

// frames runs a script for so many frames, and measures each from its beginning to the next one's.
func frames(b *tab, count int, each string) (m measured) {
	b.t.Helper()
	value[bool](b, `window.next = () => new Promise(requestAnimationFrame), window.list = document.getElementById("records"), true`)
	var clock, work []float64
	for i := range count {
		before := worked(b)
		clock = append(clock, value[float64](b, fmt.Sprintf(`(async () => { const i = %d, last = await next(); %s; return await next() - last; })()`, i, each)))
		work = append(work, (worked(b)-before)*1000)
	}
	slices.Sort(clock)
	slices.Sort(work)
	return measured{clock[count/2], clock[count*95/100], clock[count-1], work[count/2], work[count*95/100]}
}

// worked is how long the page's thread has worked, in seconds.
func worked(b *tab) (seconds float64) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, x *chromedp.Target) error {
		r, err := cdp.Call(ctx, x, performance.GetMetrics, cdp.Empty{})
		if err != nil {
			return err
		}
		for _, m := range r.Metrics {
			if m.Name == "TaskDuration" {
				seconds = m.Value
			}
		}
		return nil
	}))
	return seconds
}

// A session of 50,000 records is there within two seconds, and stays fluid while it is scrolled, searched and walked through.
func TestLong(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "long.jsonl")
	long(t, path, 50_000)
	file := export(t, path, "--show-content")
	if fi, err := os.Stat(file); err == nil {
		t.Logf("the page is %.1f MB", float64(fi.Size())/1e6)
	}
	b := look(t, file, "light", 1360, 900)
	at := value[struct{ Paint, Ready float64 }](b, `({
		Paint: (performance.getEntriesByName("first-contentful-paint")[0] || { startTime: 0 }).startTime,
		Ready: performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd,
	})`)
	t.Logf("first paint after %.0f ms, all records there after %.0f ms", at.Paint, at.Ready)
	if at.Paint == 0 || at.Paint > 2000 || at.Ready > 4000 {
		t.Errorf("the page is slow to come: %+v", at)
	}
	if n := value[int](b, `document.querySelectorAll("*").length`); n > 4000 {
		t.Errorf("%d elements are in the page", n)
	}
	if shown := value[string](b, `document.getElementById("records-count").textContent`); len(shown) < 6 {
		t.Errorf("only %s records are listed", shown)
	}
	b.do(chromedp.Func(func(ctx context.Context, x *chromedp.Target) error {
		_, err := cdp.Call(ctx, x, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
		return err
	}))
	fluid := func(what string, m measured) {
		t.Helper()
		t.Logf("%s: a frame in %.0f ms, 95 of 100 in %.0f ms, the longest %.0f ms; of that the page's work %.0f ms, 95 of 100 in %.0f ms",
			what, m.median, m.p95, m.longest, m.work, m.work95)
		if m.work95 > 100 {
			t.Errorf("%s is not fluid", what)
		}
	}
	fluid("scrolling by lines", frames(b, 120, `list.scrollTop += 60`))
	fluid("scrolling by leaps", frames(b, 120, `list.scrollTop = (i * 7919 % 1000) / 1000 * list.scrollHeight`))
	fluid("from line to line", frames(b, 100, `(document.activeElement.closest(".line") || list.querySelector(".line")).dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true }))`))
	fluid("from finding to finding", frames(b, 60, `document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "n", bubbles: true }))`))
	fluid("searching", frames(b, 200, `
		const box = document.getElementById("search");
		if (i % 20 === 0) {
			box.value = ["call_2", "call_2901", "spotted", "frost row 7", "zzz", "TORN", "bash", "litres", "b000", ""][i / 20];
			box.dispatchEvent(new Event("input"));
		}`))
	fluid("zooming the bytes", frames(b, 60, `document.querySelector(".band [title='Zoom " + (i % 20 < 10 ? "in" : "out") + "']").click()`))
	fluid("zooming the calls", frames(b, 60, `document.querySelector("#timeline [title='Zoom " + (i % 30 < 15 ? "out" : "in") + "']").click()`))
	fluid("scrolling the branches", frames(b, 60, `document.querySelector(".branch-list").scrollTop += 100`))
	b.keys("/")
	b.keys("call_2901_0_a")
	b.wait(`document.getElementById("records-count").textContent.startsWith("2 of")`)
}
