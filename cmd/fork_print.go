package cmd

import (
	"errors"
	"fmt"
	"path/filepath"
	"text/tabwriter"

	"github.com/sessfix/sessfix/fork"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/jsonout"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/report"
)

// forked is what fork prints.
type forked struct {
	Version int           `json:"version"`
	Tool    jsonout.Tool  `json:"tool"`
	Path    string        `json:"path"`
	Agent   string        `json:"agent"`
	ID      string        `json:"id,omitempty"`
	Places  []forkedPlace `json:"places,omitempty"`
	Child   *forkedChild  `json:"child,omitempty"`
	Refusal string        `json:"refusal,omitempty"`
}

// forkedPlace is a place where the session may be cut, or may not.
type forkedPlace struct {
	Line   int64    `json:"line,omitempty"`
	Offset int64    `json:"offset"` // behind the record
	Seq    *int64   `json:"seq,omitempty"`
	ID     string   `json:"id,omitempty"`
	Turn   int64    `json:"turn"`
	Kind   string   `json:"kind"`
	Legal  bool     `json:"legal"`
	Open   string   `json:"open,omitempty"`
	Calls  []string `json:"calls,omitempty"`
	Close  bool     `json:"closable,omitempty"`
}

// forkedChild is the session that was made.
type forkedChild struct {
	Path     string          `json:"path"`
	ID       string          `json:"id"`
	Files    []string        `json:"files"`
	Records  int64           `json:"records"`
	At       forkedPlace     `json:"at"`
	Closers  []repair.Closer `json:"closers,omitempty"`
	Worktree string          `json:"worktree,omitempty"`
	Notes    []string        `json:"notes,omitempty"`
}

func placeOf(c format.Cut) forkedPlace {
	p := forkedPlace{Line: c.Logical, Offset: c.End(), ID: c.ID, Turn: c.Turn, Kind: c.Kind, Legal: c.Open == "", Open: c.Open, Calls: c.Calls, Close: c.Closable}
	if c.Seq >= 0 {
		p.Seq = &c.Seq
	}
	return p
}

// forkDone prints what came of it. A refusal is the answer, and no trouble.
func (a *app) forkDone(out *forked, err error) error {
	doc := &report.Document{}
	var no *fork.RefusedError
	var live *repair.LiveError
	switch {
	case errors.As(err, &no):
		out.Refusal = no.Why
		if no.Mendable {
			doc.Summary.Repairable = 1
		} else {
			doc.Summary.Refused = 1
		}
	case errors.As(err, &live):
		out.Refusal, doc.Summary.Refused = live.Who, 1
	case err != nil:
		return err
	}
	a.doc = doc
	if a.format != "table" {
		return jsonout.Write(a.io.Out, out, a.format == "json")
	}
	if out.Refusal != "" {
		a.warn("%s: not forked: %s", out.Path, out.Refusal)
		if no != nil && no.Mendable {
			a.hint("sessfix repair %s", shellWord(out.Path))
		} else {
			a.hint("sessfix fork --list %s shows the places", shellWord(out.Path))
		}
		return nil
	}
	if out.Child == nil {
		return a.printPlaces(out)
	}
	return a.printChild(out)
}

// printPlaces lists the places for people: the legal ones, with --verbose the others as well.
func (a *app) printPlaces(out *forked) error {
	w := tabwriter.NewWriter(a.io.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "LINE\tSEQ\tTURN\tBEHIND\tID\tOPEN")
	for _, p := range out.Places {
		if !p.Legal && !a.verbose {
			continue
		}
		seq, line := "-", "-"
		if p.Seq != nil {
			seq = fmt.Sprint(*p.Seq)
		}
		if p.Line > 0 {
			line = fmt.Sprint(p.Line)
		}
		id, open := p.ID, p.Open
		if id == "" {
			id = "-"
		}
		if open == "" {
			open = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\n", line, seq, p.Turn, p.Kind, report.Safe(id), report.Safe(open))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if !a.verbose {
		a.hint("--verbose also shows where it may not be cut, and why")
	}
	return nil
}

// printChild says what was made.
func (a *app) printChild(out *forked) error {
	c := out.Child
	_, err := fmt.Fprintf(a.io.Out, "%s\n  id       %s\n  records  %d\n  cut      behind %s, turn %d\n", report.Safe(c.Path), report.Safe(c.ID), c.Records, c.At.where(), c.At.Turn)
	for _, x := range c.Closers {
		what := x.Kind
		if x.Code != "" {
			what = x.Code + " " + x.CallID
		}
		fmt.Fprintf(a.io.Out, "  closed   %s\n", report.Safe(what))
	}
	if c.Worktree != "" {
		fmt.Fprintf(a.io.Out, "  worktree %s\n", report.Safe(c.Worktree))
	}
	for _, n := range c.Notes {
		a.warn("note: %s", n)
	}
	if len(c.Files) > 1 && a.verbose {
		for _, f := range c.Files {
			fmt.Fprintf(a.io.Out, "  file     %s\n", report.Safe(filepath.ToSlash(f)))
		}
	}
	return err
}

func (p forkedPlace) where() string {
	switch {
	case p.Line > 0:
		return fmt.Sprintf("line %d (%s)", p.Line, p.Kind)
	case p.Seq != nil:
		return fmt.Sprintf("number %d (%s)", *p.Seq, p.Kind)
	}
	return fmt.Sprintf("%s (%s)", report.Safe(p.ID), p.Kind)
}
