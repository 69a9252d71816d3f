package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/export"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/verify"
)

type exportOptions struct {
	format, provider, output, prompt string
	content, redact, system          bool
}

// exportFormats are the forms of an export.
var exportFormats = []string{"markdown", "html", "messages", "jsonl"}

func (a *app) exportCmd() *cobra.Command {
	var o exportOptions
	c := &cobra.Command{
		Use:   "export --format FORMAT PATH",
		Short: "Tell a session to people or to other programs",
		Long: `Export writes one session in another form, to standard output or to the file of --output. The session
is read and never written.

  markdown  a transcript: what was said on the way to where the talk goes on, calls folded
  html      one page to look at: byte map, timeline, branches, findings; it loads nothing from anywhere
  messages  what the next request holds, as a list that a provider takes: --provider anthropic or openai
  jsonl     each record as it lies on disk: span, events, state, and what it says

Markdown and messages show the session as a repair would leave it. HTML and JSON lines show it as it lies
on disk, with the findings, and HTML also what a repair would do. These two hold lengths and hashes in the place
of the conversation unless --show-content asks for it; the other two hold the conversation unless --redact
takes it out.`,
		Example: `  sessfix export --format markdown session.jsonl > session.md
  sessfix export --format html -o session.html session.jsonl
  sessfix export --format messages --provider anthropic --prompt "Go on." session.jsonl
  sessfix export --format jsonl session.jsonl | jq 'select(.state == "branch")'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name one session")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return a.export(c.Context(), args, o) },
	}
	f := c.Flags()
	// The flag of all commands by this name says something else here.
	f.StringVar(&o.format, "format", "markdown", "markdown, html, messages or jsonl")
	f.StringVar(&o.provider, "provider", "", "whose messages: "+strings.Join(export.Providers(), " or "))
	f.StringVarP(&o.output, "output", "o", "", "write to this new file, not to standard output")
	f.BoolVar(&o.content, "show-content", false, "html, jsonl: with the text of the conversation")
	f.BoolVar(&o.redact, "redact", false, "markdown, messages: lengths and hashes in the place of the conversation")
	f.StringVar(&o.prompt, "prompt", "", "messages: what the user says next, at the end of the list")
	f.BoolVar(&o.system, "system", false, "messages: write the instructions that the session holds, not the list")
	return c
}

// judge tells whether the flags go together.
func (o *exportOptions) judge() error {
	text := o.format == "markdown" || o.format == "messages"
	switch {
	case !slices.Contains(exportFormats, o.format):
		return fmt.Errorf("unknown format %q: %s", o.format, strings.Join(exportFormats, ", "))
	case o.provider != "" && o.format != "messages":
		return errors.New("--provider goes with --format messages")
	case o.format == "messages" && o.provider == "":
		return fmt.Errorf("--format messages needs --provider %s", strings.Join(export.Providers(), " or "))
	case o.provider != "" && !slices.Contains(export.Providers(), o.provider):
		return fmt.Errorf("unknown provider %q: %s", o.provider, strings.Join(export.Providers(), " or "))
	case o.system && o.format != "messages":
		return errors.New("--system goes with --format messages")
	case o.prompt != "" && (o.format != "messages" || o.system):
		return errors.New("--prompt goes with the list of --format messages")
	case o.redact && o.content:
		return errors.New("--redact and --show-content do not go together")
	case o.redact && !text:
		return fmt.Errorf("--format %s holds no text of the conversation unless --show-content asks for it", o.format)
	}
	if text {
		o.content = !o.redact
	}
	return nil
}

func (a *app) export(ctx context.Context, args []string, o exportOptions) error {
	if a.json {
		return errors.New("--json goes with other commands: --format jsonl writes records")
	}
	if err := o.judge(); err != nil {
		return err
	}
	if o.output != "" {
		if _, err := os.Lstat(o.output); err == nil {
			return fmt.Errorf("%s exists: nothing is written over", o.output)
		}
	}
	args, cleanup, err := a.stdin(ctx, args)
	defer cleanup()
	if err != nil {
		return err
	}
	parts, found, err := a.one(ctx, args[0])
	if err != nil {
		return err
	}
	defer found.Close()
	s, err := export.Open(ctx, parts, repair.Options{CaseDir: a.caseDir, Env: a.io.Env})
	if err != nil {
		return err
	}
	defer s.Close()
	if s.Path == a.spool && a.spool != "" {
		s.Path, s.Parts[0].File = "-", "-"
	}
	a.exportNotes(s, o)
	if o.output == "" {
		out := bufio.NewWriter(a.io.Out)
		if err := a.exportTo(ctx, out, s, o); err != nil {
			return err
		}
		return out.Flush()
	}
	path, err := filepath.Abs(o.output)
	if err != nil {
		return err
	}
	if err := durable.MkdirAllSync(durable.Disk, filepath.Dir(path)); err != nil {
		return err
	}
	return durable.WriteNew(durable.Disk, path, func(w io.Writer) error { return a.exportTo(ctx, w, s, o) })
}

func (a *app) exportTo(ctx context.Context, w io.Writer, s *export.Session, o exportOptions) error {
	opt := export.Options{Content: o.content, Prompt: o.prompt}
	switch o.format {
	case "markdown":
		return export.WriteMarkdown(ctx, w, s, opt)
	case "jsonl":
		return export.WriteJSONL(ctx, w, s, tool(), opt)
	case "messages":
		if o.system {
			return export.WriteSystem(ctx, w, s, opt)
		}
		left, err := export.WriteMessages(ctx, w, s, o.provider, opt)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Path, err)
		}
		a.leftOut(left)
		return nil
	}
	return export.WriteHTML(ctx, w, s, tool(), opt)
}

// exportNotes tells what the reader of an export should know of the session.
func (a *app) exportNotes(s *export.Session, o exportOptions) {
	if s.BaseError != nil {
		a.warn("%s: its beginning stands in another file, which is not told: %s", s.Path, s.BaseError)
	}
	if o.format != "markdown" && o.format != "messages" {
		return
	}
	switch {
	case s.Talk == nil:
		a.warn("%s: nothing is known of what its records say", s.Path)
	case s.Verdict() == verify.Repairable:
		a.warn("%s is damaged: it is told as a repair would leave it", s.Path)
	case s.Verdict() == verify.Refused:
		a.warn("%s is damaged, and there is no safe repair: what can be read is told", s.Path)
	}
}

// leftOut tells what a list of messages is without.
func (a *app) leftOut(l export.Left) {
	tell := func(n int, one, many string) {
		if n == 1 {
			a.warn("1 %s", one)
		} else if n > 1 {
			a.warn("%d %s", n, many)
		}
	}
	tell(l.System, "text of instructions is not in the list: --system writes it", "texts of instructions are not in the list: --system writes them")
	tell(l.Thinking, "block of thinking is left out: it holds for the model and the key that made it", "blocks of thinking are left out: they hold for the model and the key that made them")
	tell(l.Orphans, "result without its call is left out", "results without their calls are left out")
	tell(l.Answered, "call without result is answered: it may or may not have run", "calls without results are answered: they may or may not have run")
	tell(l.Renamed, "id or name is written otherwise: the provider does not take it as it is", "ids and names are written otherwise: the provider does not take them as they are")
	tell(l.Other, "block that this provider does not take there is left out, or a word stands in its place", "blocks that this provider does not take there are left out, or words stand in their place")
	tell(l.Opened, "message was put in front, so that the user begins", "messages were put in front, so that the user begins")
}
