package cmd

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/jsonout"
	"github.com/sessfix/sessfix/report"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
	"github.com/sessfix/sessfix/store"
)

type scanOptions struct {
	hex, records bool
	at, length   string
}

func (a *app) scanCmd() *cobra.Command {
	var o scanOptions
	c := &cobra.Command{
		Use:   "scan PATH...",
		Short: "Show the byte map: records, frames, holes, with offsets",
		Long: `Scan reads JSON lines, plain or in zstd frames, of any program and shows where bytes are damaged. It
knows nothing of what records mean: that is verify's business.

Offsets are bytes of the file as it lies on disk. --hex shows the bytes: faulty ones stand in brackets,
in rows with an arrow; long runs of one byte are only counted. --at looks at any place.`,
		Example: `  sessfix scan session.jsonl
  sessfix scan --records --json session.jsonl.zstd
  sessfix scan --hex broken.jsonl
  sessfix scan --at 0x400 --length 64 session.jsonl`,
		Args: needPath,
		RunE: func(c *cobra.Command, args []string) error { return a.scan(c.Context(), args, o) },
	}
	c.Flags().BoolVar(&o.hex, "hex", false, "show the damaged bytes and what stands around them (they may hold talk)")
	c.Flags().StringVar(&o.at, "at", "", "show the bytes from this offset on; a negative one counts from the end")
	c.Flags().StringVar(&o.length, "length", "", "with --at: how many bytes (default 256)")
	c.Flags().BoolVar(&o.records, "records", false, "list every record with its offset and length")
	return c
}

// byteMap is what scan says of a file.
type byteMap struct {
	Path     string           `json:"path"`
	Medium   string           `json:"medium"`
	Size     int64            `json:"size"`
	Text     int64            `json:"textSize"`
	Records  int64            `json:"records"`
	Findings []report.Finding `json:"findings"`
	Spans    []recordSpan     `json:"recordSpans,omitempty"`
	Dumps    []hexDump        `json:"dump,omitempty"`
	more     int              // faults that are not shown in hex
}

type recordSpan struct {
	Offset  int64 `json:"offset"`
	Length  int64 `json:"length"`
	Line    int64 `json:"line"`
	Frame   int64 `json:"frame,omitempty"`
	Text    int64 `json:"textOffset"`
	TextLen int64 `json:"textLength"`
}

func (a *app) scan(ctx context.Context, args []string, o scanOptions) error {
	if err := o.check(args); err != nil {
		return err
	}
	args, cleanup, err := a.stdin(ctx, args)
	defer cleanup()
	if err != nil {
		return err
	}
	files, troubles := store.Files(ctx, args)
	doc := &report.Document{Version: report.Version, Tool: tool()}
	for _, t := range troubles {
		a.fail(doc, t.Path, t)
	}
	maps := []byteMap{}
	type scanned struct {
		m   byteMap
		err error
	}
	inOrder(ctx, len(files), a.jobs, func(i int) scanned {
		m, err := a.scanFile(ctx, files[i], o)
		return scanned{m, err}
	}, func(i int, s scanned) {
		if s.err != nil {
			a.fail(doc, files[i], s.err)
			return
		}
		if files[i] == a.spool {
			s.m.Path = "-"
		}
		add(doc, report.Bytes(s.m.Path, s.m.Medium, s.m.Size, s.m.Records, s.m.Findings))
		maps = append(maps, s.m)
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	a.doc = doc
	if slices.Contains(reportFormats, a.format) {
		return a.printReport(doc)
	}
	return a.printMaps(maps, doc.Errors)
}

func (a *app) scanFile(ctx context.Context, path string, o scanOptions) (byteMap, error) {
	f, err := os.Open(path)
	if err != nil {
		return byteMap{}, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return byteMap{}, err
	}
	m := byteMap{Path: path, Size: fi.Size(), Findings: []report.Finding{}}
	framing := session.Framing{Skippable: true}
	s, err := store.Recognise(ctx, path, f, fi.Size(), a.options())
	if err == nil && s.Dialect != nil {
		framing = s.Dialect.Framing()
	}
	m.Medium = s.Medium
	if m.Medium == "" {
		m.Medium = scan.Lines
	}
	sc, err := scan.New(ctx, f, fi.Size(), scan.Options{Medium: m.Medium, Framing: framing})
	if err != nil {
		return m, err
	}
	for sc.Next() {
		if o.records {
			r := sc.Record()
			m.Spans = append(m.Spans, recordSpan{r.Off, r.Len, r.Logical, r.Frame, r.Text, r.TextLen})
		}
	}
	if sc.Err() != nil {
		return m, fmt.Errorf("%s: %w", path, sc.Err())
	}
	list := sc.Findings()
	for i := range list {
		e, _ := finding.Lookup(list[i].Code)
		list[i].Repair, list[i].Never = e.Repair, e.Never
	}
	if err := o.dumps(f, &m, list); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	m.Records, m.Text, m.Findings = sc.Count(), sc.Text(), report.Findings(path, list)
	return m, nil
}

func (a *app) printMaps(maps []byteMap, errs []report.Error) error {
	switch a.format {
	case "json":
		return jsonout.Write(a.io.Out, struct {
			Version int            `json:"version"`
			Tool    jsonout.Tool   `json:"tool"`
			Files   []byteMap      `json:"files"`
			Errors  []report.Error `json:"errors,omitempty"`
		}{report.Version, tool(), maps, errs}, true)
	case "jsonl":
		for _, m := range maps {
			if err := jsonout.Write(a.io.Out, m, false); err != nil {
				return err
			}
		}
		return jsonlErrors(a.io.Out, errs)
	}
	for i, m := range maps {
		if i > 0 {
			fmt.Fprintln(a.io.Out)
		}
		fmt.Fprintf(a.io.Out, "%s: %s, %d bytes, %d bytes of text, %d records\n", report.Safe(m.Path), m.Medium, m.Size, m.Text, m.Records)
		for _, r := range m.Spans {
			fmt.Fprintf(a.io.Out, "  record at %d, %d bytes, line %d", r.Offset, r.Length, r.Line)
			if r.Frame > 0 {
				fmt.Fprintf(a.io.Out, ", frame %d, text offset %d", r.Frame, r.Text)
			}
			fmt.Fprintln(a.io.Out)
		}
		report.Details(a.io.Out, a.style(), m.Findings)
		for _, d := range m.Dumps {
			a.printDump(a.io.Out, d)
		}
		if m.more > 0 {
			fmt.Fprintf(a.io.Out, "\nand %d more: --at OFFSET shows any of them\n", m.more)
		}
	}
	return nil
}
