package cmd

import (
	"fmt"
	"os"
	"slices"

	"github.com/sessfix/sessfix/report"
)

// The ways to print. The first three go with every command, the others are for what reads reports of faults.
var (
	formats       = []string{"table", "json", "jsonl"}
	reportFormats = []string{"sarif", "junit", "github"}
	reporters     = []string{"verify", "scan", "repair"}
)

// checkFormat judges --format.
func (a *app) checkFormat(command string) error {
	switch {
	case slices.Contains(formats, a.format):
		return nil
	case !slices.Contains(reportFormats, a.format):
		return fmt.Errorf("unknown format %q: table, json or jsonl; verify, scan and repair also take sarif, junit and github", a.format)
	case !slices.Contains(reporters, command):
		return fmt.Errorf("%s does not print --format %s: only verify, scan and repair do; it takes table, json and jsonl", command, a.format)
	}
	return nil
}

// print writes the document in the chosen form and lets it decide the exit status.
func (a *app) print(d *report.Document, details bool) error {
	a.doc = d
	switch a.format {
	case "json":
		return d.JSON(a.io.Out)
	case "jsonl":
		return d.JSONL(a.io.Out)
	case "sarif", "junit", "github":
		return a.printReport(d)
	}
	st := a.style()
	st.Details, st.All = details, a.verbose
	return d.Table(a.io.Out, st)
}

// printReport writes the document for the programs of a CI run.
func (a *app) printReport(d *report.Document) error {
	switch a.format {
	case "sarif":
		return d.SARIF(a.io.Out, a.base())
	case "junit":
		return d.JUnit(a.io.Out)
	}
	if err := d.GitHub(a.io.Out, a.base()); err != nil {
		return err
	}
	path := a.io.Env("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	if err := addSummary(path, d); err != nil {
		return fmt.Errorf("write the summary of the step: %w", err)
	}
	return nil
}

// base is the directory that reports tell paths from: the root of the checkout, where there is one.
func (a *app) base() string {
	if dir := a.io.Env("GITHUB_WORKSPACE"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		return "" // paths are told as they are
	}
	return dir
}

// addSummary appends to the summary of the step. What other programs of the step wrote there counts for its limit.
func addSummary(path string, d *report.Document) (err error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	return d.Markdown(f, report.SummaryLimit-int(min(fi.Size(), report.SummaryLimit)))
}
