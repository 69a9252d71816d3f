package repair_test

import (
	"bytes"
	"os"
	"fmt"
	"testing"
	"regexp"
	"time"

	"pgregory.net/rapid"

	"github.com/sessfix/sessfix/internal/damage/trial"
)

var digits = regexp.MustCompile(`[0-9]+|\{.*`)

func TestHunt(t *testing.T) {
	src := sources(t)
	seen := map[string]int{}
	best := map[string]string{}
	end := time.Now().Add(240*time.Second)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		if time.Now().After(end) { return }
		n++
		name, data, recipe := damaged(t, src)
		before := bytes.Clone(data)
		tr, err := trial.Of(t.Context(), pathOf(name), data)
		if err == nil {
			err = tr.Check(false)
		}
		if err == nil {
			err = again(t.Context(), pathOf(name), before, tr, true)
		}
		if err != nil {
			k := digits.ReplaceAllString(err.Error(), "N")
			seen[k]++
			r := fmt.Sprintf("%v\n%s", err, recipe)
			if best[k] == "" || len(r) < len(best[k]) {
				best[k] = r
			}
		}
	})
	for k, v := range seen {
		fmt.Fprintf(os.Stderr, "== %d of %d: %s\n", v, n, best[k])
	}
}
