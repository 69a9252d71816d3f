package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/report"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

func (a *app) verifyCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "verify [PATH...]",
		Short: "Say what is wrong with sessions (the default command)",
		Long: `Verify reads sessions and says what is wrong with each: where, what the agent will do with
it, what repair would do, and what never to do. It changes nothing.

A PATH is a file, a directory that is searched for sessions, or - for standard input.
Without PATH all sessions of the agents on this machine are verified.`,
		Example: `  sessfix verify
  sessfix verify --json ~/.dsh/sessions > report.json
  zstd -dc old.jsonl.zst | sessfix verify -`,
		RunE: func(c *cobra.Command, args []string) error { return a.verify(c.Context(), args) },
	}
	c.Flags().StringVar(&a.target, "target-version", "", "also tell whether that release of the agent would upgrade the session")
	return c
}

// verified is what came of one session.
type verified struct {
	res  []*verify.Result // of each part
	path string           // of the part that could not be looked at
	err  error
}

// verifyAll verifies each part of a session.
func (a *app) verifyAll(ctx context.Context, parts []store.Session) (v verified) {
	for _, s := range parts {
		res, err := a.verifyOne(ctx, s)
		if err != nil {
			return verified{path: s.Path, err: err}
		}
		v.res = append(v.res, res)
	}
	return v
}

// whole is the report of a session, of those of its parts.
func whole(group []store.Session, parts []report.Session) report.Session {
	folder := group[0].Folder()
	if folder == "" {
		return parts[0]
	}
	var about []report.Part
	for i, s := range group {
		about = append(about, report.Part{Role: s.Part().Role, Missing: s.Missing})
		parts[i].ID, parts[i].CWD = cmp.Or(s.ID, parts[i].ID), cmp.Or(s.CWD, parts[i].CWD)
	}
	return report.Join(folder, parts, about)
}

func (a *app) verify(ctx context.Context, args []string) error {
	args, cleanup, err := a.stdin(ctx, args)
	defer cleanup()
	if err != nil {
		return err
	}
	if a.home != "" && len(args) == 0 {
		if _, err := os.ReadDir(a.home); err != nil {
			return fmt.Errorf("look into --home: %w", err)
		}
	}
	found, err := store.Open(ctx, args, a.options())
	if err != nil {
		return err
	}
	defer found.Close()
	if len(args) == 0 && len(found.Sessions)+len(found.Troubles) == 0 {
		a.warn("no sessions found in the homes of the agents known here")
	}
	if a.target != "" {
		for i := range found.Sessions {
			if s := &found.Sessions[i]; s.Unknown == nil {
				if err := s.Aim(a.target); err != nil {
					return err
				}
			}
		}
	}
	doc := a.document(found)
	groups := found.Groups()
	p := a.progress("verified", len(groups))
	inOrder(ctx, len(groups), a.jobs, func(i int) verified {
		return a.verifyAll(ctx, groups[i])
	}, func(i int, v verified) {
		if v.err != nil {
			a.fail(doc, v.path, v.err)
		} else {
			var parts []report.Session
			for _, res := range v.res {
				parts = append(parts, a.named(report.Of(res)))
			}
			add(doc, whole(groups[i], parts))
		}
		p.step(i + 1)
	})
	p.end()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := a.print(doc, a.verbose || len(doc.Sessions) <= 3); err != nil {
		return err
	}
	a.next(doc)
	return nil
}

func (a *app) verifyOne(ctx context.Context, s store.Session) (*verify.Result, error) {
	var around []finding.Finding
	if dir, pending := repair.Pending(durable.Disk, a.caseDir, s.Path); pending {
		f := finding.New(finding.RepairPending)
		f.Message = "a repair of this session was interrupted; its case is " + dir
		around = append(around, f)
	}
	return verify.File(ctx, s, around...)
}

// document begins a report with what was found beside sessions.
func (a *app) document(found *store.Found) *report.Document {
	doc := &report.Document{Version: report.Version, Tool: tool(), Sessions: []report.Session{}}
	for _, t := range found.Troubles {
		a.fail(doc, t.Path, t)
	}
	for _, r := range found.Roots {
		list, verdict := verify.Root(r)
		doc.Homes = append(doc.Homes, report.Home{Path: r.Path, Agent: r.Format.Name(), Verdict: verdict.String(), Findings: report.Findings("", list)})
	}
	return doc
}

// fail notes and prints a path that could not be looked at. The others go on.
func (a *app) fail(doc *report.Document, path string, err error) {
	doc.Summary.Failed++
	doc.Errors = append(doc.Errors, report.Error{Path: a.unspool(path), Error: a.unspool(sayError(err))})
	if a.format != "github" { // its runner reads standard error as well, and the annotation says it
		a.complain(err)
	}
}

func add(doc *report.Document, s report.Session) {
	doc.Sessions = append(doc.Sessions, s)
	doc.Summary.Sessions++
	switch {
	case s.Repaired:
		doc.Summary.Repaired++
	case s.Verdict == verify.Clean.String():
		doc.Summary.Clean++
	case s.Verdict == verify.Repairable.String():
		doc.Summary.Repairable++
	default:
		doc.Summary.Refused++
	}
}

// next ends a report for people with the command to run.
func (a *app) next(doc *report.Document) {
	if !a.verbose && len(doc.Sessions) > 3 && doc.Summary.Repairable+doc.Summary.Refused > 0 {
		a.hint("sessfix -v PATH... shows the findings")
	}
	if doc.Summary.Repairable == 0 {
		return
	}
	path := "PATH"
	for _, s := range doc.Sessions {
		if s.Verdict == verify.Repairable.String() && s.Path != "-" {
			if path != "PATH" {
				path = "PATH..."
				break
			}
			path = shellWord(s.Path)
		}
	}
	a.hint("sessfix repair --dry-run %s shows what repair would do", path)
}

// stdin puts standard input into a file of its own where an argument asks for it.
func (a *app) stdin(ctx context.Context, args []string) ([]string, func(), error) {
	at := slices.Index(args, "-")
	if at < 0 {
		return args, func() {}, nil
	}
	if slices.Contains(args[at+1:], "-") {
		return nil, func() {}, errors.New("standard input can be read only once")
	}
	f, err := os.CreateTemp("", "sessfix-stdin-*.jsonl")
	if err != nil {
		return nil, func() {}, err
	}
	a.spool = f.Name()
	cleanup := func() { os.Remove(f.Name()) }
	// A read of a terminal cannot be interrupted: it is left behind.
	done := make(chan error, 1)
	go func() {
		_, err := io.Copy(f, a.io.In)
		if e := f.Close(); err == nil {
			err = e
		}
		done <- err
	}()
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return nil, cleanup, fmt.Errorf("read standard input: %w", err)
	}
	args = slices.Clone(args)
	args[at] = a.spool
	return args, cleanup, nil
}

// named gives standard input its own name in reports.
func (a *app) named(s report.Session) report.Session {
	if a.spool != "" && s.Path == a.spool {
		s.Path = "-"
		for i := range s.Findings {
			s.Findings[i].File = "-"
		}
	}
	return s
}
