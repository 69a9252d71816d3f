package browser_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// verified is what the program says of a session.
type verified struct {
	Verdict string
	Records int
}

func verify(t testing.TB, path string) (v verified) {
	t.Helper()
	var doc struct{ Sessions []verified }
	if err := json.Unmarshal([]byte(sessfix(t, "verify", "--json", path)), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Sessions) == 1 {
		v = doc.Sessions[0]
	}
	return v
}

// Every damaged session that is shipped gives a page without complaint; its findings are there; and its view of the log as a repair
// would leave it has as many records as the log has that the repair writes.
func TestEveryPage(t *testing.T) {
	cases, err := filepath.Glob(filepath.Join(testdata, "corrupt", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var b *tab
	seen, mended := 0, 0
	for _, path := range cases {
		if fi, err := os.Stat(path); err != nil || !fi.IsDir() {
			continue
		}
		name := filepath.Join("corrupt", filepath.Base(path))
		before := verify(t, name)
		if before.Verdict == "" {
			continue
		}
		seen++
		file := export(t, name)
		if b == nil {
			b = open(t, file, "light", 1360, 900)
		} else {
			b.do(chromedp.Navigate("file://" + file))
			b.wait(`document.documentElement.dataset.ready === "yes"`)
		}
		want := codes(t, name)
		for range min(len(want), 5) {
			b.keys("n")
		}
		if n := value[int](b, `[...document.querySelectorAll("#findings .line .code")].length`); n < min(len(want), 5) {
			t.Errorf("%s: %d findings are listed of %d", name, n, len(want))
		}
		if before.Verdict == "repairable" {
			out := filepath.Join(t.TempDir(), "out")
			sessfix(t, "repair", "--output", out, name)
			if after := verify(t, out); after.Verdict == "clean" {
				mended++
				shown := value[int](b, `(() => {
					[...document.querySelectorAll("#views button")].find((x) => x.textContent === "After").click();
					const count = () => +document.getElementById("records-count").textContent.replace(/\D/g, "");
					const parts = document.querySelectorAll("#parts button").length;
					if (!parts) return count();
					let sum = 0;
					for (let i = 0; i < parts; i++) {
						document.querySelectorAll("#parts button")[i].click();
						if (!document.querySelectorAll("#parts button")[i].textContent.endsWith(".json")) sum += count(); // a document has no records
					}
					return sum;
				})()`)
				if shown != after.Records {
					t.Errorf("%s: After shows %d records, the repair writes %d", name, shown, after.Records)
				}
			} else {
				t.Errorf("%s: repaired, it is %s", name, after.Verdict)
			}
		}
		b.mu.Lock()
		for _, m := range b.spoken {
			t.Errorf("%s: the browser says: %s", name, m)
		}
		b.spoken = nil
		b.mu.Unlock()
	}
	if seen < 200 || mended < 100 {
		t.Errorf("only %d sessions were looked at, and %d repaired ones", seen, mended)
	}
	t.Logf("%d sessions, of which %d were repaired", seen, mended)
}
