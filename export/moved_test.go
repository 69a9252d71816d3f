package export_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/export"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/toy"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
)

// What replaced others is sent in their place, and told where it was written.
func TestMoved(t *testing.T) {
	for _, c := range []struct{ what, log, sent, told string }{
		{"nothing", `user a|user b`, `a b`, `a b`},
		{"the beginning", `user a|user b|user c|sum x 0,1|user d`, `x c d`, `a b c x d`},
		{"the middle", `user a|user b|user c|sum x 1|user d`, `a x c d`, `a b c x d`},
		{"the end", `user a|user b|sum x 1`, `a x`, `a b x`},
		{"what replaced others", `user a|user b|user c|user d|sum x 1,2|user e|sum y 4,3`, `a y e`, `a b c d x e y`},
		{"twice the same place", `user a|user b|sum x 0|sum y 2|user c`, `y b c`, `a b x y c`},
		{"two places", `user a|user b|user c|sum x 1|sum y 0`, `y x c`, `a b c x y`},
		{"a place that never came", `user a|sum x 9|user b`, `a x b`, `a x b`},
	} {
		var log strings.Builder
		log.WriteString(`{"t":"head","v":1,"id":"s","cwd":"/w"}` + "\n")
		for n, rec := range strings.Split(c.log, "|") {
			w := strings.Fields(rec)
			gone := ""
			if len(w) > 2 {
				gone = `,"gone":[` + w[2] + `]`
			}
			log.WriteString(`{"t":"` + w[0] + `","n":` + string(rune('0'+n)) + `,"at":1,"text":"` + w[1] + `"` + gone + "}\n")
		}
		path := filepath.Join(t.TempDir(), "x"+toy.Suffix)
		if err := os.WriteFile(path, []byte(log.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		env := func(string) string { return "" }
		found, err := store.Open(t.Context(), []string{path}, store.Options{Formats: []format.Format{toy.Format{}}, Env: env})
		if err != nil {
			t.Fatal(err)
		}
		s, err := export.Open(t.Context(), found.Groups()[0], repair.Options{Env: env})
		if err != nil {
			t.Fatal(err)
		}
		talk, err := s.Follow(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		for sent, want := range map[bool]string{true: c.sent, false: c.told} {
			var got bytes.Buffer
			err := talk.Say(t.Context(), sent, func(m *export.Said) error {
				got.WriteString(" " + m.Blocks[0].Text)
				return nil
			})
			if err != nil || strings.TrimSpace(got.String()) != want {
				t.Errorf("%s: %s, %v; want %s", c.what, &got, err, want)
			}
		}
		s.Close()
		found.Close()
	}
}
