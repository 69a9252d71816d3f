package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sessfix/sessfix/report"
	"github.com/sessfix/sessfix/store"
)

func (a *app) listCmd() *cobra.Command {
	var long bool
	c := &cobra.Command{
		Use:   "list [PATH...]",
		Short: "List the sessions found",
		Long: `List shows the sessions under PATH, or of the agents on this machine: agent, format version, size, id
and path. It reads only the beginning of each; --long reads all and adds turns, the last state
and the verdict.`,
		Example: `  sessfix list
  sessfix list --long ~/.dsh/sessions`,
		RunE: func(c *cobra.Command, args []string) error { return a.list(c.Context(), args, long) },
	}
	c.Flags().BoolVarP(&long, "long", "l", false, "read each session: turns, last state, verdict")
	return c
}

// listed is a line of the list.
type listed struct {
	Path    string `json:"path"`
	Agent   string `json:"agent"`
	Version string `json:"formatVersion"`
	Medium  string `json:"medium"`
	ID      string `json:"id,omitempty"`
	CWD     string `json:"cwd,omitempty"`
	Size    int64  `json:"size"`
	Turns   *int64 `json:"turns,omitempty"`
	State   string `json:"state,omitempty"`
	Verdict string `json:"verdict,omitempty"`
}

func (a *app) list(ctx context.Context, args []string, long bool) error {
	found, err := store.Open(ctx, args, a.options())
	if err != nil {
		return err
	}
	defer found.Close()
	doc := a.document(found)
	doc.Homes = nil
	out := []listed{}
	inOrder(ctx, len(found.Sessions), a.jobs, func(i int) verified {
		if !long {
			return verified{}
		}
		res, err := a.verifyOne(ctx, found.Sessions[i])
		return verified{res, err}
	}, func(i int, v verified) {
		s := found.Sessions[i]
		if v.err != nil {
			a.fail(doc, s.Path, v.err)
			return
		}
		l := listed{Path: s.Path, Agent: s.Format.Name(), Medium: s.Medium, ID: s.ID, CWD: s.CWD}
		if s.Unknown != nil {
			l.Version = s.Unknown.Version
		} else {
			l.Version = s.Dialect.Version()
		}
		if fi, err := os.Stat(s.Path); err == nil {
			l.Size = fi.Size()
		}
		if r := v.res; r != nil {
			l.Turns, l.Verdict, l.State = &r.Turns, r.Verdict.String(), "closed"
			if r.Open {
				l.State = fmt.Sprintf("turn %d open, unanswered calls: %d", r.Tail.Turn, len(r.Tail.Calls))
			}
		}
		out = append(out, l)
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	a.doc = &report.Document{Summary: report.Summary{Failed: doc.Summary.Failed}}
	return a.printList(out, doc.Errors, long)
}

func (a *app) printList(out []listed, errs []report.Error, long bool) error {
	switch a.format {
	case "json":
		return report.Encode(a.io.Out, struct {
			Version  int            `json:"version"`
			Tool     report.Tool    `json:"tool"`
			Sessions []listed       `json:"sessions"`
			Errors   []report.Error `json:"errors,omitempty"`
		}{report.Version, tool(), out, errs}, true)
	case "jsonl":
		for _, l := range out {
			if err := report.Encode(a.io.Out, l, false); err != nil {
				return err
			}
		}
		return jsonlErrors(a.io.Out, errs)
	}
	w := tabwriter.NewWriter(a.io.Out, 0, 0, 2, ' ', 0)
	head := "AGENT\tVERSION\tSIZE\tID"
	if long {
		head += "\tTURNS\tSTATE\tVERDICT"
	}
	fmt.Fprintln(w, head+"\tPATH")
	for _, l := range out {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s", l.Agent, report.Safe(l.Version), l.Size, report.Safe(l.ID))
		if long {
			fmt.Fprintf(w, "\t%d\t%s\t%s", *l.Turns, l.State, l.Verdict)
		}
		fmt.Fprintf(w, "\t%s\n", report.Safe(l.Path))
	}
	return w.Flush()
}

// jsonlErrors ends a stream with a line for each path that could not be looked at.
func jsonlErrors(w io.Writer, errs []report.Error) error {
	for _, x := range errs {
		if err := report.Encode(w, x, false); err != nil {
			return err
		}
	}
	return nil
}
