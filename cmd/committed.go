package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/fatih/color"
	"github.com/spf13/cobra"

	"github.com/sessfix/sessfix/jsonout"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/report"
	"github.com/sessfix/sessfix/verify"
)

type committedOptions struct {
	id, record string
	seq        int64
	asked      int
	numbered   bool
}

func (a *app) committedCmd() *cobra.Command {
	var o committedOptions
	c := &cobra.Command{
		Use:   "committed (--id ID | --seq N | --record FILE) PATH",
		Short: "Tell whether a record was really written",
		Long: `Committed answers the question that a lost acknowledgement leaves: a program wrote a record to a
session and died, or was cut off, before it heard that the write was done. Is it there?

  committed      it stands whole in the log, and the agent reads it the next time. Status 0
  not committed  it is not there, or no more than its beginning at the torn end of the log; nothing
                 else may be what is left of it, and nobody may still write it. It is safe to write
                 it again, once a torn end is mended. Status 1
  unknown        anything else: damage that may be it, a hole in the numbers, another record of
                 its number, damage at which the agent stops, an agent that is at work. The answer
                 says why, and what to look at. Status 3

--id is the id of the record, or of the message, the call or the event in it. Of a call the request,
the start and the result are records of their own: the answer says which of them were found.
--seq is the number, in formats that number their records. That it is the record that you mean is
not proved by it, since after a crash the next record gets the number.
--record compares the record itself, one line as the agent writes it: its bytes, else its number or
id and its values. - is standard input.

Nothing is changed. Durably means: as the system shows the files now. What still was in its memory
only is lost with the power; after a power cut ask again when the machine is up.`,
		Example: `  sessfix committed --id call_7 session.jsonl
  sessfix committed --seq 41 session.jsonl || echo "not sure that it is there"
  sessfix committed --record line.json session.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name one session")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			for _, name := range []string{"id", "seq", "record"} {
				if c.Flags().Changed(name) {
					o.asked++
				}
			}
			o.numbered = c.Flags().Changed("seq")
			return a.committed(c.Context(), args[0], o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.id, "id", "", "id of the record, or of the message, call or event in it")
	f.Int64Var(&o.seq, "seq", 0, "number of the record")
	f.StringVar(&o.record, "record", "", "file that holds the record, one line as the agent writes it; - for standard input")
	return c
}

func (a *app) committed(ctx context.Context, path string, o committedOptions) error {
	switch {
	case o.asked != 1:
		return errors.New("name exactly one of --id, --seq and --record")
	case o.id == "" && !o.numbered && o.record == "":
		return errors.New("an empty id, or no file, asks for nothing")
	case o.numbered && o.seq < 0:
		return errors.New("--seq must not be negative")
	case path == "-":
		return errors.New("standard input is no session: name a file")
	}
	q := verify.Question{ID: o.id, Seq: o.seq, Numbered: o.numbered, Env: a.options().Env}
	if o.id == "" && !o.numbered {
		record, err := a.record(o.record)
		if err != nil {
			return err
		}
		q.Record = record
	}
	parts, found, err := a.one(ctx, path)
	if err != nil {
		return err
	}
	defer found.Close()
	q.Roots = found.Roots
	c, err := repair.Committed(ctx, parts, q, a.caseDir)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	a.doc = &report.Document{}
	switch c.Outcome {
	case verify.Absent:
		a.doc.Summary.Repairable = 1
	case verify.Unsure:
		a.doc.Summary.Refused = 1
	}
	return a.printCommitted(committedOf(path, c))
}

// maxRecord is more than any record of a log that can be read.
const maxRecord = 512 << 20

// record reads the record that is asked for.
func (a *app) record(name string) ([]byte, error) {
	in := a.io.In
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("read the record: %w", err)
		}
		defer f.Close()
		if fi, err := f.Stat(); err == nil && !fi.Mode().IsRegular() {
			return nil, fmt.Errorf("read the record: %s is not a regular file", name)
		}
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxRecord+1))
	if err != nil {
		return nil, fmt.Errorf("read the record: %w", err)
	}
	if len(data) > maxRecord {
		return nil, fmt.Errorf("the record is longer than %d MiB", maxRecord>>20)
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// commitment is the answer as it is printed.
type commitment struct {
	Version int          `json:"version"`
	Tool    jsonout.Tool `json:"tool"`
	Path    string       `json:"path"`
	Agent   string       `json:"agent"`
	ID      string       `json:"id,omitempty"`
	By      string       `json:"by"`
	Outcome string       `json:"outcome"`
	Where   []sighting   `json:"where"`
	Why     []string     `json:"why,omitempty"`
	Look    []sighting   `json:"lookAt,omitempty"`
	Notes   []string     `json:"notes,omitempty"`
	Advice  string       `json:"advice"`
}

// sighting is a place as it is printed.
type sighting struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	Length int64  `json:"length"`
	Line   int64  `json:"line,omitempty"`
	Frame  int64  `json:"frame,omitempty"`
	Text   *int64 `json:"textOffset,omitempty"`
	TextN  int64  `json:"textLength,omitempty"`
	Row    int64  `json:"row,omitempty"`
	Seq    *int64 `json:"seq,omitempty"`
	ID     string `json:"id,omitempty"`
	What   string `json:"what,omitempty"`
	Match  string `json:"match,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	Why    string `json:"why,omitempty"`
}

func committedOf(path string, c *verify.Commitment) commitment {
	out := commitment{
		Version: report.Version, Tool: tool(), Path: path, Agent: c.Agent, ID: c.ID, By: c.By, Outcome: c.Outcome.String(),
		Where: []sighting{}, Why: c.Why, Notes: c.Notes, Advice: c.Advice,
	}
	for _, s := range c.Where {
		out.Where = append(out.Where, sightingOf(s))
	}
	for _, s := range c.Look {
		out.Look = append(out.Look, sightingOf(s))
	}
	return out
}

func sightingOf(s verify.Sighting) sighting {
	out := sighting{
		File: s.Path, Offset: s.Off, Length: s.Len, Line: s.Line, Frame: s.Frame, Row: s.Row, ID: s.ID, What: s.What,
		Match: s.Match, SHA256: s.SHA256, Why: s.Why,
	}
	if s.Frame > 0 {
		out.Text, out.TextN = &s.Text, s.TextLen
	}
	if s.Numbered {
		out.Seq = &s.Seq
	}
	return out
}

func (a *app) printCommitted(c commitment) error {
	if a.format != "table" {
		return jsonout.Write(a.io.Out, c, a.format == "json")
	}
	w, paint := a.io.Out, a.paint
	word := map[string]string{
		"committed": paint("committed", color.FgGreen), "not-committed": paint("not committed", color.FgYellow), "unknown": paint("unknown", color.FgRed),
	}[c.Outcome]
	fmt.Fprintf(w, "%s: %s\n", report.Safe(c.Path), word)
	for _, s := range c.Where {
		fmt.Fprintf(w, "  %s %s\n", paint("found", color.FgGreen), s.words())
	}
	for _, t := range c.Why {
		fmt.Fprintf(w, "  %s %s\n", paint("why", color.FgRed), report.Safe(t))
	}
	for _, s := range c.Look {
		fmt.Fprintf(w, "  %s %s\n", paint("look at", color.FgCyan), s.words())
	}
	for _, t := range c.Notes {
		fmt.Fprintf(w, "  %s %s\n", paint("note", color.FgCyan), report.Safe(t))
	}
	_, err := fmt.Fprintf(w, "  advice: %s\n", c.Advice)
	return err
}

// words says what stands where.
func (s sighting) words() string {
	at := report.Safe(s.File)
	var of []string
	switch {
	case s.Row > 0:
		of = append(of, fmt.Sprintf("row %d", s.Row))
	case s.Frame > 0:
		at += fmt.Sprintf(":%d", s.Offset)
		of = append(of, fmt.Sprintf("frame %d, text offset %d, %d bytes", s.Frame, *s.Text, s.TextN))
	case s.Length > 0:
		at += fmt.Sprintf(":%d", s.Offset)
		if s.Line > 0 {
			of = append(of, fmt.Sprintf("line %d", s.Line))
		}
		of = append(of, fmt.Sprintf("%d bytes", s.Length))
	}
	if s.Seq != nil {
		of = append(of, fmt.Sprintf("number %d", *s.Seq))
	}
	text := at
	if len(of) > 0 {
		text += " (" + strings.Join(of, ", ") + ")"
	}
	if s.What != "" {
		text += ": " + s.What
		if s.ID != "" {
			text += " " + report.Safe(s.ID)
		}
	}
	if s.Match == "bytes" || s.Match == "values" {
		text += ": the same " + s.Match
	}
	if s.Why != "" {
		text += ": " + report.Safe(s.Why)
	}
	return text
}

// paint colours a word, where the output is coloured.
func (a *app) paint(text string, attr color.Attribute) string {
	if !a.style().Color {
		return text
	}
	c := color.New(attr)
	c.EnableColor()
	return c.Sprint(text)
}
