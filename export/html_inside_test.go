package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/all"
	"github.com/sessfix/sessfix/jsonout"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
)

// A page that cannot hold all records holds the first ones and those with findings, says how many are left out, and knows what
// became of the calls of those that it holds.
func TestPageBound(t *testing.T) {
	var log strings.Builder
	log.WriteString(`{"type":"session","version":0,"id":"long","createdAt":1785736803267,"cwd":"/w","delegationDepth":0}` + "\n")
	for seq := range 60 {
		if seq == 50 {
			log.WriteString("{\"type\":\"torn\n")
		}
		fmt.Fprintf(&log, `{"type":"session/title","seq":%d,"time":1785736803278,"data":{"title":"x"}}`+"\n", seq)
	}
	path := filepath.Join(t.TempDir(), "long.jsonl")
	if err := os.WriteFile(path, []byte(log.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	env := func(string) string { return "" }
	found, err := store.Open(t.Context(), []string{path}, store.Options{Formats: all.Formats(), Env: env})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	s, err := Open(t.Context(), found.Groups()[0], repair.Options{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var b bytes.Buffer
	if err := writeHTML(t.Context(), &b, s, jsonout.Tool{Name: "sessfix", Version: "test"}, Options{}, pageLimits{records: 20}); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(b.String(), `class="records" data-part="0">`)
	text, end, _ := strings.Cut(rest, "</script>")
	var rows [][]any
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		t.Fatal(err)
	}
	first, marked := 0, 0
	for _, r := range rows {
		if len(r) > 15 {
			marked++
		} else if r[0].(float64) <= 20 {
			first++
		}
	}
	if first != 20 || marked == 0 || marked != len(rows)-first {
		t.Errorf("the page holds %d first records and %d with findings of %d", first, marked, len(rows))
	}
	if left := fmt.Sprintf(`{"left":%d,`, int(s.Parts[0].Found.Records)-records(rows)); !strings.Contains(end, left) {
		t.Errorf("the page does not say %s", left)
	}
}

func records(rows [][]any) (n int) {
	for _, r := range rows {
		if r[0].(float64) > 0 {
			n++
		}
	}
	return n
}

// A page that cannot hold all texts holds the first ones, and lengths and hashes of the rest.
func TestPageTextBound(t *testing.T) {
	said := int64(7)
	w := &pageRows{o: Options{Content: true}, said: &said}
	var b []byte
	for _, text := range []string{"five!", "more", "", "ab"} {
		b = w.block(b, &format.Block{Text: text}, 0)
	}
	if want := fmt.Sprintf(`,[0,0,5,"five!",0,0],[0,32,4,%q,0,0],[0,0,0,0,0,0],[0,0,2,"ab",0,0]`, shortHash("more")); string(b) != want || w.hid != 4 || said != 0 {
		t.Errorf("%s\n%s, %d hidden, %d left", b, want, w.hid, said)
	}
	// A text that is too long for one place is cut, and counts as much as is shown.
	said = mostText
	b = w.block(nil, &format.Block{Text: strings.Repeat("x", mostText+1)}, 0)
	if want := fmt.Sprintf(`,[0,8,%d,"xxx`, mostText+1); !strings.HasPrefix(string(b), want) || said != 0 {
		t.Errorf("%.40s, %d left", b, said)
	}
	// An image of a type that is not shown is no more than its length.
	said = 100
	for media, want := range map[string]string{"image/png": `,[4,0,4,0,0,"image/png","AAAA"]`, "image/svg+xml": `,[4,0,4,0,0,"image/svg+xml"]`} {
		if got := w.block(nil, &format.Block{Kind: format.Image, Media: media, Data: "AAAA"}, 0); string(got) != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

// What is written is JSON that reads back as the same text, byte for byte, and has no character of markup.
func FuzzPageText(f *testing.F) {
	for _, s := range []string{"", "plain", "</script>", "\u2028\u2029", "\xff", "\xed\xa0\x80", "é\x00\x7f\"\\&", "\xf0\x9f\x92", "a\u202eb"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got := appendPageText(nil, text)
		if !json.Valid(got) || bytes.ContainsAny(got, "<>&\u2028\u2029") || !utf8.Valid(got) {
			t.Fatalf("%q is written as %q", text, got)
		}
		if again := appendPageText(nil, string(text)); !bytes.Equal(got, again) {
			t.Fatalf("%q and %q", got, again)
		}
		// Bytes that are no UTF-8 read as the surrogates DC80 to DCFF.
		want := make([]byte, 0, len(text))
		for i := 0; i < len(text); {
			r, n := utf8.DecodeRune(text[i:])
			if r == utf8.RuneError && n == 1 {
				want = fmt.Appendf(want, `\x%02x`, text[i])
			} else {
				want = append(want, text[i:i+n]...)
			}
			i += n
		}
		var back string
		marked := bytes.ReplaceAll(bytes.ReplaceAll(got, []byte(`\\`), []byte(`\u005c`)), []byte(`\udc`), []byte(`\\x`))
		if err := json.Unmarshal(marked, &back); err != nil || back != string(want) {
			t.Fatalf("%q reads back as %q: %v", text, back, err)
		}
	})
}
