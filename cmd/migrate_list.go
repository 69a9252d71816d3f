package cmd

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/sessfix/sessfix/jsonout"
	"github.com/sessfix/sessfix/migrate"
	"github.com/sessfix/sessfix/report"
	"github.com/sessfix/sessfix/store"
)

// upgradeStep is a step as --list prints it.
type upgradeStep struct {
	Agent    string `json:"agent"`
	Part     string `json:"part,omitempty"`
	From     string `json:"from"`
	To       string `json:"to"`
	Place    string `json:"place"` // in-place, beside or moved
	Optional bool   `json:"optional,omitempty"`
	About    string `json:"about"`
	Unproved string `json:"unproved,omitempty"`
}

// listSteps prints the steps that are known.
func (a *app) listSteps(ctx context.Context, args []string) error {
	formats := a.formats
	if len(args) > 0 {
		found, err := store.Open(ctx, args, a.options())
		if err != nil {
			return err
		}
		defer found.Close()
		a.doc = a.document(found)
		formats = nil
		seen := map[string]bool{}
		for _, s := range found.Sessions {
			if !seen[s.Format.Name()] {
				seen[s.Format.Name()] = true
				formats = append(formats, s.Format)
			}
		}
	}
	steps := []upgradeStep{}
	for _, f := range formats {
		for _, s := range migrate.Steps(f) {
			u := upgradeStep{Agent: f.Name(), Part: s.Part, From: s.From, To: s.To, Place: "in-place", Optional: s.Optional, About: s.About, Unproved: s.Unproved}
			switch {
			case s.Moves:
				u.Place = "moved"
			case s.Beside != nil:
				u.Place = "beside"
			}
			steps = append(steps, u)
		}
	}
	if a.format != "table" {
		return jsonout.Write(a.io.Out, struct {
			Version int           `json:"version"`
			Tool    jsonout.Tool  `json:"tool"`
			Steps   []upgradeStep `json:"steps"`
		}{report.Version, tool(), steps}, a.format == "json")
	}
	w := tabwriter.NewWriter(a.io.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "AGENT\tPART\tFROM\tTO\tPLACE\tWHAT IT DOES")
	for _, s := range steps {
		about := s.About
		if s.Optional {
			about += " (only with --to " + s.To + ")"
		}
		if s.Unproved != "" {
			about += " (unproved: " + s.Unproved + ")"
		}
		part := s.Part
		if part == "" {
			part = "log"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", s.Agent, part, s.From, s.To, s.Place, about)
	}
	return w.Flush()
}
