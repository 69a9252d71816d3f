// Package cmd is the command line: flags in, a call into the library, printing out.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/all"
	"github.com/sessfix/sessfix/jsonout"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/report"
	"github.com/sessfix/sessfix/store"
)

// app is one run of the program.
type app struct {
	io      IO
	formats []format.Format
	doc     *report.Document // decides the exit status, where a command made one

	format, color  string
	json, quiet    bool
	verbose        bool
	jobs           int
	home, caseDir  string
	client, target string
	spool          string // file that holds standard input
}

// Main runs the program and returns its exit status.
func Main(ctx context.Context, args []string, o IO) int {
	a := &app{io: o, formats: all.Formats()}
	root := a.root()
	root.SetArgs(withDefault(root, args))
	root.SetIn(o.In)
	root.SetOut(o.Out)
	root.SetErr(o.Err)
	err := root.ExecuteContext(ctx)
	if ctx.Err() != nil {
		err = ctx.Err()
		fmt.Fprintln(o.Err, "sessfix: interrupted")
	} else if errors.Is(err, syscall.EPIPE) {
		return exitClean
	} else if err != nil {
		a.complain(err)
	}
	return status(err, a.doc)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "sessfix",
		Short: "The fsck of agent sessions",
		Long: `sessfix finds what a crash, a full disk or two writers did to the session log of an AI
coding agent, says exactly where, and mends it so that the agent resumes it. It loses no
intact record, keeps the original and can undo what it did.

Without a command it verifies: "sessfix PATH" is "sessfix verify PATH".`,
		Example: `  sessfix                            every session of this machine's agents
  sessfix verify ~/.dsh/sessions     a tree of sessions
  sessfix repair --dry-run FILE      show the plan
  sessfix repair FILE                mend it in place; sessfix undo FILE takes it back
  sessfix export FILE                a transcript to read
  sessfix explain TORN_TAIL          what a finding means`,
		Version:           version(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error { return a.check(c.Name()) },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	root.SetHelpCommand(a.helpCmd())
	root.SuggestionsMinimumDistance = 2
	root.SetVersionTemplate("sessfix {{.Version}}\n")
	root.SetUsageTemplate(root.UsageTemplate() + "\n" + exitHelp + "\n")
	f := root.PersistentFlags()
	f.StringVar(&a.format, "format", "table", "table, json or jsonl; verify, scan, repair: also sarif, junit, github")
	f.BoolVar(&a.json, "json", false, "short for --format json")
	f.StringVar(&a.color, "color", "auto", "colour: auto, always or never (NO_COLOR turns it off)")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "print nothing on standard error but errors")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "print the findings of every session")
	f.IntVarP(&a.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "sessions worked on at once")
	f.StringVar(&a.home, "home", "", "agent home to look into where no PATH is given")
	f.StringVar(&a.caseDir, "case-dir", "", "where originals and receipts are kept (default: sessfix's own state directory)")
	f.StringVar(&a.client, "client", "", "version of the client that opens the session next")
	root.AddCommand(a.verifyCmd(), a.scanCmd(), a.committedCmd(), a.repairCmd(), a.undoCmd(), a.migrateCmd(), a.forkCmd(), a.exportCmd(), a.explainCmd(), a.listCmd())
	return root
}

// withDefault puts "verify" in front of arguments that name no command.
func withDefault(root *cobra.Command, args []string) []string {
	takesValue := map[string]bool{"--format": true, "--color": true, "--jobs": true, "-j": true, "--home": true, "--case-dir": true, "--client": true, "--target-version": true, "--at": true, "--id": true, "--seq": true, "--length": true, "--record": true, "--output": true, "-o": true, "--worktree": true, "--to": true, "--medium": true, "--accept": true, "--cursor": true, "--provider": true, "--prompt": true}
	for i := 0; i < len(args); i++ {
		s := args[i]
		if s == "--help" || s == "-h" || s == "--version" {
			return args
		}
		if takesValue[s] {
			i++
			continue
		}
		if s == "--" || s == "-" || !strings.HasPrefix(s, "-") {
			if slices.Contains([]string{"help", "completion", "__complete", "__completeNoDesc"}, s) {
				return args
			}
			for _, c := range root.Commands() {
				if c.Name() == s {
					return args
				}
			}
			break
		}
	}
	return append([]string{"verify"}, args...)
}

// check judges the flags that all commands share.
func (a *app) check(command string) error {
	if a.json {
		a.format = "json"
	}
	if err := a.checkFormat(command); err != nil {
		return err
	}
	switch a.color {
	case "auto", "always", "never":
	default:
		return fmt.Errorf("unknown colour %q: auto, always or never", a.color)
	}
	if a.jobs < 1 {
		return fmt.Errorf("--jobs must be at least 1")
	}
	if a.caseDir == "" {
		dir, err := repair.DefaultCaseDir(a.io.Env)
		if err == nil {
			a.caseDir = dir
		}
	}
	return nil
}

// needPath is what cobra's own words would not say as plainly.
func needPath(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("name at least one PATH")
	}
	return nil
}

// complain prints an error the way all of them are printed.
func (a *app) complain(err error) {
	var told trouble
	if errors.As(err, &told) {
		return
	}
	fmt.Fprintf(a.io.Err, "sessfix: error: %s\n", report.Safe(a.unspool(sayError(err))))
	if hint := a.hintFor(err); hint != "" {
		fmt.Fprintf(a.io.Err, "hint: %s\n", hint)
	}
}

func (a *app) warn(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.io.Err, "sessfix: %s\n", report.Safe(fmt.Sprintf(format, args...)))
	}
}

func (a *app) hint(format string, args ...any) {
	if !a.quiet && a.format == "table" {
		fmt.Fprintf(a.io.Err, "hint: %s\n", fmt.Sprintf(format, args...))
	}
}

// unspool calls standard input by its own name.
func (a *app) unspool(text string) string {
	if a.spool == "" {
		return text
	}
	return strings.ReplaceAll(text, a.spool, "-")
}

func (a *app) hintFor(err error) string {
	var t store.Trouble
	if strings.HasPrefix(err.Error(), "unknown flag") || strings.HasPrefix(err.Error(), "unknown shorthand") {
		return "sessfix help COMMAND lists the flags"
	}
	if errors.As(err, &t) && errors.Is(err, fs.ErrNotExist) {
		// A root of its own: making one sets the flags it registers to their defaults.
		if s := (&app{io: a.io}).root().SuggestionsFor(t.Path); len(s) > 0 {
			return "did you mean sessfix " + s[0] + "?"
		}
	}
	path := "PATH"
	if errors.As(err, &t) {
		path = shellWord(a.unspool(t.Path))
	}
	if errors.Is(err, store.ErrUnknown) {
		return "sessfix scan " + path + " shows what the file holds"
	}
	return ""
}

func (a *app) style() report.Style {
	on := a.color == "always" || a.color == "auto" && a.io.OutTTY && a.io.Env("NO_COLOR") == "" && a.io.Env("TERM") != "dumb"
	return report.Style{Color: on}
}

// helpCmd shows the help of a command; an unknown one is bad usage.
func (a *app) helpCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		RunE: func(c *cobra.Command, args []string) error {
			at, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return fmt.Errorf("unknown command %q", strings.Join(args, " "))
			}
			return at.Help()
		},
	}
}

func (a *app) options() store.Options {
	env := a.io.Env
	if a.home != "" {
		env = func(name string) string {
			if strings.HasSuffix(name, "_HOME") || strings.HasSuffix(name, "_CONFIG_DIR") {
				return a.home
			}
			return a.io.Env(name)
		}
	}
	o := store.Options{Formats: a.formats, Client: a.client, Env: env, Live: repair.Live}
	if a.io.Now != nil {
		o.Now = a.io.Now()
	}
	return o
}

func version() string {
	if i, ok := debug.ReadBuildInfo(); ok && i.Main.Version != "" && i.Main.Version != "(devel)" {
		return i.Main.Version
	}
	return "0.1.0-dev"
}

func tool() jsonout.Tool { return jsonout.Tool{Name: "sessfix", Version: version()} }
