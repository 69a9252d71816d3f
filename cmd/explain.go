package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/jsonout"
)

func (a *app) explainCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CODE...]",
		Short: "Say what a finding means, what to do, what never to do",
		Example: `  sessfix explain
  sessfix explain SEQ_FORK DANGLING_CALL`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var out []string
			for _, e := range finding.All() {
				out = append(out, string(e.Code)+"\t"+e.Title)
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.explain(args) },
	}
}

func (a *app) explain(args []string) error {
	list := append(slices.Clone(finding.All()), finding.Closers()...)
	all := list
	if len(args) > 0 {
		list = nil
		for _, arg := range args {
			i := slices.IndexFunc(all, func(e finding.Entry) bool { return string(e.Code) == strings.ToUpper(arg) })
			if i < 0 {
				return fmt.Errorf("unknown code %q: sessfix explain lists them", arg)
			}
			list = append(list, all[i])
		}
	}
	switch a.format {
	case "json":
		return jsonout.Write(a.io.Out, list, true)
	case "jsonl":
		for _, x := range list {
			if err := jsonout.Write(a.io.Out, x, false); err != nil {
				return err
			}
		}
		return nil
	}
	if len(args) == 0 {
		for _, e := range list {
			fmt.Fprintf(a.io.Out, "%-20s %s\n", e.Code, e.Title)
		}
		return nil
	}
	for i, e := range list {
		if i > 0 {
			fmt.Fprintln(a.io.Out)
		}
		fmt.Fprintf(a.io.Out, "%s: %s (%s)\n\n%s\n\nrepair: %s\n", e.Code, e.Title, e.Severity, e.Means, e.Repair)
		if e.Never != "" {
			fmt.Fprintf(a.io.Out, "never:  %s\n", e.Never)
		}
	}
	return nil
}
