package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/jsonout"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/report"
)

func (a *app) undoCmd() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "undo [--output FILE] PATH|RECEIPT...",
		Short: "Put the original back, byte for byte",
		Long: `Undo takes the last repair of a session back. A PATH is the session's file, or a directory for all
repaired sessions below it; a RECEIPT is the case folder that repair named, or the receipt in it.

Where the agent wrote to the session since the repair, undo refuses: --output puts the original
elsewhere.`,
		Example: `  sessfix undo session.jsonl
  sessfix undo --output before.jsonl session.jsonl`,
		Args: needPath,
		RunE: func(c *cobra.Command, args []string) error { return a.undo(c.Context(), args, output) },
	}
	c.Flags().StringVarP(&output, "output", "o", "", "write the original to this file, or files to this folder, leave the session alone")
	return c
}

func (a *app) undo(ctx context.Context, args []string, output string) error {
	if output != "" && len(args) > 1 {
		return errors.New("--output takes a single session")
	}
	if a.caseDir == "" {
		return errors.New("no home directory: name the place of the originals with --case-dir")
	}
	o := repair.UndoOptions{CaseDir: a.caseDir, Output: output, Formats: a.formats}
	if output != "" {
		if _, err := os.Lstat(output); err == nil {
			return fmt.Errorf("%s exists already", output)
		}
	}
	doc := &report.Document{}
	done := []repair.Undone{}
	for _, arg := range args {
		dirs, err := repair.FindCases(durable.Disk, a.caseDir, arg)
		if err != nil {
			a.undoFailed(doc, arg, err)
			continue
		}
		undone, errs := repair.UndoAll(ctx, dirs, o)
		for _, err := range errs {
			a.undoFailed(doc, arg, err)
		}
		done = append(done, undone...)
	}
	a.doc = doc
	if a.format == "jsonl" {
		for _, u := range done {
			if err := jsonout.Write(a.io.Out, u, false); err != nil {
				return err
			}
		}
		return jsonlErrors(a.io.Out, doc.Errors)
	}
	if a.format == "json" {
		return jsonout.Write(a.io.Out, struct {
			Version int             `json:"version"`
			Tool    jsonout.Tool    `json:"tool"`
			Undone  []repair.Undone `json:"undone"`
			Errors  []report.Error  `json:"errors,omitempty"`
		}{report.Version, tool(), done, doc.Errors}, true)
	}
	for _, u := range done {
		if u.Gone {
			fmt.Fprintf(a.io.Out, "%s: it is gone again, as before the repair\n", report.Safe(u.Path))
			continue
		}
		fmt.Fprintf(a.io.Out, "%s: the original is back (sha256 %s)\n", report.Safe(u.Path), u.SHA256)
	}
	return nil
}

// undoFailed tells refusals, which leave everything as it is, from trouble.
func (a *app) undoFailed(doc *report.Document, arg string, err error) {
	var live *repair.LiveError
	if errors.As(err, &live) || errors.Is(err, repair.ErrWritten) {
		doc.Summary.Refused++
	} else {
		doc.Summary.Failed++
	}
	if errors.Is(err, repair.ErrNoCase) {
		err = fmt.Errorf("%s: %w", arg, repair.ErrNoCase)
	}
	doc.Errors = append(doc.Errors, report.Error{Path: arg, Error: sayError(err)})
	a.complain(err)
}
