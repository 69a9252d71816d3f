package verify_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/pi"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/verify"
)

// Borders that count the records, the header as 0, keep from the first one on that is there; one that names none in front of it keeps nothing.
func TestGrowCounted(t *testing.T) {
	said := func(text string) string {
		return `{"type":"message","timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"` + text + `"}}` + "\n"
	}
	head := strings.Replace(piHead, `"version":3,`, "", 1)
	for _, c := range []struct {
		name  string
		first int
		want  []int64 // records that are sent
	}{
		{"the first", 1, []int64{4, 1, 2, 3, 5}},
		{"a later one", 2, []int64{4, 2, 3, 5}},
		{"the last one", 3, []int64{4, 3, 5}},
		{"itself", 4, []int64{4, 5}},
		{"one behind it", 5, []int64{4, 5}},
		{"one that is nowhere", 900, []int64{4, 5}},
	} {
		text := head + said("a") + said("b") + said("c") +
			`{"type":"compaction","timestamp":"2026-01-01T00:00:02.000Z","summary":"s","firstKeptEntryIndex":` + strconv.Itoa(c.first) + `}` + "\n" + said("d")
		d, err := (pi.Format{}).Dialect(format.Peek{First: []byte(strings.TrimSuffix(head, "\n")), FirstLine: true}, "")
		if err != nil {
			t.Fatal(err)
		}
		g, err := verify.Grow(t.Context(), verify.Input{Path: "x", R: strings.NewReader(text), Size: int64(len(text)), Medium: scan.Lines, Format: pi.Format{}, Dialect: d})
		if err != nil {
			t.Fatal(err)
		}
		r := d.(format.Replayer)
		var got []int64
		for _, n := range r.Replay(&g.Tree, g.Path(r.Leaf(&g.Tree))) {
			got = append(got, g.First[n])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
