package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/migrate"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/report"
	"github.com/sessfix/sessfix/store"
)

type migrateOptions struct {
	to, output, medium string
	list, dryRun       bool
	showContent        bool
}

func (a *app) migrateCmd() *cobra.Command {
	var o migrateOptions
	c := &cobra.Command{
		Use:   "migrate [--to VERSION] [--dry-run | --output DIR] PATH...",
		Short: "Bring sessions to a newer generation of their format",
		Long: `Migrate does offline what a newer client does when it opens an old session, and keeps what that
client would drop. What is damaged is mended first, and so is what the newer client would refuse, where a
safe repair exists; it says so. The result is verified before a byte is published.

Where the format keeps generations beside each other the new one is written beside the old one; else it takes its
place, and the original is kept: sessfix undo puts it back. A record that cannot be brought over is
named, and nothing is written. Migrating twice is migrating once.

With --medium a session stays what it is, and is written in another medium.

Without --to a session goes as far as the steps lead that --list does not mark "only with --to": of what
those start from the newest clients read all.`,
		Example: `  sessfix migrate --list
  sessfix migrate --dry-run session.jsonl
  sessfix migrate --to 3 ~/.dsh/sessions
  sessfix migrate --output upgraded old.jsonl
  sessfix migrate --medium jsonl --output plain session.jsonl.zstd`,
		RunE: func(c *cobra.Command, args []string) error { return a.migrate(c.Context(), args, o) },
	}
	f := c.Flags()
	f.StringVar(&o.to, "to", "", "the generation that is wanted")
	f.BoolVarP(&o.list, "list", "l", false, "list the steps that are known; with PATH those of its agents")
	f.BoolVarP(&o.dryRun, "dry-run", "n", false, "show what would become of each record, write nothing")
	f.StringVar(&o.medium, "medium", "", "with --output: write each session as it is, in this medium: "+strings.Join(migrate.Media, ", "))
	f.BoolVar(&o.showContent, "show-content", false, "with --dry-run: also show the text of the records that change")
	f.StringVarP(&o.output, "output", "o", "", "write the results below this directory, leave the sessions alone")
	return c
}

// migrated is what became of one session.
type migrated struct {
	Path     string         `json:"path"`
	Agent    string         `json:"agent"`
	ID       string         `json:"id,omitempty"`
	Status   string         `json:"status"` // migrated, planned, current or refused
	Parts    []migratedPart `json:"parts"`
	Refusal  string         `json:"refusal,omitempty"`
	Line     int64          `json:"line,omitempty"` // of the record that is the reason
	mendable bool
}

// migratedPart is what became of one file.
type migratedPart struct {
	Path     string           `json:"path"`
	From     string           `json:"from"`
	To       string           `json:"to"`
	Output   string           `json:"output,omitempty"`
	Steps    []string         `json:"steps,omitempty"`
	Repaired []finding.Code   `json:"repaired,omitempty"`
	Records  int64            `json:"records,omitempty"`
	Size     int64            `json:"size,omitempty"`
	Counts   map[string]int64 `json:"counts,omitempty"` // of records that are not as they were, by what became of them
	Notes    []migratedNote   `json:"notes,omitempty"`
	Reasons  []migratedReason `json:"reasons,omitempty"`
	Changes  []recordChange   `json:"changes,omitempty"` // of a dry run
	There    bool             `json:"there,omitempty"`
	Receipt  string           `json:"receipt,omitempty"`
	SHA256   *report.Hashes   `json:"sha256,omitempty"`
}

// migratedReason is why records were added, or changed beyond what the steps say.
type migratedReason struct {
	Text    string `json:"text"`
	Records int    `json:"records"`
	Line    int64  `json:"line"` // of the first of them, in the result
}

type migratedNote struct {
	Line int64  `json:"line,omitempty"`
	Text string `json:"text"`
}

func (a *app) migrate(ctx context.Context, args []string, o migrateOptions) error {
	if o.list {
		return a.listSteps(ctx, args)
	}
	switch {
	case len(args) == 0:
		return errors.New("name at least one PATH")
	case o.dryRun && o.output != "":
		return errors.New("--dry-run writes nothing: it does not go with --output")
	case o.medium != "" && (o.output == "" || o.to != ""):
		return errors.New("--medium goes with --output, and not with --to")
	case o.medium != "" && !slices.Contains(migrate.Media, o.medium):
		return fmt.Errorf("unknown medium %q: %s", o.medium, strings.Join(migrate.Media, ", "))
	case o.showContent && !o.dryRun:
		return errors.New("--show-content goes with --dry-run")
	case a.caseDir == "" && !o.dryRun && o.output == "":
		return errors.New("no home directory to keep originals in: name a place with --case-dir")
	}
	for _, p := range args {
		if p == "-" {
			return errors.New("standard input cannot be migrated: name a file")
		}
	}
	found, err := store.Open(ctx, args, a.options())
	if err != nil {
		return err
	}
	defer found.Close()
	doc := a.document(found)
	groups := found.Groups()
	opt := migrate.Options{To: o.to, Output: o.output, DryRun: o.dryRun, Fates: o.dryRun, CaseDir: a.caseDir, Env: a.io.Env, Store: a.options()}
	type done struct {
		outs []*migrate.Outcome
		err  error
	}
	var list []migrated
	ranks := make([]int, len(groups))
	for i, g := range groups {
		ranks[i] = g[0].Depth()
	}
	p := a.progress("worked on", len(groups))
	inWaves(ctx, ranks, a.jobs, func(i int) done {
		if o.medium == "" {
			outs, err := migrate.Session(ctx, groups[i], opt)
			return done{outs, err}
		}
		var outs []*migrate.Outcome
		for _, s := range groups[i] {
			out, err := migrate.Recode(ctx, s, o.medium, opt)
			if outs = append(outs, out); err != nil {
				return done{outs, err}
			}
		}
		return done{outs, nil}
	}, func(i int, d done) {
		p.step(i + 1)
		m := migratedOf(groups[i], d.outs, o)
		var no *migrate.RefusedError
		var live *repair.LiveError
		switch {
		case d.err == nil:
		case errors.As(d.err, &no):
			m.Status, m.Refusal, m.Line, m.mendable = "refused", no.Why, no.Line, no.Mendable
		case errors.As(d.err, &live):
			m.Status, m.Refusal = "refused", live.Who
		default:
			a.fail(doc, groups[i][0].Path, d.err)
			return
		}
		list = append(list, m)
	})
	p.end()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, m := range list {
		switch {
		case m.mendable, m.Status == "planned":
			doc.Summary.Repairable++
		case m.Status == "refused":
			doc.Summary.Refused++
		}
	}
	a.doc = &report.Document{Summary: doc.Summary}
	return a.printMigrated(list, doc, o)
}

// migratedOf is the report of one session.
func migratedOf(group []store.Session, outs []*migrate.Outcome, o migrateOptions) migrated {
	m := migrated{Path: group[0].Path, Agent: group[0].Format.Name(), ID: group[0].ID, Status: "current", Parts: []migratedPart{}}
	if dir := group[0].Folder(); dir != "" {
		m.Path = dir
	}
	for _, out := range outs {
		if len(out.Steps) == 0 && !out.Done {
			if out.From != "" {
				m.Parts = append(m.Parts, migratedPart{Path: out.Session.Path, From: out.From, To: out.From})
			}
			continue
		}
		p := migratedPart{
			Path: out.Session.Path, From: out.From, To: out.To, Repaired: out.Repaired, Records: out.Records, Size: out.Size, Counts: out.Counts,
			There: out.There, Receipt: out.Receipt,
		}
		if out.Path != out.Session.Path {
			p.Output = out.Path
		}
		if out.SHA256[1] != "" {
			p.SHA256 = &report.Hashes{Before: out.SHA256[0], After: out.SHA256[1]}
		}
		for _, s := range out.Steps {
			p.Steps = append(p.Steps, s.From+" → "+s.To)
			if s.Unproved != "" {
				p.Notes = append(p.Notes, migratedNote{Text: fmt.Sprintf("step %s → %s: %s", s.From, s.To, s.Unproved)})
			}
		}
		for _, w := range out.Whys {
			p.Reasons = append(p.Reasons, migratedReason{Text: w.Text, Records: w.Records, Line: w.Line})
		}
		for _, n := range out.Notes {
			p.Notes = append(p.Notes, migratedNote{Line: n.N + 1, Text: n.Text})
		}
		p.Changes = changesOf(out.Fates, o.showContent)
		m.Parts = append(m.Parts, p)
		switch {
		case out.Done:
			m.Status = "migrated"
		case o.dryRun && !out.There && m.Status == "current":
			m.Status = "planned"
		}
	}
	return m
}
