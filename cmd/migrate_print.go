package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sessfix/sessfix/jsonout"
	"github.com/sessfix/sessfix/migrate"
	"github.com/sessfix/sessfix/report"
)

// recordChange is what becomes of one record. Members are named, their values are not shown unless that was asked for.
type recordChange struct {
	Kind    string   `json:"kind"` // changed, added, dropped, merged or split
	Line    int64    `json:"line,omitempty"`
	NewLine int64    `json:"newLine,omitempty"`
	Bytes   [2]int   `json:"bytes"` // before, after
	Members []string `json:"members,omitempty"`
	Why     string   `json:"why,omitempty"`
	Was     string   `json:"was,omitempty"`
	Is      string   `json:"is,omitempty"`
}

func changesOf(fates []migrate.Fate, content bool) []recordChange {
	var out []recordChange
	for _, f := range fates {
		c := recordChange{Kind: f.Kind, Line: f.Line, NewLine: f.NewLine, Bytes: [2]int{len(f.Was), len(f.Is)}, Why: f.Why}
		if f.Kind == migrate.Changed {
			c.Members = members(f.Was, f.Is)
		}
		if content {
			c.Was, c.Is = string(f.Was), string(f.Is)
		}
		out = append(out, c)
	}
	return out
}

// maxMembers bounds how many members of one record are named.
const maxMembers = 12

// members names the members that differ, with + for those that are new, - for those that went, ~ for those with another value.
func members(was, is []byte) []string {
	a, b := parsed(was), parsed(is)
	var out []string
	differ("", a, b, &out)
	slices.Sort(out)
	if len(out) > maxMembers {
		out = append(out[:maxMembers:maxMembers], "…")
	}
	return out
}

// parsed reads a record for the sake of its members' names alone.
func parsed(raw []byte) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

func differ(path string, a, b any, out *[]string) {
	x, ok := a.(map[string]any)
	y, ok2 := b.(map[string]any)
	if !ok || !ok2 {
		was, _ := json.Marshal(a)
		is, _ := json.Marshal(b)
		if !bytes.Equal(was, is) {
			*out = append(*out, "~"+strings.TrimPrefix(path, "."))
		}
		return
	}
	for k, v := range x {
		if w, ok := y[k]; ok {
			differ(path+"."+k, v, w, out)
		} else {
			*out = append(*out, "-"+strings.TrimPrefix(path+"."+k, "."))
		}
	}
	for k := range y {
		if _, ok := x[k]; !ok {
			*out = append(*out, "+"+strings.TrimPrefix(path+"."+k, "."))
		}
	}
}

func (a *app) printMigrated(list []migrated, doc *report.Document, o migrateOptions) error {
	switch a.format {
	case "json":
		if list == nil {
			list = []migrated{}
		}
		return jsonout.Write(a.io.Out, struct {
			Version  int            `json:"version"`
			Tool     jsonout.Tool   `json:"tool"`
			Sessions []migrated     `json:"sessions"`
			Errors   []report.Error `json:"errors,omitempty"`
		}{report.Version, tool(), list, doc.Errors}, true)
	case "jsonl":
		for _, m := range list {
			if err := jsonout.Write(a.io.Out, m, false); err != nil {
				return err
			}
		}
		return jsonlErrors(a.io.Out, doc.Errors)
	}
	count := map[string]int{}
	for _, m := range list {
		count[m.Status]++
		if m.Status != "current" || a.verbose || len(list) <= maxCurrent {
			a.printOne(m, o)
		}
	}
	if len(list) > 1 {
		fmt.Fprintf(a.io.Out, "%d sessions", len(list))
		sep := ": "
		for _, s := range []string{"migrated", "planned", "current", "refused"} {
			if count[s] > 0 {
				fmt.Fprintf(a.io.Out, "%s%d %s", sep, count[s], s)
				sep = ", "
			}
		}
		fmt.Fprintln(a.io.Out)
	}
	for _, m := range list {
		switch {
		case m.mendable:
			a.hint("sessfix repair %s", shellWord(m.Path))
		case m.Status == "planned":
			a.hint("sessfix migrate %s does it", shellWord(m.Path))
		case m.Status == "migrated" && o.output == "":
			a.hint("sessfix undo %s takes it back", shellWord(undoName(m)))
		default:
			continue
		}
		return nil
	}
	return nil
}

// maxCurrent is how many sessions with nothing to do are named one by one.
const maxCurrent = 20

// undoName is what undo is to be given.
func undoName(m migrated) string {
	for _, p := range m.Parts {
		if p.Output != "" && len(m.Parts) == 1 {
			return p.Output
		}
	}
	return m.Path
}

// printOne tells people of one session.
func (a *app) printOne(m migrated, o migrateOptions) {
	w := a.io.Out
	switch m.Status {
	case "refused":
		at := ""
		if m.Line > 0 {
			at = fmt.Sprintf(" at line %d", m.Line)
		}
		fmt.Fprintf(w, "refused   %s%s: %s\n", report.Safe(m.Path), at, report.Safe(m.Refusal))
		return
	case "current":
		why := "nothing to do"
		for _, p := range m.Parts {
			if p.There {
				why = "is there already: " + report.Safe(p.Output)
			} else if p.From != "" && len(p.Steps) == 0 {
				why = "generation " + report.Safe(p.From) + ", nothing to do"
			}
		}
		fmt.Fprintf(w, "current   %s: %s\n", report.Safe(m.Path), why)
		return
	}
	fmt.Fprintf(w, "%-9s %s\n", m.Status, report.Safe(m.Path))
	for _, p := range m.Parts {
		if len(p.Steps) == 0 && p.Output == "" || p.There {
			continue
		}
		name := ""
		if len(m.Parts) > 1 {
			name = report.Safe(p.Path[strings.LastIndexAny(p.Path, `/\`)+1:]) + ": "
		}
		steps := strings.Join(p.Steps, ", ")
		if steps == "" {
			steps = "as it is"
		}
		fmt.Fprintf(w, "  %s%s; %d records%s\n", name, steps, p.Records, counts(p.Counts))
		if p.Output != "" {
			fmt.Fprintf(w, "  written to %s\n", report.Safe(p.Output))
		}
		for _, c := range p.Repaired {
			fmt.Fprintf(w, "  mended first: %s\n", c)
		}
		if len(p.Changes) == 0 { // a dry run tells it record by record
			for _, r := range p.Reasons {
				if r.Records == 1 {
					fmt.Fprintf(w, "  new line %d: %s\n", r.Line, report.Safe(r.Text))
				} else {
					fmt.Fprintf(w, "  %d records, the first at new line %d: %s\n", r.Records, r.Line, report.Safe(r.Text))
				}
			}
		}
		for i, n := range p.Notes {
			if i == 20 && !a.verbose {
				fmt.Fprintf(w, "  and %d more remarks (--verbose shows them)\n", len(p.Notes)-i)
				break
			}
			if n.Line > 0 {
				fmt.Fprintf(w, "  line %d: %s\n", n.Line, report.Safe(n.Text))
			} else {
				fmt.Fprintf(w, "  %s\n", report.Safe(n.Text))
			}
		}
		a.printChanges(p)
	}
}

// counts says how many records are not as they were.
func counts(n map[string]int64) string {
	var b strings.Builder
	for _, kind := range []string{migrate.Changed, migrate.Added, migrate.Split, migrate.Merged, migrate.Dropped} {
		if n[kind] > 0 {
			fmt.Fprintf(&b, ", %d %s", n[kind], kind)
		}
	}
	return b.String()
}

// printChanges is the diff of a dry run.
func (a *app) printChanges(p migratedPart) {
	w, st := a.io.Out, a.style()
	for i, c := range p.Changes {
		if i == 200 && !a.verbose {
			fmt.Fprintf(w, "  and %d more records (--verbose shows them)\n", len(p.Changes)-i)
			return
		}
		head := fmt.Sprintf("@@ line %d → line %d, %s: %d → %d bytes", c.Line, c.NewLine, c.Kind, c.Bytes[0], c.Bytes[1])
		switch c.Kind {
		case migrate.Added, migrate.Split:
			head = fmt.Sprintf("@@ → line %d, %s: %d bytes", c.NewLine, c.Kind, c.Bytes[1])
		case migrate.Dropped, migrate.Merged:
			head = fmt.Sprintf("@@ line %d, %s: %d bytes", c.Line, c.Kind, c.Bytes[0])
		}
		if c.Why != "" {
			head += ": " + c.Why
		}
		fmt.Fprintln(w, report.Safe(head+" @@"))
		if len(c.Members) > 0 {
			fmt.Fprintln(w, report.Safe("  "+strings.Join(c.Members, " ")))
		}
		if c.Was != "" {
			fmt.Fprintln(w, st.Minus("-"+report.Safe(c.Was)))
		}
		if c.Is != "" {
			fmt.Fprintln(w, st.Plus("+"+report.Safe(c.Is)))
		}
	}
}
