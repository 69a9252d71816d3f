package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/jsonout"
	"github.com/sessfix/sessfix/report"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

func (a *app) listCmd() *cobra.Command {
	var long bool
	var cursor string
	c := &cobra.Command{
		Use:   "list [PATH...]",
		Short: "List the sessions found",
		Long: `List shows the sessions under PATH, or of the agents on this machine: agent, format version, size, id
and path. It reads only the beginning of each; --long reads all and adds turns, the last state
and the verdict.`,
		Example: `  sessfix list
  sessfix list --long ~/.dsh/sessions
  sessfix list --cursor 019a...-42 session`,
		RunE: func(c *cobra.Command, args []string) error { return a.list(c.Context(), args, long, cursor) },
	}
	c.Flags().BoolVarP(&long, "long", "l", false, "read each session: turns, last state, verdict")
	c.Flags().StringVar(&cursor, "cursor", "", "also tell whether a client that saw this event last gets only what came behind it")
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
	// Replay is what a client gets that saw the event last that was asked for.
	Replay *format.Replay `json:"replay,omitempty"`
}

func (a *app) list(ctx context.Context, args []string, long bool, cursor string) error {
	found, err := store.Open(ctx, args, a.options())
	if err != nil {
		return err
	}
	defer found.Close()
	doc := a.document(found)
	doc.Homes = nil
	out := []listed{}
	groups := found.Groups()
	inOrder(ctx, len(groups), a.jobs, func(i int) verified {
		if !long {
			return verified{}
		}
		return a.verifyAll(ctx, groups[i])
	}, func(i int, v verified) {
		if v.err != nil {
			a.fail(doc, v.path, v.err)
			return
		}
		l := about(groups[i])
		if v.res != nil {
			l.read(groups[i], v.res)
		}
		if r, ok := groups[i][0].Format.(format.Replayable); ok && cursor != "" {
			if at, ok := r.Replay(os.DirFS(filepath.Dir(groups[i][0].Path)), cursor); ok {
				l.Replay = &at
			}
		}
		out = append(out, l)
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	a.doc = &report.Document{Summary: report.Summary{Failed: doc.Summary.Failed}}
	return a.printList(out, doc.Errors, long, cursor != "")
}

// about is what is known of a session before it is read.
func about(parts []store.Session) listed {
	s := parts[0]
	l := listed{Path: s.Path, Agent: s.Format.Name(), Medium: s.Medium, ID: s.ID, CWD: s.CWD}
	if dir := s.Folder(); dir != "" {
		l.Path, l.Medium = dir, "folder"
	}
	for _, p := range parts {
		v := ""
		if p.Unknown != nil {
			v = p.Unknown.Version
		} else {
			v = p.Dialect.Version()
		}
		if len(parts) == 1 || report.IsVersion(v) {
			l.Version = v // other parts only say what they are
		}
		if fi, err := os.Stat(p.Path); err == nil {
			l.Size += fi.Size()
		}
	}
	return l
}

// read adds what was found out by reading it.
func (l *listed) read(parts []store.Session, results []*verify.Result) {
	var list []report.Session
	for _, r := range results {
		list = append(list, report.Of(r))
	}
	s := whole(parts, list)
	l.Turns, l.Verdict, l.State = &s.Turns, s.Verdict, "closed"
	switch t := s.Tail; {
	case t != nil && t.Turn > 0:
		l.State = fmt.Sprintf("turn %d open, unanswered calls: %d", t.Turn, len(t.Calls))
	case t != nil:
		l.State = fmt.Sprintf("open, unanswered calls: %d", len(t.Calls))
	case slices.ContainsFunc(s.Findings, func(f report.Finding) bool { return f.Code == string(finding.OpenTurn) }):
		l.State = "open"
	}
}

func (a *app) printList(out []listed, errs []report.Error, long, cursor bool) error {
	switch a.format {
	case "json":
		return jsonout.Write(a.io.Out, struct {
			Version  int            `json:"version"`
			Tool     jsonout.Tool   `json:"tool"`
			Sessions []listed       `json:"sessions"`
			Errors   []report.Error `json:"errors,omitempty"`
		}{report.Version, tool(), out, errs}, true)
	case "jsonl":
		for _, l := range out {
			if err := jsonout.Write(a.io.Out, l, false); err != nil {
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
	if cursor {
		head += "\tREPLAY"
	}
	fmt.Fprintln(w, head+"\tPATH")
	for _, l := range out {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s", l.Agent, report.Safe(l.Version), l.Size, report.Safe(l.ID))
		if long {
			fmt.Fprintf(w, "\t%d\t%s\t%s", *l.Turns, l.State, l.Verdict)
		}
		if cursor {
			fmt.Fprintf(w, "\t%s", replay(l.Replay))
		}
		fmt.Fprintf(w, "\t%s\n", report.Safe(l.Path))
	}
	return w.Flush()
}

// replay says in a word what a client gets.
func replay(r *format.Replay) string {
	switch {
	case r == nil:
		return "-"
	case r.Full:
		return fmt.Sprintf("full, %d", r.Records)
	}
	return fmt.Sprintf("delta, %d", r.Records)
}

// jsonlErrors ends a stream with a line for each path that could not be looked at.
func jsonlErrors(w io.Writer, errs []report.Error) error {
	for _, x := range errs {
		if err := jsonout.Write(w, x, false); err != nil {
			return err
		}
	}
	return nil
}
