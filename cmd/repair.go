package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessfix/sessfix/edit"
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/report"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

type repairOptions struct {
	dryRun bool
	output string
	accept []string

	showContent bool
}

func (a *app) repairCmd() *cobra.Command {
	var o repairOptions
	c := &cobra.Command{
		Use:   "repair [--dry-run | --output DIR] PATH...",
		Short: "Mend sessions so that their agent resumes them",
		Long: `Repair mends what has one safe repair: torn bytes go to quarantine, whole records that stand in
damaged lines or frames are kept, and what a crash left open is closed with records that say
whether a call had started. Of records that hang under each other, what lost its place gets it back:
told anew at the end, or in its place, as the agent reads it. Nothing else is touched.

The result is verified before a byte is written. The original is kept in sessfix's own state
directory, and sessfix undo puts it back byte for byte. A session that is in use, or whose damage
has no safe repair, is refused and not touched.`,
		Example: `  sessfix repair --dry-run session.jsonl     show the plan
  sessfix repair session.jsonl               mend it in place
  sessfix repair --output mended ~/.dsh/sessions`,
		Args: needPath,
		RunE: func(c *cobra.Command, args []string) error { return a.repair(c.Context(), args, o) },
	}
	c.Flags().BoolVarP(&o.dryRun, "dry-run", "n", false, "show what would be done, write nothing")
	c.Flags().BoolVar(&o.showContent, "show-content", false, "with --dry-run: also show text of the session that is told again, and long lines in full")
	c.Flags().StringVarP(&o.output, "output", "o", "", "write mended sessions below this directory, leave the originals alone")
	c.Flags().StringSliceVar(&o.accept, "accept", nil, "take the offer that verify shows for this code")
	return c
}

type repaired struct {
	out []*repair.Outcome // of each part
	err error
}

// repairAll repairs a session with all its parts.
func (a *app) repairAll(ctx context.Context, parts []store.Session, o repairOptions, accept map[finding.Code]bool) repaired {
	opt := a.repairOptions(parts[0], o, accept)
	if opt.Output != "" && parts[0].Folder() != "" {
		opt.Output = filepath.Dir(opt.Output)
	}
	out, err := repair.All(ctx, parts, opt)
	return repaired{out, err}
}

func (a *app) repair(ctx context.Context, args []string, o repairOptions) error {
	if o.dryRun && o.output != "" {
		return errors.New("--dry-run writes nothing: it does not go with --output")
	}
	if o.showContent && !o.dryRun {
		return errors.New("--show-content goes with --dry-run")
	}
	if a.caseDir == "" && !o.dryRun && o.output == "" {
		return errors.New("no home directory to keep originals in: name a place with --case-dir")
	}
	for _, p := range args {
		if p == "-" {
			return errors.New("standard input cannot be repaired: name a file")
		}
	}
	accept := map[finding.Code]bool{}
	for _, code := range o.accept {
		e, ok := finding.Lookup(finding.Code(strings.ToUpper(code)))
		if !ok {
			return fmt.Errorf("unknown code %q: sessfix explain lists them", code)
		}
		accept[e.Code] = true
	}
	found, err := store.Open(ctx, args, a.options())
	if err != nil {
		return err
	}
	defer found.Close()
	doc := a.document(found)
	groups := found.Groups()
	p := a.progress("worked on", len(groups))
	details := a.verbose || len(groups) <= 3 || o.dryRun
	ranks := make([]int, len(groups))
	for i, g := range groups {
		ranks[i] = g[0].Depth()
	}
	inWaves(ctx, ranks, a.jobs, func(i int) repaired {
		return a.repairAll(ctx, groups[i], o, accept)
	}, func(i int, r repaired) {
		a.addRepair(doc, groups[i], r, o, details)
		p.step(i + 1)
	})
	p.end()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := a.print(doc, details); err != nil {
		return err
	}
	a.nextRepair(doc, o)
	return nil
}

// nextRepair ends a report for people with the command that may come next.
func (a *app) nextRepair(doc *report.Document, o repairOptions) {
	for _, s := range doc.Sessions {
		switch {
		case o.dryRun && s.Verdict == verify.Repairable.String():
			a.hint("sessfix repair %s does it", shellWord(s.Path))
		case s.Repaired && o.output == "":
			a.hint("sessfix undo %s takes it back", shellWord(s.Path))
		default:
			continue
		}
		return
	}
}

func (a *app) repairOptions(s store.Session, o repairOptions, accept map[finding.Code]bool) repair.Options {
	r := repair.Options{CaseDir: a.caseDir, DryRun: o.dryRun, Accept: accept, Env: a.io.Env}
	if o.output != "" {
		r.Output = filepath.Join(o.output, s.Rel)
	}
	return r
}

// addRepair puts what came of one session into the report. A repair that refuses is no trouble:
// it is the answer.
func (a *app) addRepair(doc *report.Document, group []store.Session, r repaired, o repairOptions, details bool) {
	var parts []report.Session
	for i, out := range r.out {
		if out == nil || out.Before == nil {
			a.fail(doc, group[i].Path, r.err)
			return
		}
		parts = append(parts, a.repairOf(group[i], out, r.err, o))
	}
	j := whole(group, parts)
	var live *repair.LiveError
	switch {
	case r.err == nil:
	case errors.As(r.err, &live):
		refuse(&j, finding.LiveSession, live.Who)
	case errors.Is(r.err, edit.ErrConflict) || errors.Is(r.err, repair.ErrUnproved):
		refuse(&j, finding.PlanConflict, sayError(r.err))
	default:
		a.fail(doc, group[0].Path, r.err)
		return
	}
	if j.Verdict == verify.Refused.String() && j.Refusal == "" {
		j.Refusal = refusal(&j)
	}
	if j.Refusal != "" {
		j.Closers, j.Quarantined, j.Edits = nil, nil, 0
	}
	add(doc, j)
	if j.Refusal != "" && a.format == "table" && !a.quiet && !details {
		a.warn("%s: not repaired: %s", report.Safe(j.Path), j.Refusal)
	}
}

// repairOf is the report of one part.
func (a *app) repairOf(s store.Session, out *repair.Outcome, err error, o repairOptions) report.Session {
	j := report.Of(out.Before)
	j.AddRepair(out)
	if o.dryRun && err == nil && out.Result != nil {
		st := a.style()
		st.All, st.Content = a.verbose, o.showContent
		j.SetPlan(out, st)
	}
	if out.Changed {
		j.Output = a.repairOptions(s, o, nil).Output
	}
	return j
}

func refuse(j *report.Session, code finding.Code, why string) {
	f := finding.New(code)
	f.Message = why
	e, _ := finding.Lookup(code)
	f.Repair, f.Never = e.Repair, e.Never
	j.Verdict, j.Refusal = verify.Refused.String(), why
	j.Findings = append(j.Findings, report.Findings(filepath.Base(j.Path), []finding.Finding{f})...)
	j.Closers, j.Quarantined, j.Edits = nil, nil, 0
}

// refusal says in one line why there is no safe repair, and the way out.
func refusal(j *report.Session) string {
	for _, f := range j.Findings {
		e, _ := finding.Lookup(finding.Code(f.Code))
		if f.Severity != string(finding.Note) && f.Because == "" && e.Cure == finding.Refuse {
			return f.Code + ": " + f.Message
		}
	}
	return "its damage has no safe repair"
}
