package migrate

import (
	"errors"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
)

func TestWay(t *testing.T) {
	steps := []format.Upgrade{
		{From: "0", To: "1"}, {From: "1", To: "2"}, {From: "2", To: "3"}, {From: "3", To: "4", Optional: true},
		{From: "a", To: "b"}, {From: "b", To: "a"},
	}
	for _, c := range []struct{ from, to, want string }{
		{"0", "", "1 2 3"}, {"0", "2", "1 2"}, {"0", "4", "1 2 3 4"}, {"3", "", ""}, {"3", "4", "4"}, {"2", "2", ""}, {"9", "", ""},
		{"3", "1", "no"}, {"0", "9", "no"}, {"a", "b", "b"}, {"a", "", "b"}, {"4", "", ""},
	} {
		got, err := way(steps, c.from, c.to)
		var names []string
		for _, s := range got {
			names = append(names, s.To)
		}
		text := strings.Join(names, " ")
		if errors.Is(err, format.ErrNoWay) {
			text = "no"
		} else if err != nil {
			t.Fatal(err)
		}
		if text != c.want {
			t.Errorf("from %s to %q: %q, want %q", c.from, c.to, text, c.want)
		}
	}
}
