package cmd

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/sessfix/sessfix/report"
)

// Of several answers the worst decides: 2 beats 3 beats 1 beats 0.
func TestStatus(t *testing.T) {
	doc := func(clean, repairable, refused, failed, repaired int) *report.Document {
		return &report.Document{Summary: report.Summary{Clean: clean, Repairable: repairable, Refused: refused, Failed: failed, Repaired: repaired}}
	}
	for _, c := range []struct {
		name string
		err  error
		doc  *report.Document
		want int
	}{
		{"nothing", nil, nil, 0},
		{"no session", nil, doc(0, 0, 0, 0, 0), 0},
		{"clean", nil, doc(3, 0, 0, 0, 0), 0},
		{"repaired", nil, doc(1, 0, 0, 0, 2), 0},
		{"one repairable", nil, doc(3, 1, 0, 0, 2), 1},
		{"one refused", nil, doc(3, 1, 1, 0, 0), 3},
		{"one failed", nil, doc(3, 1, 1, 1, 0), 2},
		{"an error", errors.New("bad usage"), doc(1, 0, 0, 0, 0), 2},
		{"interrupted", fmt.Errorf("read: %w", context.Canceled), doc(1, 1, 1, 1, 0), 130},
		{"a home's findings", nil, &report.Document{Homes: []report.Home{{Verdict: "clean"}, {Verdict: "refuse"}}}, 3},
		{"a home's notes", nil, &report.Document{Homes: []report.Home{{Verdict: "clean"}}}, 0},
	} {
		if got := status(c.err, c.doc); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
